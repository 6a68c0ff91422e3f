package data

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	lru "github.com/hashicorp/golang-lru/v2"
)

// A View is the map of one week: the state of each lake on that week's Sunday. It is immutable.
type View struct {
	Week     Week
	AsOf     Date    // the newest satellite observation at or before the week's Sunday; ages count from here
	Lakes    []Lake  // the snapshot's
	States   []State // of Lakes[i]
	WithData int     // number of lakes with a current value
	// Later is true if the view was read from a Source that has a later revision than the snapshot. Then the view must not
	// be cached as the snapshot's.
	Later bool

	values *Values // instead of States, see LazyView
}

// A State is the state of one lake at one time. Without a current value, Chlorophyll, Level and CellDensity are none and
// Trophic is unknown, but Risk and MeasuredAt are those of the last known value, however old.
type State struct {
	Chlorophyll Chlorophyll
	Level       Level
	Risk        Risk
	Trophic     Trophic
	CellDensity float64
	MeasuredAt  int64 // Unix seconds; valid where Risk is known
}

// The bounds of the views kept in memory, not counting the current one: enough to play through half a year, unless they
// would take more memory than half of SnapshotOptions.ViewMemory; the other half is for views that are read from the Source.
// All views of a snapshot have the same size, so the cache counts views, not bytes.
const (
	maxViews   = 32
	minViews   = 1
	stateBytes = 24
)

// newViewCache returns a cache for views of that many lakes, in that much memory.
func newViewCache(lakes int, memory int64) (*lru.Cache[Week, *View], error) {
	fit := memory / int64(stateBytes*max(lakes, 1))
	return lru.New[Week, *View](int(min(max(fit, minViews), maxViews)))
}

// View returns the map of week w. The result is shared: the same pointer is returned as long as the view is in memory,
// which holds a bounded number of weeks.
//
// A week without an observation shows the same as the week before, and a week before the first one shows every lake as
// unknown, as of the zero Date. Weeks whose observations are not in memory are read from the Source, several neighbouring
// ones together. If the Source does not answer within [SnapshotOptions].Patience, the error is [ErrUnavailable]. If the
// Source has a later revision by then, the view shows that revision's observations of the snapshot's lakes; it has
// [View.Later] set and is not cached. The only other error is ctx's.
func (s *Snapshot) View(ctx context.Context, w Week) (*View, error) {
	if w == s.Current.Week {
		return s.Current, nil
	}
	if s.Old(w) {
		return s.oldView(ctx, w)
	}
	if v, ok := s.views.Get(w); ok {
		return v, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("view of %s: %w", w, err)
	}
	// The first caller builds it, in its own goroutine and in milliseconds; concurrent callers wait for it.
	v, _, _ := s.flight.Do(strconv.Itoa(int(w)), func() (any, error) {
		// A concurrent call may have added it since the check above.
		if v, ok := s.views.Get(w); ok {
			return v, nil
		}
		v := s.build(w)
		s.views.Add(w, v)
		return v, nil
	})
	return v.(*View), nil
}

// Held returns the map of week w if it is in memory, or nil.
func (s *Snapshot) Held(w Week) *View {
	if w == s.Current.Week {
		return s.Current
	}
	if s.Old(w) {
		first := s.old.first(w)
		if b := s.old.cached(first); b != nil {
			return b.views[w-first]
		}
		return nil
	}
	v, _ := s.views.Get(w)
	return v
}

// Old reports whether the observations for the map of week w are not in memory. If the map is not either, View reads them from
// the Source, which may take seconds; any other map it builds, which takes a processor for some milliseconds.
func (s *Snapshot) Old(w Week) bool {
	k := s.weekIndex(w)
	return k >= 0 && k < s.held
}

// ViewBytes returns the memory of one view.
func (s *Snapshot) ViewBytes() int64 { return int64(stateBytes) * int64(len(s.Lakes)) }

// HeldBytes returns the memory of the views that the snapshot holds, besides the current one.
func (s *Snapshot) HeldBytes() int64 {
	if s.views == nil { // not made by Load
		return 0
	}
	return int64(s.views.Len())*s.ViewBytes() + s.old.bytes()
}

// weekIndex returns the index in weeks of the newest week that is not after w, or -1.
func (s *Snapshot) weekIndex(w Week) int {
	i, ok := slices.BinarySearchFunc(s.weeks, w, func(c WeekCount, w Week) int { return cmp.Compare(c.Week, w) })
	if !ok {
		i--
	}
	return i
}

// build makes the view of week w from the observations in memory.
func (s *Snapshot) build(w Week) *View {
	v := &View{Week: w, Lakes: s.Lakes}
	i := s.weekIndex(w)
	if i < 0 {
		v.States = unknownStates(len(s.Lakes))
		return v
	}
	v.States = make([]State, len(s.Lakes))
	// All observations up to the week's Sunday are also up to AsOf.
	v.AsOf = s.asOf[i]
	for k := range v.States {
		v.States[k] = s.state(s.satellite.of(k), v.AsOf)
		if v.States[k].Chlorophyll.Valid() {
			v.WithData++
		}
	}
	return v
}

// state returns the state on asOf of a lake with those samples.
func (s *Snapshot) state(samples lakeSamples, asOf Date) State {
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

// stale reports whether a value of that date is too old on asOf to be current: by more than staleAfter days.
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
