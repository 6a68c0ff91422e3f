package hdf5

import (
	"bufio"
	"bytes"
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

// source returns the stored bytes of a chunk, which may have been read already.
func (d *decoder) source(ref chunkRef, data []byte) (byteSource, error) {
	if data != nil {
		return bytes.NewReader(data), nil
	}
	if ref.size > uint64(d.file.size) || ref.address > uint64(d.file.size)-ref.size {
		return nil, damaged("chunk of %d bytes at address %d in a file of %d", ref.size, ref.address, d.file.size)
	}
	read := func(p []byte, at int64) error { return d.file.readAt(p, uint64(at)) }
	in := blockread.NewRangeReader(read, int64(ref.address), int64(ref.size))
	if d.stored == nil {
		d.stored = bufio.NewReaderSize(in, maxRead)
	}
	d.stored.Reset(in)
	return d.stored, nil
}

// error tells damaged data from errors of the file's reader.
func (d *decoder) error(err error) error {
	var file *blockread.FileError
	switch {
	case errors.As(err, &file):
		return file.Err
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
		if d.gathered == nil {
			d.gathered = make([]byte, maxRead)
		}
		buf := d.gathered[:end-first]
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
