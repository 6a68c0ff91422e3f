package tiff

import (
	"bufio"
	"encoding/binary"
	"io"
)

// LZW of TIFF 6.0, section 13: codes of 9 to 12 bits, the highest bit first, whose width grows one code earlier than in other
// formats.
const (
	lzwClear    = 256
	lzwEnd      = 257
	lzwFirst    = 258
	lzwMaxCode  = 4096
	lzwMaxWidth = 12
)

// oldLZW reports whether data were written before TIFF 6.0, with the lowest bit first: a clear code then begins with a zero byte.
func oldLZW(src []byte) bool { return len(src) >= 2 && src[0] == 0 && src[1]&1 == 1 }

func errOldLZW() error {
	return unsupported("LZW with the bit order of TIFF 5; convert the file with: gdal_translate -co COMPRESS=DEFLATE")
}

// An lzwString is the string of a code: a piece of the output before.
type lzwString struct{ start, length int32 }

// An lzwDecoder decodes LZW data as a whole. The string of each code is a piece of the output, because it is that of the code
// before and the byte after it.
type lzwDecoder struct {
	strings [lzwMaxCode]lzwString
}

// decode fills dst, and returns how many bytes it wrote before src or the data ended.
func (d *lzwDecoder) decode(dst, src []byte) (n int, err error) {
	if oldLZW(src) {
		return 0, errOldLZW()
	}
	bits := bitsMSB{src: src}
	width := uint(9)
	next := int32(lzwFirst)
	previous := lzwString{}
	for n < len(dst) {
		code, ok := bits.next(width)
		if !ok || code == lzwEnd {
			return n, nil
		}
		if code == lzwClear {
			width, next, previous = 9, lzwFirst, lzwString{}
			continue
		}
		if previous.length > 0 && next < lzwMaxCode {
			d.strings[next] = lzwString{previous.start, previous.length + 1}
			next++
			if next >= 1<<width-1 && width < lzwMaxWidth {
				width++
			}
		}
		if code < lzwClear {
			dst[n] = byte(code)
			previous = lzwString{int32(n), 1}
			n++
			continue
		}
		if int32(code) >= next {
			return n, damaged("LZW code %d before it is defined", code)
		}
		s := d.strings[code]
		previous = lzwString{int32(n), s.length}
		n = copyForward(dst, n, int(s.start), int(s.length))
	}
	return n, nil
}

// copyForward copies length bytes from position from to position n of dst, one by one where they overlap, and returns the position
// after them, at most len(dst).
func copyForward(dst []byte, n, from, length int) int {
	end := min(n+length, len(dst))
	if n-from >= 8 && end+8 <= len(dst) {
		for n < end {
			binary.LittleEndian.PutUint64(dst[n:], binary.LittleEndian.Uint64(dst[from:]))
			n += 8
			from += 8
		}
		return end
	}
	for n < end {
		dst[n] = dst[from]
		n++
		from++
	}
	return end
}

// bitsMSB reads codes from bytes, the highest bit first.
type bitsMSB struct {
	src   []byte
	at    int
	value uint64 // the next bits are the highest
	count uint
}

// next returns the next code of at most 12 bits. It is not ok after the last whole one.
func (b *bitsMSB) next(width uint) (code uint32, ok bool) {
	if b.count < width {
		if b.at+8 <= len(b.src) {
			b.value |= binary.BigEndian.Uint64(b.src[b.at:]) >> (b.count & 63)
			bytes := (63 - b.count) >> 3
			b.at += int(bytes)
			b.count += 8 * bytes
		} else {
			for b.count <= 56 && b.at < len(b.src) {
				b.value |= uint64(b.src[b.at]) << (56 - b.count)
				b.at++
				b.count += 8
			}
			if b.count < width {
				return 0, false
			}
		}
	}
	code = uint32(b.value >> ((64 - width) & 63))
	b.value <<= width & 63
	b.count -= width
	return code, true
}

// An lzwReader decodes LZW data as a stream, in constant memory: codes are chains of bytes from the last one backwards.
type lzwReader struct {
	src      *bufio.Reader
	value    uint64 // the last bits read are the lowest; count of them are not used yet
	count    uint
	width    uint
	next     uint32
	previous int // code, -1 after a clear code
	err      error

	prefix  [lzwMaxCode]uint16
	suffix  [lzwMaxCode]byte
	first   [lzwMaxCode]byte
	length  [lzwMaxCode]uint16 // at most 4,096
	text    [lzwMaxCode]byte   // of the last code
	pending []byte             // of the string, not read yet
}

func newLZWReader(src *bufio.Reader) *lzwReader {
	r := &lzwReader{src: src}
	for i := range 256 {
		r.suffix[i], r.first[i], r.length[i] = byte(i), byte(i), 1
	}
	r.clear()
	return r
}

func (r *lzwReader) clear() { r.width, r.next, r.previous = 9, lzwFirst, -1 }

// Read implements [io.Reader].
func (r *lzwReader) Read(p []byte) (n int, err error) {
	n = copy(p, r.pending)
	r.pending = r.pending[n:]
	for n < len(p) && r.err == nil {
		var code uint32
		if code, r.err = r.code(); r.err != nil {
			break
		}
		length := int(r.length[code])
		if length <= len(p)-n {
			r.expand(p[n:n+length], code)
			n += length
			continue
		}
		text := r.text[:length]
		r.expand(text, code)
		k := copy(p[n:], text)
		r.pending = text[k:]
		n += k
	}
	if n > 0 {
		return n, nil
	}
	return 0, r.err
}

// expand writes the string of a code.
func (r *lzwReader) expand(dst []byte, code uint32) {
	for i := len(dst) - 1; i >= 0; i-- {
		code &= lzwMaxCode - 1
		dst[i] = r.suffix[code]
		code = uint32(r.prefix[code])
	}
}

// bits reads the bits of the next code.
func (r *lzwReader) bits() (uint32, error) {
	if r.count < r.width {
		head, err := r.src.Peek(6)
		for _, b := range head {
			r.value = r.value<<8 | uint64(b)
			r.count += 8
		}
		r.src.Discard(len(head))
		if r.count < r.width {
			return 0, err
		}
	}
	r.count -= r.width
	return uint32(r.value>>(r.count&63)) & (1<<r.width - 1), nil
}

// code reads codes until one has a string, and defines the next one.
func (r *lzwReader) code() (uint32, error) {
	code, err := r.bits()
	for ; err == nil && code == lzwClear; code, err = r.bits() {
		r.clear()
	}
	if err != nil {
		return 0, err
	}
	if code == lzwEnd {
		return 0, io.EOF
	}
	if r.previous >= 0 && r.next < lzwMaxCode {
		first := r.first[code&(lzwMaxCode-1)]
		if code == r.next { // the string that is being defined begins with the one before
			first = r.first[r.previous]
		}
		r.prefix[r.next] = uint16(r.previous)
		r.suffix[r.next] = first
		r.first[r.next] = r.first[r.previous]
		r.length[r.next] = r.length[r.previous] + 1
		r.next++
		if r.next >= 1<<r.width-1 && r.width < lzwMaxWidth {
			r.width++
		}
	}
	if code >= r.next {
		return 0, damaged("LZW code %d before it is defined", code)
	}
	r.previous = int(code)
	return code, nil
}
