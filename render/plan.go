package render

import (
	"slices"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/paulmach/orb/maptile"
)

// A plan is what layers of the same lakes have in common, whatever is known of these: where they lie and how far they
// reach.
type plan struct {
	lakes  index   // whose values are another layer's
	of     []int32 // which of the view's lakes each place is
	ties   []span  // places that lie in one point, whose order hangs on their values
	uneven bool    // whether some of these differ in what the index goes by: then no layer can be made on the plan

	// What the layers that were made on the plan share. They are made for a week each, and asked for few tiles.
	sights *lru.Cache[sightKey, *sight]
	memo   *lru.Cache[memoKey, memoEntry]
	layers atomic.Uint64 // how many there were

	roomy  int       // the first zoom at which markers are not thinned
	crowds [][]span  // by zoom, the tiles with more than maxStamped places: if as many have a value, the field is blurred
	wide   [][]int32 // at those zooms, the places whose waters are wider than the smallest blob
}

// A span is some places in a row.
type span struct{ from, to int }

// newPlan returns the plan of a layer's lakes, of which order says which of the view's they are.
func newPlan(lakes *index, order []int32) *plan {
	p := &plan{lakes: *lakes, of: order, roomy: lakes.firstRoomy(), sights: newSights(), memo: newMemo()}
	for tie := range lakes.runs(0) {
		if tie.to-tie.from == 1 {
			continue
		}
		p.ties = append(p.ties, tie)
		first := &lakes.places[tie.from]
		for i := tie.from + 1; i < tie.to; i++ {
			other := &lakes.places[i]
			p.uneven = p.uneven || other.ground != first.ground || tierOf(other) != tierOf(first)
		}
	}
	for z := maptile.Zoom(0); z <= MaxZoom; z++ {
		var crowds []span
		for tile := range lakes.runs(2 * (worldBits - uint(z))) {
			if tile.to-tile.from > maxStamped {
				crowds = append(crowds, tile)
			}
		}
		if crowds == nil {
			break
		}
		// The larger a crowd, the sooner it tells.
		slices.SortStableFunc(crowds, func(a, b span) int { return (b.to - b.from) - (a.to - a.from) })
		wide := []int32{} // not nil, which would stand for all
		for i := range lakes.places {
			if lakes.places[i].ground.at(z) > baseSize(z) {
				wide = append(wide, int32(i))
			}
		}
		p.crowds, p.wide = append(p.crowds, crowds), append(p.wide, wide)
	}
	return p
}

// runs returns the places whose codes are equal but for the last bits.
func (x *index) runs(bits uint) func(yield func(span) bool) {
	return func(yield func(span) bool) {
		for from := 0; from < len(x.codes); {
			to := from + 1
			for to < len(x.codes) && x.codes[to]>>bits == x.codes[from]>>bits {
				to++
			}
			if !yield(span{from, to}) {
				return
			}
			from = to
		}
	}
}
