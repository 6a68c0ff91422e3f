package snapshot

import (
	"slices"

	"limnomap/data"
)

const (
	// maxSources bounds the names in memory. It is as many as a database has.
	maxSources = 1000
	// sourceDays is how old a value may be whose source is named: as old as those that the trophic status of a lake is of.
	sourceDays = trophicDays
)

// sourceDates are the dates of the newest usable value of each source.
type sourceDates struct {
	dates map[string]data.Date
	last  string    // the source of the observation before, as of most
	until data.Date // its newest date
}

// observe adds a value of a satellite.
func (s *sourceDates) observe(o *data.Observation) {
	if o.Source == "" || !o.Usable() || o.Source == s.last && o.Date <= s.until {
		return
	}
	before, known := s.dates[o.Source]
	if s.last, s.until = o.Source, o.Date; known && before >= o.Date {
		s.until = before
		return
	}
	if s.dates == nil {
		s.dates = make(map[string]data.Date)
	}
	if known || len(s.dates) < maxSources {
		s.dates[o.Source] = o.Date
	}
}

// since returns the sources with a value less than sourceDays before asOf, in ascending order.
func (s *sourceDates) since(asOf data.Date) []string {
	var names []string
	for name, date := range s.dates {
		if int64(asOf)-int64(date) < sourceDays {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Sources returns the sources of satellite values of the year before the newest measurement, in ascending order: those whose values the
// current map can show. The slice is shared and must not be changed.
func (s *Snapshot) Sources() []string { return s.sources }
