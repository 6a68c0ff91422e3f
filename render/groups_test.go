package render

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"
)

func TestEachSiteIsInOneGroup(t *testing.T) {
	lakes := lakeland()
	for _, l := range country() {
		lakes = append(lakes, testShore{testLake: l})
	}
	l := layerOfShores(t, lakes...)
	seen := make([]int, len(l.sites))
	for _, group := range l.whole.byExtent {
		if !slices.IsSorted(group.sites) {
			t.Errorf("group of extent %d: sites are not in spatial order", group.extent)
		}
		for _, i := range group.sites {
			seen[i]++
			if s := &l.sites[i]; s.extent() >= group.extent {
				t.Errorf("a water of extent %d is in the group of %d", s.extent(), group.extent)
			}
		}
	}
	for i, n := range seen {
		if n != 1 {
			t.Errorf("site %d is in %d groups, want one", i, n)
		}
	}
	if n := len(l.whole.byExtent); n < 4 {
		t.Errorf("%d groups: the lakes are too similar to test them", n)
	}
}

// TestFindWaters compares the search by groups with a test of every site.
func TestFindWaters(t *testing.T) {
	lakes := lakeland()
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		lakes = append(lakes, testShore{testLake: testLake{
			lon: 13.4 + rng.NormFloat64(), lat: 52.4 + rng.NormFloat64(), chl: 1, areaKM2: 0.01 / (rng.Float64() + 1e-6),
		}})
	}
	l := layerOfShores(t, lakes...)
	p := renderer().styles[Lakes]
	rapid.Check(t, func(t *rapid.T) {
		w := windowOf(drawTile(t, places(lakes)), rapid.IntRange(1, 2).Draw(t, "scale"))
		var m memory
		m.find(l, w, p, 0)
		q := newQuery(l, w, p)
		for i := range l.sites {
			q.visit(i)
		}
		if len(m.hits) != len(q.hits) {
			t.Fatalf("%d hits in %+v, want %d", len(m.hits), w, len(q.hits))
		}
		for _, h := range q.hits {
			if !slices.Contains(m.hits, h) {
				t.Fatalf("no hit %+v in %+v", h, w)
			}
		}
	})
}

// TestNoHitOutsideTheOutline moves a window of one pixel to the four sides of an outline's bound: inside, it finds the lake;
// three pixels outside, it does not, although the site is at the far end.
func TestNoHitOutsideTheOutline(t *testing.T) {
	for _, lon := range []float64{13.4, 180, -180} {
		lake := testShore{testLake{lon - 0.009, 52.409, 5, 0}, orb.MultiPolygon{{
			{{lon - 0.01, 52.41}, {lon - 0.01, 52.40}, {lon + 0.01, 52.40}, {lon + 0.01, 52.41}},
		}}}
		l := layerOfShores(t, lake)
		p := &l.sites[0]
		for scale := 1; scale <= 2; scale++ {
			const zoom, shift = 14, MaxZoom - 14
			at := func(x, y int64) int {
				return len(sceneOf(l, window{zoom: zoom, scale: scale, left: x, top: y, width: 1, height: 1}, renderer().styles[Lakes]).marks)
			}
			x, y, s := int64(p.x), int64(p.y), p.shore
			west, east, north, south := (x+s.west)>>shift, (x+s.east)>>shift, (y+s.north)>>shift, (y+s.south)>>shift
			midX, midY := (west+east)/2, (north+south)/2
			for i, in := range [][2]int64{{west + 8, midY}, {east - 8, midY}, {midX, north + 8}, {midX, south - 8}, {midX, midY}} {
				if at(in[0], in[1]) != 1 {
					t.Errorf("longitude %v, scale %d: the lake is not found inside its bound (%d)", lon, scale, i)
				}
			}
			const aside = 3 * subUnits
			for i, out := range [][2]int64{{west - aside, midY}, {east + aside, midY}, {midX, north - aside}, {midX, south + aside}} {
				if at(out[0], out[1]) != 0 {
					t.Errorf("longitude %v, scale %d: the lake is found outside of its bound (%d)", lon, scale, i)
				}
			}
		}
	}
}

// TestThinningKeepsLargeWaters checks that a lake whose disc is larger than the smallest stays, even if a worse one is in
// its pixel.
func TestThinningKeepsLargeWaters(t *testing.T) {
	lakes := append(district(3000), testLake{lon: 30, lat: 10, chl: 3, areaKM2: 100_000}, testLake{lon: 30.0001, lat: 10, chl: 90})
	l := layerOf(lakes...)
	for z, thinned := range newThinned(l, 3) {
		small, large := 0, 0
		pixels := map[uint64]bool{}
		for _, i := range thinned.all[0].sites {
			pixels[l.codes[i]>>(2*(MaxZoom-z+subBits))] = true
			if l.sites[i].disc(maptile.Zoom(z)) > smallestRadius(maptile.Zoom(z)) {
				large++
			} else {
				small++
			}
		}
		wantLarge := 0
		if z >= 1 { // where the lake is 5 pixels wide
			wantLarge = 1
		}
		if small > len(pixels) || large != wantLarge {
			t.Errorf("zoom %d: %d small waters and %d large ones, want at most %d and %d", z, small, large, len(pixels), wantLarge)
		}
		total := 0
		for _, group := range thinned.byExtent {
			total += len(group.sites)
		}
		if total != len(thinned.all[0].sites) {
			t.Errorf("zoom %d: %d sites in groups, want %d", z, total, len(thinned.all[0].sites))
		}
	}
}
