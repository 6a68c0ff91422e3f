package data

import "cmp"

// FromPixels reports whether o is the value, or the gap, of a satellite's pixels: it has both n_valid and n_total.
func (o *Observation) FromPixels() bool {
	return o.Type == Satellite && o.Details.ValidPixels.Known && o.Details.TotalPixels.Known
}

// CompareRasterRows compares two rows of one lake, date and source of a satellite: negative if a is worse than b, 0 if neither is, positive
// if a is better. A gap is worse than a poor value, that is worse than a suspect one, and that is worse than any other. Rows that are not
// [Observation.FromPixels] do not compare.
//
// A raster often shows only a part of the lakes. A lake at the edge of one scene has a gap there, and may have a value in the next one of
// the same day.
func CompareRasterRows(a, b *Observation) int {
	if !a.FromPixels() || !b.FromPixels() {
		return 0
	}
	return cmp.Compare(a.rasterRank(), b.rasterRank())
}

// rasterRank returns a number that is greater for a better row.
func (o *Observation) rasterRank() int {
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
