package render

import "github.com/paulmach/orb/maptile"

// A grid is lakes binned by the pixels of one zoom at scale 1: those of the world, and of some rows north and south of it.
// Each lake is shared among the four pixels whose centres surround it; nearer ones have larger shares.
type grid struct {
	all  blocks // of all lakes
	high blocks // of the lakes of the highest class, only counts
}

// blocks are the cells of a grid.
type blocks struct {
	side    int      // of the world in pixels
	list    []*block // row by row, with one row of blocks before the world and one after; nil without lakes
	counted bool     // whether there are only counts
}

// blockSide is the width and height of a block in pixels: so small that the sea takes no memory.
const blockSide = 64

// A block is a square of cells, row by row.
type block struct {
	counts [blockSide * blockSide]uint32 // of lakes, in shares
	logs   []float64                     // as many sums of shares times logarithms; nil if there are only counts
}

// sharesPerLake is the number of shares of a lake whose value is not old. Counts are exact, and so are sums of 32-bit logarithms in
// 64 bits: a hundred thousand lakes of one value at one point have that value.
const sharesPerLake = subUnits * subUnits * freshShares

// freshShares is how many times as much a value weighs as an old one.
const freshShares = 4

// shares returns the factor of the shares of a lake.
func (v *value) shares() uint32 {
	if v.old {
		return 1
	}
	return freshShares
}

// newGrid returns the grid for zoom z of the lakes of l with a value and a disc of the smallest size.
func newGrid(l *Layer, z maptile.Zoom) *grid {
	g := &grid{all: newBlocks(z), high: newBlocks(z)}
	g.high.counted = true
	shift := uint(MaxZoom - z)
	for i := range l.sites {
		s := &l.sites[i]
		v := l.value(i)
		if !v.Valid() || !s.binned(z) {
			continue
		}
		x, y := int64(s.x>>shift), int64(s.y>>shift)
		v, high := l.logs.binned(v)
		g.all.add(x, y, v)
		if high {
			g.high.add(x, y, v)
		}
	}
	return g
}

func newBlocks(z maptile.Zoom) blocks {
	side := TileSize << z
	n := side / blockSide
	return blocks{side: side, list: make([]*block, (n+2)*n)}
}

// at returns the block of a cell, and its index there. Columns are periodic; rows begin at -blockSide.
func (b *blocks) at(row, column int) (found **block, cell int) {
	row, column = row+blockSide, column&(b.side-1)
	found = &b.list[row/blockSide*(b.side/blockSide)+column/blockSide]
	return found, row%blockSide*blockSide + column%blockSide
}

// add adds a lake at x, y in units.
func (b *blocks) add(x, y int64, v value) {
	left, right := between(x)
	above, below := between(y)
	for _, row := range [...]share{above, below} {
		for _, column := range [...]share{left, right} {
			n := row.part * column.part * v.shares()
			if n == 0 {
				continue
			}
			found, cell := b.at(row.pixel, column.pixel)
			if *found == nil {
				*found = new(block)
				if !b.counted {
					(*found).logs = make([]float64, len((*found).counts))
				}
			}
			(*found).counts[cell] += n
			if !b.counted {
				(*found).logs[cell] += float64(n) * float64(v.log)
			}
		}
	}
}

// row copies the cells of a row from a column on, and reports whether any has a share of a lake.
func (b *blocks) row(counts []uint32, logs []float64, row, column int) (filled bool) {
	for len(counts) > 0 {
		found, cell := b.at(row, column)
		n := min(blockSide-cell%blockSide, len(counts))
		if *found == nil {
			clear(counts[:n])
		} else {
			copy(counts[:n], (*found).counts[cell:])
			for _, c := range counts[:n] {
				filled = filled || c != 0
			}
		}
		if !b.counted {
			if *found == nil {
				clear(logs[:n])
			} else {
				copy(logs[:n], (*found).logs[cell:])
			}
			logs = logs[n:]
		}
		counts, column = counts[n:], column+n
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
