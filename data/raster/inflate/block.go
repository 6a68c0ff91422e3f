package inflate

import (
	"encoding/binary"
	"io"
)

// block decodes symbols of a block until it ends or the buffer is full.
func (r *Reader) block() error {
	in := &r.in
	for r.n+fastRoom <= len(r.buf) {
		if err := in.ensure(); err != nil {
			return err
		}
		n, ended, err := r.tables.blockFast(r.buf, r.n, in)
		r.n = n
		if ended {
			r.state = stateBlock
		}
		if ended || err != nil || r.n+fastRoom > len(r.buf) {
			return err
		}
		if len(in.src)-in.at >= lookahead {
			continue
		}
		in.refill()
		e, err := r.tables.literal(in)
		switch {
		case err != nil:
			return err
		case e&entryEnd != 0:
			r.state = stateBlock
			return nil
		case e&entryLiteral != 0:
			r.buf[r.n] = byte(e >> 16)
			r.n++
			continue
		}
		length, distance, err := r.tables.match(in, e)
		if err != nil {
			return err
		}
		if distance > r.n && !r.long || distance > historySize {
			return damaged("distance of %d after %d bytes", distance, r.n)
		}
		r.n = copyMatch(r.buf, r.n, distance, length)
	}
	return nil
}

// Room that blockFast needs in dst and src: three literals, a match of 258 bytes and the overrun of its copy; two refills.
const (
	fastRoom  = 3 + 258 + 8
	fastInput = 16
)

// blockFast decodes symbols as long as bounds need not be checked for each: most of a block.
func (t *tables) blockFast(dst []byte, n int, in *bitReader) (_ int, ended bool, err error) {
	src, at, value, count := in.src, in.at, in.value, in.count
	if in.spent > 0 {
		return n, false, nil
	}
	literals, distances := (*[1 << litBits]uint32)(t.literals[:]), (*[1 << distBits]uint32)(t.distances[:])
	for n+fastRoom <= len(dst) && at+fastInput <= len(src) {
		value |= binary.LittleEndian.Uint64(src[at:]) << (count & 63)
		at += int((63 - count) >> 3)
		count |= 56
		e := literals[value&(1<<litBits-1)]
		if e&entryLiteral != 0 { // at most 11 bits each: three fit in
			value >>= e & 63
			count -= uint(e & 63)
			dst[n] = byte(e >> 16)
			n++
			e = literals[value&(1<<litBits-1)]
			if e&entryLiteral != 0 {
				value >>= e & 63
				count -= uint(e & 63)
				dst[n] = byte(e >> 16)
				n++
				e = literals[value&(1<<litBits-1)]
				if e&entryLiteral != 0 {
					value >>= e & 63
					count -= uint(e & 63)
					dst[n] = byte(e >> 16)
					n++
					continue
				}
			}
			value |= binary.LittleEndian.Uint64(src[at:]) << (count & 63)
			at += int((63 - count) >> 3)
			count |= 56
		}
		if e&entryOther != 0 {
			if e&entryLink != 0 {
				e = t.literals[e>>16+uint32(value>>litBits)&(1<<(e>>8&31)-1)]
			}
			if e&entryLiteral != 0 {
				value >>= e & 63
				count -= uint(e & 63)
				dst[n] = byte(e >> 16)
				n++
				continue
			}
			if e&entryEnd != 0 {
				value >>= e & 63
				count -= uint(e & 63)
				ended = true
				break
			}
			if e&entryInvalid != 0 {
				return n, false, damaged("undefined code")
			}
		}
		// A length and a distance take at most 15 + 5 + 15 + 13 bits.
		length := int(e>>16) + int(value>>(e&63)&(1<<(e>>8&31)-1))
		used := e&63 + e>>8&31
		value >>= used & 63
		count -= uint(used)
		e = distances[value&(1<<distBits-1)]
		if e&entryLink != 0 {
			e = t.distances[e>>16+uint32(value>>distBits)&(1<<(e>>8&31)-1)]
		}
		distance := int(e>>16) + int(value>>(e&63)&(1<<(e>>8&31)-1))
		used = e&63 + e>>8&31
		value >>= used & 63
		count -= uint(used)
		if e&entryOther != 0 || distance > n {
			return n, false, damaged("distance of %d after %d bytes", distance, n)
		}
		n = copyMatch(dst, n, distance, length)
	}
	// Bits beyond count may be in value already: refill sets the same bits again.
	in.at, in.value, in.count = at, value, count
	return n, ended, nil
}

// runBlock counts the bytes of symbols that go on with the run, until n are ahead or the block ends. It reports whether the next
// symbol, which it does not take, ends the run.
func (r *Reader) runBlock(n int64) (ended bool, err error) {
	in := &r.in
	for r.ahead < n && r.state == stateCodes {
		if err := in.ensure(); err != nil {
			return false, err
		}
		if ended, err = r.runFast(n); ended || err != nil || r.state != stateCodes {
			return ended, err
		}
		if len(in.src)-in.at >= lookahead {
			continue
		}
		in.refill()
		before := *in
		e, err := r.tables.literal(in)
		switch {
		case err != nil:
			return false, err
		case e&entryLiteral != 0:
			if byte(e>>16) != r.value {
				*in = before
				return true, nil
			}
			r.ahead++
		case e&entryEnd != 0:
			r.state = stateBlock
		default:
			length, distance, err := r.tables.match(in, e)
			if err != nil {
				return false, err
			}
			if distance > historySize {
				return false, damaged("distance of %d", distance)
			}
			r.ahead += int64(length)
		}
	}
	return false, nil
}

// runFast does so as long as bounds need not be checked for each symbol.
func (r *Reader) runFast(n int64) (ended bool, err error) {
	in, ahead := &r.in, r.ahead
	src, at, value, count := in.src, in.at, in.value, in.count
	if in.spent > 0 {
		return false, nil
	}
	t := &r.tables
	literals, distances := (*[1 << litBits]uint32)(t.literals[:]), (*[1 << distBits]uint32)(t.distances[:])
loop:
	for ahead < n && at+fastInput <= len(src) {
		value |= binary.LittleEndian.Uint64(src[at:]) << (count & 63)
		at += int((63 - count) >> 3)
		count |= 56
		// A length and a distance take at most 15 + 5 + 15 + 13 bits.
		for count >= 48 {
			e := literals[value&(1<<litBits-1)]
			if e&entryLiteral == 0 && e&entryLink != 0 {
				e = t.literals[e>>16+uint32(value>>litBits)&(1<<(e>>8&31)-1)]
			}
			if e&entryLiteral != 0 {
				if byte(e>>16) != r.value {
					ended = true
					break loop
				}
				value >>= e & 63
				count -= uint(e & 63)
				ahead++
				continue
			}
			if e&entryOther != 0 {
				if e&entryInvalid != 0 {
					return false, damaged("undefined code")
				}
				value >>= e & 63
				count -= uint(e & 63)
				r.state = stateBlock
				break loop
			}
			length := int64(e>>16) + int64(value>>(e&63)&(1<<(e>>8&31)-1))
			used := e&63 + e>>8&31
			value >>= used & 63
			count -= uint(used)
			e = distances[value&(1<<distBits-1)]
			if e&entryLink != 0 {
				e = t.distances[e>>16+uint32(value>>distBits)&(1<<(e>>8&31)-1)]
			}
			used = e&63 + e>>8&31
			value >>= used & 63
			count -= uint(used)
			if e&entryOther != 0 {
				return false, damaged("undefined distance")
			}
			ahead += length
		}
	}
	in.at, in.value, in.count = at, value, count
	r.ahead = ahead
	return ended, nil
}

// literal takes the code of a literal, of a length, or of the end of a block.
func (t *tables) literal(in *bitReader) (uint32, error) {
	e := t.literals[in.value&(1<<litBits-1)]
	if e&entryLink != 0 {
		e = t.literals[e>>16+uint32(in.value>>litBits)&(1<<(e>>8&31)-1)]
	}
	in.take(uint(e & 0xff))
	switch {
	case in.short():
		return 0, io.ErrUnexpectedEOF
	case e&entryLiteral == 0 && e&entryInvalid != 0:
		return 0, damaged("undefined code")
	}
	return e, nil
}

// match takes the rest of a match whose length has the entry e.
func (t *tables) match(in *bitReader, e uint32) (length, distance int, err error) {
	length = int(e>>16 + in.take(uint(e>>8&31)))
	e = t.distances[in.value&(1<<distBits-1)]
	if e&entryLink != 0 {
		e = t.distances[e>>16+uint32(in.value>>distBits)&(1<<(e>>8&31)-1)]
	}
	in.take(uint(e & 0xff))
	distance = int(e>>16 + in.take(uint(e>>8&31)))
	switch {
	case in.short():
		return 0, 0, io.ErrUnexpectedEOF
	case e&entryOther != 0:
		return 0, 0, damaged("undefined distance")
	}
	return length, distance, nil
}

// copyMatch copies length bytes, at most 258, from distance bytes before n. It may write 7 bytes beyond them.
func copyMatch(dst []byte, n, distance, length int) int {
	end := n + length
	from := n - distance
	switch {
	case distance >= 8:
		for at := n; at < end; at += 8 {
			binary.LittleEndian.PutUint64(dst[at:], binary.LittleEndian.Uint64(dst[from:]))
			from += 8
		}
	case distance == 1:
		v := uint64(dst[from]) * 0x0101010101010101
		for at := n; at < end; at += 8 {
			binary.LittleEndian.PutUint64(dst[at:], v)
		}
	default:
		for at := n; at < end; at++ {
			dst[at] = dst[from]
			from++
		}
	}
	return end
}
