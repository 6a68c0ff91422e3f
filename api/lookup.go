package api

import (
	"slices"

	"limnomap/data"
	"limnomap/data/index"
)

// A lookup finds lakes by place, by name and by region, in some 80 bytes a lake.
type lookup struct {
	places *index.PointIndex
	names  *index.NameIndex
}

// lookupOf returns the lookup of lakes. An import of new values leaves the lakes as they were, and then the one before
// serves on: a million names take seconds to sort.
func (s *Server) lookupOf(lakes []data.Lake) *lookup {
	if before := s.current.Load(); before != nil && slices.EqualFunc(before.snap.Lakes, lakes, foundAlike) {
		return before.lookup
	}
	return &lookup{places: index.NewPointIndex(lakes), names: index.NewNameIndex(lakes)}
}

// foundAlike reports whether two lakes are found by the same place, names and region.
func foundAlike(a, b data.Lake) bool {
	return a.ID == b.ID && a.ExternalID == b.ExternalID && a.Name == b.Name && a.Point == b.Point && a.Region == b.Region
}
