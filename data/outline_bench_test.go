package data_test

import (
	"fmt"
	"math"
	"testing"

	"limnomap/data"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
)

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

// BenchmarkNewOutline also reports the size of an outline. A lake of 100 hectares has a radius of 0.005 degrees.
func BenchmarkNewOutline(b *testing.B) {
	for _, points := range []int{200, 500, 5000, 100_000} {
		for _, radius := range []float64{0.005, 0.05} {
			b.Run(fmt.Sprintf("points=%d/radius=%g", points, radius), func(b *testing.B) {
				b.ReportAllocs()
				in := orb.MultiPolygon{bays(points, radius)}
				var o data.Outline
				for b.Loop() {
					var err error
					if o, err = data.NewOutline(in); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(o)), "bytes/lake")
			})
		}
	}
}

func BenchmarkOutlineRings(b *testing.B) {
	o := mustOutline(b, bays(5000, 0.05))
	var buffer []orb.Point
	for _, z := range []maptile.Zoom{9, 12, 16} {
		b.Run(fmt.Sprintf("z%d", z), func(b *testing.B) {
			b.ReportAllocs()
			points := 0
			for b.Loop() {
				points = 0
				for ring := range o.Rings(z, &buffer) {
					points += len(ring)
				}
			}
			b.ReportMetric(float64(points), "points")
		})
	}
}
