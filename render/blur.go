package render

// A blur is the field of many lakes that all have one kernel. First each is drawn along its row of pixels, or rather
// along the two rows whose centres it lies between, the nearer one having the larger share; then each pixel of the
// window is the weighted sum of its column. So a lake costs as much as the kernel is wide, instead of its area, and
// a window as much as the kernel times its pixels, however many lakes there are.
type blur struct {
	window       window
	kernel       *kernel
	first        int64 // the row of scale-1 pixels, counted from the window's edge, that comes first below
	wide, narrow rows
	weights      []float32
}

// rows are what the lakes of each row of scale-1 pixels weigh at the columns of a window.
type rows struct {
	stride        int
	used          []bool // rows that hold a lake; the others mean nothing
	weights, logs []float32
}

// reset makes r hold n empty rows of the given width.
func (r *rows) reset(n, width int) {
	r.stride = strideOf(width)
	if cap(r.used) < n {
		r.used = make([]bool, n)
	}
	r.used = r.used[:n]
	clear(r.used)
	if size := n * r.stride; cap(r.weights) < size {
		r.weights, r.logs = make([]float32, size), make([]float32, size)
	}
	r.weights, r.logs = r.weights[:cap(r.weights)], r.logs[:cap(r.logs)]
}

// add adds lakes of one mean logarithm to the rows from i on, as many as counts tells for each.
func (r *rows) add(i, left int, column, counts []float32, log float32) {
	for k := range counts {
		if !r.used[i+k] {
			r.used[i+k] = true
			clear(r.weights[(i+k)*r.stride:][:r.stride])
			clear(r.logs[(i+k)*r.stride:][:r.stride])
		}
	}
	at := i*r.stride + left
	addOuter(r.weights[at:], r.logs[at:], r.stride, column, counts, 1, log)
}

// reset makes b the field of hits, or of nothing if there are none.
func (b *blur) reset(hits []hit, w window, k *kernel) {
	if len(hits) == 0 {
		return
	}
	b.window, b.kernel = w, k
	first, _ := centres(w.firstCentre(), k.wide.reach(), subUnits, subUnits/2)
	_, end := centres(w.lastCentre(w.height), k.wide.reach(), subUnits, subUnits/2)
	b.first = first
	n := int(end - first)
	b.wide.reset(n, w.width)
	b.narrow.reset(n, w.width)
	for _, h := range hits {
		above := floorDiv(int64(h.y)-subUnits/2, subUnits)
		part := float32(int64(h.y)-subUnits/2-above*subUnits) / subUnits
		counts := [2]float32{h.count * (1 - part), h.count * part}
		i := int(above - b.first)
		from, to := max(i, 0), min(i+2, n)
		if from >= to {
			continue
		}
		if left, column := k.wide.clipped(int64(h.x), w, w.width); len(column) > 0 {
			b.wide.add(from, left, column, counts[from-i:to-i], h.log)
		}
		if left, column := k.narrow.clipped(int64(h.x), w, w.width); len(column) > 0 {
			b.narrow.add(from, left, column, counts[from-i:to-i], h.log)
		}
	}
}

// addTo adds the field at row r of the window to row i of s.
func (b *blur) addTo(s *sums, i, r int) {
	centre := int64(r)*b.window.step() + b.window.firstCentre()
	b.column(s.row(s.wide, i), s.row(s.logs, i), &b.wide, b.kernel.wide, 1, centre)
	b.column(s.row(s.narrow, i), s.row(s.logs, i), &b.narrow, b.kernel.narrow, narrowWeight, centre)
}

// column adds gain times the rows in reach of a centre, each weighted by its distance, to weights and logs.
func (b *blur) column(weights, logs []float32, r *rows, f *falloff, gain float32, centre int64) {
	from, to := centres(centre, f.reach(), subUnits, subUnits/2)
	first, end := int(max(from-b.first, 0)), int(min(to-b.first, int64(len(r.used))))
	for first < end {
		if !r.used[first] {
			first++
			continue
		}
		b.weights = b.weights[:0]
		i := first
		for ; i < end && r.used[i]; i++ {
			d := distance((b.first+int64(i))*subUnits+subUnits/2, centre)
			b.weights = append(b.weights, gain*f.at[d])
		}
		addRows(weights, r.weights[first*r.stride:], r.stride, b.weights)
		addRows(logs, r.logs[first*r.stride:], r.stride, b.weights)
		first = i
	}
}
