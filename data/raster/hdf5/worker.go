package hdf5

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"

	"limnomap/data/raster/blockread"
)

// A worker decodes chunks and passes the values of windows on.
//
// Within a chunk it counts elements in row-major order. Dimensions along which a chunk has one element only are left out, so that the
// last two that are not are the rows and columns of what is passed on.
type worker struct {
	*gathering
	windows []Window

	dims    []int   // of the dataset that the chunk's dimensions are; -1 for one added to have two
	extents []int64 // of a chunk along them
	strides []int64 // elements from one index to the next

	job      chunkJob
	stored   []byte   // what was read of it, nil if the worker reads it
	filters  []filter // those applied to the chunk, without shuffle
	summed   bool     // the chunk has a checksum that was shuffled with its data
	order    byteOrder
	parts    []part
	boxes    []int64 // memory of the parts
	decoders []*decoder
	opened   []bool

	// The part of the chunk that is collected in one pass.
	first, last int64 // elements
	spans       []span
	offsets     []int64 // of the spans in collected elements
	total       int64   // elements of the spans
	more        bool    // the chunk does not fit into one pass
	data        []byte

	values []float64
	where  Window
}

// A part is the intersection of a window with a chunk, in the dimensions of a worker.
type part struct {
	window     int
	start, end []int64
}

func newWorker(g *gathering, windows []Window) *worker {
	w := &worker{gathering: g, windows: windows, values: make([]float64, maxValues)}
	for k, n := range g.chunk {
		if n > 1 {
			w.dims, w.extents = append(w.dims, k), append(w.extents, n)
		}
	}
	for len(w.dims) < 2 {
		w.dims, w.extents = slices.Insert(w.dims, 0, -1), slices.Insert(w.extents, 0, 1)
	}
	w.strides = make([]int64, len(w.dims))
	stride := int64(1)
	for k := len(w.dims) - 1; k >= 0; k-- {
		w.strides[k] = stride
		stride *= w.extents[k]
	}
	w.where = Window{Start: make([]int64, len(g.chunk)), Shape: make([]int64, len(g.chunk))}
	w.decoders = []*decoder{newDecoder(g.d.file.src, g.count*int64(g.size))}
	w.opened = []bool{false}
	return w
}

// Close releases the decompressors.
func (w *worker) Close() {
	for _, d := range w.decoders {
		d.close()
	}
}

// Decode reads a chunk and passes the parts of windows in it on.
func (w *worker) Decode(ctx context.Context, b blockread.Block[chunkJob], data []byte) error {
	j := b.Job
	w.job, w.stored = j, data
	w.intersect()
	if j.ref.address == undefined {
		w.first, w.last = 0, w.count
		return w.passAll(ctx, func(dst []float64, _ int64) {
			for i := range dst {
				dst[i] = w.fill
			}
		})
	}
	err := w.decode(ctx)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s: chunk %v at address %d: %w", w.d.path, j.at, j.ref.address, err)
	}
	return err
}

// intersect makes the parts of a job.
func (w *worker) intersect() {
	m := len(w.dims)
	w.parts = w.parts[:0]
	w.boxes = slices.Grow(w.boxes[:0], 2*m*len(w.job.windows))[:2*m*len(w.job.windows)]
	for n, i := range w.job.windows {
		box := w.boxes[2*m*n:][:2*m]
		p := part{i, box[:m], box[m:]}
		for k, dim := range w.dims {
			p.start[k], p.end[k] = 0, 1
			if dim >= 0 {
				origin := int64(w.job.at[dim]) * w.chunk[dim]
				p.start[k] = max(0, w.windows[i].Start[dim]-origin)
				p.end[k] = min(w.chunk[dim], w.windows[i].Start[dim]+w.windows[i].Shape[dim]-origin)
			}
		}
		w.parts = append(w.parts, p)
	}
}

// decode reads a chunk in one or more passes.
func (w *worker) decode(ctx context.Context) error {
	w.applied()
	switch size := uint64(w.d.file.src.size); {
	case w.job.ref.address > size:
		return damaged("address beyond the file, %d bytes", size)
	case len(w.filters) == 0 && w.job.ref.size < uint64(w.count)*uint64(w.size):
		return damaged("%d bytes without compression, want %d", w.job.ref.size, w.count*int64(w.size))
	}
	for i := range w.opened {
		w.opened[i] = false
	}
	w.first, w.last, w.more = 0, 0, false
	w.begin()
	all := make([]int, len(w.parts))
	for i := range all {
		all[i] = i
	}
	err := w.sweep(0, 0, all, func(s span) error { return w.add(ctx, s) })
	if err == nil {
		w.last = w.count
		err = w.pass(ctx, true)
	}
	return err
}

// applied determines which filters the chunk has, and where the bytes of its elements lie.
func (w *worker) applied() {
	w.filters = w.filters[:0]
	w.order = byteOrder{size: w.size, stride: w.count}
	w.summed = false
	for i, f := range w.d.filters {
		if i < 32 && w.job.ref.mask>>i&1 != 0 || w.unfilteredEdge() {
			continue
		}
		if f.id == filterShuffle && w.size > 1 {
			w.order.shuffled = true
			if len(w.filters) > 0 {
				// The checksums before are shuffled with the data. More than one does not occur; then none is verified.
				w.summed = len(w.filters) == 1
				w.order.stride = (w.count*int64(w.size) + int64(checksumSize*len(w.filters))) / int64(w.size)
				w.filters = w.filters[:0]
			}
		}
		if f.id != filterShuffle {
			w.filters = append(w.filters, f)
		}
	}
}

// unfilteredEdge reports whether the chunk lies across the edge of a dataset whose chunks there are not filtered.
func (w *worker) unfilteredEdge() bool {
	if !w.d.storage.partialUnfiltered {
		return false
	}
	for k, at := range w.job.at {
		if int64(at+1)*w.chunk[k] > w.d.shape[k] {
			return true
		}
	}
	return false
}

// begin begins to collect spans.
func (w *worker) begin() {
	w.first = w.last
	w.spans, w.offsets, w.total = w.spans[:0], w.offsets[:0], 0
}

// add collects a span that follows those before. It makes a pass whenever the memory is full.
func (w *worker) add(ctx context.Context, s span) error {
	limit := int64(maxCollected / w.size)
	for {
		if n := len(w.spans); n > 0 && w.spans[n-1].end == s.start && w.total < limit {
			k := min(s.end-s.start, limit-w.total)
			w.spans[n-1].end += k
			w.total += k
			s.start += k
		}
		if s.start == s.end {
			return nil
		}
		if w.total == limit || len(w.spans) == maxSpans {
			w.more = true
			w.last = s.start
			if err := w.pass(ctx, false); err != nil {
				return err
			}
			w.begin()
		}
		k := min(s.end-s.start, limit-w.total)
		w.spans = append(w.spans, span{s.start, s.start + k})
		w.offsets = append(w.offsets, w.total)
		w.total += k
		s.start += k
	}
}

// sweep yields the merged ranges of elements that parts need, in order, from dimension k on. Base is the first element of the
// dimensions before.
func (w *worker) sweep(k int, base int64, parts []int, yield func(span) error) error {
	sorted := slices.Clone(parts)
	slices.SortFunc(sorted, func(a, b int) int { return cmp.Compare(w.parts[a].start[k], w.parts[b].start[k]) })
	if k == len(w.dims)-1 {
		for _, s := range w.merge(sorted, k) {
			if err := yield(span{base + s.start, base + s.end}); err != nil {
				return err
			}
		}
		return nil
	}
	var touching []int
	at := int64(0)
	for len(sorted) > 0 || len(touching) > 0 {
		if len(touching) == 0 {
			at = w.parts[sorted[0]].start[k]
		}
		for len(sorted) > 0 && w.parts[sorted[0]].start[k] == at {
			touching = append(touching, sorted[0])
			sorted = sorted[1:]
		}
		// The parts are the same up to the next start or end.
		end := w.parts[touching[0]].end[k]
		for _, i := range touching {
			end = min(end, w.parts[i].end[k])
		}
		if len(sorted) > 0 {
			end = min(end, w.parts[sorted[0]].start[k])
		}
		if err := w.repeat(k, base, at, end, touching, yield); err != nil {
			return err
		}
		at = end
		touching = slices.DeleteFunc(touching, func(i int) bool { return w.parts[i].end[k] == at })
	}
	return nil
}

// repeat yields the ranges of parts that touch all indices from start to end of dimension k.
func (w *worker) repeat(k int, base, start, end int64, parts []int, yield func(span) error) error {
	if k < len(w.dims)-2 {
		for at := start; at < end; at++ {
			if err := w.sweep(k+1, base+at*w.strides[k], parts, yield); err != nil {
				return err
			}
		}
		return nil
	}
	sorted := slices.Clone(parts)
	slices.SortFunc(sorted, func(a, b int) int { return cmp.Compare(w.parts[a].start[k+1], w.parts[b].start[k+1]) })
	row := w.merge(sorted, k+1)
	for at := start; at < end; at++ {
		for _, s := range row {
			if err := yield(span{base + at*w.strides[k] + s.start, base + at*w.strides[k] + s.end}); err != nil {
				return err
			}
		}
	}
	return nil
}

// merge merges the ranges of sorted parts along dimension k.
func (w *worker) merge(sorted []int, k int) []span {
	var merged []span
	for _, i := range sorted {
		p := &w.parts[i]
		if n := len(merged); n > 0 && merged[n-1].end >= p.start[k] {
			merged[n-1].end = max(merged[n-1].end, p.end[k])
		} else {
			merged = append(merged, span{p.start[k], p.end[k]})
		}
	}
	return merged
}

// pass reads the bytes of the spans and passes the parts on that lie between the first and the last element.
func (w *worker) pass(ctx context.Context, final bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n := int(w.total) * w.size
	if cap(w.data) < n {
		w.data = make([]byte, n)
	}
	w.data = w.data[:n]
	planes := w.order.planes()
	for plane := range planes {
		dst := w.data[plane*n/planes:][:n/planes]
		if err := w.read(ctx, dst, plane); err != nil {
			return err
		}
	}
	if i := slices.Index(w.opened, true); final && i >= 0 {
		if err := w.decoders[i].finish(ctx); err != nil {
			return err
		}
	}
	return w.passAll(ctx, func(dst []float64, element int64) {
		i := sort.Search(len(w.spans), func(i int) bool { return w.spans[i].end > element })
		at := int(w.offsets[i] + element - w.spans[i].start)
		if w.order.shuffled {
			w.convert.planes(dst, w.data, int(w.total), at)
		} else {
			w.convert.rows(dst, w.data[at*w.size:])
		}
	})
}

// read reads the bytes of the spans in one plane.
func (w *worker) read(ctx context.Context, dst []byte, plane int) error {
	if len(w.filters) == 0 && !w.summed {
		return w.decoders[0].pickRaw(dst, w.job.ref, w.stored, &w.order, plane, w.spans)
	}
	i := 0
	if w.more {
		i = plane % w.streams()
	}
	for len(w.decoders) <= i {
		w.decoders = append(w.decoders, newDecoder(w.d.file.src, w.count*int64(w.size)))
		w.opened = append(w.opened, false)
	}
	d := w.decoders[i]
	if start, _ := w.order.locate(plane, w.spans[0]); !w.opened[i] || start < d.at {
		w.opened[i] = true
		var sum *planeSum
		if w.summed && i == 0 {
			sum = &planeSum{order: &w.order, count: w.count}
		}
		if err := d.open(w.job.ref, w.stored, w.filters, sum); err != nil {
			return err
		}
	}
	return d.pick(ctx, dst, &w.order, plane, w.spans)
}

// passAll passes on all parts between the first and the last element. It lets fill set the values of elements that follow one another.
func (w *worker) passAll(ctx context.Context, fill func(dst []float64, element int64)) error {
	for i := range w.parts {
		p := &w.parts[i]
		outer := slices.Clone(p.start[:len(w.dims)-2])
		for more := true; more; more = p.next(outer) {
			base := int64(0)
			for k, at := range outer {
				base += at * w.strides[k]
			}
			if err := w.passSlab(ctx, p, outer, base, fill); err != nil {
				return err
			}
		}
	}
	return nil
}

// next advances the indices of the outer dimensions of a part, and reports whether there are more.
func (p *part) next(outer []int64) bool {
	for k := len(outer) - 1; k >= 0; k-- {
		if outer[k]++; outer[k] < p.end[k] {
			return true
		}
		outer[k] = p.start[k]
	}
	return false
}

// passSlab passes on the rows and columns of a part with the given indices of the outer dimensions, whose first element is base.
func (w *worker) passSlab(ctx context.Context, p *part, outer []int64, base int64, fill func(dst []float64, element int64)) error {
	rows, columns := len(w.dims)-2, len(w.dims)-1
	left, right := p.start[columns], p.end[columns]
	stride, width := w.strides[rows], right-left
	y := p.start[rows]
	if skip := (w.first - base - right) / stride; skip > y {
		y = skip // the row before the first one
	}
	for y < p.end[rows] {
		start := base + y*stride + left
		end := start + width
		if start >= w.last {
			break
		}
		if end <= w.first {
			y++
			continue
		}
		if start < w.first || end > w.last || width > maxValues {
			if err := w.passRow(ctx, p, outer, y, base+y*stride, fill); err != nil {
				return err
			}
			y++
			continue
		}
		n := min(maxValues/width, p.end[rows]-y, (w.last-end)/stride+1)
		for i := range n {
			fill(w.values[i*width:][:width], start+i*stride)
		}
		if err := w.call(ctx, p.window, outer, y, y+n, left, right); err != nil {
			return err
		}
		y += n
	}
	return nil
}

// passRow passes on what lies between the first and the last element of a row that begins with element base.
func (w *worker) passRow(ctx context.Context, p *part, outer []int64, y, base int64, fill func(dst []float64, element int64)) error {
	columns := len(w.dims) - 1
	left, right := max(p.start[columns], w.first-base), min(p.end[columns], w.last-base)
	for x := left; x < right; x += maxValues {
		end := min(x+maxValues, right)
		fill(w.values[:end-x], base+x)
		if err := w.call(ctx, p.window, outer, y, y+1, x, end); err != nil {
			return err
		}
	}
	return nil
}

// call calls the caller's function, unless an error has ended Gather.
func (w *worker) call(ctx context.Context, window int, outer []int64, top, bottom, left, right int64) error {
	for k, at := range w.job.at {
		w.where.Start[k], w.where.Shape[k] = int64(at)*w.chunk[k], 1
	}
	set := func(k int, start, end int64) {
		if dim := w.dims[k]; dim >= 0 {
			w.where.Start[dim] += start
			w.where.Shape[dim] = end - start
		}
	}
	for k, at := range outer {
		set(k, at, at+1)
	}
	set(len(w.dims)-2, top, bottom)
	set(len(w.dims)-1, left, right)
	values := w.values[:(bottom-top)*(right-left)]
	return w.caller.Call(ctx, func() error { return w.each(window, w.where, values) })
}
