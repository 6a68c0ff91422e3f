package palettepng

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// The bounds of codes (RFC 1951, section 3.2.7).
const (
	maxCodeBits       = 15
	maxLengthCodeBits = 7
	literalCodes      = endOfBlock + 1 + lengthCodes
)

// lengthCode has the code of each length of a match, its number of extra bits and their value (RFC 1951, section 3.2.5).
var lengthCode = func() (all [longest + 1]struct{ code, bits, extra uint8 }) {
	length := shortest
	for code := range lengthCodes - 1 {
		n := max(code/4-1, 0)
		for extra := range 1 << n {
			all[length].code, all[length].bits, all[length].extra = uint8(code), uint8(n), uint8(extra)
			length++
		}
	}
	all[longest].code, all[longest].bits, all[longest].extra = lengthCodes-1, 0, 0
	return all
}()

// distanceBits returns the number of extra bits of a distance code.
func distanceBits(code int) int { return max(code/2-1, 0) }

// codeOrder is the order in which the lengths of the codes for lengths are written.
var codeOrder = [...]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// codes are the Huffman codes of one block.
type codes struct {
	literals  [literalCodes]uint8 // lengths
	distances [distances]uint8
	sorter    []uint32
	spread    []uint32
	// kinds has for each kind of token the bits to write, above their number in the lowest 6 bits; for a distance code the bits above the number of
	// its own bits, and the number with the extra bits.
	kinds [1 << distanceShift]uint32
}

// write appends a block with the tokens, the last of its stream.
func (c *codes) write(to []byte, tokens []uint32, counts *[tokenKinds]uint32) []byte {
	var literals [literalCodes]uint32
	copy(literals[:], counts[:endOfBlock+1])
	for length := shortest; length <= longest; length++ {
		literals[endOfBlock+1+int(lengthCode[length].code)] += counts[matchKind+length]
	}
	c.lengths(c.literals[:], literals[:], maxCodeBits)
	c.lengths(c.distances[:], counts[distanceKind:distanceKind+distances], maxCodeBits)

	size := 0 // bits
	for i, n := range c.literals {
		size += int(n) * int(literals[i])
	}
	for length := shortest; length <= longest; length++ {
		size += int(lengthCode[length].bits) * int(counts[matchKind+length])
	}
	for code, n := range c.distances {
		size += (int(n) + distanceBits(code)) * int(counts[distanceKind+code])
	}
	const header = 512 // bytes, more than any
	to = slices.Grow(to, size/8+header)
	w := bitWriter{out: to[len(to):cap(to)]}
	w.put(1|2<<1, 3) // the last block, with codes of its own
	c.header(&w)
	c.table()
	if c.widest(counts) > maxPut {
		c.spread = spread(c.spread[:0], tokens)
		tokens = c.spread
	}
	c.writeTokens(&w, tokens)
	end := c.kinds[endOfBlock]
	w.put(uint64(end>>6), uint(end&63))
	return to[:cap(to)-len(w.end())]
}

// widest returns how many bits the longest token may have.
func (c *codes) widest(counts *[tokenKinds]uint32) uint {
	var kind, distance uint
	for i, n := range counts[:distanceKind] {
		if n > 0 {
			kind = max(kind, uint(c.kinds[i]&63))
		}
	}
	for i, n := range counts[distanceKind:] {
		if n > 0 {
			distance = max(distance, uint(c.kinds[distanceKind+i]>>4&63))
		}
	}
	return (shortestRun-1)*uint(c.literals[0]) + kind + distance
}

// spread appends tokens with the zeros before them as tokens of their own.
func spread(to, tokens []uint32) []uint32 {
	for _, t := range tokens {
		for range t >> zerosShift {
			to = append(to, noDistance)
		}
		to = append(to, t&(1<<zerosShift-1))
	}
	return to
}

// writeTokens writes tokens, each of at most maxPut bits.
func (c *codes) writeTokens(w *bitWriter, tokens []uint32) {
	// As in kinds, but for each number of zeros.
	var runs [shortestRun]uint64
	for i, zero := 1, uint64(c.kinds[0]); i < shortestRun; i++ {
		runs[i] = (runs[i-1]>>6<<(zero&63)|zero>>6)<<6 | zero&63*uint64(i)
	}
	// As put, but with variables of its own, which the compiler keeps in registers.
	out, bits, n := w.out, w.bits, uint64(w.n)
	for _, t := range tokens {
		run := runs[t>>zerosShift&(shortestRun-1)]
		kind := c.kinds[t&(1<<distanceShift-1)]
		distance := c.kinds[distanceKind+t>>distanceShift&(1<<(extraShift-distanceShift)-1)]
		bits |= run >> 6 << (n & 63)
		n += run & 63
		bits |= uint64(kind>>6) << (n & 63)
		n += uint64(kind & 63)
		extra := t & (1<<zerosShift - 1) >> extraShift
		bits |= (uint64(distance>>10) | uint64(extra)<<(distance&15)) << (n & 63)
		n += uint64(distance >> 4 & 63)
		binary.LittleEndian.PutUint64(out, bits)
		out = out[n>>3:]
		bits >>= n &^ 7 & 63
		n &= 7
	}
	w.out = w.out[len(w.out)-len(out):]
	w.bits, w.n = bits, uint(n)
}

// table fills kinds.
func (c *codes) table() {
	var bitsOf [literalCodes]uint32
	assign(bitsOf[:], c.literals[:])
	for i := range endOfBlock + 1 {
		c.kinds[i] = bitsOf[i]<<6 | uint32(c.literals[i])
	}
	for length := shortest; length <= longest; length++ {
		l := &lengthCode[length]
		n := c.literals[endOfBlock+1+int(l.code)]
		c.kinds[matchKind+length] = (bitsOf[endOfBlock+1+int(l.code)]|uint32(l.extra)<<n)<<6 | uint32(n+l.bits)
	}
	var bitsOfDistances [distances]uint32
	assign(bitsOfDistances[:], c.distances[:])
	for i, n := range c.distances {
		c.kinds[distanceKind+i] = bitsOfDistances[i]<<10 | (uint32(n)+uint32(distanceBits(i)))<<4 | uint32(n)
	}
	c.kinds[distanceKind+distances] = 0
}

// header writes the lengths of the codes, with repetitions (RFC 1951, section 3.2.7).
func (c *codes) header(w *bitWriter) {
	trim := func(lengths []uint8, least int) []uint8 {
		for len(lengths) > least && lengths[len(lengths)-1] == 0 {
			lengths = lengths[:len(lengths)-1]
		}
		return lengths
	}
	literals, distances := trim(c.literals[:], endOfBlock+1), trim(c.distances[:], 1)
	var all [literalCodes + 30]uint8
	lengths := append(append(all[:0], literals...), distances...)
	var list [literalCodes + 30]uint16 // a code for a length, and the extra bits above it
	items := list[:0]
	var counts [19]uint32
	for i := 0; i < len(lengths); {
		v, run := lengths[i], 1
		for i+run < len(lengths) && lengths[i+run] == v {
			run++
		}
		i += run
		item := func(code uint8, extra int) {
			items = append(items, uint16(extra)<<5|uint16(code))
			counts[code]++
		}
		if v != 0 {
			item(v, 0)
			run--
		}
		for run > 0 {
			switch {
			case v == 0 && run >= 11:
				n := min(run, 138)
				item(18, n-11)
				run -= n
			case v == 0 && run >= 3:
				item(17, run-3)
				run = 0
			case v != 0 && run >= 3:
				n := min(run, 6)
				item(16, n-3)
				run -= n
			default:
				item(v, 0)
				run--
			}
		}
	}
	var own [19]uint8
	c.lengths(own[:], counts[:], maxLengthCodeBits)
	var bitsOf [19]uint32
	assign(bitsOf[:], own[:])
	n := len(codeOrder)
	for n > 4 && own[codeOrder[n-1]] == 0 {
		n--
	}
	w.put(uint64(len(literals)-257)|uint64(len(distances)-1)<<5|uint64(n-4)<<10, 14)
	for _, code := range codeOrder[:n] {
		w.put(uint64(own[code]), 3)
	}
	extraBits := [19]uint{16: 2, 17: 3, 18: 7}
	for _, it := range items {
		code := it & 31
		w.put(uint64(bitsOf[code])|uint64(it>>5)<<own[code], uint(own[code])+extraBits[code])
	}
}

// lengths sets the lengths of the codes of a Huffman code that is no longer than most bits: 0 for what does not occur.
func (c *codes) lengths(lengths []uint8, counts []uint32, most int) {
	clear(lengths)
	const numberBits = 9
	keys := c.sorter[:0]
	for i, n := range counts {
		if n > 0 {
			keys = append(keys, min(n, 1<<(32-numberBits)-1)<<numberBits|uint32(i))
		}
	}
	c.sorter = keys
	if len(keys) < 2 {
		for _, k := range keys {
			lengths[k&(1<<numberBits-1)] = 1
		}
		return
	}
	slices.Sort(keys)
	var tree [literalCodes]uint32
	a := tree[:len(keys)]
	for i, k := range keys {
		a[i] = k >> numberBits
	}
	depths(a)
	// Kraft's sum, in units of the longest code, must be that of a full tree.
	sum := 0
	for i, n := range a {
		a[i] = min(n, uint32(most))
		sum += 1 << (most - int(a[i]))
	}
	for i := 0; sum > 1<<most; i++ { // the rarest first
		for a[i] < uint32(most) && sum > 1<<most {
			a[i]++
			sum -= 1 << (most - int(a[i]))
		}
	}
	for i := len(a) - 1; i >= 0 && sum < 1<<most; i-- {
		for a[i] > 1 && sum+1<<(most-int(a[i])) <= 1<<most {
			sum += 1 << (most - int(a[i]))
			a[i]--
		}
	}
	for i, k := range keys {
		lengths[k&(1<<numberBits-1)] = uint8(a[i])
	}
}

// depths replaces weights in ascending order, two at least, by the depths of the leaves of a Huffman tree, in place (Moffat and Katajainen, In-place
// calculation of minimum-redundancy codes, 1995).
func depths(a []uint32) {
	n := len(a)
	a[0] += a[1]
	root, leaf := 0, 2
	for next := 1; next < n-1; next++ {
		if leaf >= n || a[root] < a[leaf] {
			a[next] = a[root]
			a[root] = uint32(next)
			root++
		} else {
			a[next] = a[leaf]
			leaf++
		}
		if leaf >= n || root < next && a[root] < a[leaf] {
			a[next] += a[root]
			a[root] = uint32(next)
			root++
		} else {
			a[next] += a[leaf]
			leaf++
		}
	}
	a[n-2] = 0
	for next := n - 3; next >= 0; next-- {
		a[next] = a[a[next]] + 1
	}
	free, used, depth := 1, 0, uint32(0)
	root = n - 2
	for next := n - 1; free > 0; {
		for root >= 0 && a[root] == depth {
			used++
			root--
		}
		for free > used {
			a[next] = depth
			next--
			free--
		}
		free = 2 * used
		depth++
		used = 0
	}
}

// assign sets the bits of a canonical Huffman code, the first in the lowest place (RFC 1951, section 3.2.2).
func assign(codes []uint32, lengths []uint8) {
	var counts, next [maxCodeBits + 1]uint32
	for _, n := range lengths {
		counts[n]++
	}
	counts[0] = 0
	for n := 1; n <= maxCodeBits; n++ {
		next[n] = (next[n-1] + counts[n-1]) << 1
	}
	for i, n := range lengths {
		if n > 0 {
			codes[i] = uint32(bits.Reverse16(uint16(next[n])) >> (16 - n))
			next[n]++
		}
	}
}

// maxPut is how many bits can be put at a time: those of a word, less the 7 that may be left from before.
const maxPut = 64 - 7

// A bitWriter writes bits, the lowest first, into out, which has room for 8 bytes more than is written.
type bitWriter struct {
	out  []byte // the part that is not written
	bits uint64
	n    uint // bits that are not complete bytes yet
}

func (w *bitWriter) put(v uint64, n uint) {
	w.bits |= v << (w.n & 63)
	w.n += n
	binary.LittleEndian.PutUint64(w.out, w.bits)
	w.out = w.out[w.n>>3:]
	w.bits >>= w.n &^ 7 & 63
	w.n &= 7
}

// end writes the last bits, and returns the rest of out.
func (w *bitWriter) end() []byte {
	if w.n > 0 {
		return w.out[1:]
	}
	return w.out
}
