package zonal

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A memoryRaster is a raster in memory, which passes windows on in parts of blocks as the readers of files do.
type memoryRaster struct {
	Grid
	values  []float64
	block   image.Point
	calls   int
	gathers []int // windows of each call
	read    int   // pixels
}

func newRaster(g Grid) *memoryRaster {
	r := &memoryRaster{Grid: g, values: make([]float64, g.Width*g.Height), block: image.Pt(16, 16)}
	for i := range r.values {
		r.values[i] = math.NaN()
	}
	return r
}

// drawRaster returns a raster in which a digit is a pixel with that value, and a full stop one without a value.
func drawRaster(picture string, period int) *memoryRaster {
	lines := strings.Fields(picture)
	r := newRaster(Grid{Width: len(lines[0]), Height: len(lines), Period: period})
	for y, line := range lines {
		for x := range line {
			if line[x] != '.' {
				r.values[y*r.Width+x] = float64(line[x] - '0')
			}
		}
	}
	return r
}

func (r *memoryRaster) Gather(ctx context.Context, windows []image.Rectangle, each func(i int, part image.Rectangle, values []float64) error) error {
	r.calls++
	r.gathers = append(r.gathers, len(windows))
	raster := image.Rect(0, 0, r.Width, r.Height)
	byBlock := map[image.Point][]int{}
	var order []image.Point
	for i, w := range windows {
		if w.Empty() || !w.In(raster) {
			return fmt.Errorf("window %v is not in %v", w, raster)
		}
		for y := w.Min.Y / r.block.Y; y*r.block.Y < w.Max.Y; y++ {
			for x := w.Min.X / r.block.X; x*r.block.X < w.Max.X; x++ {
				p := image.Pt(x, y)
				if byBlock[p] == nil {
					order = append(order, p)
				}
				byBlock[p] = append(byBlock[p], i)
			}
		}
	}
	slices.SortFunc(order, func(a, b image.Point) int {
		if a.Y != b.Y {
			return a.Y - b.Y
		}
		return a.X - b.X
	})
	var values []float64
	for _, b := range order {
		if err := ctx.Err(); err != nil {
			return err
		}
		block := image.Rect(b.X*r.block.X, b.Y*r.block.Y, (b.X+1)*r.block.X, (b.Y+1)*r.block.Y)
		for _, i := range byBlock[b] {
			part := windows[i].Intersect(block)
			values = values[:0]
			for y := part.Min.Y; y < part.Max.Y; y++ {
				values = append(values, r.values[y*r.Width+part.Min.X:y*r.Width+part.Max.X]...)
			}
			r.read += len(values)
			if err := each(i, part, values); err != nil {
				return fmt.Errorf("window %d: %w", i, err)
			}
			clear(values)
		}
	}
	return nil
}

// growAll returns the results of Grow with some limits, or its defaults.
func growAll(t testing.TB, r *memoryRaster, points []Point, opts Growth, l *limits) []Grown {
	t.Helper()
	results := make([]Grown, len(points))
	seen := make([]bool, len(points))
	gr, err := newGrower(r.Grid, points, opts, r, func(i int, grown Grown) error {
		if seen[i] {
			t.Errorf("point %d was answered twice", i)
		}
		seen[i] = true
		grown.Values = slices.Clone(grown.Values)
		results[i] = grown
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if l != nil {
		gr.limits = *l
	}
	if err := gr.grow(context.Background()); err != nil {
		t.Fatal(err)
	}
	if gr.stored != 0 {
		t.Errorf("%d bytes are still stored", gr.stored)
	}
	for i, ok := range seen {
		if !ok {
			t.Errorf("point %d was not answered", i)
		}
	}
	return results
}

// smallLimits make small rasters meet the limits that only large ones have.
var smallLimits = limits{cell: 5, margin: 8, windows: 7, area: 4000, large: 1000, window: 1 << 22, stored: 1 << 15}

// compareGrow compares what Grow finds on a random raster in many small windows, and in a few large ones.
func compareGrow(t *testing.T, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 7))
	r := newRaster(Grid{Width: 1 + rnd.IntN(70), Height: 1 + rnd.IntN(50)})
	if rnd.IntN(2) == 0 {
		r.Period = r.Width + rnd.IntN(2)*rnd.IntN(30)
	}
	r.block = image.Pt(1+rnd.IntN(40), 1+rnd.IntN(40))
	lakes := make([]*Mask, 1+rnd.IntN(6))
	for i := range lakes {
		ring := newRing(rnd, rnd.Float64()*70, rnd.Float64()*50, 1+rnd.Float64()*rnd.Float64()*20, 6+rnd.IntN(20))
		lakes[i] = mustMask(t, []Polygon{{ring}}, Centre)
	}
	clouds := rnd.Float64() * rnd.Float64()
	noise := rnd.Float64() * rnd.Float64() * rnd.Float64()
	for i := range r.values {
		x, y := i%r.Width, i/r.Width
		in := rnd.Float64() < noise*0.5
		for _, m := range lakes {
			in = in || m.Has(x, y) || r.Period > 0 && (m.Has(x+r.Period, y) || m.Has(x-r.Period, y))
		}
		if in && (clouds < 0.2 || rnd.Float64() > clouds*0.5) {
			r.values[i] = rnd.Float64()
		}
	}
	opts := Growth{
		RadiusX: rnd.Float64() * 8, RadiusY: rnd.Float64() * 8, MaxPixels: 1 + rnd.IntN(1<<rnd.IntN(12)),
		Edge: rnd.IntN(4), MinPixels: 1 + rnd.IntN(6), Block: image.Pt(rnd.IntN(3)*r.block.X, rnd.IntN(3)*r.block.Y),
	}
	points := make([]Point, 1+rnd.IntN(40))
	for i := range points {
		points[i] = Point{rnd.Float64()*90 - 10, rnd.Float64()*70 - 10}
		if rnd.IntN(3) == 0 {
			points[i] = Point{float64(rnd.IntN(180))/2 - 10, float64(rnd.IntN(140))/2 - 10}
		}
	}
	whole := growAll(t, r, points, opts, nil)
	for i, got := range growAll(t, r, points, opts, &smallLimits) {
		want, context := whole[i], fmt.Sprintf("seed %d, point %d at %v", seed, i, points[i])
		if got.Reason != want.Reason || got.Water != want.Water || got.Gaps != want.Gaps || got.Dropped != want.Dropped || !slices.Equal(got.Values, want.Values) {
			t.Fatalf("%s: %v, water %d, gaps %d, dropped %d and %d values, want %v, %d, %d, %d and %d", context,
				got.Reason, got.Water, got.Gaps, got.Dropped, len(got.Values), want.Reason, want.Water, want.Gaps, want.Dropped, len(want.Values))
		}
		if got.Reason != Found {
			if got.Mask != nil || got.Values != nil {
				t.Fatalf("%s: a mask for %v", context, got.Reason)
			}
			continue
		}
		checkMask(t, got.Mask)
		k := 0
		got.Mask.Each(func(y, x0, x1 int) {
			for x := x0; x < x1; x++ {
				column := x
				if r.Period > 0 {
					column = (x%r.Period + r.Period) % r.Period
				}
				if v := r.values[y*r.Width+column]; k == len(got.Values) || got.Values[k] != v {
					t.Fatalf("%s: pixel %d, %d has not its value %g", context, x, y, v)
				}
				k++
			}
		})
	}
}

func TestGrowInSmallWindows(t *testing.T) {
	for seed := range uint64(1500) {
		compareGrow(t, seed)
	}
}

// TestGrowErrors checks that errors are passed on and hostile arguments are refused.
func TestGrowErrors(t *testing.T) {
	r := drawRaster("....\n.11.\n.11.\n....", 0)
	nothing := func(int, Grown) error { return nil }
	for _, test := range []struct {
		name string
		grid Grid
		opts Growth
		want string
	}{
		{"radius", r.Grid, Growth{RadiusX: -1}, "radii of -1 and 0 pixels"},
		{"no radius", r.Grid, Growth{RadiusX: math.NaN(), RadiusY: 1}, "radii of NaN and 1 pixels"},
		{"edge", r.Grid, Growth{Edge: -1}, "edge -1"},
		{"pixels", r.Grid, Growth{MaxPixels: 1 << 22}, "at most 2097152 pixels"},
		{"grid", Grid{Width: 1 << 30, Height: 1}, Growth{}, "raster of 1073741824 x 1 pixels"},
	} {
		err := Grow(context.Background(), test.grid, []Point{{1, 1}}, test.opts, r, nothing)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	stop := errors.New("stop")
	err := Grow(context.Background(), r.Grid, []Point{{1, 1}}, Growth{}, r, func(int, Grown) error { return stop })
	if !errors.Is(err, stop) {
		t.Errorf("an error of each: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Grow(ctx, r.Grid, []Point{{1, 1}}, Growth{}, r, nothing); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: %v", err)
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, period := range []int{0, 4} {
		r.Period = period
		points := []Point{{nan, 1}, {1, nan}, {inf, 1}, {1, -inf}, {1e300, 1}, {1, 1e300}, {-1e9, -1e9}}
		for i, grown := range growAll(t, r, points, Growth{RadiusX: 1, RadiusY: inf}, nil) {
			if grown.Reason != OffRaster && !(period > 0 && points[i][1] == 1) && !(math.Abs(points[i][1]) < 600) {
				t.Errorf("period %d, point %v: %v, want %v", period, points[i], grown.Reason, OffRaster)
			}
		}
	}
	if err := Grow(context.Background(), Grid{}, []Point{{1, 1}}, Growth{}, r, nothing); err != nil {
		t.Errorf("an empty raster: %v", err)
	}
	if err := Grow(context.Background(), r.Grid, nil, Growth{}, r, nothing); err != nil {
		t.Errorf("no points: %v", err)
	}
}
