package vector

import (
	"slices"
	"sort"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/paulmach/orb/maptile"

	"limnomap/data"
	"limnomap/render"
)

// MaxFeatures is the largest number of lakes in a tile: about 500 kB, which Mapbox allows for a tile, and five times the
// bathing lakes of Germany. Without a bound, zoom 0 of 1.4 million lakes would have 60 MB.
const MaxFeatures = 10_000

// maxFingerprints bounds the fingerprints that a Layer remembers.
const maxFingerprints = 1 << 12

// A Layer has the smallest zoom at which each lake of a view is shown. It does not refer to the view, so that the view may be
// released. It is safe for concurrent use.
type Layer struct {
	index *Index
	// bands are the sites of the index by the smallest zoom at which their lakes are shown, each in spatial order.
	bands [render.MaxZoom + 1][]int32
	// fingerprints are those used last.
	fingerprints *lru.Cache[maptile.Tile, remembered]
}

// NewLayer returns the layer of v. x must be the index of its lakes.
func NewLayer(x *Index, v *data.View) *Layer {
	fingerprints, err := lru.New[maptile.Tile, remembered](maxFingerprints)
	if err != nil {
		panic(err) // only for a size that is not positive
	}
	l := &Layer{index: x, fingerprints: fingerprints}
	if x.byArea == nil {
		l.bands[0] = sequence(len(x.codes))
		return l
	}
	from := make([]uint8, len(x.codes))
	x.thin(from, x.ranked(v), maptile.New(0, 0, 0))
	counts := [render.MaxZoom + 2]int{}
	for _, z := range from {
		counts[z]++
	}
	for z := range l.bands {
		l.bands[z] = make([]int32, 0, counts[z])
	}
	for site, z := range from {
		if z <= render.MaxZoom {
			l.bands[z] = append(l.bands[z], int32(site))
		}
	}
	return l
}

// Index returns the index that l was made with.
func (l *Layer) Index() *Index { return l.index }

// thin raises from, the smallest zoom at which a lake is shown by site, where a tile or one within it has too many lakes.
// ranked are the sites in the tile and its buffer, those to keep first. A tile's sites are all in its parent.
func (x *Index) thin(from []uint8, ranked []int32, t maptile.Tile) {
	if len(ranked) <= MaxFeatures {
		return
	}
	for _, site := range ranked[MaxFeatures:] {
		from[site] = max(from[site], uint8(t.Z)+1)
	}
	if t.Z == render.MaxZoom {
		return
	}
	for _, child := range t.Children() {
		w := windowOf(child)
		var inside []int32
		for _, site := range ranked {
			if w.contains(x.codes[site]) {
				inside = append(inside, site)
			}
		}
		x.thin(from, inside, child)
	}
}

// A hit is a lake in a tile: its index in the view, and its position in units of the tile.
type hit struct{ lake, x, y int32 }

// find returns the lakes in t, ascending.
func (l *Layer) find(t maptile.Tile) []hit {
	s := search{index: l.index, window: windowOf(t)}
	for _, band := range l.bands[:t.Z+1] {
		s.band = band
		s.quadrant(0, len(band), 0, worldBits)
	}
	slices.SortFunc(s.hits, func(a, b hit) int { return int(a.lake - b.lake) })
	return s.hits
}

// A search finds the sites of a band in a window.
type search struct {
	index  *Index
	window window
	band   []int32
	hits   []hit
}

// quadrant searches the sites from from to to of the band. These are all that lie in the quadrant of 2^bits world units
// whose first Morton code is code.
func (s *search) quadrant(from, to int, code uint64, bits uint) {
	// A handful is faster to test than to divide.
	const handful = 16
	some, all := true, to-from > handful
	if all {
		x, y := render.World(code)
		some, all = s.window.meets(x, y, uint32(1<<bits-1))
	}
	switch {
	case !some:
	case all || to-from <= handful || bits == 0:
		for _, site := range s.band[from:to] {
			if code := s.index.codes[site]; all || s.window.contains(code) {
				x, y := s.window.position(code)
				s.hits = append(s.hits, hit{s.index.lakes[site], x, y})
			}
		}
	default:
		for i := range uint64(4) {
			start, n := code+i<<(2*bits-2), to-from
			if i < 3 {
				next := start + 1<<(2*bits-2)
				n = sort.Search(n, func(j int) bool { return s.index.codes[s.band[from+j]] >= next })
			}
			s.quadrant(from, from+n, start, bits-1)
			from += n
		}
	}
}
