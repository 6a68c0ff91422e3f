package store

import (
	"fmt"

	"limnomap/data"
)

// comparedRow reports whether a row must be compared with the stored one before it is written.
func comparedRow(o *data.Observation, keep ObservationColumns) bool {
	return o.Type == data.Satellite && (o.Details.Version != "" || comparesPixels(o, keep))
}

// comparesPixels reports whether a row may have fewer data than the stored one. An import without the column of chlorophyll takes no value away.
func comparesPixels(o *data.Observation, keep ObservationColumns) bool {
	return o.FromPixels() && !keep.Chlorophyll
}

// A storedRow is what decides whether an imported row of a satellite replaces a stored one.
type storedRow struct {
	version string // empty if it has none
	chl     data.Chlorophyll
	quality string
	pixels  bool // whether it has n_valid and n_total
}

// precedence returns what a satellite's row is in comparison with the stored one: OlderVersion or WorseThanStored if the stored one stays,
// Changed if the row replaces it even if it repeats a key, and Unchanged if neither has precedence: see [data.CompareSatelliteRows].
func (s *storedRow) precedence(o *data.Observation, keep ObservationColumns) Change {
	order, by := data.CompareSatelliteRows(o, s.observation(o, keep))
	switch {
	case by == data.ByVersion && order < 0:
		return OlderVersion
	case by == data.ByQuality && order < 0:
		return WorseThanStored
	case by == data.ByVersion, by == data.ByQuality:
		return Changed
	}
	return Unchanged
}

// observation returns the stored row to be compared with o. An import that keeps the quality of an unchanged value does not make it
// better, and one that keeps the value does not make it worse.
func (s *storedRow) observation(o *data.Observation, keep ObservationColumns) *data.Observation {
	stored := data.Observation{Type: data.Satellite, Chlorophyll: s.chl, Details: data.Details{Version: s.version}}
	if s.pixels && comparesPixels(o, keep) {
		stored.Details.ValidPixels, stored.Details.TotalPixels = o.Details.ValidPixels, o.Details.TotalPixels
	}
	stored.Quality, _ = data.ParseQuality(s.quality) // an unknown one counts as none
	if keep.Quality && s.chl == o.Chlorophyll {
		stored.Quality = o.Quality
	}
	return &stored
}

// storedColumns are the columns of a storedRow, of a table o. member returns the expression of a member of its details.
func storedColumns(member func(name string) string) string {
	return fmt.Sprintf("coalesce(%s, '') AS version, coalesce(o.chl, %d) AS chl, coalesce(%s, '') AS quality, %s IS NOT NULL AND %s IS NOT NULL AS pixels",
		member("version"), data.NoChlorophyll, member("quality"), member("n_valid"), member("n_total"))
}

// scan reads the columns of storedColumns, after those in before.
func (s *storedRow) scan(row rowScanner, before ...any) error {
	return row.Scan(append(before, &s.version, &s.chl, &s.quality, &s.pixels)...)
}
