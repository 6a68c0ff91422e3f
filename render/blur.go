package render

// A blur is the field of the lakes of a patch, which all have the same kernel. First each row of the patch is blurred; then
// each pixel of the window is the weighted sum of its column. So the cost of a window is that of the kernel times its
// pixels, for any number of lakes.
//
// To keep that cost low, only high lakes are kept apart from the others, and only their weights: all count as logTable.high. So the edge
// between high and low lakes does not pass through the medium class here either, and cores have the lakes' own colours.
type blur struct {
	window       window
	highLog      float32
	first        int64 // the first row, in pixels of scale 1 from the window's edge
	all, high    blurredCells
	counts, logs []float32 // of the cells of one row
	weights      []float32 // of a falloff at the cells around a pixel
	values       []float32 // of the pixels of one phase
	sum          []float32 // of the weights of high lakes in one row
}

// blurredCells are the rows of some lakes of a patch.
type blurredCells struct {
	filled       bool   // whether there are lakes
	used         []bool // of the patch: rows with a lake
	wide, narrow rows
}

// rows are the weights of the lakes of each row of a patch at the columns of a window.
type rows struct {
	falloff       *falloff
	gain          float32
	stride        int
	counted       bool      // whether there are only weights
	weights, logs []float32 // undefined in rows that are not used
}

// filled reports whether there are lakes.
func (b *blur) filled() bool { return b.all.filled }

// reset makes b the field of p, in which the logarithm of all high lakes is highLog.
func (b *blur) reset(p *patch, w window, k *kernel, highLog float32) {
	b.window, b.first, b.highLog = w, p.top, highLog
	b.resetCells(&b.all, p, &p.all, k)
	b.resetCells(&b.high, p, &p.high, k)
}

// resetCells makes to the rows of c, which are cells of p.
func (b *blur) resetCells(to *blurredCells, p *patch, c *cells, k *kernel) {
	to.filled, to.used = c.filled, c.used
	if !c.filled {
		return
	}
	to.wide.reset(k.wide.split, 1, p.height, b.window.width, c.counted)
	to.narrow.reset(k.narrow.split, narrowWeight, p.height, b.window.width, c.counted)
	for r, used := range c.used {
		if used {
			b.take(p, c, r)
			b.addRow(&to.wide, r, p.left)
			b.addRow(&to.narrow, r, p.left)
		}
	}
}

// reset makes r n rows of the given width.
func (r *rows) reset(f *falloff, gain float32, n, width int, counted bool) {
	r.falloff, r.gain, r.stride, r.counted = f, gain, strideOf(width), counted
	if size := n * r.stride; cap(r.weights) < size {
		r.weights = make([]float32, size)
		if !counted {
			r.logs = make([]float32, size)
		}
	}
	r.weights, r.logs = r.weights[:cap(r.weights)], r.logs[:cap(r.logs)]
}

// empty clears row i and returns its offset.
func (r *rows) empty(i int) int {
	at := i * r.stride
	clear(r.weights[at : at+r.stride])
	if !r.counted {
		clear(r.logs[at : at+r.stride])
	}
	return at
}

// take converts row r of c to lakes, into b.counts and b.logs.
func (b *blur) take(p *patch, c *cells, r int) {
	counts, logs := p.row(c, r)
	b.counts, b.logs = b.counts[:0], b.logs[:0]
	for i, n := range counts {
		b.counts = append(b.counts, float32(float64(n)/sharesPerLake))
		if !c.counted {
			b.logs = append(b.logs, float32(logs[i]/sharesPerLake))
		}
	}
}

// addRow blurs b.counts and b.logs, whose first column is left, along row r of to. At scale 2 the pixels with an even column
// and those with an odd column have different weights.
func (b *blur) addRow(to *rows, r int, left int64) {
	at := to.empty(r)
	w, f := b.window, to.falloff
	for phase := range w.scale {
		centre := int64(phase)*w.step() + w.firstCentre()
		from, end := centres(centre, f.reach(), subUnits, subUnits/2)
		b.weights = b.weights[:0]
		for c := from; c < end; c++ {
			b.weights = append(b.weights, f.at[distance(c*subUnits+subUnits/2, centre)])
		}
		n := (w.width - phase + w.scale - 1) / w.scale
		b.spread(to.weights[at:][:w.width], b.counts[from-left:], n, phase)
		if !to.counted {
			b.spread(to.logs[at:][:w.width], b.logs[from-left:], n, phase)
		}
	}
}

// spread adds the sums of cells, weighted by b.weights, to n elements of dst: those of one phase.
func (b *blur) spread(dst, cells []float32, n, phase int) {
	if b.window.scale == 1 {
		addRows(dst[:n], cells, 1, b.weights)
		return
	}
	b.values = zeroed(b.values, n)
	addRows(b.values, cells, 1, b.weights)
	for i, v := range b.values {
		dst[i*b.window.scale+phase] += v
	}
}

// addTo adds the field at row r of the window to row i of s.
func (b *blur) addTo(s *sums, i, r int) {
	centre := int64(r)*b.window.step() + b.window.firstCentre()
	b.column(s.row(s.wide, i), s.row(s.logs, i), &b.all.wide, b.all.used, centre)
	b.column(s.row(s.narrow, i), s.row(s.logs, i), &b.all.narrow, b.all.used, centre)
	if !b.high.filled {
		return
	}
	b.sum = zeroed(b.sum, s.width)
	b.column(b.sum, nil, &b.high.wide, b.high.used, centre)
	b.column(b.sum, nil, &b.high.narrow, b.high.used, centre)
	high := &s.upper[upperClasses-1]
	addRows(s.row(high.weights, i), b.sum, len(b.sum), []float32{1})
	addRows(s.row(high.logs, i), b.sum, len(b.sum), []float32{b.highLog})
}

// column adds the rows in reach of a centre, each weighted by its distance, to weights and, if not nil, to logs.
func (b *blur) column(weights, logs []float32, r *rows, used []bool, centre int64) {
	f := r.falloff
	from, to := centres(centre, f.reach(), subUnits, subUnits/2)
	first, end := int(max(from-b.first, 0)), int(min(to-b.first, int64(len(used))))
	for first < end {
		if !used[first] {
			first++
			continue
		}
		b.weights = b.weights[:0]
		i := first
		for ; i < end && used[i]; i++ {
			d := distance((b.first+int64(i))*subUnits+subUnits/2, centre)
			b.weights = append(b.weights, r.gain*f.at[d])
		}
		addRows(weights, r.weights[first*r.stride:], r.stride, b.weights)
		if logs != nil {
			addRows(logs, r.logs[first*r.stride:], r.stride, b.weights)
		}
		first = i
	}
}
