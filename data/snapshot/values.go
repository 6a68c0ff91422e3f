package snapshot

import (
	"context"
	"fmt"
	"limnomap/data"
	"weak"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Values are what a map of one week draws: the current value of each lake, without the rest of its [State]. They are immutable. Values
// of a week may be computed when they are read: so drawing one tile of a map costs only the lakes of that tile.
type Values struct {
	Week       data.Week
	Lakes      []data.Lake // the snapshot's
	Advisories *ActiveAdvisories
	Later      bool // as of a View

	rule   currentRule
	states []State // if not nil, the values are in these

	passes  series
	samples series
	asOf    data.Date
	behind  int // number of later weeks with an observation

	chance func(i int) (p float64, ok bool) // if not nil, there is nothing else
}

// OldAfter is the age in days beyond which a current value is old: two passes of a weekly product. A map draws it fainter, because
// it says little about the water today. Ages count back from [View.AsOf], not from the clock: a map depends only on the data.
const OldAfter = 14

// Of returns the value of Lakes[i], and whether it is old.
func (v *Values) Of(i int) (c data.Chlorophyll, old bool) {
	if v.chance != nil {
		return data.NoChlorophyll, false
	}
	if v.states != nil {
		s := &v.states[i]
		return s.Chlorophyll, s.Chlorophyll.Valid() && isOld(s.Date, v.asOf)
	}
	last := v.last(i)
	if !last.exists() || v.rule.stale(last.sample().date(), v.asOf) {
		return data.NoChlorophyll, false
	}
	return last.sample().chlorophyll(), isOld(last.sample().date(), v.asOf)
}

func isOld(date, asOf data.Date) bool { return int64(asOf)-int64(date) > OldAfter }

// Key identifies the values of the lakes, but not their marks: views with equal keys have the same. It is zero if the values are computed
// when they are read.
func (v *Values) Key() weak.Pointer[State] {
	if len(v.states) == 0 {
		return weak.Pointer[State]{}
	}
	return weak.Make(&v.states[0])
}

// A Mark is a sign that a map of lakes shows for a lake, in addition to the colour of its value. A larger one is graver.
type Mark uint8

const (
	NoMark Mark = iota
	// WorseMedium and WorseHigh mark a lake whose level is worse than that of its chlorophyll, which is its colour. They tell its
	// risk: not high, or high.
	WorseMedium
	WorseHigh
	// Closed marks a lake with an active closure, whatever its value.
	Closed
)

// Worse reports whether m marks a lake whose level is worse than that of its chlorophyll.
func (m Mark) Worse() bool { return m == WorseMedium || m == WorseHigh }

// Mark returns the mark of Lakes[i].
func (v *Values) Mark(i int) Mark {
	if v.chance != nil {
		return NoMark
	}
	if v.Advisories.Kind(i) == data.Closure {
		return Closed
	}
	if v.states != nil {
		return v.worse(v.states[i].Level, v.states[i].Chlorophyll)
	}
	last := v.last(i)
	if !last.exists() || v.rule.stale(last.sample().date(), v.asOf) {
		return NoMark
	}
	o, _, _ := last.of.observation(last.at)
	level, _ := v.rule.profile.Classify(o)
	return v.worse(level, o.Chlorophyll)
}

// worse returns the mark of a lake with that level and value.
func (v *Values) worse(level data.Level, c data.Chlorophyll) Mark {
	switch {
	case v.rule.profile == nil || level <= v.rule.profile.Level(c):
		return NoMark
	case level.Risk() == data.RiskHigh:
		return WorseHigh
	}
	return WorseMedium
}

// last returns the last known value of Lakes[i].
func (v *Values) last(i int) known {
	passes := v.passes.of(i)
	// Most lakes have one pass in each week, so the index of the last one is known without a search, and its neighbour confirms it.
	end := from(v.asOf) + 1<<dateShift
	if n := len(passes.samples) - v.behind; n > 0 && passes.samples[n-1] < end && (v.behind == 0 || passes.samples[n] >= end) {
		passes.samples = passes.samples[:n]
	}
	return v.rule.last(passes, v.samples.of(i), v.asOf)
}

// Values returns the values of v, always the same pointer.
func (v *View) Values() *Values {
	v.prepare.Do(func() {
		v.values = &Values{Week: v.Week, Lakes: v.Lakes, Advisories: v.Advisories, Later: v.Later,
			rule: currentRule{profile: v.Profile}, states: v.States, asOf: v.AsOf}
	})
	return v.values
}

// maxLazyValuesBytes bounds the values that [Snapshot.Values] keeps: some years of weeks, about as many bytes each.
const (
	maxLazyValuesBytes = 128 << 10
	lazyValuesBytes    = 256 // with the entry of the cache
)

// Values returns the values of [Snapshot.View], without making the view if the observations are in memory. The result is shared.
func (s *Snapshot) Values(ctx context.Context, w data.Week) (*Values, error) {
	k := s.weekIndex(w)
	if w == s.Current.Week || k < s.held {
		v, err := s.View(ctx, w)
		if err != nil {
			return nil, err
		}
		return v.Values(), nil
	}
	if v, ok := s.lazyValues.Get(w); ok {
		return v, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("view of %s: %w", w, err)
	}
	v := &Values{
		Week: w, Lakes: s.Lakes, Advisories: s.advisoriesIn(w),
		rule: s.rule, passes: s.satellite, samples: s.inSitu, asOf: s.asOf[k], behind: len(s.weeks) - 1 - k,
	}
	if first, found, _ := s.lazyValues.PeekOrAdd(w, v); found {
		return first, nil
	}
	return v, nil
}

func newLazyValues() (*lru.Cache[data.Week, *Values], error) {
	return lru.New[data.Week, *Values](maxLazyValuesBytes / lazyValuesBytes)
}
