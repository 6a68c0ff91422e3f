package data

import (
	"slices"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"
)

// A Snapshot is one immutable load of all data: the lakes and their observations. It is made by [Load] and safe for
// concurrent use.
//
// A snapshot without any satellite observation has no Weeks, and its Current view has the zero Week, the zero Date and
// every lake unknown.
type Snapshot struct {
	// Version is a hash, in hexadecimal, of everything that the snapshot shows: the same data and options give the same
	// version on every machine. It does not depend on Revision, nor on forecasts, which no map shows.
	Version  string
	Revision Revision
	Profile  *Profile
	Lakes    []Lake      // ascending by ID
	Current  *View       // the newest week
	Weeks    []WeekCount // all that are served, also if not in memory

	staleAfter int
	weeks      []WeekCount // all, also those before SnapshotOptions.Oldest
	first      Week        // the first that is served
	byExternal []int32
	asOf       []Date    // of weeks[i]: its newest satellite observation
	held       int       // weeks[held:] are in memory
	old        *oldViews // reads the views of the other weeks

	// The samples in memory of each lake: all satellite observations and forecasts since the day since, and its newest value
	// before. A lake that is not dropped has no other observations.
	satellite series
	forecasts series
	since     Date
	dropped   []bool

	views     *lru.Cache[Week, *View]
	lazyViews *lru.Cache[Week, *View]
	flight    singleflight.Group // one build per week at a time
}

// A WeekCount is a week with at least one satellite observation (or gap), and the number of lakes with a current value
// in it.
type WeekCount struct {
	Week          Week
	LakesWithData int
}

// Index returns the index in Lakes of the lake with that id.
func (s *Snapshot) Index(id LakeID) (int, bool) {
	return slices.BinarySearchFunc(s.Lakes, id, func(l Lake, id LakeID) int {
		return strings.Compare(string(l.ID), string(id))
	})
}

// ByExternalID returns indices into Lakes in ascending order of external id (then id). The slice is shared and must
// not be changed.
func (s *Snapshot) ByExternalID() []int32 { return s.byExternal }

// orderByExternalID returns the result of [Snapshot.ByExternalID].
func orderByExternalID(lakes []Lake) []int32 {
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
