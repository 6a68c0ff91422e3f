package satellite

import (
	"context"
	"image"
	"slices"

	"limnomap/data/raster/netcdf"
	"limnomap/data/raster/tiff"
)

// A gatherer reads windows of a layer as data/raster/tiff does: raw values, each block of the file once.
type gatherer func(ctx context.Context, windows []image.Rectangle, each func(i int, part image.Rectangle, values []float64) error) error

// A layer is one quantity of a raster.
type layer struct {
	gather gatherer
	decode decoder
	block  image.Point // size of the tiles or chunks in which the file is stored, zero if there are none
}

// A masked is a band that is 0 where others have no data.
type masked struct {
	image *tiff.Image
	band  int
}

func (m masked) gather(ctx context.Context, windows []image.Rectangle, each func(int, image.Rectangle, []float64) error) error {
	return m.image.Gather(ctx, m.band, windows, each)
}

// tiffGatherer reads a band of an image, counted from 0. The internal mask, the alpha band and the masks of other files make pixels NaN.
func tiffGatherer(im *tiff.Image, band int, masks ...masked) gatherer {
	if m := im.Mask(); m != nil {
		masks = append(masks, masked{m, 0})
	}
	if alpha := im.AlphaBand(); alpha >= 0 && alpha != band {
		masks = append(masks, masked{im, alpha})
	}
	if len(masks) == 0 {
		return masked{im, band}.gather
	}
	v := validity{eval: func(values []float64) float64 { return truth(!slices.Contains(values, 0)) }}
	for _, m := range masks {
		v.operands = append(v.operands, operand{of: m, gather: m.gather, decode: func(raw float64) (float64, bool) { return raw, true }})
	}
	return v.over(masked{im, band}.gather)
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
