package zonal

import (
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A scene is a small raster, and what Grow finds in it: a full stop is a pixel without a value, 1 is one with a value, and # one that must
// be in the mask.
type scene struct {
	name    string
	picture string
	opts    Growth // with RadiusX and RadiusY of 2 if they are 0
	at      Point
	reason  Reason
	gaps    int
	water   int
	dropped int
}

var scenes = []scene{
	{"the edge is dropped", `
		.........
		..11111..
		..1###1..
		..1###1..
		..1###1..
		..11111..
		.........`, Growth{Edge: 1}, Point{0.5, 2.5}, Found, 0, 25, 1},
	{"two pixels inwards leave too few: those with most neighbours", `
		.........
		..11111..
		..11#11..
		..1###1..
		..11#11..
		..11111..
		.........`, Growth{Edge: 2}, Point{0.5, 2.5}, Found, 0, 25, 1},
	{"two pixels inwards leave as few as allowed", `
		.........
		..11111..
		..11111..
		..11#11..
		..11111..
		..11111..
		.........`, Growth{Edge: 2, MinPixels: 1}, Point{0.5, 2.5}, Found, 0, 25, 2},
	{"a pond is nothing but edge", `
		.....
		.##..
		.##..
		.....`, Growth{Edge: 1}, Point{0.5, 2.5}, Found, 0, 4, 0},
	{"fewer pixels than wanted", `
		.....
		.##..
		.....`, Growth{Edge: 1}, Point{0.5, 1.5}, Found, 0, 2, 0},
	{"no water within the radius", `
		.....1
		......
		......`, Growth{}, Point{0.5, 2.5}, NoWater, 0, 0, 0},
	{"off the raster", `
		11
		11`, Growth{}, Point{4.6, 0.5}, OffRaster, 0, 0, 0},
	{"the pixel of the point counts beyond the radius", `
		...
		.#.
		...`, Growth{RadiusX: 0.1, RadiusY: 0.1}, Point{1.9, 1.9}, Found, 0, 1, 0},
	{"the nearest lake, not the largest", `
		##..111
		##..111
		....111`, Growth{}, Point{2.9, 0.5}, Found, 0, 4, 0},
	{"the nearest by the radii", `
		.......
		##.....
		##.....
		.......
		....11.
		....11.`, Growth{RadiusX: 8, RadiusY: 3}, Point{4.5, 2.2}, Found, 0, 4, 0},
	{"a river joins no lakes", `
		##......11
		##11111111
		##......11`, Growth{}, Point{0.5, 0.5}, Found, 0, 6, 0},
	{"a river of steps", `
		##.....
		##11...
		##.11..
		....111
		....111`, Growth{}, Point{0.5, 0.5}, Found, 0, 6, 0},
	{"a strait of two pixels joins lakes", `
		##..##
		######
		######`, Growth{}, Point{0.5, 0.5}, Found, 0, 16, 0},
	{"lakes that touch by a side of one pixel", `
		##..
		##11
		..11`, Growth{}, Point{0.5, 0.5}, Found, 0, 4, 0},
	{"lakes that touch by a corner", `
		##..
		##..
		..11
		..11`, Growth{}, Point{0.5, 0.5}, Found, 0, 4, 0},
	{"a point at the mouth of a river", `
		.......
		....###
		1111###
		....###`, Growth{RadiusX: 3, RadiusY: 3}, Point{2.5, 1.5}, Found, 0, 9, 0},
	{"a point at a river far from the lake", `
		..........
		........11
		########11
		..........`, Growth{}, Point{1.5, 1.5}, Found, 0, 8, 0},
	{"a cloud of four pixels is no shore", `
		11111111
		1######1
		1##..##1
		1##..##1
		1######1
		11111111`, Growth{Edge: 1}, Point{0.5, 0.5}, Found, 4, 48, 1},
	{"an island of six pixels has a shore", `
		111111111
		1#######1
		1#11111#1
		1#1...1#1
		1#1...1#1
		1#11111#1
		1#######1
		111111111`, Growth{Edge: 1}, Point{0.5, 0.5}, Found, 0, 66, 1},
	{"small clouds do not split a lake", `
		#######
		##.#.##
		#######`, Growth{}, Point{0.5, 0.5}, Found, 2, 21, 0},
	{"a band of clouds splits a lake", `
		###..1111
		###..1111
		###..1111`, Growth{}, Point{0.5, 0.5}, Found, 0, 9, 0},
	{"merged", `
		11111
		11111`, Growth{MaxPixels: 9}, Point{0.5, 0.5}, Merged, 0, 0, 0},
	{"as large as allowed", `
		#####
		#####`, Growth{MaxPixels: 10}, Point{0.5, 0.5}, Found, 0, 10, 0},
	{"a river that is too long", "1111111111", Growth{MaxPixels: 9}, Point{0.5, 0.5}, Merged, 0, 0, 0},
}

// read returns the raster of a scene, and the pixels that are wanted.
func (s *scene) read() (r *memoryRaster, want []image.Point) {
	r = drawRaster(strings.ReplaceAll(s.picture, "#", "1"), 0)
	for y, line := range strings.Fields(s.picture) {
		for x := range line {
			if line[x] == '#' {
				want = append(want, image.Pt(x, y))
			}
		}
	}
	return r, want
}

func TestGrowScenes(t *testing.T) {
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			r, want := s.read()
			s.check(t, r, s.at, want)
		})
	}
}

// check compares what Grow finds around a point with a scene.
func (s *scene) check(t *testing.T, r *memoryRaster, at Point, want []image.Point) {
	t.Helper()
	opts := s.opts
	if opts.RadiusX == 0 {
		opts.RadiusX, opts.RadiusY = 2, 2
	}
	got := growAll(t, r, []Point{at}, opts, nil)[0]
	if got.Reason != s.reason || got.Gaps != s.gaps || got.Water != s.water || got.Dropped != s.dropped {
		t.Errorf("%v, %d gaps, %d pixels of water, %d dropped, want %v, %d, %d, %d", got.Reason, got.Gaps, got.Water, got.Dropped, s.reason, s.gaps, s.water, s.dropped)
	}
	var pixels []image.Point
	if got.Mask != nil {
		got.Mask.Each(func(y, x0, x1 int) {
			for x := x0; x < x1; x++ {
				if r.Period > 0 {
					pixels = append(pixels, image.Pt((x+r.Period)%r.Period, y))
				} else {
					pixels = append(pixels, image.Pt(x, y))
				}
			}
		})
	}
	byRow := func(a, b image.Point) int { return (a.Y-b.Y)*1_000_000 + a.X - b.X }
	slices.SortFunc(pixels, byRow)
	slices.SortFunc(want, byRow)
	if !slices.Equal(pixels, want) {
		t.Errorf("pixels %v, want %v", pixels, want)
	}
}

// TestGrowAcrossDateline moves the scenes in a global raster, so that they lie across its edge.
func TestGrowAcrossDateline(t *testing.T) {
	for _, s := range scenes {
		if s.reason == OffRaster {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			small, want := s.read()
			for _, column := range []int{0, 50, 93, 95, 97, 98, 99} {
				r := newRaster(Grid{Width: 100, Height: small.Height, Period: 100})
				for i, v := range small.values {
					r.values[i/small.Width*100+(i%small.Width+column)%100] = v
				}
				moved := make([]image.Point, len(want))
				for i, p := range want {
					moved[i] = image.Pt((p.X+column)%100, p.Y)
				}
				for turn := -2; turn <= 1; turn++ {
					s.check(t, r, Point{s.at[0] + float64(column+turn*100), s.at[1]}, moved)
				}
			}
		})
	}
}

// TestGrowPoles has water along the whole upper edge of a global raster, and a lake at the lower one.
func TestGrowPoles(t *testing.T) {
	r := newRaster(Grid{Width: 100, Height: 50, Period: 100})
	for i := range r.values {
		if x, y := i%100, i/100; y < 3 || y >= 46 && x >= 10 && x < 15 {
			r.values[i] = 1
		}
	}
	got := growAll(t, r, []Point{{20, 0}, {12, 50}, {12.5, 51}}, Growth{RadiusX: 5, RadiusY: 2, Edge: 1}, nil)
	if got[0].Reason != Merged {
		t.Errorf("water around the pole: %v, want %v", got[0].Reason, Merged)
	}
	for _, at := range got[1:] {
		if at.Reason != Found || at.Mask.Bounds() != image.Rect(11, 47, 14, 49) {
			t.Errorf("a lake at the lower edge: %v, %v", at.Reason, at.Mask)
		}
	}
}

// TestGrowLargeLake grows a lake that is larger than the first windows, from many points, and checks how much of the raster is read.
func TestGrowLargeLake(t *testing.T) {
	r := newRaster(Grid{Width: 3000, Height: 2000})
	r.block = image.Pt(512, 512)
	lake := mustMask(t, []Polygon{{newRing(rand.New(rand.NewPCG(9, 9)), 1500, 1000, 300, 24)}}, Centre)
	lake.Each(func(y, x0, x1 int) {
		for x := x0; x < x1; x++ {
			r.values[y*r.Width+x] = float64(x)
		}
	})
	var points []Point
	lake.Each(func(y, x0, x1 int) {
		if y%40 == 0 {
			points = append(points, Point{float64(x0), float64(y)}, Point{float64(x1), float64(y)})
		}
	})
	for _, test := range []struct {
		max    int
		reason Reason
	}{{lake.Count() + 1000, Found}, {lake.Count() / 2, Merged}, {2000, Merged}} {
		r.read, r.calls = 0, 0
		for i, got := range growAll(t, r, points, Growth{RadiusX: 3, RadiusY: 3, MaxPixels: test.max}, nil) {
			// The lake has some pixels that no square of 2 x 2 reaches.
			if got.Reason != test.reason || got.Reason == Found && (got.Water < lake.Count()-200 || got.Water > lake.Count()) {
				t.Fatalf("at most %d: point %d has %v with %d pixels, want %v with %d", test.max, i, got.Reason, got.Water, test.reason, lake.Count())
			}
		}
		t.Logf("at most %d pixels: %d points, %d pixels of water, %d calls, %d pixels read", test.max, len(points), lake.Count(), r.calls, r.read)
		if r.read > 60*lake.Count() {
			t.Errorf("%d pixels were read for a lake of %d", r.read, lake.Count())
		}
	}
}

// TestGrowMemory grows water in a raster that is nothing but water, with limits that it exceeds.
func TestGrowMemory(t *testing.T) {
	r := newRaster(Grid{Width: 300, Height: 300})
	for i := range r.values {
		r.values[i] = 1 + float64(i%2)/3 // a third is not exact in float32
	}
	for i := range 150 { // dry pixels that leave lakes of 29 x 29
		for k := range 300 {
			if i%15 == 0 {
				r.values[2*i*300+k], r.values[k*300+2*i] = math.NaN(), math.NaN()
			}
		}
	}
	var points []Point
	for y := 15; y < 300; y += 30 {
		for x := 15; x < 300; x += 30 {
			points = append(points, Point{float64(x), float64(y)})
		}
	}
	few := limits{cell: 5, margin: 8, windows: 100, area: 1 << 25, large: 1 << 18, window: 1 << 22, stored: 40 << 10}
	for i, got := range growAll(t, r, points, Growth{RadiusX: 2, RadiusY: 2}, &few) {
		if got.Reason != Found || got.Water != 29*29 {
			t.Errorf("point %d: %v with %d pixels, want %v with %d", i, got.Reason, got.Water, Found, 29*29)
		}
	}
	if r.calls < 10 || r.calls > 60 {
		t.Errorf("windows in each call: %v, want some calls", r.gathers)
	}
	few.stored = 1000
	for i, got := range growAll(t, r, points, Growth{RadiusX: 2, RadiusY: 2}, &few) {
		if got.Reason != Merged {
			t.Errorf("point %d: %v, want %v, since its window is too large for the memory", i, got.Reason, Merged)
		}
	}
	few.stored, few.window = 40<<10, 30*30
	for i, got := range growAll(t, r, points, Growth{RadiusX: 2, RadiusY: 2}, &few) {
		if got.Reason != Merged {
			t.Errorf("point %d: %v, want %v, since it extends too far", i, got.Reason, Merged)
		}
	}
}
