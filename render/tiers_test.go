package render

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"
)

func TestTiersHoldEachPlaceOnce(t *testing.T) {
	lakes := lakeland()
	for _, l := range country() {
		lakes = append(lakes, testShore{testLake: l})
	}
	l := layerOfShores(t, lakes...)
	seen := make([]int, len(l.lakes.places))
	for _, tier := range l.lakes.tiers {
		if !slices.IsSorted(tier.places) {
			t.Errorf("tier of %d: places are not in spatial order", tier.extent)
		}
		for _, i := range tier.places {
			seen[i]++
			if p := l.lakes.places[i]; p.extent() >= tier.extent {
				t.Errorf("a water that reaches %d is in the tier of %d", p.extent(), tier.extent)
			}
		}
	}
	for i, n := range seen {
		if n != 1 {
			t.Errorf("place %d is in %d tiers, want one", i, n)
		}
	}
	if len(l.lakes.tiers) < 4 {
		t.Errorf("%d tiers: the lakes are too much alike to test them", len(l.lakes.tiers))
	}
}

// TestFindWaters compares the search by tiers with a look at every place.
func TestFindWaters(t *testing.T) {
	lakes := lakeland()
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		lakes = append(lakes, testShore{testLake: testLake{
			lon: 13.4 + rng.NormFloat64(), lat: 52.4 + rng.NormFloat64(), chl: 1, areaKM2: 0.01 / (rng.Float64() + 1e-6),
		}})
	}
	l := layerOfShores(t, lakes...)
	p := renderer().painters[Lakes]
	rapid.Check(t, func(t *rapid.T) {
		w := windowOf(drawTile(t, places(lakes)), rapid.IntRange(1, 2).Draw(t, "scale"))
		got := sceneOf(l, w, p).hits
		q := query{index: &l.lakes, window: w, painter: p, world: 1 << (tileBits + subBits + w.zoom), shift: uint(MaxZoom - w.zoom)}
		for i := range l.lakes.places {
			q.found(&l.lakes.places[i], i)
		}
		if len(got) != len(q.hits) {
			t.Fatalf("%d hits in %+v, want %d", len(got), w, len(q.hits))
		}
		for _, h := range q.hits {
			if !slices.Contains(got, h) {
				t.Fatalf("no hit %+v in %+v", h, w)
			}
		}
	})
}

// TestNoHitBesideTheOutline moves a window of one pixel along the four sides of an outline's bound: inside it finds the lake,
// three pixels beside it does not, though the lake's place lies at the far end.
func TestNoHitBesideTheOutline(t *testing.T) {
	for _, lon := range []float64{13.4, 180, -180} {
		lake := testShore{testLake{lon - 0.009, 52.409, 5, 0}, orb.MultiPolygon{{
			{{lon - 0.01, 52.41}, {lon - 0.01, 52.40}, {lon + 0.01, 52.40}, {lon + 0.01, 52.41}},
		}}}
		l := layerOfShores(t, lake)
		p := &l.lakes.places[0]
		for scale := 1; scale <= 2; scale++ {
			const zoom, shift = 14, MaxZoom - 14
			at := func(x, y int64) int {
				return len(sceneOf(l, window{zoom: zoom, scale: scale, left: x, top: y, width: 1, height: 1}, renderer().painters[Lakes]).hits)
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
					t.Errorf("longitude %v, scale %d: the lake is found beside its bound (%d)", lon, scale, i)
				}
			}
		}
	}
}

// TestThinningKeepsLargeWaters holds that a lake that one sees as a disc of its own stays where its pixel is shared with
// a worse one.
func TestThinningKeepsLargeWaters(t *testing.T) {
	lakes := append(district(3000), testLake{lon: 30, lat: 10, chl: 3, areaKM2: 100_000}, testLake{lon: 30.0001, lat: 10, chl: 90})
	l := layerOf(lakes...)
	for z, x := range newThinned(&l.lakes, 3) {
		small, large := 0, 0
		pixels := map[uint64]bool{}
		for _, p := range x.places {
			pixels[morton(p.x, p.y)>>(2*(MaxZoom-z+subBits))] = true
			if p.disc(maptile.Zoom(z)) > smallestRadius(maptile.Zoom(z)) {
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
		for _, tier := range x.tiers {
			total += len(tier.places)
		}
		if total != len(x.places) {
			t.Errorf("zoom %d: %d places in tiers, want %d", z, total, len(x.places))
		}
	}
}
