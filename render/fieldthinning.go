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
	// From highZoom on, and in cells with fewer than highLakes, the worst high lake of such a square is drawn in place of the selected one, so that it is seen at its place.
	// With more in a cell, or at smaller zooms, patches would be red, of whose lakes one in a hundred is high.
	highZoom, highLakes = 4, 8 * thinnedLakes
)

// A fieldThinning finds the binned lakes that are drawn, cell by cell.
type fieldThinning struct {
	layer   *Layer
	zoom    maptile.Zoom
	visit   func(site int) // called for these
	cell    uint64         // the code of the lakes of the cell, without the bits in which they differ
	waiting []int32        // these lakes, as long as they are not thinned
	thinned bool
	lakes   int      // in the cell
	chosen  []chosen // of its squares, if it is thinned
}

// chosen is the lake of a square: the selected one, and the worst high one, -1 without one.
type chosen struct{ site, high int }

// add adds a lake with a value. Lakes are added in the order of the layer, so that those of a cell, and of a square, follow one another.
func (t *fieldThinning) add(site int) {
	if cell := t.layer.codes[site] >> t.bits(coreCellBits); cell != t.cell {
		t.finish()
		t.cell = cell
	}
	t.lakes++
	if t.thinned {
		t.choose(site)
		return
	}
	if t.waiting = append(t.waiting, int32(site)); len(t.waiting) == thinnedLakes {
		t.thinned = true
		for _, w := range t.waiting {
			t.choose(int(w))
		}
	}
}

// bits returns the number of bits in which codes of sites in a square of 2^side pixels differ.
func (t *fieldThinning) bits(side uint) uint { return 2 * (uint(MaxZoom-t.zoom) + subBits + side) }

// choose adds site to the square of the last one, or begins another square. The selected lake is the one with the least hash of its place: it lies anywhere in the square, and
// at the next zoom it is that of a smaller square. Of those in one place it is the worst one.
func (t *fieldThinning) choose(site int) {
	const golden = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio: a product is as good as random
	n, code, v := len(t.chosen), t.layer.codes[site], t.layer.value(site)
	if n == 0 || (t.layer.codes[t.chosen[n-1].site]^code)>>t.bits(thinnedBits) != 0 {
		t.chosen = append(t.chosen, chosen{site, -1})
		n++
	}
	c := &t.chosen[n-1]
	switch last := t.layer.codes[c.site]; {
	case code == last:
		if w := t.layer.value(c.site); v.compare(&w) > 0 {
			c.site = site
		}
	case code*golden < last*golden:
		c.site = site
	}
	if t.zoom < highZoom || t.layer.logs.classes.of(v.Chlorophyll) < upperClasses {
		return
	}
	if c.high >= 0 {
		if w := t.layer.value(c.high); v.compare(&w) <= 0 {
			return
		}
	}
	c.high = site
}

// finish visits the lakes of the last cell, and makes t empty.
func (t *fieldThinning) finish() {
	for _, c := range t.chosen {
		if c.high >= 0 && t.lakes < highLakes {
			c.site = c.high
		}
		t.visit(c.site)
	}
	if !t.thinned {
		for _, site := range t.waiting {
			t.visit(int(site))
		}
	}
	t.waiting, t.chosen, t.thinned, t.lakes = t.waiting[:0], t.chosen[:0], false, 0
}
