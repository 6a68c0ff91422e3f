package tiff

import (
	"context"
	"image"
	"math"
	"testing"
)

// readWhole returns all values of a band.
func readWhole(im *Image, band int) ([]float64, error) {
	w, h := im.Width(), im.Height()
	all := make([]float64, w*h)
	for i := range all {
		all[i] = -12345.678 // not read
	}
	err := im.Gather(context.Background(), band, []image.Rectangle{image.Rect(0, 0, w, h)}, func(_ int, part image.Rectangle, values []float64) error {
		for y := part.Min.Y; y < part.Max.Y; y++ {
			copy(all[y*w+part.Min.X:], values[:part.Dx()])
			values = values[part.Dx():]
		}
		return nil
	})
	return all, err
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// must ends the test if err is not nil.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
