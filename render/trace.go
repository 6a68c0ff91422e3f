package render

import (
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/render/palettepng"
)

// Traces are the faint grey discs of lakes without a value, below everything else in the field.
const (
	// traceLevels is the number of their opacities, which are at equal distances up to traceOpacity. It is half as opaque as a grey water.
	traceLevels  = 4
	traceOpacity = 0.32
)

// addTraces adds the entries of traces to p, from first on.
func addTraces(p *palettepng.Palette, first int) {
	for i := range traceLevels {
		c := colormap.NoData()
		c.A = uint8(0xff * traceOpacity * float64(i+1) / traceLevels)
		p[first+i] = c
	}
}

// paintTraces draws the lakes of s without a value where the field is transparent.
func (t *heat) paintTraces(dst []uint8, s *scene, w window) {
	most, first := float32(traceLevels*parts), uint8(rangeAt(w.zoom).end)
	if w.zoom >= fadeZoom {
		most *= float32(fades[w.zoom-fadeZoom])
	}
	for i := range s.marks {
		m := &s.marks[i]
		if m.log() >= 0 {
			continue
		}
		var disc splat
		if !disc.clip(m.x, m.y, w, t.kernels.of(m.size).whole) {
			continue
		}
		for j, r := range disc.row {
			row := dst[(disc.top+j)*w.width+disc.left:]
			pattern := dither[(floorDiv(w.top, w.step())+int64(disc.top+j))&1]
			for k, c := range disc.column {
				level := uint8(most*r*c+float32(pattern[(disc.left+k)&1])) / parts
				if entry := first + level - 1; level > 0 && (row[k] == 0 || row[k] >= first && row[k] < entry) {
					row[k] = entry
				}
			}
		}
	}
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
