package render

import (
	"math"

	"github.com/paulmach/orb/maptile"
)

// heat paints the value field.
type heat struct {
	kernels *kernels
	logs    *logTable
	ties    *tieTable
	cores   *corePainter
	waters  *waters
}

func newHeat(logs *logTable) *heat {
	return &heat{newKernels(), logs, newTieTable(), newCorePainter(), newWaters()}
}

func (t *heat) reach(s *site, w window) int64 { return t.kernels.reach(s.blob.at(w.zoom)) }

// reachBelow includes waters: they are drawn at larger zooms.
func (t *heat) reachBelow(s *site, z maptile.Zoom) int64 {
	return max(t.kernels.reach(s.blob.at(z)), t.waters.reachBelow(s, z))
}

func (t *heat) widest(g *geometry, z maptile.Zoom) int64 {
	return max(t.kernels.reach(g.blob.at(z)), t.waters.widest(g, z))
}

func (t *heat) appendMarks(marks []mark, l *Layer, hits []hit, w window) []mark {
	for _, h := range hits {
		marks = append(marks, mark{x: h.x, y: h.y, value: math.Float32bits(h.log), size: l.sites[h.site].blob.at(w.zoom), old: h.old})
	}
	return marks
}

func (t *heat) paint(dst []uint8, s *scene, w window, sc *scale, m *memory) {
	if w.zoom < waterZoom {
		t.paintField(dst, s, w, sc, m)
	} else {
		clear(dst)
	}
	t.cores.paint(dst, s.cores, w, sc, m)
	m.stack.paint(dst, t.waters, s.waters, w, sc, m)
}

func (t *heat) paintField(dst []uint8, s *scene, w window, sc *scale, m *memory) {
	f, shades := &m.field, sc.shadesAt(w.zoom)
	f.reset(s, w, t)
	ties := t.tiesAt(w.zoom)
	top, p := floorDiv(w.top, w.step()), patternAt(w.zoom)
	for from := 0; from < w.height; from += bandRows {
		to := min(from+bandRows, w.height)
		first, end := f.reached(from, to)
		clear(dst[from*w.width : first*w.width])
		f.sum(first, end)
		for r := first; r < end; r++ {
			row := dst[r*w.width:][:w.width]
			f.sums.shade(row, r-first, shades, ties, p[(top+int64(r))&1])
			if sc.hatches != nil {
				sc.hatches.fade(row, w, r)
			}
		}
		clear(dst[end*w.width : to*w.width])
	}
}

const (
	// tieSigma is how much farther than the nearest lake, in sigma, a lake may be to count as equally near from tieZoom on. There single
	// discs are visible, and of two lakes that nearly coincide both would have half of one; so it is all of the worse one's.
	tieSigma = 0.6
	tieZoom  = 8
	// tieEdge is the distance in sigma up to which a lone lake is visible: there is no disc of a lake that is farther away.
	tieEdge = 3.4
)

// tiesAt returns the ties of a zoom, nil if there are none.
func (t *heat) tiesAt(z maptile.Zoom) *tieTable {
	if z < tieZoom {
		return nil
	}
	return t.ties
}

// newTieTable returns for each weight the ratio to it of the weight of a lake that is tieSigma farther away.
func newTieTable() *tieTable {
	weight := func(d float64) float64 {
		return math.Exp(-d*d/2) + narrowWeight*math.Exp(-d*d/2/(narrowSigma*narrowSigma))
	}
	t, d := new(tieTable), 0.0
	for i := len(t) - 1; i >= 0; i-- {
		// The distance at which a lake has the weight in the middle of the step.
		w := float64(math.Float32frombits(uint32(i+tieFirst)<<tieShift | 1<<tieShift/2))
		for d < tieEdge && weight(d) > w {
			d += 1e-3
		}
		t[i] = float32(weight(max(d, min(d+tieSigma, tieEdge))) / weight(d))
	}
	return t
}

// From fadeZoom on the field fades, and waters are drawn above it; from waterZoom on there are only waters.
const (
	fadeZoom  = 10
	waterZoom = 12
)

// fades are the parts of its opacity that the field has from fadeZoom on.
var fades = [waterZoom - fadeZoom]float64{2.0 / 3, 1.0 / 3}
