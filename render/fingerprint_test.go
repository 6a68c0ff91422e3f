package render

import (
	"bytes"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
)

func TestFingerprintFollowsTheLakesInReach(t *testing.T) {
	s := Spec{Tile: maptile.Tile{X: 34, Y: 21, Z: 6}, Scale: 1, Colormap: colormap.Default}
	near := testLake{lon: 13.4, lat: 52.5, chl: 5}
	base := append(country(), near)
	with := func(change func(*testLake)) []testLake {
		l := near
		change(&l)
		return append(country(), l)
	}
	tests := []struct {
		name              string
		lakes             []testLake
		heat, dots, water bool // whether the fingerprint changes
	}{
		{"nothing", base, false, false, false},
		{"the order", reversed(base), false, false, false},
		{"a value", with(func(l *testLake) { l.chl = 5.02 }), true, true, true},
		{"a value by less than a cell", with(func(l *testLake) { l.chl = 5.01 }), false, true, true},
		{"a value becomes a gap", with(func(l *testLake) { l.chl = -1 }), true, true, true},
		{"a position", with(func(l *testLake) { l.lon += 0.02 }), true, true, true},
		{"a position by less than the grid", with(func(l *testLake) { l.lon += 1e-7 }), false, false, false},
		{"a large area", with(func(l *testLake) { l.areaKM2 = 2000 }), true, false, true},
		{"an area that changes no blob", with(func(l *testLake) { l.areaKM2 = 0.4 }), false, false, false},
		{"one more", append(country(), near, near), true, true, true},
		{"one more without a value", append(country(), near, testLake{13.5, 52.5, -1, 0}), true, true, true},
		{"one far away", append(country(), near, testLake{lon: 100, lat: 52, chl: 80}), false, false, false},
		{"one lake less", country(), true, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for style, want := range map[StyleID]bool{Heat: tt.heat, Dots: tt.dots, Lakes: tt.water} {
				s.Style = style
				before, _ := renderer().Fingerprint(layerOf(base...), s)
				after, ok := renderer().Fingerprint(layerOf(tt.lakes...), s)
				if !ok || (before != after) != want {
					t.Errorf("%s: fingerprint changes: %v, want %v", style, before != after, want)
				}
			}
		})
	}
}

// TestFingerprintFollowsTheOutlines changes lakes with outlines.
func TestFingerprintFollowsTheOutlines(t *testing.T) {
	site := orb.Point{9.45, 47.6}
	base := lakeland()
	const lake = 10
	with := func(change func(*testShore)) []testShore {
		l := lakeland()
		change(&l[lake])
		return l
	}
	other := orb.MultiPolygon{{bay(9.4, 47.6, 0.3, 900, 8)}}
	tests := []struct {
		name    string
		lakes   []testShore
		at      orb.Point
		zoom    maptile.Zoom
		changes bool
	}{
		{"an island less", with(func(l *testShore) { l.outline = other }), site, 9, true},
		{"an island less, where there are no outlines", with(func(l *testShore) { l.outline = other }), site, 3, false},
		{"no outline", with(func(l *testShore) { l.outline = nil }), site, 9, true},
		{"an area, where it is a disc", with(func(l *testShore) { l.areaKM2 = 50_000 }), site, 3, true},
		{"an area, where it has an outline", with(func(l *testShore) { l.areaKM2 = 500 }), site, 9, false},
		{"a value, seen far from the lake's site", with(func(l *testShore) { l.chl = 6 }), orb.Point{9.2, 47.6}, 14, true},
		{"a value, seen outside of the outline", with(func(l *testShore) { l.chl = 6 }), orb.Point{9.6, 47.9}, 12, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := Spec{Tile: maptile.At(tt.at, tt.zoom), Scale: 1, Style: Lakes, Colormap: colormap.Default}
			before, _ := renderer().Fingerprint(layerOfShores(t, base...), s)
			after, _ := renderer().Fingerprint(layerOfShores(t, tt.lakes...), s)
			if (before != after) != tt.changes {
				t.Errorf("fingerprint changes: %v, want %v", before != after, tt.changes)
			}
		})
	}
}

func TestFingerprintIsRemembered(t *testing.T) {
	l := layerOf(country()...)
	s := Spec{Tile: maptile.Tile{X: 34, Y: 21, Z: 6}, Scale: 1, Style: Heat, Colormap: colormap.Default}
	first, _ := renderer().Fingerprint(l, s)
	s.Colormap = "viridis"
	second, ok := renderer().Fingerprint(l, s)
	if first != second || !ok || l.fingerprints.Len() != 1 {
		t.Errorf("fingerprints %x and %x, %d remembered, want one", first, second, l.fingerprints.Len())
	}
}

// TestFingerprintTellsHowTheFieldIsDrawn adds lakes that are too far away to reach a pixel, but so many that the zoom is
// blurred.
func TestFingerprintTellsHowTheFieldIsDrawn(t *testing.T) {
	near := testLake{lon: -60, lat: -10, chl: 30}
	few := append(district(maxStamped), near)
	stamped := layerOf(few...)
	for _, n := range []int{3, 4 * maxStamped} {
		many := layerOf(append(district(maxStamped+n), near)...)
		for z := maptile.Zoom(1); int(z) < blurredZooms(many); z++ {
			if int(z) < blurredZooms(stamped) {
				continue
			}
			s := Spec{Tile: maptile.At(orb.Point{near.lon, near.lat}, z), Scale: 1, Style: Heat, Colormap: colormap.Default}
			a, _ := renderer().Fingerprint(stamped, s)
			b, _ := renderer().Fingerprint(many, s)
			if a == b && !bytes.Equal(mustRender(t, stamped, s), mustRender(t, many, s)) {
				t.Errorf("%d lakes more, zoom %d: a different picture with the same fingerprint", n, z)
			}
		}
	}
}
