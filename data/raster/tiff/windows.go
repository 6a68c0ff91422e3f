package tiff

import (
	"cmp"
	"image"
	"iter"
	"slices"
)

// A job is one segment, or some rows of it, with the windows that need it.
type job struct {
	rect  image.Rectangle // pixels of the image; those of a tile that are beyond the image are left out
	parts []part
	data  byteRange // empty for a segment that is not in the file
	rows  int       // to decode from rect.Min.Y: what is below the last part is not needed
}

// A part is the intersection of a window with the rectangle of a job.
type part struct {
	window int
	rect   image.Rectangle
}

// checkWindows refuses windows beyond the image.
func (im *Image) checkWindows(windows []image.Rectangle) error {
	bounds := image.Rect(0, 0, im.width, im.height)
	for i, w := range windows {
		if !w.In(bounds) {
			return &WindowError{Index: i, Window: w, Bounds: bounds}
		}
	}
	return nil
}

// jobs walks the image from top to bottom and from left to right, and yields each segment that a window touches, once. It keeps
// only the windows of the current rows, so that a large window of small tiles takes no memory.
func (im *Image) jobs(windows []image.Rectangle) iter.Seq[job] {
	var order []int // windows from top to bottom
	for i, w := range windows {
		if !w.Empty() {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(windows[a].Min.Y, windows[b].Min.Y) })
	return func(yield func(job) bool) {
		var active []int // windows of the current rows, from left to right
		y := 0
		for len(order) > 0 || len(active) > 0 {
			if len(active) == 0 {
				y = windows[order[0]].Min.Y
			}
			top, bottom := im.rowsAt(y)
			added := false
			for len(order) > 0 && windows[order[0]].Min.Y < bottom {
				active = append(active, order[0])
				order = order[1:]
				added = true
			}
			if added {
				slices.SortFunc(active, func(a, b int) int { return cmp.Compare(windows[a].Min.X, windows[b].Min.X) })
			}
			if !im.rowJobs(windows, active, top, bottom, yield) {
				return
			}
			active = slices.DeleteFunc(active, func(i int) bool { return windows[i].Max.Y <= bottom })
			y = bottom
		}
	}
}

// rowsAt returns the rows that are decoded together with row y.
func (im *Image) rowsAt(y int) (top, bottom int) {
	l := &im.layout
	segment := y - y%l.height
	top = y - (y-segment)%l.bandHeight
	return top, min(top+l.bandHeight, segment+l.height, im.height)
}

// rowJobs yields the jobs of a row of segments for windows that are sorted from left to right.
func (im *Image) rowJobs(windows []image.Rectangle, sorted []int, top, bottom int, yield func(job) bool) bool {
	var touching []int // windows that touch the current column
	width := im.layout.width
	column := 0
	for len(sorted) > 0 || len(touching) > 0 {
		if len(touching) == 0 {
			column = windows[sorted[0]].Min.X / width
		}
		rect := image.Rect(column*width, top, min((column+1)*width, im.width), bottom)
		for len(sorted) > 0 && windows[sorted[0]].Min.X < rect.Max.X {
			touching = append(touching, sorted[0])
			sorted = sorted[1:]
		}
		j := job{rect: rect, parts: make([]part, 0, len(touching))}
		for _, i := range touching {
			p := windows[i].Intersect(rect)
			if !p.Empty() {
				j.parts = append(j.parts, part{i, p})
				j.rows = max(j.rows, p.Max.Y-top)
			}
		}
		if len(j.parts) > 0 && !yield(j) {
			return false
		}
		touching = slices.DeleteFunc(touching, func(i int) bool { return windows[i].Max.X <= rect.Max.X })
		column++
	}
	return true
}

// locate sets where the data of a job are.
func (im *Image) locate(j *job, band int) error {
	l := &im.layout
	row := j.rect.Min.Y / l.height
	data, err := im.segment(j.rect.Min.X/l.width, row, band)
	if err != nil || data.n == 0 {
		return err
	}
	if l.compression == compressionNone {
		data.at += int64(j.rect.Min.Y-row*l.height) * int64(l.rowBytes)
		data.n = int64(j.rows) * int64(l.rowBytes)
	}
	j.data = data
	return nil
}
