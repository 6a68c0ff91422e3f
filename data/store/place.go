package store

import "github.com/paulmach/orb"

// FarAway is, in degrees, how far a lake's place may lie outside its outline: 11 km, within which are the beach or the
// buoy that stands for a lake. Beyond it the one or the other is wrong, such as a lat and lon that are swapped.
const FarAway = 0.1

// NearOutline reports whether p may be the place of a lake whose outline has the given bound. The bound's east may exceed
// 180 (see [data.Outline]).
func NearOutline(bound orb.Bound, p orb.Point) bool {
	bound = bound.Pad(FarAway)
	return bound.Contains(p) || bound.Contains(orb.Point{p[0] + 360, p[1]}) || bound.Contains(orb.Point{p[0] - 360, p[1]})
}
