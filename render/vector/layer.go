package vector

import (
	"slices"
	"sort"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/paulmach/orb/maptile"

	"limnomap/data"
	"limnomap/render"
)

// MaxFeatures is how many lakes a tile holds at most: about as many as make the 500 kB that Mapbox allows a tile of its
// own, and five times as many as Germany has bathing lakes. Without a bound, zoom 0 of 1.4 million lakes would be 60 MB.
const MaxFeatures = 10_000

// memoEntries bounds the fingerprints that a Layer remembers, as those of a layer of pixels.
const memoEntries = 1 << 12

// A Layer is which lakes of a view its tiles show. It holds no part of the view, so that it keeps none in memory. It is
// safe for concurrent use.
type Layer struct {
	index *Index
	// bands are the places of the index by the zoom from which on their lakes are shown, each in spatial order.
	bands [render.MaxZoom + 1][]int32
	// memo holds fingerprints that were asked for.
	memo *lru.Cache[maptile.Tile, memoEntry]
}

// NewLayer returns the layer of v, whose lakes x must be the index of.
func NewLayer(x *Index, v *data.View) *Layer {
	// The size is a positive constant, the only thing that New checks.
	memo, err := lru.New[maptile.Tile, memoEntry](memoEntries)
	if err != nil {
		panic(err)
	}
	l := &Layer{index: x, memo: memo}
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
	for place, z := range from {
		if z <= render.MaxZoom {
			l.bands[z] = append(l.bands[z], int32(place))
		}
	}
	return l
}

// Index returns the index that l was made with.
func (l *Layer) Index() *Index { return l.index }

// thin raises from, by place the zoom from which on a lake is shown, where a tile or one beneath it has too many. Ranked
// are the places in the tile and its buffer, those to be kept first: what is in a tile is in its parent, so that each
// tile sorts out what its parent had.
func (x *Index) thin(from []uint8, ranked []int32, t maptile.Tile) {
	if len(ranked) <= MaxFeatures {
		return
	}
	for _, place := range ranked[MaxFeatures:] {
		from[place] = max(from[place], uint8(t.Z)+1)
	}
	if t.Z == render.MaxZoom {
		return
	}
	for _, child := range t.Children() {
		w := windowOf(child)
		var inside []int32
		for _, place := range ranked {
			if w.holds(x.codes[place]) {
				inside = append(inside, place)
			}
		}
		x.thin(from, inside, child)
	}
}

// A hit is a lake in a tile: its index in the view, and where it lies in units of the tile.
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

// A search finds the places of a band that lie in a window.
type search struct {
	index  *Index
	window window
	band   []int32
	hits   []hit
}

// quadrant searches those from from to to, which are all that lie in the quadrant of 2^bits world units whose first
// Morton code is code.
func (s *search) quadrant(from, to int, code uint64, bits uint) {
	// A handful is tested sooner than it is divided.
	const handful = 16
	some, all := true, to-from > handful
	if all {
		x, y := render.World(code)
		some, all = s.window.meets(x, y, uint32(1<<bits-1))
	}
	switch {
	case !some:
	case all || to-from <= handful || bits == 0:
		for _, place := range s.band[from:to] {
			if code := s.index.codes[place]; all || s.window.holds(code) {
				x, y := s.window.position(code)
				s.hits = append(s.hits, hit{s.index.lakes[place], x, y})
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
