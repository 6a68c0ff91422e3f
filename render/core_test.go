package render

import (
	"image/color"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
)

func chlorophyllOf(ugL float64) data.Chlorophyll { return data.Chlorophyll(math.Round(100 * ugL)) }

// TestCoresAreWideEnough draws a bloom, and a medium lake, among clean lakes half a pixel away on all sides, at any place within a pixel: it
// has three pixels of its own colour in a row and in a column, or two of its class, at both scales.
func TestCoresAreWideEnough(t *testing.T) {
	const z = maptile.Zoom(6)
	degrees := 360 / (TileSize * math.Exp2(float64(z)))
	m := newMap(t, colormap.Default, who2003())
	for _, tt := range []struct {
		chl  float64
		wide int
	}{{300, 3}, {30, 2}} {
		for i := range 16 {
			for j := range 16 {
				x, y := float64(i)/16*degrees, float64(j)/16*degrees
				lakes := []testLake{{lon: x, lat: y, chl: tt.chl}}
				for k := range 12 {
					angle := 2 * math.Pi * float64(k) / 12
					lakes = append(lakes, testLake{lon: x + 0.5*degrees*math.Cos(angle), lat: y + 0.5*degrees*math.Sin(angle), chl: 2})
				}
				l := layerOf(lakes...)
				for scale := 1; scale <= 2; scale++ {
					middle := int64(1) << (z + tileBits - 1 + subBits)
					w := window{zoom: z, scale: scale, left: middle - 16*subUnits, top: middle - 16*subUnits, width: 32 * scale, height: 32 * scale}
					p := paletteOf(colormap.Default, Heat, z)
					own := func(e uint8) bool {
						c := p[e]
						return c.A == 219 && m.Color(tt.chl) == opaqueOf(c)
					}
					pixels := paint(l, w, Heat)
					rows, columns := make([]int, w.height), make([]int, w.width)
					for at, e := range pixels {
						if own(e) {
							rows[at/w.width]++
							columns[at%w.width]++
						}
					}
					if widest(rows) < tt.wide*scale || widest(columns) < tt.wide*scale {
						t.Fatalf("%v µg/l at %d,%d sixteenths, scale %d: %d by %d pixels, want %d or more", tt.chl, i, j, scale, widest(rows), widest(columns), tt.wide*scale)
					}
				}
			}
		}
	}
}

func widest(counts []int) (n int) {
	for _, c := range counts {
		n = max(n, c)
	}
	return n
}

// TestCoresOfCrowds puts more and more blooms into a neighbourhood. Up to a quarter of its pixels all have a core; beyond, the worst of
// each cell has one, and medium lakes have what is left.
func TestCoresOfCrowds(t *testing.T) {
	const z = maptile.Zoom(8)
	degrees := 360 / (TileSize * math.Exp2(float64(z)))
	rng := rand.New(rand.NewPCG(11, 12))
	var lakes []testLake
	add := func(n int, chl float64) {
		for range n {
			lakes = append(lakes, testLake{lon: neighbourhoodPx * degrees * rng.Float64(), lat: -neighbourhoodPx * degrees * rng.Float64(), chl: chl + rng.Float64()})
		}
	}
	cores := func() (high, medium int) {
		list := newCoreList(layerOf(lakes...), z)
		for _, v := range list.cores {
			if v.Chlorophyll >= 50_00 {
				high++
			} else {
				medium++
			}
		}
		return high, medium
	}
	add(60, 20)
	add(40, 60)
	if high, medium := cores(); high != 40 || medium != 60 {
		t.Errorf("of 40 high and 60 medium lakes %d and %d have cores, want all", high, medium)
	}
	add(200, 20)
	if high, medium := cores(); high != 40 || medium > cellsPerSide*cellsPerSide {
		t.Errorf("of 40 high and 260 medium lakes %d and %d have cores, want 40 and at most one in each cell", high, medium)
	}
	add(400, 60)
	if high, medium := cores(); high != cellsPerSide*cellsPerSide || medium != 0 {
		t.Errorf("of 440 high lakes in all cells %d have cores, and %d medium ones, want %d and none", high, medium, cellsPerSide*cellsPerSide)
	}
	lakes = append(lakes, testLake{lon: 5 * degrees, lat: -5 * degrees, chl: 500})
	list, found := newCoreList(layerOf(lakes...), z), false
	for _, v := range list.cores {
		found = found || v.Chlorophyll == 500_00
	}
	if !found {
		t.Error("the worst lake has no core")
	}
}

// opaqueOf returns c without its opacity.
func opaqueOf(c color.NRGBA) color.NRGBA {
	c.A = 0xff
	return c
}
