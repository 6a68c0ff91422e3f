package render

import (
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
)

// TestOutlineFromTheWidthOfADisc checks that an outline is drawn if its width or its height is at least that of the smallest
// disc, 6 pixels at zoom 12.
func TestOutlineFromTheWidthOfADisc(t *testing.T) {
	const (
		zoom   = 12
		degree = 256 << zoom / 360.0 // pixels, at the equator either way
		lon    = 20.03
		lat    = 0.02
	)
	for _, tt := range []struct {
		name          string
		width, height float64 // in pixels
		drawn         bool
	}{
		{"as wide as the disc", 6.1, 2, true},
		{"as high", 2, 6.1, true},
		{"both", 6.1, 6.1, true},
		{"narrower and lower", 5.9, 5.9, false},
	} {
		e, n := tt.width/degree/2, tt.height/degree/2
		lake := testShore{testLake{lon, lat, 5, 0.001}, orb.MultiPolygon{{{
			{lon - e, lat - n}, {lon + e, lat - n}, {lon + e, lat + n}, {lon - e, lat + n}, {lon - e, lat - n},
		}}}}
		w := windowOf(maptile.At(orb.Point{lon, lat}, zoom), 1)
		drawn := !slices.Equal(paint(layerOfShores(t, lake), w, Lakes), paint(layerOf(lake.testLake), w, Lakes))
		if drawn != tt.drawn {
			t.Errorf("%s: the outline is drawn: %v, want %v", tt.name, drawn, tt.drawn)
		}
	}
}
