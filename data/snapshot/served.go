package snapshot

import (
	"fmt"

	"limnomap/data"
)

// MaxGap is how many weeks after an observation there is still a map, if the next observation comes later: by then every
// value is out of date, and so is the trophic status. Otherwise one observation that is dated a century too early would open
// thousands of weeks, each of which is a map to build.
const MaxGap = 52

// serveFrom sets the weeks that are served.
func (s *Snapshot) serveFrom(oldest *data.Date) {
	n := len(s.weeks)
	if n == 0 {
		return
	}
	s.Weeks, s.first = s.weeks, s.weeks[0].Week
	if oldest == nil || oldest.Week() <= s.first {
		return
	}
	first := min(oldest.Week(), s.weeks[n-1].Week)
	k := s.weekIndex(first)
	s.first = first
	if s.weeks[k].Week < first {
		if first-s.weeks[k].Week > MaxGap {
			s.first = s.weeks[k+1].Week
		}
		k++
	}
	s.Weeks = s.weeks[k:]
}

// First returns the first week that is served, if there are any: the first with an observation, or that of
// [Options].Oldest if there are older observations.
func (s *Snapshot) First() data.Week { return s.first }

// ServedDays describes the days of the weeks that are served, for error messages. There must be such weeks.
func (s *Snapshot) ServedDays() string {
	last := s.Weeks[len(s.Weeks)-1].Week
	return fmt.Sprintf("from %s to %s, at most %d weeks after a week with an observation", s.first.Monday(), last.Sunday(), MaxGap)
}

// Serves reports whether there is a map of week w: if it has an observation, or is at most [MaxGap] weeks after one and not after the
// newest. Weeks before [Snapshot.First] have none.
func (s *Snapshot) Serves(w data.Week) bool {
	n := len(s.weeks)
	return n > 0 && w >= s.first && w <= s.weeks[n-1].Week && w-s.weeks[s.weekIndex(w)].Week <= MaxGap
}
