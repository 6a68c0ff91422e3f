package hdf5

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"

	"limnomap/data/raster/blockread"
)

// A byteSource is what decoders read.
type byteSource interface {
	io.Reader
	io.ByteReader
}

func newByteSource(r io.Reader) byteSource {
	if in, ok := r.(byteSource); ok {
		return in
	}
	return bufio.NewReaderSize(r, 16<<10)
}

// maxRead bounds what is read of the file at once.
const maxRead = 256 << 10

// A storedReader reads the stored bytes of a chunk.
type storedReader struct {
	file    *source
	address uint64
	left    uint64
	buf     []byte
	pending []byte // of buf
}

func (r *storedReader) reset(ref chunkRef, data []byte) error {
	if data != nil {
		r.left, r.pending = 0, data
		return nil
	}
	if ref.size > uint64(r.file.size) || ref.address > uint64(r.file.size)-ref.size {
		return damaged("chunk of %d bytes at address %d in a file of %d", ref.size, ref.address, r.file.size)
	}
	r.address, r.left, r.pending = ref.address, ref.size, nil
	return nil
}

func (r *storedReader) fill() error {
	if r.left == 0 {
		return io.EOF
	}
	n := int(min(r.left, maxRead))
	if cap(r.buf) < n {
		r.buf = make([]byte, n)
	}
	if err := r.file.readAt(r.buf[:n], r.address); err != nil {
		return &readError{err}
	}
	r.pending = r.buf[:n]
	r.address += uint64(n)
	r.left -= uint64(n)
	return nil
}

// Read implements [io.Reader].
func (r *storedReader) Read(p []byte) (int, error) {
	if len(r.pending) == 0 {
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.pending)
	r.pending = r.pending[n:]
	return n, nil
}

// ReadByte implements [io.ByteReader].
func (r *storedReader) ReadByte() (byte, error) {
	if len(r.pending) == 0 {
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	b := r.pending[0]
	r.pending = r.pending[1:]
	return b, nil
}

// A readError is an error of the file's reader, not of the data.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

// error tells damaged data from errors of the file's reader.
func (d *decoder) error(err error) error {
	var read *readError
	switch {
	case errors.As(err, &read):
		return read.err
	case errors.Is(err, ErrFormat) || errors.Is(err, ErrUnsupported):
		return err
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return unsupported("a window of Zstandard of more than %d bytes; convert the file with: h5repack -f SHUF -f GZIP=4", zstdWindow(d.chunk))
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return damaged("data end after %d bytes, want %d", d.at, d.chunk)
	default:
		return damaged("%v", err)
	}
}

// pickRaw reads the bytes of spans of a chunk without filters into dst. Spans that lie close together are read at once: over HTTP a
// request costs as much time as some ten KiB.
func (d *decoder) pickRaw(dst []byte, ref chunkRef, data []byte, order *byteOrder, plane int, spans []span) error {
	if data != nil {
		for _, s := range spans {
			start, end := order.locate(plane, s)
			dst = dst[copy(dst, data[start:end]):]
		}
		return nil
	}
	for len(spans) > 0 {
		first, end := order.locate(plane, spans[0])
		n := 1
		for ; n < len(spans); n++ {
			start, next := order.locate(plane, spans[n])
			if start-end > blockread.MaxGap || next-first > maxRead {
				break
			}
			end = next
		}
		at := ref.address + uint64(first)
		if n == 1 {
			if err := d.file.readAt(dst[:end-first], at); err != nil {
				return err
			}
			dst = dst[end-first:]
			spans = spans[1:]
			continue
		}
		buf := d.stored.buffer(int(end - first))
		if err := d.file.readAt(buf, at); err != nil {
			return err
		}
		for _, s := range spans[:n] {
			start, end := order.locate(plane, s)
			dst = dst[copy(dst, buf[start-first:end-first]):]
		}
		spans = spans[n:]
	}
	return nil
}

// buffer returns the reader's buffer for another use.
func (r *storedReader) buffer(n int) []byte {
	if cap(r.buf) < n {
		r.buf = make([]byte, max(n, maxRead))
	}
	return r.buf[:n]
}
