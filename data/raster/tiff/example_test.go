package tiff_test

import (
	"context"
	"fmt"
	"image"
	"log"
	"os"

	"limnomap/data/raster/tiff"
)

// The mean of two windows of a GeoTIFF, in units of the product, over pixels that have data.
func Example() {
	file, err := os.Open("testdata/scaled.tif")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		log.Fatal(err)
	}
	f, err := tiff.Open(file, info.Size(), nil)
	if err != nil {
		log.Fatal(err)
	}
	im := f.Images()[0]
	fmt.Printf("%d x %d pixels of %v in blocks of %v\n", im.Width(), im.Height(), im.Type(), im.BlockSize())
	if transform, ok := im.Transform(); ok {
		fmt.Printf("corner at %g, %g in EPSG:%v\n", transform[0], transform[3], im.GeoKeys()[tiff.GeographicType])
	}

	windows := []image.Rectangle{image.Rect(10, 10, 20, 20), image.Rect(20, 5, 40, 30)}
	sums, counts := make([]float64, len(windows)), make([]int, len(windows))
	err = im.Gather(context.Background(), 0, windows, func(i int, part image.Rectangle, values []float64) error {
		for _, v := range values {
			if im.IsNoData(v) {
				continue
			}
			sums[i] += v
			counts[i]++
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	scale, offset := im.Scale(0)
	for i, w := range windows {
		fmt.Printf("%v: %.3f %s of %d pixels\n", w, sums[i]/float64(counts[i])*scale+offset, im.Unit(0), counts[i])
	}
	// Output:
	// 40 x 30 pixels of uint8 in blocks of (40,30)
	// corner at 10, 53 in EPSG:4326
	// (10,10)-(20,20): -4.179 mg m-3 of 100 pixels
	// (20,5)-(40,30): -4.536 mg m-3 of 310 pixels
}
