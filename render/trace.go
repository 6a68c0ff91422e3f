package render

import (
	"image/color"
	"math"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/render/palettepng"
)

// Traces are the faint grey waters of lakes without a value. A pixel shows the trace where it is more opaque than the field.
const (
	// traceLevels is the number of their opacities, which are at equal distances up to traceOpacity. It is half as opaque as a grey water.
	traceLevels  = 4
	traceOpacity = 0.32
	// traceGain is the number of times a disc is more opaque than its Gaussian where that is less than traceOpacity: the smallest ones would be specks.
	traceGain = 4
	// edgePart is the part of its lightness in per cent that the grey of an edge has.
	edgePart = 45
)

// edgeOpacities are those of the entries of all levels but the last one: a trace has a thin dark edge, like the ring of its marker, because its grey alone
// is not seen on a coloured map. The levels are not dithered, so that the edge is a line.
var edgeOpacities = [traceLevels - 1]float64{0.07, 0.2, 0.32}

// traceLimits are by the level of a trace less 1 the first entries of s that a trace does not cover.
func traceLimits(s *shading) (limits [traceLevels]uint8) {
	for i := range limits {
		level := 0
		for level < s.levels-1 && s.of(level+1) < traceOpacity*float64(i+1)/traceLevels {
			level++
		}
		limits[i] = s.entries[level][0]
	}
	return limits
}

// addTraces adds the entries of traces to p, from first on.
func addTraces(p *palettepng.Palette, first int) {
	edge, c := mixed(colormap.NoData(), color.NRGBA{}, edgePart, 100), colormap.NoData()
	for i, opacity := range edgeOpacities {
		edge.A = uint8(0xff * opacity)
		p[first+i] = edge
	}
	c.A = uint8(math.Round(0xff * traceOpacity))
	p[first+traceLevels-1] = c
}

// paintTraces draws the lakes of s without a value where the field is less opaque.
func (t *heat) paintTraces(dst []uint8, s *scene, w window, sc *scale, mem *memory) {
	most, first, limits := float32(traceLevels*parts), uint8(rangeAt(w.zoom).end), &sc.traces[0]
	if w.zoom >= fadeZoom {
		most, limits = most*float32(fades[w.zoom-fadeZoom]), &sc.traces[1]
	}
	// put draws the trace of a lake with that weight, in parts of a level.
	put := func(e *uint8, weight float32) {
		if level := uint8(min(weight, most)+parts/2) / parts; level > 0 {
			if entry := first + level - 1; *e < limits[level-1] || *e >= first && *e < entry {
				*e = entry
			}
		}
	}
	for i := range s.marks {
		m := &s.marks[i]
		if m.log() >= 0 {
			continue
		}
		if m.shore != nil && mem.mask.draw(m, w, &mem.ring) {
			mem.mask.count()
			for r, end := mem.mask.rows(w); r < end; r++ {
				left, cover := mem.mask.rowOf(w, r)
				row := dst[r*w.width+left:]
				for k, n := range cover {
					put(&row[k], most*float32(n)/whole)
				}
			}
		}
		var disc splat
		if !disc.clip(m.x, m.y, &w, t.kernels.of(m.size, w.zoom).whole) {
			continue
		}
		for j, r := range disc.row {
			row := dst[(disc.top+j)*w.width+disc.left:]
			for k, c := range disc.column {
				put(&row[k], traceGain*most*r*c)
			}
		}
	}
}

// patternOf returns what is added to the opacity of the pixels of a row of w. Its columns begin at an even one of the world.
func patternOf(w window, row int) [2]uint8 {
	return dither[(floorDiv(w.top, w.step())+int64(row))&1]
}

// A traceThinning selects the lakes without a value that leave a trace among those that are binned: where the world is not roomy, of those in one
// pixel the first in the order of the codes.
type traceThinning struct {
	some bool   // whether there is a last one
	last uint64 // the pixel of the last one
}

// keeps reports whether a site leaves a trace at zoom z. The sites are asked for in ascending order.
func (t *traceThinning) keeps(l *Layer, site int, z maptile.Zoom) bool {
	pixel := l.codes[site] >> (2 * (uint(MaxZoom-z) + subBits))
	if z < l.roomy && t.some && t.last == pixel {
		return false
	}
	t.some, t.last = true, pixel
	return true
}

// newTraced returns the sites that are binned at zoom z, have no value and leave a trace. It is not nil.
func newTraced(l *Layer, z maptile.Zoom) []int32 {
	traced, thinning := []int32{}, traceThinning{}
	for i := range l.sites {
		if v := l.value(i); !v.Valid() && l.sites[i].binned(z) && thinning.keeps(l, i, z) {
			traced = append(traced, int32(i))
		}
	}
	return traced
}
