package hdf5

import (
	"errors"
	"io"
)

// An lzfReader decodes data of LZF: literal runs of at most 32 bytes, and copies of at most 264 bytes from at most 8,192 bytes before.
type lzfReader struct {
	src  byteSource
	buf  []byte // the history and what was decoded
	next int    // of buf to pass on
}

const (
	lzfHistory = 8192
	lzfBuffer  = 32 << 10
	lzfLongest = 264
)

// Read implements [io.Reader].
func (r *lzfReader) Read(p []byte) (int, error) {
	if r.buf == nil {
		r.buf = make([]byte, 0, lzfBuffer)
	}
	for r.next == len(r.buf) {
		if len(r.buf)+lzfLongest > cap(r.buf) {
			keep := r.buf[len(r.buf)-lzfHistory:]
			r.buf = r.buf[:copy(r.buf[:lzfHistory], keep)]
			r.next = lzfHistory
		}
		for len(r.buf)+lzfLongest <= cap(r.buf) {
			if err := r.step(); err != nil {
				if errors.Is(err, io.EOF) && r.next < len(r.buf) {
					break
				}
				return 0, err
			}
		}
	}
	n := copy(p, r.buf[r.next:])
	r.next += n
	return n, nil
}

// step decodes one run or copy. It returns [io.EOF] at the end of the data, [io.ErrUnexpectedEOF] within a run or copy.
func (r *lzfReader) step() error {
	control, err := r.src.ReadByte()
	if err != nil {
		return err
	}
	if control < 32 {
		n := len(r.buf)
		r.buf = r.buf[:n+int(control)+1]
		if k, err := io.ReadFull(r.src, r.buf[n:]); err != nil {
			r.buf = r.buf[:n+k]
			return within(err)
		}
		return nil
	}
	length := int(control >> 5)
	if length == 7 {
		more, err := r.src.ReadByte()
		if err != nil {
			return within(err)
		}
		length += int(more)
	}
	length += 2
	low, err := r.src.ReadByte()
	if err != nil {
		return within(err)
	}
	distance := int(control&31)<<8 + int(low) + 1
	if distance > len(r.buf) {
		return damaged("LZF data with a distance of %d after %d bytes", distance, len(r.buf))
	}
	for range length {
		r.buf = append(r.buf, r.buf[len(r.buf)-distance])
	}
	return nil
}

// within returns the error for data that end where they must not.
func within(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
