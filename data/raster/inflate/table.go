package inflate

import "math/bits"

// tables are those of the codes of a block.
//
// Entries of a table have, from the lowest bit: 8 bits for the length of the code, 5 for the number of extra bits (of a link: for
// the size of its subtable), three flags, and 15 for the value: a literal, the base of a length or distance, the first entry of a
// subtable. The highest bit marks literals.
type tables struct {
	literals  [litTableSize]uint32
	distances [distTableSize]uint32
	lengths   [maxLitCodes + maxDistCodes]uint8 // of codes
}

// Sizes of tables. A code that is longer than the bits of its table is found in a subtable; the totals are those that zlib's program
// enough.c computes for 286 codes with 11 bits and 30 codes with 9 bits, rounded up.
const (
	litBits       = 11
	distBits      = 9
	litTableSize  = 2400
	distTableSize = 640
	maxLitCodes   = 288
	maxDistCodes  = 32
	maxCodeLength = 15
)

const (
	entryInvalid = 1 << 13
	entryLink    = 1 << 14
	entryEnd     = 1 << 15
	entryOther   = entryInvalid | entryLink | entryEnd
	entryLiteral = 1 << 31
)

// Bases and extra bits of lengths and distances (RFC 1951, section 3.2.5).
var (
	lengthBases = [...]uint16{3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258}
	lengthExtra = [...]uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
	distBases   = [...]uint16{1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577}
	distExtra   = [...]uint8{0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13}
	codeOrder   = [...]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
)

// fixedCodes makes the tables of blocks of type 1 (RFC 1951, section 3.2.6).
func (t *tables) fixedCodes() error {
	lengths := &t.lengths
	for i := range maxLitCodes {
		switch {
		case i < 144:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		case i < 280:
			lengths[i] = 7
		default:
			lengths[i] = 8
		}
	}
	for i := range maxDistCodes {
		lengths[maxLitCodes+i] = 5
	}
	return t.makeTables(maxLitCodes, maxDistCodes)
}

// readCodes reads the lengths of the codes of a block of type 2 (RFC 1951, section 3.2.7), and makes the tables.
func (t *tables) readCodes(in *bitReader) error {
	lits, dists, ordered := int(in.take(5))+257, int(in.take(5))+1, int(in.take(4))+4
	if lits > 286 || dists > 30 {
		return damaged("block with %d and %d codes, want at most 286 and 30", lits, dists)
	}
	var lengths [19]uint8
	for _, i := range codeOrder[:ordered] {
		in.refill()
		lengths[i] = uint8(in.take(3))
	}
	var table [1 << 7]uint32
	if err := makeTable(table[:], 7, lengths[:], func(i int) uint32 { return uint32(i) << 16 }); err != nil {
		return err
	}
	for i := 0; i < lits+dists; {
		in.refill()
		e := table[in.value&(1<<7-1)]
		in.take(uint(e & 0xff))
		if in.short() || e&entryOther != 0 {
			return damaged("block with damaged lengths of codes")
		}
		length, repeat := uint8(e>>16), 1
		switch {
		case length == 16 && i == 0:
			return damaged("block that repeats the length of no code")
		case length == 16:
			length, repeat = t.lengths[i-1], 3+int(in.take(2))
		case length == 17:
			length, repeat = 0, 3+int(in.take(3))
		case length == 18:
			length, repeat = 0, 11+int(in.take(7))
		}
		if i+repeat > lits+dists {
			return damaged("block with more lengths than codes")
		}
		for range repeat {
			t.lengths[i] = length
			i++
		}
	}
	if t.lengths[256] == 0 {
		return damaged("block without an end")
	}
	return t.makeTables(lits, dists)
}

// makeTables makes both tables from the lengths of codes.
func (t *tables) makeTables(lits, dists int) error {
	err := makeTable(t.literals[:], litBits, t.lengths[:lits], func(i int) uint32 {
		switch {
		case i < 256:
			return entryLiteral | uint32(i)<<16
		case i == 256:
			return entryEnd
		case i < 257+len(lengthBases):
			return uint32(lengthBases[i-257])<<16 | uint32(lengthExtra[i-257])<<8
		default:
			return entryInvalid
		}
	})
	if err != nil {
		return err
	}
	return makeTable(t.distances[:], distBits, t.lengths[lits:][:dists], func(i int) uint32 {
		if i < len(distBases) {
			return uint32(distBases[i])<<16 | uint32(distExtra[i])<<8
		}
		return entryInvalid
	})
}

// makeTable makes the table of a canonical code with the given lengths. As in zlib a code must be complete, but for one with a
// single codeword of one bit, or none.
func makeTable(table []uint32, tableBits int, lengths []uint8, entryOf func(symbol int) uint32) error {
	var counts, next [maxCodeLength + 2]int
	for _, l := range lengths {
		counts[l]++
	}
	counts[0] = 0
	left, longest := 1, 0
	for l := 1; l <= maxCodeLength; l++ {
		left = left<<1 - counts[l]
		if left < 0 {
			return damaged("block with too many codes of %d bits", l)
		}
		next[l+1] = next[l] + counts[l]
		if counts[l] > 0 {
			longest = l
		}
	}
	if left > 0 && longest > 1 {
		return damaged("block with an incomplete code")
	}
	var sorted [maxLitCodes]uint16 // symbols by length
	for symbol, l := range lengths {
		if l > 0 {
			sorted[next[l]] = uint16(symbol)
			next[l]++
		}
	}
	primary := table[:1<<tableBits]
	for i := range primary {
		primary[i] = entryInvalid
	}
	used := 1 << tableBits // entries
	code := 0
	i := 0
	for l := 1; l <= longest; l++ {
		for ; counts[l] > 0; counts[l]-- {
			entry := entryOf(int(sorted[i])) | uint32(l)
			i++
			reversed := int(bits.Reverse16(uint16(code)) >> (16 - l))
			code++
			if l <= tableBits {
				for at := reversed; at < len(primary); at += 1 << l {
					primary[at] = entry
				}
				continue
			}
			prefix := reversed & (len(primary) - 1)
			link := primary[prefix]
			if link&entryLink == 0 {
				size := subtableBits(&counts, l, longest, tableBits)
				link = entryLink | uint32(used)<<16 | uint32(size)<<8
				primary[prefix] = link
				used += 1 << size
			}
			sub := table[link>>16:][:1<<(link>>8&31)]
			for at := reversed >> tableBits; at < len(sub); at += 1 << (l - tableBits) {
				sub[at] = entry
			}
		}
		code <<= 1
	}
	return nil
}

// subtableBits returns the size of the subtable that begins with a code of length l: the codes that follow it fill the space
// behind its prefix, so their number says how long the longest of them is.
func subtableBits(remaining *[maxCodeLength + 2]int, l, longest, tableBits int) int {
	size := l - tableBits
	left := 1<<size - remaining[l]
	for left > 0 && size+tableBits < longest {
		size++
		left = left<<1 - remaining[size+tableBits]
	}
	return size
}
