package render

import (
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
)

// grounds of a light and of a dark map, as those of the page.
var mapGrounds = [...]color.NRGBA{{0xf4, 0xf2, 0xee, 0xff}, {0x22, 0x26, 0x2b, 0xff}}

// madeUpSites returns n lakes as dense as the bathing sites of Germany, from a fixed seed: one in six is a second site of a lake, a few hundred metres
// from another one, half of the others lie in lake districts, and the rest anywhere.
func madeUpSites(n int) []testLake {
	rng := rand.New(rand.NewPCG(11, 12))
	centre := func() (lon, lat float64) { return 6 + 9*rng.Float64(), 47.5 + 7*rng.Float64() }
	var districts [40][2]float64
	for i := range districts {
		districts[i][0], districts[i][1] = centre()
	}
	lakes := make([]testLake, 0, n)
	for i := range n {
		lon, lat := centre()
		switch {
		case i%6 == 5: // 100 m to 1 km from another one
			near, km := lakes[rng.IntN(i)], math.Pow(10, rng.Float64()-1)
			angle := 2 * math.Pi * rng.Float64()
			lon, lat = near.lon+km*math.Cos(angle)/70, near.lat+km*math.Sin(angle)/111
		case i%2 == 0:
			d := districts[rng.IntN(len(districts))]
			lon, lat = d[0]+0.3*rng.NormFloat64(), d[1]+0.2*rng.NormFloat64()
		}
		chl := math.Round(100*min(math.Exp(math.Log(5)+rng.NormFloat64()), 1500)) / 100
		lakes = append(lakes, testLake{lon: lon, lat: lat, chl: chl})
	}
	return lakes
}

// A picture is the style Heat in a window: the colour of each pixel, and 1 more than its class, 0 where it has none.
type picture struct {
	window
	colors  []color.NRGBA
	classes []uint8
}

// pictureOf draws l in w.
func pictureOf(l *Layer, w window) picture {
	p := picture{w, make([]color.NRGBA, w.width*w.height), paint(l, w, Heat)}
	palette, classes := paletteOf(colormap.Default, Heat, w.zoom), entryClasses[min(w.zoom/fadeZoom, 1)]()
	for i, e := range p.classes {
		p.colors[i], p.classes[i] = palette[e], classes[e]
	}
	return p
}

// boundOf returns the bound of lakes with a margin in degrees.
func boundOf(lakes []testLake, margin float64) orb.Bound {
	b := orb.Point{lakes[0].lon, lakes[0].lat}.Bound()
	for _, l := range lakes {
		b = b.Extend(orb.Point{l.lon, l.lat})
	}
	return b.Pad(margin)
}

// scaled returns w with that scale.
func (w window) scaled(scale int) window {
	w.scale, w.width, w.height = scale, scale*w.width, scale*w.height
	return w
}

// step returns the mean distance in RGB, of 441, between neighbouring pixels of two classes over a ground, the largest one, and how many
// neighbours there are.
func (p *picture) step(a, b int, ground color.NRGBA) (mean, largest float64, n int) {
	shown := func(i int) [3]float64 {
		return over(channels(p.colors[i]), float64(p.colors[i].A)/0xff, channels(ground))
	}
	add := func(i, j int) {
		if c, d := int(p.classes[i])-1, int(p.classes[j])-1; min(c, d) != a || max(c, d) != b {
			return
		}
		x, y := shown(i), shown(j)
		d := math.Sqrt((x[0]-y[0])*(x[0]-y[0]) + (x[1]-y[1])*(x[1]-y[1]) + (x[2]-y[2])*(x[2]-y[2]))
		mean, largest, n = mean+d, max(largest, d), n+1
	}
	for i := range p.classes {
		if (i+1)%p.width != 0 {
			add(i, i+1)
		}
		if i+p.width < len(p.classes) {
			add(i, i+p.width)
		}
	}
	return mean / float64(max(n, 1)), largest, n
}

// shares returns the parts of the coloured pixels by class.
func (p *picture) shares() (s [upperClasses + 1]float64) {
	n := 0.0
	for _, c := range p.classes {
		if c > 0 {
			s[c-1]++
			n++
		}
	}
	for i := range s {
		s[i] /= n
	}
	return s
}

// at returns the position of a lake in pixels of p.
func (p *picture) at(s *site) (x, y float64) {
	shift := uint(MaxZoom - p.zoom)
	return float64(int64(s.x>>shift)-p.left) / float64(p.step1()), float64(int64(s.y>>shift)-p.top) / float64(p.step1())
}

func (p *picture) step1() int64 { return p.window.step() }

// disc calls visit for the classes of the pixels whose centres are at most radius from x, y.
func (p *picture) disc(x, y, radius float64, visit func(row, column int, class uint8)) {
	for row := max(int(y-radius)-1, 0); row <= min(int(y+radius)+1, p.height-1); row++ {
		for column := max(int(x-radius)-1, 0); column <= min(int(x+radius)+1, p.width-1); column++ {
			if math.Hypot(float64(column)+0.5-x, float64(row)+0.5-y) <= radius {
				visit(row, column, p.classes[row*p.width+column])
			}
		}
	}
}

// discRadius returns the radius in pixels of scale 1 of the disc of a lake that is alone: half as opaque as its middle.
func (s size) discRadius() float64 { return halfOpaque * math.Exp2(float64(s)/stepsPerZoom) }

// A lakeFigures counts lakes with a value of a picture.
type lakeFigures struct {
	lakes, foreign     int // with more than a tenth of their own disc in another class
	low, lowWorse      int // low lakes whose own pixel has a worse class
	high, seen         int // high lakes with a pixel of their class within one pixel of their place
	own                int // lakes whose own pixel has their class
	medium, mediumSeen int
}

func (p *picture) lakeFigures(l *Layer, radius func(*site) float64) (f lakeFigures) {
	for i := range l.sites {
		v, s := l.value(i), &l.sites[i]
		x, y := p.at(s)
		if !v.Valid() || x < 0 || y < 0 || x >= float64(p.width) || y >= float64(p.height) {
			continue
		}
		class := uint8(l.logs.classes.of(v.Chlorophyll)) + 1
		pixels, other, seen := 0, 0, uint8(0)
		p.disc(x, y, radius(s)*float64(p.scale), func(_, _ int, c uint8) {
			pixels++
			if c != 0 && c != class {
				other++
			}
		})
		p.disc(x, y, 1, func(_, _ int, c uint8) { seen = max(seen, c) })
		f.lakes++
		if 10*other > pixels {
			f.foreign++
		}
		pixel := p.classes[int(y)*p.width+int(x)]
		if pixel == class {
			f.own++
		}
		switch class {
		case 1:
			f.low++
			if pixel > class {
				f.lowWorse++
			}
		case 2:
			f.medium++
			if seen >= class {
				f.mediumSeen++
			}
		case upperClasses + 1:
			f.high++
			if seen == class {
				f.seen++
			}
		}
	}
	return f
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// A drawer draws the lakes of a layer in a window, and knows the radius of a disc.
type drawer struct {
	name   string
	draw   func(*Layer, window) picture
	radius func(*Layer, maptile.Zoom) func(*site) float64
}

var today = drawer{"field", pictureOf, func(l *Layer, z maptile.Zoom) func(*site) float64 {
	return func(s *site) float64 { return s.size(z).discRadius() }
}}

// TestHeatFigures measures what heat-field.md promises of the picture, and prints it as tables.
func TestHeatFigures(t *testing.T) {
	for _, set := range figureSets {
		t.Run(set.name, func(t *testing.T) {
			lakes := set.lakes(t)
			printFigures(t, today, layerOf(lakes...), boundOf(lakes, 0.3))
		})
	}
	t.Run("pairs", func(t *testing.T) { printPairs(t, today) })
}

// A figureSet is lakes that are measured.
type figureSet struct {
	name  string
	lakes func(*testing.T) []testLake
}

// figureSets are as many lakes as Germany has, with values by chance and alike by region; of the productive ones half are of upper classes.
var figureSets = []figureSet{
	{"made up, productive", func(*testing.T) []testLake { return productive(madeUpSites(2010)) }},
	{"independent", func(t *testing.T) []testLake { return bathingSites(t, 2016) }},
	{"independent, productive", func(t *testing.T) []testLake { return productive(bathingSites(t, 2016)) }},
	{"regional", func(t *testing.T) []testLake { return regional(bathingSites(t, 2016), 1) }},
	{"regional, productive", func(t *testing.T) []testLake { return productive(regional(bathingSites(t, 2016), 2)) }},
}

func printFigures(t *testing.T, d drawer, l *Layer, b orb.Bound) {
	for z := maptile.Zoom(5); z <= 9; z++ {
		w := windowOver(b, z)
		p := d.draw(l, w)
		s, f := p.shares(), p.lakeFigures(l, d.radius(l, z))
		t.Logf("zoom %2d: low/medium/high of the coloured area %.1f/%.1f/%.1f %%; foreign disc %.0f %%; low lakes worse %.1f %%; high seen %d of %d; medium %d of %d; own %.0f %%",
			z, 100*s[0], 100*s[1], 100*s[2], percent(f.foreign, f.lakes), percent(f.lowWorse, f.low), f.seen, f.high, f.mediumSeen, f.medium, percent(f.own, f.lakes))
		if z > 8 {
			continue
		}
		var line strings.Builder
		for scale := 1; scale <= 2; scale++ {
			p := d.draw(l, w.scaled(scale))
			for _, g := range mapGrounds {
				mean, largest, n := p.step(0, 1, g)
				fmt.Fprintf(&line, "  %dx: %.0f, largest %.0f, of %d;", scale, mean, largest, n)
			}
		}
		t.Logf("         step%s", line.String())
	}
}

func printPairs(t *testing.T, d drawer) {
	for z := maptile.Zoom(5); z <= 9; z++ {
		var line strings.Builder
		for _, values := range [][2]float64{{2, 20}, {2, 120}, {20, 120}} {
			least, at, worst := 1.0, 0, 1.0
			for apart := 6; apart <= 30; apart++ {
				l, w := pair(z, float64(apart), values[0], values[1])
				p := d.draw(l, w)
				x0, y0 := p.at(&l.sites[0])
				x1, y1 := p.at(&l.sites[1])
				own := [2]uint8{uint8(l.logs.classes.of(l.value(0).Chlorophyll)) + 1, uint8(l.logs.classes.of(l.value(1).Chlorophyll)) + 1}
				r := [2]float64{d.radius(l, z)(&l.sites[0]) / 2, d.radius(l, z)(&l.sites[1]) / 2}
				var n, ok [2]int
				for i, c := range p.classes {
					px, py := float64(i%p.width)+0.5, float64(i/p.width)+0.5
					d0, d1 := math.Hypot(px-x0, py-y0), math.Hypot(px-x1, py-y1)
					k := 0
					if d1 < d0 {
						k = 1
					}
					if d0 > r[0] && d1 > r[1] {
						continue
					}
					n[k]++
					if c == own[k] {
						ok[k]++
					}
				}
				if s := float64(ok[0]+ok[1]) / float64(n[0]+n[1]); s < least {
					least, at = s, apart
				}
				worst = min(worst, float64(ok[0])/float64(max(n[0], 1)), float64(ok[1])/float64(max(n[1], 1)))
			}
			fmt.Fprintf(&line, "  %v: least %.0f %% (%d px), of one lake %.0f %%;", values, 100*least, at, 100*worst)
		}
		t.Logf("zoom %d pairs:%s", z, line.String())
	}
}
