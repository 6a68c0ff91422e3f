package render

import "math"

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

// fade replaces the entries of a row that lines cover by those of a table.
func (l hatchLines) fade(row []uint8, table *[256]uint8) {
	// From the first line, which may begin west of the row, to the last.
	for from := -(l.at & l.mask); from < len(row); from += l.mask + 1 {
		line := row[max(from, 0):max(min(from+l.width, len(row)), 0)]
		for i, e := range line {
			line[i] = table[e]
		}
	}
}

// faintPart is the part of its opacity that a field of probabilities has within the lines of its hatching where it is most opaque.
const faintPart = 0.3

// hatches are the hatching of a field of probabilities: the entries within its lines, by entry elsewhere.
type hatches struct{ full, faded [256]uint8 }

func newHatches(full, faded *shading) *hatches {
	return &hatches{faintOf(full), faintOf(faded)}
}

// faintOf returns for the entries of s those of the same colour within lines. The fainter an entry, the less it changes: a border where a field ends
// is not hatched, so that lines do not hide its shape.
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

// fade hatches a row of the field of w.
func (h *hatches) fade(row []uint8, w window, r int) {
	table := &h.full
	if w.zoom >= fadeZoom {
		table = &h.faded
	}
	chanceHatching.linesOf(w, r).fade(row, table)
}
