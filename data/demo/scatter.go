package demo

import (
	"iter"
	"math"
	"math/rand/v2"

	"github.com/paulmach/orb"
)

// Lakes are in clusters, as in a Thomas process (Thomas 1949, Biometrika 36, 18-25): parents are spread over a district, and
// children are normally distributed around each. Two changes make the density vary by factors of hundreds, as in Finland:
// the sizes of clusters have a heavy tail, and each cluster has its own density at the centre, which gives its width.
const (
	clusterMax      = 10000 // lakes
	clusterShare    = 0.05  // of a district's lakes at most, so that no cluster is the district
	clusterStretch  = 0.4   // standard deviation of the logarithm of length by the circle's radius
	clusterExponent = 0.6   // of the sizes' power law; below 1, most lakes are in large clusters
	sparsest        = 0.01  // lakes per km² at the centre of a cluster
	densest         = 0.6   // a lake on 1.7 km²: more do not fit, since half of them are larger than 0.19 km²
	widest          = 80.0  // km, standard deviation
	clusterSpread   = 0.4   // standard deviation of the logarithm of chlorophyll between neighbouring clusters
)

// Areas follow a power law: the number of lakes larger than A is proportional to A^-1.06 (Downing et al. 2006, Limnology and
// Oceanography 51, 2388-2397). The smallest have the lower limit of HydroLAKES, which counts 1.4 million lakes (Messager et
// al. 2016); the largest is about the size of Lake Superior.
const (
	areaPower    = 1.06
	smallestArea = 0.1    // km²
	largestArea  = 82_000 // km²
)

// The range of latitudes with lakes: from Tierra del Fuego to the north of Greenland.
const (
	southernmost = -56.0
	northernmost = 83.0
)

const kmPerDegree = 111.195 // of latitude, on a sphere of 6,371 km

// A scatteredLake is a lake of the world without its values.
type scatteredLake struct {
	number int // from 1
	point  orb.Point
	area   float64   // km²
	centre orb.Point // of its cluster
	rich   float64   // natural logarithm of the cluster's factor for the chlorophyll at its position
}

// scatter returns n lakes of d, numbered from first+1. Their positions depend on d and n only.
func (d *district) scatter(first, n int) iter.Seq[scatteredLake] {
	return func(yield func(scatteredLake) bool) { d.clusters(first, n, yield) }
}

func (d *district) clusters(first, n int, yield func(scatteredLake) bool) {
	r := d.random()
	largest := max(min(clusterMax, clusterShare*float64(n)), 1)
	for done := 0; done < n; {
		size := min(int(powerLaw(r.Float64(), clusterExponent, 1, largest)), n-done)
		centre := d.parent(r)
		density := sparsest * math.Pow(densest/sparsest, r.Float64())
		// A normal distribution of size points in the plane has size/(2 pi width²) of them per area at its centre.
		width := min(math.Sqrt(float64(size)/(2*math.Pi*density)), widest)
		// Ice, wind and rivers form elongated clusters: the area stays the same.
		stretch := math.Exp(clusterStretch * r.NormFloat64())
		sin, cos := math.Sincos(math.Pi * r.Float64())
		rich := clusterSpread * r.NormFloat64()
		for range size {
			done++
			a, b := width*stretch*r.NormFloat64(), width/stretch*r.NormFloat64()
			l := scatteredLake{
				number: first + done,
				point:  moved(centre, a*cos-b*sin, a*sin+b*cos),
				area:   powerLaw(r.Float64(), areaPower, smallestArea, largestArea),
				centre: centre,
				rich:   rich,
			}
			if !yield(l) {
				return
			}
		}
	}
}

// random returns the district's own random generator.
func (d *district) random() *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(noiseOf(d.code))))
}

// parent draws a point in the ellipse. At the fraction f of the way to its edge the density is 1 - f² of that in the middle,
// so that a district has no visible outline.
func (d *district) parent(r *rand.Rand) orb.Point {
	f := math.Sqrt(1 - math.Sqrt(1-r.Float64()))
	sin, cos := math.Sincos(2 * math.Pi * r.Float64())
	a, b := d.long*f*cos, d.short*f*sin
	sin, cos = math.Sincos(d.tilt * math.Pi / 180)
	return moved(orb.Point{d.lon, d.lat}, a*cos-b*sin, a*sin+b*cos)
}

// distance2 returns the square of the distance of p from the centre, in units of the distance to the edge.
func (d *district) distance2(p orb.Point) float64 {
	east := math.Remainder(p.Lon()-d.lon, 360) * kmPerDegree * math.Cos(p.Lat()*math.Pi/180)
	north := (p.Lat() - d.lat) * kmPerDegree
	sin, cos := math.Sincos(d.tilt * math.Pi / 180)
	a, b := (east*cos+north*sin)/d.long, (north*cos-east*sin)/d.short
	return a*a + b*b
}

// moved returns the point that is so many kilometres to the east and north of p. It is reflected at the limits of latitude
// and continues across the antimeridian.
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

// powerLaw maps u of [0, 1) to a number of [low, high] such that the share of numbers above x is proportional to
// x^-exponent, by inversion of the truncated Pareto distribution.
func powerLaw(u, exponent, low, high float64) float64 {
	beyond := math.Pow(low/high, exponent)
	return min(low*math.Pow(1-u*(1-beyond), -1/exponent), high)
}
