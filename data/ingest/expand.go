package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// maxExpansion is how many times its size a compressed file may expand to, beyond the first freeExpansion bytes. Years
	// of gaps of the same lakes compress to a hundredth. Better ratios are those of decompression bombs: zeros compress to
	// a thousandth with gzip, and better with zstd.
	maxExpansion  = 250
	freeExpansion = 64 << 20
	// maxWindow bounds the memory for zstd. It is the default of the zstd program.
	maxWindow = 128 << 20
)

// compressionOf returns the name of the compression of a file that begins with start, "" if it is not compressed. Zstd has frames, and 16 kinds of
// skippable frames (RFC 8878, section 3.1).
func compressionOf(start []byte) string {
	switch {
	case bytes.HasPrefix(start, []byte("\x1f\x8b")):
		return "gzip"
	case bytes.HasPrefix(start, []byte("\x28\xb5\x2f\xfd")), len(start) >= 4 && start[0]&0xf0 == 0x50 && string(start[1:4]) == "\x2a\x4d\x18":
		return "zstd"
	}
	return ""
}

// decompress returns the expanded file. The caller must call end.
func decompress(r io.Reader, compression string) (expanded io.Reader, end func(), err error) {
	if compression == "gzip" {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, nil, err
		}
		return z, func() { z.Close() }, nil // Read has reported all errors
	}
	// Without its own goroutines: the other core is busy with the store.
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, nil, err
	}
	return z, z.Close, nil
}

// peek returns the beginning of a file, or all of a short one.
func peek(r *bufio.Reader) ([]byte, error) {
	start, err := r.Peek(maxRowBytes)
	if err == io.EOF {
		err = nil
	}
	return start, err
}

// expand returns the expanded file; a file that is not compressed is returned as it is. The caller must call end.
func expand(r io.Reader) (buffered *bufio.Reader, end func(), err error) {
	buffered = bufio.NewReaderSize(r, maxRowBytes)
	start, err := peek(buffered)
	if err != nil {
		return nil, nil, err
	}
	name := compressionOf(start)
	if name == "" {
		return buffered, func() {}, nil
	}
	e := &expansion{name: name, packed: byteCounter{Reader: buffered}}
	if e.Reader, end, err = decompress(&e.packed, name); err != nil {
		return nil, nil, e.damage(err)
	}
	expanded := bufio.NewReaderSize(e, maxRowBytes)
	start, err = peek(expanded)
	if err == nil && compressionOf(start) != "" {
		err = fmt.Errorf("this file is compressed twice, the second time by %s: want a table or GeoJSON that is compressed once", name)
	}
	if err != nil {
		end()
		return nil, nil, err
	}
	return expanded, end, nil
}

// An expansion reads expanded data up to the limit.
type expansion struct {
	io.Reader
	name   string
	packed byteCounter
	bytes  int64
}

func (e *expansion) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	e.bytes += int64(n)
	if e.bytes > freeExpansion+maxExpansion*e.packed.bytes {
		return 0, tooLarge("this %s file expands to more than %d times its size: want a file of real data", e.name, maxExpansion)
	}
	return n, e.damage(err)
}

// damage explains an error of a decoder. Errors of reading the file are returned unchanged.
func (e *expansion) damage(err error) error {
	switch {
	case err == nil || err == io.EOF || e.packed.err != nil && errors.Is(err, e.packed.err):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("this %s file ends early: is it complete?", e.name)
	}
	return fmt.Errorf("this %s file is damaged: %w", e.name, err)
}

// A byteCounter counts the bytes read, and keeps an error other than io.EOF.
type byteCounter struct {
	io.Reader
	bytes int64
	err   error
}

func (c *byteCounter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.bytes += int64(n)
	if err != io.EOF {
		c.err = err
	}
	return n, err
}
