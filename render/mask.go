package render

import (
	"math"
	"math/bits"

	"github.com/paulmach/orb"
)

const (
	// samples is the number of rows and columns of samples in a pixel: sixteen samples give quarters, also along edges that
	// are nearly horizontal.
	samples = 4
	// wordPixels is the number of pixels whose samples of one row fit into a word.
	wordPixels = 64 / samples
	// whole is the number of samples of a pixel.
	whole = samples * samples
)

// Kinds of blocks of wordPixels pixels, as sets: the kind of several blocks is the union.
const (
	blockDry   = 1
	blockWater = 2
	blockMixed = blockDry | blockWater
)

// A mask has the samples of a part of a window that are water. It is computed with integers, so that it does not depend on
// where the window begins; libraries that rasterise do, in the last bit. It uses the even-odd rule, which does not
// need to know whether a ring is a hole.
type mask struct {
	left, top     int // column and row of the window where the mask begins
	words, height int // the width in words, and the height in pixels
	edge          int // width in pixels of the line around the water

	toggles []uint64 // for each sample: whether water and land are exchanged from there eastwards
	// cover is the number of water samples by pixel, blocks the kind of each wordPixels of them. Both have a margin: one word
	// left and right, and the width of the line above and below.
	cover  []uint8
	blocks []uint8
}

// A rectangle is a range of pixels of a window, its ends exclusive. It may extend beyond the window.
type rectangle struct{ left, top, right, bottom int64 }

// rectangleOf returns the pixels of w that a range of units from its corner touches.
func rectangleOf(left, top, right, bottom int64, w window) rectangle {
	step := w.step()
	return rectangle{floorDiv(left, step), floorDiv(top, step), floorDiv(right, step) + 1, floorDiv(bottom, step) + 1}
}

// reset makes m an empty mask of the part of w that a water within r can change. It reports whether there is any.
func (m *mask) reset(w window, r rectangle) bool {
	m.edge = w.scale
	// The line is outside of the water, and extends into the window from water that is outside of it.
	line := int64(m.edge)
	left, top := max(r.left, 0)-line, max(r.top, 0)-line
	right, bottom := min(r.right, int64(w.width))+line, min(r.bottom, int64(w.height))+line
	if left >= right || top >= bottom {
		return false
	}
	m.left, m.top = int(left), int(top)
	m.words, m.height = int(right-left+wordPixels-1)/wordPixels, int(bottom-top)
	n := m.words * m.height * samples
	if cap(m.toggles) < n {
		m.toggles = make([]uint64, n)
	}
	m.toggles = m.toggles[:n]
	clear(m.toggles)
	return true
}

// A sampling has the positions of the samples of a mask in units from its north-west corner.
type sampling struct {
	first int64 // position of the first one
	shift uint  // log2 of the distance from one to the next
}

func samplingOf(w window) sampling {
	shift := uint(bits.TrailingZeros64(uint64(w.step() / samples)))
	return sampling{first: 1 << shift / 2, shift: shift}
}

// from returns the first sample at x or beyond.
func (s sampling) from(x int64) int64 { return (x - s.first + 1<<s.shift - 1) >> s.shift }

// toggle exchanges water and land from a sample of a row eastwards.
func (m *mask) toggle(row, sample int64) {
	if sample = max(sample, 0); sample < int64(m.words)*64 {
		m.toggles[row*int64(m.words)+sample>>6] ^= 1 << (sample & 63)
	}
}

// segment exchanges water and land east of the line from a to b, in units from the corner of the mask and less than 2^31
// apart. The segments of a closed ring exchange its inside.
func (m *mask) segment(ax, ay, bx, by int64, s sampling) {
	if ay > by {
		ax, ay, bx, by = bx, by, ax, ay
	}
	// A sample at the end of two segments belongs to the southern one, so that it is counted once.
	from, to := max(s.from(ay), 0), min(s.from(by), int64(m.height)*samples)
	if from >= to {
		return
	}
	// x is where the segment crosses a row of samples, rounded up: ax + (y-ay)*dx/dy, kept as a quotient and a remainder.
	dx, dy := bx-ax, by-ay
	n := (from<<s.shift+s.first-ay)*dx + dy - 1
	x := floorDiv(n, dy)
	rest := n - x*dy
	x += ax
	stride := floorDiv(dx<<s.shift, dy)
	more := dx<<s.shift - stride*dy
	for row := from; row < to; row++ {
		m.toggle(row, s.from(x))
		x += stride
		if rest += more; rest >= dy {
			x++
			rest -= dy
		}
	}
}

// disc exchanges water and land in the circle around x, y, in units from the corner of the mask.
func (m *mask) disc(x, y, radius int64, s sampling) {
	from, to := max(s.from(y-radius), 0), min(s.from(y+radius+1), int64(m.height)*samples)
	for row := from; row < to; row++ {
		dy := row<<s.shift + s.first - y
		// All processors round a square root in the same way.
		half := int64(math.Sqrt(float64(radius*radius - dy*dy)))
		m.toggle(row, s.from(x-half))
		m.toggle(row, s.from(x+half+1))
	}
}

// count computes cover and blocks from the toggles.
func (m *mask) count() {
	stride := m.words + 2
	n := stride * (m.height + 2*m.edge)
	if cap(m.blocks) < n {
		m.blocks, m.cover = make([]uint8, n), make([]uint8, n*wordPixels)
	}
	m.blocks, m.cover = m.blocks[:n], m.cover[:n*wordPixels]
	clear(m.cover)
	for i := range m.blocks {
		m.blocks[i] = blockDry
	}
	for row := range m.height {
		rows := m.toggles[row*samples*m.words : (row+1)*samples*m.words]
		for i := range samples {
			flood(rows[i*m.words : (i+1)*m.words])
		}
		for k := range m.words {
			a, b, c, d := rows[k], rows[m.words+k], rows[2*m.words+k], rows[3*m.words+k]
			if a|b|c|d == 0 {
				continue
			}
			at := (row+m.edge)*stride + k + 1
			m.blocks[at] = blockMixed
			if a&b&c&d == math.MaxUint64 {
				m.blocks[at] = blockWater
			}
			countSamples((*[wordPixels]uint8)(m.cover[at*wordPixels:]), [samples]uint64{a, b, c, d})
		}
	}
}

// flood converts the toggles of a row of samples to water.
func flood(row []uint64) {
	water := uint64(0) // all ones if the sample before is water
	for i, v := range row {
		if v != 0 {
			for shift := 1; shift < 64; shift *= 2 {
				v ^= v << shift
			}
		}
		v ^= water
		row[i] = v
		water = -(v >> 63)
	}
}

// countSamples counts the ones of each pixel in four words.
func countSamples(n *[wordPixels]uint8, words [samples]uint64) {
	const twos, fours, eights = 0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f
	var even, odd uint64
	for _, v := range words {
		v -= v >> 1 & twos
		v = v&fours + v>>2&fours
		even += v & eights
		odd += v >> 4 & eights
	}
	for i := 0; i < wordPixels; i += 2 {
		n[i], n[i+1] = uint8(even), uint8(odd)
		even, odd = even>>8, odd>>8
	}
}

// paint draws the water, and the lines around it, on the pixels of w.
func (m *mask) paint(dst []uint8, w window, k *ink) {
	m.count()
	stride := m.words + 2
	for row := max(-m.top, 0); row < min(m.height, w.height-m.top); row++ {
		line := dst[(m.top+row)*w.width:][:w.width]
		lines := k.hatched.linesOf(w, m.top+row)
		for word := range m.words {
			at := (row+m.edge)*stride + word + 1
			left := m.left + word*wordPixels
			from, to := max(-left, 0), min(wordPixels, w.width-left)
			if from >= to {
				continue
			}
			pixels := line[left+from : left+to]
			switch {
			case k.hatched == nil && m.around(at) == blockWater:
				for i := range pixels {
					pixels[i] = k.entries[wholeCode]
				}
			case m.around(at) != blockDry:
				for i := range pixels {
					code := m.code(at*wordPixels+from+i, stride*wordPixels)
					if code == wholeCode && lines.has(left+from+i) {
						pixels[i] = k.stripe
						continue
					}
					k.put(&pixels[i], code, rimEntry)
				}
			}
		}
	}
}

// draw makes m the shore of a mark in w. It reports whether there is any.
func (m *mask) draw(at *mark, w window, ring *[]orb.Point) bool {
	if !m.reset(w, at.shore.rectangle(at, w)) {
		return false
	}
	at.shore.draw(m, at, w, ring)
	return true
}

// rowOf returns the number of water samples of the pixels of m in a row of w, after count, and the column of the first one.
func (m *mask) rowOf(w window, row int) (left int, cover []uint8) {
	left = max(m.left, 0)
	at := ((row-m.top+m.edge)*(m.words+2) + 1) * wordPixels
	return left, m.cover[at+left-m.left : at+min(m.words*wordPixels, w.width-m.left)]
}

// rows returns the rows of w that m has.
func (m *mask) rows(w window) (from, to int) { return max(m.top, 0), min(m.top+m.height, w.height) }

// around returns the kind of the blocks within the width of the line from a block.
func (m *mask) around(at int) uint8 {
	stride, all := m.words+2, uint8(0)
	for i := at - m.edge*stride; i <= at+m.edge*stride; i += stride {
		all |= m.blocks[i-1] | m.blocks[i] | m.blocks[i+1]
	}
	return all
}

// code returns the code of a pixel (see ink.put). A row has stride pixels.
func (m *mask) code(at, stride int) uint8 {
	if water := m.cover[at]; water > 0 {
		return m.waterCode(at, stride)
	}
	// The rim is the water, widened by the width of the rim, without the water.
	near := func(rows, columns int) int {
		n := uint8(0)
		for r := -rows; r <= rows; r++ {
			for _, c := range m.cover[at+r*stride-columns : at+r*stride+columns+1] {
				n = max(n, c)
			}
		}
		return int(n)
	}
	if m.edge == 1 {
		// The mean of a cross, which is too narrow along a diagonal shore, and a square, which is too wide.
		return quartersOf((max(near(0, 1), near(1, 0)) + near(1, 1)) / 2)
	}
	return quartersOf(max(near(1, 2), near(2, 1)))
}

// waterCode returns the code of a pixel with water. The line between the filling and the rim is half a pixel wide at scale 1: the water
// without the water that is narrowed by as much. So that narrow water keeps its colour, a pixel with more water than land has a
// quarter of it.
func (m *mask) waterCode(at, stride int) uint8 {
	c := m.cover[at]
	inside := int(min(c, m.cover[at-1], m.cover[at+1], m.cover[at-stride], m.cover[at+stride]))
	if m.edge == 1 {
		inside = (inside + int(c)) / 2
	}
	if 2*c >= whole {
		return quarters + max(quartersOf(inside), 1)
	}
	return lineCode + quartersOf(whole-int(c))
}

// quartersOf returns the number of a pixel's quarters that n of its samples are, rounded.
func quartersOf(n int) uint8 { return uint8((n*quarters + whole/2) / whole) }
