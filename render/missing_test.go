package render

import (
	"bytes"
	"math"
	"testing"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
)

// sameHeat compares the bytes and the fingerprints of two layers' tiles around a point, in the style Heat.
func sameHeat(t *testing.T, a, b *Layer, place [2]float64, z maptile.Zoom) {
	t.Helper()
	for scale := 1; scale <= 2; scale++ {
		s := Spec{Tile: maptile.At(place, z), Scale: scale, Style: Heat, Colormap: colormap.Default}
		if !bytes.Equal(mustRender(t, a, s), mustRender(t, b, s)) {
			t.Errorf("%+v: lakes without a value change the tile", s)
		}
		one, anyOne := renderer().Fingerprint(a, s)
		if other, ok := renderer().Fingerprint(b, s); one != other || anyOne != ok {
			t.Errorf("%+v: lakes without a value change the fingerprint", s)
		}
	}
}

// TestMissingValuesNearALake adds lakes without a value at the point of a lake with one, near it and further away, small ones
// and one as wide as the largest blob, at all zooms; and then removes the lake with the value.
func TestMissingValuesNearALake(t *testing.T) {
	for z := maptile.Zoom(0); z <= MaxZoom; z++ {
		known := testLake{lon: 13.4, lat: 12.5, chl: 30}
		px := 360 / (TileSize * math.Exp2(float64(z)))
		var missing []testLake
		for _, away := range []float64{0, 1, 3, 20, 60} {
			missing = append(missing, testLake{lon: known.lon + away*px, lat: known.lat + away*px/2, chl: -1})
		}
		missing = append(missing, testLake{lon: known.lon - 5*px, lat: known.lat, chl: -1, areaKM2: math.Pi * math.Pow(60*px*111, 2)})
		place := [2]float64{known.lon, known.lat}
		sameHeat(t, layerOf(append(missing, known)...), layerOf(known), place, z)
		sameHeat(t, layerOf(missing...), layerOf(), place, z)
	}
}

// TestMissingValuesAmongMany removes the lakes without a value from a blurred layer.
func TestMissingValuesAmongMany(t *testing.T) {
	all := district(300)
	var known []testLake
	for i := range all {
		if i%40 == 0 {
			all[i].areaKM2 = 3000
		}
		if i%3 == 0 {
			all[i].chl = -1
		} else {
			known = append(known, all[i])
		}
	}
	for _, grids := range []int{0, 4} {
		a, b := blurred(grids, all...), blurred(grids, known...)
		for z := range maptile.Zoom(maxBlurredZoom + 1) {
			sameHeat(t, a, b, [2]float64{22.5, 62}, z)
		}
	}
}

// TestMissingValuesDoNotMakeMany checks that lakes without a value do not count when it is decided how the field is drawn: that
// changes the picture slightly.
func TestMissingValuesDoNotMakeMany(t *testing.T) {
	known := district(maxStamped)
	all := append(district(maxStamped), district(maxStamped)...)
	for i := maxStamped; i < len(all); i++ {
		all[i].chl = -1
	}
	a, b := layerOf(all...), layerOf(known...)
	for z := range maptile.Zoom(maxBlurredZoom + 1) {
		sameHeat(t, a, b, [2]float64{22.5, 62}, z)
	}
}
