package palettepng

import "encoding/binary"

// word returns eight bytes, the first as the lowest.
func word(b []uint8) uint64 { return binary.LittleEndian.Uint64(b) }

// putWord writes eight bytes, the lowest first.
func putWord(b []uint8, v uint64) { binary.LittleEndian.PutUint64(b, v) }

const (
	everyByte = 0x0101010101010101
	// lowBits and highBits are the lower seven bits and the highest bit of each byte of a word.
	lowBits, highBits = 0x7f * everyByte, 0x80 * everyByte
)

// setOf returns the bytes of a word that are not 0, as bits.
func setOf(v uint64) uint8 {
	v = ((v & lowBits) + lowBits | v) & highBits
	return uint8(v * 0x0002040810204081 >> 56) // moves each highest bit to its place in the last byte
}

// blockSize is the number of pixels that are skipped together if all are 0.
const blockSize = 32

// blank reports whether all pixels of a block are 0.
func blank(b *[blockSize]uint8) bool {
	return word(b[:8])|word(b[8:16])|word(b[16:24])|word(b[24:]) == 0
}

// packLine writes depth bits, at most 4, of each index of row to line, which has only zeros; the leftmost pixel in the highest bits of its byte
// (section 7.2). The pixel 0 must have the index 0. It writes up to three bytes too many, which are 0.
func packLine(line, row []uint8, index *[256]uint8, depth int) {
	pack := func(pixels []uint8) (packed uint32) {
		for _, v := range pixels {
			packed = packed<<(depth&7) | uint32(index[v])
		}
		return packed << (32 - len(pixels)*depth)
	}
	for len(row) >= 8 {
		if len(row) >= blockSize && blank((*[blockSize]uint8)(row)) {
			line, row = line[blockSize/8*depth:], row[blockSize:]
			continue
		}
		binary.BigEndian.PutUint32(line, pack(row[:8]))
		line, row = line[depth:], row[8:]
	}
	if len(row) > 0 {
		binary.BigEndian.PutUint32(line, pack(row))
	}
}
