package render

import (
	"image/color"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data/testsize"
)

// grounds of a light and of a dark map, as those of the page.
var mapGrounds = [...]color.NRGBA{{0xf4, 0xf2, 0xee, 0xff}, {0x22, 0x26, 0x2b, 0xff}}

// madeUpSites returns n lakes that are about as dense as the bathing sites of Germany, from a fixed seed: a third of them lie 0.7 to 10 km from
// another one, a third 3 to 30 km, and the others anywhere.
func madeUpSites(n int) []testLake {
	rng := rand.New(rand.NewPCG(11, 12))
	lakes := make([]testLake, 0, n)
	for i := range n {
		lon, lat := 6+9*rng.Float64(), 47.5+7*rng.Float64()
		if i%3 != 0 {
			near, km := lakes[rng.IntN(i)], 0.7*math.Pow(15, rng.Float64())
			if i%3 == 2 {
				km = 3 * math.Pow(10, rng.Float64())
			}
			angle := 2 * math.Pi * rng.Float64()
			lon, lat = near.lon+km*math.Cos(angle)/70, near.lat+km*math.Sin(angle)/111
		}
		chl := math.Round(100*min(math.Exp(math.Log(5)+rng.NormFloat64()), 1500)) / 100
		lakes = append(lakes, testLake{lon: lon, lat: lat, chl: chl})
	}
	return lakes
}

// A heatPicture is the style Heat in a window: the colour of each pixel, and 1 more than its class, 0 where it has none.
type heatPicture struct {
	window
	colors  []color.NRGBA
	classes []uint8
}

// pictureOf draws l in w.
func pictureOf(l *Layer, w window) heatPicture {
	p := heatPicture{w, make([]color.NRGBA, w.width*w.height), paint(l, w, Heat)}
	palette, classes := paletteOf(colormap.Default, Heat, w.zoom), entryClasses[min(w.zoom/fadeZoom, 1)]()
	for i, e := range p.classes {
		p.colors[i], p.classes[i] = palette[e], classes[e]
	}
	return p
}

// scaled returns w with that scale.
func (w window) scaled(scale int) window {
	w.scale, w.width, w.height = scale, scale*w.width, scale*w.height
	return w
}

// boundOf returns the bound of lakes with a margin in degrees.
func boundOf(lakes []testLake, margin float64) orb.Bound {
	b := orb.Point{lakes[0].lon, lakes[0].lat}.Bound()
	for _, l := range lakes {
		b = b.Extend(orb.Point{l.lon, l.lat})
	}
	return b.Pad(margin)
}

// step returns the mean distance in RGB, of 441, between neighbouring pixels of two classes over a ground, the largest one, and how many
// neighbours there are.
func (p *heatPicture) step(a, b int, ground color.NRGBA) (mean, largest float64, n int) {
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

// shares returns the parts of the coloured pixels by class in per cent.
func (p *heatPicture) shares() (s [upperClasses + 1]float64) {
	n := 0.0
	for _, c := range p.classes {
		if c > 0 {
			s[c-1]++
			n++
		}
	}
	for i := range s {
		s[i] *= 100 / n
	}
	return s
}

// at returns the position of a lake in pixels of p.
func (p *heatPicture) at(s *site) (x, y float64) {
	shift, pixel := uint(MaxZoom-p.zoom), float64(p.window.step())
	return float64(int64(s.x>>shift)-p.left) / pixel, float64(int64(s.y>>shift)-p.top) / pixel
}

// disc calls visit for the classes of the pixels whose centres are at most radius from x, y.
func (p *heatPicture) disc(x, y, radius float64, visit func(class uint8)) {
	for row := max(int(y-radius)-1, 0); row <= min(int(y+radius)+1, p.height-1); row++ {
		for column := max(int(x-radius)-1, 0); column <= min(int(x+radius)+1, p.width-1); column++ {
			if math.Hypot(float64(column)+0.5-x, float64(row)+0.5-y) <= radius {
				visit(p.classes[row*p.width+column])
			}
		}
	}
}

// discRadius returns the radius in pixels of scale 1 of the disc of a lake that is alone: half as opaque as its middle.
func (s size) discRadius() float64 { return halfOpaque * math.Exp2(float64(s)/stepsPerZoom) }

// lakeFigures counts lakes with a value.
type lakeFigures struct {
	lakes, foreign int // foreign: with more than a tenth of their own disc in another class
	low, lowWorse  int // lowWorse: with a worse class at their own pixel
	high, seen     int // seen: with a pixel of their class within one pixel of their place
}

// lakeFigures returns the figures of the lakes of l in p.
func (p *heatPicture) lakeFigures(l *Layer) (f lakeFigures) {
	for i := range l.sites {
		v, s := l.value(i), &l.sites[i]
		if !v.Valid() {
			continue
		}
		x, y := p.at(s)
		class := uint8(l.logs.classes.of(v.Chlorophyll)) + 1
		pixels, other, seen := 0, 0, false
		p.disc(x, y, s.size(p.zoom).discRadius()*float64(p.scale), func(c uint8) {
			pixels++
			if c != 0 && c != class {
				other++
			}
		})
		p.disc(x, y, 1, func(c uint8) { seen = seen || c == class })
		f.lakes++
		if 10*other > pixels {
			f.foreign++
		}
		switch class {
		case 1:
			f.low++
			if p.classes[int(y)*p.width+int(x)] > class {
				f.lowWorse++
			}
		case upperClasses + 1:
			f.high++
			if seen {
				f.seen++
			}
		}
	}
	return f
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// The limits of the figures.
const (
	mostStep  = 100.0 // of colour between neighbouring pixels of the classes low and medium at scale 1, of 441; less at scale 2
	mostShift = 2.0   // of a class's part of the coloured pixels, from one zoom to the next, in points
	leastOwn  = 80.0  // of the pixels within half of the discs of a lone pair, those of their own lake's class, in per cent
)

// mostForeign and mostWorse are the largest parts of lakes from zoom 5 on in per cent: of those with more than a tenth of their own disc in another
// class, and of low lakes with a worse class at their own pixel.
var (
	mostForeign = [...]float64{60, 45, 30, 15, 10}
	mostWorse   = [...]float64{100, 100, 12, 8, 5}
)

// TestHeatFigures measures what docs/heat-field.md promises of the picture, and prints it: go test -v -run TestHeatFigures ./render. With the build
// tag long it measures the bathing sites of Germany, too.
func TestHeatFigures(t *testing.T) {
	for _, set := range testsize.Cases(1, []struct {
		name  string
		lakes func(*testing.T) []testLake
	}{
		// Of productive lakes half are of the upper classes.
		{"made up, productive", func(*testing.T) []testLake { return productive(madeUpSites(2010)) }},
		{"independent", func(t *testing.T) []testLake { return bathingSites(t, 2016) }},
		{"independent, productive", func(t *testing.T) []testLake { return productive(bathingSites(t, 2016)) }},
		{"regional", func(t *testing.T) []testLake { return regional(bathingSites(t, 2016), 1) }},
		{"regional, productive", func(t *testing.T) []testLake { return productive(regional(bathingSites(t, 2016), 2)) }},
	}) {
		t.Run(set.name, func(t *testing.T) {
			lakes := set.lakes(t)
			checkFigures(t, layerOf(lakes...), boundOf(lakes, 0.3))
		})
	}
	t.Run("pairs", checkPairs)
}

func checkFigures(t *testing.T, l *Layer, b orb.Bound) {
	var last [upperClasses + 1]float64
	for i := range mostForeign {
		z := maptile.Zoom(5 + i)
		w := windowOver(b, z)
		p := pictureOf(l, w)
		s, f := p.shares(), p.lakeFigures(l)
		foreign, worse := percent(f.foreign, f.lakes), percent(f.lowWorse, f.low)
		t.Logf("zoom %d: %.1f %% of the coloured pixels are low, %.1f %% medium and %.1f %% high; %.0f %% of discs are foreign, %.1f %% of low lakes show a worse class; %d of %d high lakes are seen",
			z, s[0], s[1], s[2], foreign, worse, f.seen, f.high)
		if foreign > mostForeign[i] || worse > mostWorse[i] || f.seen != f.high {
			t.Errorf("zoom %d: %.0f %% of discs are foreign, %.1f %% of low lakes show a worse class and %d of %d high lakes are seen, want at most %v and %v %%, and all",
				z, foreign, worse, f.seen, f.high, mostForeign[i], mostWorse[i])
		}
		for class := range s {
			if shift := math.Abs(s[class] - last[class]); i > 0 && shift > mostShift {
				t.Errorf("zoom %d: class %d has %.1f %% of the coloured pixels, and %.1f %% at the zoom before, want at most %v points between", z, class, s[class], last[class], mostShift)
			}
		}
		last = s
		if z < 9 {
			checkSteps(t, l, w, p)
		}
	}
}

// checkSteps measures the steps of colour between low and medium pixels over light and dark maps; p is w at scale 1.
func checkSteps(t *testing.T, l *Layer, w window, p heatPicture) {
	sharp := pictureOf(l, w.scaled(2))
	for _, ground := range mapGrounds {
		one, largest, n := p.step(0, 1, ground)
		two, _, _ := sharp.step(0, 1, ground)
		t.Logf("zoom %d, on %s: a mean step of %.0f, the largest of %.0f, between %d pixels; %.0f at scale 2", w.zoom, colormap.Hex(ground), one, largest, n, two)
		if one > mostStep || two >= one {
			t.Errorf("zoom %d, on %s: a mean step of %.0f at scale 1 and %.0f at scale 2, want at most %v, and less", w.zoom, colormap.Hex(ground), one, two, mostStep)
		}
	}
}

// checkPairs draws two lakes of different classes 6 to 30 pixels apart.
func checkPairs(t *testing.T) {
	for z := maptile.Zoom(5); z <= 9; z++ {
		for _, values := range [][2]float64{{2, 20}, {2, 120}, {20, 120}} {
			least, at := 100.0, 6
			for apart := 6; apart <= 30; apart++ {
				l, w := pair(z, float64(apart), values[0], values[1])
				p := pictureOf(l, w)
				pixels, own := 0, 0
				for i := range l.sites {
					s := &l.sites[i]
					x, y := p.at(s)
					class := uint8(l.logs.classes.of(l.value(i).Chlorophyll)) + 1
					p.disc(x, y, s.size(z).discRadius()/2, func(c uint8) {
						pixels++
						if c == class {
							own++
						}
					})
				}
				if part := percent(own, pixels); part < least {
					least, at = part, apart
				}
			}
			t.Logf("zoom %d, lakes of %v µg/l: at least %.0f %% of the pixels within half of their discs are of their own class (%d pixels apart)", z, values, least, at)
			if least < leastOwn {
				t.Errorf("zoom %d, lakes of %v µg/l, %d pixels apart: %.0f %% of the pixels are of their own class, want at least %v", z, values, at, least, leastOwn)
			}
		}
	}
}
