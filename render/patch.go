package render

import (
	"encoding/binary"
	"math"
)

// A patch is the cells of a grid that reach a window, row by row. It is cut out of a grid made in advance, or made from the
// lakes in reach: both give the same bits.
type patch struct {
	// left and top are the first column and row, in pixels of scale 1 from the window's north-west corner.
	left, top     int64
	width, height int
	counts        []uint32  // as in a block
	logs          []float64 // likewise
	used          []bool    // rows with a lake; the others are undefined
	filled        bool      // whether any row has a lake
}

// reset makes p the empty patch of the cells less than reach from the centre of a pixel of w.
func (p *patch) reset(w window, reach int64) {
	var right, bottom int64
	p.left, right = centresAround(w, w.width, reach)
	p.top, bottom = centresAround(w, w.height, reach)
	p.width, p.height = int(right-p.left), int(bottom-p.top)
	if n := p.width * p.height; cap(p.counts) < n {
		p.counts, p.logs = make([]uint32, n), make([]float64, n)
	}
	p.counts, p.logs = p.counts[:cap(p.counts)], p.logs[:cap(p.logs)]
	if cap(p.used) < p.height {
		p.used = make([]bool, p.height)
	}
	p.used = p.used[:p.height]
	clear(p.used)
	p.filled = false
}

// add adds a lake at x, y in units from the window's north-west corner.
func (p *patch) add(x, y int64, log float32) {
	left, right := between(x)
	above, below := between(y)
	p.addRow(above, left, right, log)
	p.addRow(below, left, right, log)
}

// addRow adds the share of a lake in a row to two of its cells.
func (p *patch) addRow(row, left, right share, log float32) {
	r := row.pixel - int(p.top)
	if r < 0 || r >= p.height || row.part == 0 {
		return
	}
	counts, logs := p.row(r)
	if !p.used[r] {
		clear(counts)
		clear(logs)
	}
	for _, column := range [...]share{left, right} {
		if c := column.pixel - int(p.left); uint(c) < uint(len(counts)) && column.part != 0 {
			n := row.part * column.part
			counts[c] += n
			logs[c] += float64(n) * float64(log)
			p.used[r], p.filled = true, true
		}
	}
}

// cut adds the cells of g.
func (p *patch) cut(g *grid, w window) {
	column := w.left>>subBits + p.left
	for r := range p.height {
		row := w.top>>subBits + p.top + int64(r)
		counts, logs := p.row(r)
		p.used[r] = row >= -1 && row <= int64(g.side) && g.row(counts, logs, int(row), int(column))
		p.filled = p.filled || p.used[r]
	}
}

// centresAround returns the range of pixels of scale 1 whose centres are less than reach from the centre of any of n
// pixels of one of w's axes.
func centresAround(w window, n int, reach int64) (from, to int64) {
	from, _ = centres(w.firstCentre(), reach, subUnits, subUnits/2)
	_, to = centres(w.lastCentre(n), reach, subUnits, subUnits/2)
	return from, to
}

// row returns the cells of row r.
func (p *patch) row(r int) (counts []uint32, logs []float64) {
	at := r * p.width
	return p.counts[at : at+p.width], p.logs[at : at+p.width]
}

// appendTo appends the bytes of all cells with a lake that are hashed for a fingerprint.
func (p *patch) appendTo(b []byte) []byte {
	for r, used := range p.used {
		if !used {
			continue
		}
		counts, logs := p.row(r)
		for i, c := range counts {
			if c != 0 {
				b = binary.LittleEndian.AppendUint32(b, uint32(r*p.width+i))
				b = binary.LittleEndian.AppendUint32(b, c)
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(logs[i]))
			}
		}
	}
	return b
}
