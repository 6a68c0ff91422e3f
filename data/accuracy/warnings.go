package accuracy

import (
	"cmp"
	"slices"
	"time"

	"limnomap/data"
)

const (
	// warningDays is how many days before or after a statement the map may show the class to have shown the same: two passes of a weekly product.
	warningDays = 14
	// warningGap is how many days between two passes end a time in which the map shows a class: then its values are stale (see snapshot.Options).
	warningGap = 28
)

// Warnings compare the map with the closures and warnings of authorities because of cyanobacteria: what would have been told by the satellite alone, if a class
// were a warning.
type Warnings struct {
	Risk data.Risk // the class: that risk or a higher one
	// Hits are statements at whose time the satellite showed the class, and Misses those with passes that did not. Unseen ones have no pass at their time.
	Hits, Misses, Unseen int
	// FalseAlarms are times in which the satellite showed the class, and no authority said anything. Only the years from the first to the last statement about a
	// lake count: of others it is not known whether anyone looked.
	FalseAlarms int
	Leads       []int // for each hit: how many days before the statement the satellite first showed the class; negative after it
}

// A times is from when to when something was so.
type times struct{ first, last data.Date }

// WarningsOf compares the passes of one lake with the statements about it, for the risks medium and high, up to the day asOf. Statements that follow each
// other without a pause are one. Of each week the passes of the best source count, as on the map.
func WarningsOf(observations []data.Observation, statements []data.Advisory, profile *data.Profile, asOf data.Date) [2]Warnings {
	said := statementTimes(statements, asOf)
	passes := bestPasses(observations, asOf)
	all := [2]Warnings{{Risk: data.RiskMedium}, {Risk: data.RiskHigh}}
	for i := range all {
		all[i].compare(said, passes, profile)
	}
	return all
}

// Add adds the counts of another lake.
func (w *Warnings) Add(other *Warnings) {
	w.Hits, w.Misses, w.Unseen, w.FalseAlarms = w.Hits+other.Hits, w.Misses+other.Misses, w.Unseen+other.Unseen, w.FalseAlarms+other.FalseAlarms
	w.Leads = append(w.Leads, other.Leads...)
}

// MedianLead returns the median of the leads; false without one.
func (w *Warnings) MedianLead() (days float64, ok bool) {
	n := len(w.Leads)
	if n == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(w.Leads))
	return float64(sorted[(n-1)/2]+sorted[n/2]) / 2, true
}

// Tells reports whether a statement is one that is compared: a closure or a warning because of cyanobacteria.
func Tells(a *data.Advisory) bool {
	return a.Cause == data.Cyanobacteria && (a.Kind == data.Closure || a.Kind == data.Warning)
}

// statementTimes returns when such statements were valid, in ascending order.
func statementTimes(statements []data.Advisory, asOf data.Date) (said []times) {
	for i := range statements {
		a := &statements[i]
		t := times{data.DateOf(a.ValidFrom), asOf}
		for _, end := range []time.Time{a.ValidUntil, a.Withdrawn} {
			if !end.IsZero() {
				t.last = min(t.last, data.DateOf(end))
			}
		}
		if Tells(a) && t.first <= t.last {
			said = append(said, t)
		}
	}
	slices.SortFunc(said, func(a, b times) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.last, b.last)) })
	joined := said[:0]
	for _, t := range said {
		if n := len(joined); n > 0 && t.first <= joined[n-1].last+1 {
			joined[n-1].last = max(joined[n-1].last, t.last)
		} else {
			joined = append(joined, t)
		}
	}
	return joined
}

// bestPasses returns the passes of the best source of each week in ascending order.
func bestPasses(observations []data.Observation, asOf data.Date) (passes []*data.Observation) {
	best := make(map[data.Week]int)
	for i := range observations {
		if o := &observations[i]; o.Type == data.Satellite && o.Usable() && o.Date <= asOf {
			passes = append(passes, o)
			if rank, ok := best[o.Date.Week()]; !ok || rankOf(o) < rank {
				best[o.Date.Week()] = rankOf(o)
			}
		}
	}
	passes = slices.DeleteFunc(passes, func(o *data.Observation) bool { return rankOf(o) > best[o.Date.Week()] })
	slices.SortStableFunc(passes, func(a, b *data.Observation) int { return cmp.Compare(a.Date, b.Date) })
	return passes
}

func (w *Warnings) compare(said []times, passes []*data.Observation, profile *data.Profile) {
	if len(said) == 0 {
		return
	}
	var shown []times
	shows := false
	for i, o := range passes {
		is := profile.LevelOf(o).Risk() >= w.Risk
		switch {
		case is && shows && o.Date-passes[i-1].Date <= warningGap:
			shown[len(shown)-1].last = o.Date
		case is:
			shown = append(shown, times{o.Date, o.Date})
		}
		shows = is
	}
	near := func(s times) times { return times{s.first - warningDays, min(s.last, s.first+warningDays)} }
	overlap := func(a, b times) bool { return a.first <= b.last && b.first <= a.last }
	for _, s := range said {
		i := slices.IndexFunc(shown, func(t times) bool { return overlap(t, near(s)) })
		switch {
		case i >= 0:
			w.Hits++
			w.Leads = append(w.Leads, int(s.first-shown[i].first))
		case slices.ContainsFunc(passes, func(o *data.Observation) bool { return overlap(times{o.Date, o.Date}, near(s)) }):
			w.Misses++
		default:
			w.Unseen++
		}
	}
	first, last := said[0].first.Time().Year(), said[len(said)-1].last.Time().Year()
	for _, t := range shown {
		year := t.first.Time().Year()
		told := slices.ContainsFunc(said, func(s times) bool { return overlap(t, times{s.first - warningDays, s.last + warningDays}) })
		if !told && first <= year && year <= last {
			w.FalseAlarms++
		}
	}
}
