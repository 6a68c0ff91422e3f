package palettepng

import (
	"math/bits"
	"slices"
)

// The bounds of deflate (RFC 1951, section 3.2.5).
const (
	window      = 1 << 15
	shortest    = 3 // bytes of a match
	longest     = 258
	endOfBlock  = 256
	lengthCodes = 29
	distances   = 30
)

const (
	// shortestRun is the least number of zeros that are written as one zero and a match with it.
	shortestRun = 8
	// segment is how many symbols are searched together, so that their numbers have 16 bits.
	segment = 1 << 16
	// hashBits is the size of the tables of earlier symbols.
	hashBits = 12
	golden   = 0x9e3779b97f4a7c15 // 2^64 by the golden ratio: a multiplication with it spreads the bits (Knuth, volume 3, section 6.4)
)

// A deflater compresses streams of which most bytes are zero. It looks for repetitions in the list of the others, instead of in the bytes: where
// symbols and the gaps between them repeat, the bytes do.
//
// A mispredicted branch takes as long as a symbol. So link, which looks at each symbol, has none that depends on them, and parse has few.
type deflater struct {
	symbols
	earlier []uint16 // of each symbol, an earlier one of its segment from which on at least three symbols are the same; 0 for none
	tokens  []uint32
	counts  [tokenKinds]uint32 // how often each kind of token is there, and each distance code
	codes   codes
}

// A token has the number of a kind, that of a distance code, the extra bits of the distance, and how many zeros are before it, fewer than shortestRun.
const (
	distanceShift = 10
	extraShift    = 15
	zerosShift    = 28
	noDistance    = distances << distanceShift
)

// The kinds of tokens: literals, the end of the block, and matches by their length. Distance codes are counted behind them.
const (
	matchKind    = endOfBlock + 1 - shortest // and the length
	distanceKind = matchKind + longest + 1   // and the code
	tokenKinds   = distanceKind + distances + 1
)

// deflate appends the compressed symbols to a file.
func (d *deflater) deflate(to []byte) []byte {
	n := len(d.words) - wordSlack
	d.earlier = slices.Grow(d.earlier[:0], n+segment)[:n]
	for first := 0; first < n; first += segment {
		words, ahead := d.words[first:][:segment], d.words[first+wordSymbols-1:][:segment]
		link((*[segment]uint16)(d.earlier[first:][:segment]), (*[segment]uint64)(words), (*[segment]uint64)(ahead), min(n-first, segment))
	}
	d.parse()
	return d.codes.write(to, d.tokens, &d.counts)
}

// link finds an earlier symbol for each of the first n: the last one with the same seven symbols from there on, or else the last with the same three. The
// long ones are what repeats from line to line; a short one that is nearer would hide it. It leaves those out where the next symbol has a better one. The
// words ahead are those of the third symbol after each.
func link(earlier *[segment]uint16, words, ahead *[segment]uint64, n int) {
	// A place in the tables that was not written names symbol 0, whose word is like no other.
	var ofSeven, ofThree [1 << hashBits]uint16
	const three = 5 * 8 // bits: three values and the gaps between them
	agreed, candidate := uint64(0), uint16(0)
	for i := 1; i < n && i < segment; i++ {
		w := words[i]
		hashOfSeven := (w*golden + ahead[i]) * golden >> (64 - hashBits)
		hashOfThree := w << (64 - three) * golden >> (64 - hashBits)
		c, far := ofThree[hashOfThree], ofSeven[hashOfSeven]
		ofThree[hashOfThree], ofSeven[hashOfSeven] = uint16(i), uint16(i)
		differ := words[far] ^ w
		same := ^uint64(int64(differ|-differ) >> 63) // all bits if nothing differs
		differ = words[c] ^ w
		agree := differ ^ (differ - 1) | same // the bits up to the first that differs
		c ^= (c ^ far) & uint16(same)
		if agree < 1<<three {
			agree, c = 0, 0
		}
		if agree > agreed {
			candidate = 0
		}
		earlier[i-1] = candidate
		agreed, candidate = agree, c
	}
	earlier[n-1] = candidate
}

// parse makes tokens of the symbols.
func (d *deflater) parse() {
	d.counts = [tokenKinds]uint32{}
	at, words := d.at, d.words
	n := len(words) - wordSlack
	earlier := d.earlier[:n]
	d.tokens = slices.Grow(d.tokens[:0], 3*n+d.size/maxGap+8)
	tokens, k := d.tokens[:cap(d.tokens)], 0
	written, zeroCount := 0, 0 // bytes of the stream
	for i := 1; i < n; {
		value := uint8(words[i])
		if value == 0 { // one of many zeros
			i++
			continue
		}
		place := int(at[i])
		e := i&^(segment-1) + int(earlier[i])
		distance := place - int(at[e])
		if earlier[i] == 0 || distance > window {
			zeros := place - written
			if zeros >= shortestRun {
				k = d.run(tokens, k, zeros)
				zeros = 0
			}
			zeroCount += zeros
			d.counts[value]++
			tokens[k] = uint32(value) | noDistance | uint32(zeros)<<zerosShift
			k++
			written = place + 1
			i++
			continue
		}
		// The match begins with zeros before the symbol that are not written yet, and goes on over zeros behind the last one.
		first := place - min(place-written, d.gapAfter(e-1)-1)
		last, lastOfEarlier := d.agreement(i, e)
		end := int(at[last]) + max(min(d.gapAfter(last), d.gapAfter(lastOfEarlier)), 1)
		zeros := first - written
		if zeros >= shortestRun {
			k = d.run(tokens, k, zeros)
			zeros = 0
		}
		zeroCount += zeros
		k = d.match(tokens, k, end-first, distance, uint32(zeros)<<zerosShift)
		written = end
		i = last + 1
	}
	if zeros := d.size - written; zeros >= shortestRun {
		k = d.run(tokens, k, zeros)
	} else if zeros > 0 {
		zeroCount += zeros
		tokens[k] = noDistance | uint32(zeros-1)<<zerosShift
		k++
	}
	d.counts[0] += uint32(zeroCount)
	d.counts[endOfBlock]++
	d.tokens = tokens[:k]
}

// agreement returns the last symbols of what is the same from i and from e on.
func (d *deflater) agreement(i, e int) (last, lastOfEarlier int) {
	same := bits.TrailingZeros64(d.words[i] ^ d.words[e])
	for same == 64 {
		i += wordSymbols
		e += wordSymbols
		same = bits.TrailingZeros64(d.words[i] ^ d.words[e])
	}
	more := (same/8+1)/2 - 1
	return i + more, e + more
}

// run puts so many zeros into tokens from number k on, and returns the number behind them.
func (d *deflater) run(tokens []uint32, k, zeros int) int {
	d.counts[0]++
	tokens[k] = noDistance
	return d.match(tokens, k+1, zeros-1, 1, 0)
}

// match puts a match into tokens from number k on, after zeros that are given as in a token, and returns the number behind it.
func (d *deflater) match(tokens []uint32, k, length, distance int, zeros uint32) int {
	x := uint32(distance - 1)
	code, extra := x, uint32(0)
	if x >= 4 {
		n := bits.Len32(x) - 2
		code = uint32(2*n) + x>>n
		extra = x & (1<<n - 1)
	}
	distanceBits := extra<<extraShift | code<<distanceShift
	for length > 0 {
		n := min(length, longest)
		if rest := length - n; rest > 0 && rest < shortest {
			n -= shortest - rest
		}
		length -= n
		d.counts[matchKind+n]++
		d.counts[distanceKind+code]++
		tokens[k] = uint32(matchKind+n) | distanceBits | zeros
		zeros = 0
		k++
	}
	return k
}
