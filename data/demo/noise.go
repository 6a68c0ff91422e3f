package demo

import (
	"hash/fnv"
	"math"

	"limnomap/data"
)

// seed is the demo's fixed seed. Another number is another Germany.
const seed = 1892

// A stream tells apart the random quantities of one lake or region in one week.
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

// A place is the hash of a lake's id or a region's name. What is drawn for a lake hangs on its id alone, so that a
// lake added to the list changes no other.
type place uint64

func placeOf(name string) place {
	h := fnv.New64a()
	h.Write([]byte(name)) // a hash.Hash never returns an error
	return place(h.Sum64())
}

// uniform returns the number of [0, 1) that belongs to the place, week and stream. Unlike a generator with a state,
// it needs no starting point: each week can be computed alone and never changes.
func (p place) uniform(w data.Week, s stream) float64 {
	bits := mix(mix(mix(seed^uint64(p))+uint64(w)) + uint64(s))
	return float64(bits>>11) * 0x1p-53
}

// normal returns the standard normal deviate that belongs to the place, week and stream, by Box and Muller (1958).
func (p place) normal(w data.Week, s stream) float64 {
	const second stream = 1 << 32 // beyond every stream, for the second of the two uniform numbers
	radius := math.Sqrt(-2 * math.Log(1-p.uniform(w, s)))
	return radius * math.Cos(2*math.Pi*p.uniform(w, s|second))
}

// mix is the output function of SplitMix64 (Steele, Lea and Flood 2014, with Stafford's variant 13), gamma included.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// memory is how many weeks of shocks a red series remembers. At the strongest persistence used here, what is cut off
// weighs 0.75^24, a thousandth.
const memory = 24

// red returns n weeks from first on of a stationary series with mean 0, variance 1 and lag-1 autocorrelation
// persistence (AR(1), "red noise"), written as the weighted sum of its last memory shocks: that, unlike the
// recursion, does not hang on where the series began.
func (p place) red(first data.Week, n int, s stream, persistence float64) []float64 {
	shocks := make([]float64, n+memory-1)
	for i := range shocks {
		shocks[i] = p.normal(first-(memory-1)+data.Week(i), s)
	}
	scale := math.Sqrt(1 - persistence*persistence)
	series := make([]float64, n)
	for i := range series {
		// From the oldest shock to the newest, as Horner evaluates a polynomial.
		for _, shock := range shocks[i : i+memory] {
			series[i] = series[i]*persistence + shock
		}
		series[i] *= scale
	}
	return series
}
