package inflate

import (
	"encoding/binary"
	"io"
)

// A Decoder decompresses zlib data from one slice into another. Because it has the whole input and the whole output it is faster than a
// [Reader] for data without long runs, and it needs no memory but its tables. It can be reused.
type Decoder struct{ tables tables }

// Decode fills dst, and returns how many bytes it wrote before the data ended. If they end with dst, it verifies their checksum.
func (d *Decoder) Decode(dst, src []byte) (n int, err error) {
	if len(src) < 2 || src[0]&0xf != 8 || (uint(src[0])<<8|uint(src[1]))%31 != 0 || src[1]&0x20 != 0 {
		return 0, damaged("data begin with % x, want a header of zlib", src[:min(2, len(src))])
	}
	in := &bitReader{err: io.EOF, src: src, at: 2}
	for last := false; !last; {
		in.refill()
		last = in.take(1) == 1
		full := false
		switch kind := in.take(2); kind {
		case 0:
			n, full, err = in.stored(dst, n)
		case 1:
			if err = d.tables.fixedCodes(); err == nil {
				n, full, err = d.block(dst, n, in)
			}
		case 2:
			if err = d.tables.readCodes(in); err == nil {
				n, full, err = d.block(dst, n, in)
			}
		default:
			err = damaged("block of type 3")
		}
		if err != nil || full {
			return n, err
		}
	}
	in.align()
	at := in.at
	if at+4 > len(src) {
		return n, io.ErrUnexpectedEOF
	}
	sum := adlerSum{a: 1}
	sum.add(dst[:n])
	if got, want := sum.value(), binary.BigEndian.Uint32(src[at:]); got != want {
		return n, damaged("checksum %08x, want %08x", got, want)
	}
	return n, nil
}

// stored copies a block without compression. It is full if dst has no room for all of it.
func (b *bitReader) stored(dst []byte, n int) (_ int, full bool, err error) {
	b.align()
	at := b.at
	if at+4 > len(b.src) {
		return n, false, io.ErrUnexpectedEOF
	}
	length := int(binary.LittleEndian.Uint16(b.src[at:]))
	if ^binary.LittleEndian.Uint16(b.src[at:]) != binary.LittleEndian.Uint16(b.src[at+2:]) {
		return n, false, damaged("block with a damaged length")
	}
	at += 4
	data := b.src[at:min(at+length, len(b.src))]
	copied := copy(dst[n:], data)
	b.at = at + copied
	switch {
	case copied == length:
		return n + copied, false, nil
	case n+copied == len(dst):
		return n + copied, true, nil
	default:
		return n + copied, false, io.ErrUnexpectedEOF
	}
}

// block decodes the symbols of a block. It is full if dst has no room for all of them.
func (d *Decoder) block(dst []byte, n int, in *bitReader) (_ int, full bool, err error) {
	n, ended, err := d.tables.blockFast(dst, n, in)
	for err == nil && !ended {
		in.refill()
		e, err := d.tables.literal(in)
		switch {
		case err != nil:
			return n, false, err
		case e&entryEnd != 0:
			return n, false, nil
		case n == len(dst):
			return n, true, nil
		case e&entryLiteral != 0:
			dst[n] = byte(e >> 16)
			n++
			continue
		}
		length, distance, err := d.tables.match(in, e)
		if err != nil {
			return n, false, err
		}
		if distance > n {
			return n, false, damaged("distance of %d after %d bytes", distance, n)
		}
		for end := min(n+length, len(dst)); n < end; n++ {
			dst[n] = dst[n-distance]
			length--
		}
		if length > 0 {
			return n, true, nil
		}
	}
	return n, false, err
}
