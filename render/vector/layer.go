package vector

import (
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/paulmach/orb/maptile"

	"limnomap/data/snapshot"
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
func NewLayer(x *Index, v *snapshot.View) *Layer {
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
	var hits []hit
	x, w := l.index, windowOf(t)
	for _, band := range l.bands[:t.Z+1] {
		if len(band) == 0 {
			continue // for Search, nil means all sites
		}
		render.Search(x.codes, band, w.meets, func(from, to int, whole bool) bool {
			for _, site := range band[from:to] {
				if code := x.codes[site]; whole || w.contains(code) {
					px, py := w.position(code)
					hits = append(hits, hit{x.lakes[site], px, py})
				}
			}
			return true
		})
	}
	slices.SortFunc(hits, func(a, b hit) int { return int(a.lake - b.lake) })
	return hits
}
