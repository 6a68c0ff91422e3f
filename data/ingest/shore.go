package ingest

import (
	"cmp"
	"math"
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"github.com/paulmach/orb/planar"

	"limnomap/data"
)

// finest is beyond every zoom that an outline has a section for, and so gives the finest.
const finest maptile.Zoom = 30

// polygonsOf returns an outline at its finest as polygons: outer rings counterclockwise, each with the holes that lie in
// it, clockwise (RFC 7946, section 3.1.6). An outline keeps no more of that than the even-odd rule, so a ring is a hole
// if it lies within an odd number of others.
func polygonsOf(o data.Outline) orb.MultiPolygon {
	rings := ringsOf(o)
	bounds := make([]orb.Bound, len(rings))
	areas := make([]float64, len(rings))
	for i, ring := range rings {
		bounds[i], areas[i] = ring.Bound(), math.Abs(planar.Area(ring))
	}
	within := func(i, j int) bool {
		middle := orb.Point{(rings[i][0][0] + rings[i][1][0]) / 2, (rings[i][0][1] + rings[i][1][1]) / 2}
		return i != j && areas[i] < areas[j] && bounds[j].Contains(bounds[i].Min) && bounds[j].Contains(bounds[i].Max) &&
			planar.RingContains(rings[j], middle)
	}
	outer := make([]int, len(rings)) // of a hole, the ring that it is in; of others -1
	for i := range rings {
		outer[i] = -1
		depth := 0
		for j := range rings {
			if within(i, j) {
				if depth++; outer[i] < 0 || areas[j] < areas[outer[i]] {
					outer[i] = j
				}
			}
		}
		if depth%2 == 0 {
			outer[i] = -1
		}
	}
	var polygons orb.MultiPolygon
	place := make([]int, len(rings)) // of outer rings, among polygons
	for i, ring := range rings {
		if outer[i] < 0 {
			place[i] = len(polygons)
			polygons = append(polygons, orb.Polygon{wound(ring, orb.CCW)})
		}
	}
	for i, ring := range rings {
		if j := outer[i]; j >= 0 {
			polygons[place[j]] = append(polygons[place[j]], wound(ring, orb.CW))
		}
	}
	return polygons
}

// wound returns a ring, which it may turn round.
func wound(ring orb.Ring, o orb.Orientation) orb.Ring {
	if ring.Orientation() == -o {
		ring.Reverse()
	}
	return ring
}

func ringsOf(o data.Outline) []orb.Ring {
	var rings []orb.Ring
	var buffer []orb.Point
	for points := range o.Rings(finest, &buffer) {
		rings = append(rings, slices.Clone(points))
	}
	return rings
}

// isShoreOf reports whether polygons have the rings that an outline has at its finest, whichever of them are holes, and in
// whatever direction: programs that write GeoJSON turn rings as they like them.
func isShoreOf(polygons orb.MultiPolygon, o data.Outline) bool {
	if o == "" || o.Check() != nil {
		return false
	}
	var rings []orb.Ring
	for _, p := range polygons {
		for _, ring := range p {
			rings = append(rings, slices.Clone(ring)) // since they are turned
		}
	}
	own := ringsOf(o)
	return slices.EqualFunc(inOrder(rings), inOrder(own), func(a, b orb.Ring) bool { return slices.Equal(a, b) })
}

// inOrder turns and sorts rings so that the same ones come out alike.
func inOrder(rings []orb.Ring) []orb.Ring {
	compare := func(a, b orb.Point) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }
	for _, ring := range rings {
		if n := len(ring); n > 2 && compare(ring[1], ring[n-2]) > 0 {
			ring.Reverse()
		}
	}
	slices.SortFunc(rings, func(a, b orb.Ring) int { return slices.CompareFunc(a, b, compare) })
	return rings
}
