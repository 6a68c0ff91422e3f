package palettepng

import (
	"bytes"
	"encoding/binary"
)

// usedBy reports which palette entries pixels use. It skips rows that equal the one above, and eight pixels that equal
// the eight before.
func usedBy(pixels []uint8, width int) (used [256]bool) {
	for above := pixels[:0]; len(pixels) > 0; pixels = pixels[width:] {
		row := pixels[:width]
		if bytes.Equal(row, above) {
			continue
		}
		last := uint64(row[0]) * 0x0101010101010101
		used[row[0]] = true
		x := 0
		for ; x+8 <= len(row); x += 8 {
			v := word(row[x:])
			if v == last {
				continue
			}
			last = v
			for range 8 {
				used[uint8(v)] = true
				v >>= 8
			}
		}
		for ; x < len(row); x++ {
			used[row[x]] = true
		}
		above = row
	}
	return used
}

// word returns eight bytes, the first as the lowest.
func word(b []uint8) uint64 { return binary.LittleEndian.Uint64(b) }

// lowBits and highBits are the lower seven bits and the highest bit of each byte of a word.
const lowBits, highBits = 0x7f7f7f7f7f7f7f7f, 0x8080808080808080

// minus returns the differences of the bytes of a and b. Setting the highest bits in a and clearing them in b stops each
// borrow at its byte; the xor corrects these bits.
func minus(a, b uint64) uint64 { return ((a | highBits) - (b & lowBits)) ^ ((a ^ ^b) & highBits) }

// mapLine writes the index of each pixel of row to line; with subtract, the difference from the index to the left. Most
// groups of eight pixels equal the eight before.
func mapLine(line, row []uint8, index *[256]uint8, subtract bool) {
	last, mapped := uint64(0), uint64(index[0])*0x0101010101010101
	left := uint64(0)
	x := 0
	for ; x+8 <= len(row); x += 8 {
		if v := word(row[x:]); v != last {
			last = v
			mapped = uint64(index[uint8(v)]) | uint64(index[uint8(v>>8)])<<8 |
				uint64(index[uint8(v>>16)])<<16 | uint64(index[uint8(v>>24)])<<24 |
				uint64(index[uint8(v>>32)])<<32 | uint64(index[uint8(v>>40)])<<40 |
				uint64(index[uint8(v>>48)])<<48 | uint64(index[v>>56])<<56
		}
		out := mapped
		if subtract {
			out = minus(mapped, mapped<<8|left)
			left = mapped >> 56
		}
		binary.LittleEndian.PutUint64(line[x:], out)
	}
	for ; x < len(row); x++ {
		i := index[row[x]]
		line[x] = i - uint8(left)
		if subtract {
			left = uint64(i)
		}
	}
}

// packLine writes depth bits, at most 4, of each index of row to line, the leftmost pixel in the highest bits of its byte
// (section 7.2). It writes up to three bytes too many.
func packLine(line, row []uint8, index *[256]uint8, depth int) {
	pack := func(pixels []uint8) (packed uint32) {
		for _, v := range pixels {
			packed = packed<<(depth&7) | uint32(index[v])
		}
		return packed << (32 - len(pixels)*depth)
	}
	last, packed := uint64(0), pack(make([]uint8, 8))
	for ; len(row) >= 8; line, row = line[depth:], row[8:] {
		if v := word(row); v != last {
			last, packed = v, pack(row[:8])
		}
		binary.BigEndian.PutUint32(line, packed)
	}
	if len(row) > 0 {
		binary.BigEndian.PutUint32(line, pack(row))
	}
}
