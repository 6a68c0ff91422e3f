package zonal

import (
	"errors"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// set returns the pixels of a mask.
func set(m *Mask) map[image.Point]bool {
	pixels := map[image.Point]bool{}
	m.Each(func(y, x0, x1 int) {
		for x := x0; x < x1; x++ {
			pixels[image.Pt(x, y)] = true
		}
	})
	return pixels
}

// draw returns the mask of the pixels of a picture that are #.
func draw(picture string) *Mask {
	var runs []run
	for y, line := range strings.Fields(picture) {
		for x := range line {
			if line[x] == '#' {
				runs = append(runs, run{int32(y), int32(x), int32(x) + 1})
			}
		}
	}
	var joined []run
	for _, row := range rows(runs) {
		joined = append(joined, union(row)...)
	}
	return newMask(joined)
}

func mustMask(t testing.TB, polygons []Polygon, rule Rule) *Mask {
	t.Helper()
	m, err := NewMask(polygons, rule)
	if err != nil {
		t.Fatal(err)
	}
	checkMask(t, m)
	return m
}

// checkMask checks what all masks promise: ordered runs that do not touch, and the count and the bounds that belong to them.
func checkMask(t testing.TB, m *Mask) {
	t.Helper()
	count := 0
	bounds := image.Rectangle{}
	var before run
	for i, r := range m.runs {
		if r.x0 >= r.x1 || i > 0 && (r.y < before.y || r.y == before.y && r.x0 <= before.x1) {
			t.Fatalf("run %d is %v after %v", i, r, before)
		}
		before = r
		count += int(r.x1 - r.x0)
		bounds = bounds.Union(image.Rect(int(r.x0), int(r.y), int(r.x1), int(r.y)+1))
	}
	if m.Count() != count || m.Bounds() != bounds {
		t.Errorf("Count, Bounds = %d, %v, want %d, %v", m.Count(), m.Bounds(), count, bounds)
	}
}

func TestNewMask(t *testing.T) {
	square := func(x0, y0, x1, y1 float64) []Point { return []Point{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}} }
	for _, test := range []struct {
		name         string
		polygons     []Polygon
		full, centre [][3]int
	}{
		{"none", nil, nil, nil},
		{"no rings", []Polygon{{}, {{}}}, nil, nil},
		{"a point", []Polygon{{{{3.5, 3.5}}}}, nil, nil},
		{"a line", []Polygon{{{{0, 0}, {9, 5}}}}, nil, nil},
		{"exactly four pixels", []Polygon{{square(1, 1, 3, 3)}}, [][3]int{{1, 1, 3}, {2, 1, 3}}, [][3]int{{1, 1, 3}, {2, 1, 3}}},
		{"closed twice", []Polygon{{append(square(1, 1, 3, 2), Point{1, 1}, Point{1, 1})}}, [][3]int{{1, 1, 3}}, [][3]int{{1, 1, 3}}},
		{"rounded borders", []Polygon{{square(1+1e-11, 1+1e-11, 3-1e-11, 2-1e-11)}}, [][3]int{{1, 1, 3}}, [][3]int{{1, 1, 3}}},
		{"a little less", []Polygon{{square(1.001, 1, 3, 2)}}, [][3]int{{1, 2, 3}}, [][3]int{{1, 1, 3}}},
		{"left and above of the raster", []Polygon{{square(-3, -2.6, -1, -1)}}, [][3]int{{-2, -3, -1}}, [][3]int{{-3, -3, -1}, {-2, -3, -1}}},
		{"centres on edges", []Polygon{{square(0.5, 0.5, 2.5, 1.5)}}, nil, [][3]int{{0, 1, 3}, {1, 1, 3}}}, // the lower edge is filled
		{"a hole", []Polygon{{square(0, 0, 5, 3), square(2, 1, 3, 2)}}, [][3]int{{0, 0, 5}, {1, 0, 2}, {1, 3, 5}, {2, 0, 5}}, [][3]int{{0, 0, 5}, {1, 0, 2}, {1, 3, 5}, {2, 0, 5}}},
		{"a small hole", []Polygon{{square(0, 0, 3, 1), square(1.1, 0.1, 1.2, 0.2)}}, [][3]int{{0, 0, 1}, {0, 2, 3}}, [][3]int{{0, 0, 3}}},
		{"two parts", []Polygon{{square(0, 0, 1, 1)}, {square(0, 1_000_000, 1, 1_000_001)}}, [][3]int{{0, 0, 1}, {1_000_000, 0, 1}}, [][3]int{{0, 0, 1}, {1_000_000, 0, 1}}},
		{"parts that share a border", []Polygon{{square(0, 0, 2, 1)}, {square(2, 0, 4, 1)}}, [][3]int{{0, 0, 4}}, [][3]int{{0, 0, 4}}},
		{"a spike", []Polygon{{{{0, 0}, {3, 0}, {3, 1}, {9, 1.5}, {3, 1}, {0, 1}}}}, [][3]int{{0, 0, 3}}, [][3]int{{0, 0, 3}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := runsOf(mustMask(t, test.polygons, Full)); !slices.Equal(got, test.full) {
				t.Errorf("Full: %v, want %v", got, test.full)
			}
			if got := runsOf(mustMask(t, test.polygons, Centre)); !slices.Equal(got, test.centre) {
				t.Errorf("Centre: %v, want %v", got, test.centre)
			}
		})
	}
}

func TestLimitsOfNewMask(t *testing.T) {
	comb := []Point{{0, 0}}
	for i := range 40 {
		comb = append(comb, Point{float64(i) / 100, 1 << 25}, Point{float64(i)/100 + 0.001, 0})
	}
	for _, test := range []struct {
		name     string
		ring     []Point
		rule     Rule
		tooLarge bool
		want     string
	}{
		{"NaN", []Point{{0, 0}, {1, math.NaN()}, {1, 1}}, Full, false, "polygon 0, ring 0, point 1: the coordinates (1, NaN) are not within ±67108864 pixels"},
		{"infinite", []Point{{0, 0}, {math.Inf(1), 1}, {1, 1}}, Full, false, "(+Inf, 1)"},
		{"far away", []Point{{0, 0}, {1e9, 1}, {1, 1}}, Centre, false, "(1e+09, 1)"},
		{"too many pixels", []Point{{0, 0}, {9000, 0}, {9000, 9000}, {0, 9000}}, Centre, true, "more than 67108864 pixels"},
		{"too many crossings", comb, Centre, true, "more than 4194304 rows"},
		{"no rule", nil, Rule(2), false, "rule 2 is neither Full nor Centre"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := NewMask([]Polygon{{test.ring}}, test.rule)
			if err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, ErrTooLarge) != test.tooLarge {
				t.Errorf("NewMask: %v, want %q, too large: %t", err, test.want, test.tooLarge)
			}
		})
	}
}

// TestFullSamples compares masks with points inside pixels: all of a full pixel are inside, and a pixel that is not full has one outside or
// is crossed by an edge.
func TestFullSamples(t *testing.T) {
	inside := func(rings Polygon, x, y float64) bool {
		in := false
		for _, ring := range rings {
			for i, b := range ring {
				a := ring[(i+len(ring)-1)%len(ring)]
				if (a[1] > y) != (b[1] > y) && x < (y-a[1])*(b[0]-a[0])/(b[1]-a[1])+a[0] {
					in = !in
				}
			}
		}
		return in
	}
	rnd := rand.New(rand.NewPCG(3, 0))
	const steps = 16
	for range 200 {
		lake := newLake(rnd, rnd.Float64(), rnd.Float64(), 1+4*rnd.Float64(), 5+rnd.IntN(30))
		full, centre := mustMask(t, []Polygon{lake.Rings}, Full), mustMask(t, []Polygon{lake.Rings}, Centre)
		for y := centre.Bounds().Min.Y; y < centre.Bounds().Max.Y; y++ {
			for x := centre.Bounds().Min.X; x < centre.Bounds().Max.X; x++ {
				n := 0
				for i := range steps * steps {
					if inside(lake.Rings, float64(x)+(float64(i%steps)+0.5)/steps, float64(y)+(float64(i/steps)+0.5)/steps) {
						n++
					}
				}
				switch {
				case full.Has(x, y) && n < steps*steps:
					t.Fatalf("pixel %d, %d is full, with %d of %d points inside: %v", x, y, n, steps*steps, lake.Rings)
				case full.Has(x, y) && !centre.Has(x, y):
					t.Fatalf("pixel %d, %d is full and its centre is outside: %v", x, y, lake.Rings)
				case centre.Has(x, y) != inside(lake.Rings, float64(x)+0.5, float64(y)+0.5):
					t.Fatalf("centre of pixel %d, %d: %t: %v", x, y, centre.Has(x, y), lake.Rings)
				}
			}
		}
	}
}

// TestDirection checks that the direction, the order and the first points of rings make no difference, nor does their place.
func TestDirection(t *testing.T) {
	for _, lake := range halfLakes()[:500] {
		for _, rule := range []Rule{Full, Centre} {
			want := mustMask(t, []Polygon{lake.Rings}, rule)
			var changed []Polygon
			for i := len(lake.Rings) - 1; i >= 0; i-- {
				ring := slices.Clone(lake.Rings[i])
				slices.Reverse(ring)
				for k := range ring {
					ring[k][0] -= 1000
					ring[k][1] -= 20
				}
				changed = append(changed, Polygon{append(ring[1:], ring[0])})
			}
			got := mustMask(t, changed, rule)
			for k := range got.runs {
				got.runs[k] = run{got.runs[k].y + 20, got.runs[k].x0 + 1000, got.runs[k].x1 + 1000}
			}
			if !slices.Equal(got.runs, want.runs) {
				t.Fatalf("rule %d, %v: %v, want %v", rule, lake.Rings, got.runs, want.runs)
			}
		}
	}
}

func TestNewDisc(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 0))
	for range 500 {
		center := Point{rnd.Float64()*10 - 5, rnd.Float64()*10 - 5}
		if rnd.IntN(2) == 0 {
			center = Point{float64(rnd.IntN(9))/2 - 2, float64(rnd.IntN(9))/2 - 2}
		}
		rx, ry := 0.1+rnd.Float64()*6, 0.1+rnd.Float64()*6
		if rnd.IntN(2) == 0 {
			rx, ry = math.Ceil(rx), math.Ceil(ry)
		}
		m, err := NewDisc(center, rx, ry)
		if err != nil {
			t.Fatal(err)
		}
		checkMask(t, m)
		for y := -15; y < 15; y++ {
			for x := -15; x < 15; x++ {
				dx, dy := (float64(x)+0.5-center[0])/rx, (float64(y)+0.5-center[1])/ry
				if want := dx*dx+dy*dy <= 1; m.Has(x, y) != want {
					t.Fatalf("disc around %v with radii %g and %g: pixel %d, %d is %t, want %t", center, rx, ry, x, y, !want, want)
				}
			}
		}
	}
	for _, test := range []struct {
		center   Point
		rx, ry   float64
		tooLarge bool
	}{
		{Point{math.NaN(), 0}, 1, 1, false},
		{Point{0, 1e300}, 1, 1, false},
		{Point{}, 0, 1, false},
		{Point{}, 1, math.NaN(), false},
		{Point{}, math.Inf(1), 1, false},
		{Point{}, 1e4, 1e4, true},
		{Point{}, 1e-9, maxCoordinate, true},
	} {
		if m, err := NewDisc(test.center, test.rx, test.ry); err == nil || errors.Is(err, ErrTooLarge) != test.tooLarge {
			t.Errorf("NewDisc(%v, %g, %g) = %v, %v, want an error, too large: %t", test.center, test.rx, test.ry, m, err, test.tooLarge)
		}
	}
}

func TestErode(t *testing.T) {
	m := draw(`
		.........
		.#######.
		.#######.
		.###.###.
		.#######.
		.#######.
		.#######.
		.#######.`)
	if m.Erode(0) != m {
		t.Error("Erode(0) is not the mask itself")
	}
	want := draw(`
		.........
		.........
		..#...#..
		..#...#..
		..#...#..
		..#####..
		..#####..`)
	if got := m.Erode(1); !slices.Equal(got.runs, want.runs) {
		t.Errorf("Erode(1) = %v, want %v", got.runs, want.runs)
	}
	rnd := rand.New(rand.NewPCG(5, 0))
	for range 300 {
		lake := newLake(rnd, 0, 0, 1+8*rnd.Float64(), 5+rnd.IntN(30))
		m := mustMask(t, []Polygon{lake.Rings}, Centre)
		for n := range 5 {
			eroded := m.Erode(n)
			checkMask(t, eroded)
			pixels := set(m)
			want := 0
			for p := range pixels {
				keep := true
				for y := -n; y <= n; y++ {
					for x := -n; x <= n; x++ {
						keep = keep && pixels[p.Add(image.Pt(x, y))]
					}
				}
				if keep {
					want++
				}
				if eroded.Has(p.X, p.Y) != keep {
					t.Fatalf("Erode(%d): pixel %v is %t, want %t: %v", n, p, !keep, keep, m.runs)
				}
			}
			if eroded.Count() != want {
				t.Fatalf("Erode(%d) has %d pixels, want %d", n, eroded.Count(), want)
			}
		}
	}
}
