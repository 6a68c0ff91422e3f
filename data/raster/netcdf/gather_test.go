package netcdf

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A countingReader counts the bytes that are read of it.
type countingReader struct {
	io.ReaderAt
	calls, bytes int
}

func (r *countingReader) ReadAt(p []byte, at int64) (int, error) {
	r.calls++
	r.bytes += len(p)
	return r.ReaderAt.ReadAt(p, at)
}

// randomWindow returns a window within a variable.
func randomWindow(rng *rand.Rand, v *Variable) (w Window) {
	for _, d := range v.Dimensions() {
		start := rng.Int64N(d.Len + 1)
		w.Start = append(w.Start, start)
		w.Shape = append(w.Shape, rng.Int64N(d.Len-start+1))
		if rng.IntN(3) == 0 { // all of it, as it happens for the last dimensions
			w.Start[len(w.Start)-1], w.Shape[len(w.Shape)-1] = 0, d.Len
		}
	}
	return w
}

// cut returns the values of a window from those of the whole variable.
func cut(all []float64, v *Variable, w Window) []float64 {
	n := int64(1)
	for _, length := range w.Shape {
		n *= length
	}
	values := make([]float64, 0, n)
	for i := range n {
		at, rest, stride := int64(0), i, int64(1)
		for k := len(w.Shape) - 1; k >= 0; k-- {
			at += (w.Start[k] + rest%w.Shape[k]) * stride
			rest /= w.Shape[k]
			stride *= v.Dimensions()[k].Len
		}
		values = append(values, all[at])
	}
	return values
}

// checkWindows compares windows with the whole variable: their values, and that each is passed on once.
func checkWindows(t *testing.T, name string, v *Variable) {
	t.Helper()
	w, n := whole(v)
	all, err := read(v, w)
	if err != nil {
		t.Errorf("%s, %s: %v", name, v.Name(), err)
		return
	}
	rng := rand.New(rand.NewPCG(19, uint64(n)))
	var windows []Window
	total := 0
	for range 40 {
		w := randomWindow(rng, v)
		windows = append(windows, w)
		total += len(cut(all[0], v, w))
	}
	windows = append(windows, windows[:3]...)
	for _, w := range windows[:3] {
		total += len(cut(all[0], v, w))
	}
	got, err := read(v, windows...)
	if err != nil {
		t.Errorf("%s, %s: %v", name, v.Name(), err)
		return
	}
	for i, w := range windows {
		if !slices.EqualFunc(got[i], cut(all[0], v, w), same) {
			t.Errorf("%s, %s: window %v differs from the whole", name, v.Name(), w)
		}
	}
	passed := 0
	if err := v.Gather(context.Background(), windows, func(_ int, _ Window, values []float64) error {
		passed += len(values)
		return nil
	}); err != nil || passed != total {
		t.Errorf("%s, %s: %d values passed on, want %d; %v", name, v.Name(), passed, total, err)
	}
}

func TestGatherWindows(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.nc")
	if err != nil || len(paths) == 0 {
		t.Fatal("no files in testdata", err)
	}
	for _, path := range paths {
		for _, v := range open(t, path).Variables() {
			if v.Err() == nil {
				checkWindows(t, path, v)
			}
		}
	}
	c := &classicWriter{dimensions: []Dimension{{"a", 3}, {"b", 70}, {"c", 1000}}}
	c.variables = []testVariable{{"v", []int{0, 1, 2}, nil, singles(steps(210000, 0, 1))}, {"w", []int{2, 0}, nil, make([]int8, 3000)}}
	for _, v := range c.open(t).Variables() {
		checkWindows(t, "large", v)
	}
}

// TestGatherReads reads overlapping windows and counts bytes.
func TestGatherReads(t *testing.T) {
	c := &classicWriter{version: 2, dimensions: []Dimension{{"y", 1000}, {"x", 1000}}}
	c.variables = []testVariable{{"v", []int{0, 1}, nil, make([]int16, 1000000)}}
	raw := c.bytes()
	r := &countingReader{ReaderAt: bytes.NewReader(raw)}
	f, err := Open(r, int64(len(raw)), nil)
	if err != nil {
		t.Fatal(err)
	}
	v := f.Variables()[0]
	var windows []Window
	for i := range int64(1000) {
		windows = append(windows, Window{Start: []int64{i * 7 % 900, i * 31 % 900}, Shape: []int64{20, 20}})
	}
	*r = countingReader{ReaderAt: r.ReaderAt}
	if _, err := read(v, windows...); err != nil {
		t.Fatal(err)
	}
	if r.bytes > len(raw) || r.calls > 10 {
		t.Errorf("1000 windows read %d bytes in %d calls of a file of %d", r.bytes, r.calls, len(raw))
	}
	*r = countingReader{ReaderAt: r.ReaderAt}
	if _, err := read(v, windows[0]); err != nil {
		t.Fatal(err)
	}
	if r.bytes > 20*2*1000 || r.calls != 1 {
		t.Errorf("a window of 20 rows read %d bytes in %d calls", r.bytes, r.calls)
	}
}

func TestGatherErrors(t *testing.T) {
	v := variable(t, []int16{1, 2, 3})
	ctx := context.Background()
	none := func(int, Window, []float64) error { return nil }
	for _, w := range []Window{{}, {Start: []int64{0}, Shape: []int64{4}}, {Start: []int64{-1}, Shape: []int64{1}}, {Start: []int64{0}, Shape: []int64{-1}}, {Start: []int64{4}, Shape: []int64{0}},
		{Start: []int64{0, 0}, Shape: []int64{1, 1}}, {Start: []int64{1}, Shape: []int64{1<<63 - 1}}} {
		if err := v.Gather(ctx, []Window{w}, none); err == nil {
			t.Errorf("window %v: no error", w)
		}
	}
	failure := errors.New("enough")
	if err := v.Gather(ctx, []Window{{Start: []int64{0}, Shape: []int64{3}}}, func(int, Window, []float64) error { return failure }); err != failure {
		t.Errorf("error %v, want that of the function as it is", err)
	}
	if err := v.Gather(ctx, nil, none); err != nil {
		t.Errorf("no windows: %v", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if err := v.Gather(ctx, []Window{{Start: []int64{0}, Shape: []int64{3}}}, none); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	text := variable(t, "abc")
	if err := text.Gather(context.Background(), nil, none); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "char") {
		t.Errorf("text: %v", err)
	}
}

// TestTruncated opens files whose end is missing: what is left can be read.
func TestTruncated(t *testing.T) {
	raw, err := os.ReadFile("testdata/seed_netcdf3_classic.nc")
	if err != nil {
		t.Fatal(err)
	}
	cutRaw := raw[:len(raw)-200]
	f, err := Open(bytes.NewReader(cutRaw), int64(len(cutRaw)), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{"lat": nil, "quality_flags": ErrFormat} {
		v, _ := f.Variable(name)
		w, _ := whole(v)
		if _, err := read(v, w); !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", name, err, want)
		}
	}
	for n := range 1000 {
		if _, err := Open(bytes.NewReader(raw[:n]), int64(n), nil); err != nil && !errors.Is(err, ErrFormat) {
			t.Fatalf("the first %d bytes: %v", n, err)
		}
	}
}

// TestConcurrent uses one file in many goroutines, for the race detector.
func TestConcurrent(t *testing.T) {
	for _, path := range []string{"testdata/seed_netcdf3_classic.nc", "testdata/seed_netcdf4.nc"} {
		f := open(t, path)
		v, _ := f.Variable("chl")
		w, _ := whole(v)
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				ctx := context.Background()
				_, gridErr := v.Grid(ctx)
				_, timesErr := v.Times(ctx)
				_, decoderErr := v.Decoder()
				_, readErr := read(v, w)
				if err := errors.Join(gridErr, timesErr, decoderErr, readErr); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
	}
}
