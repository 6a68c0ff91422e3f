package data

import "cmp"

// FromPixels reports whether o is the value, or the gap, of a satellite's pixels: it has both n_valid and n_total.
func (o *Observation) FromPixels() bool {
	return o.Type == Satellite && o.Details.ValidPixels.Known && o.Details.TotalPixels.Known
}

// A SatelliteRule decides which of two rows of one lake, date and source of a satellite is better.
type SatelliteRule uint8

// The rules, in the order in which they are asked. Only the first compares rows that are not both [Observation.FromPixels].
const (
	NoRule    SatelliteRule = iota // neither row is better
	ByVersion                      // the newer version; a row without a version is as old as the other
	ByQuality                      // a gap is worse than a poor value, that is worse than a suspect one, and that is worse than any other
	ByPixels                       // the one with more valid pixels
	ByValue                        // the larger value, so that a bloom is visible; one below a limit of detection is below all others, and of equal ones that with more cells counts
)

// CompareSatelliteRows compares two rows of one lake, date and source of a satellite: negative if a is worse than b, 0 if neither is, positive
// if a is better. It also returns the rule that decides.
//
// A raster often shows only a part of the lakes. A lake at the edge of one scene has a gap there, and may have a value in the next one of
// the same day.
//
// Of files that are read together all rules count. A stored row is replaced by a row that is worse only ByPixels or ByValue: it may be a
// correction.
func CompareSatelliteRows(a, b *Observation) (order int, by SatelliteRule) {
	if a.Type != Satellite || b.Type != Satellite {
		return 0, NoRule
	}
	if v, w := a.Details.Version, b.Details.Version; v != w && v != "" && w != "" {
		if order = CompareVersions(v, w); order != 0 {
			return order, ByVersion
		}
	}
	if !a.FromPixels() || !b.FromPixels() {
		return 0, NoRule
	}
	if order = cmp.Compare(a.satelliteQuality(), b.satelliteQuality()); order != 0 {
		return order, ByQuality
	}
	if order = cmp.Compare(a.Details.ValidPixels.Value, b.Details.ValidPixels.Value); order != 0 {
		return order, ByPixels
	}
	if order = cmp.Or(cmp.Compare(a.detected(), b.detected()), cmp.Compare(a.CellDensity, b.CellDensity)); order != 0 {
		return order, ByValue
	}
	return 0, NoRule
}

// satelliteQuality returns a number that is greater for a better row.
func (o *Observation) satelliteQuality() int {
	switch {
	case !o.Chlorophyll.Valid():
		return 0
	case o.Quality == Poor:
		return 1
	case o.Quality == Suspect:
		return 2
	}
	return 3
}

// detected returns the value of o; 0 if it is below a limit of detection.
func (o *Observation) detected() Chlorophyll {
	if o.Details.BelowLimit {
		return 0
	}
	return o.Chlorophyll
}
