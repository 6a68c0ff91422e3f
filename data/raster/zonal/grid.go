package zonal

import (
	"cmp"
	"image"
	"slices"
)

// A Grid is the shape of a raster.
type Grid struct {
	Width, Height int
	// Period is how many columns go once around the Earth: the columns x and x+Period are the same place. 0 if there is no such number.
	Period int
}

// maxWindows bounds the windows of a mask, which has two of them if it lies across the edge of a global raster.
const maxWindows = 8

// A Window is a part of a raster in which a mask has pixels.
type Window struct {
	Rect image.Rectangle // in the raster
	Turn int             // column c of the raster is column c + Turn of the mask
}

// Windows returns the parts of the bounds of m that are in the raster: none if m is outside, and more than one only with a period. They
// share no pixels of the mask or the raster, unless the mask is wider than the period.
func (m *Mask) Windows(g Grid) []Window {
	return g.windows(m.bounds)
}

// windows returns the parts of a rectangle in unbounded columns that are in the raster.
func (g Grid) windows(bounds image.Rectangle) []Window {
	raster := image.Rect(0, 0, g.Width, g.Height)
	if g.Width <= 0 || g.Height <= 0 || bounds.Empty() {
		return nil
	}
	if g.Period <= 0 {
		if r := bounds.Intersect(raster); !r.Empty() {
			return []Window{{Rect: r}}
		}
		return nil
	}
	raster.Max.X = min(raster.Max.X, g.Period) // further columns repeat the first
	var windows []Window
	turn := floorDiv(bounds.Min.X, g.Period) * g.Period
	for ; turn < bounds.Max.X && len(windows) < maxWindows; turn += g.Period {
		if r := bounds.Sub(image.Pt(turn, 0)).Intersect(raster); !r.Empty() {
			windows = append(windows, Window{Rect: r, Turn: turn})
		}
	}
	return windows
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Outside returns the number of pixels of m that are outside of the raster.
func (m *Mask) Outside(g Grid) int {
	n := m.count
	for _, w := range m.Windows(g) {
		m.within(w.Rect.Add(image.Pt(w.Turn, 0)), func(_, _, x0, x1 int) { n -= x1 - x0 })
	}
	return n
}

// Collect calls each for the pixels of the mask in a part of a window: i is the [Mask.Index] of the pixel, x and y are in the raster. part is a rectangle of the raster, and
// values has its values row by row, at least part.Dx()*part.Dy(). Pixels of part outside of the window are left out.
func (m *Mask) Collect(w Window, part image.Rectangle, values []float64, each func(i, x, y int, value float64)) {
	m.within(part.Intersect(w.Rect).Add(image.Pt(w.Turn, 0)), func(i, y, x0, x1 int) {
		row := values[(y-part.Min.Y)*part.Dx():][:part.Dx()]
		for x := x0 - w.Turn; x < x1-w.Turn; x++ {
			each(i, x, y, row[x-part.Min.X])
			i++
		}
	})
}

// within calls yield for the runs of m, cut to a rectangle, with the index of their first pixel.
func (m *Mask) within(bounds image.Rectangle, yield func(i, y, x0, x1 int)) {
	bounds = bounds.Intersect(m.bounds)
	if bounds.Empty() {
		return
	}
	i, _ := slices.BinarySearchFunc(m.runs, bounds.Min.Y, func(r run, y int) int { return cmp.Compare(int(r.y), y) })
	for k, r := range m.runs[i:] {
		if int(r.y) >= bounds.Max.Y {
			return
		}
		if x0, x1 := max(int(r.x0), bounds.Min.X), min(int(r.x1), bounds.Max.X); x0 < x1 {
			yield(int(m.before[i+k])+x0-int(r.x0), int(r.y), x0, x1)
		}
	}
}
