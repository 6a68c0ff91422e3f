package render

import "github.com/paulmach/orb/maptile"

// A grid is lakes binned by cells, the pixels of scale 1 of one zoom: those of the world, and of some rows north and south of it. Each lake is shared
// among the cell that contains it and those around it; nearer ones have larger shares.
type grid struct {
	all   blocks               // of all lakes
	upper [upperClasses]blocks // of those of each upper class
}

// blocks are the cells of a grid.
type blocks struct {
	side int      // of the world in cells
	list []*block // row by row, with one row of blocks before the world and one after; nil without lakes
}

// blockSide is the width and height of a block in cells: so small that the sea takes no memory.
const blockSide = 32

// A block is a square of cells, row by row.
type block struct {
	counts [blockSide * blockSide]uint32  // of lakes, in shares
	logs   [blockSide * blockSide]float64 // sums of shares times logarithms
}

// sharesPerLake is the number of shares of a lake whose value is not old. Counts are exact, and so are sums of 32-bit logarithms in
// 64 bits: a hundred thousand lakes of one value at one point have that value.
const sharesPerLake = sharesPerAxis * sharesPerAxis * freshShares

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
	g := &grid{all: newBlocks(z)}
	for k := range g.upper {
		g.upper[k] = newBlocks(z)
	}
	shift := uint(MaxZoom - z)
	for i := range l.sites {
		s := &l.sites[i]
		v := l.value(i)
		if !v.Valid() || !s.binned(z) {
			continue
		}
		x, y := int64(s.x>>shift), int64(s.y>>shift)
		g.all.add(x, y, v)
		if class := l.logs.classes.of(v.Chlorophyll); class > 0 {
			g.upper[class-1].add(x, y, v)
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
	left, columns := sharedAt(x)
	top, rows := sharedAt(y)
	for j, row := range rows {
		for i, column := range columns {
			n := row * column * v.shares()
			if n == 0 {
				continue
			}
			found, cell := b.at(top+j, left+i)
			if *found == nil {
				*found = new(block)
			}
			(*found).counts[cell] += n
			(*found).logs[cell] += float64(n) * float64(v.log)
		}
	}
}

// row copies the cells of a row from a column on that are not empty, with those between them, and returns the range of these.
func (b *blocks) row(counts []uint32, logs []float64, row, column int) (filled span) {
	for i := 0; i < len(counts); {
		found, cell := b.at(row, column+i)
		n := min(blockSide-cell%blockSide, len(counts)-i)
		if *found != nil {
			if !filled.any() {
				filled = span{i, i}
			}
			clear(counts[filled.to:i])
			clear(logs[filled.to:i])
			filled.to = i + n
			copy(counts[i:i+n], (*found).counts[cell:])
			copy(logs[i:i+n], (*found).logs[cell:])
		}
		i += n
	}
	for filled.any() && counts[filled.from] == 0 {
		filled.from++
	}
	if !filled.any() {
		return span{}
	}
	for counts[filled.to-1] == 0 {
		filled.to--
	}
	return filled
}

// extended returns the range that contains s and the elements from from up to to, and clears those of counts and logs that are new.
func (s span) extended(counts []uint32, logs []float64, from, to int) span {
	clearAll := func(from, to int) {
		if from < to {
			clear(counts[from:to])
			clear(logs[from:to])
		}
	}
	if !s.any() {
		clearAll(from, to)
		return span{from, to}
	}
	clearAll(from, s.from)
	clearAll(s.to, to)
	return span{min(s.from, from), max(s.to, to)}
}

// sharing are the shares of a lake in the cell that contains it and in those before and after it along one axis, of sharesPerAxis in all, by its
// position in the cell. Their mean is its position. They are those of a quadratic B-spline, rounded: so each lake is widened by nearly the
// same variance, wherever it lies, between 3/16 and 1/4 of a square cell. Shares between the two nearest cells would widen it by 0 to 1/4.
var sharing = [subUnits][3]uint32{
	{8, 8, 0}, {7, 9, 0}, {6, 10, 0}, {5, 11, 0}, {4, 12, 0}, {4, 11, 1}, {3, 12, 1}, {3, 11, 2},
	{2, 12, 2}, {2, 11, 3}, {1, 12, 3}, {1, 11, 4}, {0, 12, 4}, {0, 11, 5}, {0, 10, 6}, {0, 9, 7},
}

const (
	sharesPerAxis   = 16
	sharingVariance = subUnits * subUnits * 7 / 32.0 // the middle between the least and the most
)

// sharedAt returns the cell before the one that contains a position in units, which may be -1, and the shares of a lake there in three cells from it on.
func sharedAt(at int64) (first int, shares *[3]uint32) {
	return int(at>>subBits) - 1, &sharing[at&(subUnits-1)]
}
