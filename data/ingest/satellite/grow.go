package satellite

import (
	"context"
	"image"
	"math"
	"slices"

	"limnomap/data/raster/zonal"
)

const (
	// growRadius is how far in metres the nearest pixel with a value may be from the point of a lake. Of 70 bathing sites, whose points are at
	// the shore, 65 have one within that distance at 300 m.
	growRadius = 500
	// growEdge is how many pixels are dropped from the shore inwards.
	growEdge = 1
)

// grow extracts lakes without an outline from the water around the nearest pixel with a value.
func (x *extraction) grow(ctx context.Context, indexes []int) error {
	var shown []int
	var points []zonal.Point
	for _, i := range indexes {
		p := x.lakes[i].Point
		pixel, ok := x.grid.PixelOf(p, x.grid.TurnOf(p[0]))
		if !ok || !x.grid.Inside(pixel) {
			x.reject(i, Outside)
			continue
		}
		shown, points = append(shown, i), append(points, pixel)
	}
	if len(shown) == 0 {
		return nil
	}
	growth := zonal.Growth{Edge: growEdge, MinPixels: x.opts.MinPixels, Block: x.value.block, Radius: func(k int) (rx, ry float64) {
		rx, ry, _ = x.grid.Radii(x.lakes[shown[k]].Point, growRadius)
		return rx, ry
	}}
	if x.opts.Shore.fixed {
		growth.Edge = x.opts.Shore.pixels
	}
	err := zonal.Grow(ctx, x.grid.Grid, points, growth, decoded{x}, func(k int, g zonal.Grown) error {
		switch g.Reason {
		case zonal.NoWater: // clouds cannot be told from land
			x.reject(shown[k], NoData)
			return nil
		case zonal.OffRaster:
			x.reject(shown[k], Outside)
			return nil
		case zonal.Merged:
			x.reject(shown[k], MergedWaters)
			return nil
		}
		values := slices.Clone(g.Values)
		for i, chl := range values {
			values[i] = x.counted(chl)
		}
		return x.batchWater(ctx, pending{lake: shown[k], mask: g.Mask, inside: g.Mask.Count() + g.Gaps, method: methodGrown, shore: g.Dropped, gathered: true,
			values: values})
	})
	if err != nil {
		return err
	}
	return x.flush(ctx)
}

// decoded is the raster of the values of an extraction in µg/l. Pixels that do not count are NaN.
type decoded struct{ x *extraction }

func (d decoded) Gather(ctx context.Context, windows []image.Rectangle, each func(i int, part image.Rectangle, values []float64) error) error {
	x := d.x
	return x.value.gather(ctx, windows, func(i int, part image.Rectangle, values []float64) error {
		missing := math.NaN() // the last number that does not count: most pixels are land, and have the same
		for k, raw := range values {
			if raw == missing {
				values[k] = math.NaN()
				continue
			}
			chl, state := x.value.decode(raw)
			if !state.usable() {
				chl, missing = math.NaN(), raw
			}
			values[k] = chl
		}
		x.summary.Pixels += int64(len(values))
		return each(i, part, values)
	})
}
