package render

import (
	"math"
	"testing"

	"github.com/paulmach/orb/maptile"
)

// TestNoCreases checks the opacity along the line between two equal lakes. It never increases from a lake to the middle, and
// its curvature is nowhere more than that of one lake, least of all in the middle, where a maximum of the two would have a
// crease.
func TestNoCreases(t *testing.T) {
	for z := maptile.Zoom(5); z <= 12; z++ {
		sigma := math.Exp2(float64(lone) / stepsPerZoom)
		// The second derivative of 1 - exp(-4·exp(-x²/2)) is between -1.3 and 0.7 per sigma squared below full opacity;
		// at full opacity its slope falls by less than 0.06 per sigma.
		// Where two leave each other little room, their discs are narrower: 2.6 % more.
		bend := 1.026 * (1.3/(sigma*sigma) + 0.06/sigma)
		for _, apart := range []float64{1, 2, 3, 4, 5, 6} { // sigma
			distance := int(math.Round(apart * sigma))
			line := opacityLine(t, z, distance)
			for i := 1; i <= distance/2; i++ {
				if line[i] > line[i-1]+1e-6 {
					t.Errorf("zoom %d, lakes %d px apart: opacity rises from %.4f to %.4f, %d px from a lake",
						z, distance, line[i-1], line[i], i)
				}
			}
			for i := 1; i < distance; i++ {
				if got := math.Abs(line[i-1] - 2*line[i] + line[i+1]); got > bend {
					t.Errorf("zoom %d, lakes %d px apart: %d px from a lake the opacity bends by %.4f, want at most %.4f",
						z, distance, i, got, bend)
				}
			}
		}
	}
}

// opacityLine returns the opacity of the field, as a part of the largest, at the pixels from one of two lakes to the other. The
// lakes are on the equator, that many pixels apart.
func opacityLine(t *testing.T, z maptile.Zoom, distance int) []float64 {
	t.Helper()
	degrees := 360 / (TileSize * math.Exp2(float64(z)))
	l := layerOf(testLake{lon: 0.5 * degrees, chl: 5}, testLake{lon: (0.5 + float64(distance)) * degrees, chl: 5})
	middle := int64(1) << (z + tileBits - 1 + subBits)
	w := window{zoom: z, scale: 1, left: middle, top: middle, width: distance + 1, height: 1}
	f := fieldOf(l, w)
	f.sum(0, 1)
	line := make([]float64, w.width)
	for i, g := range f.sums.row(f.sums.all.weights, 0) {
		line[i] = min(1, (1-math.Exp(-opacityGain*float64(g)))/saturated)
	}
	return line
}
