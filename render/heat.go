package render

import (
	"math"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/render/palettepng"
)

// heat paints the value field.
type heat struct{ kernels *kernels }

func newHeat() *heat { return &heat{newKernels()} }

// index returns the lakes of l, binned at zooms where they are many.
func (t *heat) index(l *Layer, w window) *index { return l.forField(w.zoom) }

func (t *heat) reach(p *place, w window) int64 { return t.beneath(p, w.zoom) }

// beneath returns 0 for a lake without a value: it has no colour, and grey would read as one.
func (t *heat) beneath(p *place, z maptile.Zoom) int64 {
	if !p.chlorophyll.Valid() {
		return 0
	}
	return t.kernels.reach(p.ground.at(z))
}

func (t *heat) tiers(x *index) []tier {
	if x.field != nil {
		return x.field
	}
	return undivided
}

func (t *heat) widest(x *index, w window) int64 {
	return t.kernels.reach(x.widest.at(w.zoom))
}

func (t *heat) trace(h hit, w window) trace {
	return trace{x: h.x, y: h.y, value: math.Float32bits(h.log), size: h.ground.at(w.zoom)}
}

func (t *heat) palette(m *colormap.Map) *palettepng.Palette { return heatPalette(m) }

func (t *heat) paint(dst []uint8, s *scene, w window, sc *scale, b *brush) {
	f := &b.field
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
