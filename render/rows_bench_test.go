package render

import (
	"fmt"
	"testing"
)

// benchmarkForms runs a benchmark for each form of a loop: in plain Go, and as the renderer calls it.
func benchmarkForms[F any](b *testing.B, name string, forms map[string]F, bytes int, run func(F)) {
	for _, form := range []string{"plain", "called"} {
		b.Run(name+"/"+form, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(bytes))
			for b.Loop() {
				run(forms[form])
			}
		})
	}
}

// BenchmarkAddOuter stamps one lake.
func BenchmarkAddOuter(b *testing.B) {
	for _, n := range []int{24, 52, 128} {
		const stride = 256 + lanes
		weights, logs := make([]float32, (n+1)*stride), make([]float32, (n+1)*stride)
		kernel := gradient(n, 1e-5, 1e-3)
		benchmarkForms(b, fmt.Sprintf("%dx%d", n, n), outerForms, 8*n*n, func(addOuter outerForm) {
			addOuter(weights, logs, stride, kernel, kernel, 1e-9, 0.5)
		})
	}
}

// BenchmarkAddRows blurs one row, across rows of bins and along one of them.
func BenchmarkAddRows(b *testing.B) {
	const n, rows = 256, 40
	for _, c := range []struct {
		name   string
		stride int
	}{{"across", n + lanes}, {"along", 1}} {
		dst, src, weights := make([]float32, n), gradient((rows-1)*c.stride+n, 0, 1), gradient(rows, 1e-9, 1e-8)
		benchmarkForms(b, fmt.Sprintf("%dx%d-%s", n, rows, c.name), rowsForms, 4*n*rows, func(addRows rowsForm) {
			addRows(dst, src, c.stride, weights)
		})
	}
}

// BenchmarkShadeRow shades a row of a tile.
func BenchmarkShadeRow(b *testing.B) {
	const n = 256
	dst, narrow, logs, table := make([]uint8, n), gradient(n, 0, 1), gradient(n, 0, 1), &shadeTable{valueScale: valueCells}
	for i := range table.cover {
		table.cover[i] = uint8(min(i/32, 255))
	}
	for _, c := range []struct {
		name string
		wide []float32
	}{
		{"empty", make([]float32, n)},
		{"full", gradient(n, 0.1, 2)},
		{"mixed", append(make([]float32, n/2), gradient(n/2, 0, 1)...)},
	} {
		benchmarkForms(b, c.name, shadeForms, n, func(shadeRow shadeForm) {
			shadeRow(dst, c.wide, narrow, logs, table, [2]uint8{2, 10})
		})
	}
}

// gradient returns n values evenly from one to another.
func gradient(n int, from, to float32) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = from + (to-from)*float32(i)/float32(n)
	}
	return s
}
