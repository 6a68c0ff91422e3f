package render

import (
	"encoding/csv"
	"image/color"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
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
		p.disc(x, y, s.size(p.zoom, l.isHigh(v)).discRadius(p.zoom)*float64(p.scale), func(c uint8) {
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
	leastInk  = 0.5   // of two lakes less than two pixels apart, as a part of the opacities of one lake: of all classes on average
	mostFaint = 5.0   // of lakes that are seen, those with less than 35 % of opacity within a pixel, in per cent
	mostEdge  = 10.0  // by which the part of medium pixels differs on both sides of a line of the grid, in points; it was 40
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
	t.Run("twins", checkTwins)
	t.Run("faint", checkFaint)
	t.Run("squares", checkSquares)
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
					p.disc(x, y, s.size(z, l.isHigh(l.value(i))).discRadius(z)/2, func(c uint8) {
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

// ink returns the sum of the opacities of p in pixels of scale 1.
func (p *heatPicture) ink() (sum float64) {
	for _, c := range p.colors {
		sum += float64(c.A) / 0xff
	}
	return sum / float64(p.scale*p.scale)
}

// checkTwins draws two lakes of all classes less than two pixels apart. They must not look smaller than one lake.
func checkTwins(t *testing.T) {
	for z := maptile.Zoom(5); z <= 9; z++ {
		_, w := pair(z, 0, 2, 2)
		one := pictureOf(layerOf(testLake{chl: 2}), w)
		mean, least, n := 0.0, math.Inf(1), 0.0
		for _, values := range [][2]float64{{2, 2}, {2, 20}, {2, 120}, {20, 20}, {20, 120}, {120, 120}} {
			for apart := 0.1; apart < 2; apart += 0.3 {
				l, w := pair(z, apart, values[0], values[1])
				two := pictureOf(l, w)
				part := two.ink() / one.ink()
				mean, least, n = mean+part, min(least, part), n+1
			}
		}
		mean /= n
		t.Logf("zoom %d: two lakes less than two pixels apart have %.2f of the ink of one, %.0f pixels, and at least %.2f", z, mean, one.ink(), least)
		if mean < leastInk {
			t.Errorf("zoom %d: two lakes have %.2f of the ink of one and at least %.2f, want %v on average", z, mean, least, leastInk)
		}
	}
}

// europeanSites returns the bathing sites of Europe with made-up values, or lakes as dense where their places are absent.
func europeanSites(t *testing.T) []testLake {
	f, err := os.Open("../../shared/data/european_bathing_sites.csv")
	if err != nil {
		return madeUpSites(5000)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var lakes []testLake
	for _, r := range rows[1:] {
		lat, errLat := strconv.ParseFloat(r[2], 64)
		lon, errLon := strconv.ParseFloat(r[3], 64)
		if errLat == nil && errLon == nil && lon > -11 && lon < 32 && lat > 34 {
			lakes = append(lakes, testLake{lon: lon, lat: lat, chl: math.Round(100*min(math.Exp(math.Log(5)+rng.NormFloat64()), 1500)) / 100})
		}
	}
	return lakes
}

// checkFaint counts the lakes of Europe of which only a faint speck is seen. Those below a worse one in the same place are counted apart.
func checkFaint(t *testing.T) {
	lakes := europeanSites(t)
	l := layerOf(lakes...)
	for z := maptile.Zoom(4); z <= maptile.Zoom(testsize.Of(6, 7)); z++ {
		p := pictureOf(l, windowOver(boundOf(lakes, 0.5), z))
		faint, below := 0, 0
		for i := range l.sites {
			x, y := p.at(&l.sites[i])
			class, most := uint8(l.logs.classes.of(l.value(i).Chlorophyll))+1, uint8(0)
			for row := int(y) - 1; row <= int(y)+1; row++ {
				for column := int(x) - 1; column <= int(x)+1; column++ {
					if at := row*p.width + column; p.classes[at] == class {
						most = max(most, p.colors[at].A)
					}
				}
			}
			switch {
			case most == 0:
				below++
			case most < 0xff*35/100:
				faint++
			}
		}
		part := percent(faint, len(l.sites))
		t.Logf("zoom %d: of %d lakes %.1f %% are seen with less than 35 %% of opacity, and %.1f %% are below worse ones", z, len(l.sites), part, percent(below, len(l.sites)))
		if part > mostFaint {
			t.Errorf("zoom %d: %.1f %% of lakes are seen with less than 35 %% of opacity, want at most %v", z, part, mostFaint)
		}
	}
}

// checkSquares compares the medium pixels on both sides of the lines of a grid of 64 pixels where lakes are as dense on both.
func checkSquares(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	lakes := make([]testLake, testsize.Of(200_000, 1_000_000))
	for i := range lakes {
		lakes[i] = testLake{lon: 360*rng.Float64() - 180, lat: 140*rng.Float64() - 70, chl: math.Round(100*min(math.Exp(math.Log(5)+rng.NormFloat64()), 1500)) / 100}
	}
	l := layerOf(lakes...)
	for z := range maptile.Zoom(2) {
		side := TileSize << z
		p := pictureOf(l, window{zoom: z, scale: 1, width: side, height: side})
		medium := func(from int) float64 {
			n, all := 0, 0
			for _, c := range p.classes[from*side : (from+8)*side] {
				if c > 0 {
					all++
				}
				if c == 2 {
					n++
				}
			}
			return percent(n, all)
		}
		most := 0.0
		for row := side/2 - side/8; row <= side/2+side/8; row += 64 {
			most = max(most, math.Abs(medium(row-8)-medium(row)))
		}
		t.Logf("zoom %d: the part of medium pixels differs by at most %.1f points on both sides of a line", z, most)
		if most > mostEdge {
			t.Errorf("zoom %d: the part of medium pixels differs by %.1f points on both sides of a line, want at most %v", z, most, mostEdge)
		}
	}
}
