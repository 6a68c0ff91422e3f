package index

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"pgregory.net/rapid"

	"limnomap/data"
)

// maxMetres is half the circumference of the Earth, the greatest distance of two points.
const maxMetres = 20_015_114

// lakesAt returns a lake at each of the points, in the order of their ids.
func lakesAt(points ...orb.Point) []data.Lake {
	lakes := make([]data.Lake, len(points))
	for i, p := range points {
		lakes[i] = data.Lake{ID: data.LakeID(fmt.Sprintf("lake_%07d", i)), Name: fmt.Sprint("Lake ", i), Point: p}
	}
	return lakes
}

func TestMetres(t *testing.T) {
	for _, test := range []struct {
		name string
		a, b orb.Point
		want int
	}{
		{"the same place", orb.Point{13, 52}, orb.Point{13, 52}, 0},
		{"a degree of a meridian", orb.Point{13, 52}, orb.Point{13, 53}, 111_195},
		{"a degree of the equator", orb.Point{0, 0}, orb.Point{1, 0}, 111_195},
		{"across the antimeridian", orb.Point{179.5, 0}, orb.Point{-179.5, 0}, 111_195},
		{"both sides of the antimeridian", orb.Point{180, -16}, orb.Point{-180, -16}, 0},
		{"over the pole", orb.Point{0, 89.5}, orb.Point{180, 89.5}, 111_195},
		{"any longitude of a pole", orb.Point{-70, 90}, orb.Point{120, 90}, 0},
		{"pole to pole", orb.Point{0, 90}, orb.Point{0, -90}, maxMetres},
		{"antipode", orb.Point{13, 52}, orb.Point{-167, -52}, maxMetres},
		{"Berlin to Munich, by the haversine", orb.Point{13.405, 52.52}, orb.Point{11.582, 48.135}, 504_427},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, back := Metres(test.a, test.b), Metres(test.b, test.a); got != test.want || back != got {
				t.Errorf("Metres(%v, %v) = %d, back %d, want %d", test.a, test.b, got, back, test.want)
			}
		})
	}
}

// drawPoint draws places that lie apart, close together, on each other, at the poles and at the antimeridian.
func drawPoint(t *rapid.T, name string) orb.Point {
	special := []orb.Point{{0, 90}, {50, 90}, {0, -90}, {180, 0}, {-180, 0}, {180, 66.5}, {-180, 66.5}, {13, 52}, {-167, -52}}
	switch rapid.IntRange(0, 3).Draw(t, name+" kind") {
	case 0:
		return rapid.SampledFrom(special).Draw(t, name)
	case 1: // metres apart
		p := rapid.SampledFrom(special[3:]).Draw(t, name)
		step := func(axis string) float64 { return float64(rapid.IntRange(-40, 40).Draw(t, name+axis)) / 1e5 }
		lon, lat := p.Lon()+step(" east"), p.Lat()+step(" north")
		if lon > 180 {
			lon -= 360
		} else if lon < -180 {
			lon += 360
		}
		return orb.Point{lon, lat}
	}
	return orb.Point{rapid.Float64Range(-180, 180).Draw(t, name+" lon"), rapid.Float64Range(-90, 90).Draw(t, name+" lat")}
}

// nearestBySearch is Nearest without an index.
func nearestBySearch(lakes []data.Lake, from orb.Point, within, limit int) []Neighbour {
	var all []Neighbour
	for i := range lakes {
		if m := Metres(from, lakes[i].Point); m <= within {
			all = append(all, Neighbour{i, m})
		}
	}
	slices.SortFunc(all, Neighbour.compare)
	return all[:min(limit, len(all))]
}

func TestNearestEqualsLinearSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		points := make([]orb.Point, rapid.IntRange(0, 200).Draw(t, "lakes"))
		for i := range points {
			points[i] = drawPoint(t, "lake")
		}
		lakes := lakesAt(points...)
		places := NewPointIndex(lakes)
		for range 4 {
			from := drawPoint(t, "from")
			within := rapid.SampledFrom([]int{0, 1, 50, 5e3, 1e6, 1e7, maxMetres, 2.1e7}).Draw(t, "within")
			limit := rapid.IntRange(1, 30).Draw(t, "limit")
			got, want := places.Nearest(lakes, from, within, limit), nearestBySearch(lakes, from, within, limit)
			if !slices.Equal(got, want) {
				t.Fatalf("Nearest(%v, %v, %d) = %v\nwant %v", from, within, limit, got, want)
			}
		}
	})
}

// TestNearestAmongManyLakes has trees of several levels of every kind, and many lakes in one place.
func TestNearestAmongManyLakes(t *testing.T) {
	points := make([]orb.Point, 20_000)
	for i := range points {
		switch i % 4 {
		case 0:
			points[i] = orb.Point{13.4, 52.5}
		case 1: // a row along a parallel, over the antimeridian
			points[i] = orb.Point{math.Remainder(float64(i)*0.01, 360), 70}
		default:
			points[i] = orb.Point{float64(i*6180%3600)/10 - 180, float64(i*3820%1800)/10 - 90}
		}
	}
	lakes := lakesAt(points...)
	places := NewPointIndex(lakes)
	for i := 0; i < len(points); i += 397 {
		from := orb.Point{points[i].Lon(), -points[i].Lat()}
		for _, limit := range []int{1, 10, 1000} {
			for _, within := range []int{0, 40e3, maxMetres} {
				got, want := places.Nearest(lakes, from, within, limit), nearestBySearch(lakes, from, within, limit)
				if !slices.Equal(got, want) {
					t.Fatalf("the %d nearest within %d m of %v are %v\nwant %v", limit, within, from, got, want)
				}
			}
		}
	}
}

func TestNearestOfNothing(t *testing.T) {
	lakes := lakesAt(orb.Point{13, 52})
	places := NewPointIndex(lakes)
	for name, got := range map[string][]Neighbour{
		"no lakes":          NewPointIndex(nil).Nearest(nil, orb.Point{}, maxMetres, 10),
		"no limit":          places.Nearest(lakes, orb.Point{13, 52}, maxMetres, 0),
		"a negative radius": places.Nearest(lakes, orb.Point{13, 52}, -1, 10),
	} {
		if len(got) > 0 {
			t.Errorf("%s: got %v, want none", name, got)
		}
	}
}
