package outline

import (
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
)

// Contains reports whether a point of longitude and latitude is inside o, by the even-odd rule. A point outside of the bound takes the same time for any
// outline.
func (o Outline) Contains(p orb.Point) bool {
	bound := o.Bound()
	if p[0] < bound.Left() {
		p[0] += 360 // longitudes of outlines continue beyond 180
	}
	if !bound.Contains(p) {
		return false
	}
	inside := false
	var buffer []orb.Point
	for ring := range o.Rings(finestZoom, &buffer) {
		inside = inside != planar.RingContains(ring, p)
	}
	return inside
}
