package render

import "github.com/paulmach/orb/maptile"

// A grid is lakes binned by the pixels of one zoom at scale 1, the whole world's and those around the poles' clip. Each
// lake is shared among the four pixels whose centres it lies between, the nearer ones having the larger shares.
type grid struct {
	side   int      // of the world in pixels
	blocks []*block // row by row, one row of blocks before the world's and one after; nil where no lake lies
}

// blockSide is how many pixels a block is wide and high: so small that the sea costs nothing.
const blockSide = 64

// A block is a square of cells, row by row.
type block struct {
	counts [blockSide * blockSide]uint32  // of lakes, in wholes of one
	logs   [blockSide * blockSide]float64 // sums of their logarithms, likewise
}

// wholes is how many parts a lake is shared out in. So counts are exact, and so are sums of 32-bit logarithms in 64 bits:
// a hundred thousand lakes of one value in one place are of that value.
const wholes = subUnits * subUnits

// newGrid returns the grid for zoom z of those lakes with a value whose blobs are of the smallest size.
func newGrid(lakes *index, z maptile.Zoom) *grid {
	side := TileSize << z
	n := side / blockSide
	g := &grid{side: side, blocks: make([]*block, (n+2)*n)}
	shift := uint(MaxZoom - z)
	for i := range lakes.places {
		if p := &lakes.places[i]; p.chlorophyll.Valid() && p.ground.at(z) == baseSize(z) {
			g.add(int64(p.x>>shift), int64(p.y>>shift), p.log)
		}
	}
	return g
}

// at returns the block of a cell, and the cell's place in it. Columns are periodic; rows are those from -blockSide on.
func (g *grid) at(row, column int) (b **block, cell int) {
	row, column = row+blockSide, column&(g.side-1)
	b = &g.blocks[row/blockSide*(g.side/blockSide)+column/blockSide]
	return b, row%blockSide*blockSide + column%blockSide
}

// add adds a lake at a place in units.
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

// row copies the cells of a row, from a column on, and reports whether any holds a lake.
func (g *grid) row(counts []uint32, logs []float64, row, column int) (any bool) {
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
				any = any || c != 0
			}
		}
		counts, logs, column = counts[n:], logs[n:], column+n
	}
	return any
}

// A share is the part of a lake that a row or a column of pixels has, of subUnits.
type share struct {
	pixel int
	part  uint32
}

// between returns the pixels of scale 1 whose centres a place in units lies between, and their shares. The first may
// be -1, the second one past the last.
func between(at int64) (before, after share) {
	at -= subUnits / 2
	pixel := at >> subBits
	part := uint32(at - pixel<<subBits)
	return share{int(pixel), subUnits - part}, share{int(pixel) + 1, part}
}
