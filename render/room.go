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
)

// rooms are the sizes of the discs of a site below waterZoom, as far as others leave room for them: four bits for each zoom, 0 for smallest.
type rooms uint64

// allLone are those of a site that is alone.
const allLone = ^rooms(0)

// at returns the size at zoom z.
func (r rooms) at(z maptile.Zoom) int {
	return min(smallest+int(r>>(4*min(z, waterZoom-1))&15), lone)
}

// measureRooms sets rooms of all sites: by the nearest site that is not so near that it shares the disc. Of the sites in a pixel the first counts for all.
// It counts sites without a value too, so that a disc has the same size in all weeks. Sites in a crowd keep the smallest disc.
func (g *geometry) measureRooms() {
	n := nearest{g: g, firstAt: make([]uint8, len(g.sites))}
	for i := range g.sites {
		g.sites[i].rooms = allLone
		if i > 0 {
			same := worldBits - (bits.Len64(g.codes[i]^g.codes[i-1])+1)/2
			n.firstAt[i] = uint8(max(same+1-tileBits, 0))
		}
	}
	for z := range n.limits {
		n.limits[z] = limitsAt(maptile.Zoom(z))
	}
	n.square(0, &[3][3]span{1: {1: {0, len(g.sites)}}})
	for i := range g.sites {
		if others := rooms(1)<<(4*n.firstAt[i]) - 1; others != 0 {
			r := &g.sites[i].rooms
			*r = *r&^others | g.sites[i-1].rooms&others
		}
	}
}

// limits are the squares of distances in world units.
type limits struct {
	near  int64   // below which sites share a disc
	sizes []int64 // from which on there is room for each size after smallest
}

func limitsAt(z maptile.Zoom) (l limits) {
	square := func(pixels float64) int64 { return int64(pixels * pixels * math.Exp2(2*float64(worldBits-tileBits-z))) }
	l.near = square(shared)
	for s := smallest + 1; s <= lone; s++ {
		l.sizes = append(l.sizes, square(halfOpaque*math.Exp2((float64(s)-0.5)/stepsPerZoom)/roomPart))
	}
	return l
}

// A nearest finds the sites nearest to others, at all zooms in one descent to smaller and smaller squares of the world. It does not look across the
// antimeridian.
type nearest struct {
	g       *geometry
	firstAt []uint8 // by site, the first zoom at which it is the first in its pixel
	limits  [waterZoom]limits
	around  []point // the sites that are compared
}

// A point is where a site lies in world coordinates.
type point struct {
	x, y    int64
	firstAt uint8
}

// An other is a site near another one: the square of its distance.
type other struct {
	square  int64
	firstAt uint8
}

// A site is first compared with those in its square and the squares around it that are 2^nearBits pixels wide, where mostly one is found, and then in
// those that are 2^farBits pixels wide, beyond which all have the largest disc.
const nearBits, farBits = 2, 4

// square sets the rooms of the sites in the middle one of nine squares, all whose sides are 2^-level of the world, and of all smaller squares in it.
func (n *nearest) square(level int, near *[3][3]span) {
	own, all := near[1][1], 0
	for _, row := range near {
		for _, s := range row {
			all += s.to - s.from
		}
	}
	if !own.any() || all == 1 {
		return
	}
	if z := level + crowdBits - tileBits; own.to-own.from >= crowdSites && z >= 0 && z < waterZoom {
		for i := own.from; i < own.to; i++ {
			n.g.sites[i].rooms &^= 15 << (4 * z)
		}
	}
	last := level + nearBits - tileBits
	// In the largest squares, squares of distances would overflow.
	if all < crowdSites && level >= 2 || last >= waterZoom-1 {
		n.compare(max(last, 0), waterZoom-1, level, near)
		return
	}
	var parts [6][6]span
	for j, row := range near {
		for i, s := range row {
			for k, part := range n.g.quarters(s, level) {
				parts[2*j+k>>1][2*i+k&1] = part
			}
		}
	}
	for k := range 4 {
		var of [3][3]span
		for j := range of {
			copy(of[j][:], parts[1+k>>1+j][1+k&1:])
		}
		n.square(level+1, &of)
	}
	n.compare(max(last, 0), last, level, near)
	if z := level + farBits - tileBits; z < waterZoom {
		n.compare(max(z, 0), z, level, near)
	}
}

// quarters divides the sites in a square whose side is 2^-level of the world.
func (g *geometry) quarters(s span, level int) (parts [4]span) {
	shift := 2 * (worldBits - level - 1)
	for k := range parts {
		end := s.to
		if from := s.from; k < 3 && s.any() {
			end = from + sort.Search(s.to-from, func(i int) bool { return int(g.codes[from+i]>>shift&3) > k })
		}
		parts[k] = span{s.from, end}
		s.from = end
	}
	return parts
}

// compare sets the rooms at some zooms of the sites in the middle one of nine squares that have none yet, if one of the sites in the squares is nearer than
// their side.
func (n *nearest) compare(first, last, level int, near *[3][3]span) {
	own, side := near[1][1], int64(worldUnits)>>level
	n.around = n.around[:0]
	for i := own.from; i < own.to; i++ {
		s, at := &n.g.sites[i], other{square: math.MaxInt64}
		// The nearest one at a zoom is that of the next, if it is not too near or hidden now.
		for z := last; z >= max(first, int(n.firstAt[i])); z-- {
			l := &n.limits[z]
			if s.rooms>>(4*z)&15 != 15 {
				continue
			}
			if len(n.around) == 0 {
				n.take(last, near)
			}
			if at.square < l.near || int(at.firstAt) > z || at.square == math.MaxInt64 {
				at = n.nearestOf(s, z)
			}
			if at.square <= side*side {
				s.rooms = s.rooms&^(15<<(4*z)) | l.room(at.square)<<(4*z)
			}
		}
	}
}

// nearestOf returns the nearest one of around that does not share the disc of s at zoom z, or one that leaves no room.
func (n *nearest) nearestOf(s *site, z int) (least other) {
	l, x, y := &n.limits[z], int64(s.x), int64(s.y)
	least = other{square: math.MaxInt64}
	for i := range n.around {
		p := &n.around[i]
		dx, dy := p.x-x, p.y-y
		if square := dx*dx + dy*dy; square < least.square && square >= l.near && int(p.firstAt) <= z {
			if least = (other{square, p.firstAt}); square < l.sizes[0] {
				break
			}
		}
	}
	return least
}

// take makes around the sites in nine squares that are the first in their pixels at zoom z, those in the middle one first.
func (n *nearest) take(z int, near *[3][3]span) {
	for _, k := range [...]int{4, 0, 1, 2, 3, 5, 6, 7, 8} {
		for i, s := near[k/3][k%3].from, near[k/3][k%3]; i < s.to; i++ {
			if int(n.firstAt[i]) <= z {
				n.around = append(n.around, point{int64(n.g.sites[i].x), int64(n.g.sites[i].y), n.firstAt[i]})
			}
		}
	}
}

// room returns the room that a site at that distance leaves.
func (l *limits) room(square int64) (r rooms) {
	for _, limit := range l.sizes {
		if square >= limit {
			r++
		}
	}
	return r
}
