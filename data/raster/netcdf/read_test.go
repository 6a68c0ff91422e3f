package netcdf

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"slices"
	"testing"
)

// open reads the structure of a file on disk.
func open(tb testing.TB, path string) *File {
	tb.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	f, err := Open(bytes.NewReader(raw), int64(len(raw)), nil)
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	return f
}

// whole returns the window of all values, and their number.
func whole(v *Variable) (w Window, n int64) {
	n = 1
	for _, d := range v.Dimensions() {
		w.Start = append(w.Start, 0)
		w.Shape = append(w.Shape, d.Len)
		n *= d.Len
	}
	return w, n
}

// put copies the values of a part to their places in a window.
func put(to []float64, w, part Window, values []float64) {
	if len(values) == 0 {
		return
	}
	index := make([]int64, len(w.Shape))
	for _, value := range values {
		at := int64(0)
		for k := range index {
			at = at*w.Shape[k] + part.Start[k] + index[k] - w.Start[k]
		}
		to[at] = value
		for k := len(index) - 1; k >= 0; k-- {
			index[k]++
			if index[k] < part.Shape[k] {
				break
			}
			index[k] = 0
		}
	}
}

const notRead = -12345.678

// read returns the values of windows.
func read(v *Variable, windows ...Window) ([][]float64, error) {
	all := make([][]float64, len(windows))
	for i, w := range windows {
		n := int64(1)
		for _, length := range w.Shape {
			n *= length
		}
		all[i] = slices.Repeat([]float64{notRead}, int(n))
	}
	err := v.Gather(context.Background(), windows, func(i int, part Window, values []float64) error {
		if len(values) > 1<<16 {
			return errors.New("a part has more than 65,536 values")
		}
		put(all[i], windows[i], part, values)
		return nil
	})
	return all, err
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

func floats(raw []byte) []float64 {
	values := make([]float64, len(raw)/8)
	for i := range values {
		values[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
	}
	return values
}
