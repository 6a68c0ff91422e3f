package crs_test

import (
	"fmt"
	"log"

	"limnomap/data/raster/crs"
)

// The pixel of a raster in UTM that contains a point.
func Example() {
	s, err := crs.FromEPSG(32632)
	if err != nil {
		log.Fatal(err)
	}
	x, y, ok := s.Project(9.4, 47.6) // in Bodensee
	fmt.Printf("%s: %.2f %.2f %v\n", s.Name(), x, y, ok)

	const left, top, size = 500000, 5300000, 300.0 // of the raster
	fmt.Printf("column %d, row %d\n", int((x-left)/size), int((top-y)/size))
	// Output:
	// WGS 84 / UTM zone 32N: 530068.10 5271920.95 true
	// column 100, row 93
}
