package render

import (
	"math"

	"github.com/paulmach/orb"

	"limnomap/data/outline"
	"limnomap/data/snapshot"
)

// A testShore is a lake with an outline.
type testShore struct {
	testLake
	outline orb.MultiPolygon
}

// bay returns a ring of n points around a centre, at about radius degrees of longitude, with bays and headlands that depend on
// seed.
func bay(lon, lat, radius float64, n int, seed float64) orb.Ring {
	var ring orb.Ring
	for i := range n {
		a := 2 * math.Pi * float64(i) / float64(n)
		r := radius * (1 + 0.22*math.Sin(3*a+seed) + 0.12*math.Sin(7*a+2*seed) + 0.05*math.Sin(19*a+3*seed))
		ring = append(ring, orb.Point{lon + r*math.Cos(a), lat + r*math.Sin(a)*math.Cos(lat*math.Pi/180)})
	}
	return append(ring, ring[0])
}

// lakeland is a tile of zoom 12 full of waters, one of them across its edge; a lake that is larger than the tile; and lakes at
// the antimeridian and at the northern edge of the map.
func lakeland() []testShore {
	crescent := bay(13.434, 52.458, 0.015, 80, 1)
	for i := range crescent {
		crescent[i][0] = min(crescent[i][0], 13.434-0.4*(crescent[i][0]-13.434))
	}
	square := orb.Ring{{13.404, 52.458}, {13.409, 52.458}, {13.409, 52.461}, {13.404, 52.461}, {13.404, 52.458}}
	return []testShore{
		{testLake{13.372, 52.468, 4, 3}, orb.MultiPolygon{{bay(13.380, 52.467, 0.014, 200, 2), bay(13.382, 52.467, 0.004, 40, 4)}}},
		{testLake{13.382, 52.467, 30, 0.01}, nil}, // on the island
		{testLake{13.424, 52.458, 80, 2}, orb.MultiPolygon{{crescent}}},
		{testLake{13.378, 52.443, -1, 1}, orb.MultiPolygon{{bay(13.378, 52.443, 0.009, 150, 5)}}},
		{testLake{13.405, 52.443, 14, 1}, orb.MultiPolygon{{bay(13.405, 52.443, 0.006, 60, 6)}, {bay(13.420, 52.439, 0.004, 50, 7)}}},
		{testLake{13.4065, 52.4595, 2, 0.1}, orb.MultiPolygon{{square}}},
		{testLake{13.398, 52.453, -1, 0.1}, nil},
		{testLake{13.408, 52.470, 55, 0.3}, nil},
		{testLake{13.413, 52.472, 1, 0.3}, nil},
		{testLake{13.4185, 52.481, 22, 0.5}, orb.MultiPolygon{{bay(13.428, 52.481, 0.006, 60, 9)}}}, // beside its shore
		{testLake{9.45, 47.6, 5, 0}, orb.MultiPolygon{{bay(9.4, 47.6, 0.3, 900, 8), bay(9.3, 47.62, 0.05, 90, 3)}}},
		{testLake{9.31, 47.62, 60, 0.4}, nil},
		{testLake{179.98, 10.05, 20, 0}, orb.MultiPolygon{{bay(180.02, 10.05, 0.12, 300, 1)}}},
		{testLake{-179.9, 10.2, -1, 30}, nil},
		{testLake{-60, 85.0, 8, 900}, orb.MultiPolygon{{bay(-60, 85.04, 0.6, 300, 1)}}},
	}
}

// places returns lakes without their outlines.
func places(lakes []testShore) []testLake {
	var plain []testLake
	for _, l := range lakes {
		plain = append(plain, l.testLake)
	}
	return plain
}

// layerOfShores returns the layer of lakes.
func layerOfShores(t fataler, lakes ...testShore) *Layer {
	return renderer().Layer(viewOfShores(t, lakes).Values())
}

// viewOfShores returns the view of lakes.
func viewOfShores(t fataler, lakes []testShore) *snapshot.View {
	t.Helper()
	v := viewOf(places(lakes))
	for i, l := range lakes {
		if l.outline == nil {
			continue
		}
		o, err := outline.New(l.outline)
		if err != nil {
			t.Fatalf("outline of lake %d: %v", i, err)
		}
		v.Lakes[i].Outline = o
	}
	return v
}
