package render

// A blur is the field of the lakes of a patch, which all have the same kernel. First each row of the patch is blurred; then
// each pixel of the window is the weighted sum of its column. So the cost of a window is that of the kernel times its
// pixels, for any number of lakes.
type blur struct {
	window       window
	filled       bool   // whether there are lakes
	first        int64  // the first row, in pixels of scale 1 from the window's edge
	used         []bool // of the patch: rows with a lake
	wide, narrow rows
	counts, logs []float32 // of the cells of one row
	weights      []float32 // of a falloff at the cells around a pixel
	values       []float32 // of the pixels of one phase
}

// rows are the weights of the lakes of each row of a patch at the columns of a window.
type rows struct {
	falloff       *falloff
	gain          float32
	stride        int
	weights, logs []float32 // undefined in rows that are not used
}

// reset makes b the field of p.
func (b *blur) reset(p *patch, w window, k *kernel) {
	b.window, b.filled, b.first, b.used = w, p.filled, p.top, p.used
	if !p.filled {
		return
	}
	b.wide.reset(k.wide.split, 1, p.height, w.width)
	b.narrow.reset(k.narrow.split, narrowWeight, p.height, w.width)
	for r, used := range p.used {
		if used {
			b.take(p, r)
			b.addRow(&b.wide, r, p.left)
			b.addRow(&b.narrow, r, p.left)
		}
	}
}

// reset makes r n rows of the given width.
func (r *rows) reset(f *falloff, gain float32, n, width int) {
	r.falloff, r.gain, r.stride = f, gain, strideOf(width)
	if size := n * r.stride; cap(r.weights) < size {
		r.weights, r.logs = make([]float32, size), make([]float32, size)
	}
	r.weights, r.logs = r.weights[:cap(r.weights)], r.logs[:cap(r.logs)]
}

// empty clears row i and returns its offset.
func (r *rows) empty(i int) int {
	at := i * r.stride
	clear(r.weights[at : at+r.stride])
	clear(r.logs[at : at+r.stride])
	return at
}

// take converts row r of p to lakes, into b.counts and b.logs.
func (b *blur) take(p *patch, r int) {
	counts, logs := p.row(r)
	b.counts, b.logs = b.counts[:0], b.logs[:0]
	for i, n := range counts {
		b.counts = append(b.counts, float32(float64(n)/sharesPerLake))
		b.logs = append(b.logs, float32(logs[i]/sharesPerLake))
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
		b.spread(to.logs[at:][:w.width], b.logs[from-left:], n, phase)
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
	b.column(s.row(s.wide, i), s.row(s.logs, i), &b.wide, centre)
	b.column(s.row(s.narrow, i), s.row(s.logs, i), &b.narrow, centre)
}

// column adds the rows in reach of a centre, each weighted by its distance, to weights and logs.
func (b *blur) column(weights, logs []float32, r *rows, centre int64) {
	f := r.falloff
	from, to := centres(centre, f.reach(), subUnits, subUnits/2)
	first, end := int(max(from-b.first, 0)), int(min(to-b.first, int64(len(b.used))))
	for first < end {
		if !b.used[first] {
			first++
			continue
		}
		b.weights = b.weights[:0]
		i := first
		for ; i < end && b.used[i]; i++ {
			d := distance((b.first+int64(i))*subUnits+subUnits/2, centre)
			b.weights = append(b.weights, r.gain*f.at[d])
		}
		addRows(weights, r.weights[first*r.stride:], r.stride, b.weights)
		addRows(logs, r.logs[first*r.stride:], r.stride, b.weights)
		first = i
	}
}
