package render

import "limnomap/colormap"

// heat paints the value field.
type heat struct {
	kernels *kernels
	cover   *coverage
}

func newHeat() *heat { return &heat{newKernels(), newCoverage()} }

// reach returns 0 for a lake without a value: it has no colour, and grey would read as one.
func (t *heat) reach(p *place, w window) int64 {
	if !p.chlorophyll.Valid() {
		return 0
	}
	return t.kernels.reach(p.ground.at(w.zoom))
}

func (t *heat) tiers(*Layer) []tier { return undivided }

func (t *heat) widest(l *Layer, w window) int64 { return t.kernels.reach(l.widest.at(w.zoom)) }

func (t *heat) trace(h hit, w window) trace {
	return trace{x: h.x, y: h.y, value: h.log, size: h.ground.at(w.zoom)}
}

func (t *heat) palette(m *colormap.Map) *palette { return heatPalette(m) }

func (t *heat) paint(dst []uint8, hits []hit, w window, sc *scale, b *brush) {
	row, p := floorDiv(w.top, w.step()), &plain
	if w.zoom >= ditherZoom {
		p = &dither
	}
	for from := 0; from < w.height; from += bandRows {
		to := min(from+bandRows, w.height)
		b.sums.reset(w.width, to-from)
		b.sums.add(hits, w, from, to, t.kernels)
		sc.quantise(dst[from*w.width:to*w.width], &b.sums, row+int64(from), t.cover, p)
	}
}
