package zonal

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A testLake is a lake of a raster with known shores.
type testLake struct {
	Rings Polygon `json:"rings"`
}

// newLake returns a lake around (x, y) with an uneven shore and maybe an island. radius is in pixels.
func newLake(rnd *rand.Rand, x, y, radius float64, points int) testLake {
	lake := testLake{Polygon{newRing(rnd, x, y, radius, points)}}
	if rnd.IntN(4) == 0 {
		lake.Rings = append(lake.Rings, newRing(rnd, x, y, radius/6, max(4, points/5)))
	}
	return lake
}

// newRing returns a ring around (x, y), whose distance from there is between 0.45 and 1.55 times radius.
func newRing(rnd *rand.Rand, x, y, radius float64, points int) []Point {
	const waves = 5
	var size, phase [waves]float64
	for i := range size {
		size[i], phase[i] = rnd.Float64()*0.2/float64(i+1), rnd.Float64()*2*math.Pi
	}
	stretch := 1 + rnd.Float64() // most lakes are longer than wide
	turn := rnd.Float64() * math.Pi
	sin, cos := math.Sincos(turn)
	ring := make([]Point, points)
	for i := range ring {
		angle := float64(i) / float64(points) * 2 * math.Pi
		r := radius * (0.93 + 0.14*rnd.Float64())
		for j := range size {
			r += radius * size[j] * math.Sin(float64(j+2)*angle+phase[j])
		}
		s, c := math.Sincos(angle)
		u, v := c*r*stretch, s*r
		ring[i] = Point{x + u*cos - v*sin, y + u*sin + v*cos}
	}
	return ring
}

// testLakes returns 1,892 lakes with about 210,000 points, with the sizes of lakes in a raster of 300 m: most have a few pixels, some have
// thousands.
func testLakes(testing.TB) []testLake {
	rnd := rand.New(rand.NewPCG(1892, 0))
	lakes := make([]testLake, 1892)
	for i := range lakes {
		radius := 1.2 * math.Exp(rnd.ExpFloat64()*0.8)
		points := 40 + rnd.IntN(60) + int(8*min(radius, 60))
		lakes[i] = newLake(rnd, 62_000+rnd.Float64()*3000, 8_000+rnd.Float64()*2000, min(radius, 100), points)
	}
	return lakes
}

// halfLakes returns polygons whose points lie on borders and centres of pixels, where rules differ.
func halfLakes() []testLake {
	rnd := rand.New(rand.NewPCG(2, 0))
	lakes := make([]testLake, 3000)
	for i := range lakes {
		lakes[i].Rings = append(lakes[i].Rings, halfRing(rnd, 12))
		if i%3 == 0 {
			lakes[i].Rings = append(lakes[i].Rings, halfRing(rnd, 12))
		}
	}
	return lakes
}

// halfRing returns a ring of points that are multiples of half a pixel, or a quarter. It may cross itself.
func halfRing(rnd *rand.Rand, size int) []Point {
	for {
		var ring []Point
		rectangular := rnd.IntN(2) == 0
		step := 2 << rnd.IntN(2)
		for range 3 + rnd.IntN(6) {
			p := Point{float64(rnd.IntN(step*size)) / float64(step), float64(rnd.IntN(step*size)) / float64(step)}
			if rectangular && len(ring) > 0 {
				ring = append(ring, Point{p[0], ring[len(ring)-1][1]})
			}
			ring = append(ring, p)
		}
		if rectangular {
			ring = append(ring, Point{ring[0][0], ring[len(ring)-1][1]})
		}
		if simple(ring) {
			return ring
		}
	}
}

// simple reports whether the edges of a ring meet only at their ends.
func simple(ring []Point) bool {
	n := len(ring)
	at := func(i int) Point { return ring[i%n] }
	side := func(a, b, p Point) float64 { return (b[0]-a[0])*(p[1]-a[1]) - (b[1]-a[1])*(p[0]-a[0]) }
	onEdge := func(a, b, p Point) bool {
		return side(a, b, p) == 0 && (p[0]-a[0])*(p[0]-b[0])+(p[1]-a[1])*(p[1]-b[1]) <= 0
	}
	for i := range ring {
		a, b := at(i), at(i+1)
		if a == b || onEdge(a, b, at(i+2)) || onEdge(at(i+1), at(i+2), a) {
			return false
		}
		for j := i + 2; j < n && j+1 < i+n; j++ {
			c, d := at(j), at(j+1)
			if onEdge(a, b, c) || onEdge(a, b, d) || onEdge(c, d, a) || onEdge(c, d, b) ||
				side(a, b, c)*side(a, b, d) < 0 && side(c, d, a)*side(c, d, b) < 0 {
				return false
			}
		}
	}
	return true
}
