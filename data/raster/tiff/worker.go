package tiff

import (
	"context"
	"fmt"
	"image"
	"io"
	"iter"

	"limnomap/data/raster/blockread"
)

// A worker decodes segments and passes the values of windows on.
type worker struct {
	*gathering
	decoder *decoder
	undo    predictor
	convert converter
	buf     []byte
	values  []float64
	needed  []bool // rows of the buffer that a window needs
}

// maxValues bounds the values that are passed on at once, and with them the memory.
const maxValues = 1 << 16

func (g *gathering) newWorker() blockread.Decoder[job] {
	im := g.im
	w := &worker{gathering: g, values: make([]float64, maxValues), decoder: newDecoder(im), undo: im.undoPredictor(), convert: im.sample.converter(im.file.order)}
	if im.layout.predictor == 3 {
		w.convert = im.sample.planeConverter(im.layout.width * im.layout.samples)
	}
	return w
}

// Close releases the decompressor.
func (w *worker) Close() { w.decoder.close() }

// Decode decodes a segment and passes its parts on.
func (w *worker) Decode(ctx context.Context, b blockread.Block[job], data []byte) (err error) {
	j := b.Job
	l := &w.im.layout
	switch {
	case j.data.n == 0:
		return w.passFill(ctx, j.parts)
	case data == nil:
		err = w.stream(ctx, j)
	case l.compression == compressionNone && !l.reversed:
		return w.pass(ctx, j, j.rect.Min.Y, data)
	default:
		size := l.bandHeight * l.rowBytes // the whole segment, if it is compressed
		dst := w.buffer(size)[:j.rows*l.rowBytes]
		if err = w.decoder.whole(dst, data); err == nil {
			return w.pass(ctx, j, j.rect.Min.Y, dst)
		}
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s at offset %d: %w", w.im.describe(j.rect), j.data.at, err)
	}
	return err
}

// buffer returns the worker's buffer with n bytes. It has some more: the decoder of Zstandard copies faster then.
func (w *worker) buffer(n int) []byte {
	if cap(w.buf) < n {
		w.buf = make([]byte, n+64)
	}
	return w.buf[:n]
}

// stream decodes a large segment in bands of rows.
func (w *worker) stream(ctx context.Context, j job) error {
	l := &w.im.layout
	read := func(p []byte, at int64) error {
		if err := readFull(w.im.file.r, p, at); err != nil {
			return fmt.Errorf("stream: %w", err)
		}
		return nil
	}
	r, release, err := w.decoder.stream(blockread.NewRangeReader(read, j.data.at, j.data.n))
	if err != nil {
		return err
	}
	defer release()
	rows := max(1, bandBytes/l.rowBytes)
	for y := 0; y < j.rows; y += rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		band := w.buffer(min(rows, j.rows-y) * l.rowBytes)
		if _, err := io.ReadFull(r, band); err != nil {
			return streamError(l.compression, err)
		}
		if err := w.pass(ctx, j, j.rect.Min.Y+y, band); err != nil {
			return err
		}
	}
	return nil
}

// pass undoes the predictor of decoded rows, the first of which is row top of the image, and passes on the parts that lie in them.
func (w *worker) pass(ctx context.Context, j job, top int, data []byte) error {
	l := &w.im.layout
	rows := image.Rect(j.rect.Min.X, top, j.rect.Max.X, top+len(data)/l.rowBytes)
	w.undoRows(j.parts, rows, data)
	first := 0
	if !l.planes {
		first = w.band
	}
	for _, p := range j.parts {
		for piece := range pieces(p.rect.Intersect(rows)) {
			values := w.values[:piece.Dx()*piece.Dy()]
			for i := range piece.Dy() {
				row := data[(piece.Min.Y+i-top)*l.rowBytes:][:l.rowBytes]
				w.convert(values[i*piece.Dx():][:piece.Dx()], row, (piece.Min.X-rows.Min.X)*l.samples+first, l.samples)
			}
			if err := w.call(ctx, p.window, piece, values); err != nil {
				return err
			}
		}
	}
	return nil
}

// undoRows undoes the predictor of the rows that a part needs.
func (w *worker) undoRows(parts []part, rows image.Rectangle, data []byte) {
	if w.undo == nil {
		return
	}
	w.needed = append(w.needed[:0], make([]bool, rows.Dy())...)
	for _, p := range parts {
		r := p.rect.Intersect(rows)
		for y := r.Min.Y; y < r.Max.Y; y++ {
			w.needed[y-rows.Min.Y] = true
		}
	}
	rowBytes := w.im.layout.rowBytes
	for i, needed := range w.needed {
		if needed {
			w.undo(data[i*rowBytes:][:rowBytes], w.im.layout.samples)
		}
	}
}

// passFill passes on the parts of a segment that is not in the file.
func (w *worker) passFill(ctx context.Context, parts []part) error {
	fill := w.im.fill()
	for _, p := range parts {
		for piece := range pieces(p.rect) {
			values := w.values[:piece.Dx()*piece.Dy()]
			for i := range values {
				values[i] = fill
			}
			if err := w.call(ctx, p.window, piece, values); err != nil {
				return err
			}
		}
	}
	return nil
}

// pieces cuts a rectangle into pieces of at most maxValues pixels: rows, or parts of rows if these are longer.
func pieces(r image.Rectangle) iter.Seq[image.Rectangle] {
	return func(yield func(image.Rectangle) bool) {
		if r.Empty() {
			return
		}
		width := min(r.Dx(), maxValues)
		height := maxValues / width
		for y := r.Min.Y; y < r.Max.Y; y += height {
			for x := r.Min.X; x < r.Max.X; x += width {
				if !yield(image.Rect(x, y, min(x+width, r.Max.X), min(y+height, r.Max.Y))) {
					return
				}
			}
		}
	}
}

// call calls the caller's function, unless an error has ended Gather.
func (w *worker) call(ctx context.Context, window int, part image.Rectangle, values []float64) error {
	return w.caller.Call(ctx, func() error { return w.each(window, part, values) })
}
