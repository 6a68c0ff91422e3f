package demo

import (
	"hash/fnv"
	"math"

	"limnomap/data"
)

// seed is the demo's fixed seed. Another seed gives other values for all lakes.
const seed = 1892

// A stream identifies a random quantity of a lake or region in a week.
type stream uint64

const (
	meanStream stream = iota
	anomalyStream
	cloudStream
	gapStream
	gapLengthStream
	bloomStream
	bloomSizeStream
	bloomLengthStream
	unseenStream
)

// noise is the hash of a lake's id or a region's name. It depends on nothing else, so a lake that is added to the list does
// not change the others.
type noise uint64

func noiseOf(name string) noise {
	h := fnv.New64a()
	h.Write([]byte(name)) // a hash.Hash never returns an error
	return noise(h.Sum64())
}

// uniform returns the number of [0, 1) for that noise, week and stream. Unlike a generator with a state it needs no start:
// each week can be computed separately and never changes.
func (p noise) uniform(w data.Week, s stream) float64 {
	bits := mix(mix(mix(seed^uint64(p))+uint64(w)) + uint64(s))
	return float64(bits>>11) * 0x1p-53
}

// normal returns the standard normal deviate for that noise, week and stream, by Box and Muller (1958).
func (p noise) normal(w data.Week, s stream) float64 {
	const second stream = 1 << 32 // beyond every stream, for the second of the two uniform numbers
	radius := math.Sqrt(-2 * math.Log(1-p.uniform(w, s)))
	return radius * math.Cos(2*math.Pi*p.uniform(w, s|second))
}

// mix is the output function of SplitMix64 (Steele, Lea and Flood 2014, with Stafford's variant 13), including the gamma.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// memory is how many weeks of shocks count in a red series. At the strongest persistence used here, the weight of the
// next one would be 0.75^24, a thousandth.
const memory = 24

// red returns n weeks, beginning with first, of a stationary series with mean 0, variance 1 and lag-1 autocorrelation
// persistence (AR(1), "red noise"), as the weighted sum of its last memory shocks. Unlike the recursion, the sum does not
// depend on where the series begins.
func (p noise) red(first data.Week, n int, s stream, persistence float64) []float64 {
	shocks := make([]float64, n+memory-1)
	for i := range shocks {
		shocks[i] = p.normal(first-(memory-1)+data.Week(i), s)
	}
	scale := math.Sqrt(1 - persistence*persistence)
	series := make([]float64, n)
	for i := range series {
		// From the oldest shock to the newest, by Horner's rule.
		for _, shock := range shocks[i : i+memory] {
			series[i] = series[i]*persistence + shock
		}
		series[i] *= scale
	}
	return series
}
