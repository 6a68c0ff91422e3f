package netcdf_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"limnomap/data/raster/netcdf"
)

// The mean of two windows of a variable, over pixels that have a value.
func Example() {
	file, err := os.Open("testdata/seed_netcdf3_classic.nc")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		log.Fatal(err)
	}
	f, err := netcdf.Open(file, info.Size(), nil)
	if err != nil {
		log.Fatal(err)
	}
	v, ok := f.Variable("chl")
	if !ok {
		log.Fatal("no variable chl")
	}
	ctx := context.Background()
	grid, err := v.Grid(ctx)
	if err != nil {
		log.Fatal(err)
	}
	times, err := v.Times(ctx)
	if err != nil {
		log.Fatal(err)
	}
	decoder, err := v.Decoder()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d x %d pixels of %s from %g, %g\n", grid.Width, grid.Height, v.Type(), grid.Transform[0], grid.Transform[3])

	// The dimensions are time, latitude and longitude.
	windows := []netcdf.Window{{Start: []int64{0, 0, 0}, Shape: []int64{1, 4, 5}}, {Start: []int64{0, 2, 3}, Shape: []int64{1, 10, 13}}}
	sums, counts := make([]float64, len(windows)), make([]int, len(windows))
	err = v.Gather(ctx, windows, func(i int, part netcdf.Window, values []float64) error {
		for _, raw := range values {
			if value, state := decoder.Decode(raw); state == netcdf.Valid {
				sums[i] += value
				counts[i]++
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	for i := range windows {
		fmt.Printf("%s: %.3f %s of %d pixels\n", times[0].Format("2 January 2006"), sums[i]/float64(counts[i]), decoder.Unit(), counts[i])
	}
	// Output:
	// 16 x 12 pixels of int16 from 9.75, 50.25
	// 1 September 2025: 4.997 mg m-3 of 17 pixels
	// 1 September 2025: 5.129 mg m-3 of 114 pixels
}
