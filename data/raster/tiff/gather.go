package tiff

import (
	"context"
	"fmt"
	"image"
	"iter"

	"limnomap/data/raster/blockread"
)

// A WindowError says that a window of Gather is not within the image.
type WindowError struct {
	Index          int // of the window
	Window, Bounds image.Rectangle
}

func (e *WindowError) Error() string {
	return fmt.Sprintf("window %d, %v, is not within the image, %v", e.Index, e.Window, e.Bounds)
}

// Gather reads the raw values of one band, counted from 0, in each of the windows, which must lie within the image. It reads and
// decodes each tile or strip that a window touches once, whatever the number of windows, and calls each for parts of windows: part
// is a rectangle in image coordinates, values has its values row by row. The parts of window i are disjoint and cover it; each lies
// in one tile or strip and has at most 65,536 values. Their order is not defined. Calls of each are serialised; values is reused
// after the call. An error of each ends Gather and is returned as it is.
func (im *Image) Gather(ctx context.Context, band int, windows []image.Rectangle, each func(i int, part image.Rectangle, values []float64) error) error {
	if im.err != nil {
		return im.err
	}
	if band < 0 || band >= im.bands {
		return fmt.Errorf("band %d of an image with %d, counted from 0", band, im.bands)
	}
	if err := im.checkWindows(windows); err != nil {
		return err
	}
	g := &gathering{im: im, band: band, each: each}
	read := func(p []byte, at int64) error { return readFull(im.file.r, p, at) }
	return blockread.Read(ctx, g.blocks(windows), read, im.workers(), g.newWorker)
}

// A gathering is one call of Gather.
type gathering struct {
	im     *Image
	band   int
	caller blockread.Caller
	each   func(i int, part image.Rectangle, values []float64) error
}

// blocks yields the segments that windows touch.
func (g *gathering) blocks(windows []image.Rectangle) iter.Seq2[blockread.Block[job], error] {
	return func(yield func(blockread.Block[job], error) bool) {
		for j := range g.im.jobs(windows) {
			if err := g.im.locate(&j, g.band); err != nil {
				yield(blockread.Block[job]{}, fmt.Errorf("%s: %w", g.im.describe(j.rect), err))
				return
			}
			b := blockread.Block[job]{Job: j, At: j.data.at, Size: j.data.n, Parts: len(j.parts)}
			if g.im.streams() {
				b.Size = 0
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}

// maxMemory bounds the buffers of all workers together.
const maxMemory = 48 << 20

// workers returns how many workers fit into the memory.
func (im *Image) workers() int {
	l := &im.layout
	decoded := int64(l.height) * int64(l.rowBytes)
	each := int64(blockread.MaxRun + 8*maxValues + 256<<10) // data of a run, values, and tables of a decoder
	switch {
	case l.compression == compressionNone:
		each += int64(l.bandHeight) * int64(l.rowBytes)
	case im.streams():
		each += int64(max(bandBytes, l.rowBytes))
		if l.compression == compressionZstd {
			each += min(decoded, maxStreamWindow)
		}
	default:
		each += decoded + 2*decoded // and compressed data that do not fit into a run
	}
	return int(max(1, min(int64(im.file.workers), maxMemory/each)))
}

// describe names a segment, or some rows of one, for messages.
func (im *Image) describe(rect image.Rectangle) string {
	if im.layout.tiled {
		return fmt.Sprintf("tile in column %d, row %d", rect.Min.X/im.layout.width, rect.Min.Y/im.layout.height)
	}
	return fmt.Sprintf("strip %d", rect.Min.Y/im.layout.height)
}
