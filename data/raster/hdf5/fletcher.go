package hdf5

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
)

// A fletcherReader computes the checksum of what it passes on. The last four bytes of its source are the checksum itself.
type fletcherReader struct {
	src  io.Reader
	buf  []byte // what was read; the last four bytes are held back until more follow
	next int    // of buf to pass on
	end  bool
	sum  fletcher32
	rest []byte // for what only the checksum needs
}

const checksumSize = 4

func (r *fletcherReader) reset(src io.Reader) {
	if r.buf == nil {
		r.buf = make([]byte, 0, 32<<10)
	}
	*r = fletcherReader{src: src, buf: r.buf[:0], rest: r.rest}
}

// Read implements [io.Reader].
func (r *fletcherReader) Read(p []byte) (int, error) {
	for len(r.buf)-r.next <= checksumSize {
		if r.end {
			return 0, io.EOF
		}
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.buf[r.next:len(r.buf)-checksumSize])
	r.sum.add(r.buf[r.next : r.next+n])
	r.next += n
	return n, nil
}

func (r *fletcherReader) fill() error {
	r.buf = r.buf[:copy(r.buf, r.buf[r.next:])]
	r.next = 0
	n, err := r.src.Read(r.buf[len(r.buf):cap(r.buf)])
	r.buf = r.buf[:len(r.buf)+n]
	if errors.Is(err, io.EOF) {
		r.end = true
		return nil
	}
	return err
}

// verify reads the rest and compares the checksums.
func (r *fletcherReader) verify(ctx context.Context) error {
	if r.rest == nil {
		r.rest = make([]byte, 32<<10)
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := r.Read(r.rest)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	stored := r.buf[r.next:]
	if len(stored) != checksumSize {
		return io.ErrUnexpectedEOF
	}
	return r.sum.verify(binary.LittleEndian.Uint32(stored))
}

// A fletcher32 is the checksum of the HDF5 library: of 16-bit words with the high byte first, with sums modulo 65535 that are 0 only
// if all words are.
type fletcher32 struct {
	low, high uint64
	odd       bool
	first     byte // of an odd number of bytes so far
	some      bool // a word was not 0
}

// maxWords words can be added before the sums overflow.
const maxWords = 1 << 20

func (f *fletcher32) add(p []byte) {
	if f.odd && len(p) > 0 {
		f.word(uint64(f.first)<<8 | uint64(p[0]))
		f.reduce()
		f.odd, p = false, p[1:]
	}
	for len(p) > 1 {
		n := min(len(p)/2, maxWords)
		low, high := f.low, f.high
		for i := 0; i < 2*n; i += 2 {
			low += uint64(p[i])<<8 | uint64(p[i+1])
			high += low
		}
		f.low, f.high = low, high
		f.some = f.some || low != 0
		f.reduce()
		p = p[2*n:]
	}
	if len(p) > 0 {
		f.odd, f.first = true, p[0]
	}
}

func (f *fletcher32) word(w uint64) {
	f.low += w
	f.high += f.low
	f.some = f.some || f.low != 0
}

// reduce keeps the sums below 2^17.
func (f *fletcher32) reduce() {
	f.low %= 0xffff
	f.high %= 0xffff
}

// verify compares the checksum with a stored one.
func (f fletcher32) verify(want uint32) error {
	got := f.value()
	// Before release 1.6.3 little-endian machines wrote the checksum of other words: those with the bytes swapped.
	swapped := got>>8&0x00ff00ff | got<<8&0xff00ff00
	if want != got && want != swapped {
		return damaged("data have the Fletcher32 checksum %08x, want %08x", got, want)
	}
	return nil
}

func (f fletcher32) value() uint32 {
	if f.odd {
		f.word(uint64(f.first) << 8)
	}
	f.reduce()
	if f.some {
		// The library adds carries to the sums, which makes 65535 of what is 0 here.
		if f.low == 0 {
			f.low = 0xffff
		}
		if f.high == 0 {
			f.high = 0xffff
		}
	}
	return uint32(f.high<<16 | f.low)
}
