package render

import (
	"math"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
)

// TestNoRings draws a lone disc, small and as large as discs are, on a light and on a dark map: from the middle outwards it comes nearer to the colour of the map
// evenly. The twelve opacities without dither would be rings, a step of 0.07 each. The rim of a high disc on a dark map is one on purpose.
func TestNoRings(t *testing.T) {
	const most = 0.035 // of the way from the middle to the map between rings of a pixel, where the disc is 90 pixels in radius; 0.025 is the largest slope
	for _, z := range []maptile.Zoom{5, 7, 9} {
		for _, tt := range []struct {
			chl, areaKM2 float64
			most         float64
		}{
			{3, 0.05, 0.25}, {20, 0.05, 0.25}, // a small disc fades within ten pixels
			{3, 7000 * math.Exp2(float64(14-2*int(z))), most}, {20, 7000 * math.Exp2(float64(14-2*int(z))), most},
		} {
			l := layerOf(testLake{lon: 10, lat: 50, chl: tt.chl, areaKM2: tt.areaKM2})
			s := &l.sites[0]
			for scale := 1; scale <= 2; scale++ {
				w := windowOver(orb.Point{10, 50}.Bound(), z)
				shift := uint(MaxZoom - z)
				w.left, w.top = (int64(s.x>>shift)-100*subUnits)&^(subUnits-1), (int64(s.y>>shift)-100*subUnits)&^(subUnits-1)
				w.scale, w.width, w.height = scale, 200*scale, 200*scale
				p := pictureOf(l, w)
				x, y := p.at(s)
				for _, ground := range mapGrounds {
					rings, counts := make([]float64, 100), make([]float64, 100)
					for i, c := range p.colors {
						d := int(math.Hypot(float64(i%w.width)+0.5-x, float64(i/w.width)+0.5-y) / float64(scale))
						if d >= len(rings) {
							continue
						}
						shown, of := over(channels(c), float64(c.A)/0xff, channels(ground)), channels(ground)
						rings[d] += math.Sqrt((shown[0]-of[0])*(shown[0]-of[0]) + (shown[1]-of[1])*(shown[1]-of[1]) + (shown[2]-of[2])*(shown[2]-of[2]))
						counts[d]++
					}
					middle, largest := rings[0]/counts[0], 0.0
					for d := 1; d < len(rings); d++ {
						step := (rings[d-1]/counts[d-1] - rings[d]/counts[d]) / middle
						largest = max(largest, step)
						if step < -0.015 || step > tt.most {
							t.Errorf("zoom %d, scale %d, %v µg/l, %.1f km² on %s: %d pixels from the middle the disc fades by %.3f, want 0 to %v", z, scale, tt.chl, tt.areaKM2, colormap.Hex(ground), d, step, tt.most)
						}
					}
					t.Logf("zoom %d, scale %d, %v µg/l, %.1f km² on %s: at most %.3f between rings of a pixel", z, scale, tt.chl, tt.areaKM2, colormap.Hex(ground), largest)
				}
			}
		}
	}
}
