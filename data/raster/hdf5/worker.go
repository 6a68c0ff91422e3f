package hdf5

import (
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
	parts    []Window // of the windows of the job, in the chunk and in dims
	row      []int64  // shape of a row of a chunk
	boxes    []int64  // memory of the parts
	decoders []*decoder
	opened   []bool

	// The part of the chunk that is collected in one pass.
	first, last int64 // elements
	spans       []span
	offsets     []int64 // of the spans in collected elements
	total       int64   // elements of the spans
	end         int64   // of all spans so far
	more        bool    // the chunk does not fit into one pass
	data        []byte

	values []float64
	where  Window
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
	w.row = slices.Repeat([]int64{1}, len(w.dims))
	w.row[len(w.dims)-1] = w.extents[len(w.dims)-1]
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
		p := Window{Start: box[:m], Shape: box[m:]}
		for k, dim := range w.dims {
			p.Start[k], p.Shape[k] = 0, 1
			if dim >= 0 {
				origin := int64(w.job.at[dim]) * w.chunk[dim]
				p.Start[k] = max(0, w.windows[i].Start[dim]-origin)
				p.Shape[k] = min(w.chunk[dim], w.windows[i].Start[dim]+w.windows[i].Shape[dim]-origin) - p.Start[k]
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
	w.first, w.last, w.end, w.more = 0, 0, 0, false
	w.begin()
	columns := len(w.dims) - 1
	for at, touching := range blockread.Touched(w.parts, w.row) {
		row := int64(0)
		for k, stride := range w.strides {
			row += int64(at[k]) * stride
		}
		for _, i := range touching {
			start := row + w.parts[i].Start[columns]
			if err := w.add(ctx, span{start, start + w.parts[i].Shape[columns]}); err != nil {
				return err
			}
		}
	}
	w.last = w.count
	return w.pass(ctx, true)
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
		if f.id != filterShuffle {
			w.filters = append(w.filters, f)
		} else if w.size > 1 {
			w.order.shuffled = true
			if len(w.filters) > 0 { // the checksum before is shuffled with the data
				w.summed = true
				w.order.stride = (w.count*int64(w.size) + checksumSize) / int64(w.size)
				w.filters = w.filters[:0]
			}
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

// add collects what of a span follows those before. It makes a pass whenever the memory is full.
func (w *worker) add(ctx context.Context, s span) error {
	limit := int64(maxCollected / w.size)
	for s.start = max(s.start, w.end); s.start < s.end; {
		n := len(w.spans)
		adjoining := n > 0 && w.spans[n-1].end == s.start
		if w.total == limit || n == maxSpans && !adjoining {
			w.more = true
			w.last = s.start
			if err := w.pass(ctx, false); err != nil {
				return err
			}
			w.begin()
			adjoining = false
		}
		if !adjoining {
			w.spans = append(w.spans, span{s.start, s.start})
			w.offsets = append(w.offsets, w.total)
		}
		k := min(s.end-s.start, limit-w.total)
		s.start += k
		w.spans[len(w.spans)-1].end = s.start
		w.total += k
		w.end = s.start
	}
	return nil
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
			w.convert.Planes(dst, w.data[at:], int(w.total), 1)
		} else {
			w.convert.Row(dst, w.data[at*w.size:], 1)
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
		outer := slices.Clone(p.Start[:len(w.dims)-2])
		for more := true; more; more = nextRow(p, outer) {
			base := int64(0)
			for k, at := range outer {
				base += at * w.strides[k]
			}
			if err := w.passSlab(ctx, i, outer, base, fill); err != nil {
				return err
			}
		}
	}
	return nil
}

// nextRow advances the indices of the outer dimensions of a part, and reports whether there are more.
func nextRow(w *Window, outer []int64) bool {
	for k := len(outer) - 1; k >= 0; k-- {
		if outer[k]++; outer[k] < w.Start[k]+w.Shape[k] {
			return true
		}
		outer[k] = w.Start[k]
	}
	return false
}

// passSlab passes on the rows and columns of a part with the given indices of the outer dimensions, whose first element is base. Rows go
// together unless one is long, or not all of it lies between the first and the last element.
func (w *worker) passSlab(ctx context.Context, part int, outer []int64, base int64, fill func(dst []float64, element int64)) error {
	rows, columns := len(w.dims)-2, len(w.dims)-1
	p := &w.parts[part]
	left, right := p.Start[columns], p.Start[columns]+p.Shape[columns]
	bottom := p.Start[rows] + p.Shape[rows]
	stride, width := w.strides[rows], right-left
	y := max(p.Start[rows], (w.first-base-right)/stride) // not before the row before the first one
	for y < bottom && base+y*stride+left < w.last {
		row := base + y*stride
		from, to := max(left, w.first-row), min(right, w.last-row)
		n := int64(1)
		if to-from == width && width <= maxValues {
			n = min(maxValues/width, bottom-y, (w.last-row-right)/stride+1)
		}
		for x := from; x < to; x += maxValues {
			end := min(x+maxValues, to)
			for i := range n {
				fill(w.values[i*width:][:end-x], row+i*stride+x)
			}
			if err := w.call(ctx, w.job.windows[part], outer, y, y+n, x, end); err != nil {
				return err
			}
		}
		y += n
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
