package render

import (
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data/snapshot"
)

// TestBloomsShow checks the first promise of the map: a bloom never vanishes. Of all lakes of the highest class in Germany, each has a
// pixel of that class within a pixel of its place, at each zoom; and no such pixel lies outside of the disc of such a lake. Lakes of the
// middle class have one of that class or the highest. The values are made up, independent of each other and alike by region. It
// logs how many show at their own pixel as a table.
func TestBloomsShow(t *testing.T) {
	for _, set := range []struct {
		name  string
		lakes []testLake
	}{
		{"independent", bathingSites(t, 2016)},
		{"by region", regional(bathingSites(t, 2016), 1)},
		{"by region, twice as productive", productive(regional(bathingSites(t, 2016), 2))},
	} {
		t.Run(set.name, func(t *testing.T) {
			l := layerOf(set.lakes...)
			for z := maptile.Zoom(5); z <= 12; z++ {
				blooms := bloomsOf(l, z)
				t.Logf("zoom %2d: of %d high lakes %d show, %d at their own pixel; of %d medium lakes %d show; %d of %d high pixels are outside of discs",
					z, blooms.high, blooms.highSeen, blooms.ownPixel, blooms.medium, blooms.mediumSeen, blooms.outside, blooms.pixels)
				if blooms.high < 10 || blooms.highSeen != blooms.high || z < fadeZoom && blooms.mediumSeen != blooms.medium || blooms.outside > 0 {
					t.Errorf("zoom %d: of %d high lakes %d show and of %d medium ones %d, and %d pixels are outside of discs, want all, of 10 or more, and none",
						z, blooms.high, blooms.highSeen, blooms.medium, blooms.mediumSeen, blooms.outside)
				}
			}
		})
	}
}

// regional returns the lakes with other values: alike within some 150 km, log-normal with the same median and spread.
func regional(lakes []testLake, seed uint64) []testLake {
	rng := rand.New(rand.NewPCG(seed, 5))
	// Waves in random directions, of 200 to 600 km, so that lakes 150 km apart are hardly alike.
	type wave struct{ x, y, phase float64 }
	waves := make([]wave, 40)
	for i := range waves {
		angle, length := 2*math.Pi*rng.Float64(), 200+400*rng.Float64()
		waves[i] = wave{2 * math.Pi * math.Cos(angle) / length, 2 * math.Pi * math.Sin(angle) / length, 2 * math.Pi * rng.Float64()}
	}
	out := make([]testLake, len(lakes))
	for i, l := range lakes {
		x, y := l.lon*111*math.Cos(51*math.Pi/180), l.lat*111
		sum := 0.0
		for _, w := range waves {
			sum += math.Cos(w.x*x + w.y*y + w.phase)
		}
		// Half of the variance is that of the region.
		region := sum * math.Sqrt(2/float64(len(waves)))
		l.chl = math.Round(100*min(math.Exp(math.Log(5)+math.Sqrt(0.5)*(region+rng.NormFloat64())), 1500)) / 100
		out[i] = l
	}
	return out
}

// productive returns the lakes with values twice as high.
func productive(lakes []testLake) []testLake {
	out := make([]testLake, len(lakes))
	for i, l := range lakes {
		l.chl = min(2*l.chl, 1500)
		out[i] = l
	}
	return out
}

// blooms counts the lakes of upper classes of a zoom, and the pixels of the highest class.
type blooms struct {
	high, highSeen, ownPixel int
	medium, mediumSeen       int
	pixels, outside          int
}

// bloomsOf draws all lakes of l at zoom z.
func bloomsOf(l *Layer, z maptile.Zoom) (b blooms) {
	shift := uint(MaxZoom - z)
	// The radius of the disc of a lone lake in sigma: further away it is transparent, even where it is dithered.
	lone := math.Sqrt(-2 * math.Log(float64(renderer().colors[colormap.Default].scale.shades.faint)))
	classes := map[maptile.Tile][]uint8{} // by pixel: 1 more than its class, 0 if transparent
	classAt := func(x, y int64) int {
		tile := maptile.Tile{X: uint32(x >> tileBits), Y: uint32(y >> tileBits), Z: z}
		drawn, ok := classes[tile]
		if !ok {
			drawn = classesOf(l, windowOf(tile, 1))
			classes[tile] = drawn
		}
		return int(drawn[y%TileSize*TileSize+x%TileSize]) - 1
	}
	type place struct{ x, y, radius float64 }
	var discs []place
	for i := range l.sites {
		v, s := l.value(i), &l.sites[i]
		class := l.logs.classes.of(v.Chlorophyll)
		if class == 0 {
			continue
		}
		x, y := float64(s.x>>shift)/subUnits, float64(s.y>>shift)/subUnits
		best := -1
		for row := int64(y - 1.5); row <= int64(y+1.5); row++ {
			for column := int64(x - 1.5); column <= int64(x+1.5); column++ {
				if math.Hypot(float64(column)+0.5-x, float64(row)+0.5-y) <= 1 {
					best = max(best, classAt(column, row))
				}
			}
		}
		if class == 1 {
			b.medium++
			if best >= class {
				b.mediumSeen++
			}
			continue
		}
		b.high++
		if best == class {
			b.highSeen++
		}
		if classAt(int64(x), int64(y)) == class {
			b.ownPixel++
		}
		// A lone lake is visible up to a Gaussian of faint, and a pixel further.
		radius := float64(max(s.disc(z), smallestRadius(z)))/subUnits + 1
		if z < waterZoom {
			radius = max(radius, lone*s.size(z, true).sigma(z)+1)
		}
		discs = append(discs, place{x, y, radius})
	}
	for tile, drawn := range classes {
		for i, class := range drawn {
			if int(class) != upperClasses+1 {
				continue
			}
			b.pixels++
			x, y := float64(tile.X*TileSize)+float64(i%TileSize)+0.5, float64(tile.Y*TileSize)+float64(i/TileSize)+0.5
			near := false
			for _, d := range discs {
				if math.Abs(d.x-x) <= d.radius && math.Hypot(d.x-x, d.y-y) <= d.radius {
					near = true
					break
				}
			}
			if !near {
				b.outside++
			}
		}
	}
	return b
}

// classesOf returns for each pixel of the style Heat 1 more than the class of its colour, 0 if it is transparent.
func classesOf(l *Layer, w window) []uint8 {
	pixels := paint(l, w, Heat)
	classes := entryClasses[min(w.zoom/fadeZoom, 1)]()
	for i, e := range pixels {
		pixels[i] = classes[e]
	}
	return pixels
}

var entryClasses = [...]func() [256]uint8{
	sync.OnceValue(func() [256]uint8 { return entryClassesAt(0) }),
	sync.OnceValue(func() [256]uint8 { return entryClassesAt(fadeZoom) }),
}

// entryClassesAt returns for each palette entry of the style Heat 1 more than the class of its colour, 0 for those of lines.
func entryClassesAt(z maptile.Zoom) (classes [256]uint8) {
	m, err := colormap.New(colormap.Default, who2003())
	if err != nil {
		panic(err)
	}
	o := &fullRange
	if z >= fadeZoom {
		o = &fadedRange
		for i := range colormap.Steps {
			for q := quarters / 2; q <= quarters; q++ {
				classes[fillEntry+i*quarters+q-1] = uint8(classOf(m, i)) + 1
			}
		}
	}
	for _, entries := range newShading(m, o).entries {
		for i, e := range entries {
			classes[e] = uint8(classOf(m, i)) + 1
		}
	}
	return classes
}

// classesOfEntries returns the class of each palette entry of the field below fadeZoom.
func classesOfEntries(s *scale) (classes [256]uint8) {
	for _, entries := range s.shading.entries {
		for i, e := range entries {
			classes[e] = uint8(classOf(s.colours, i))
		}
	}
	return classes
}

// TestWorstLakesShow checks for the demo and for German sites that the lakes with the most chlorophyll have their own colour at their
// own pixel, whatever lies near them.
func TestWorstLakesShow(t *testing.T) {
	t.Run("demo", func(t *testing.T) {
		s := demoSnapshot(t)
		// A quarter of a year apart: all seasons of the three years.
		for i := len(s.Weeks) - 1; i >= 0; i -= 13 {
			v, err := s.View(t.Context(), s.Weeks[i].Week)
			if err != nil {
				t.Fatal(err)
			}
			worstLakesShow(t, v, fmt.Sprint("week ", v.Week))
		}
	})
	t.Run("German sites", func(t *testing.T) {
		worstLakesShow(t, viewOf(bathingSites(t, 2016)), "")
	})
}

func worstLakesShow(t *testing.T, v *snapshot.View, when string) {
	t.Helper()
	const (
		zoom    = maptile.Zoom(6)
		largest = 12.0 // CIE76
	)
	m, l := newMap(t, colormap.Default, who2003()), renderer().Layer(v.Values())
	var known []int // sites with a value
	for i := range l.sites {
		if l.value(i).Valid() {
			known = append(known, i)
		}
	}
	slices.SortFunc(known, func(i, k int) int { return int(l.value(k).Chlorophyll) - int(l.value(i).Chlorophyll) })
	furthest := 0.0
	worst := known[:(len(known)+99)/100]
	for _, i := range worst {
		got := shadeOf(l, &l.sites[i], zoom)
		d := cie76(labOf(got), labOf(m.Color(l.value(i).Float())))
		furthest = max(furthest, d)
		if d >= largest {
			t.Errorf("%s: a lake of %v µg/l is shown in %s, %.1f from its own colour, want less than %v",
				when, l.value(i).Chlorophyll, colormap.Hex(got), d, largest)
		}
	}
	t.Logf("%s: %d of %d lakes, %v µg/l and more: CIE76 %.1f at most",
		when, len(worst), len(known), l.value(worst[len(worst)-1]).Chlorophyll, furthest)
}

// shadeOf returns the opaque colour of the pixel of l that contains p.
func shadeOf(l *Layer, p *site, z maptile.Zoom) (c color.NRGBA) {
	shift := uint(MaxZoom-z) + subBits
	w := window{zoom: z, scale: 1, left: int64(p.x>>shift) * subUnits, top: int64(p.y>>shift) * subUnits, width: 1, height: 1}
	c = paletteOf(colormap.Default, Heat, z)[paint(l, w, Heat)[0]]
	c.A = 0xff
	return c
}
