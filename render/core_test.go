package render

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
)

// TestCoresAreOnTop draws a bloom, and a medium lake, among clean lakes half a pixel away on all sides, at any place within a pixel: within a
// pixel of its place it has its own class, at both scales, and the bloom is opaque. So it is where the field is blurred. Among twelve clean
// lakes a bloom is three pixels wide and high, and among four a medium lake one.
func TestCoresAreOnTop(t *testing.T) {
	const z = maptile.Zoom(6)
	degrees := 360 / (TileSize * math.Exp2(float64(z)))
	classes, palette := entryClasses[0](), paletteOf(colormap.Default, Heat, z)
	for _, tt := range []struct {
		chl   float64
		class uint8
		clean int
		alpha uint8
		wide  int
	}{{300, 3, 12, 0x80, 3}, {300, 3, 20, 0x80, 2}, {30, 2, 4, 1, 1}} {
		for place := range 16 * 16 {
			x, y := float64(place%16)/16*degrees, float64(place/16)/16*degrees
			lakes := []testLake{{lon: x, lat: y, chl: tt.chl}}
			for k := range tt.clean {
				angle := 2 * math.Pi * float64(k) / float64(tt.clean)
				lakes = append(lakes, testLake{lon: x + 0.5*degrees*math.Cos(angle), lat: y + 0.5*degrees*math.Sin(angle), chl: 2})
			}
			l := layerOf(lakes...)
			for scale := 1; scale <= 2; scale++ {
				middle := int64(1) << (z + tileBits - 1 + subBits)
				w := window{zoom: z, scale: scale, left: middle - 16*subUnits, top: middle - 16*subUnits, width: 32 * scale, height: 32 * scale}
				for name, layer := range map[string]*Layer{"stamped": l, "blurred": blurredCopy(l, z)} {
					p := heatPicture{window: w, classes: paint(layer, w, Heat)}
					rows, columns := make([]int, w.height), make([]int, w.width)
					for at, e := range p.classes {
						if classes[e] == tt.class {
							rows[at/w.width]++
							columns[at%w.width]++
						}
					}
					if n := min(slices.Max(rows), slices.Max(columns)); n < tt.wide*scale {
						t.Fatalf("%v µg/l among %d, %s, place %d, scale %d: %d pixels wide or high, want %d or more", tt.chl, tt.clean, name, place, scale, n, tt.wide*scale)
					}
					atX, atY := p.at(&l.sites[0])
					most := uint8(0)
					p.disc(atX, atY, float64(scale), func(e uint8) {
						if classes[e] == tt.class {
							most = max(most, palette[e].A)
						}
					})
					if most < tt.alpha {
						t.Fatalf("%v µg/l among %d, %s, place %d, scale %d: its class has an alpha of %d within a pixel, want %d or more",
							tt.chl, tt.clean, name, place, scale, most, tt.alpha)
					}
				}
			}
		}
	}
}

// TestWorstCoreIsOnTop draws blooms that are as near as lakes with discs of their own can be: each has its own colour at its own pixel, as the worst has
// between two others.
func TestWorstCoreIsOnTop(t *testing.T) {
	const z = maptile.Zoom(6)
	degrees := 360 / (TileSize * math.Exp2(float64(z)))
	l := layerOf(testLake{lon: 0.5 * degrees, lat: 0.5 * degrees, chl: 60}, testLake{lon: 2.93 * degrees, lat: 0.5 * degrees, chl: 130}, testLake{lon: 5.36 * degrees, lat: 0.5 * degrees, chl: 60})
	middle := int64(1) << (z + tileBits - 1 + subBits)
	w := window{zoom: z, scale: 1, left: middle - 4*subUnits, top: middle - subUnits, width: 12, height: 1}
	p, m := paletteOf(colormap.Default, Heat, z), newMap(t, colormap.Default, who2003())
	for name, layer := range map[string]*Layer{"stamped": l, "blurred": blurredCopy(l, z)} {
		pixels := paint(layer, w, Heat)
		for at, chl := range map[int]float64{4: 60, 6: 130, 9: 60} {
			want := m.Color(chl)
			want.A = uint8(math.Round(maxOpacity * 0xff))
			if c := p[pixels[at]]; c != want {
				t.Errorf("%s: pixel %d is %v, want %v", name, at, c, want)
			}
		}
	}
}

// TestCoresOfCrowds puts more and more lakes into a cell: the worst high one has a core as soon as there are many, and a larger one the more there are.
func TestCoresOfCrowds(t *testing.T) {
	const z = maptile.Zoom(8)
	degrees := 360 / (TileSize * math.Exp2(float64(z)))
	rng := rand.New(rand.NewPCG(11, 12))
	var lakes []testLake
	last := float32(0)
	for _, step := range []struct {
		n     int
		chl   float64
		cores int
	}{{17, 20, 0}, {2, 60, 0}, {1, 2, 1}, {100, 5, 1}, {50, 70, 1}, {1, 500, 1}} {
		for range step.n {
			lakes = append(lakes, testLake{lon: (1 << coreCellBits) * degrees * rng.Float64(), lat: -(1 << coreCellBits) * degrees * rng.Float64(), chl: step.chl + rng.Float64()})
		}
		l := layerOf(lakes...)
		list := newCoreList(l, z)
		if len(list.gains) != step.cores {
			t.Errorf("%d lakes, the last of %v µg/l: %d cores, want %d", len(lakes), step.chl, len(list.gains), step.cores)
			continue
		}
		if step.cores == 0 {
			continue
		}
		if list.gains[0] <= last {
			t.Errorf("%d lakes: a core of %v, and with fewer lakes of %v, want more", len(lakes), list.gains[0], last)
		}
		last = list.gains[0]
		worst := 0.0
		for _, lake := range lakes {
			worst = max(worst, lake.chl)
		}
		if want := l.logs.of(data.Chlorophyll(math.Round(100 * worst))); math.Abs(float64(list.logs[0]-want)) > 0.01 {
			t.Errorf("%d lakes: the core has the logarithm %v, want %v of the worst, %v µg/l", len(lakes), list.logs[0], want, worst)
		}
	}
}
