package demo

import (
	"iter"
	"math"
	"math/rand/v2"

	"github.com/paulmach/orb"
)

// Lakes lie in clusters, as in a Thomas process (Thomas 1949, Biometrika 36, 18-25): parents that are spread over a
// district, and children scattered normally about each. Two changes make the density vary by factors of hundreds, as
// it does in Finland: sizes of clusters have a heavy tail, and each has a density of its own at its heart, from which
// its width follows.
const (
	clusterMax      = 10000 // lakes
	clusterShare    = 0.05  // of a district's lakes at most, so that no cluster is the district
	clusterStretch  = 0.4   // standard deviation of the logarithm of length by the circle's radius
	clusterExponent = 0.6   // of the sizes' power law; below 1, most lakes are in large clusters
	sparsest        = 0.01  // lakes per km² at the heart of a cluster
	densest         = 0.6   // a lake on 1.7 km² is what fits: half of them are larger than 0.19 km²
	widest          = 80.0  // km, standard deviation
	clusterSpread   = 0.4   // standard deviation of the logarithm of chlorophyll between neighbouring clusters
)

// Areas follow a power law: the number of lakes larger than A goes as A^-1.06 (Downing et al. 2006, Limnology and
// Oceanography 51, 2388-2397). The smallest are those of HydroLAKES, which counts 1.4 million of them (Messager et al.
// 2016); the largest is about Lake Superior.
const (
	areaPower    = 1.06
	smallestArea = 0.1    // km²
	largestArea  = 82_000 // km²
)

// The latitudes between which there are lakes: Tierra del Fuego and the north of Greenland.
const (
	southernmost = -56.0
	northernmost = 83.0
)

const kmPerDegree = 111.195 // of latitude, on a sphere of 6,371 km

// A scattered is a lake of the world before it has values.
type scattered struct {
	number int // from 1
	point  orb.Point
	area   float64   // km²
	heart  orb.Point // of its cluster
	rich   float64   // natural logarithm of what the cluster adds to the chlorophyll of its place
}

// scatter returns n lakes of d, numbered from first+1. Where they lie hangs on d and n alone.
func (d *district) scatter(first, n int) iter.Seq[scattered] {
	return func(yield func(scattered) bool) { d.clusters(first, n, yield) }
}

func (d *district) clusters(first, n int, yield func(scattered) bool) {
	r := d.random()
	largest := max(min(clusterMax, clusterShare*float64(n)), 1)
	for done := 0; done < n; {
		size := min(int(powerLaw(r.Float64(), clusterExponent, 1, largest)), n-done)
		heart := d.parent(r)
		density := sparsest * math.Pow(densest/sparsest, r.Float64())
		// A normal distribution of size points in the plane has size/(2 pi width²) of them per area at its heart.
		width := min(math.Sqrt(float64(size)/(2*math.Pi*density)), widest)
		// Ice, wind and rivers stretch what they make: the cluster is longer than wide, at the same area.
		stretch := math.Exp(clusterStretch * r.NormFloat64())
		sin, cos := math.Sincos(math.Pi * r.Float64())
		rich := clusterSpread * r.NormFloat64()
		for range size {
			done++
			a, b := width*stretch*r.NormFloat64(), width/stretch*r.NormFloat64()
			l := scattered{
				number: first + done,
				point:  moved(heart, a*cos-b*sin, a*sin+b*cos),
				area:   powerLaw(r.Float64(), areaPower, smallestArea, largestArea),
				heart:  heart,
				rich:   rich,
			}
			if !yield(l) {
				return
			}
		}
	}
}

// random returns the district's own numbers.
func (d *district) random() *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(placeOf(d.code))))
}

// parent draws a place in the ellipse. At the fraction f of the way to its edge the density is 1 - f² of the middle's,
// so that a district thins out and shows no outline.
func (d *district) parent(r *rand.Rand) orb.Point {
	f := math.Sqrt(1 - math.Sqrt(1-r.Float64()))
	sin, cos := math.Sincos(2 * math.Pi * r.Float64())
	a, b := d.long*f*cos, d.short*f*sin
	sin, cos = math.Sincos(d.tilt * math.Pi / 180)
	return moved(orb.Point{d.lon, d.lat}, a*cos-b*sin, a*sin+b*cos)
}

// distance2 returns the square of the distance of p from the centre, where the edge is at 1.
func (d *district) distance2(p orb.Point) float64 {
	east := math.Remainder(p.Lon()-d.lon, 360) * kmPerDegree * math.Cos(p.Lat()*math.Pi/180)
	north := (p.Lat() - d.lat) * kmPerDegree
	sin, cos := math.Sincos(d.tilt * math.Pi / 180)
	a, b := (east*cos+north*sin)/d.long, (north*cos-east*sin)/d.short
	return a*a + b*b
}

// moved returns the point that lies so many kilometres to the east and north of p. It is reflected at the limits of
// latitude and goes on beyond the antimeridian.
func moved(p orb.Point, east, north float64) orb.Point {
	lat := p.Lat() + north/kmPerDegree
	if lat > northernmost {
		lat = 2*northernmost - lat
	}
	if lat < southernmost {
		lat = 2*southernmost - lat
	}
	lon := p.Lon() + east/(kmPerDegree*math.Cos(lat*math.Pi/180))
	switch {
	case lon > 180:
		lon -= 360
	case lon < -180:
		lon += 360
	}
	return orb.Point{lon, lat}
}

// powerLaw returns the number of [low, high] that u of [0, 1) stands for where the share of numbers above x goes as
// x^-exponent, by inversion of the truncated Pareto distribution.
func powerLaw(u, exponent, low, high float64) float64 {
	beyond := math.Pow(low/high, exponent)
	return min(low*math.Pow(1-u*(1-beyond), -1/exponent), high)
}
