package render

import (
	"math"
	"slices"

	"github.com/paulmach/orb/maptile"
)

const (
	// maxStamped is how many lakes the densest tile of a zoom may hold for each lake to be stamped there. Beyond, the
	// field is blurred, see blur. It is decided for a zoom as a whole: tiles of one kind and the other would not join.
	maxStamped = 4096
	// roomyPixels is how many pixels the world has for each lake where it is no longer worth the memory to bin lakes
	// beforehand and to thin markers: up to there, each takes no more than the lakes themselves.
	roomyPixels = 16
)

// newBlurred returns what the value field is drawn from at the zooms below end: with grids below the zoom of that name.
func newBlurred(lakes *index, end, grids int) []index {
	blurred := make([]index, end)
	for z := range blurred {
		blurred[z] = lakes.wideAt(maptile.Zoom(z))
		blurred[z].binned = lakes
		if z < grids {
			blurred[z].grid = newGrid(lakes, maptile.Zoom(z))
		}
	}
	return blurred
}

// wideAt returns those places of x with a value whose water at zoom z is wider than the smallest blob.
func (x *index) wideAt(z maptile.Zoom) index {
	wide := index{widest: math.MinInt8}
	for i, p := range x.places {
		if p.chlorophyll.Valid() && p.ground.at(z) > baseSize(z) {
			wide.codes, wide.places = append(wide.codes, x.codes[i]), append(wide.places, p)
			wide.widest = max(wide.widest, p.ground)
		}
	}
	return wide
}

// newThinned returns what markers and waters are drawn from at the zooms below end: of the lakes in one pixel the one
// with the highest value, which would lie above the others, and those whose discs are wider than the smallest.
func newThinned(lakes *index, end int) []index {
	thinned := make([]index, end)
	finer := lakes
	for z := end - 1; z >= 0; z-- {
		thinned[z] = finer.thinnedAt(maptile.Zoom(z))
		thinned[z].tiers = newTiers(thinned[z].places)
		finer = &thinned[z]
	}
	return thinned
}

func (x *index) thinnedAt(z maptile.Zoom) index {
	shift := 2 * (MaxZoom - uint(z) + subBits)
	thinned := index{widest: x.widest}
	for from := 0; from < len(x.places); {
		end, worst := from, from
		for ; end < len(x.places) && x.codes[end]>>shift == x.codes[from]>>shift; end++ {
			if x.places[end].chlorophyll > x.places[worst].chlorophyll { // none is less than any
				worst = end
			}
		}
		for i := from; i < end; i++ {
			if i == worst || x.places[i].disc(z) > smallestRadius(z) {
				thinned.codes, thinned.places = append(thinned.codes, x.codes[i]), append(thinned.places, x.places[i])
			}
		}
		from = end
	}
	thinned.codes, thinned.places = slices.Clip(thinned.codes), slices.Clip(thinned.places)
	return thinned
}

// firstRoomy returns the first zoom at which the world has more than roomyPixels pixels for each place.
func (x *index) firstRoomy() int {
	z := 0
	for 1<<(2*(tileBits+z)) <= roomyPixels*len(x.places) {
		z++
	}
	return z
}

// firstStamped returns the first zoom that has no tile with more than maxStamped places with a value.
func (x *index) firstStamped() int {
	z := 0
	for z <= MaxZoom && x.densest(maptile.Zoom(z)) > maxStamped {
		z++
	}
	return z
}

// densest returns how many places with a value the tile of zoom z has that has the most. The others do not count: lakes
// that leave no trace must not change how the field is drawn either.
func (x *index) densest(z maptile.Zoom) int {
	shift := 2 * (worldBits - uint(z))
	most, run := 0, 0
	for i, code := range x.codes {
		if i > 0 && code>>shift != x.codes[i-1]>>shift {
			run = 0
		}
		if x.places[i].chlorophyll.Valid() {
			run++
		}
		most = max(most, run)
	}
	return most
}

// forField returns the places that the value field of zoom z is drawn from.
func (l *Layer) forField(z maptile.Zoom) *index {
	if l.sheets != nil {
		return l.sheets.forField(l, z)
	}
	if int(z) < len(l.blurred) {
		return &l.blurred[z]
	}
	return &l.lakes
}

// forMarkers returns the places whose markers or waters are drawn at zoom z.
func (l *Layer) forMarkers(z maptile.Zoom) *index {
	if l.sheets != nil {
		return l.sheets.forMarkers(l, z)
	}
	if int(z) < len(l.thinned) {
		return &l.thinned[z]
	}
	return &l.lakes
}
