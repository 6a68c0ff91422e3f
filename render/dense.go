package render

import (
	"slices"

	"github.com/paulmach/orb/maptile"
)

const (
	// maxStamped is how many lakes the densest tile of a zoom may hold for each lake to be stamped there. Beyond, the
	// field is blurred, see blur. It is decided for a zoom as a whole: tiles of one kind and the other would not join.
	maxStamped = 4096
	// maxBlurredZoom ends the search for such zooms. From there on a pixel is less than 600 m wide, and the densest
	// district of small lakes stays below the limit.
	maxBlurredZoom = 8
	// gridPixels is how many pixels the world may have for each lake for them to be binned: then the bins are few
	// compared with what else is kept of a lake.
	gridPixels = 4
)

// newBlurred returns what the value field is drawn from at the zooms below end: grids below the zoom of that name,
// from there on the lakes themselves.
func newBlurred(lakes *index, end, grids int) []index {
	blurred := make([]index, end)
	for z := range blurred {
		blurred[z] = *lakes
		if z < grids {
			blurred[z] = lakes.binnedAt(maptile.Zoom(z))
		}
		blurred[z].blurred = true
	}
	return blurred
}

// newThinned returns what markers are drawn from at the zooms below end: of the lakes in one pixel the one with the
// highest value, which would lie above the others.
func newThinned(lakes *index, end int) []index {
	thinned := make([]index, end)
	finer := lakes
	for z := end - 1; z >= 0; z-- {
		thinned[z] = finer.thinnedAt(maptile.Zoom(z))
		finer = &thinned[z]
	}
	return thinned
}

func (x *index) thinnedAt(z maptile.Zoom) index {
	shift := 2 * (MaxZoom - uint(z) + subBits)
	thinned := index{widest: x.widest}
	for i, p := range x.places {
		last := len(thinned.places) - 1
		switch {
		case last < 0 || thinned.codes[last]>>shift != x.codes[i]>>shift:
			thinned.codes, thinned.places = append(thinned.codes, x.codes[i]), append(thinned.places, p)
		case p.chlorophyll > thinned.places[last].chlorophyll: // none is less than any
			thinned.codes[last], thinned.places[last] = x.codes[i], p
		}
	}
	thinned.codes, thinned.places = slices.Clip(thinned.codes), slices.Clip(thinned.places)
	return thinned
}

// firstWithoutGrid returns the first zoom at which the world has more than gridPixels pixels for each place.
func (x *index) firstWithoutGrid() int {
	z := 0
	for 1<<(2*(tileBits+z)) <= gridPixels*len(x.places) {
		z++
	}
	return z
}

// firstStamped returns the first zoom that has no tile with more than maxStamped places.
func (x *index) firstStamped() int {
	z := 0
	for z <= maxBlurredZoom && x.densest(maptile.Zoom(z)) > maxStamped {
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

// forField returns the places that the value field of zoom z is drawn from.
func (l *Layer) forField(z maptile.Zoom) *index {
	if int(z) < len(l.blurred) {
		return &l.blurred[z]
	}
	return &l.lakes
}

// forMarkers returns the places that have markers at zoom z.
func (l *Layer) forMarkers(z maptile.Zoom) *index {
	if int(z) < len(l.thinned) {
		return &l.thinned[z]
	}
	return &l.lakes
}
