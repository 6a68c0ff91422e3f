package inflate

import (
	"encoding/binary"
	"errors"
	"io"
)

// A bitReader has the bits of its source from the lowest one. It reads ahead in the source. Beyond the end of the source bits are
// zero; then fewer than none are left, which short reports.
type bitReader struct {
	r     io.Reader
	err   error // of r, io.EOF at the end
	src   []byte
	at    int
	value uint64
	count uint
	spent int // zero bytes taken beyond the end
}

// inputSize is the size of the buffer of a source, lookahead more than the codes of a block can take: 320 lengths of 14 bits.
const (
	inputSize = 64 << 10
	lookahead = 1 << 10
)

func (b *bitReader) reset(r io.Reader) {
	*b = bitReader{r: r, src: b.src[:0]}
	if cap(b.src) == 0 {
		b.src = make([]byte, 0, inputSize)
	}
}

// ensure makes lookahead bytes available, or all that are left. It returns errors of the source but for its end.
func (b *bitReader) ensure() error {
	if len(b.src)-b.at >= lookahead || b.err != nil {
		return b.failure()
	}
	keep := min(b.at, 8) // bytes that value has, for align
	b.src = b.src[:copy(b.src, b.src[b.at-keep:])]
	b.at = keep
	for idle := 0; len(b.src)-b.at < lookahead && b.err == nil; idle++ {
		n, err := b.r.Read(b.src[len(b.src):cap(b.src)])
		b.src = b.src[:len(b.src)+n]
		b.err = err
		if n > 0 {
			idle = 0
		} else if idle > 100 {
			b.err = io.ErrNoProgress
		}
	}
	return b.failure()
}

func (b *bitReader) failure() error {
	if errors.Is(b.err, io.EOF) {
		return nil
	}
	return b.err
}

// refill makes at least 56 bits available.
func (b *bitReader) refill() {
	if b.at+8 <= len(b.src) {
		b.value |= binary.LittleEndian.Uint64(b.src[b.at:]) << (b.count & 63)
		b.at += int((63 - b.count) >> 3)
		b.count |= 56
		return
	}
	for b.count < 56 {
		if b.at < len(b.src) {
			b.value |= uint64(b.src[b.at]) << (b.count & 63)
			b.at++
		} else {
			b.spent++
		}
		b.count += 8
	}
}

// take returns the next n bits, at most 16, which must be available.
func (b *bitReader) take(n uint) uint32 {
	v := uint32(b.value & (1<<n - 1))
	b.value >>= n
	b.count -= n
	return v
}

// short reports whether more bits were taken than the source has.
func (b *bitReader) short() bool { return uint(8*b.spent) > b.count }

// align drops the bits before the next byte and returns to it.
func (b *bitReader) align() {
	b.take(b.count & 7)
	at := b.at + b.spent - int(b.count/8)
	b.value, b.count, b.spent = 0, 0, 0
	b.at = min(at, len(b.src))
}
