package ingest

import (
	"math"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
	"pgregory.net/rapid"
)

// crescent is three quarters of a ring around a point: its centroid and the centre of its bound are on land.
func crescent(lon, lat float64) orb.Polygon {
	var outer, inner orb.Ring
	for a := 45; a <= 315; a += 5 {
		sin, cos := math.Sincos(float64(a) * math.Pi / 180)
		outer = append(outer, orb.Point{lon + 0.1*cos, lat + 0.06*sin})
		inner = append(orb.Ring{{lon + 0.08*cos, lat + 0.048*sin}}, inner...)
	}
	ring := append(outer, inner...)
	return orb.Polygon{append(ring, ring[0])}
}

func TestInteriorPoint(t *testing.T) {
	tests := []struct {
		name    string
		polygon orb.Polygon
		from    float64 // the minimum distance from the shore, in degrees of latitude
	}{
		{"box", orb.Polygon{boxRing()}, 0.0058},
		{"open box", orb.Polygon{boxRing()[:4]}, 0.0058},
		{"crescent", crescent(12.7, 53.42), 0.005},
		{"crescent far north", crescent(-20, 80), 0.0015},
		{"island in the middle", orb.Polygon{boxRing(), {{12.695, 53.415}, {12.705, 53.415}, {12.705, 53.425}, {12.695, 53.425}, {12.695, 53.415}}}, 0.00247},
		{"two basins", orb.Polygon{{{0, 0}, {4, 0}, {4, 1.9}, {5, 1.9}, {5, 0}, {6, 0}, {6, 2}, {4, 2}, {4, 2}, {0, 4}, {0, 0}}}, 1.5},
		{"stream", orb.Polygon{{{10, 50}, {11, 50.5}, {12, 50}, {12, 50.00001}, {11, 50.50001}, {10, 50.00001}, {10, 50}}}, 1e-6},
		{"canal from north to south", orb.Polygon{{{10, 50}, {10.000001, 50}, {10.000001, 52}, {10, 52}, {10, 50}}}, 3e-7},
		{"beyond the antimeridian", orb.Polygon{{{179, 60}, {182, 60}, {182, 61}, {179, 61}, {179, 60}}}, 0.45},
		{"pole", orb.Polygon{{{10, 89.9}, {11, 89.9}, {11, 90}, {10, 90}, {10, 89.9}}}, 4.2e-4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			closed := tt.polygon.Clone()
			for i, r := range closed {
				if !r.Closed() {
					closed[i] = append(r, r[0])
				}
			}
			got := interiorPoint(tt.polygon)
			if !planar.PolygonContains(closed, got) {
				t.Fatalf("interiorPoint = %v, which is on land", got)
			}
			stretch := math.Cos(got.Lat() * math.Pi / 180)
			for i := range closed {
				for j := range closed[i] {
					closed[i][j][0] *= stretch
				}
			}
			p := orb.Point{got[0] * stretch, got[1]}
			nearest := math.Inf(1)
			for _, r := range closed {
				nearest = min(nearest, planar.DistanceFrom(orb.LineString(r), p))
			}
			if nearest < tt.from {
				t.Errorf("interiorPoint = %v, %v degrees from the shore, want %v or more", got, nearest, tt.from)
			}
		})
	}
}

func TestInteriorPointIsInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lon, lat := rapid.Float64Range(-180, 180).Draw(t, "lon"), rapid.Float64Range(-80, 80).Draw(t, "lat")
		n := rapid.IntRange(3, 60).Draw(t, "points")
		thin := math.Exp2(-rapid.Float64Range(0, 10).Draw(t, "thin"))
		var ring orb.Ring
		for i := range n {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
			r := 0.1 * rapid.Float64Range(0.05, 1).Draw(t, "r")
			ring = append(ring, orb.Point{lon + r*cos, lat + r*thin*sin})
		}
		p := orb.Polygon{append(ring, ring[0])}
		if got := interiorPoint(p); !planar.PolygonContains(p, got) {
			t.Fatalf("interiorPoint = %v, which is not inside", got)
		}
	})
}

// A lake of several polygons gets the point in the largest one, with a valid longitude, whatever longitudes the file uses.
func TestLakePoint(t *testing.T) {
	small := orb.Polygon{{{10, 50}, {10.1, 50}, {10.1, 50.1}, {10, 50.1}, {10, 50}}}
	large := orb.Polygon{{{181, 60}, {183, 60}, {183, 61}, {181, 61}, {181, 60}}}
	s := shape{polygons: orb.MultiPolygon{small, large}}
	s.point = s.middle()
	if got := s.lakePoint(); !(got[0] > -179 && got[0] < -177 && got[1] > 60 && got[1] < 61) {
		t.Errorf("lakePoint() = %v, want it from -179 to -177 and from 60 to 61", got)
	}
}

// A lake's own point may be slightly outside its shape, also across the antimeridian.
func TestNear(t *testing.T) {
	for _, test := range []struct {
		ring orb.Ring
		p    orb.Point
		want bool
	}{
		{orb.Ring{{10, 50}, {11, 50}, {11, 51}, {10, 51}}, orb.Point{10.5, 50.5}, true},
		{orb.Ring{{10, 50}, {11, 50}, {11, 51}, {10, 51}}, orb.Point{11.09, 51.09}, true},
		{orb.Ring{{10, 50}, {11, 50}, {11, 51}, {10, 51}}, orb.Point{11.11, 50.5}, false},
		{orb.Ring{{10, 50}, {11, 50}, {11, 51}, {10, 51}}, orb.Point{10.5, 49.89}, false},
		{orb.Ring{{10, 50}, {11, 50}, {11, 51}, {10, 51}}, orb.Point{50.5, 10.5}, false},
		{orb.Ring{{179, 50}, {181, 50}, {181, 51}, {179, 51}}, orb.Point{-179.5, 50.5}, true},
		{orb.Ring{{179, 50}, {181, 50}, {181, 51}, {179, 51}}, orb.Point{-178.8, 50.5}, false},
		{orb.Ring{{-180, 50}, {-179, 50}, {-179, 51}, {-180, 51}}, orb.Point{179.95, 50.5}, true},
	} {
		s := shape{outline: outlineOf(t, orb.Polygon{test.ring})}
		if got := s.near(test.p); got != test.want {
			t.Errorf("near(%v) of %v = %v, want %v", test.p, test.ring, got, test.want)
		}
	}
}
