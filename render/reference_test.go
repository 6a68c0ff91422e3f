package render

import (
	"image/color"
	"math"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
)

// A reference is a window drawn without tables, levels and palette: the formula of the package comment in 64 bits, pixel by
// pixel.
type reference struct {
	values    []float64 // in µg/l; 0 where nothing is in reach
	opacities []float64
	unsure    []bool // by pixel: whether rounding may decide between two classes
}

// referenceOf sums the kernels of every lake of l at the pixels of w. It shares with the renderer only the positions and
// sizes of lakes.
func referenceOf(l *Layer, w window) reference {
	n := w.width * w.height
	var weights, logs [upperClasses + 1][]float64 // by class
	for class := range weights {
		weights[class], logs[class] = make([]float64, n), make([]float64, n)
	}
	world := int64(1) << (tileBits + subBits + w.zoom)
	cored := coredSites(l, w.zoom)
	for i := range l.sites {
		p, value := &l.sites[i], l.value(i)
		if !value.Valid() {
			continue
		}
		size := p.size(w.zoom, l.isHigh(value))
		sigma := math.Exp2(float64(size) / 4)
		if size == 7 && w.zoom >= 9 { // a small lake that is alone
			sigma = 3.2
		}
		c, class := math.Log(min(max(value.Float(), 0.5), 100)), l.logs.classes.of(value.Chlorophyll)
		weight, logs := weights[class], logs[class]
		gain := 1.0
		if value.old {
			gain = 0.25
		}
		y := int64(p.y>>(MaxZoom-w.zoom)) - w.top
		// The kernel ends before this distance.
		far := int64(5 * max(sigma, theCoreSigma) * subUnits)
		if y < -far || y > int64(w.height)*w.step()+far {
			continue
		}
		for turn := int64(-1); turn <= 1; turn++ {
			x := int64(p.x>>(MaxZoom-w.zoom)) - w.left + turn*world
			if x < -far || x > int64(w.width)*w.step()+far {
				continue
			}
			wide := [2]axis{axisOf(x, w.width, w, sigma), axisOf(y, w.height, w, sigma)}
			small := [2]axis{axisOf(x, w.width, w, theCoreSigma), axisOf(y, w.height, w, theCoreSigma)}
			for row := min(wide[1].from, small[1].from); row < max(wide[1].end, small[1].end); row++ {
				for column := min(wide[0].from, small[0].from); column < max(wide[0].end, small[0].end); column++ {
					g := gain*wide[0].at(column)*wide[1].at(row) + cored[i]*small[0].at(column)*small[1].at(row)
					at := row*w.width + column
					weight[at] += g
					logs[at] += g * c
				}
			}
		}
	}
	r := reference{values: make([]float64, n), opacities: make([]float64, n), unsure: make([]bool, n)}
	part := 1.0
	if w.zoom >= 10 {
		part = float64(12-w.zoom) / 2
	}
	for i := range n {
		class, left, unsure := topClass([3]float64{weights[0][i], weights[1][i], weights[2][i]})
		if weights[class][i] > 0 {
			r.values[i] = math.Exp(logs[class][i] / weights[class][i])
		}
		r.unsure[i] = unsure
		r.opacities[i] = part * 0.86 * min(1, (1-math.Exp(-4*left))/0.95)
	}
	return r
}

// theCoreSigma is the sigma of a core, in pixels.
const theCoreSigma = 0.6

// topClass returns the class on top and its weight, and whether a change of a weight by six per cent would change the class: distances are rounded
// to a sixteenth of a pixel.
func topClass(weights [3]float64) (class int, left float64, unsure bool) {
	low, medium, high := weights[0], weights[1], weights[2]
	if medium+high == 0 {
		return 0, low, false
	}
	alone := medium
	medium = max(medium-max(min(0.85*low, 0.55), low-5.45), 0)
	high = max(high-0.03*(low+alone), 0)
	below := func(weight, rim float64) float64 { return math.Pow(max(1-weight/rim, 0), 2) }
	seen := [3]float64{min(low, 0.75) * below(medium, 0.14) * below(high, 0.25), min(medium, 0.75) * below(high, 0.25), high}
	if low > 0 {
		seen[0] *= max(1-5*min(alone, 0.55)/low, 0.28)
	}
	if alone > 0 {
		seen[1] *= math.Pow(max(medium/alone, 0.9), 2)
	}
	for c, s := range seen {
		if s >= seen[class] {
			class = c
		}
	}
	for c, s := range seen {
		unsure = unsure || c != class && s > 0.7*seen[class]
	}
	second := high
	if class == 2 {
		second = max(seen[0], seen[1])
	}
	if second > 0 {
		seen[class] *= max(1-second/seen[class], 0.3)
	}
	return class, seen[class], unsure
}

// coredSites returns what the sites with a core weigh more.
func coredSites(l *Layer, z maptile.Zoom) map[int]float64 {
	cored := map[int]float64{}
	if z >= 10 {
		return cored
	}
	cell := coreCellAt(z)
	add := func(site int, gain float32, _ *value) { cored[site] = float64(gain) }
	for i := range l.sites {
		cell.add(l, i, add)
	}
	cell.finish(add)
	return cored
}

// An axis is a Gaussian along one axis of a window, at the pixels from up to end.
type axis struct {
	from, end int
	values    []float64
}

// axisOf returns the Gaussian around a position in units, lowered by a ten-thousandth so that it has no edge.
func axisOf(place int64, pixels int, w window, sigma float64) axis {
	a := axis{from: pixels}
	for i := range pixels {
		d := float64(int64(i)*w.step()+w.firstCentre()-place) / subUnits
		if v := (math.Exp(-d*d/(2*sigma*sigma)) - 1e-4) / (1 - 1e-4); v > 0 {
			a.from = min(a.from, i)
			a.end = i + 1
			a.values = append(a.values, v)
		}
	}
	return a
}

func (a axis) at(i int) float64 {
	if i < a.from || i >= a.end {
		return 0
	}
	return a.values[i-a.from]
}

// A spectrum gives the sRGB colour of a value in µg/l.
type spectrum func(float64) [3]float64

// stepped has the colours of m, as in the API and the legend.
func stepped(m *colormap.Map) spectrum {
	return func(v float64) [3]float64 { return channels(m.Color(v)) }
}

// smooth has the colours of m without steps within a class: each colour is that of the middle of its step, and is
// interpolated between two middles.
func smooth(m *colormap.Map) spectrum {
	table := m.Table()
	var class [colormap.Steps]int
	edges := [colormap.Steps + 1]float64{0: math.Log(m.Min), colormap.Steps: math.Log(m.Max)}
	for i := range table {
		class[i] = classOf(m, i)
		if i > 0 {
			edges[i] = math.Log(m.Threshold(i))
		}
	}
	return func(v float64) [3]float64 {
		i := m.Index(v)
		t := (math.Log(v)-edges[i])/(edges[i+1]-edges[i]) - 0.5
		next := i + 1
		if t < 0 {
			next, t = i-1, -t
		}
		own := channels(table[i])
		if next < 0 || next == colormap.Steps || class[next] != class[i] {
			return own
		}
		t = min(t, 0.5)
		for j, c := range channels(table[next]) {
			own[j] += t * (c - own[j])
		}
		return own
	}
}

// classOf returns which class of m the colour i belongs to.
func classOf(m *colormap.Map, i int) int {
	for class, c := range m.Legend().Classes {
		if i -= len(c.Colors); i < 0 {
			return class
		}
	}
	panic("a colour that belongs to no class")
}

// channels returns the red, green and blue of c, from 0 to 255.
func channels(c color.NRGBA) [3]float64 { return [3]float64{float64(c.R), float64(c.G), float64(c.B)} }

// over draws a colour with an opacity over ground.
func over(c [3]float64, opacity float64, ground [3]float64) [3]float64 {
	for i := range c {
		c[i] = c[i]*opacity + ground[i]*(1-opacity)
	}
	return c
}
