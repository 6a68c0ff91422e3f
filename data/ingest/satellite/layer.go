package satellite

import (
	"context"
	"fmt"
	"image"
	"math"
	"strings"

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

// tiffGatherer reads a band of an image, counted from 0. The internal mask and the alpha band make pixels NaN.
func tiffGatherer(im *tiff.Image, band int) gatherer {
	return func(ctx context.Context, windows []image.Rectangle, each func(int, image.Rectangle, []float64) error) error {
		masks := []masked{{im.Mask(), 0}}
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
				hidden[i].add(windows[i], part, values)
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

// hiddenPixels has a bit for each pixel of a window that has no data.
type hiddenPixels []uint64

func (h *hiddenPixels) add(window, part image.Rectangle, values []float64) {
	for i, v := range values {
		if v != 0 {
			continue
		}
		if *h == nil {
			*h = make(hiddenPixels, (window.Dx()*window.Dy()+63)/64)
		}
		at := (part.Min.Y+i/part.Dx()-window.Min.Y)*window.Dx() + part.Min.X + i%part.Dx() - window.Min.X
		(*h)[at/64] |= 1 << (at % 64)
	}
}

func (h hiddenPixels) hide(window, part image.Rectangle, values []float64) {
	if h == nil {
		return
	}
	for i := range values {
		at := (part.Min.Y+i/part.Dx()-window.Min.Y)*window.Dx() + part.Min.X + i%part.Dx() - window.Min.X
		if h[at/64]>>(at%64)&1 != 0 {
			values[i] = math.NaN()
		}
	}
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

// units are what one unit of a mass concentration is in µg/l, by its name without spaces in small letters. One mg/m³ is one µg/l.
var units = map[string]float64{
	"mgm-3": 1, "mgm^-3": 1, "mg.m-3": 1, "mg.m^-3": 1, "mg/m3": 1, "mg/m^3": 1, "mg/m³": 1, "mgm⁻³": 1,
	"mg*m-3": 1, "mg*m^-3": 1, "mg/m**3": 1, "mgm**-3": 1,
	"milligramm-3": 1, "milligramm^-3": 1, "milligrammeter-3": 1, "milligrams/m3": 1,
	"µg/l": 1, "μg/l": 1, "ug/l": 1, "ugl-1": 1, "µgl-1": 1, "μgl-1": 1, "ugl^-1": 1, "µgl^-1": 1,
	"ug.l-1": 1, "µgl⁻¹": 1, "μgl⁻¹": 1, "microgram/l": 1, "micrograms/l": 1, "ppb": 1,
	"mg/l": 1000, "mgl-1": 1000, "gm-3": 1000, "gm^-3": 1000, "g/m3": 1000, "g.m-3": 1000,
	"ng/l": 0.001, "kgm-3": 1e6, "kgm^-3": 1e6, "kg.m-3": 1e6,
}

// unitScale returns what one unit is in µg/l.
func unitScale(unit string) (scale float64, ok bool) {
	scale, ok = units[strings.ToLower(strings.Join(strings.Fields(unit), ""))]
	return scale, ok
}

// isPercent reports whether a unit is a hundredth part.
func isPercent(unit string) bool {
	u := strings.ToLower(strings.TrimSpace(unit))
	return u == "%" || u == "percent" || u == "percentage"
}
