package zonal

import (
	"cmp"
	"errors"
	"fmt"
	"image"
	"iter"
	"math"
	"slices"
)

const (
	// MaxPixels is the most pixels that a mask may have. The Caspian Sea has 41 million pixels of 100 m.
	MaxPixels = 1 << 26

	// maxCrossings bounds the time and the memory for one mask: the rows that each edge crosses, summed over all edges. Lake Saimaa, with
	// 14,000 islands, has a million in pixels of 10 m.
	maxCrossings = 1 << 22

	// maxCoordinate bounds coordinates, so that columns and rows fit into int32 and tolerance is above the rounding of float64.
	maxCoordinate = 1 << 26
)

// ErrTooLarge is the error for a mask that would have more than MaxPixels pixels or take too long to compute.
var ErrTooLarge = errors.New("too large for a mask")

// A run is the pixels x0 to x1-1 of row y.
type run struct{ y, x0, x1 int32 }

// A Mask is a set of pixels in unbounded columns and rows. It is immutable.
type Mask struct {
	runs   []run   // ordered by y and x0; runs of one row do not touch
	before []int32 // by run, how many pixels those before it have
	count  int
	bounds image.Rectangle
}

// newMask returns the mask with these runs, which it keeps. They have the order of Mask.runs.
func newMask(runs []run) *Mask {
	m := &Mask{runs: runs, before: make([]int32, len(runs))}
	if len(runs) == 0 {
		return m
	}
	x0, x1 := runs[0].x0, runs[0].x1
	for i, r := range runs {
		m.before[i] = int32(m.count)
		m.count += int(r.x1 - r.x0)
		x0, x1 = min(x0, r.x0), max(x1, r.x1)
	}
	m.bounds = image.Rect(int(x0), int(runs[0].y), int(x1), int(runs[len(runs)-1].y)+1)
	return m
}

// MaskOf returns the mask of runs as [Mask.Each] yields them, which next returns one by one until it is not ok.
func MaskOf(next func() (y, x0, x1 int, ok bool)) (*Mask, error) {
	var runs []run
	last, count := run{y: math.MinInt32}, 0
	for y, x0, x1, ok := next(); ok; y, x0, x1, ok = next() {
		if max(-x0, x1, -y, y) > maxCoordinate || x0 >= x1 || y < int(last.y) || y == int(last.y) && x0 <= int(last.x1) {
			return nil, fmt.Errorf("run %d of a mask, columns %d to %d of row %d, is not after the one before it or too far away", len(runs)+1, x0, x1, y)
		}
		if count += x1 - x0; count > MaxPixels {
			return nil, fmt.Errorf("%w of %d pixels", ErrTooLarge, MaxPixels)
		}
		last = run{int32(y), int32(x0), int32(x1)}
		runs = append(runs, last)
	}
	return newMask(runs), nil
}

// Count returns the number of pixels.
func (m *Mask) Count() int { return m.count }

// Bounds returns the smallest rectangle that contains all pixels. Its Max is excluded.
func (m *Mask) Bounds() image.Rectangle { return m.bounds }

// Each calls yield for each run of pixels: columns x0 to x1-1 of row y. Runs come in the order of rows, then of columns, and do not touch
// within a row.
func (m *Mask) Each(yield func(y, x0, x1 int)) {
	for _, r := range m.runs {
		yield(int(r.y), int(r.x0), int(r.x1))
	}
}

// Has reports whether the pixel of column x and row y is in the mask.
func (m *Mask) Has(x, y int) bool {
	_, ok := m.Index(x, y)
	return ok
}

// Index returns how many pixels of the mask are before that of column x and row y, in the order of [Mask.Each]. It is not ok if the pixel is not in the mask.
func (m *Mask) Index(x, y int) (index int, ok bool) {
	if !image.Pt(x, y).In(m.bounds) {
		return 0, false
	}
	i, found := slices.BinarySearchFunc(m.runs, run{y: int32(y), x0: int32(x)}, func(a, b run) int {
		return cmp.Or(cmp.Compare(a.y, b.y), cmp.Compare(a.x0, b.x0))
	})
	if !found {
		i--
	}
	if i < 0 || m.runs[i].y != int32(y) || int32(x) >= m.runs[i].x1 {
		return 0, false
	}
	return int(m.before[i]) + x - int(m.runs[i].x0), true
}

// NewDisc returns the mask of the pixels whose centre lies in the ellipse around center with the radii rx and ry, its edge included. A
// small ellipse may contain no centre: then the mask is empty.
func NewDisc(center Point, rx, ry float64) (*Mask, error) {
	if err := checkCoordinate(center); err != nil {
		return nil, fmt.Errorf("centre of a disc: %w", err)
	}
	if !(rx > 0 && ry > 0) || max(rx, ry) > maxCoordinate {
		return nil, fmt.Errorf("radii of a disc: %g and %g pixels are not within 0 and %d", rx, ry, maxCoordinate)
	}
	if math.Pi*rx*ry > MaxPixels || 2*ry > maxCrossings {
		return nil, fmt.Errorf("disc with radii of %g and %g pixels: %w, which has at most %d pixels", rx, ry, ErrTooLarge, MaxPixels)
	}
	var runs []run
	inside := func(x int, dy float64) bool {
		dx := (float64(x) + 0.5 - center[0]) / rx
		return dx*dx+dy*dy <= 1
	}
	for y := int(math.Ceil(center[1] - ry - 0.5)); float64(y)+0.5 <= center[1]+ry; y++ {
		dy := (float64(y) + 0.5 - center[1]) / ry
		half := rx * math.Sqrt(max(0, 1-dy*dy))
		x0, x1 := int(math.Floor(center[0]-half-0.5)), int(math.Ceil(center[0]+half+0.5))
		for x0 < x1 && !inside(x0, dy) {
			x0++
		}
		for x0 < x1 && !inside(x1-1, dy) {
			x1--
		}
		if x0 < x1 {
			runs = append(runs, run{int32(y), int32(x0), int32(x1)})
		}
	}
	return newMask(runs), nil
}

// Erode returns the mask without its margin of n pixels: it keeps each pixel whose neighbours in all eight directions belong to m up to a
// distance of n. Erode of 0 returns m itself.
func (m *Mask) Erode(n int) *Mask {
	for ; n > 0 && m.count > 0; n-- {
		m = m.erode()
	}
	return m
}

// erode returns the pixels whose eight neighbours are in m.
func (m *Mask) erode() *Mask {
	var eroded, two []run
	var above, at, below []run // three rows, without the ends of their runs
	var y int32                // of at
	for nextY, next := range rows(m.runs) {
		if nextY != y+1 {
			above, at = above[:0], at[:0]
		}
		below = below[:0]
		for _, r := range next {
			if r.x1-r.x0 > 2 {
				below = append(below, run{y, r.x0 + 1, r.x1 - 1})
			}
		}
		two = intersect(two[:0], above, at)
		eroded = intersect(eroded, below, two)
		above, at, below = at, below, above
		y = nextY
	}
	return newMask(eroded)
}

// And returns the mask of the pixels that are in both masks.
func (m *Mask) And(other *Mask) *Mask {
	var both []run
	a, b := m.runs, other.runs
	row := func(of []run) (n int) {
		for n < len(of) && of[n].y == of[0].y {
			n++
		}
		return n
	}
	for len(a) > 0 && len(b) > 0 {
		switch i, j := row(a), row(b); {
		case a[0].y < b[0].y:
			a = a[i:]
		case a[0].y > b[0].y:
			b = b[j:]
		default:
			both = intersect(both, a[:i], b[:j])
			a, b = a[i:], b[j:]
		}
	}
	return newMask(both)
}

// intersect appends the pixels that are in both of two rows, as runs in the row of a.
func intersect(to, a, b []run) []run {
	for len(a) > 0 && len(b) > 0 {
		x0, x1 := max(a[0].x0, b[0].x0), min(a[0].x1, b[0].x1)
		if x0 < x1 {
			to = append(to, run{a[0].y, x0, x1})
		}
		if a[0].x1 < b[0].x1 {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return to
}

// rows iterates over the rows of runs.
func rows(runs []run) iter.Seq2[int32, []run] {
	return func(yield func(int32, []run) bool) {
		for i := 0; i < len(runs); {
			j := i + 1
			for j < len(runs) && runs[j].y == runs[i].y {
				j++
			}
			if !yield(runs[i].y, runs[i:j]) {
				return
			}
			i = j
		}
	}
}
