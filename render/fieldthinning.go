package render

import "github.com/paulmach/orb/maptile"

// Where many lakes lie in each pixel, the sum of all would be of the commonest class everywhere, and the densest places would look the cleanest. So of the
// lakes in such a cell of cores those are drawn that a fixed grid selects: about as many as single lakes have room for, with the shares of the
// classes. The worst one has a core besides.

const (
	// thinnedLakes is the number of lakes with a value and the smallest disc from which on those in a cell are thinned: one for each pixel.
	thinnedLakes = 1 << (2 * coreCellBits)
	// thinnedBits is log2 of the width in pixels of scale 1 of the squares of which one lake each is drawn.
	thinnedBits = 1
)

// A fieldThinning finds the binned lakes that are drawn, cell by cell.
type fieldThinning struct {
	layer   *Layer
	zoom    maptile.Zoom
	visit   func(site int) // called for these
	cell    uint64         // the code of the lakes of the cell, without the bits in which they differ
	waiting []int32        // these lakes, as long as they are not thinned
	thinned bool
	last    int // the lake of the last square, if they are
}

// add adds a lake with a value. Lakes are added in the order of the layer, so that those of a cell, and of a square, follow one another.
func (t *fieldThinning) add(site int) {
	if cell := t.layer.codes[site] >> t.bits(coreCellBits); cell != t.cell {
		t.finish()
		t.cell = cell
	}
	if t.thinned {
		t.choose(site)
		return
	}
	if t.waiting = append(t.waiting, int32(site)); len(t.waiting) == thinnedLakes {
		t.thinned, t.last = true, int(t.waiting[0])
		for _, w := range t.waiting[1:] {
			t.choose(int(w))
		}
	}
}

// bits returns the number of bits in which codes of sites in a square of 2^side pixels differ.
func (t *fieldThinning) bits(side uint) uint { return 2 * (uint(MaxZoom-t.zoom) + subBits + side) }

// choose visits the last lake if site is the first one of another square. That of a square is the one with the least hash of its place: it lies anywhere in the square, and
// at the next zoom it is that of a smaller square. Of those in one place it is the worst one.
func (t *fieldThinning) choose(site int) {
	const golden = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio: a product is as good as random
	last, code := t.layer.codes[t.last], t.layer.codes[site]
	switch {
	case (last^code)>>t.bits(thinnedBits) != 0:
		t.visit(t.last)
		t.last = site
	case code == last:
		if v, w := t.layer.value(site), t.layer.value(t.last); v.compare(&w) > 0 {
			t.last = site
		}
	case code*golden < last*golden:
		t.last = site
	}
}

// finish visits the lakes of the last cell that are not visited yet, and makes t empty.
func (t *fieldThinning) finish() {
	if t.thinned {
		t.visit(t.last)
	} else {
		for _, site := range t.waiting {
			t.visit(int(site))
		}
	}
	t.waiting, t.thinned = t.waiting[:0], false
}
