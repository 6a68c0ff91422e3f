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

// A reference grows water in the simplest way, with all of the raster at once.
type reference struct {
	*memoryRaster
	Growth
	gaps map[image.Point]bool // by pixels without a value that were looked at
}

func (r *reference) value(p image.Point) (float64, bool) {
	x := p.X
	if r.Period > 0 {
		x = (x%r.Period + r.Period) % r.Period
	}
	if x < 0 || x >= r.Width || p.Y < 0 || p.Y >= r.Height {
		return 0, false
	}
	v := r.values[p.Y*r.Width+x]
	return v, !math.IsNaN(v)
}

// inRaster reports whether a pixel is in the raster.
func (r *reference) inRaster(p image.Point) bool {
	x := p.X
	if r.Period > 0 {
		x = (x%r.Period + r.Period) % r.Period
	}
	return x >= 0 && x < r.Width && p.Y >= 0 && p.Y < r.Height
}

func around(p image.Point) (eight []image.Point) {
	for y := -1; y <= 1; y++ {
		for x := -1; x <= 1; x++ {
			if x != 0 || y != 0 {
				eight = append(eight, p.Add(image.Pt(x, y)))
			}
		}
	}
	return eight
}

func beside(p image.Point) []image.Point {
	return []image.Point{p.Add(image.Pt(0, -1)), p.Add(image.Pt(-1, 0)), p.Add(image.Pt(1, 0)), p.Add(image.Pt(0, 1))}
}

func (r *reference) water(p image.Point) bool {
	if _, ok := r.value(p); ok {
		return true
	}
	is, known := r.gaps[p]
	if known {
		return is
	}
	component := []image.Point{p}
	is = r.inRaster(p)
	for k := 0; k < len(component) && is; k++ {
		for _, n := range around(component[k]) {
			if _, ok := r.value(n); ok || slices.Contains(component, n) {
				continue
			}
			component = append(component, n)
			is = is && r.inRaster(n) && len(component) <= 4
		}
	}
	r.gaps[p] = is
	return is
}

func (r *reference) square(p image.Point) bool {
	return r.water(p) && r.water(p.Add(image.Pt(1, 0))) && r.water(p.Add(image.Pt(0, 1))) && r.water(p.Add(image.Pt(1, 1)))
}

func (r *reference) squares(p image.Point) (found []image.Point) {
	for _, d := range []image.Point{{-1, -1}, {0, -1}, {-1, 0}, {0, 0}} {
		if r.square(p.Add(d)) {
			found = append(found, p.Add(d))
		}
	}
	return found
}

func (r *reference) grow(center Point, rx, ry float64) (want Grown, kept map[image.Point]bool) {
	distance := func(x, y float64) float64 {
		dx, dy := (x-center[0])/rx, (y-center[1])/ry
		return dx*dx + dy*dy
	}
	at := func(p image.Point) (float64, bool) {
		d := distance(float64(p.X)+0.5, float64(p.Y)+0.5)
		return d, d <= 1 || p == image.Pt(int(math.Floor(center[0])), int(math.Floor(center[1])))
	}
	var nearest image.Point
	best, any := math.Inf(1), r.inRaster(image.Pt(int(math.Floor(center[0])), int(math.Floor(center[1]))))
	for y := int(center[1]-ry) - 2; float64(y) < center[1]+ry+2; y++ {
		for x := int(center[0]-rx) - 2; float64(x) < center[0]+rx+2; x++ {
			p := image.Pt(x, y)
			d, within := at(p)
			any = any || r.inRaster(p) && math.Abs(float64(x)+0.5-center[0]) <= rx && math.Abs(float64(y)+0.5-center[1]) <= ry
			if _, ok := r.value(p); ok && within && d < best {
				best, nearest = d, p
			}
		}
	}
	if math.IsInf(best, 1) {
		if any {
			return Grown{Reason: NoWater}, nil
		}
		return Grown{Reason: OffRaster}, nil
	}
	squares := r.squares(nearest)
	if len(squares) == 0 { // wider water from narrow one
		reached := []image.Point{nearest}
		var wide []image.Point
		for k := 0; k < len(reached); k++ {
			for _, n := range beside(reached[k]) {
				_, within := at(n)
				if _, ok := r.value(n); !ok || !within || slices.Contains(reached, n) {
					continue
				}
				if len(r.squares(n)) > 0 {
					wide = append(wide, n)
				} else {
					reached = append(reached, n)
				}
			}
		}
		slices.SortFunc(wide, func(a, b image.Point) int {
			if a.Y != b.Y {
				return a.Y - b.Y
			}
			return a.X - b.X
		})
		best = math.Inf(1)
		for _, p := range wide {
			if d, _ := at(p); d < best {
				best = d
				squares = r.squares(p)
			}
		}
	}
	water := map[image.Point]bool{}
	if len(squares) == 0 {
		pending := []image.Point{nearest}
		water[nearest] = true
		for len(pending) > 0 && len(water) <= r.MaxPixels {
			p := pending[0]
			pending = pending[1:]
			for _, n := range beside(p) {
				if _, ok := r.value(n); ok && !water[n] && len(r.squares(n)) == 0 {
					water[n] = true
					pending = append(pending, n)
				}
			}
		}
	} else {
		start := slices.MinFunc(squares, func(a, b image.Point) int {
			da, db := distance(float64(a.X)+1, float64(a.Y)+1), distance(float64(b.X)+1, float64(b.Y)+1)
			switch {
			case da < db:
				return -1
			case da > db:
				return 1
			}
			return 0
		})
		visited := map[image.Point]bool{start: true}
		pending := []image.Point{start}
		for len(pending) > 0 && len(water) <= r.MaxPixels {
			p := pending[0]
			pending = pending[1:]
			for _, d := range []image.Point{{0, 0}, {1, 0}, {0, 1}, {1, 1}} {
				water[p.Add(d)] = true
			}
			for _, n := range beside(p) {
				if !visited[n] && r.square(n) {
					visited[n] = true
					pending = append(pending, n)
				}
			}
		}
	}
	bounds := image.Rectangle{}
	for p := range water {
		bounds = bounds.Union(image.Rectangle{p, p.Add(image.Pt(1, 1))})
	}
	if len(water) > r.MaxPixels || r.Period > 0 && bounds.Dx()+2*halo > r.Period {
		return Grown{Reason: Merged}, nil
	}
	want.Water = len(water)
	kept = water
	for want.Dropped < r.Edge {
		smaller := map[image.Point]bool{}
		for p := range kept {
			if r.neighbours(kept, p) == 8 {
				smaller[p] = true
			}
		}
		if r.valid(smaller) < r.MinPixels {
			for least := 8; ; least-- {
				most := map[image.Point]bool{}
				for p := range kept {
					if r.neighbours(kept, p) >= least {
						most[p] = true
					}
				}
				if least == 0 || r.valid(most) >= r.MinPixels {
					kept = most
					break
				}
			}
			break
		}
		kept = smaller
		want.Dropped++
	}
	want.Gaps = len(kept) - r.valid(kept)
	return want, kept
}

func (r *reference) neighbours(of map[image.Point]bool, p image.Point) (n int) {
	for _, q := range around(p) {
		if of[q] {
			n++
		}
	}
	return n
}

func (r *reference) valid(of map[image.Point]bool) (n int) {
	for p := range of {
		if _, ok := r.value(p); ok {
			n++
		}
	}
	return n
}

// smallLimits make small rasters meet the limits that only large ones have.
var smallLimits = limits{cell: 5, margin: 8, windows: 7, area: 4000, large: 1000, window: 1 << 22, stored: 1 << 15}

// compareGrow compares Grow with the reference on a random raster.
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
	ref := reference{r, opts, map[image.Point]bool{}}
	for i, got := range growAll(t, r, points, opts, &smallLimits) {
		p := (&grower{grid: r.Grid, points: points}).point(i)
		want, kept := ref.grow(p, opts.RadiusX, opts.RadiusY)
		context := fmt.Sprintf("seed %d, point %d at %v", seed, i, p)
		if got.Reason != want.Reason || got.Water != want.Water || got.Gaps != want.Gaps || got.Dropped != want.Dropped {
			t.Fatalf("%s: %v, water %d, gaps %d, dropped %d, want %v, %d, %d, %d", context,
				got.Reason, got.Water, got.Gaps, got.Dropped, want.Reason, want.Water, want.Gaps, want.Dropped)
		}
		if got.Reason != Found {
			if got.Mask != nil || got.Values != nil {
				t.Fatalf("%s: a mask for %v", context, got.Reason)
			}
			continue
		}
		checkMask(t, got.Mask)
		k := 0
		turn := math.MaxInt
		got.Mask.Each(func(y, x0, x1 int) {
			for x := x0; x < x1; x++ {
				if turn == math.MaxInt { // that of the first pixel is that of all
					for _, turn = range []int{0, r.Period, -r.Period} {
						if kept[image.Pt(x+turn, y)] {
							break
						}
					}
				}
				v, ok := ref.value(image.Pt(x, y))
				if !ok || !kept[image.Pt(x+turn, y)] || got.Values[k] != v {
					t.Fatalf("%s: pixel %d, %d has %g, want %g; kept: %t", context, x, y, got.Values[k], v, kept[image.Pt(x+turn, y)])
				}
				k++
			}
		})
		if k != len(got.Values) || k != ref.valid(kept) {
			t.Fatalf("%s: %d pixels, %d values, want %d", context, k, len(got.Values), ref.valid(kept))
		}
	}
}

func TestGrowReference(t *testing.T) {
	for seed := range uint64(1500) {
		compareGrow(t, seed)
	}
}

func FuzzGrow(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(compareGrow)
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
