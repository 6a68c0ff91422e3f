package render

import (
	"slices"
	"testing"

	"github.com/paulmach/orb/maptile"
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
