package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"unsafe"

	lru "github.com/hashicorp/golang-lru/v2"

	"limnomap/data"
)

// A View is the map of one week: the state of each lake on its Sunday, or on the present day if that is in the week. It is immutable.
type View struct {
	Week     data.Week
	AsOf     data.Date       // that day; ages count from here
	Lakes    []data.Lake     // the snapshot's
	States   []State         // of Lakes[i]
	Profile  *data.Profile   // by which they were classified
	Pixels   data.PixelState // the snapshot's
	WithData int             // number of lakes with a current value
	// Advisories are the gravest official statements: for the current week those that are active now, for any other week those that
	// were active at the end of its Sunday.
	Advisories *ActiveAdvisories
	waters     *waters // the snapshot's
	passes     []pass  // of the values that it shows, of lakes whose pixels are kept; in the order of pass.compare
	// Later is true if the view was read from a Source that has a later revision than the snapshot, or could not be read as a whole. Then the view
	// must not be cached as the snapshot's.
	Later bool

	prepare sync.Once
	values  *Values
}

// A State is the state of one lake at one time. Without a current value, Chlorophyll, Level and CountedCells are none, but Risk, MeasuredBy
// and the times are those of the last known value, however old. They are valid where Risk is known. The trophic status is that of the
// last 365 days, also without a current value.
type State struct {
	Chlorophyll  data.Chlorophyll
	Level        data.Level // the worst that the current observation supports, see [data.Profile.Classify]
	Risk         data.Risk  // of that level
	Trophic      data.Trophic
	MeasuredBy   data.DataType
	CountedCells float64       // cells/ml, as the source itself reports them, or NoCellDensity
	Date         data.Date     // of the observation
	TakenOffset  int32         // seconds from midnight UTC of Date to the time of measurement
	TrophicBy    data.DataType // the series that Trophic is of, if it is known
	BelowLimit   bool          // whether the current value is only known to be below a limit of detection
	period       period        // of the current value
}

// CellDensity returns the density of [data.CellDensity]; NoCellDensity without a current value.
func (s *State) CellDensity() float64 {
	return data.CellDensity(s.Chlorophyll, s.CountedCells, s.BelowLimit)
}

// CellOrigin returns where that density is from.
func (s *State) CellOrigin() data.CellOrigin {
	return data.CellOriginOf(s.MeasuredBy, s.CountedCells, s.CellDensity())
}

// PeriodStart returns the first day of the period that the current value stands for, if it has one; Date is the last.
func (s *State) PeriodStart() data.Optional[data.Date] { return s.period.start(s.Date) }

// Composite returns how the values of that period became one.
func (s *State) Composite() data.Composite { return s.period.composite() }

// MeasuredAt returns the time of measurement in Unix seconds.
func (s *State) MeasuredAt() int64 { return int64(s.Date)*data.SecondsPerDay + int64(s.TakenOffset) }

// Stale reports whether the lake has only a value that is too old to be current.
func (s *State) Stale() bool { return s.Risk != data.RiskUnknown && !s.Chlorophyll.Valid() }

// Age returns how many days before asOf the last known value was measured, and whether there is one.
func (s *State) Age(asOf data.Date) (days int, ok bool) {
	return int(asOf - s.Date), s.Risk != data.RiskUnknown
}

// The bounds of the views kept in memory, not counting the current one: enough to play through half a year, unless they
// would take more memory than half of Options.ViewMemory; the other half is for views that are read from the Source.
// All views of a snapshot have the same size, so the cache counts views, not bytes.
const (
	maxViews   = 32
	minViews   = 1
	stateBytes = int64(unsafe.Sizeof(State{}))
)

// newViewCache returns a cache for views of that many bytes, in that much memory.
func newViewCache(bytes, memory int64) (*lru.Cache[data.Week, *View], error) {
	fit := memory / max(bytes, 1)
	return lru.New[data.Week, *View](int(min(max(fit, minViews), maxViews)))
}

// View returns the map of week w. The result is shared: the same pointer is returned as long as the view is in memory,
// which holds a bounded number of weeks.
//
// A week after the current one shows the same as that, and a week before the first observation shows every lake as unknown. Weeks whose
// observations are not in memory are read from the Source, several neighbouring ones together. If the Source does not answer within [Options].Patience, the error is [ErrUnavailable]. If the
// Source has a later revision by then, the view shows that revision's observations of the snapshot's lakes; it has
// [View.Later] set and is not cached. The only other error is ctx's. How much of each lake is affected is read from the Source too, if that
// has pixels; a view of values in memory is without it if the Source fails, and then has Later set too.
func (s *Snapshot) View(ctx context.Context, w data.Week) (*View, error) {
	if w >= s.Current.Week {
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
	// The first caller builds it, and reads how much of each lake is affected; concurrent callers wait for it.
	v, err, _ := s.flight.Do(strconv.Itoa(int(w)), func() (any, error) {
		// A concurrent call may have added it since the check above.
		if v, ok := s.views.Get(w); ok {
			return v, nil
		}
		v := s.build(w, max(w, data.MinDate.Week()).Sunday())
		ctx, cancel := s.old.waiting(s.old.ctx)
		defer cancel()
		if err := s.readPasses(ctx, s.old.source, v); err != nil {
			v.passes, v.Later = nil, true // its values are in memory: the map must not fail with the Source
			return v, nil
		}
		s.views.Add(w, v)
		return v, nil
	})
	if err != nil {
		return nil, err
	}
	return v.(*View), nil
}

// Held returns the map of week w if it is in memory, or nil.
func (s *Snapshot) Held(w data.Week) *View {
	if w >= s.Current.Week {
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
func (s *Snapshot) Old(w data.Week) bool {
	k := s.weekIndex(w)
	return k >= 0 && k < s.held && w < s.Current.Week
}

// Reads reports whether View must read from the Source if the map of week w is not in memory.
func (s *Snapshot) Reads(w data.Week) bool {
	return s.Old(w) || s.Pixels.Count > 0 && w < s.Current.Week
}

// ViewBytes returns the memory that one view may take.
func (s *Snapshot) ViewBytes() int64 {
	lake := stateBytes
	if s.Pixels.Count > 0 {
		lake += passBytes
	}
	return lake * int64(len(s.Lakes))
}

// HeldBytes returns the memory of the views that the snapshot holds, besides the current one.
func (s *Snapshot) HeldBytes() int64 {
	if s.views == nil { // not made by Load
		return 0
	}
	return int64(s.views.Len())*s.ViewBytes() + s.old.bytes()
}

// weekIndex returns the index in weeks of the newest week that is not after w, or -1.
func (s *Snapshot) weekIndex(w data.Week) int {
	i, ok := slices.BinarySearchFunc(s.weeks, w, func(c WeekCount, w data.Week) int { return cmp.Compare(c.Week, w) })
	if !ok {
		i--
	}
	return i
}

// build makes the view of week w from the observations in memory.
func (s *Snapshot) build(w data.Week, asOf data.Date) *View {
	v := &View{Week: w, AsOf: asOf, Lakes: s.Lakes, Profile: s.Profile, Pixels: s.Pixels, waters: s.waters, Advisories: s.advisoriesIn(w), States: make([]State, len(s.Lakes))}
	for k := range v.States {
		v.States[k] = s.rule.state(s.satellite.of(k), s.inSitu.of(k), asOf)
		if v.States[k].Chlorophyll.Valid() {
			v.WithData++
		}
	}
	return v
}

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
		Chlorophyll:  data.NoChlorophyll,
		Level:        data.NoLevel,
		Risk:         data.RiskUnknown,
		Trophic:      data.TrophicUnknown,
		CountedCells: data.NoCellDensity,
	}
}

// EventValueOf returns what s publishes.
func EventValueOf(s *State) data.EventValue {
	v := data.EventValue{Chlorophyll: s.Chlorophyll, Level: s.Level}
	if s.Risk != data.RiskUnknown {
		v.MeasuredAt = data.Known(s.MeasuredAt())
	}
	return v
}
