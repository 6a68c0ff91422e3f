package render

import (
	"encoding/binary"
	"math"
)

// A patch is the cells of a grid that reach a window, row by row. It is cut out of a grid made in advance, or made from the
// lakes in reach: both give the same bits.
type patch struct {
	// left and top are the first column and row, in cells from the window's north-west corner.
	left, top     int64
	width, height int
	all           cells               // of all lakes
	upper         [upperClasses]cells // of those of each upper class
}

// cells are sums of the lakes in each cell of a patch.
type cells struct {
	counts, logs []float32 // as in a block
	shares       []uint32  // as in exact, of lakes that are added one by one
	sums         []float64 // likewise
	used         []span    // by row, the columns from the first to the last with a lake; the others are undefined
	filled       bool      // whether any row has a lake
}

// reset makes c empty, with that many rows of cells.
func (c *cells) reset(width, height int) {
	if n := width * height; cap(c.counts) < n {
		c.counts, c.logs = make([]float32, n), make([]float32, n)
	}
	c.counts, c.logs = c.counts[:cap(c.counts)], c.logs[:cap(c.logs)]
	if cap(c.used) < height {
		c.used = make([]span, height)
	}
	c.used = c.used[:height]
	clear(c.used)
	c.filled = false
}

// filled reports whether p has a lake.
func (p *patch) filled() bool { return p.all.filled }

// empty removes all lakes from p.
func (p *patch) empty() {
	p.all.filled = false
	for k := range p.upper {
		p.upper[k].filled = false
	}
}

// reset makes p the empty patch of the cells less than reach from the centre of a pixel of w.
func (p *patch) reset(w window, reach int64) {
	var right, bottom int64
	p.left, right = centresAround(w, w.width, reach)
	p.top, bottom = centresAround(w, w.height, reach)
	p.width, p.height = int(right-p.left), int(bottom-p.top)
	p.all.reset(p.width, p.height)
	for k := range p.upper {
		p.upper[k].reset(p.width, p.height)
	}
}

// add adds a lake of that class at x, y in units from the window's north-west corner.
func (p *patch) add(x, y int64, v value, class int) {
	left, columns := sharedAt(x)
	top, rows := sharedAt(y)
	for j, row := range rows {
		if r := top + j - int(p.top); row != 0 && uint(r) < uint(p.height) {
			p.addRow(&p.all, r, row*v.shares(), left-int(p.left), columns, v.log)
			if class > 0 {
				p.addRow(&p.upper[class-1], r, row*v.shares(), left-int(p.left), columns, v.log)
			}
		}
	}
}

// addRow adds the share of a lake in row r to three cells of c, the first of which is column first.
func (p *patch) addRow(c *cells, r int, part uint32, first int, columns *[3]uint32, log float32) {
	if len(c.shares) < len(c.counts) {
		c.shares, c.sums = make([]uint32, len(c.counts)), make([]float64, len(c.counts))
	}
	from, to := r*p.width, (r+1)*p.width
	shares, sums, u := c.shares[from:to], c.sums[from:to], &c.used[r]
	for i, column := range columns {
		at := first + i
		if column == 0 || uint(at) >= uint(len(shares)) {
			continue
		}
		if at < u.from || at >= u.to {
			*u = u.extended(shares, sums, at, at+1)
			c.filled = true
		}
		n := part * column
		shares[at] += n
		sums[at] += float64(n) * float64(log)
	}
}

// finish converts the sums of the lakes that were added.
func (p *patch) finish() {
	p.all.finish(p.width)
	for k := range p.upper {
		p.upper[k].finish(p.width)
	}
}

func (c *cells) finish(width int) {
	for r, used := range c.used {
		if used.any() {
			from, to := r*width+used.from, r*width+used.to
			toLakes(c.counts[from:to], c.logs[from:to], c.shares[from:], c.sums[from:])
		}
	}
}

// cut adds the cells of g.
func (p *patch) cut(g *grid, w window) {
	p.cutCells(&p.all, &g.all, w)
	for k := range p.upper {
		p.cutCells(&p.upper[k], &g.upper[k], w)
	}
}

func (p *patch) cutCells(c *cells, b *blocks, w window) {
	column := w.left>>subBits + p.left
	for r := range p.height {
		row := w.top>>subBits + p.top + int64(r)
		counts, logs := p.row(c, r)
		if row >= -1 && row <= int64(b.side) {
			c.used[r] = b.row(counts, logs, int(row), int(column))
		}
		c.filled = c.filled || c.used[r].any()
	}
}

// centresAround returns the range of cells whose centres are less than reach from the centre of any of n pixels of one of w's axes.
func centresAround(w window, n int, reach int64) (from, to int64) {
	from, _ = centres(w.firstCentre(), reach, subUnits, subUnits/2)
	_, to = centres(w.lastCentre(n), reach, subUnits, subUnits/2)
	return from, to
}

// row returns row r of c.
func (p *patch) row(c *cells, r int) (counts, logs []float32) {
	at := r * p.width
	return c.counts[at : at+p.width], c.logs[at : at+p.width]
}

// appendTo appends the bytes of all cells with a lake that are hashed for a fingerprint.
func (p *patch) appendTo(b []byte) []byte {
	b = p.appendCells(b, &p.all)
	for k := range p.upper {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(b))) // where the others begin
		b = p.appendCells(b, &p.upper[k])
	}
	return b
}

func (p *patch) appendCells(b []byte, c *cells) []byte {
	if !c.filled {
		return b
	}
	for r, used := range c.used {
		counts, logs := p.row(c, r)
		for i := used.from; i < used.to; i++ {
			if n := counts[i]; n != 0 {
				b = binary.LittleEndian.AppendUint32(b, uint32(r*p.width+i))
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(n))
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(logs[i]))
			}
		}
	}
	return b
}
