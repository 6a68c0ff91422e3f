package render

import (
	"math"
	"math/bits"
	"sort"

	"github.com/paulmach/orb/maptile"
)

const (
	// roomPart is the part of the distance to another site that is the radius of a disc: discs of sites at that distance touch where they are half opaque.
	roomPart = 0.57
	// shared is the distance in pixels of scale 1 below which sites share a disc: they leave no room for two.
	shared = 2.42
	// Where crowdSites or more lie in a square of a fixed grid whose side is 2^crowdBits pixels, all have the smallest disc: nearly all of them have
	// no room for another one, and lakes with that disc are binned.
	crowdSites, crowdBits = 48, 3
	// farthest is the largest distance that is searched, in world units.
	farthest = 1 << 29
)

// rooms are the sizes of the discs of a site below waterZoom, as far as others leave room for them: four bits for each zoom, 0 for smallest.
type rooms uint64

// allLone are those of a site that is alone.
const allLone = ^rooms(0)

// at returns the size at zoom z.
func (r rooms) at(z maptile.Zoom) int {
	return min(smallest+int(r>>(4*min(z, waterZoom-1))&15), loneAt(z))
}

// measureRooms sets rooms of all sites: by the nearest site that is not so near that it shares the disc. Of the sites in a pixel the first counts for all.
// It counts sites without a value too, so that a disc has the same size in all weeks. Sites in a crowd keep the smallest disc.
func (g *geometry) measureRooms() {
	n := nearest{g: g, sites: g.everySite()}
	s := search{codes: g.codes, sites: n.sites, meets: n.meets, visit: n.visit}
	near := make([]int32, len(g.sites)) // the nearest one so far; 0 is tried again at each zoom
	for z := maptile.Zoom(waterZoom); z > 0; {
		z--
		pixelBits := worldBits - tileBits - uint(z)
		n.setPixel(pixelBits, loneAt(z))
		first := func(i int32) bool { return i == 0 || g.codes[i]>>(2*pixelBits) != g.codes[i-1]>>(2*pixelBits) }
		firsts := n.sites[:0]
		for _, i := range n.sites {
			if first(i) {
				firsts = append(firsts, i)
			}
		}
		n.sites, s.sites = firsts, firsts
		square := span{} // with the current site
		for k, i := range firsts {
			if int(i) >= square.to {
				square = g.sharing(int(i), 2*(pixelBits+crowdBits))
			}
			if square.to-square.from >= crowdSites {
				continue
			}
			n.site, n.least = &g.sites[i], farthest*farthest
			if n.nearest = 0; near[i] > 0 && first(near[i]) {
				n.try(near[i])
			}
			if n.nearest == 0 {
				n.search(k, &s)
				near[i] = n.nearest
			}
			end := len(g.sites)
			if k+1 < len(firsts) {
				end = int(firsts[k+1])
			}
			room := n.room() << (4 * z)
			for j := int(i); j < end; j++ {
				g.sites[j].rooms |= room
			}
		}
	}
}

// sharing returns the range of the sites from the given one on whose codes differ only in the last bits.
func (g *geometry) sharing(from int, bits uint) span {
	s := span{from, from + 1}
	for s.to < len(g.codes) && g.codes[s.to]>>bits == g.codes[from]>>bits {
		s.to++
	}
	return s
}

// A nearest finds the site nearest to another one. It does not look across the antimeridian.
type nearest struct {
	g      *geometry
	sites  []int32 // that are searched
	nearby int64   // the square of a distance in world units below which sites share a disc
	limits []int64 // the squares of distances from which on there is room for each size after smallest

	site    *site
	nearest int32 // the nearest one so far, 0 if there is none
	least   int64 // the square of its distance, or of farthest
	box     box   // no nearer one is outside of it
}

// setPixel sets the width of a pixel, and the size of the disc of a site that is alone.
func (n *nearest) setPixel(bits uint, lone int) {
	square := func(pixels float64) int64 { return int64(pixels * pixels * math.Exp2(2*float64(bits))) }
	n.nearby, n.limits = square(shared), n.limits[:0]
	for s := smallest + 1; s <= lone; s++ {
		n.limits = append(n.limits, square(halfOpaque*math.Exp2((float64(s)-0.5)/stepsPerZoom)/roomPart))
	}
}

// room returns the room that the nearest site leaves, for one zoom.
func (n *nearest) room() (r rooms) {
	for _, limit := range n.limits {
		if n.least >= limit {
			r++
		}
	}
	return r
}

// search finds the nearest site of the k-th one: first among some neighbours in the order of the codes, which are mostly near, and, if there is room
// for more than the smallest disc, in the smallest quadrant with all of the box, which is mostly much smaller than the world.
func (n *nearest) search(k int, s *search) {
	const each = 4
	if !n.visit(max(k-each, 0), min(k+each+1, len(n.sites)), false) {
		return
	}
	b := &n.box
	first, last := morton(b.left, b.top), morton(b.right, b.bottom)
	levels := uint(bits.Len64(first^last)+1) / 2
	code := first >> (2 * levels) << (2 * levels)
	from := sort.Search(k, func(i int) bool { return s.code(i) >= code })
	to := k + sort.Search(len(n.sites)-k, func(i int) bool { return (s.code(k+i)^code)>>(2*levels) != 0 })
	s.quadrant(from, to, code, levels)
}

func (n *nearest) meets(x, y, last uint32) (some, all bool) {
	b := &n.box
	return x <= b.right && y <= b.bottom && x+last >= b.left && y+last >= b.top, false
}

// visit tries the searched sites from from up to to.
func (n *nearest) visit(from, to int, _ bool) bool {
	for _, i := range n.sites[from:to] {
		n.try(i)
	}
	x, y := int64(n.site.x), int64(n.site.y)
	d := int64(math.Sqrt(float64(n.least))) + 1
	n.box = box{
		left: uint32(max(x-d, 0)), right: uint32(min(x+d, worldUnits-1)), top: uint32(max(y-d, 0)), bottom: uint32(min(y+d, worldUnits-1)),
	}
	return n.least >= n.limits[0]
}

// try takes a site if it is nearer than others, and not so near that it shares the disc.
func (n *nearest) try(i int32) {
	dx, dy := int64(n.g.sites[i].x)-int64(n.site.x), int64(n.g.sites[i].y)-int64(n.site.y)
	if max(dx, -dx, dy, -dy) >= farthest {
		return
	}
	if square := dx*dx + dy*dy; square >= n.nearby && square < n.least {
		n.nearest, n.least = i, square
	}
}
