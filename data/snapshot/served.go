package snapshot

import (
	"fmt"
	"slices"

	"limnomap/data"
)

// MaxGap is how many weeks after an observation there is still a map, if the next observation comes later: by then every
// value is out of date, and so is the trophic status. Otherwise one observation that is dated a century too early would open
// thousands of weeks, each of which is a map to build.
const MaxGap = 52

// serveWeeks sets the weeks that are served on the day from which ages count: those from oldest on, if that is known, that have an
// observation up to that day. Current must be set.
func (s *Snapshot) serveWeeks(oldest *data.Date) {
	today := s.Current.Week
	n := s.weekIndex(today) + 1
	if n == 0 {
		s.Weeks = nil
		return
	}
	weeks := slices.Clone(s.weeks[:n])
	if last := &weeks[n-1]; last.Week == today { // counted on its Sunday, which is still to come
		*last = WeekCount{Week: today, LakesWithData: s.Current.WithData}
		for i := range s.Current.States {
			if state := &s.Current.States[i]; state.Chlorophyll.Valid() {
				last.Risks[state.Risk]++
			}
		}
	}
	s.Weeks, s.first = weeks, weeks[0].Week
	if oldest == nil || oldest.Week() <= s.first {
		return
	}
	first := min(oldest.Week(), weeks[n-1].Week)
	k := s.weekIndex(first)
	s.first = first
	if weeks[k].Week < first {
		if first-weeks[k].Week > MaxGap {
			s.first = weeks[k+1].Week
		}
		k++
	}
	s.Weeks = weeks[k:]
}

// First returns the first week that is served, if there are any: the first with an observation, or that of
// [Options].Oldest if there are older observations.
func (s *Snapshot) First() data.Week { return s.first }

// ServedDays describes the days of the weeks that are served, for error messages. There must be such weeks.
func (s *Snapshot) ServedDays() string {
	return fmt.Sprintf("from %s to %s, at most %d weeks after a week with an observation", s.first.Monday(), s.Current.Week.Sunday(), MaxGap)
}

// Serves reports whether there is a map of week w: if it has an observation, or is at most [MaxGap] weeks after one, or is the current
// week. Weeks before [Snapshot.First] and after the current one have none.
func (s *Snapshot) Serves(w data.Week) bool {
	if len(s.Weeks) == 0 || w < s.first || w > s.Current.Week {
		return false
	}
	return w == s.Current.Week || w-s.weeks[s.weekIndex(w)].Week <= MaxGap
}

// Newest returns the date of the newest measurement that the map of week w may show, and whether there is one.
func (s *Snapshot) Newest(w data.Week) (data.Date, bool) {
	last := w.Sunday()
	if w >= s.Current.Week {
		last = s.Current.AsOf
	}
	n, found := slices.BinarySearch(s.days, last)
	if found {
		n++
	}
	if n == 0 {
		return 0, false
	}
	return s.days[n-1], true
}
