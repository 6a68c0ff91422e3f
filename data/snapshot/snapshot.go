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
// A snapshot without any measurement has no Weeks, and its Current view has the zero Week, the zero Date and
// every lake unknown.
type Snapshot struct {
	// Version is a hash, in hexadecimal, of everything that the snapshot shows: the same data and options give the same
	// version on every machine. It depends on the official statements, on which of them are active, and on the ranks of sources, but
	// neither on Revision nor on what no map shows: forecasts, names of sources and Details.
	Version  string
	Revision data.Revision
	Profile  *data.Profile
	Lakes    []data.Lake // ascending by ID
	Current  *View       // the newest week
	Weeks    []WeekCount // all that are served, also if not in memory
	// Forecasts are the newest of limnomap's own; nil if there are none.
	Forecasts *Forecasts
	// ForecastTest is their last test with past years, also if there are none because of it.
	ForecastTest data.ForecastTest
	// Advisories are all official statements about the lakes.
	Advisories *Advisories

	loadedVersion string    // the part of Version that does not change with time
	changesAt     time.Time // when other official statements are active next; zero for never

	rule       currentRule
	weeks      []WeekCount // all, also those before Options.Oldest
	first      data.Week   // the first that is served
	byExternal []int32
	asOf       []data.Date // of weeks[i]: its newest measurement
	held       int         // weeks[held:] are in memory
	old        *oldViews   // reads the views of the other weeks

	// The observations in memory of each lake: all since the day since, and those of the newest date before that has a usable value
	// of a satellite, and of a sample. A lake that is not dropped has no other observations.
	satellite series
	inSitu    series
	forecasts series
	since     data.Date
	dropped   []bool
	sources   []string

	views      *lru.Cache[data.Week, *View]
	lazyValues *lru.Cache[data.Week, *Values]
	flight     *singleflight.Group // one build per week at a time
}

// A WeekCount is a week with at least one measurement (or gap), and the number of lakes with a current value in it.
type WeekCount struct {
	Week          data.Week
	LakesWithData int
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

// At returns the snapshot as of now: s itself, unless other official statements are active now than in s. The rest is shared.
func (s *Snapshot) At(now time.Time) *Snapshot {
	if s.changesAt.IsZero() || now.Before(s.changesAt) {
		return s
	}
	return s.withActive(now)
}

// ChangesAt returns when [Snapshot.At] will return another snapshot; the zero time for never.
func (s *Snapshot) ChangesAt() time.Time { return s.changesAt }

// AgedAt returns when a value of that date is older by the clock than Options.StaleAfter allows. The map does not depend on it:
// there, ages count from the newest measurement.
func (s *Snapshot) AgedAt(date data.Date) time.Time {
	return time.Unix((int64(date)+int64(s.rule.staleAfter)+1)*data.SecondsPerDay, 0).UTC()
}

// withActive returns a copy of s whose current view has the statements that are active now.
func (s *Snapshot) withActive(now time.Time) *Snapshot {
	c := *s
	active, next := s.Advisories.ActiveAt(now)
	c.changesAt = next
	c.Version = versionAt(s.loadedVersion, active)
	c.Current = &View{Week: s.Current.Week, AsOf: s.Current.AsOf, Lakes: s.Lakes, States: s.Current.States, Profile: s.Profile,
		WithData: s.Current.WithData, Advisories: active}
	return &c
}

// advisoriesIn returns the official statements for the map of a week that is not the current one.
func (s *Snapshot) advisoriesIn(w data.Week) *ActiveAdvisories {
	active, _ := s.Advisories.ActiveAt(w.End())
	return active
}
