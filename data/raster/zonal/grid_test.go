package zonal

import (
	"image"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

func TestWindows(t *testing.T) {
	rectangle := func(x0, y0, x1, y1 float64) *Mask {
		return mustMask(t, []Polygon{{{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}}}, Full)
	}
	for _, test := range []struct {
		name    string
		mask    *Mask
		grid    Grid
		want    []Window
		outside int
	}{
		{"within", rectangle(2, 3, 5, 6), Grid{Width: 10, Height: 10}, []Window{{image.Rect(2, 3, 5, 6), 0}}, 0},
		{"across the corner", rectangle(-2, -1, 5, 6), Grid{Width: 10, Height: 10}, []Window{{image.Rect(0, 0, 5, 6), 0}}, 19},
		{"beyond", rectangle(12, 3, 15, 6), Grid{Width: 10, Height: 10}, nil, 9},
		{"a turn away", rectangle(32, 3, 35, 6), Grid{Width: 10, Height: 10, Period: 10}, []Window{{image.Rect(2, 3, 5, 6), 30}}, 0},
		{"a turn back", rectangle(-28, 3, -25, 6), Grid{Width: 10, Height: 10, Period: 10}, []Window{{image.Rect(2, 3, 5, 6), -30}}, 0},
		{"across the edge", rectangle(8, 3, 11, 6), Grid{Width: 10, Height: 10, Period: 10}, []Window{{image.Rect(8, 3, 10, 6), 0}, {image.Rect(0, 3, 1, 6), 10}}, 0},
		{"across the other edge", rectangle(-1, 3, 2, 6), Grid{Width: 10, Height: 10, Period: 10}, []Window{{image.Rect(9, 3, 10, 6), -10}, {image.Rect(0, 3, 2, 6), 0}}, 0},
		{"beyond the poles", rectangle(8, -2, 11, 12), Grid{Width: 10, Height: 10, Period: 10}, []Window{{image.Rect(8, 0, 10, 10), 0}, {image.Rect(0, 0, 1, 10), 10}}, 12},
		{"part of a globe", rectangle(8, 3, 11, 6), Grid{Width: 9, Height: 10, Period: 36}, []Window{{image.Rect(8, 3, 9, 6), 0}}, 6},
		{"part of a globe, from behind", rectangle(-40, 3, -26, 6), Grid{Width: 12, Height: 10, Period: 36}, []Window{{image.Rect(0, 3, 10, 6), -36}}, 12},
		{"columns that repeat", rectangle(8, 3, 13, 6), Grid{Width: 12, Height: 10, Period: 10}, []Window{{image.Rect(8, 3, 10, 6), 0}, {image.Rect(0, 3, 3, 6), 10}}, 0},
		{"no raster", rectangle(0, 0, 2, 2), Grid{}, nil, 4},
		{"no pixels", rectangle(0, 0, 0.5, 2), Grid{Width: 10, Height: 10}, nil, 0},
		{"too wide", rectangle(0, 0, 20, 1), Grid{Width: 1, Height: 1, Period: 1}, []Window{
			{image.Rect(0, 0, 1, 1), 0}, {image.Rect(0, 0, 1, 1), 1}, {image.Rect(0, 0, 1, 1), 2}, {image.Rect(0, 0, 1, 1), 3},
			{image.Rect(0, 0, 1, 1), 4}, {image.Rect(0, 0, 1, 1), 5}, {image.Rect(0, 0, 1, 1), 6}, {image.Rect(0, 0, 1, 1), 7},
		}, 12},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.mask.Windows(test.grid); !reflect.DeepEqual(got, test.want) {
				t.Errorf("Windows = %v, want %v", got, test.want)
			}
			if got := test.mask.Outside(test.grid); got != test.outside {
				t.Errorf("Outside = %d, want %d", got, test.outside)
			}
		})
	}
}

// TestCollect reads rasters in parts of random sizes and checks that each pixel of a mask is collected once, with its value.
func TestCollect(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 0))
	for range 500 {
		g := Grid{Width: 1 + rnd.IntN(40), Height: 1 + rnd.IntN(20)}
		if rnd.IntN(2) == 0 {
			g.Period = g.Width + rnd.IntN(3)*20
		}
		lake := newLake(rnd, rnd.Float64()*80-20, rnd.Float64()*30-5, 1+6*rnd.Float64(), 5+rnd.IntN(30))
		m := mustMask(t, []Polygon{lake.Rings}, Centre)
		if g.Period > 0 && m.Bounds().Dx() > g.Period {
			continue
		}
		got := map[image.Point]int{}
		for _, w := range m.Windows(g) {
			step := image.Pt(1+rnd.IntN(9), 1+rnd.IntN(9))
			for y := w.Rect.Min.Y; y < w.Rect.Max.Y; y += step.Y {
				for x := w.Rect.Min.X; x < w.Rect.Max.X; x += step.X {
					part := image.Rectangle{image.Pt(x, y), image.Pt(x, y).Add(step)}.Intersect(w.Rect)
					values := make([]float64, part.Dx()*part.Dy())
					for i := range values {
						values[i] = float64((part.Min.Y+i/part.Dx())*1000 + part.Min.X + i%part.Dx())
					}
					m.Collect(w, part, values, func(i, x, y int, value float64) {
						if at, ok := m.Index(x+w.Turn, y); value != float64(y*1000+x) || !ok || at != i {
							t.Fatalf("pixel %d, %d has %g and the index %d; in the mask: %t, with the index %d", x, y, value, i, ok, at)
						}
						got[image.Pt(x+w.Turn, y)]++
					})
				}
			}
		}
		for p, n := range got {
			if n != 1 {
				t.Fatalf("pixel %v was collected %d times", p, n)
			}
		}
		index, all := 0, 0
		m.Each(func(y, x0, x1 int) {
			for x := x0; x < x1; x++ {
				if i, ok := m.Index(x, y); ok && i == all {
					index++
				}
				all++
			}
		})
		if index != m.Count() {
			t.Fatalf("%d of %d pixels have their index", index, m.Count())
		}
		if len(got)+m.Outside(g) != m.Count() {
			t.Fatalf("%d pixels collected, %d outside, want %d", len(got), m.Outside(g), m.Count())
		}
	}
}

func TestStatistics(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, test := range []struct {
		values           []float64
		median, p10, p90 float64
	}{
		{nil, nan, nan, nan},
		{[]float64{3}, 3, 3, 3},
		{[]float64{4, 1}, 2.5, 1.3, 3.7},
		{[]float64{3, 1, 2}, 2, 1.2, 2.8},
		{[]float64{5, 1, 4, 2, 3}, 3, 1.4, 4.6},
		{[]float64{1, nan, 2}, nan, nan, nan},
		{[]float64{inf, 1, inf}, inf, inf, inf},
		{[]float64{math.MaxFloat64, math.MaxFloat64}, math.MaxFloat64, math.MaxFloat64, math.MaxFloat64},
	} {
		same := func(a, b float64) bool {
			return a == b || math.Abs(a-b) < 1e-12 || math.IsNaN(a) && math.IsNaN(b)
		}
		if got := Median(test.values); !same(got, test.median) {
			t.Errorf("Median(%v) = %g, want %g", test.values, got, test.median)
		}
		if got := Quantile(test.values, 0.5); !same(got, test.median) {
			t.Errorf("Quantile(%v, 0.5) = %g, want %g", test.values, got, test.median)
		}
		if got := Quantile(test.values, 0.1); !same(got, test.p10) {
			t.Errorf("Quantile(%v, 0.1) = %g, want %g", test.values, got, test.p10)
		}
		if got := Quantile(test.values, 0.9); !same(got, test.p90) {
			t.Errorf("Quantile(%v, 0.9) = %g, want %g", test.values, got, test.p90)
		}
	}
}
