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
	all           cells // of all lakes
	high          cells // of the lakes of the highest class, only counts
}

// cells are sums of the lakes in each cell of a patch.
type cells struct {
	counts  []uint32  // as in a block
	logs    []float64 // likewise; nil if there are only counts
	counted bool      // whether there are only counts
	used    []bool    // rows with a lake; the others are undefined
	filled  bool      // whether any row has a lake
}

// reset makes c empty, with that many rows of cells.
func (c *cells) reset(width, height int) {
	if n := width * height; cap(c.counts) < n {
		c.counts = make([]uint32, n)
		if !c.counted {
			c.logs = make([]float64, n)
		}
	}
	c.counts, c.logs = c.counts[:cap(c.counts)], c.logs[:cap(c.logs)]
	if cap(c.used) < height {
		c.used = make([]bool, height)
	}
	c.used = c.used[:height]
	clear(c.used)
	c.filled = false
}

// filled reports whether p has a lake.
func (p *patch) filled() bool { return p.all.filled }

// empty removes all lakes from p.
func (p *patch) empty() {
	p.all.filled, p.high.filled = false, false
}

// reset makes p the empty patch of the cells less than reach from the centre of a pixel of w.
func (p *patch) reset(w window, reach int64) {
	var right, bottom int64
	p.left, right = centresAround(w, w.width, reach)
	p.top, bottom = centresAround(w, w.height, reach)
	p.width, p.height = int(right-p.left), int(bottom-p.top)
	p.all.reset(p.width, p.height)
	p.high.counted = true
	p.high.reset(p.width, p.height)
}

// add adds a lake, of the highest class or not, at x, y in units from the window's north-west corner.
func (p *patch) add(x, y int64, v value, high bool) {
	left, right := between(x)
	above, below := between(y)
	for _, row := range [...]share{above, below} {
		p.addRow(&p.all, row, left, right, v)
		if high {
			p.addRow(&p.high, row, left, right, v)
		}
	}
}

// addRow adds the share of a lake in a row to two cells of c.
func (p *patch) addRow(c *cells, row, left, right share, v value) {
	r := row.pixel - int(p.top)
	if r < 0 || r >= p.height || row.part == 0 {
		return
	}
	counts, logs := p.row(c, r)
	if !c.used[r] {
		clear(counts)
		clear(logs)
	}
	for _, column := range [...]share{left, right} {
		if at := column.pixel - int(p.left); uint(at) < uint(len(counts)) && column.part != 0 {
			n := row.part * column.part * v.shares()
			counts[at] += n
			if !c.counted {
				logs[at] += float64(n) * float64(v.log)
			}
			c.used[r], c.filled = true, true
		}
	}
}

// cut adds the cells of g.
func (p *patch) cut(g *grid, w window) {
	p.cutCells(&p.all, &g.all, w)
	p.cutCells(&p.high, &g.high, w)
}

func (p *patch) cutCells(c *cells, b *blocks, w window) {
	column := w.left>>subBits + p.left
	for r := range p.height {
		row := w.top>>subBits + p.top + int64(r)
		counts, logs := p.row(c, r)
		c.used[r] = row >= -1 && row <= int64(b.side) && b.row(counts, logs, int(row), int(column))
		c.filled = c.filled || c.used[r]
	}
}

// centresAround returns the range of pixels of scale 1 whose centres are less than reach from the centre of any of n
// pixels of one of w's axes.
func centresAround(w window, n int, reach int64) (from, to int64) {
	from, _ = centres(w.firstCentre(), reach, subUnits, subUnits/2)
	_, to = centres(w.lastCentre(n), reach, subUnits, subUnits/2)
	return from, to
}

// row returns row r of c.
func (p *patch) row(c *cells, r int) (counts []uint32, logs []float64) {
	at := r * p.width
	if !c.counted {
		logs = c.logs[at : at+p.width]
	}
	return c.counts[at : at+p.width], logs
}

// appendTo appends the bytes of all cells with a lake that are hashed for a fingerprint.
func (p *patch) appendTo(b []byte) []byte {
	n := len(b)
	b = p.appendCells(b, &p.all)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(b)-n)) // where the others begin
	return p.appendCells(b, &p.high)
}

func (p *patch) appendCells(b []byte, c *cells) []byte {
	if !c.filled {
		return b
	}
	for r, used := range c.used {
		if !used {
			continue
		}
		counts, logs := p.row(c, r)
		for i, n := range counts {
			if n != 0 {
				b = binary.LittleEndian.AppendUint32(b, uint32(r*p.width+i))
				b = binary.LittleEndian.AppendUint32(b, n)
				if !c.counted {
					b = binary.LittleEndian.AppendUint64(b, math.Float64bits(logs[i]))
				}
			}
		}
	}
	return b
}
