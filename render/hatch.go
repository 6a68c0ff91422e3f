package render

import (
	"math"

	"github.com/paulmach/orb/maptile"
)

// A hatching is diagonal lines on the global grid of pixels, so that tiles join.
type hatching struct {
	rising bool // to the north-east; otherwise to the south-east
	// period is the distance of two lines along a row in pixels of scale 1, a power of two: so it divides the width of the world. width is that
	// of a line along a row, and run the number of rows after which a line is a pixel further.
	period, width, run int
}

// hatchLines are the lines of a hatching in one row of a window.
type hatchLines struct{ at, mask, width int }

// linesOf returns the lines in a row of w; none if h is nil.
func (h *hatching) linesOf(w window, row int) hatchLines {
	if h == nil {
		return hatchLines{}
	}
	x, y := floorDiv(w.left, w.step()), floorDiv(floorDiv(w.top, w.step())+int64(row), int64(h.run))
	if !h.rising {
		y = -y
	}
	return hatchLines{int(x + y), h.period*w.scale - 1, h.width * w.scale}
}

// has reports whether a line covers the pixel of a column.
func (l hatchLines) has(column int) bool { return (l.at+column)&l.mask < l.width }

// hatchedWidth is the width or the height in pixels of scale 1 from which on an outline is hatched where probabilities are shown: in a smaller
// one, as in a disc, a line or two would look like a sign.
const hatchedWidth = 24

// hatchable reports whether the water of m, at a zoom where it is drawn as its outline, has room for a hatching.
func (m *mark) hatchable(z maptile.Zoom) bool {
	return m.shore != nil && m.shore.side()>>(MaxZoom-z) >= hatchedWidth*subUnits
}

// faintPart is the part of its opacity that a field of probabilities has within the lines of its hatching where it is most opaque.
const faintPart = 0.3

// faintOf returns for the entries of s those of the same colour within the lines of a hatching. The fainter an entry, the less it changes, so that
// lines do not hide where a field ends.
func faintOf(s *shading) (table [256]uint8) {
	for level, entries := range s.entries {
		part := 1 - (1-faintPart)*float64(level)/float64(s.levels-1)
		faint := max(int(math.Round(s.levelOf(part*s.of(level+1)))), 1)
		for colour, entry := range entries {
			table[entry] = s.entries[faint-1][colour]
		}
	}
	return table
}

// paintHatches hatches the waters with large outlines in a field of probabilities. Above a fading field they are hatched themselves.
func (t *heat) paintHatches(dst []uint8, s *scene, w window, faint *[256]uint8, mem *memory) {
	for i := range s.marks {
		m := &s.marks[i]
		if !m.hatchable(w.zoom) || !mem.mask.draw(m, w, &mem.ring) {
			continue
		}
		mem.mask.count()
		for r, end := mem.mask.rows(w); r < end; r++ {
			left, cover := mem.mask.rowOf(w, r)
			lines, row := chanceHatching.linesOf(w, r), dst[r*w.width+left:]
			for k, n := range cover {
				if n == whole && lines.has(left+k) {
					row[k] = faint[row[k]]
				}
			}
		}
	}
}
