package render

import (
	"cmp"
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/paulmach/orb/maptile"

	"limnomap/data"
)

// A geometry is where the lakes of a snapshot lie and how large they are. The layers of all weeks share it. It is
// immutable.
type geometry struct {
	sites []site   // in spatial order; those at one point by their shapes, so that the order of the input does not matter
	codes []uint64 // the Morton codes of sites, ascending
	lakes []int32  // by site, the index of its lake in the view
	ties  bool     // whether any sites lie at one point
	blob  size     // the largest of all sites

	whole selection    // all sites
	roomy maptile.Zoom // the first zoom at which every lake has a marker
	dense []denseZoom  // by zoom, up to the last at which a tile has more than maxStamped sites
}

// SamePlaces reports whether lakes have the same geometry: positions, areas and outlines, in the same order.
func SamePlaces(a, b []data.Lake) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) == 0 || &a[0] == &b[0] {
		return true
	}
	for i := range a {
		if p, q := &a[i], &b[i]; p.Point != q.Point || p.AreaKM2 != q.AreaKM2 || p.Outline != q.Outline {
			return false
		}
	}
	return true
}

// A site is where a lake lies and how large it is.
type site struct {
	x, y   uint32 // world coordinates
	radius uint32 // of a round water of the lake's area, in world units
	blob   size   // of a disc at zoom 0 that covers about its water
	rooms  rooms  // of discs that leave room for the sites near it
	shore  *shore // nil where the data have no outline
}

// A span is a range of sites.
type span struct{ from, to int }

// any reports whether s is not empty.
func (s span) any() bool { return s.from < s.to }

// newGeometry returns the geometry of lakes. It omits lakes north and south of the map: moved to the edge, they would be
// where no lake is.
func newGeometry(lakes []data.Lake) *geometry {
	type entry struct {
		code uint64
		lake int32
	}
	entries := make([]entry, 0, len(lakes))
	sites := make([]site, len(lakes))
	for i := range lakes {
		lake := &lakes[i]
		x, y, ok := project(lake.Point)
		if !ok {
			continue
		}
		sites[i] = site{
			x: x, y: y, radius: discRadius(lake.AreaKM2, y), blob: blobSize(lake.AreaKM2, y), shore: newShore(lake.Outline, lake.Point, x, y),
		}
		entries = append(entries, entry{morton(x, y), int32(i)})
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if a.code != b.code {
			return cmp.Compare(a.code, b.code)
		}
		p, q := &sites[a.lake], &sites[b.lake]
		return cmp.Or(cmp.Compare(p.blob, q.blob), cmp.Compare(p.radius, q.radius),
			cmp.Compare(p.shore.id(), q.shore.id()), cmp.Compare(a.lake, b.lake))
	})
	n := len(entries)
	g := &geometry{sites: make([]site, n), codes: make([]uint64, n), lakes: make([]int32, n), blob: math.MinInt8}
	for i, e := range entries {
		g.sites[i], g.codes[i], g.lakes[i] = sites[e.lake], e.code, e.lake
		g.blob = max(g.blob, g.sites[i].blob)
		g.ties = g.ties || i > 0 && e.code == entries[i-1].code
	}
	g.measureRooms()
	g.whole = g.selectionOf(nil)
	g.roomy = g.firstRoomy()
	g.dense = g.denseZooms()
	return g
}

// runs returns the sites whose codes are equal except for the last bits.
func (g *geometry) runs(bits uint) iter.Seq[span] {
	return func(yield func(span) bool) {
		for from := 0; from < len(g.codes); {
			to := from + 1
			for to < len(g.codes) && g.codes[to]>>bits == g.codes[from]>>bits {
				to++
			}
			if !yield(span{from, to}) {
				return
			}
			from = to
		}
	}
}

// A selection is the sites that are drawn at a zoom.
type selection struct {
	all      []group // in one group, for styles with small marks
	byExtent []group // by the extent of their waters
	blurred  bool    // whether the other sites are binned and blurred
}

// everySite returns the indexes of all sites.
func (g *geometry) everySite() []int32 {
	sites := make([]int32, len(g.sites))
	for i := range sites {
		sites[i] = int32(i)
	}
	return sites
}

// A group is sites that are searched together. Sites with a large extent have groups of their own: one large lake would
// widen every search.
type group struct {
	sites  []int32 // ascending; nil for all
	extent int64   // all waters reach less far, in world units
}

// narrowBits is the extent of the group of small waters: they reach less than 2^narrowBits world units from their site,
// which is 2.4 km at the equator and 1.5 km in Germany. Two lakes in a hundred reach further.
const narrowBits = 18

// selectionOf returns the selection of these sites; nil for all.
func (g *geometry) selectionOf(sites []int32) selection {
	n := len(sites)
	if sites == nil {
		n = len(g.sites)
	}
	var byBits [worldBits + 1][]int32
	for i := range n {
		at := int32(i)
		if sites != nil {
			at = sites[i]
		}
		b := max(bits.Len64(uint64(g.sites[at].extent())), narrowBits)
		byBits[b] = append(byBits[b], at)
	}
	s := selection{all: []group{{sites: sites}}}
	for b, list := range byBits {
		if len(list) > 0 {
			s.byExtent = append(s.byExtent, group{slices.Clip(list), 1 << b})
		}
	}
	return s
}
