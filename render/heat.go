package render

import (
	"math"

	"github.com/paulmach/orb/maptile"
)

// heat paints the value field.
type heat struct{ kernels *kernels }

func newHeat() *heat { return &heat{newKernels()} }

func (t *heat) reach(s *site, w window) int64 { return t.reachBelow(s, w.zoom) }

func (t *heat) reachBelow(s *site, z maptile.Zoom) int64 { return t.kernels.reach(s.blob.at(z)) }

func (t *heat) widest(g *geometry, z maptile.Zoom) int64 { return t.kernels.reach(g.blob.at(z)) }

func (t *heat) appendMarks(marks []mark, l *Layer, hits []hit, w window) []mark {
	for _, h := range hits {
		marks = append(marks, mark{x: h.x, y: h.y, value: math.Float32bits(h.log), size: l.sites[h.site].blob.at(w.zoom)})
	}
	return marks
}

func (t *heat) paint(dst []uint8, s *scene, w window, sc *scale, m *memory) {
	f := &m.field
	f.reset(s, w, t.kernels)
	top, p := floorDiv(w.top, w.step()), patternAt(w.zoom)
	for from := 0; from < w.height; from += bandRows {
		to := min(from+bandRows, w.height)
		first, end := f.reached(from, to)
		clear(dst[from*w.width : first*w.width])
		f.sum(first, end)
		for r := first; r < end; r++ {
			f.sums.shade(dst[r*w.width:][:w.width], r-first, &sc.shades, p[(top+int64(r))&1])
		}
		clear(dst[end*w.width : to*w.width])
	}
}
