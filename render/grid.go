package render

import (
	"encoding/binary"
	"math"

	"github.com/paulmach/orb/maptile"
)

// A grid is lakes binned by the pixels of one zoom at scale 1, the whole world's and one row beyond each pole's clip, row
// by row. Each lake is shared among the four pixels whose centres it lies between, the nearer ones having the larger
// shares.
type grid struct {
	side   int       // of the world in pixels
	counts []float32 // of lakes
	logs   []float32 // sums of their logarithms
	small  place     // like one of the lakes, which all reach as far
}

// binnedAt returns the lakes of x with a value in a grid of zoom z, and those whose water is wider than a blob as they are.
func (x *index) binnedAt(z maptile.Zoom) index {
	side := TileSize << z
	g := &grid{side: side, counts: make([]float32, (side+2)*side), logs: make([]float32, (side+2)*side)}
	g.small.ground = math.MinInt8
	binned := index{widest: math.MinInt8, grid: g}
	shift := uint(MaxZoom - z)
	for i, p := range x.places {
		switch {
		case !p.chlorophyll.Valid():
		case p.ground.at(z) > baseSize(z):
			binned.codes, binned.places = append(binned.codes, x.codes[i]), append(binned.places, p)
			binned.widest = max(binned.widest, p.ground)
		default:
			g.add(int64(p.x>>shift), int64(p.y>>shift), p.log)
		}
	}
	return binned
}

// add adds a lake at a place in units.
func (g *grid) add(x, y int64, log float32) {
	left, right := between(x)
	above, below := between(y)
	for _, row := range [...]share{above, below} {
		r := (row.pixel + 1) * g.side
		for _, column := range [...]share{left, right} {
			i := r + column.pixel&(g.side-1)
			n := row.part * column.part
			g.counts[i] += n
			g.logs[i] += float32(n * log)
		}
	}
}

// A share is the part of a lake that a row or a column of pixels has.
type share struct {
	pixel int
	part  float32
}

// between returns the pixels of scale 1 whose centres a place in units lies between, and their shares. The first may
// be -1, the second one past the last.
func between(at int64) (before, after share) {
	at -= subUnits / 2
	pixel := at >> subBits
	part := float32(at-pixel<<subBits) / subUnits
	return share{int(pixel), 1 - part}, share{int(pixel) + 1, part}
}

// A patch is the part of a grid that reaches a window, row by row.
type patch struct {
	// left and top are the first column and row, in pixels of scale 1 from the window's north-west corner.
	left, top     int64
	width, height int
	counts, logs  []float32
	used          []bool // rows that hold a lake
	any           bool   // whether any row does
}

// cut makes p the cells of g less than reach from a pixel's centre of w, or the empty patch if no lake is among them.
func (p *patch) cut(g *grid, w window, reach int64) {
	var right, bottom int64
	p.left, right = centresAround(w, w.width, reach)
	p.top, bottom = centresAround(w, w.height, reach)
	p.width, p.height = int(right-p.left), int(bottom-p.top)
	n := p.width * p.height
	if cap(p.counts) < n {
		p.counts, p.logs = make([]float32, n), make([]float32, n)
	}
	p.counts, p.logs, p.used = p.counts[:n], p.logs[:n], p.used[:0]
	column := w.left>>subBits + p.left
	for r := range p.height {
		row := w.top>>subBits + p.top + int64(r)
		used := row >= -1 && row <= int64(g.side) && p.copy(r, g, int(row), int(column))
		p.used = append(p.used, used)
		p.any = p.any || used
	}
}

// centresAround returns the range of pixels of scale 1 whose centres are less than reach from the centre of any of n
// pixels of one of w's axes.
func centresAround(w window, n int, reach int64) (from, to int64) {
	from, _ = centres(w.firstCentre(), reach, subUnits, subUnits/2)
	_, to = centres(w.lastCentre(n), reach, subUnits, subUnits/2)
	return from, to
}

// copy copies cells of a row of g, from a column on, to row r, and reports whether any holds a lake. Columns are
// periodic.
func (p *patch) copy(r int, g *grid, row, column int) (any bool) {
	counts, logs := p.row(p.counts, r), p.row(p.logs, r)
	for i := 0; i < p.width; {
		at := (row+1)*g.side + (column+i)&(g.side-1)
		n := copy(counts[i:], g.counts[at:(row+2)*g.side])
		copy(logs[i:], g.logs[at:][:n])
		i += n
	}
	for _, c := range counts {
		any = any || c != 0
	}
	return any
}

// row returns the cells of row r of counts or logs.
func (p *patch) row(of []float32, r int) []float32 { return of[r*p.width:][:p.width] }

// appendTraces appends the bytes of all cells with a lake to b.
func (p *patch) appendTraces(b []byte) []byte {
	for r, used := range p.used {
		if !used {
			continue
		}
		logs := p.row(p.logs, r)
		for i, c := range p.row(p.counts, r) {
			if c != 0 {
				b = binary.LittleEndian.AppendUint32(b, uint32(r*p.width+i))
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(c))
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(logs[i]))
			}
		}
	}
	return b
}
