package render

// A blur is the field of the lakes of a patch, which all have the same kernel. First each row of the patch is blurred; then
// each pixel of the window is the weighted sum of its column. So the cost of a window is that of the kernel times its
// pixels, for any number of lakes.
//
// So are those of the lakes of each upper class.
type blur struct {
	window       window
	falloff      *falloff
	first        int64 // the first row, in cells from the window's edge
	all          blurredCells
	upper        [upperClasses]blurredCells
	counts, logs []float32 // of the cells of one row
	weights      []float32 // of a falloff at the cells around a pixel
	values       []float32 // of the pixels of one phase
}

// blurredCells are the rows of some lakes of a patch.
type blurredCells struct {
	filled        bool   // whether there are lakes
	used          []span // of the patch
	stride        int
	weights, logs []float32 // of the lakes of each row at the columns of the window; undefined in rows that are not used
}

// filled reports whether there are lakes.
func (b *blur) filled() bool { return b.all.filled }

// reset makes b the field of p.
func (b *blur) reset(p *patch, w window, k *kernel) {
	b.window, b.falloff, b.first = w, k.split, p.top
	b.resetCells(&b.all, p, &p.all)
	for i := range b.upper {
		b.resetCells(&b.upper[i], p, &p.upper[i])
	}
}

// resetCells makes to the rows of c, which are cells of p.
func (b *blur) resetCells(to *blurredCells, p *patch, c *cells) {
	to.filled, to.used = c.filled, c.used
	if !c.filled {
		return
	}
	to.stride = strideOf(b.window.width)
	if size := p.height * to.stride; cap(to.weights) < size {
		to.weights, to.logs = make([]float32, size), make([]float32, size)
	}
	to.weights, to.logs = to.weights[:cap(to.weights)], to.logs[:cap(to.logs)]
	for r, used := range c.used {
		if used.any() {
			b.take(p, c, r)
			b.addRow(to, r, p.left, used)
		}
	}
}

// take copies row r of c to b.counts and b.logs, whose other cells are empty.
func (b *blur) take(p *patch, c *cells, r int) {
	counts, logs := p.row(c, r)
	b.counts, b.logs = zeroed(b.counts, len(counts)), zeroed(b.logs, len(logs))
	u := c.used[r]
	copy(b.counts[u.from:], counts[u.from:u.to])
	copy(b.logs[u.from:], logs[u.from:u.to])
}

// addRow blurs b.counts and b.logs, whose first column is left, along row r of to. Only the used ones are not zero. At scale 2 the pixels with an
// even column and those with an odd column have different weights.
func (b *blur) addRow(to *blurredCells, r int, left int64, used span) {
	at := r * to.stride
	clear(to.weights[at : at+to.stride])
	clear(to.logs[at : at+to.stride])
	w, f := b.window, b.falloff
	for phase := range w.scale {
		centre := int64(phase)*w.step() + w.firstCentre()
		from, end := centres(centre, f.reach(), subUnits, subUnits/2)
		b.weights = b.weights[:0]
		for c := from; c < end; c++ {
			b.weights = append(b.weights, f.at[distance(c*subUnits+subUnits/2, centre)])
		}
		// The pixels of this phase in reach of a used cell.
		first := max(left+int64(used.from)-end+1, 0)
		n := min(left+int64(used.to)-from, int64((w.width-phase+w.scale-1)/w.scale)) - first
		if n <= 0 {
			continue
		}
		cell, pixel := first+from-left, at+int(first)*w.scale+phase
		b.spread(to.weights[pixel:], b.counts[cell:], int(n))
		b.spread(to.logs[pixel:], b.logs[cell:], int(n))
	}
}

// spread adds the sums of cells, weighted by b.weights, to n elements of dst: those of one phase.
func (b *blur) spread(dst, cells []float32, n int) {
	if b.window.scale == 1 {
		addRows(dst[:n], cells, 1, b.weights)
		return
	}
	b.values = zeroed(b.values, n)
	addRows(b.values, cells, 1, b.weights)
	for i, v := range b.values {
		dst[i*b.window.scale] += v
	}
}

// addTo adds the field at row r of the window to row i of s.
func (b *blur) addTo(s *sums, i, r int) {
	centre := int64(r)*b.window.step() + b.window.firstCentre()
	b.column(s.row(s.all.weights, i), s.row(s.all.logs, i), &b.all, centre)
	for k := range b.upper {
		if c := &s.upper[k]; b.upper[k].filled {
			b.column(s.row(c.weights, i), s.row(c.logs, i), &b.upper[k], centre)
		}
	}
}

// column adds the rows in reach of a centre, each weighted by its distance, to weights and logs.
func (b *blur) column(weights, logs []float32, c *blurredCells, centre int64) {
	f, used := b.falloff, c.used
	from, to := centres(centre, f.reach(), subUnits, subUnits/2)
	first, end := int(max(from-b.first, 0)), int(min(to-b.first, int64(len(used))))
	for first < end {
		if !used[first].any() {
			first++
			continue
		}
		b.weights = b.weights[:0]
		i := first
		for ; i < end && used[i].any(); i++ {
			d := distance((b.first+int64(i))*subUnits+subUnits/2, centre)
			b.weights = append(b.weights, f.at[d])
		}
		addRows(weights, c.weights[first*c.stride:], c.stride, b.weights)
		addRows(logs, c.logs[first*c.stride:], c.stride, b.weights)
		first = i
	}
}
