package render

import (
	"math"

	"github.com/paulmach/orb/maptile"
)

const (
	// tail is the height at which a Gaussian is cut off, along each axis: at 4.3 sigma. There the outline of a hundred lakes at
	// one point is still a circle; with shorter kernels the corners of the product of two axes would show.
	tail = 1e-4
	// stepsPerZoom is the number of sizes between a zoom and the next, at which waters are twice as large.
	stepsPerZoom = 4
	// smallest and largest are the sizes of the smallest and the largest disc, which are visible up to 2.1 and 93 pixels from
	// their centres. The smallest one covers three pixels in a row.
	smallest, largest = -2, 20
	// lone is the size of the disc of a small lake that is alone, visible up to 10 pixels from its centre. From loneZoom on its sigma is loneSigma, a twentieth less
	// than below: so it is visible up to 9.5 pixels, which is 2 km at zoom 9 at 47° north. At the other zooms no such lake becomes smaller when a reader zooms in.
	lone      = 7
	loneZoom  = 9
	loneSigma = 3.2
	// From raisedZoom on a disc of the highest class is raised sizes larger than its neighbours leave room for, there up to raisedMost, which is two more at each
	// further zoom.
	raisedZoom, raised, raisedMost = 8, 2, 2
	// halfOpaque is the distance in sigma at which a disc is half as opaque as at its centre: there exp(-opacityGain*g) is 1/2.
	halfOpaque = 1.87
)

// A size is the size of a disc on a logarithmic scale.
type size int8

// sigma returns the sigma in pixels of the kernel of s at zoom z: 2^(s/4), and loneSigma for lone from loneZoom on.
func (s size) sigma(z maptile.Zoom) float64 {
	if s == lone && z >= loneZoom {
		return loneSigma
	}
	return math.Exp2(float64(s) / stepsPerZoom)
}

// blobSize returns the size at zoom 0 of a disc that covers about as much as a round water of that area at world
// coordinate y. At zoom z it is larger by stepsPerZoom*z.
func blobSize(areaKM2 float64, y uint32) size {
	return sizeOf(waterRadius(areaKM2) * pixelsPerMetre(y))
}

// sizeOf returns the size of a disc that is half as opaque as at its centre at that many pixels from it.
func sizeOf(pixels float64) size {
	s := math.Round(stepsPerZoom * math.Log2(pixels/halfOpaque))
	return size(min(max(s, math.MinInt8), largest))
}

// discRadius returns the radius in pixels of scale 1 of a disc that is alone at zoom z: there it is half as opaque as its middle.
func (s size) discRadius(z maptile.Zoom) float64 { return halfOpaque * s.sigma(z) }

// at returns the size at zoom z of what has size s at zoom 0.
func (s size) at(z maptile.Zoom) int { return int(s) + stepsPerZoom*int(z) }

// room returns the size of the disc of a small lake at the place of s at zoom z: as large as its neighbours leave room for, and from raisedZoom on larger if it is of
// the highest class, so that the lake that matters most is not the smallest of a crowd. It lies on top: any larger, or at other zooms, it would hide too many
// lakes, and those without a value.
func (s *site) room(z maptile.Zoom, high bool) int {
	room := s.rooms.at(z)
	if high && z >= raisedZoom {
		room = max(room, min(room+raised, raisedMost+2*int(z-raisedZoom), lone))
	}
	return room
}

// size returns the size of the disc of s at zoom z: as large as its water, or, if that is less, its room. A lake that is drawn as its outline has
// the smallest one, so that its own pixel has its colour wherever it lies.
func (s *site) size(z maptile.Zoom, high bool) size {
	if s.glows(z) {
		return smallest
	}
	return size(min(max(s.blob.at(z), s.room(z, high)), largest))
}

// binned reports whether the lake of s is one of those that are binned where the field is blurred: the lakes with the smallest disc.
func (s *site) binned(z maptile.Zoom) bool { return s.size(z, false) == smallest && !s.glows(z) }

// A kernel is the weight of a lake of one size by the distance from it: the product of two falloffs, the same along both axes, which is a
// Gaussian.
type kernel struct {
	whole *falloff
	// split is for a lake that is shared among cells, which widens it: a narrower falloff that together with the
	// sharing is as wide and as high as whole.
	split *falloff
}

// kernels are the kernels of all sizes.
type kernels struct {
	bySize [largest - smallest + 1]kernel
	lone   kernel // of the size lone, from loneZoom on
}

func newKernels() *kernels {
	ks := kernels{lone: newKernel(subUnits * loneSigma)}
	for i := range ks.bySize {
		ks.bySize[i] = newKernel(subUnits * size(i+smallest).sigma(0))
	}
	return &ks
}

// of returns the kernel of s at zoom z.
func (ks *kernels) of(s size, z maptile.Zoom) *kernel {
	if s == lone && z >= loneZoom {
		return &ks.lone
	}
	return &ks.bySize[s-smallest]
}

// reach returns the distance in units at which the weight of a disc of size s is zero at zoom z.
func (ks *kernels) reach(s size, z maptile.Zoom) int64 { return ks.of(s, z).whole.reach() }

// newKernel returns the falloffs of a Gaussian whose sigma is in units.
func newKernel(sigma float64) kernel {
	narrower := math.Sqrt(sigma*sigma - sharingVariance)
	k := kernel{whole: newFalloff(sigma, 1), split: newFalloff(narrower, sigma/narrower)}
	k.whole.sample()
	return k
}

// A falloff is a Gaussian along one axis. The product of both axes is a Gaussian of the distance.
type falloff struct {
	at       []float32    // by distance in units
	profiles [2][]profile // by scale - 1 and by the position of the lake within a pixel; for stamps
}

// A profile is a falloff at the centres of pixels.
type profile struct {
	first  int       // the first pixel, relative to that of the lake
	values []float32 // of this pixel and the following ones; beyond its length, up to its capacity, all are 0
}

// newFalloff returns exp(-d²/2sigma²), lowered by tail so that it ends at zero, and scaled so that it begins at height.
// Sigma is in units.
func newFalloff(sigma, height float64) *falloff {
	var f falloff
	for d := 0; ; d++ {
		v := math.Exp(-float64(d*d) / (2 * sigma * sigma))
		if v <= tail {
			break
		}
		f.at = append(f.at, float32(height*(v-tail)/(1-tail)))
	}
	return &f
}

// sample makes the profiles of f.
func (f *falloff) sample() {
	for i := range f.profiles {
		step := subUnits / (i + 1)
		for offset := range step {
			f.profiles[i] = append(f.profiles[i], f.profile(int64(step), int64(offset)))
		}
	}
}

// reach returns the smallest distance in units at which f is zero.
func (f *falloff) reach() int64 { return int64(len(f.at)) }

// profile returns the falloff of a lake that is offset units from the edge of its pixel, which is step units wide.
func (f *falloff) profile(step, offset int64) profile {
	first, end := centres(offset, f.reach(), step, step/2)
	p := profile{first: int(first), values: make([]float32, end-first+lanes-1)[:end-first]}
	for i := range p.values {
		p.values[i] = f.at[distance((first+int64(i))*step+step/2, offset)]
	}
	return p
}

// profileOf returns the profile of a lake at that position along an axis, in units from the edge of a window, and the
// pixel where it begins.
func (f *falloff) profileOf(at int64, w *window) (from int, values []float32) {
	bits := subBits + 1 - w.scale // those of stepBits, without a copy of w
	p := &f.profiles[w.scale-1][at&(1<<bits-1)]
	return int(at>>bits) + p.first, p.values
}

// centres returns the range of pixels whose centres are less than reach from at. Centres are step units apart, and that
// of pixel 0 is at first.
func centres(at, reach, step, first int64) (from, to int64) {
	// The smallest c with c*step+first > at-reach, and the smallest with c*step+first >= at+reach.
	return floorDiv(at-reach-first, step) + 1, floorDiv(at+reach-first-1, step) + 1
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// floorDiv returns a/b rounded down, for a positive b.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
