package data

import (
	"slices"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"
)

// A Snapshot is the whole truth of one moment: the lakes and what is known of them. It is made by [Load], immutable,
// and safe for concurrent use.
//
// Without any satellite observation a snapshot has no Weeks, and its Current view is of the zero Week, as of the
// zero Date, with every lake unknown.
type Snapshot struct {
	// Version is a hash, in hexadecimal, of everything that the snapshot shows: the same data and options give the
	// same version on every machine. Revision is no part of it, nor are forecasts, which no map shows.
	Version  string
	Revision Revision
	Profile  *Profile
	Lakes    []Lake      // ascending by ID
	Current  *View       // the newest week
	Weeks    []WeekCount // all of them, those that are not held in memory too

	staleAfter int
	byExternal []int32
	asOf       []Date // of Weeks[i]: its newest satellite observation
	held       int    // the maps of Weeks[held:] are made from memory
	past       *past  // makes those of the others

	// What is held of each lake: all satellite observations and forecasts from the day since on, and its newest value
	// before. Of lakes that are not dropped it is all that there is.
	satellite series
	forecasts series
	since     Date
	dropped   []bool

	views  *lru.Cache[Week, *View]
	shown  *lru.Cache[Week, *View]
	flight singleflight.Group // one build per week at a time
}

// A WeekCount is a week that holds at least one satellite observation (a gap is one), and how many lakes have a
// current value in it.
type WeekCount struct {
	Week          Week
	LakesWithData int
}

// Index returns the place of the lake with that id in Lakes.
func (s *Snapshot) Index(id LakeID) (int, bool) {
	return slices.BinarySearchFunc(s.Lakes, id, func(l Lake, id LakeID) int {
		return strings.Compare(string(l.ID), string(id))
	})
}

// ByExternalID returns indices into Lakes in ascending order of external id (then id). The slice is shared and must
// not be changed.
func (s *Snapshot) ByExternalID() []int32 { return s.byExternal }

// orderByExternalID returns what [Snapshot.ByExternalID] does.
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
