// Package inflate decompresses zlib data (RFC 1950, RFC 1951) of rasters: as a stream, or from one slice into another.
//
// A raster has long runs of one value, such as the fill value over land, and a reader often needs only small parts of the data. So a
// [Reader] skips what is not needed, and while all of the last 32,768 bytes are equal it counts the bytes of matches and does not
// copy them: in such a run, matches of any distance give the same bytes. [Reader.Next] passes such runs on as what they are. A Reader
// takes about 150 KiB of memory and can be reused. It verifies the checksum of data that are read or skipped up to their end.
//
// A [Decoder] is for data that are held as a whole anyway.
//
// Readers and Decoders are not safe for concurrent use. Errors wrap [ErrDamaged], are [io.ErrUnexpectedEOF] for data
// that end too early, or those of a source.
package inflate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ErrDamaged says that data are not zlib data, or damaged ones.
var ErrDamaged = errors.New("damaged deflate data")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// A state says what comes next in the data.
type state uint8

const (
	stateHeader state = iota // of the zlib data
	stateBlock               // a block's header
	stateCodes               // symbols of a block
	stateStored              // bytes of a block without compression
	stateEnd
)

// historySize is the largest distance of a match.
const historySize = 32 << 10

// A Reader reads the decompressed data of a source. The zero value must be reset before use.
type Reader struct {
	// NoChecksum says that the checksum is not verified, for data that are not read to their end. It must be set before Reset.
	NoChecksum bool

	in     bitReader
	tables tables
	state  state
	last   bool // the current block is the last one
	stored int  // bytes that are left in a block without compression
	err    error

	buf    []byte // history, and what was decompressed
	n, out int    // end of what was decompressed, and of what was read
	long   bool   // at least historySize bytes were decompressed
	summed int    // end of what the checksum has
	sum    adlerSum

	run   bool // the history is one value, and not in buf
	value byte // of the run
	ahead int64
}

// Reset begins with the data of another source.
func (r *Reader) Reset(src io.Reader) {
	r.in.reset(src)
	if r.buf == nil {
		r.buf = make([]byte, 2*historySize+fastRoom)
	}
	r.state, r.last, r.stored, r.err = stateHeader, false, 0, nil
	r.n, r.out, r.long = 0, 0, false
	r.summed, r.sum = 0, adlerSum{a: 1}
	r.run, r.ahead = false, 0
}

// Read implements [io.Reader].
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	data, run, value, err := r.Next(int64(len(p)))
	if data != nil {
		return copy(p, data), err
	}
	fill(p[:run], value)
	return int(run), err
}

// Next returns the next bytes, at least one and at most n: either data, which are valid until the next call, or, if data are nil, a run
// of bytes of one value.
func (r *Reader) Next(n int64) (data []byte, run int64, value byte, err error) {
	n = min(n, maxSkip)
	if err := r.need(n); err != nil {
		return nil, 0, 0, err
	}
	if r.run {
		n = min(n, r.ahead)
		r.ahead -= n
		return nil, n, r.value, nil
	}
	data = r.buf[r.out:min(r.n, r.out+int(n))]
	r.out += len(data)
	return data, 0, 0, nil
}

// maxSkip bounds what Next decompresses of a run at once.
const maxSkip = 64 << 20

// need decompresses some bytes if none are ready. In a run it decompresses up to n bytes and a match.
func (r *Reader) need(n int64) error {
	for r.run && r.ahead == 0 || !r.run && r.out == r.n {
		if r.err != nil {
			return r.err
		}
		if r.run {
			r.err = r.decodeRun(n)
			if !r.NoChecksum {
				r.sum.addRun(r.value, r.ahead)
			}
			continue
		}
		r.slide()
		if !r.run {
			r.err = r.decode()
		}
	}
	return nil
}

// slide makes room in the buffer, all of which was read.
func (r *Reader) slide() {
	if r.n+fastRoom <= len(r.buf) {
		return
	}
	r.addSum()
	r.long = true
	history := r.buf[r.n-historySize : r.n]
	if bytes.Equal(history[1:], history[:historySize-1]) {
		r.run, r.value, r.ahead = true, history[0], 0
		return
	}
	r.out = copy(r.buf, history)
	r.n, r.summed = r.out, r.out
}

// addSum adds to the checksum what was decompressed into the buffer.
func (r *Reader) addSum() {
	if !r.NoChecksum {
		r.sum.add(r.buf[r.summed:r.n])
	}
	r.summed = r.n
}

// leave ends a run: it writes the history.
func (r *Reader) leave() {
	fill(r.buf[:historySize], r.value)
	r.run = false
	r.n, r.out, r.summed = historySize, historySize, historySize
}

// fill sets all bytes to one value.
func fill(p []byte, value byte) {
	if len(p) == 0 {
		return
	}
	p[0] = value
	for n := 1; n < len(p); n *= 2 {
		copy(p[n:], p[:n])
	}
}

// decode decompresses until the buffer is full or the data end.
func (r *Reader) decode() error {
	for r.n+fastRoom <= len(r.buf) {
		switch r.state {
		case stateCodes:
			if err := r.block(); err != nil {
				return err
			}
		case stateStored:
			if err := r.copyStored(); err != nil {
				return err
			}
		default:
			if err := r.header(); err != nil {
				return err
			}
		}
	}
	return nil
}

// decodeRun decompresses a run until n bytes are ahead, or it ends.
func (r *Reader) decodeRun(n int64) error {
	for r.run && r.ahead < n {
		switch r.state {
		case stateCodes:
			ended, err := r.runBlock(n)
			switch {
			case err != nil:
				return err
			case ended && r.ahead > 0:
				return nil // the next call leaves the run
			case ended:
				r.leave()
			}
		case stateStored:
			if r.ahead > 0 {
				return nil
			}
			r.leave()
		default:
			if r.ahead > 0 {
				return nil // what was decompressed must be in the checksum when the data end
			}
			if err := r.header(); err != nil {
				return err
			}
		}
	}
	return nil
}

// header reads the header of the data or of the next block. At the end of the data it returns [io.EOF].
func (r *Reader) header() error {
	if r.state == stateEnd {
		return io.EOF
	}
	if err := r.in.ensure(); err != nil {
		return err
	}
	in := &r.in
	in.refill()
	if r.state == stateHeader {
		first, second := in.take(8), in.take(8)
		if in.short() || first&0xf != 8 || (first<<8|second)%31 != 0 || second&0x20 != 0 {
			return damaged("data begin with %02x %02x, want a header of zlib", first, second)
		}
		r.state = stateBlock
		in.refill()
	}
	if r.last {
		return r.end()
	}
	r.last = in.take(1) == 1
	kind := in.take(2)
	if in.short() {
		return io.ErrUnexpectedEOF
	}
	switch kind {
	case 0:
		in.align()
		if in.at+4 > len(in.src) {
			return io.ErrUnexpectedEOF
		}
		r.stored = int(binary.LittleEndian.Uint16(in.src[in.at:]))
		if uint16(r.stored) != ^binary.LittleEndian.Uint16(in.src[in.at+2:]) {
			return damaged("block with a damaged length")
		}
		in.at += 4
		r.state = stateStored
		return nil
	case 1:
		r.state = stateCodes
		return r.tables.fixedCodes()
	case 2:
		r.state = stateCodes
		return r.tables.readCodes(in)
	default:
		return damaged("block of type 3")
	}
}

// end compares the checksums.
func (r *Reader) end() error {
	if !r.run {
		r.addSum()
	}
	in := &r.in
	in.align()
	if in.at+4 > len(in.src) {
		return io.ErrUnexpectedEOF
	}
	if got, want := r.sum.value(), binary.BigEndian.Uint32(in.src[in.at:]); got != want && !r.NoChecksum {
		return damaged("checksum %08x, want %08x", got, want)
	}
	r.state = stateEnd
	return nil
}

// copyStored copies bytes of a block without compression.
func (r *Reader) copyStored() error {
	if r.stored == 0 {
		r.state = stateBlock
		return nil
	}
	if err := r.in.ensure(); err != nil {
		return err
	}
	in := &r.in
	if in.at == len(in.src) {
		return io.ErrUnexpectedEOF
	}
	k := copy(r.buf[r.n:], in.src[in.at:min(len(in.src), in.at+r.stored)])
	in.at += k
	r.n += k
	r.stored -= k
	return nil
}
