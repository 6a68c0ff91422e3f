package render

import (
	"math"
	"math/bits"
	"sort"
)

const (
	// roomPart is the part of the distance to the nearest site that is the radius of a disc. Of two discs of that size the middle of the space
	// between them belongs to both, where the field has a valley if they are of different classes.
	roomPart = 0.7
	// closest and farthest bound the distances that matter, in world units: below, a disc has the smallest size at all zooms of the field, and
	// above the largest at all zooms.
	closest  = 1 << 13
	farthest = 1 << 29
)

// measureRoom sets room of all sites. It counts sites without a value too, so that a disc has the same size in all weeks.
func (g *geometry) measureRoom() {
	n := nearest{g: g}
	s := search{codes: g.codes, meets: n.meets, visit: n.visit}
	for i := range g.sites {
		if n.begin(i); n.least >= closest*closest {
			n.search(&s)
		}
		at := &g.sites[i]
		if at.room = math.MinInt8; n.least >= closest*closest {
			at.room = sizeOf(roomPart * math.Sqrt(float64(n.least)) / (worldUnits / TileSize))
		}
		g.room = max(g.room, at.room)
	}
}

// A nearest finds the site nearest to another one. It does not look across the antimeridian.
type nearest struct {
	g     *geometry
	site  int
	least int64 // the square of the distance of the nearest one so far in world units, at most farthest
	box   box   // no nearer one is outside of it
}

// begin begins the search with some neighbours in the order of the codes, which are mostly near. If one is closer than closest, the search is done.
func (n *nearest) begin(site int) {
	const each = 2
	n.site, n.least = site, farthest*farthest
	n.visit(max(site-each, 0), min(site+each+1, len(n.g.sites)), false)
}

// search searches the smallest quadrant with all of the box, which is mostly much smaller than the world.
func (n *nearest) search(s *search) {
	b, codes := &n.box, n.g.codes
	first, last := morton(b.left, b.top), morton(b.right, b.bottom)
	levels := uint(bits.Len64(first^last)+1) / 2
	code := first >> (2 * levels) << (2 * levels)
	from := sort.Search(n.site, func(i int) bool { return codes[i] >= code })
	to := n.site + sort.Search(len(codes)-n.site, func(i int) bool { return (codes[n.site+i]^code)>>(2*levels) != 0 })
	s.quadrant(from, to, code, levels)
}

func (n *nearest) meets(x, y, last uint32) (some, all bool) {
	b := &n.box
	return x <= b.right && y <= b.bottom && x+last >= b.left && y+last >= b.top, false
}

// visit tries the sites from from up to to.
func (n *nearest) visit(from, to int, _ bool) bool {
	s := &n.g.sites[n.site]
	x, y := int64(s.x), int64(s.y)
	for i := from; i < to; i++ {
		dx, dy := int64(n.g.sites[i].x)-x, int64(n.g.sites[i].y)-y
		if i != n.site && max(dx, -dx, dy, -dy) < farthest {
			n.least = min(n.least, dx*dx+dy*dy)
		}
	}
	d := int64(math.Sqrt(float64(n.least))) + 1
	n.box = box{
		left: uint32(max(x-d, 0)), right: uint32(min(x+d, worldUnits-1)), top: uint32(max(y-d, 0)), bottom: uint32(min(y+d, worldUnits-1)),
	}
	return n.least >= closest*closest
}
