package zonal_test

import (
	"context"
	"fmt"
	"image"
	"log"
	"math"
	"slices"

	"limnomap/data/raster/zonal"
)

// The median of a lake in a raster of 6 x 5 pixels.
func Example() {
	raster := []float64{
		9, 9, 9, 9, 9, 9,
		9, 8, 7, 7, 8, 9,
		9, 7, 3, 2, 7, 9,
		9, 8, 4, 1, 8, 9,
		9, 9, 9, 9, 9, 9,
	}
	grid := zonal.Grid{Width: 6, Height: 5}
	lake := zonal.Polygon{{{0.7, 0.8}, {5.2, 0.9}, {5.3, 4.2}, {0.6, 4.1}}}

	mask, err := zonal.NewMask([]zonal.Polygon{lake}, zonal.Full)
	if err != nil {
		log.Fatal(err)
	}
	for name, mask := range map[string]*zonal.Mask{"wholly inside": mask, "one pixel from the shore": mask.Erode(1)} {
		var values []float64
		for _, w := range mask.Windows(grid) {
			part := image.Rect(0, 0, 6, 5) // what was read: here the whole raster
			mask.Collect(w, part, raster, func(_, _, _ int, value float64) { values = append(values, value) })
		}
		fmt.Printf("%s: median %g of %d pixels\n", name, zonal.Median(values), mask.Count())
	}
	// Unordered output:
	// wholly inside: median 7 of 12 pixels
	// one pixel from the shore: median 2.5 of 2 pixels
}

// rows is a raster in memory.
type rows [][]float64

func (r rows) Gather(_ context.Context, windows []image.Rectangle, each func(i int, part image.Rectangle, values []float64) error) error {
	for i, w := range windows {
		for y := w.Min.Y; y < w.Max.Y; y++ {
			part := image.Rect(w.Min.X, y, w.Max.X, y+1)
			if err := each(i, part, slices.Clone(r[y][w.Min.X:w.Max.X])); err != nil {
				return err
			}
		}
	}
	return nil
}

// The lake at a beach, without its shore. Its outline is not known.
func ExampleGrow() {
	land := math.NaN()
	raster := rows{
		{land, land, land, land, land, land, land},
		{land, 8.1, 7.5, 7.2, 8.0, land, land},
		{land, 7.7, 3.4, 2.9, 7.1, land, land},
		{land, 7.9, 3.8, 3.1, 7.3, 7.2, 6.8}, // a river flows out
		{land, 8.3, 7.6, 7.4, 7.8, land, land},
	}
	beach := zonal.Point{0.8, 2.4}
	err := zonal.Grow(context.Background(), zonal.Grid{Width: 7, Height: 5}, []zonal.Point{beach},
		zonal.Growth{RadiusX: 2, RadiusY: 2, Edge: 1}, raster, func(i int, grown zonal.Grown) error {
			fmt.Printf("%v: median %.2f of %d pixels of %d\n", grown.Reason, zonal.Median(grown.Values), grown.Mask.Count(), grown.Water)
			return nil
		})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// found: median 3.25 of 4 pixels of 16
}
