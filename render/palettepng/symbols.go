package palettepng

import (
	"math/bits"
	"slices"
)

// symbols are the bytes of a stream that are not zero, which are few in map tiles, and the gaps between them. Symbol 0 stands
// before the stream, so that 0 can mean no symbol.
type symbols struct {
	at []uint32 // the places of the symbols in the stream; that of symbol 0 is -1
	// words has for each symbol its value, how far the next symbol is from it, the value of that, and so on for four symbols, the first in the lowest
	// byte. A gap is 1 to maxGap; where the next symbol is farther, symbols of the value 0 are between. Behind the last symbol, gaps and values are 0.
	words []uint64
	size  int    // of the stream, bytes
	sum   uint32 // Adler-32 of the stream (RFC 1950, section 8.2)

	// What find knows before the values are final.
	count int      // of the symbols, with symbol 0
	found []uint16 // of each symbol the gap before it, and above it the pixel
	lines []int    // the symbols that are the filter types of lines
	used  [256]bool
	room  []uint64 // for words
}

const (
	maxGap = 255
	// wordSymbols is how many symbols a word has.
	wordSymbols = 4
	// wordSlack is how many words that are 0 follow those of the symbols.
	wordSlack = 2 * wordSymbols
	// partWidth is the width of the parts in which a line is read, so that a column in one is a byte.
	partWidth = 256
)

// columnLists has, for each set of eight columns as bits, the columns in ascending order, the first in the lowest byte.
var columnLists = func() (lists [256]uint64) {
	for set := range lists {
		shift := 0
		for column := range 8 {
			if set>>column&1 != 0 {
				lists[set] |= uint64(column) << shift
				shift += 8
			}
		}
	}
	return lists
}()

// find finds the symbols of an image after a filter, and which pixels there are. Each symbol gets the value of its pixel; give sets the
// final ones. A pixel of the value 0 must get the index 0.
func (s *symbols) find(pixels []uint8, width int, filter Filter) {
	height := len(pixels) / width
	s.reset(height, width)
	var columns [partWidth + 8]uint8
	var last [partWidth]uint8 // the part at the end of a line whose width is not a multiple of partWidth
	zero := false             // whether pixels are left out that are 0 themselves
	for line := 0; len(pixels) > 0; line += 1 + width {
		row := pixels[:width]
		pixels = pixels[width:]
		s.used[row[0]] = true
		filtered := filter == None // whether the filter type is known; that of a line of zeros is None, which is no symbol
		left := uint8(0)
		for from := 0; from < width; from += partWidth {
			part := &last
			if from+partWidth <= width {
				part = (*[partWidth]uint8)(row[from:])
			} else {
				for i := copy(last[:], row[from:]); i < partWidth; i++ {
					last[i] = row[width-1] & filter.mask()
				}
			}
			changed := columns[:changes(&columns, part, left, filter)]
			filler := left
			left = part[partWidth-1] & filter.mask()
			zero = zero || len(changed) < min(partWidth, width-from)
			if len(changed) == 0 {
				continue
			}
			if !filtered {
				filtered = true
				s.add(line, uint8(filter), uint8(s.found[s.count-1]>>8))
				s.lines = append(s.lines, s.count-1)
			}
			place, x := line+1+from, changed[0]
			s.used[part[x]] = true
			s.add(place+int(x), part[x], filler)
			s.addNear(part, changed, place)
		}
	}
	if filter == None && zero {
		s.used[0] = true
	}
}

// reset makes room for the symbols of an image.
func (s *symbols) reset(height, width int) {
	s.size = height * (1 + width)
	most := s.size + s.size/maxGap + 2
	s.found = slices.Grow(s.found[:0], most)[:most]
	s.at = slices.Grow(s.at[:0], most)[:most]
	s.found[0], s.at[0], s.count = 1, ^uint32(0), 1
	s.lines = s.lines[:0]
	s.used = [256]bool{}
}

// changes lists the columns of a part that are not 0 after a filter, and returns how many they are.
func changes(columns *[partWidth + 8]uint8, part *[partWidth]uint8, left uint8, filter Filter) int {
	n, before, mask := 0, uint64(left), -uint64(filter)
	for from := 0; from < partWidth; from += blockSize {
		block := (*[blockSize]uint8)(part[from:])
		if before == 0 && blank(block) {
			continue
		}
		for x := 0; x < blockSize; x += 8 {
			v := word(block[x : x+8])
			set := setOf(v ^ (v<<8|before)&mask)
			before = v >> 56
			putWord(columns[n&(partWidth-1):][:8], columnLists[set]+uint64(from+x)*everyByte)
			n += bits.OnesCount8(set)
		}
	}
	return n
}

// add adds a symbol, and such of the value filler as the gap before it needs.
func (s *symbols) add(place int, value, filler uint8) {
	last := int(int32(s.at[s.count-1]))
	for ; place-last > maxGap; last += maxGap {
		s.put(last+maxGap, maxGap, filler)
	}
	s.put(place, uint8(place-last), value)
}

// addNear adds the symbols of the columns of a part but the first, which is added.
func (s *symbols) addNear(part *[partWidth]uint8, columns []uint8, place int) {
	x := columns[0]
	columns = columns[1:]
	at, found := s.at[s.count:][:len(columns)], s.found[s.count:][:len(columns)]
	for i, column := range columns {
		v := part[column]
		s.used[v] = true
		found[i] = uint16(column-x) | uint16(v)<<8
		at[i] = uint32(place + int(column))
		x = column
	}
	s.count += len(columns)
}

func (s *symbols) put(place int, gap, value uint8) {
	s.found[s.count] = uint16(gap) | uint16(value)<<8
	s.at[s.count] = uint32(place)
	s.count++
}

// give gives the symbols that find has found their values: the indices of their pixels, after the filter.
func (s *symbols) give(index *[256]uint8, filter Filter) {
	s.room = slices.Grow(s.room[:0], s.count+wordSymbols+wordSlack+segment)
	room := s.room[:s.count+wordSymbols+wordSlack]
	s.words = room[wordSymbols:] // a word is complete when the fourth symbol after it is read
	g := giver{a: 1}
	first := 1
	for _, line := range s.lines {
		g.give(room[first:line], s.found[first:line], index, filter.mask())
		room[line] = g.add(uint64(s.found[line]&maxGap), uint64(filter))
		first = line + 1
	}
	g.give(room[first:s.count], s.found[first:s.count], index, filter.mask())
	s.sum = g.sum(s.size - 1 - int(int32(s.at[s.count-1])))
	for i := s.count; i < len(room); i++ {
		room[i] = g.add(0, 0)
	}
}

// A giver makes the words of a stream, and its sum.
type giver struct {
	word uint64
	a, b uint64 // the sums of RFC 1950, which are reduced only at the end: 64 bits hold them up to 300 MB
}

// add adds a symbol after a gap, and returns the word that its gap completes.
func (g *giver) add(gap, value uint64) uint64 {
	w := g.word>>8 | gap<<56
	g.word = w>>8 | value<<56
	g.b += g.a*gap + value
	g.a += value
	return w
}

// give adds the symbols of a line that find has found.
func (g *giver) give(words []uint64, found []uint16, index *[256]uint8, mask uint8) {
	state, left := *g, uint8(0)
	words = words[:len(found)]
	for i, f := range found {
		v := index[f>>8]
		words[i] = state.add(uint64(f&maxGap), uint64(v-left))
		left = v & mask
	}
	*g = state
}

// sum returns the Adler-32 of the stream, which ends with so many zeros.
func (g *giver) sum(zeros int) uint32 {
	const prime = 65521
	return uint32((g.b+g.a*uint64(zeros))%prime<<16 | g.a%prime)
}

// gapAfter returns how far the symbol after i is from it; 0 after the last one.
func (s *symbols) gapAfter(i int) int { return int(s.words[i] >> 8 & maxGap) }
