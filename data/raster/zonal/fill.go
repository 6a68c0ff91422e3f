package zonal

import (
	"cmp"
	"image"
	"math"
	"slices"
)

// A span is pixels of one row that have values.
type span struct {
	run
	first int32 // index of its first value
}

// pixels are the pixels of a window that have values. Most windows have few, so they take less memory than all of the window.
type pixels struct {
	spans []span
	// Values are in short if float32 is exact for all of them, else in long.
	short []float32
	long  []float64
}

// size returns the bytes in memory.
func (p *pixels) size() int { return 16*cap(p.spans) + 4*cap(p.short) + 8*cap(p.long) }

// add adds the values of a part of the raster. turn is to be added to its columns.
func (p *pixels) add(part image.Rectangle, turn int, values []float64) {
	width := part.Dx()
	for y := part.Min.Y; y < part.Max.Y; y++ {
		row := values[:width]
		values = values[width:]
		for x := 0; x < width; {
			if row[x] != row[x] { // NaN
				x++
				continue
			}
			end := x + 1
			for end < width && row[end] == row[end] {
				end++
			}
			left := part.Min.X + turn
			p.spans = append(p.spans, span{run{int32(y), int32(left + x), int32(left + end)}, int32(len(p.short) + len(p.long))})
			p.addValues(row[x:end])
			x = end
		}
	}
}

func (p *pixels) addValues(values []float64) {
	if len(p.long) == 0 {
		for i, v := range values {
			short := float32(v)
			if float64(short) != v {
				for _, s := range p.short {
					p.long = append(p.long, float64(s))
				}
				p.short = p.short[:0]
				values = values[i:]
				break
			}
			p.short = append(p.short, short)
		}
		if len(p.long) == 0 && len(p.short) > 0 {
			return
		}
	}
	p.long = append(p.long, values...)
}

func (p *pixels) sort() {
	slices.SortFunc(p.spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.y, b.y), cmp.Compare(a.x0, b.x0)) })
}

// in calls yield for the parts of m that have values, with the index of the first value. The spans must be sorted.
func (p *pixels) in(m *Mask, yield func(r run, first int32)) {
	if m.count == 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(p.spans, m.runs[0].y, func(s span, y int32) int { return cmp.Compare(s.y, y) })
	spans := p.spans[i:]
	for _, r := range m.runs {
		for len(spans) > 0 && (spans[0].y < r.y || spans[0].y == r.y && spans[0].x1 <= r.x0) {
			spans = spans[1:]
		}
		for _, s := range spans {
			if s.y > r.y || s.x0 >= r.x1 {
				break
			}
			x0, x1 := max(r.x0, s.x0), min(r.x1, s.x1)
			yield(run{r.y, x0, x1}, s.first+x0-s.x0)
		}
	}
}

// of returns the pixels of m that have values.
func (p *pixels) of(m *Mask) *Mask {
	var runs []run
	p.in(m, func(r run, _ int32) {
		if n := len(runs); n > 0 && runs[n-1].y == r.y && runs[n-1].x1 == r.x0 {
			runs[n-1].x1 = r.x1
		} else {
			runs = append(runs, r)
		}
	})
	return newMask(runs)
}

// valuesOf returns the values of the pixels of m.
func (p *pixels) valuesOf(m *Mask) []float64 {
	values := make([]float64, 0, m.count)
	p.in(m, func(r run, first int32) {
		n := r.x1 - r.x0
		if len(p.long) > 0 {
			values = append(values, p.long[first:first+n]...)
			return
		}
		for _, v := range p.short[first : first+n] {
			values = append(values, float64(v))
		}
	})
	return values
}

// The states of the pixels of a canvas.
const (
	unknown uint8 = iota // without a value, not looked at
	valid
	gap
	solid // without a value, and not a gap
)

// maxGap is how many pixels without a value are a gap in the water, rather than its shore.
const maxGap = 4

// A canvas is a window in which water is looked for. It has a border of one solid pixel.
type canvas struct {
	window image.Rectangle
	width  int // with the border
	state  []uint8
	labels []uint16 // of squares, at their upper left pixels, and of pixels in narrow water
	last   uint16

	seeds []int32
	gap   []int32
	runs  []run
}

// paint starts a new window.
func (c *canvas) paint(window image.Rectangle, p *pixels) {
	c.window = window
	c.width = window.Dx() + 2
	n := c.width * (window.Dy() + 2)
	c.state = slices.Grow(c.state[:0], n)[:n]
	c.labels = slices.Grow(c.labels[:0], n)[:n]
	clear(c.state)
	c.clearLabels()
	for x := range c.width {
		c.state[x], c.state[n-1-x] = solid, solid
	}
	for i := 0; i < n; i += c.width {
		c.state[i], c.state[i+c.width-1] = solid, solid
	}
	for _, s := range p.spans {
		row := c.state[c.index(image.Pt(int(s.x0), int(s.y))):]
		for x := range s.x1 - s.x0 {
			row[x] = valid
		}
	}
}

const maxLabel = math.MaxUint16

func (c *canvas) clearLabels() {
	clear(c.labels)
	c.last = 0
}

func (c *canvas) index(p image.Point) int {
	return (p.Y-c.window.Min.Y+1)*c.width + p.X - c.window.Min.X + 1
}

func (c *canvas) at(i int) image.Point {
	return image.Pt(i%c.width-1+c.window.Min.X, i/c.width-1+c.window.Min.Y)
}

// water reports whether pixel i has a value or is in a gap.
func (c *canvas) water(i int) bool {
	switch c.state[i] {
	case valid, gap:
		return true
	case unknown:
		return c.classify(i) == gap
	}
	return false
}

// classify finds out whether pixel i, which has no value, is in a gap.
func (c *canvas) classify(i int) uint8 {
	c.gap = append(c.gap[:0], int32(i))
	c.state[i] = gap // for now
	state := gap
search:
	for k := 0; k < len(c.gap); k++ {
		for _, d := range [...]int{-c.width - 1, -c.width, -c.width + 1, -1, 1, c.width - 1, c.width, c.width + 1} {
			n := int(c.gap[k]) + d
			switch c.state[n] {
			case unknown:
				if len(c.gap) == maxGap {
					state = solid
					break search
				}
				c.gap = append(c.gap, int32(n))
				c.state[n] = gap
			case solid:
				state = solid
				break search
			}
		}
	}
	for _, n := range c.gap {
		c.state[n] = state
	}
	return state
}

// square reports whether the square of 2 x 2 pixels with the upper left pixel i is water.
func (c *canvas) square(i int) bool {
	return c.water(i) && c.water(i+1) && c.water(i+c.width) && c.water(i+c.width+1)
}

// narrow reports whether pixel i is in no square of water.
func (c *canvas) narrow(i int) bool {
	return !c.square(i) && !c.square(i-1) && !c.square(i-c.width) && !c.square(i-c.width-1)
}

// A start is where water is filled from.
type start struct {
	at     image.Point // the upper left pixel of a square, or a pixel of narrow water
	narrow bool
}

// label returns the label of the water at a start, or 0 if it was not filled.
func (c *canvas) label(s start) int { return int(c.labels[c.index(s.at)]) }

// An ellipse is the pixels within radii around a point, and the one that contains the point.
type ellipse struct {
	center Point
	rx, ry float64
}

// distance returns the square of the distance of a position, in radii.
func (e *ellipse) distance(x, y float64) float64 {
	dx, dy := (x-e.center[0])/e.rx, (y-e.center[1])/e.ry
	return dx*dx + dy*dy
}

// at returns the distance of the centre of a pixel, and whether it is within the radii.
func (e *ellipse) at(p image.Point) (float64, bool) {
	d := e.distance(float64(p.X)+0.5, float64(p.Y)+0.5)
	return d, d <= 1 || float64(p.X) == math.Floor(e.center[0]) && float64(p.Y) == math.Floor(e.center[1])
}

// find returns where the water around a point starts.
func (c *canvas) find(center Point, rx, ry float64) (start, bool) {
	e := ellipse{center, max(rx, 1e-9), max(ry, 1e-9)} // not 0, by which distances are divided
	nearest, ok := c.nearest(&e)
	if !ok {
		return start{}, false
	}
	if s, ok := c.squareAt(nearest, &e); ok {
		return s, true
	}
	if s, ok := c.reach(nearest, &e); ok {
		return s, true
	}
	return start{at: c.at(nearest), narrow: true}, true
}

// nearest returns the nearest pixel with a value in an ellipse; of several the highest, and of these the leftmost.
func (c *canvas) nearest(e *ellipse) (nearest int, ok bool) {
	x0, x1 := int(math.Floor(e.center[0]-e.rx-0.5)), int(math.Ceil(e.center[0]+e.rx+0.5))
	y0, y1 := int(math.Floor(e.center[1]-e.ry-0.5)), int(math.Ceil(e.center[1]+e.ry+0.5))
	area := image.Rect(x0, y0, x1+1, y1+1).Intersect(c.window)
	best := math.Inf(1)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		i := c.index(image.Pt(area.Min.X, y))
		for x := area.Min.X; x < area.Max.X; x++ {
			if c.state[i] == valid {
				if d, within := e.at(image.Pt(x, y)); within && d < best {
					best, nearest, ok = d, i, true
				}
			}
			i++
		}
	}
	return nearest, ok
}

// squareAt returns the square of water that contains pixel i and is nearest to the centre of an ellipse, if there is one.
func (c *canvas) squareAt(i int, e *ellipse) (s start, ok bool) {
	best := math.Inf(1)
	for _, k := range [...]int{i - c.width - 1, i - c.width, i - 1, i} {
		if !c.square(k) {
			continue
		}
		p := c.at(k)
		if d := e.distance(float64(p.X)+1, float64(p.Y)+1); d < best {
			best, s, ok = d, start{at: p}, true
		}
	}
	return s, ok
}

// reach returns the nearest square of water that can be reached from pixel i, which is in narrow water, within an ellipse.
func (c *canvas) reach(i int, e *ellipse) (s start, ok bool) {
	best, bestIndex := math.Inf(1), 0
	reached := map[int]bool{i: true}
	for pending := []int{i}; len(pending) > 0; {
		i, pending = pending[len(pending)-1], pending[:len(pending)-1]
		for _, n := range [...]int{i - c.width, i - 1, i + 1, i + c.width} {
			if c.state[n] != valid || reached[n] {
				continue
			}
			reached[n] = true
			d, within := e.at(c.at(n))
			switch {
			case !within:
			case c.narrow(n):
				pending = append(pending, n)
			case d < best || d == best && n < bestIndex:
				best, bestIndex, ok = d, n, true
			}
		}
	}
	if !ok {
		return start{}, false
	}
	return c.squareAt(bestIndex, e)
}

// A fill is connected water.
type fill struct {
	start   start
	mask    *Mask // with gaps
	capped  bool  // it has more than the pixels that were asked for; mask has some of them
	members []uint64
}

// fill labels the water at a start, and returns it. It stops above limit pixels.
func (c *canvas) fill(s start, limit int) *fill {
	c.last++
	f := &fill{start: s}
	c.runs = c.runs[:0]
	c.seeds = append(c.seeds[:0], int32(c.index(s.at)))
	open := c.square
	if s.narrow {
		open = func(i int) bool { return c.state[i] == valid && c.narrow(i) }
	}
	count := 0
	for len(c.seeds) > 0 {
		i := int(c.seeds[len(c.seeds)-1])
		c.seeds = c.seeds[:len(c.seeds)-1]
		if c.labels[i] == c.last {
			continue
		}
		left, right := i, i+1
		for open(left-1) && c.labels[left-1] != c.last {
			left--
		}
		for open(right) && c.labels[right] != c.last {
			right++
		}
		for k := left; k < right; k++ {
			c.labels[k] = c.last
		}
		p := c.at(left)
		c.runs = append(c.runs, run{int32(p.Y), int32(p.X), int32(p.X + right - left)})
		if count += right - left; count > limit { // a square adds at least one pixel
			f.capped = true
			break
		}
		for _, row := range [...]int{-c.width, c.width} {
			inside := false
			for k := left + row; k < right+row; k++ {
				was := inside
				inside = c.labels[k] != c.last && open(k)
				if inside && !was {
					c.seeds = append(c.seeds, int32(k))
				}
			}
		}
	}
	f.mask = maskOf(c.runs, !s.narrow)
	return f
}

// maskOf returns the mask of runs in any order, or of the squares of 2 x 2 pixels whose upper left pixels they are.
func maskOf(runs []run, squares bool) *Mask {
	all := slices.Clone(runs)
	if squares {
		for i := range all {
			all[i].x1++
		}
		for _, r := range all[:len(runs):len(runs)] {
			all = append(all, run{r.y + 1, r.x0, r.x1})
		}
	}
	slices.SortFunc(all, func(a, b run) int { return cmp.Compare(a.y, b.y) })
	joined := all[:0]
	for _, row := range rows(all) {
		joined = append(joined, union(row)...)
	}
	return newMask(joined)
}

// mostNeighbours returns the pixels of m that have the most of their eight neighbours in m: as many neighbours as at least n pixels of
// values have, which is a part of m, or all of m if values has less than n.
func (m *Mask) mostNeighbours(values *Mask, n int) *Mask {
	var count [9]int // pixels of values by the number of neighbours
	values.Each(func(y, x0, x1 int) {
		for x := x0; x < x1; x++ {
			count[m.neighbours(x, y)]++
		}
	})
	least, sum := 8, count[8]
	for ; least > 0 && sum < n; sum += count[least] {
		least--
	}
	var runs []run
	m.Each(func(y, x0, x1 int) {
		for x := x0; x < x1; x++ {
			if m.neighbours(x, y) < least {
				continue
			}
			if k := len(runs); k > 0 && runs[k-1].y == int32(y) && runs[k-1].x1 == int32(x) {
				runs[k-1].x1++
			} else {
				runs = append(runs, run{int32(y), int32(x), int32(x) + 1})
			}
		}
	})
	return newMask(runs)
}

// neighbours returns how many of the eight neighbours of a pixel are in m.
func (m *Mask) neighbours(x, y int) int {
	n := 0
	for dy := -1; dy <= 1; dy++ {
		for dx := -1; dx <= 1; dx++ {
			if (dx != 0 || dy != 0) && m.Has(x+dx, y+dy) {
				n++
			}
		}
	}
	return n
}
