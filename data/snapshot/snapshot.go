package snapshot

import (
	"slices"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"limnomap/data"
)

// A Snapshot is one immutable load of all data: the lakes and their observations. It is made by [Load] and safe for
// concurrent use.
//
// A snapshot without any measurement up to the day from which ages count has no Weeks, and every lake is unknown in its Current view.
type Snapshot struct {
	// Version is a hash, in hexadecimal, of everything that the snapshot shows: the same data and options give the same
	// version on every machine on the same day. It depends on the pixels of satellites, on the official statements, on which of them are active, and on the ranks of
	// sources, but neither on Revision nor on what no map shows: forecasts, names of sources and Details.
	Version  string
	Revision data.Revision
	// StatementsOf is the number of the revision of the official statements. It is later than that of Revision if they are shown before other
	// changes are loaded.
	StatementsOf int64
	Profile      *data.Profile
	Lakes        []data.Lake // ascending by ID
	// Pixels are those of satellites that the source keeps.
	Pixels  data.PixelState
	AsOf    AsOf        // from which day ages count
	Current *View       // of that day
	Weeks   []WeekCount // all that are served, also if not in memory
	// Forecasts are the newest of limnomap's own; nil if there are none.
	Forecasts *Forecasts
	// ForecastTest is their last test with past years, also if there are none because of it.
	ForecastTest data.ForecastTest
	// Advisories are all official statements about the lakes.
	Advisories *Advisories

	values        versionHash   // the part of loadedVersion without official statements; it must not be changed
	loadedVersion string        // the part of Version that does not change with time
	statementsAt  time.Time     // when other official statements are active next; zero for never
	doubt         time.Duration // by how much the other time that may be the present one is later; 0 without one

	rule       currentRule
	oldest     *data.Date  // Options.Oldest
	weeks      []WeekCount // all, also those before oldest and after the current one; counted on their Sundays
	days       []data.Date // all with a measurement, ascending
	first      data.Week   // the first that is served
	byExternal []int32
	waters     *waters
	held       int       // weeks[held:] are in memory
	old        *oldViews // reads the views of the other weeks

	// The observations in memory of each lake: all since the day since, and those of the newest date before that has a usable value
	// of a satellite, and of a sample. A lake that is not dropped has no other observations.
	satellite series
	inSitu    series
	forecasts series
	since     data.Date
	dropped   []bool
	sources   []string
	digests   []uint64 // by lake

	views      *lru.Cache[data.Week, *View]
	lazyValues *lru.Cache[data.Week, *Values]
	flight     *singleflight.Group // one build per week at a time
}

// A WeekCount is a week with at least one measurement (or gap), and the number of lakes with a current value in it.
type WeekCount struct {
	Week          data.Week
	LakesWithData int
	Risks         [data.RiskHigh + 1]int // number of those lakes, by risk
}

// Index returns the index in Lakes of the lake with that id.
func (s *Snapshot) Index(id data.LakeID) (int, bool) {
	return slices.BinarySearchFunc(s.Lakes, id, func(l data.Lake, id data.LakeID) int {
		return strings.Compare(string(l.ID), string(id))
	})
}

// Lake returns the lake with that id.
func (s *Snapshot) Lake(id data.LakeID) (*data.Lake, bool) {
	i, ok := s.Index(id)
	if !ok {
		return nil, false
	}
	return &s.Lakes[i], true
}

// ByExternalID returns indices into Lakes in ascending order of external id (then id). The slice is shared and must
// not be changed.
func (s *Snapshot) ByExternalID() []int32 { return s.byExternal }

// orderByExternalID returns the result of [Snapshot.ByExternalID].
func orderByExternalID(lakes []data.Lake) []int32 {
	order := make([]int32, len(lakes))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		if c := strings.Compare(lakes[a].ExternalID, lakes[b].ExternalID); c != 0 {
			return c
		}
		return int(a - b) // lakes are ascending by id
	})
	return order
}

// At returns the snapshot as of p: s itself, unless another day is the present one, or other official statements are active. The rest is
// shared. On another day, it makes the current view again, which takes a processor for a second if there are a million lakes. In doubt of the clock
// the day is that of p.Now.
func (s *Snapshot) At(p data.Present) *Snapshot {
	if s.isOf(p) {
		return s
	}
	c := *s
	if today := s.AsOf.on(p.Now, s.Current.AsOf); today != s.Current.AsOf {
		c.setDay(today)
	}
	c.setActive(p)
	return &c
}

// WithoutStatements returns s as if no official statement were active now.
func (s *Snapshot) WithoutStatements() *Snapshot {
	c := *s
	c.setActive(data.Present{})
	c.statementsAt = time.Time{}
	return &c
}

// isOf reports whether [Snapshot.At] of p is s.
func (s *Snapshot) isOf(p data.Present) bool {
	return s.AsOf.on(p.Now, s.Current.AsOf) == s.Current.AsOf && (s.statementsAt.IsZero() || p.Now.Before(s.statementsAt)) &&
		(doubtOf(p)-s.doubt).Abs() < time.Second
}

// Present returns the present time of which the snapshot is, if it is now by the first clock.
func (s *Snapshot) Present(now time.Time) data.Present {
	if s.doubt == 0 {
		return data.At(now)
	}
	return data.Present{Now: now, Also: now.Add(s.doubt)}
}

// doubtOf returns by how much p.Also is later than p.Now.
func doubtOf(p data.Present) time.Duration {
	if !p.Doubtful() {
		return 0
	}
	return p.Also.Sub(p.Now)
}

// ChangesAt returns when [Snapshot.At] will return another snapshot; the zero time for never.
func (s *Snapshot) ChangesAt() time.Time {
	next := s.statementsAt
	if s.AsOf.Clock() {
		if tomorrow := (s.Current.AsOf + 1).Time(); next.IsZero() || tomorrow.Before(next) {
			next = tomorrow
		}
	}
	return next
}

// StatementsChangeAt returns when other official statements are active next; the zero time for never.
func (s *Snapshot) StatementsChangeAt() time.Time { return s.statementsAt }

// setDay makes the current view, that of a day.
func (s *Snapshot) setDay(today data.Date) {
	var passes []pass
	if s.Current != nil {
		passes = s.Current.passes
	}
	s.Current = s.build(today.Week(), today)
	s.Current.passes = passes
	s.serveWeeks(s.oldest)
}

// setAdvisories makes these all official statements. setActive must follow.
func (s *Snapshot) setAdvisories(statements []data.Advisory) {
	s.Advisories = NewAdvisories(s.Lakes, statements)
	hash := versionHash{s.values.Clone()}
	hash.advisories(s.Advisories)
	s.loadedVersion = hash.version()
}

// setActive makes those official statements active that are so at present.
func (s *Snapshot) setActive(p data.Present) {
	active, next := s.Advisories.ActiveAt(p)
	v := s.Current
	s.Current = &View{Week: v.Week, AsOf: v.AsOf, Lakes: v.Lakes, States: v.States, Profile: v.Profile, Pixels: v.Pixels, waters: v.waters, passes: v.passes, WithData: v.WithData,
		Advisories: active}
	s.statementsAt, s.doubt = next, doubtOf(p)
	s.Version = versionAt(s.loadedVersion, v.AsOf, active)
}

// advisoriesIn returns the official statements for the map of a week that is not the current one.
func (s *Snapshot) advisoriesIn(w data.Week) *ActiveAdvisories {
	active, _ := s.Advisories.ActiveAt(data.Past(w.End()))
	return active
}
