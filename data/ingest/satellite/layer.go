package satellite

import (
	"context"
	"fmt"
	"image"

	"limnomap/data/raster/netcdf"
	"limnomap/data/raster/tiff"
)

// A gatherer reads windows of a layer as data/raster/tiff does: raw values, each block of the file once.
type gatherer func(ctx context.Context, windows []image.Rectangle, each func(i int, part image.Rectangle, values []float64) error) error

// A layer is one quantity of a raster.
type layer struct {
	name   string // of the variable or the band, for people
	gather gatherer
	decode decoder
	block  image.Point // size of the tiles or chunks in which the file is stored, zero if there are none
}

// tiffGatherer reads a band of an image, counted from 0. The internal mask, the alpha band and the masks of other files make pixels NaN.
func tiffGatherer(im *tiff.Image, band int, beside ...masked) gatherer {
	return func(ctx context.Context, windows []image.Rectangle, each func(int, image.Rectangle, []float64) error) error {
		masks := append([]masked{{im.Mask(), 0}}, beside...)
		if alpha := im.AlphaBand(); alpha >= 0 && alpha != band {
			masks = append(masks, masked{im, alpha})
		}
		var hidden []hiddenPixels
		for _, m := range masks {
			if m.image == nil {
				continue
			}
			if hidden == nil {
				hidden = make([]hiddenPixels, len(windows))
			}
			if err := m.image.Gather(ctx, m.band, windows, func(i int, part image.Rectangle, values []float64) error {
				for k, v := range values {
					if v == 0 {
						hidden[i].set(windows[i], part.Min.X+k%part.Dx(), part.Min.Y+k/part.Dx())
					}
				}
				return nil
			}); err != nil {
				return fmt.Errorf("mask: %w", err)
			}
		}
		return im.Gather(ctx, band, windows, func(i int, part image.Rectangle, values []float64) error {
			if hidden != nil {
				hidden[i].hide(windows[i], part, values)
			}
			return each(i, part, values)
		})
	}
}

// A masked is a band that is 0 where others have no data.
type masked struct {
	image *tiff.Image
	band  int
}

// netcdfGatherer reads a plane of a variable: its columns and rows, and one index of all other dimensions.
func netcdfGatherer(v *netcdf.Variable, g *netcdf.Grid, at []int64) gatherer {
	return func(ctx context.Context, windows []image.Rectangle, each func(int, image.Rectangle, []float64) error) error {
		all := make([]netcdf.Window, len(windows))
		for i, w := range windows {
			start, shape := append([]int64(nil), at...), make([]int64, len(at))
			for d := range shape {
				shape[d] = 1
			}
			start[g.X], shape[g.X] = int64(w.Min.X), int64(w.Dx())
			start[g.Y], shape[g.Y] = int64(w.Min.Y), int64(w.Dy())
			all[i] = netcdf.Window{Start: start, Shape: shape}
		}
		var turned []float64
		return v.Gather(ctx, all, func(i int, part netcdf.Window, values []float64) error {
			corner := image.Pt(int(part.Start[g.X]), int(part.Start[g.Y]))
			size := image.Pt(int(part.Shape[g.X]), int(part.Shape[g.Y]))
			if g.X < g.Y {
				turned = transpose(turned[:0], values, size)
				values = turned
			}
			return each(i, image.Rectangle{corner, corner.Add(size)}, values)
		})
	}
}

// transpose appends values that are stored column by column to dst, row by row.
func transpose(dst, values []float64, size image.Point) []float64 {
	for y := range size.Y {
		for x := range size.X {
			dst = append(dst, values[x*size.Y+y])
		}
	}
	return dst
}
