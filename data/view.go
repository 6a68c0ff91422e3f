package data

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	lru "github.com/hashicorp/golang-lru/v2"
)

// A View is the map as it stood in one week: the state of each lake on that week's Sunday. It is immutable.
type View struct {
	Week     Week
	AsOf     Date    // the newest satellite observation at or before the week's Sunday; ages count from here
	Lakes    []Lake  // the snapshot's
	States   []State // of Lakes[i]
	WithData int     // how many have a value
	// Later is set on a view that was read from a Source that has moved on: it is of a later revision than the snapshot's,
	// and must not be kept as if it were the snapshot's.
	Later bool

	values *Values // instead of States, see Shown
}

// A State is what is known of one lake at one time. Without a current value Chlorophyll, Level and CellDensity are
// none and Trophic is unknown, yet Risk and MeasuredAt are those of the last known value, however old.
type State struct {
	Chlorophyll Chlorophyll
	Level       Level
	Risk        Risk
	Trophic     Trophic
	CellDensity float64
	MeasuredAt  int64 // Unix seconds; valid where Risk is known
}

// The bounds of the views held in memory beside the current one: a person who plays through half a year, as long as
// that costs no more than the data themselves do. All views of a snapshot are of one size, so counting them is
// counting bytes.
const (
	maxViews      = 32
	minViews      = 2
	maxViewsBytes = 128 << 20
	stateBytes    = 24
)

// newViewCache returns a cache of views of that many lakes.
func newViewCache(lakes int) (*lru.Cache[Week, *View], error) {
	fit := maxViewsBytes / (stateBytes * max(lakes, 1))
	return lru.New[Week, *View](min(max(fit, minViews), maxViews))
}

// View returns the map as it stood in week w. The result is shared: asking twice gives the same pointer while it is
// held in memory (a bounded number of weeks is).
//
// Any week may be asked for. One without an observation shows what the week before it does, one before the first
// shows every lake as unknown, as of the zero Date. Weeks older than those whose observations are held in memory are
// read from the Source, neighbouring ones together: while it does not answer, or for longer than
// [SnapshotOptions].Patience, the error is [ErrAway]. Should the Source have moved on to a later revision, such a map is
// that revision's truth about the snapshot's lakes: it is marked as [View.Later], and not kept. The only other error is
// ctx's.
func (s *Snapshot) View(ctx context.Context, w Week) (*View, error) {
	if w == s.Current.Week {
		return s.Current, nil
	}
	if k := s.weekIndex(w); k >= 0 && k < s.held {
		return s.pastView(ctx, w)
	}
	if v, ok := s.views.Get(w); ok {
		return v, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("view of %s: %w", w, err)
	}
	// The first caller builds, in its own goroutine and in milliseconds; those that come meanwhile wait for it.
	v, _, _ := s.flight.Do(strconv.Itoa(int(w)), func() (any, error) {
		// A flight may have landed between the look above and this one.
		if v, ok := s.views.Get(w); ok {
			return v, nil
		}
		v := s.build(w)
		s.views.Add(w, v)
		return v, nil
	})
	return v.(*View), nil
}

// weekIndex returns the place in Weeks of the newest one that is not after w, -1 if there is none.
func (s *Snapshot) weekIndex(w Week) int {
	i, ok := slices.BinarySearchFunc(s.Weeks, w, func(c WeekCount, w Week) int { return cmp.Compare(c.Week, w) })
	if !ok {
		i--
	}
	return i
}

// build makes the view of week w from memory.
func (s *Snapshot) build(w Week) *View {
	v := &View{Week: w, Lakes: s.Lakes}
	i := s.weekIndex(w)
	if i < 0 {
		v.States = unknownStates(len(s.Lakes))
		return v
	}
	v.States = make([]State, len(s.Lakes))
	// Whatever was observed at or before the week's Sunday was observed at or before AsOf.
	v.AsOf = s.asOf[i]
	for k := range v.States {
		v.States[k] = s.state(s.satellite.of(k), v.AsOf)
		if v.States[k].Chlorophyll.Valid() {
			v.WithData++
		}
	}
	return v
}

// state returns what is known on asOf of a lake with those samples.
func (s *Snapshot) state(samples strip, asOf Date) State {
	state := unknownState()
	past := samples.until(asOf).untilValue()
	n := len(past.samples)
	if n == 0 {
		return state
	}
	last, taken, _ := past.observation(n - 1)
	level, density := s.Profile.Classify(last)
	state.Risk = level.Risk()
	state.MeasuredAt = taken
	if stale(last.Date, asOf, s.staleAfter) {
		return state
	}
	state.Chlorophyll = last.Chlorophyll
	state.Level = level
	state.CellDensity = density
	state.Trophic = trophicOf(past.samples, asOf)
	return state
}

// stale reports whether a value of that date is too old on asOf to be a current one: by more than staleAfter days.
func stale(date, asOf Date, staleAfter int) bool { return int64(asOf)-int64(date) > int64(staleAfter) }

// unknownStates returns the states of n lakes that never had a value.
func unknownStates(n int) []State {
	states := make([]State, n)
	for i := range states {
		states[i] = unknownState()
	}
	return states
}

// unknownState is the state of a lake that never had a value.
func unknownState() State {
	return State{
		Chlorophyll: NoChlorophyll,
		Level:       NoLevel,
		Risk:        RiskUnknown,
		Trophic:     TrophicUnknown,
		CellDensity: NoCellDensity,
	}
}
