package render

import (
	"math"
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
)

// Waters whose outline is known and large enough are part of the field as their outlines, with a soft edge.
const (
	// glowing is the width or the height in pixels of scale 1 from which on an outline is drawn: smaller ones look like discs.
	glowing = 6
	// glowSigma is the sigma in pixels of scale 1 of the Gaussian that softens an outline, and glowGain the weight of its middle: so large that a water of
	// six pixels looks no smaller than a pond that is alone.
	glowSigma = 1.5
	glowGain  = 2
	// glowRadius is where that Gaussian ends, in pixels of scale 1, and glowReach the smallest distance in units at which it changes no pixel.
	glowRadius = 3
	glowReach  = (glowRadius + 1) * subUnits
)

// glows reports whether s is drawn as its outline in the field.
func (s *site) glows(z maptile.Zoom) bool {
	return s.shore != nil && s.shore.side()>>(MaxZoom-z) >= glowing*subUnits
}

// glowWeights are the weights of a row of pixels by scale - 1, whose sum is 1.
type glowWeights [2][]float32

func newGlowWeights() (g glowWeights) {
	for i := range g {
		scale := float64(i + 1)
		sum, weights := 0.0, []float64{}
		for d := -glowRadius * scale; d <= glowRadius*scale; d++ {
			weights = append(weights, math.Exp(-d*d/(2*glowSigma*glowSigma*scale*scale)))
			sum += weights[len(weights)-1]
		}
		for _, w := range weights {
			g[i] = append(g[i], float32(w/sum))
		}
	}
	return g
}

// A glow is an outline in a window: weights of its lake from 0 to 1, row by row.
type glow struct {
	left, top, width, height int
	first                    int // of its weights in glows.weights
	log, gain                float32
	class                    int
}

// glows are the outlines of a window. They are reused.
type glows struct {
	list    []glow
	weights []float32 // of all, each row padded for vectors
	rows    []float32 // the outline, softened along rows
	row     []float32 // one row of the outline
	ring    []orb.Point
	mask    mask
}

// add adds the outline of m, which has a shore. Its pixels do not depend on where the window begins.
func (g *glows) add(m *mark, w window, taps []float32, class int) {
	margin := (glowRadius + 1) * w.scale
	wide, at := w.widened(glowRadius+1), *m
	at.x, at.y = m.x+glowReach, m.y+glowReach
	if !g.mask.reset(wide, m.shore.rectangle(&at, wide)) {
		return
	}
	m.shore.draw(&g.mask, &at, wide, &g.ring)
	g.mask.count()
	radius := len(taps) / 2
	// The softened outline extends by the radius beyond the mask on all sides.
	width, height := g.mask.words*wordPixels, g.mask.height
	left, top := g.mask.left-margin-radius, g.mask.top-margin-radius
	from, to := max(left, 0), min(left+width+2*radius, w.width)
	first, end := max(top, 0), min(top+height+2*radius, w.height)
	if from >= to || first >= end {
		return
	}
	s := glow{left: from, top: first, width: to - from, height: end - first, first: len(g.weights), log: m.log(), gain: glowGain, class: class}
	if m.old {
		s.gain /= freshShares
	}
	stride := strideOf(s.width)
	// Softened along rows: row i is that of the mask at i - 2*radius, so that those above and below are empty.
	g.rows = zeroed(g.rows, (height+4*radius)*stride)
	for i := range height {
		if g.take(i, 2*radius) {
			addRows(g.rows[(i+2*radius)*stride:][:s.width], g.row[from-left:], 1, taps)
		}
	}
	for r := first; r < end; r++ {
		at := len(g.weights)
		g.weights = append(g.weights, make([]float32, stride)...)
		addRows(g.weights[at:][:s.width], g.rows[(r-top)*stride:], stride, taps)
	}
	g.list = append(g.list, s)
}

// take makes g.row row i of the mask with some empty pixels before and after it, and reports whether it has any water.
func (g *glows) take(i, margin int) bool {
	m := &g.mask
	stride := m.words + 2
	blocks := m.blocks[(i+m.edge)*stride+1:][:m.words]
	wet := uint8(0)
	for _, b := range blocks {
		wet |= b
	}
	if wet&blockWater == 0 {
		return false
	}
	g.row = zeroed(g.row, m.words*wordPixels+2*margin+lanes)
	for k, c := range m.cover[((i+m.edge)*stride+1)*wordPixels:][:m.words*wordPixels] {
		g.row[margin+k] = float32(c) / whole
	}
	return true
}

// addTo adds the rows from first up to end to sums that begin there.
func (g *glows) addTo(s *sums, first, end int) {
	for i := range g.list {
		o := &g.list[i]
		stride := strideOf(o.width)
		for r := max(o.top, first); r < min(o.top+o.height, end); r++ {
			src := g.weights[o.first+(r-o.top)*stride:]
			at := (r-first)*s.stride + o.left
			add := func(weights, logs []float32) {
				addRows(weights[at:][:o.width], src, o.width, []float32{o.gain})
				addRows(logs[at:][:o.width], src, o.width, []float32{o.gain * o.log})
			}
			add(s.all.weights, s.all.logs)
			if o.class > 0 {
				add(s.upper[o.class-1].weights, s.upper[o.class-1].logs)
			}
		}
	}
}

// touch reports whether any outline reaches a row within [first, end).
func (g *glows) touch(first, end int) bool {
	return slices.ContainsFunc(g.list, func(o glow) bool { return o.top < end && o.top+o.height > first })
}

// reset removes all outlines.
func (g *glows) reset() { g.list, g.weights = g.list[:0], g.weights[:0] }
