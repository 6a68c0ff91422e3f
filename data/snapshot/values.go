package snapshot

import (
	"context"
	"fmt"
	"weak"

	lru "github.com/hashicorp/golang-lru/v2"

	"limnomap/data"
)

// Values are what a map of one week draws: the current value and the mark of each lake, or its probability in their place. They are immutable.
type Values struct {
	Week       data.Week
	Lakes      []data.Lake // the snapshot's
	Advisories *ActiveAdvisories
	Pixels     data.PixelState // the snapshot's
	Later      bool            // as of a View

	asOf    data.Date
	profile *data.Profile // nil: no lake is marked as worse than its value
	shown   shown
}

// shown is what a map shows of each lake: the states of a View, what is computed from the readings in memory, or probabilities.
type shown interface {
	// value returns the current value of lake i and its date; NoChlorophyll if there is none.
	value(i int) (data.Chlorophyll, data.Date)
	// class returns that value and its level; NoChlorophyll and NoLevel if there is none.
	class(i int) (data.Chlorophyll, data.Level)
}

// shownStates are those of a [View].
type shownStates []State

func (s shownStates) value(i int) (data.Chlorophyll, data.Date) { return s[i].Chlorophyll, s[i].Date }

func (s shownStates) class(i int) (data.Chlorophyll, data.Level) { return s[i].Chlorophyll, s[i].Level }

// shownReadings are those of a week in memory. So drawing one tile of a map costs only the lakes of that tile.
type shownReadings struct {
	rule            currentRule
	passes, samples series
	asOf            data.Date
	behind          int // number of later weeks with an observation
}

func (r *shownReadings) value(i int) (data.Chlorophyll, data.Date) {
	last, current := r.last(i)
	if !current {
		return data.NoChlorophyll, 0
	}
	return last.reading().chlorophyll(), last.reading().date()
}

func (r *shownReadings) class(i int) (data.Chlorophyll, data.Level) {
	last, current := r.last(i)
	if !current {
		return data.NoChlorophyll, data.NoLevel
	}
	o, _, _ := last.of.observation(last.at)
	level, _ := r.rule.profile.Classify(o)
	return o.Chlorophyll, level
}

// last returns the last known value of lake i, and whether it is current.
func (r *shownReadings) last(i int) (last known, current bool) {
	passes := r.passes.of(i)
	// Most lakes have one pass in each week, so the index of the last one is known without a search, and its neighbour confirms it.
	end := from(r.asOf) + 1<<dateShift
	if n := len(passes.readings) - r.behind; n > 0 && passes.readings[n-1] < end && (r.behind == 0 || passes.readings[n] >= end) {
		passes.readings = passes.readings[:n]
	}
	last = r.rule.last(passes, r.samples.of(i), r.asOf)
	return last, last.exists() && !r.rule.stale(last.reading().date(), r.asOf)
}

// shownChances are probabilities: no lake has a value.
type shownChances func(i int) (p float64, ok bool)

func (shownChances) value(int) (data.Chlorophyll, data.Date) { return data.NoChlorophyll, 0 }

func (shownChances) class(int) (data.Chlorophyll, data.Level) {
	return data.NoChlorophyll, data.NoLevel
}

// OldAfter is the age in days beyond which a current value is old: two passes of a weekly product. A map draws it fainter, because
// it says little about the water today.
const OldAfter = 14

// Of returns the value of Lakes[i], and whether it is old.
func (v *Values) Of(i int) (c data.Chlorophyll, old bool) {
	c, date := v.shown.value(i)
	return c, c.Valid() && int64(v.asOf)-int64(date) > OldAfter
}

// Measured returns the value of Lakes[i] and its date; not ok without a current value.
func (v *Values) Measured(i int) (value data.LakeValue, ok bool) {
	c, date := v.shown.value(i)
	return data.LakeValue{Lake: v.Lakes[i].ID, Date: date, Chlorophyll: c}, c.Valid()
}

// Key identifies the values of the lakes, but not their marks: views with equal keys have the same. It is zero if the values are computed
// when they are read.
func (v *Values) Key() weak.Pointer[State] {
	states, ok := v.shown.(shownStates)
	if !ok || len(states) == 0 {
		return weak.Pointer[State]{}
	}
	return weak.Make(&states[0])
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
	if v.Advisories.Kind(i) == data.Closure {
		return Closed
	}
	if v.profile == nil {
		return NoMark
	}
	switch c, level := v.shown.class(i); {
	case level <= v.profile.Level(c):
		return NoMark
	case level.Risk() == data.RiskHigh:
		return WorseHigh
	}
	return WorseMedium
}

// Values returns the values of v, always the same pointer.
func (v *View) Values() *Values {
	v.prepare.Do(func() {
		v.values = &Values{Week: v.Week, Lakes: v.Lakes, Advisories: v.Advisories, Pixels: v.Pixels, Later: v.Later,
			asOf: v.AsOf, profile: v.Profile, shown: shownStates(v.States)}
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
	if w >= s.Current.Week || k < s.held {
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
		Week: w, Lakes: s.Lakes, Pixels: s.Pixels, Advisories: s.advisoriesIn(w), asOf: w.Sunday(), profile: s.Profile,
		shown: &shownReadings{rule: s.rule, passes: s.satellite, samples: s.inSitu, asOf: w.Sunday(), behind: len(s.weeks) - 1 - k},
	}
	if first, found, _ := s.lazyValues.PeekOrAdd(w, v); found {
		return first, nil
	}
	return v, nil
}

func newLazyValues() (*lru.Cache[data.Week, *Values], error) {
	return lru.New[data.Week, *Values](maxLazyValuesBytes / lazyValuesBytes)
}
