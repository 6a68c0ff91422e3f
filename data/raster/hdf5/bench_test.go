package hdf5

import (
	"context"
	"math/rand/v2"
	"testing"
)

// lakes returns a grid of fill values with round lakes, and the windows of the lakes.
func lakes(size int64, n int) (values []float64, windows []Window) {
	rng := rand.New(rand.NewPCG(15, 16))
	values = make([]float64, size*size)
	for i := range values {
		values[i] = 9.96921e36
	}
	for range n {
		y, x := rng.Int64N(size-20), rng.Int64N(size-20)
		windows = append(windows, Window{Start: []int64{0, y, x}, Shape: []int64{1, 20, 20}})
		for r := range int64(20) {
			for c := range int64(20) {
				if (r-10)*(r-10)+(c-10)*(c-10) < 81 {
					values[(y+r)*size+x+c] = 20 * rng.Float64()
				}
			}
		}
	}
	return values, windows
}

// BenchmarkGather reads 200 windows of 20 x 20 values of a shuffled, compressed grid of 2,048 x 2,048.
func BenchmarkGather(b *testing.B) {
	const size = 2048
	values, windows := lakes(size, 200)
	for name, chunk := range map[string][]int64{
		"512x512": {1, 512, 512}, "whole": {1, size, size}, "rows": {1, 1, size}, "64x64": {1, 64, 64},
	} {
		for _, pipeline := range []string{"none", "shuffle, deflate", "shuffle, deflate, checksum", "shuffle, Zstandard"} {
			c := &chunkFile{shape: []int64{1, size, size}, chunk: chunk, typ: Type{Class: Float, Size: 4}, filters: pipelines[pipeline], values: values}
			d := c.dataset(b)
			b.Run(name+"/"+pipeline, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					n := 0
					err := d.Gather(context.Background(), windows, func(_ int, _ Window, values []float64) error {
						n += len(values)
						return nil
					})
					if err != nil || n != 400*len(windows) {
						b.Fatalf("%d values, %v", n, err)
					}
				}
			})
		}
	}
}
