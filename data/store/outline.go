package store

import "github.com/paulmach/orb"

// OutlineMargin is, in degrees, how far a lake's point may be outside its outline: 11 km, which allows for a beach or a
// buoy as the lake's point. Farther away, either the point or the outline is wrong, for example with lat and lon swapped.
const OutlineMargin = 0.1

// NearOutline reports whether p may be the point of a lake whose outline has the given bound. The bound's east may exceed
// 180 (see [outline.Outline]).
func NearOutline(bound orb.Bound, p orb.Point) bool {
	bound = bound.Pad(OutlineMargin)
	return bound.Contains(p) || bound.Contains(orb.Point{p[0] + 360, p[1]}) || bound.Contains(orb.Point{p[0] - 360, p[1]})
}
