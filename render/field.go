package render

// bandRows is the number of rows that are accumulated at a time, so that their sums stay in the second-level cache.
const bandRows = 64

// A field is the value field of a scene.
type field struct {
	window window
	splats []splat // of lakes that are stamped
	blur   blur    // of the others
	glows  glows   // of the lakes with outlines
	sums   sums    // of discs, in some rows
	shores sums    // of outlines, likewise; without rows if there are none
}

// reset makes f the field of s in w.
func (f *field) reset(s *scene, w window, t *heat) {
	f.window = w
	f.splats = f.splats[:0]
	f.glows.reset()
	for i := range s.marks {
		m := &s.marks[i]
		if m.log() < 0 {
			continue
		}
		if m.shore != nil {
			f.glows.add(m, w, t.glow[w.scale-1], t.logs.classOf(m.log()))
		}
		f.splats = appendSplats(f.splats, m, &w, t.kernels.of(m.size, w.zoom), t.logs.classOf(m.log()))
	}
	for i := range s.cores {
		f.splats = appendCore(f.splats, &s.cores[i], &w, t)
	}
	f.blur.reset(&s.patch, w, t.kernels.of(smallest, w.zoom))
}

// reached returns the range of rows within [from, to) that lakes reach.
func (f *field) reached(from, to int) (first, end int) {
	if f.blur.filled() {
		return from, to
	}
	first, end = to, from
	for i := range f.splats {
		s := &f.splats[i]
		first = min(first, max(s.top, from))
		end = max(end, min(s.top+len(s.row), to))
	}
	for _, g := range f.glows.list {
		first, end = min(first, max(g.top, from)), max(end, min(g.top+g.height, to))
	}
	return first, max(first, end)
}

// sum computes the sums of the rows from first up to end.
func (f *field) sum(first, end int) {
	from, to := f.classed(first, end)
	f.sums.reset(f.window.width, end-first, from-first, to-first)
	f.sums.add(f.splats, first, end-first)
	if f.blur.filled() {
		for r := first; r < end; r++ {
			f.blur.addTo(&f.sums, r-first, r)
		}
	}
	f.shores.rows = 0
	if f.glows.touch(first, end) {
		f.shores.reset(f.window.width, end-first, 0, end-first)
		f.glows.addTo(&f.shores, first, end)
	}
}

// classed returns the range of rows within [first, end) that lakes of upper classes reach.
func (f *field) classed(first, end int) (from, to int) {
	if f.blur.filled() {
		return first, end
	}
	from, to = end, first
	for i := range f.splats {
		if s := &f.splats[i]; s.class > 0 {
			from, to = min(from, max(s.top, first)), max(to, min(s.top+len(s.row), end))
		}
	}
	return from, max(from, to)
}

// shade writes the shades of row r to dst, and changes the sums.
func (f *field) shade(dst []uint8, r int, t *shadeTable, logTable *logTable, add [2]uint8) {
	weights, logs := f.sums.keepTop(r)
	if f.shores.rows > 0 {
		below, belowLogs := f.shores.keepTop(r)
		putOn(weights, logs, below, belowLogs, logTable)
	}
	shadeRow(dst, weights, logs, t, add)
}

// discRim is the weight from which on a disc lies on an outline: that of its rim, where it is half as opaque as in its middle when it is alone.
const discRim = 0.174

// putOn puts discs on outlines: without a valley where both are of one class, since both are waters, and else as keepTop puts high lakes on others.
func putOn(weights, logs, below, belowLogs []float32, t *logTable) {
	for i, b := range below {
		w := weights[i]
		switch {
		case b == 0:
		case w == 0:
			weights[i], logs[i] = b, belowLogs[i]
		case t.classOf(logs[i]/w) != t.classOf(belowLogs[i]/b):
			left := max(1-float32(w*(1/highRim)), 0)
			left = float32(min(b, solid) * float32(left*left))
			top, of, log := w, w, logs[i]
			if w < left {
				top, of, log = left, b, belowLogs[i]
			}
			top = float32(top * untied(top, min(w, left)))
			weights[i], logs[i] = top, float32(log*float32(top/of))
		case w < discRim:
			weights[i], logs[i] = b, belowLogs[i]
		case w < b:
			weights[i], logs[i] = b, float32(logs[i]*float32(b/w))
		}
	}
}

// sums are the accumulators of a band of pixels, row by row: of all lakes, and of those of each upper class. Those of the first class are
// what is left.
//
// They are 32-bit floating-point numbers. The lakes are added in the order of the layer, by products and sums that are
// rounded one by one, never fused. So the sums of a pixel are the same for every window, for any order of the input, on
// every processor, and with vector instructions.
type sums struct {
	width, stride, rows int
	all                 classSums
	upper               [upperClasses]classSums
	from, to            int // the rows of upper with lakes; the others are undefined
}

// classSums are the sums of the lakes of one class, or of all.
type classSums struct {
	weights []float32 // which determine the opacity
	logs    []float32 // of weight times logarithm
}

// reset makes s the sums of rows without lakes. Those of upper classes will reach the rows from from up to to.
func (s *sums) reset(width, rows, from, to int) {
	s.width, s.stride, s.rows, s.from, s.to = width, strideOf(width), rows, from, to
	n := rows * s.stride
	s.all.weights, s.all.logs = zeroed(s.all.weights, n), zeroed(s.all.logs, n)
	for k := range s.upper {
		c := &s.upper[k]
		if cap(c.weights) < n {
			c.weights, c.logs = make([]float32, n), make([]float32, n)
		}
		c.weights, c.logs = c.weights[:n], c.logs[:n]
		clear(c.weights[from*s.stride : to*s.stride])
		clear(c.logs[from*s.stride : to*s.stride])
	}
}

// strideOf returns the distance of rows of n elements: so large that a loop may write whole vectors.
func strideOf(n int) int { return (n + 2*(lanes-1)) / lanes * lanes }

// zeroed returns a slice of n zeros, in the memory of s if that is large enough.
func zeroed(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// row returns the elements of row r of some sums.
func (s *sums) row(of []float32, r int) []float32 { return of[r*s.stride:][:s.width] }

// keepTop leaves of row r the sums of the class on top, and returns them.
func (s *sums) keepTop(r int) (weights, logs []float32) {
	weights, logs = s.row(s.all.weights, r), s.row(s.all.logs, r)
	if r >= s.from && r < s.to {
		medium, high := &s.upper[0], &s.upper[1]
		keepTop(weights, logs, s.row(medium.weights, r), s.row(medium.logs, r), s.row(high.weights, r), s.row(high.logs, r))
	}
	return weights, logs
}

// A splat is the kernel of one lake, clipped to a window: its weight at row top+j and column left+i is
// gain*row[j]*column[i].
type splat struct {
	left, top   int
	column, row []float32
	gain, log   float32
	class       int
}

// appendSplats appends the splat of m, a lake of that class, if it touches w.
func appendSplats(splats []splat, m *mark, w *window, k *kernel, class int) []splat {
	s := splat{gain: 1, log: m.log(), class: class}
	if m.old {
		s.gain = 1.0 / freshShares
	}
	return s.appendTo(splats, m.x, m.y, w, k)
}

// appendTo appends s, with the kernel k around a point, if it touches w.
func (s *splat) appendTo(splats []splat, x, y int32, w *window, k *kernel) []splat {
	if s.clip(x, y, w, k.whole) {
		splats = append(splats, *s)
	}
	return splats
}

// clip makes s the part in w of the falloff around a point, and reports whether there is any.
func (s *splat) clip(x, y int32, w *window, f *falloff) bool {
	s.left, s.column = f.clipped(int64(x), w, w.width)
	s.top, s.row = f.clipped(int64(y), w, w.height)
	return len(s.column) > 0 && len(s.row) > 0
}

// clipped returns the values of f around a lake at the pixels 0 to n of one axis of w, and the pixel where they begin.
func (f *falloff) clipped(at int64, w *window, n int) (from int, values []float32) {
	from, values = f.profileOf(at, w)
	first, end := max(from, 0), min(from+len(values), n)
	if first >= end {
		return 0, nil
	}
	return first, values[first-from : end-from]
}

// add adds splats to s, which begins at row from and has rows rows.
func (s *sums) add(splats []splat, from, rows int) {
	for i := range splats {
		t := &splats[i]
		first, end := max(t.top, from), min(t.top+len(t.row), from+rows)
		if first >= end {
			continue
		}
		at := (first-from)*s.stride + t.left
		row := t.row[first-t.top : end-t.top]
		addOuter(s.all.weights[at:], s.all.logs[at:], s.stride, t.column, row, t.gain, t.log)
		if t.class > 0 {
			c := &s.upper[t.class-1]
			addOuter(c.weights[at:], c.logs[at:], s.stride, t.column, row, t.gain, t.log)
		}
	}
}
