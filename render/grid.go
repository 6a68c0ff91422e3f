package render

import "github.com/paulmach/orb/maptile"

// A grid is lakes binned by the pixels of one zoom at scale 1: those of the world, and of some rows north and south of it.
// Each lake is shared among the four pixels whose centres surround it; nearer ones have larger shares.
type grid struct {
	side   int      // of the world in pixels
	blocks []*block // row by row, with one row of blocks before the world and one after; nil without lakes
}

// blockSide is the width and height of a block in pixels: so small that the sea takes no memory.
const blockSide = 64

// A block is a square of cells, row by row.
type block struct {
	counts [blockSide * blockSide]uint32  // of lakes, in shares
	logs   [blockSide * blockSide]float64 // sums of shares times logarithms
}

// sharesPerLake is the number of shares of a lake. Counts are exact, and so are sums of 32-bit logarithms in 64 bits: a
// hundred thousand lakes of one value at one point have that value.
const sharesPerLake = subUnits * subUnits

// newGrid returns the grid for zoom z of the lakes of l with a value and a blob of the smallest size.
func newGrid(l *Layer, z maptile.Zoom) *grid {
	side := TileSize << z
	n := side / blockSide
	g := &grid{side: side, blocks: make([]*block, (n+2)*n)}
	shift := uint(MaxZoom - z)
	for i := range l.sites {
		s := &l.sites[i]
		if value := l.value(i); value.Valid() && s.blob.at(z) == baseSize(z) {
			g.add(int64(s.x>>shift), int64(s.y>>shift), value.log)
		}
	}
	return g
}

// at returns the block of a cell, and its index there. Columns are periodic; rows begin at -blockSide.
func (g *grid) at(row, column int) (b **block, cell int) {
	row, column = row+blockSide, column&(g.side-1)
	b = &g.blocks[row/blockSide*(g.side/blockSide)+column/blockSide]
	return b, row%blockSide*blockSide + column%blockSide
}

// add adds a lake at x, y in units.
func (g *grid) add(x, y int64, log float32) {
	left, right := between(x)
	above, below := between(y)
	for _, row := range [...]share{above, below} {
		for _, column := range [...]share{left, right} {
			n := row.part * column.part
			if n == 0 {
				continue
			}
			b, cell := g.at(row.pixel, column.pixel)
			if *b == nil {
				*b = new(block)
			}
			(*b).counts[cell] += n
			(*b).logs[cell] += float64(n) * float64(log)
		}
	}
}

// row copies the cells of a row from a column on, and reports whether any has a share of a lake.
func (g *grid) row(counts []uint32, logs []float64, row, column int) (filled bool) {
	for len(counts) > 0 {
		b, cell := g.at(row, column)
		n := min(blockSide-cell%blockSide, len(counts))
		if *b == nil {
			clear(counts[:n])
			clear(logs[:n])
		} else {
			copy(counts[:n], (*b).counts[cell:])
			copy(logs[:n], (*b).logs[cell:])
			for _, c := range counts[:n] {
				filled = filled || c != 0
			}
		}
		counts, logs, column = counts[n:], logs[n:], column+n
	}
	return filled
}

// A share is the part of a lake in a row or a column of pixels, of subUnits in all.
type share struct {
	pixel int
	part  uint32
}

// between returns the pixels of scale 1 whose centres surround a position in units, and their shares. The first may be -1,
// and the second one past the last.
func between(at int64) (before, after share) {
	at -= subUnits / 2
	pixel := at >> subBits
	part := uint32(at - pixel<<subBits)
	return share{int(pixel), subUnits - part}, share{int(pixel) + 1, part}
}
