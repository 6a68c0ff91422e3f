package demo

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
	"github.com/paulmach/orb/planar"

	"limnomap/data"
)

func TestShoresAreValidPolygons(t *testing.T) {
	shores := parseShores(shoresJSON)
	if !slices.IsSortedFunc(shores, func(a, b shore) int { return strings.Compare(string(a.ID), string(b.ID)) }) {
		t.Error("shores do not ascend by id")
	}
	islands := 0
	for _, s := range shores {
		polygon := s.Geometry.Coordinates
		for i, ring := range polygon {
			if len(ring) < 4 || !ring.Closed() {
				t.Errorf("%s: ring %d has %d points from %v to %v, want at least 4 and a closed ring", s.ID, i, len(ring), ring[0], ring[len(ring)-1])
			}
			if outer := i == 0; (ring.Orientation() == orb.CCW) != outer {
				t.Errorf("%s: ring %d is wound in the wrong direction", s.ID, i)
			}
			if at, crosses := crossing(ring); crosses {
				t.Errorf("%s: ring %d meets itself at %v", s.ID, i, at)
			}
			if i == 0 {
				continue
			}
			islands++
			for _, p := range ring {
				if !planar.RingContains(polygon[0], p) {
					t.Errorf("%s: the island %d has the point %v, outside the lake", s.ID, i, p)
				}
			}
		}
	}
	// Reichenau, Herreninsel and one in Schaalsee.
	if islands != 3 {
		t.Errorf("the lakes have %d islands, want 3", islands)
	}
}

// crossing reports whether two sides of ring meet that are not neighbours, and where one of them begins.
func crossing(ring orb.Ring) (orb.Point, bool) {
	n := len(ring) - 1
	for i := range n {
		for j := i + 2; j < n; j++ {
			if i == 0 && j == n-1 {
				continue // neighbours
			}
			if meet(ring[i], ring[i+1], ring[j], ring[j+1]) {
				return ring[i], true
			}
		}
	}
	return orb.Point{}, false
}

// meet reports whether the line from a to b has a point of the line from c to d.
func meet(a, b, c, d orb.Point) bool {
	side := func(p, q, r orb.Point) float64 { return (q[0]-p[0])*(r[1]-p[1]) - (q[1]-p[1])*(r[0]-p[0]) }
	if side(a, b, c)*side(a, b, d) > 0 || side(c, d, a)*side(c, d, b) > 0 {
		return false
	}
	return orb.MultiPoint{a, b}.Bound().Intersects(orb.MultiPoint{c, d}.Bound())
}

// TestShoresBelongToTheirLakes checks that each shore is near the lake's point, near no other lake's, in its state, and of about the
// lake's area.
func TestShoresBelongToTheirLakes(t *testing.T) {
	const (
		near     = 300 // m
		rate     = 1.5 // of the areas
		abroad   = 0.1 // degrees by which a lake may extend beyond the bound of its state
		smallest = 1.2 // of the distances of a shore from its middle: the largest to the smallest. It is 1 for a circle.
	)
	lakes := parseLakes(lakesCSV)
	for _, s := range parseShores(shoresJSON) {
		i := slices.IndexFunc(lakes, func(l listedLake) bool { return l.ID == s.ID })
		if i < 0 {
			t.Errorf("%s has a shore, but is not in the list", s.ID)
			continue
		}
		polygon, own := s.Geometry.Coordinates, lakes[i]
		for _, l := range lakes {
			if d := fromWater(l.Point, polygon[0]); (d <= near) != (l.ID == s.ID) {
				t.Errorf("the point of %s is %.0f m from the shore of %s, want at most %d for the lake itself only", l.ID, d, s.ID, near)
			}
		}
		if r := geo.Area(polygon) / 1e6 / own.AreaKM2; r > rate || 1/r > rate {
			t.Errorf("the shore of %s has %.2f times the lake's area, want up to %g times more or less", s.ID, r, rate)
		}
		state := stateByName(t, own.Region)
		bound := orb.Bound{Min: orb.Point{state.west, state.south}, Max: orb.Point{state.east, state.north}}.Pad(abroad)
		if b := polygon.Bound(); !bound.Contains(b.Min) || !bound.Contains(b.Max) {
			t.Errorf("the shore of %s lies in %v, want in %v", s.ID, b, bound)
		}
		middle, _ := planar.CentroidArea(polygon)
		shortest, longest := math.Inf(1), 0.0
		for _, p := range polygon[0] {
			d := geo.Distance(middle, p)
			shortest, longest = min(shortest, d), max(longest, d)
		}
		if longest/shortest < smallest {
			t.Errorf("the shore of %s is nearly a circle: was it made up?", s.ID)
		}
	}
}

// fromWater returns the distance of p from the inside of ring in metres.
func fromWater(p orb.Point, ring orb.Ring) float64 {
	if planar.RingContains(ring, p) {
		return 0
	}
	return fromShore(p, ring)
}

// fromShore returns the distance of p from the line of ring in metres.
func fromShore(p orb.Point, ring orb.Ring) float64 {
	east, north := geo.Distance(p, orb.Point{p[0] + 1, p[1]}), geo.Distance(p, orb.Point{p[0], p[1] + 1})
	local := make(orb.LineString, len(ring)) // metres from p
	for i, q := range ring {
		local[i] = orb.Point{(q[0] - p[0]) * east, (q[1] - p[1]) * north}
	}
	return planar.DistanceFrom(local, orb.Point{})
}

// TestOnlySurveyedShoresAreOutlines checks that the lakes with a surveyed shore have it as their outline, and that the others have
// none: they are drawn as discs, which cannot be mistaken for a shore.
func TestOnlySurveyedShoresAreOutlines(t *testing.T) {
	shores := map[data.LakeID]orb.Polygon{}
	for _, s := range parseShores(shoresJSON) {
		shores[s.ID] = s.Geometry.Coordinates
	}
	const least = 70
	if len(shores) < least {
		t.Errorf("%d lakes have a shore, want at least %d", len(shores), least)
	}
	var buffer []orb.Point
	for _, l := range scan(t, New(fixed(noon))).lakes {
		polygon, surveyed := shores[l.ID]
		if surveyed != (l.Outline != "") {
			t.Errorf("%s: outline of %d bytes, want one only if there is a shore (%t)", l.ID, len(l.Outline), surveyed)
		}
		if err := l.Outline.Check(); err != nil {
			t.Errorf("%s: %v", l.ID, err)
		}
		if !surveyed {
			continue
		}
		i := 0
		for ring := range l.Outline.Rings(16, &buffer) {
			for _, p := range ring {
				if d := fromShore(p, polygon[i]); d > 1 {
					t.Errorf("%s: ring %d of the outline has the point %v, %.1f m from the shore", l.ID, i, p, d)
				}
			}
			i++
		}
		if i != len(polygon) {
			t.Errorf("%s: the outline has %d rings, want %d", l.ID, i, len(polygon))
		}
	}
}

func TestInvalidShoresPanic(t *testing.T) {
	const point = `{"features": [{"id": "de_by_a", "geometry": {"coordinates": [[[11, 48], [11, 48], [11, 48]]]}}]}`
	for _, text := range []string{"", `{"features": {}}`, `{"features": [{"geometry": {"coordinates": [11, 48]}}]}`, point} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("the shores %q did not panic", text)
				}
			}()
			addOutlines([]listedLake{{Lake: data.Lake{ID: "de_by_a"}}}, parseShores([]byte(text)))
		}()
	}
}
