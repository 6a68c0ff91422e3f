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

// A block is a square of cells, row by row: its sums in lakes.
type block struct {
	counts [blockSide * blockSide]float32
	logs   [blockSide * blockSide]float32
}

// exact are the sums of a block in shares.
type exact struct {
	counts [blockSide * blockSide]uint32
	logs   [blockSide * blockSide]float64 // of shares times logarithms
}

// sharesPerLake is the number of shares of a lake whose value is not old. Sums of shares are exact, and so are those of 32-bit logarithms in
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

// newGrid returns the grid for zoom z of the lakes of l with a value and a disc of the smallest size, those that are drawn.
func newGrid(l *Layer, z maptile.Zoom) *grid {
	side := TileSize << z
	n := side / blockSide
	b := binning{side: side, sums: make([]*exact, (n+2)*n)}
	var all []int32
	var upper [upperClasses][]int32
	thinning := fieldThinning{layer: l, zoom: z, visit: func(site int) {
		all = append(all, int32(site))
		v := l.value(site)
		if class := l.logs.classes.of(v.Chlorophyll); class > 0 {
			upper[class-1] = append(upper[class-1], int32(site))
		}
	}}
	for i := range l.sites {
		if v := l.value(i); v.Valid() && l.sites[i].binned(z) {
			thinning.add(i)
		}
	}
	thinning.finish()
	g := &grid{all: b.bin(l, z, all)}
	for k, sites := range upper {
		g.upper[k] = b.bin(l, z, sites)
	}
	return g
}

// A binning makes blocks, one after the other.
type binning struct {
	side  int      // as in blocks
	sums  []*exact // by block; nil without lakes
	spare []*exact // empty ones
}

// bin returns the blocks of the lakes of some sites.
func (b *binning) bin(l *Layer, z maptile.Zoom, sites []int32) blocks {
	shift := uint(MaxZoom - z)
	for _, i := range sites {
		s := &l.sites[i]
		b.add(int64(s.x>>shift), int64(s.y>>shift), l.value(int(i)))
	}
	done := blocks{side: b.side, list: make([]*block, len(b.sums))}
	for i, s := range b.sums {
		if s != nil {
			done.list[i], b.sums[i] = new(block), nil
			toLakes(done.list[i].counts[:], done.list[i].logs[:], s.counts[:], s.logs[:])
			*s = exact{}
			b.spare = append(b.spare, s)
		}
	}
	return done
}

// toLakes writes sums of shares to counts and logs as lakes.
func toLakes(counts, logs []float32, shares []uint32, sums []float64) {
	logs, shares, sums = logs[:len(counts)], shares[:len(counts)], sums[:len(counts)]
	for i := range counts {
		counts[i], logs[i] = float32(shares[i])*(1.0/sharesPerLake), float32(sums[i]*(1.0/sharesPerLake))
	}
}

// blockOf returns the index of the block of a cell, and that of the cell there, by the side of the world in cells. Columns are periodic; rows begin at
// -blockSide.
func blockOf(row, column, side int) (block, cell int) {
	row, column = row+blockSide, column&(side-1)
	return row/blockSide*(side/blockSide) + column/blockSide, row%blockSide*blockSide + column%blockSide
}

// add adds a lake at x, y in units.
func (b *binning) add(x, y int64, v value) {
	left, columns := sharedAt(x)
	top, rows := sharedAt(y)
	for j, row := range rows {
		var sums *exact
		cell := 0
		for i, column := range columns {
			n := row * column * v.shares()
			if n == 0 {
				continue
			}
			if cell++; sums == nil || (left+i)%blockSide == 0 {
				sums, cell = b.sumsOf(top+j, left+i)
			}
			sums.counts[cell] += n
			sums.logs[cell] += float64(n) * float64(v.log)
		}
	}
}

// sumsOf returns the sums of the block of a cell, and the index of the cell there.
func (b *binning) sumsOf(row, column int) (sums *exact, cell int) {
	at, cell := blockOf(row, column, b.side)
	if b.sums[at] == nil {
		if n := len(b.spare); n > 0 {
			b.sums[at], b.spare = b.spare[n-1], b.spare[:n-1]
		} else {
			b.sums[at] = new(exact)
		}
	}
	return b.sums[at], cell
}

// row copies the cells of a row from a column on that are not empty, with those between them, and returns the range of these.
func (b *blocks) row(counts, logs []float32, row, column int) (filled span) {
	for i := 0; i < len(counts); {
		at, cell := blockOf(row, column+i, b.side)
		found := b.list[at]
		n := min(blockSide-cell%blockSide, len(counts)-i)
		if found != nil {
			if !filled.any() {
				filled = span{i, i}
			}
			clear(counts[filled.to:i])
			clear(logs[filled.to:i])
			filled.to = i + n
			copy(counts[i:i+n], found.counts[cell:])
			copy(logs[i:i+n], found.logs[cell:])
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
