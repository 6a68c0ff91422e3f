package ingest

import (
	"cmp"
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/data/outline"
)

// finest is beyond the zooms of all sections, and so selects the finest section.
const finest maptile.Zoom = 30

// polygonsOf returns an outline's finest section as polygons: outer rings counterclockwise, each followed by its holes,
// clockwise (RFC 7946, section 3.1.6). An outline does not store which rings are holes: by the even-odd rule, a ring inside
// an odd number of others is one.
func polygonsOf(o outline.Outline) orb.MultiPolygon {
	rings := ringsOf(o)
	nest := newNesting(rings)
	outer := make([]int, len(rings)) // for a hole the ring around it, for others -1
	for i := range rings {
		depth, smallest := nest.around(i)
		if outer[i] = smallest; depth%2 == 0 {
			outer[i] = -1
		}
	}
	var polygons orb.MultiPolygon
	index := make([]int, len(rings)) // of outer rings in polygons
	for i, ring := range rings {
		if outer[i] < 0 {
			index[i] = len(polygons)
			polygons = append(polygons, orb.Polygon{oriented(ring, orb.CCW)})
		}
	}
	for i, ring := range rings {
		if j := outer[i]; j >= 0 {
			polygons[index[j]] = append(polygons[index[j]], oriented(ring, orb.CW))
		}
	}
	return polygons
}

// oriented returns a ring, which it may reverse in place.
func oriented(ring orb.Ring, o orb.Orientation) orb.Ring {
	if ring.Orientation() == -o {
		ring.Reverse()
	}
	return ring
}

func ringsOf(o outline.Outline) []orb.Ring {
	var rings []orb.Ring
	var buffer []orb.Point
	for points := range o.Rings(finest, &buffer) {
		rings = append(rings, slices.Clone(points))
	}
	return rings
}

// isShoreOf reports whether polygons have the same rings as an outline's finest section. It ignores which of them are holes
// and their direction, since programs that write GeoJSON change it.
func isShoreOf(polygons orb.MultiPolygon, o outline.Outline) bool {
	if o == "" || o.Check() != nil {
		return false
	}
	var rings []orb.Ring
	for _, p := range polygons {
		for _, ring := range p {
			rings = append(rings, slices.Clone(ring)) // because inOrder changes them
		}
	}
	own := ringsOf(o)
	return slices.EqualFunc(inOrder(rings), inOrder(own), func(a, b orb.Ring) bool { return slices.Equal(a, b) })
}

// inOrder brings rings into a canonical direction and order.
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
