package tiff

import (
	"image"
	"iter"

	"limnomap/data/raster/blockread"
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
	for i, w := range windows {
		if !w.In(im.bounds()) {
			return &WindowError{Index: i, Window: w, Bounds: im.bounds()}
		}
	}
	return nil
}

// jobs walks the image from top to bottom and from left to right, and yields each segment that a window touches, once.
func (im *Image) jobs(windows []image.Rectangle) iter.Seq[job] {
	l := &im.layout
	boxes := make([]blockread.Window, len(windows))
	for i, w := range windows {
		boxes[i] = blockread.Window{Start: []int64{int64(w.Min.Y), int64(w.Min.X)}, Shape: []int64{int64(w.Dy()), int64(w.Dx())}}
	}
	return func(yield func(job) bool) {
		for at, touching := range blockread.Touched(boxes, []int64{int64(l.bandHeight), int64(l.width)}) {
			corner := image.Pt(int(at[1])*l.width, int(at[0])*l.bandHeight)
			j := job{rect: image.Rectangle{corner, corner.Add(image.Pt(l.width, l.bandHeight))}.Intersect(im.bounds()), parts: make([]part, len(touching))}
			for k, i := range touching {
				p := windows[i].Intersect(j.rect)
				j.parts[k] = part{i, p}
				j.rows = max(j.rows, p.Max.Y-corner.Y)
			}
			if !yield(j) {
				return
			}
		}
	}
}

func (im *Image) bounds() image.Rectangle { return image.Rect(0, 0, im.width, im.height) }

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
