package hdf5_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"limnomap/data/raster/hdf5"
)

// The sums of two windows of a dataset, over values that are not the fill value.
func Example() {
	file, err := os.Open("testdata/seed_latest.h5")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		log.Fatal(err)
	}
	f, err := hdf5.Open(file, info.Size(), nil)
	if err != nil {
		log.Fatal(err)
	}
	names, err := f.Root().Names()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q\n", names)
	d, err := f.Root().Dataset("group/chunks")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %v of %v in chunks of %v\n", d.Path(), d.Type(), d.Shape(), d.ChunkShape())

	windows := []hdf5.Window{{Start: []int64{0, 0}, Shape: []int64{2, 3}}, {Start: []int64{4, 5}, Shape: []int64{2, 5}}}
	sums := make([]float64, len(windows))
	err = d.Gather(context.Background(), windows, func(i int, part hdf5.Window, values []float64) error {
		for _, v := range values {
			sums[i] += v
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sums)

	of, err := f.Root().Dataset("contiguous")
	if err != nil {
		log.Fatal(err)
	}
	if a, err := of.Attribute("text"); err == nil && a != nil {
		text, err := a.Strings()
		fmt.Printf("%s: %q, %v\n", a.Name, text, err)
	}
	// Output:
	// ["contiguous" "filtered" "group" "one" "soft" "two"]
	// /group/chunks: float32 of [6 10] in chunks of [2 4]
	// [36 520]
	// text: ["variable length"], <nil>
}
