package render

import (
	"math"

	"github.com/paulmach/orb/maptile"
)

const (
	// weightBits is the width of a one-dimensional kernel value: 2^14 at the centre. It rounds to zero at 4.6 sigma,
	// which is so far out that the outline of a hundred lakes in one place is still a circle, where the corners of a
	// product of two shorter kernels would begin to show.
	weightBits = 14
	// fullWeight is the wide kernel's value at its centre, in two dimensions.
	fullWeight = 1 << (2 * weightBits)
	// narrowWeight is how much heavier than the wide kernel the narrow one is at the centre: with it a bloom keeps
	// its own pixel to itself among clean neighbours eleven pixels away.
	narrowWeight = 35
	// narrowSigma is the narrow kernel's sigma in parts of the wide one's.
	narrowSigma = 0.3
	// stepsPerZoom is how many sizes of blob lie between a zoom and the next, where the ground is twice as large.
	stepsPerZoom = 4
	// smallest and largest are the sizes of the smallest and the largest blob, which are seen as far as 7 and 96
	// pixels from their centres.
	smallest, largest = 5, 20
)

// A size is a blob's size on a logarithmic ladder: its wide kernel has a sigma of 2^(size/4) pixels.
type size int8

// baseSizes are the sizes of a lake's blob by zoom, unless its water is wider. They make one surface of a country
// (zoom 5 to 7), patches of a region (8 and 9) and single lakes from 10.
var baseSizes = [...]size{5, 5, 6, 7, 8, 9, 10, 11, 11, 12, 12, 13}

// baseSize returns the size of the blob of a small lake.
func baseSize(z maptile.Zoom) size { return baseSizes[min(int(z), len(baseSizes)-1)] }

// groundSize returns the size at zoom 0 of a blob that covers about as much as a round water of that area does.
// At zoom z it is groundSize + stepsPerZoom*z.
func groundSize(areaKM2 float64, y uint32) size {
	// A blob is half as opaque as at its centre where exp(-opacityGain*g) is 1/2, at 1.87 sigma.
	const halfOpaque = 1.87
	s := math.Round(stepsPerZoom * math.Log2(waterRadius(areaKM2)*groundPx(y)/halfOpaque))
	return size(min(max(s, math.MinInt8), largest))
}

// at returns the size at zoom z of a blob whose size at zoom 0 is s.
func (s size) at(z maptile.Zoom) size {
	return size(min(max(int(s)+stepsPerZoom*int(z), int(baseSize(z))), largest))
}

// A kernel is the falloff of one size of blob, by distance in units. Distances at or past the length weigh nothing.
type kernel struct {
	wide, narrow []uint16
}

// kernels are the falloffs of all sizes.
type kernels [largest - smallest + 1]kernel

func newKernels() *kernels {
	var ks kernels
	for i := range ks {
		sigma := subUnits * math.Exp2(float64(i+smallest)/stepsPerZoom)
		ks[i] = kernel{wide: gaussian(sigma), narrow: gaussian(narrowSigma * sigma)}
	}
	return &ks
}

// of returns the kernel of s.
func (ks *kernels) of(s size) *kernel { return &ks[s-smallest] }

// reach returns how many units a blob of size s reaches: at that distance it weighs nothing.
func (ks *kernels) reach(s size) int64 { return int64(len(ks.of(s).wide)) }

// gaussian returns exp(-d²/2sigma²) in parts of 1<<weightBits, until it rounds to zero.
func gaussian(sigma float64) []uint16 {
	var table []uint16
	for d := 0; ; d++ {
		v := math.Round((1 << weightBits) * math.Exp(-float64(d*d)/(2*sigma*sigma)))
		if v == 0 {
			return table
		}
		table = append(table, uint16(v))
	}
}
