package render

// bandRows is the number of rows that are accumulated at a time, so that their sums stay in the second-level cache.
const bandRows = 64

// A field is the value field of a scene.
type field struct {
	window window
	splats []splat // of lakes that are stamped
	blur   blur    // of the others
	glows  glows   // of the lakes with outlines
	sums   sums    // of some rows
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
		f.splats = appendSplats(f.splats, m, w, t.kernels.of(m.size), t.logs.classOf(m.log()))
	}
	for i := range s.cores {
		f.splats = appendCore(f.splats, &s.cores[i], w, t, s.crowded)
	}
	f.blur.reset(&s.patch, w, t.kernels.of(smallest))
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
	f.glows.addTo(&f.sums, first, end)
	if !f.blur.filled() {
		return
	}
	for r := first; r < end; r++ {
		f.blur.addTo(&f.sums, r-first, r)
	}
}

// classed returns the range of rows within [first, end) that lakes of upper classes reach.
func (f *field) classed(first, end int) (from, to int) {
	if f.blur.high.filled {
		return first, end
	}
	from, to = end, first
	for i := range f.splats {
		if s := &f.splats[i]; s.class > 0 {
			from, to = min(from, max(s.top, first)), max(to, min(s.top+len(s.row), end))
		}
	}
	for _, g := range f.glows.list {
		if g.class > 0 {
			from, to = min(from, max(g.top, first)), max(to, min(g.top+g.height, end))
		}
	}
	return from, max(from, to)
}

// sums are the accumulators of a band of pixels, row by row: of all lakes, and of those of each upper class. Those of the first class are
// what is left.
//
// They are 32-bit floating-point numbers. The lakes are added in the order of the layer, by products and sums that are
// rounded one by one, never fused. So the sums of a pixel are the same for every window, for any order of the input, on
// every processor, and with vector instructions.
type sums struct {
	width, stride int
	wide          []float32 // of the wide kernel, which determines the opacity
	narrow        []float32 // of the narrow kernel; with the wide one it is the weight
	logs          []float32 // of weight times logarithm
	upper         [upperClasses]classSums
	from, to      int // the rows of upper with lakes; the others are undefined
}

// classSums are the sums of the lakes of one class.
type classSums struct {
	weights []float32 // of both kernels
	logs    []float32 // of weight times logarithm
}

// reset makes s the sums of rows without lakes. Those of upper classes will reach the rows from from up to to.
func (s *sums) reset(width, rows, from, to int) {
	s.width, s.stride, s.from, s.to = width, strideOf(width), from, to
	n := rows * s.stride
	s.wide, s.narrow, s.logs = zeroed(s.wide, n), zeroed(s.narrow, n), zeroed(s.logs, n)
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

// row returns the elements of row r of wide, narrow or logs.
func (s *sums) row(of []float32, r int) []float32 { return of[r*s.stride:][:s.width] }

// shade writes the shades of row r to dst, and changes the sums.
func (s *sums) shade(dst []uint8, r int, t *shadeTable, add [2]uint8) {
	wide, narrow, logs := s.row(s.wide, r), s.row(s.narrow, r), s.row(s.logs, r)
	if r >= s.from && r < s.to {
		medium, high := &s.upper[0], &s.upper[1]
		keepNearest(wide, narrow, logs, s.row(medium.weights, r), s.row(medium.logs, r), s.row(high.weights, r), s.row(high.logs, r))
	}
	shadeRow(dst, wide, narrow, logs, t, add)
}

// A splat is the kernel of one lake, clipped to a window: its weight at row top+j and column left+i is
// gain*row[j]*column[i].
type splat struct {
	left, top   int
	column, row []float32
	gain, log   float32
	narrow      bool
	class       int
}

// appendSplats appends the splats of m, a lake of that class, that touch w, none to two.
func appendSplats(splats []splat, m *mark, w window, k *kernel, class int) []splat {
	gain := float32(1)
	if m.old {
		gain = 1.0 / freshShares
	}
	s := splat{gain: gain, log: m.log(), class: class}
	if s.clip(m.x, m.y, w, k.wide.whole) {
		splats = append(splats, s)
	}
	s = splat{gain: gain * narrowWeight, log: m.log(), narrow: true, class: class}
	if s.clip(m.x, m.y, w, k.narrow.whole) {
		splats = append(splats, s)
	}
	return splats
}

// appendCore appends the splat of c if it touches w. At crowded zooms it is heavier.
func appendCore(splats []splat, c *core, w window, t *heat, crowded bool) []splat {
	log := t.logs.of(c.Chlorophyll)
	s := splat{gain: coreWeights[t.logs.classOf(log)], log: log, narrow: true, class: t.logs.classOf(log)}
	if c.old {
		s.gain /= freshShares
	}
	if crowded {
		s.gain *= crowdWeight
	}
	if s.clip(c.x, c.y, w, t.kernels.of(smallest).narrow.whole) {
		splats = append(splats, s)
	}
	return splats
}

// clip makes s the part in w of the falloff around a point, and reports whether there is any.
func (s *splat) clip(x, y int32, w window, f *falloff) bool {
	s.left, s.column = f.clipped(int64(x), w, w.width)
	s.top, s.row = f.clipped(int64(y), w, w.height)
	return len(s.column) > 0 && len(s.row) > 0
}

// clipped returns the values of f around a lake at the pixels 0 to n of one axis of w, and the pixel where they begin.
func (f *falloff) clipped(at int64, w window, n int) (from int, values []float32) {
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
		weights, at := s.wide, (first-from)*s.stride+t.left
		if t.narrow {
			weights = s.narrow
		}
		row := t.row[first-t.top : end-t.top]
		addOuter(weights[at:], s.logs[at:], s.stride, t.column, row, t.gain, t.log)
		if t.class > 0 {
			c := &s.upper[t.class-1]
			addOuter(c.weights[at:], c.logs[at:], s.stride, t.column, row, t.gain, t.log)
		}
	}
}
