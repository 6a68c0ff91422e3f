package outline_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"limnomap/data/outline"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"github.com/paulmach/orb/planar"
	"pgregory.net/rapid"
)

// ringsAt returns copies of an outline's rings.
func ringsAt(o outline.Outline, z maptile.Zoom) []orb.Ring {
	var buffer []orb.Point
	var rings []orb.Ring
	for ring := range o.Rings(z, &buffer) {
		rings = append(rings, slices.Clone(orb.Ring(ring)))
	}
	return rings
}

// mustOutline is New for valid polygons.
func mustOutline(t testing.TB, polygons ...orb.Polygon) outline.Outline {
	t.Helper()
	o, err := outline.New(polygons)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Check(); err != nil {
		t.Fatalf("Check() of an outline that New made = %v", err)
	}
	return o
}

// square returns a closed ring of that half width around a point, counter-clockwise.
func square(lon, lat, half float64) orb.Ring {
	return orb.Ring{
		{lon - half, lat - half}, {lon + half, lat - half}, {lon + half, lat + half}, {lon - half, lat + half}, {lon - half, lat - half},
	}
}

func TestOutline(t *testing.T) {
	lake, island, pond := square(10, 50, 0.1), square(10, 50, 0.02), square(10.5, 50, 0.0003)
	o := mustOutline(t, orb.Polygon{lake, island}, orb.Polygon{pond})
	for z := range maptile.Zoom(22) {
		want := []orb.Ring{lake, island, pond}
		if z < 10 {
			want = want[:2] // at zoom 9 the pond is 0.2 pixels wide
		}
		if got := ringsAt(o, z); !slices.EqualFunc(got, want, orb.Ring.Equal) {
			t.Errorf("Rings(%d) = %v, want %v", z, got, want)
		}
	}
	if got, want := o.Bound(), (orb.Bound{Min: orb.Point{9.9, 49.9}, Max: orb.Point{10.5003, 50.1}}); got != want {
		t.Errorf("Bound() = %v, want %v", got, want)
	}
}

func TestOutlineNone(t *testing.T) {
	var none outline.Outline
	if rings := ringsAt(none, 12); rings != nil {
		t.Errorf("the rings of no outline are %v", rings)
	}
	if b := none.Bound(); b != (orb.Bound{}) {
		t.Errorf("the bound of no outline is %v", b)
	}
	if err := none.Check(); err != nil {
		t.Errorf("Check() of no outline = %v", err)
	}
}

func TestOutlineRejects(t *testing.T) {
	ring := func(points ...orb.Point) orb.MultiPolygon { return orb.MultiPolygon{{points}} }
	many := make(orb.Ring, 200_001)
	tests := []struct {
		name string
		in   orb.MultiPolygon
		want []string
	}{
		{"nothing", nil, []string{"no polygon"}},
		{"no ring", orb.MultiPolygon{{square(1, 1, 1)}, {}}, []string{"polygon 2", "outer ring"}},
		{"two points", ring(orb.Point{1, 1}, orb.Point{2, 2}, orb.Point{1, 1}), []string{"polygon 1, ring 1", "2 distinct points", "3 or more"}},
		{"hole of one point", orb.MultiPolygon{{square(1, 1, 1), {{1, 1}, {1, 1}, {1, 1}, {1, 1}}}}, []string{"polygon 1, ring 2", "1 distinct"}},
		{"a line", ring(orb.Point{1, 1}, orb.Point{2, 1}, orb.Point{3, 1}), []string{"line", "encloses an area"}},
		{"NaN", ring(orb.Point{1, 1}, orb.Point{2, math.NaN()}, orb.Point{3, 1}), []string{"polygon 1, ring 1, point 2", "lat NaN", "-90 to 90"}},
		{"lat", ring(orb.Point{1, 1}, orb.Point{2, 1}, orb.Point{3, 90.5}), []string{"point 3", "lat 90.5"}},
		{"lon", ring(orb.Point{-361, 1}, orb.Point{2, 1}, orb.Point{3, 9}), []string{"point 1", "lon -361"}},
		{"infinite", ring(orb.Point{math.Inf(1), 1}, orb.Point{2, 1}, orb.Point{3, 9}), []string{"lon +Inf"}},
		{"metres", ring(orb.Point{3.4e6, 5.8e6}, orb.Point{3.5e6, 5.8e6}, orb.Point{3.4e6, 5.9e6}), []string{"lon 3.4e+06", "degrees"}},
		{"uncut at the antimeridian", ring(orb.Point{179, 1}, orb.Point{-179, 1}, orb.Point{-179, 2}, orb.Point{179, 2}), []string{"358", "antimeridian", "RFC 7946"}},
		{"half the world", orb.MultiPolygon{{square(0, 0, 50)}, {square(100, 0, 50)}}, []string{"together", "200", "180"}},
		{"too many points", orb.MultiPolygon{{many}}, []string{"200000", "ring 1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, err := outline.New(tt.in)
			if err == nil || o != "" {
				t.Fatalf("New = %q, %v, want an error", o, err)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("New: %v, want it to name %q", err, part)
				}
			}
		})
	}
}

func TestOutlineAcrossTheAntimeridian(t *testing.T) {
	east := orb.Polygon{{{179, 60}, {180, 60}, {180, 61}, {179, 61}, {179, 60}}}
	west := orb.Polygon{{{-180, 60}, {-179, 60}, {-179, 61}, {-180, 61}, {-180, 60}}}
	beyond := orb.Polygon{{{180, 60}, {181, 60}, {181, 61}, {180, 61}, {180, 60}}}
	before := orb.Polygon{{{-181, 60}, {-180, 60}, {-180, 61}, {-181, 61}, {-181, 60}}}
	want := orb.Bound{Min: orb.Point{179, 60}, Max: orb.Point{181, 61}}
	for _, parts := range []orb.MultiPolygon{{east, west}, {west, east}, {east, beyond}, {before, west}} {
		o := mustOutline(t, parts...)
		if got := o.Bound(); got != want {
			t.Errorf("Bound() of %v = %v, want %v", parts, got, want)
		}
	}
	// The part west of the antimeridian is too small to be visible at any zoom.
	mustOutline(t, orb.Polygon{{{180, 60}, {181, 60}, {181, 61}, {180, 61}, {179.9999995, 60.5}, {180, 60}}})
	if a, b := mustOutline(t, east, west), mustOutline(t, east, beyond); a != b {
		t.Error("the outline depends on whether a shore was cut in two or runs on beyond 180")
	}
}

// The Mercator ordinate of a pole is infinite. There is no lake, but nothing must fail.
func TestOutlineAtThePoles(t *testing.T) {
	for _, pole := range []float64{-90, 90} {
		o := mustOutline(t, orb.Polygon{{{10, pole * 0.99}, {11, pole * 0.99}, {11, pole}, {10, pole}, {10, pole * 0.99}}})
		want := orb.MultiPoint{{10, pole * 0.99}, {11, pole}}.Bound()
		for z := outline.FirstZoom; z <= 16; z++ {
			if rings := ringsAt(o, z); len(rings) != 1 || rings[0].Bound() != want {
				t.Errorf("zoom %d: %v, want one ring in %v", z, rings, want)
			}
		}
	}
}

// A zoom uses the next finer zoom's rings if its own would save less than a quarter.
func TestOutlineSharesSections(t *testing.T) {
	simple := mustOutline(t, orb.Polygon{square(10, 50, 0.1)})
	if n := len(simple); n > 60 {
		t.Errorf("a square of 4 points has %d bytes, want at most 60", n)
	}
	o := mustOutline(t, bays(500, 0.05))
	var sizes []int
	for z := outline.FirstZoom; z <= 16; z++ {
		if n := len(ringsAt(o, z)[0]); len(sizes) == 0 || n != sizes[len(sizes)-1] {
			sizes = append(sizes, n)
		}
	}
	if len(sizes) < 3 || sizes[len(sizes)-1] > 501 {
		t.Errorf("the sections have %v points, want 3 or more sizes, up to 501", sizes)
	}
	for i := 1; i < len(sizes); i++ {
		// The size of a point differs between sections, so it is not exactly three quarters.
		if ratio := float64(sizes[i-1]) / float64(sizes[i]); ratio > 0.85 {
			t.Errorf("the sections have %v points, want each to save about a quarter of the next one's", sizes)
		}
	}
}

// shore draws a ring like a lake's: points around a centre, at random distances.
func shore(t *rapid.T, lon, lat, radius float64) orb.Ring {
	n := rapid.IntRange(3, 200).Draw(t, "points")
	ring := make(orb.Ring, n)
	for i := range ring {
		r := radius * rapid.Float64Range(0.5, 1).Draw(t, "r")
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		ring[i] = orb.Point{lon + r*cos, lat + r*sin}
	}
	return ring
}

// mercator projects to the plane of the map, in degrees.
func mercator(p orb.Point) orb.Point {
	return orb.Point{p[0], math.Atanh(math.Sin(p[1]*math.Pi/180)) * 180 / math.Pi}
}

func TestOutlineIsWithinTolerance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lon := rapid.Float64Range(-180, 180).Draw(t, "lon")
		lat := rapid.Float64Range(-84, 84).Draw(t, "lat")
		radius := math.Exp2(rapid.Float64Range(-16, 0).Draw(t, "log radius"))
		in := shore(t, lon, lat, radius)
		o, err := outline.New(orb.MultiPolygon{{in}})
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Check(); err != nil {
			t.Fatal(err)
		}
		points := 0
		for z := outline.FirstZoom; z <= 16; z++ {
			rings := ringsAt(o, z)
			if len(rings) != 1 {
				t.Fatalf("zoom %d: %d rings, want 1", z, len(rings))
			}
			ring := rings[0]
			if len(ring) < 4 || !ring.Closed() {
				t.Fatalf("zoom %d: ring %v, want it closed, of 4 points or more", z, ring)
			}
			if len(ring) < points {
				t.Fatalf("zoom %d: %d points, fewer than the %d of zoom %d", z, len(ring), points, z-1)
			}
			points = len(ring)
			for _, p := range ring {
				if !o.Bound().Contains(p) {
					t.Fatalf("zoom %d: %v is outside the bound %v", z, p, o.Bound())
				}
			}
			// In both directions: no point of the shore is farther from the ring than a quarter of a pixel plus the rounding to 1e-7
			// degrees, and each point of the ring is on the shore.
			allowed := 0.25*360/(256*math.Exp2(float64(z))) + 2e-7/math.Cos(lat*math.Pi/180)
			line := make(orb.LineString, len(ring))
			for i, p := range ring {
				line[i] = mercator(p)
			}
			turn := 360 * math.Round((ring[0][0]-in[0][0])/360)
			for _, p := range in {
				p[0] += turn
				if d := planar.DistanceFrom(line, mercator(p)); d > allowed {
					t.Fatalf("zoom %d: %v is %v degrees from the ring, want at most %v", z, p, d, allowed)
				}
			}
			for _, p := range ring {
				if !slices.ContainsFunc(in, func(q orb.Point) bool {
					return math.Abs(q[0]+turn-p[0]) < 0.6e-7 && math.Abs(q[1]-p[1]) < 0.6e-7
				}) {
					t.Fatalf("zoom %d: %v is no point of the shore", z, p)
				}
			}
		}
	})
}

// A ring of very many points is simplified in parts, within the same tolerance.
func TestLongOutlineIsWithinTolerance(t *testing.T) {
	in := bays(9000, 0.3)
	o := mustOutline(t, in)
	for z := outline.FirstZoom; z <= 16; z++ {
		rings := ringsAt(o, z)
		if len(rings) != 1 || !rings[0].Closed() {
			t.Fatalf("zoom %d: %d rings, want one, which is closed", z, len(rings))
		}
		line := make(orb.LineString, len(rings[0]))
		for i, p := range rings[0] {
			line[i] = mercator(p)
		}
		allowed := 0.25*360/(256*math.Exp2(float64(z))) + 4e-7
		for i := 0; i < len(in[0]); i += 23 {
			if d := planar.DistanceFrom(line, mercator(in[0][i])); d > allowed {
				t.Fatalf("zoom %d: point %d is %v degrees from the ring, want at most %v", z, i+1, d, allowed)
			}
		}
	}
	if fine, coarse := len(ringsAt(o, 16)[0]), len(ringsAt(o, 9)[0]); coarse > fine/4 {
		t.Errorf("%d points at zoom 9 of %d at 16, want a quarter at the most", coarse, fine)
	}
}

func TestOutlineRingsAllocateOnce(t *testing.T) {
	o := mustOutline(t, orb.Polygon{square(10, 50, 0.1), square(10, 50, 0.02)})
	var buffer []orb.Point
	total := 0.0
	draw := func() {
		for ring := range o.Rings(14, &buffer) {
			total += ring[0].Lon()
		}
	}
	draw()
	if n := testing.AllocsPerRun(100, draw); n > 0 {
		t.Errorf("Rings allocates %v times with a buffer that is large enough, want 0", n)
	}
}

// TestOutlineVanishes checks what is invisible at a zoom: a pond and its island are not drawn, but the largest polygon is,
// however small or thin.
func TestOutlineVanishes(t *testing.T) {
	small := mustOutline(t, orb.Polygon{square(10, 50, 1e-6)}, orb.Polygon{square(10.001, 50, 0.5e-6)})
	for z := outline.FirstZoom; z <= 16; z++ {
		if rings := ringsAt(small, z); len(rings) != 1 || len(rings[0]) < 4 || rings[0].Bound().Center()[0] > 10.0005 {
			t.Errorf("zoom %d: %v, want only the largest polygon", z, rings)
		}
	}
	// A stream 1e-6 degrees wide with a hole of the same width: when the stream is dropped, the hole must not be filled.
	stream := orb.Ring{{11, 50}, {11.1, 50}, {11.1, 50.000001}, {11, 50.000001}}
	hole := orb.Ring{{11.01, 50}, {11.09, 50}, {11.09, 50.000001}, {11.01, 50.000001}}
	o := mustOutline(t, orb.Polygon{square(10.5, 50, 0.1)}, orb.Polygon{stream, hole})
	if rings := ringsAt(o, 9); len(rings) != 1 {
		t.Errorf("zoom 9: %v, want only the lake", rings)
	}
}

func FuzzOutline(f *testing.F) {
	f.Add(string(mustOutline(f, orb.Polygon{square(10, 50, 0.1), square(10, 50, 0.02)}, orb.Polygon{square(10.5, 50, 0.0003)})))
	f.Add(string(mustOutline(f, orb.Polygon{square(180, 80, 2)})))
	f.Add("")
	f.Add("\x01")
	f.Add("\x01\x00\x00\x02\x02\x00\x00\x00\x00\x00\x00\x00\x08\x01\x03\x00\x00\x02\x00\x00\x02")
	f.Fuzz(func(t *testing.T, s string) {
		o := outline.Outline(s)
		err := o.Check()
		bound := o.Bound()
		for z := range maptile.Zoom(20) {
			points := 0
			for _, ring := range ringsAt(o, z) {
				points += len(ring)
				if err != nil {
					continue // it only has to end
				}
				if len(ring) < 4 || !ring.Closed() {
					t.Fatalf("zoom %d: ring %v, want it closed, of 4 points or more", z, ring)
				}
				for _, p := range ring {
					if !bound.Contains(p) {
						t.Fatalf("zoom %d: %v is outside the bound %v", z, p, bound)
					}
				}
			}
			if points > len(s) {
				t.Fatalf("zoom %d: %d points from %d bytes", z, points, len(s))
			}
			if err == nil && s != "" && points == 0 {
				t.Fatalf("zoom %d: nothing is drawn", z)
			}
		}
	})
}

// bays returns a closed shore of n points at the position of Lake Müritz, with bays of all sizes, each half as wide and deep
// as the one before. Its mean radius is given in degrees of latitude.
func bays(n int, radius float64) orb.Polygon {
	ring := make(orb.Ring, n)
	for i := range ring {
		a := 2 * math.Pi * float64(i) / float64(n)
		r := 1.0
		for k := 2.0; k < float64(n)/4; k *= 2 {
			r += 0.4 / k * math.Sin(k*a+k*k)
		}
		sin, cos := math.Sincos(a)
		ring[i] = orb.Point{12.7 + 1.68*radius*r*cos, 53.42 + radius*r*sin}
	}
	return orb.Polygon{append(ring, ring[0])}
}

func TestContains(t *testing.T) {
	square := func(west, south, east, north float64) orb.Ring {
		return orb.Ring{{west, south}, {east, south}, {east, north}, {west, north}, {west, south}}
	}
	lake, err := outline.New(orb.MultiPolygon{{square(10, 47, 11, 48), square(10.4, 47.4, 10.6, 47.6)}})
	if err != nil {
		t.Fatal(err)
	}
	pacific, err := outline.New(orb.MultiPolygon{{square(179.5, 10, 180.5, 11)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		of   outline.Outline
		at   orb.Point
		want bool
	}{
		{lake, orb.Point{10.1, 47.1}, true}, {lake, orb.Point{10.5, 47.5}, false}, {lake, orb.Point{9.9, 47.5}, false}, {lake, orb.Point{10.5, 48.1}, false},
		{pacific, orb.Point{179.9, 10.5}, true}, {pacific, orb.Point{-179.9, 10.5}, true}, {pacific, orb.Point{-179.4, 10.5}, false}, {pacific, orb.Point{179.4, 10.5}, false},
	} {
		if got := test.of.Contains(test.at); got != test.want {
			t.Errorf("%v is inside: %t, want %t", test.at, got, test.want)
		}
	}
}
