package render

import (
	"math"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
)

// TestSurfaceBecomesLakes measures how much of the middle of Germany has a colour: zooming in divides a carpet of discs into single lakes.
func TestSurfaceBecomesLakes(t *testing.T) {
	l := layerOf(bathingSites(t, 2010)...)
	last := 1.0
	for i, part := range []struct{ least, most float64 }{{0.75, 1}, {0.6, 1}, {0.3, 1}, {0.1, 0.5}, {0.02, 0.5}, {1e-3, 0.1}, {1e-4, 0.1}} {
		z := maptile.Zoom(5 + i)
		w := windowOver(orb.Bound{Min: orb.Point{9, 50}, Max: orb.Point{12, 52}}, z)
		seen := 0
		for _, e := range paint(l, w, Heat) {
			if e != 0 {
				seen++
			}
		}
		share := float64(seen) / float64(w.width*w.height)
		t.Logf("zoom %d: %.1f %% of %d by %d pixels", z, 100*share, w.width, w.height)
		if share < part.least || share > part.most || share >= last {
			t.Errorf("zoom %d: %.4f of the country's middle has a colour, want %v to %v, and less than %.4f at the zoom before", z, share, part.least, part.most, last)
		}
		last = share
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
