package cql2

import (
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"

	"limnomap/data/raster/crs"
)

// shore returns the shape of rings.
func shore(rings ...orb.Ring) *Shape {
	bound := rings[0].Bound()
	points := 0
	for _, r := range rings {
		bound = bound.Union(r.Bound())
		points += len(r)
	}
	return &Shape{Point: bound.Center(), Bound: bound, Points: points, Rings: func() iter.Seq[[]orb.Point] {
		return func(yield func([]orb.Point) bool) {
			for _, r := range rings {
				if !yield(r) {
					return
				}
			}
		}
	}}
}

func square(x, y, side float64) orb.Ring {
	return orb.Ring{{x, y}, {x + side, y}, {x + side, y + side}, {x, y + side}, {x, y}}
}

func TestShores(t *testing.T) {
	t.Parallel()
	ring := []orb.Ring{square(10, 50, 4), square(11, 51, 2)} // with an island
	for _, tt := range []struct {
		name     string
		min, max orb.Point
		lake     *Shape
		want     bool
	}{
		{"around it", orb.Point{0, 40}, orb.Point{20, 60}, shore(ring...), true},
		{"in the water", orb.Point{10.2, 50.2}, orb.Point{10.4, 50.4}, shore(ring...), true},
		{"on the island", orb.Point{11.5, 51.5}, orb.Point{12, 52}, shore(ring...), false},
		{"across a shore", orb.Point{9, 51.9}, orb.Point{10.5, 52}, shore(ring...), true},
		{"through it", orb.Point{9, 51.9}, orb.Point{15, 52}, shore(ring...), true},
		{"a corner", orb.Point{9, 49}, orb.Point{10, 50}, shore(ring...), true},
		{"beside it", orb.Point{9, 49}, orb.Point{9.9, 55}, shore(ring...), false},
		{"across the antimeridian", orb.Point{179, -20}, orb.Point{-179, -10}, shore(square(178.5, -15, 1)), true},
		{"a lake across the antimeridian, west", orb.Point{178, -16}, orb.Point{179.8, -10}, shore(square(179.5, -15, 1)), true},
		{"a lake across the antimeridian, east", orb.Point{-179.8, -16}, orb.Point{-178, -10}, shore(square(179.5, -15, 1)), true},
		{"far from a lake across the antimeridian", orb.Point{-179, -16}, orb.Point{-178, -10}, shore(square(179.5, -15, 1)), false},
	} {
		area, err := BoxArea(tt.min, tt.max, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := area.Meets(tt.lake); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// A box in metres contains what the projected points say.
func TestProjectedBoxes(t *testing.T) {
	t.Parallel()
	utm, err := crs.FromEPSG(25833)
	if err != nil {
		t.Fatal(err)
	}
	area, err := BoxArea(orb.Point{390_000, 5_810_000}, orb.Point{400_000, 5_830_000}, utm)
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		p := orb.Point{13 + rand.Float64(), 52 + rand.Float64()}
		x, y, _ := utm.Project(p[0], p[1])
		if want := x >= 390_000 && x <= 400_000 && y >= 5_810_000 && y <= 5_830_000; area.Contains(p) != want {
			t.Fatalf("%v, at %v, %v: %v", p, x, y, !want)
		}
	}
	if !area.Meets(shore(orb.Ring{{13.3, 52.4}, {13.6, 52.4}, {13.6, 52.7}, {13.3, 52.7}, {13.3, 52.4}})) {
		t.Error("a lake around the box does not meet it")
	}
}

// Squares at random meet a box as their bounds do, and triangles as a grid of points says.
func TestShoresEqualANaiveRule(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		a, b := square(r.Float64()*10, r.Float64()*10, r.Float64()*3), square(r.Float64()*10, r.Float64()*10, r.Float64()*3)
		area, err := BoxArea(a.Bound().Min, a.Bound().Max, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := area.Meets(shore(b)), a.Bound().Intersects(b.Bound()); got != want {
			t.Fatalf("%v and %v: %v", a, b, got)
		}
		p := func() orb.Point { return orb.Point{r.Float64() * 10, r.Float64() * 10} }
		first, second := p(), p()
		triangle, other := orb.Ring{first, p(), p(), first}, orb.Ring{second, p(), p(), second}
		if area, err = newArea(orb.MultiPolygon{{triangle}}, false, nil); err != nil {
			t.Fatal(err)
		}
		common := false
		for range 500 {
			q := p()
			common = common || planar.RingContains(triangle, q) && planar.RingContains(other, q)
		}
		if common && !area.Meets(shore(other)) {
			t.Fatalf("%v and %v have points in common", triangle, other)
		}
	}
}
