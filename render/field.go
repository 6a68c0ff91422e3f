package render

// bandRows is the number of rows that are accumulated at a time, so that their sums stay in the second-level cache.
const bandRows = 64

// A field is the value field of a scene.
type field struct {
	window window
	splats []splat // of lakes that are stamped
	blur   blur    // of the others
	sums   sums    // of some rows
}

// reset makes f the field of s in w.
func (f *field) reset(s *scene, w window, ks *kernels) {
	f.window = w
	f.splats = f.splats[:0]
	for i := range s.marks {
		f.splats = appendSplats(f.splats, &s.marks[i], w, ks.of(s.marks[i].size))
	}
	f.blur.reset(&s.patch, w, ks.of(baseSize(w.zoom)))
}

// reached returns the range of rows within [from, to) that lakes reach.
func (f *field) reached(from, to int) (first, end int) {
	if f.blur.filled {
		return from, to
	}
	first, end = to, from
	for i := range f.splats {
		s := &f.splats[i]
		first = min(first, max(s.top, from))
		end = max(end, min(s.top+len(s.row), to))
	}
	return first, max(first, end)
}

// sum computes the sums of the rows from first up to end.
func (f *field) sum(first, end int) {
	f.sums.reset(f.window.width, end-first)
	f.sums.add(f.splats, first, end-first)
	if !f.blur.filled {
		return
	}
	for r := first; r < end; r++ {
		f.blur.addTo(&f.sums, r-first, r)
	}
}

// sums are the accumulators of a band of pixels, row by row.
//
// They are 32-bit floating-point numbers. The lakes are added in the order of the layer, by products and sums that are
// rounded one by one, never fused. So the sums of a pixel are the same for every window, for any order of the input, on
// every processor, and with vector instructions.
type sums struct {
	width, stride int
	wide          []float32 // of the wide kernel, which determines the opacity
	narrow        []float32 // of the narrow kernel; with the wide one it is the weight
	logs          []float32 // of weight times logarithm
}

// reset makes s the sums of rows without lakes.
func (s *sums) reset(width, rows int) {
	s.width, s.stride = width, strideOf(width)
	n := rows * s.stride
	s.wide, s.narrow, s.logs = zeroed(s.wide, n), zeroed(s.narrow, n), zeroed(s.logs, n)
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

// shade writes the shades of row r to dst.
func (s *sums) shade(dst []uint8, r int, t *shadeTable, add [2]uint8) {
	shadeRow(dst, s.row(s.wide, r), s.row(s.narrow, r), s.row(s.logs, r), t, add)
}

// A splat is the kernel of one lake, clipped to a window: its weight at row top+j and column left+i is
// gain*row[j]*column[i].
type splat struct {
	left, top   int
	column, row []float32
	gain, log   float32
	narrow      bool
}

// appendSplats appends the splats of m that touch w, none to two.
func appendSplats(splats []splat, m *mark, w window, k *kernel) []splat {
	s := splat{gain: 1, log: m.log()}
	if s.clip(m, w, k.wide.whole) {
		splats = append(splats, s)
	}
	s = splat{gain: narrowWeight, log: m.log(), narrow: true}
	if s.clip(m, w, k.narrow.whole) {
		splats = append(splats, s)
	}
	return splats
}

// clip makes s the part in w of the falloff around m, and reports whether there is any.
func (s *splat) clip(m *mark, w window, f *falloff) bool {
	s.left, s.column = f.clipped(int64(m.x), w, w.width)
	s.top, s.row = f.clipped(int64(m.y), w, w.height)
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
		addOuter(weights[at:], s.logs[at:], s.stride, t.column, t.row[first-t.top:end-t.top], t.gain, t.log)
	}
}
