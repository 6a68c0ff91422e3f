package render

import (
	"math"

	"github.com/paulmach/orb/maptile"
)

// heat paints the value field.
type heat struct {
	kernels *kernels
	core    kernel
	glow    glowWeights
	logs    *logTable
	waters  *waters
}

func newHeat(logs *logTable) *heat {
	return &heat{newKernels(), newKernel(coreSigma * subUnits), newGlowWeights(), logs, newWaters()}
}

func (t *heat) reach(s *site, w window) int64 {
	disc := t.kernels.reach(s.size(w.zoom, true), w.zoom)
	if s.glows(w.zoom) {
		return max(s.reachOfShore(w, glowReach), disc)
	}
	return disc
}

// reachBelow includes waters: they are drawn at larger zooms.
func (t *heat) reachBelow(s *site, z maptile.Zoom) int64 {
	return max(t.kernels.reach(s.size(z, true), z), t.waters.reachBelow(s, z)+glowReach)
}

func (t *heat) widest(g *geometry, z maptile.Zoom) int64 {
	most := site{blob: g.blob, rooms: allLone}
	return max(t.kernels.reach(most.size(z, true), z), t.waters.widest(g, z)+glowReach)
}

// noValue is the logarithm in the marks of lakes without a value. All others are positive.
const noValue = -1

func (t *heat) appendMarks(marks []mark, l *Layer, hits []hit, w window) []mark {
	for _, h := range hits {
		s := &l.sites[h.site]
		m := mark{x: h.x, y: h.y, value: math.Float32bits(h.log), size: s.size(w.zoom, l.isHigh(h.value)), old: h.old}
		if s.glows(w.zoom) {
			m.shore = s.shore
		}
		if !h.Valid() {
			m.value = math.Float32bits(noValue)
		}
		marks = append(marks, m)
	}
	return marks
}

func (t *heat) paint(dst []uint8, s *scene, w window, sc *scale, m *memory) {
	if w.zoom < waterZoom {
		t.paintField(dst, s, w, sc, m)
	} else {
		clear(dst)
	}
	m.stack.paint(dst, t.waters, s.waters, w, sc.aboveField(w.zoom), m)
}

func (t *heat) paintField(dst []uint8, s *scene, w window, sc *scale, m *memory) {
	f, shades := &m.field, sc.shadesAt(w.zoom)
	f.reset(s, w, t)
	for from := 0; from < w.height; from += bandRows {
		to := min(from+bandRows, w.height)
		first, end := f.reached(from, to)
		clear(dst[from*w.width : first*w.width])
		f.sum(first, end)
		for r := first; r < end; r++ {
			row := dst[r*w.width:][:w.width]
			f.shade(row, r-first, shades, t.logs, patternOf(w, r))
		}
		clear(dst[end*w.width : to*w.width])
	}
	if sc.faint != nil && w.zoom < fadeZoom {
		t.paintHatches(dst, s, w, sc.faint, m)
	}
	t.paintTraces(dst, s, w, sc, m)
}

// From fadeZoom on waters are drawn above the field: their colours become opaque and their lines appear step by step, while the field around them fades; from
// waterZoom on there are only waters.
const (
	fadeZoom  = 10
	waterZoom = 12
)

// fades are the parts of its opacity that the field has from fadeZoom on. What is seen of it is a glow around the waters.
var fades = [waterZoom - fadeZoom]float64{1, 1.0 / 2}

// waterPart returns the part of the way from the field to opaque waters with lines at a zoom from fadeZoom to waterZoom.
func waterPart(z maptile.Zoom) float64 { return float64(z-fadeZoom+1) / (waterZoom - fadeZoom + 1) }
