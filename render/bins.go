package render

import (
	"math"
	"slices"

	"github.com/paulmach/orb/maptile"
)

const (
	// maxStamped is how many lakes the densest tile of a zoom may hold for each lake to be drawn by itself there. Beyond,
	// lakes are binned by pixels, which costs as much for a million as for a few thousand. It is decided for a zoom as a
	// whole: tiles of one kind and the other would not join.
	maxStamped = 4096
	// maxBinnedZoom ends the search for such zooms. From there on a pixel is less than 600 m wide, and the densest
	// district of small lakes stays below the limit.
	maxBinnedZoom = 8
)

// newBins returns the bins of lakes for the zooms below end.
func newBins(lakes *index, end int) []index {
	bins := make([]index, end)
	finer := lakes
	for z := end - 1; z >= 0; z-- {
		bins[z] = finer.binnedAt(maptile.Zoom(z))
		finer = &bins[z]
	}
	return bins
}

// firstStamped returns the first zoom that has no tile with more than maxStamped places.
func (x *index) firstStamped() int {
	z := 0
	for z <= maxBinnedZoom && x.densest(maptile.Zoom(z)) > maxStamped {
		z++
	}
	return z
}

// densest returns how many places the tile of zoom z has that has the most.
func (x *index) densest(z maptile.Zoom) int {
	shift := 2 * (worldBits - uint(z))
	most, run := 0, 0
	for i, code := range x.codes {
		if i > 0 && code>>shift != x.codes[i-1]>>shift {
			run = 0
		}
		run++
		most = max(most, run)
	}
	return most
}

// binnedAt returns the bins of x for zoom z. If pixels with a lake were more than half as many as places, the places
// themselves do as well, and cost no memory.
func (x *index) binnedAt(z maptile.Zoom) index {
	shift := 2 * (MaxZoom - uint(z) + subBits)
	bins := index{widest: x.widest, binned: true}
	pixels := 0
	for i, code := range x.codes {
		if i == 0 || code>>shift != x.codes[i-1]>>shift {
			pixels++
		}
	}
	if 2*pixels > len(x.places) {
		bins.codes, bins.places = x.codes, x.places
		return bins
	}
	for from := 0; from < len(x.places); {
		end, pixel := from, x.codes[from]>>shift
		for end < len(x.places) && x.codes[end]>>shift == pixel {
			end++
		}
		bins.merge(x.places[from:end], z)
		from = end
	}
	return bins
}

// merge appends the places of one pixel: those with water wider than a blob as they are, the others with a value as one
// in their middle.
func (x *index) merge(places []place, z maptile.Zoom) {
	from := len(x.places)
	var lakes, east, south uint64
	var logs float64
	one := place{ground: math.MinInt8}
	for _, p := range places {
		switch {
		case !p.chlorophyll.Valid():
		case p.ground.at(z) > baseSize(z):
			x.places = append(x.places, p)
		default:
			n := uint64(p.count)
			lakes, east, south = lakes+n, east+n*uint64(p.x), south+n*uint64(p.y)
			logs += float64(p.count) * float64(p.log)
			one.chlorophyll = p.chlorophyll // of any, to say that there is one
		}
	}
	if lakes > 0 {
		one.x, one.y = uint32(east/lakes), uint32(south/lakes)
		one.count, one.log = float32(lakes), float32(logs/float64(lakes))
		x.places = append(x.places, one)
	}
	slices.SortFunc(x.places[from:], func(a, b place) int { return compare(&a, &b) })
	for _, p := range x.places[from:] {
		x.codes = append(x.codes, morton(p.x, p.y))
	}
}

// at returns the places that the value field of zoom z is drawn from.
func (l *Layer) at(z maptile.Zoom) *index {
	if int(z) < len(l.bins) {
		return &l.bins[z]
	}
	return &l.lakes
}

// moved returns how far, in units, a place of x may lie from where it is drawn.
func (x *index) moved() int64 {
	if x.binned {
		return subUnits
	}
	return 0
}
