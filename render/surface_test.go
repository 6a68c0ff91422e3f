package render

import (
	"math"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
)

// TestSurfaceBecomesLakes measures how much of the middle of Germany has a colour.
func TestSurfaceBecomesLakes(t *testing.T) {
	l := layerOf(bathingSites(t, 2010)...)
	for _, tt := range []struct {
		what        string
		from, to    maptile.Zoom
		least, most float64 // part of the pixels
	}{
		{"one surface", 5, 7, 0.75, 1},
		{"patches of regions", 8, 9, 0.1, 0.5},
		{"single lakes", 10, 11, 1e-3, 0.1},
	} {
		for z := tt.from; z <= tt.to; z++ {
			w := windowOver(orb.Bound{Min: orb.Point{9, 50}, Max: orb.Point{12, 52}}, z)
			seen := 0
			for _, e := range paint(l, w, Heat) {
				if e != 0 {
					seen++
				}
			}
			share := float64(seen) / float64(w.width*w.height)
			t.Logf("zoom %d: %.1f %% of %d by %d pixels", z, 100*share, w.width, w.height)
			if share < tt.least || share > tt.most {
				t.Errorf("zoom %d: %.3f of the country's middle has a colour, want %v to %v: %s", z, share, tt.least, tt.most, tt.what)
			}
		}
	}
}

// windowOver returns the smallest window that contains b at zoom z.
func windowOver(b orb.Bound, z maptile.Zoom) window {
	pixels := TileSize * math.Exp2(float64(z))
	column, row := int64(turns(b.Left())*pixels), int64(southing(b.Top())*pixels)
	return window{
		zoom: z, scale: 1, left: column * subUnits, top: row * subUnits,
		width: int(int64(turns(b.Right())*pixels) - column + 1), height: int(int64(southing(b.Bottom())*pixels) - row + 1),
	}
}
