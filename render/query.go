package render

import "sort"

// A hit is a place in reach of a window, at a distance in units from the window's north-west corner. A place that
// reaches a window from both sides of the antimeridian is two hits.
type hit struct {
	x, y int32
	*place
}

// A query finds the places of a layer that can change a pixel of a window.
type query struct {
	layer   *Layer
	window  window
	painter painter

	world int64   // the world's width in units
	shift uint    // from world coordinates to units
	order []int32 // of the tier being searched
	hits  []hit   // found so far, in no order that means anything
}

// find appends to hits the places of l in reach of w.
func find(hits []hit, l *Layer, w window, p painter) []hit {
	q := query{
		layer: l, window: w, painter: p, hits: hits,
		world: 1 << (tileBits + subBits + w.zoom), shift: uint(MaxZoom - w.zoom),
	}
	for _, t := range p.tiers(l) {
		q.order = t.places
		q.around(t.extent>>q.shift + 1 + p.widest(l, w))
	}
	return q.hits
}

// around finds the places of the tier whose marks touch the window, none of which reaches further than widest.
func (q *query) around(widest int64) {
	w := q.window
	top, bottom := w.top+w.firstCentre()-widest, w.top+w.lastCentre(w.height)+widest
	left, right := w.left+w.firstCentre()-widest, w.left+w.lastCentre(w.width)+widest
	if bottom < 0 || top >= q.world {
		return
	}
	top, bottom = max(top, 0), min(bottom, q.world-1)
	// Where the window with its reach is as wide as the world, each place is met once and then repeated; elsewhere it
	// is one range of longitudes, or two on either side of the antimeridian.
	if right-left >= q.world {
		q.search(q.box(0, q.world-1, top, bottom))
		return
	}
	from := floorMod(left, q.world)
	to := from + right - left
	q.search(q.box(from, min(to, q.world-1), top, bottom))
	if to >= q.world {
		q.search(q.box(0, to-q.world, top, bottom))
	}
}

// A box is a range of world coordinates, all four inclusive.
type box struct{ left, right, top, bottom uint32 }

// box returns the world coordinates of a range of units.
func (q *query) box(left, right, top, bottom int64) box {
	return box{
		left: uint32(left << q.shift), right: uint32((right+1)<<q.shift - 1),
		top: uint32(top << q.shift), bottom: uint32((bottom+1)<<q.shift - 1),
	}
}

// search finds the places in b.
func (q *query) search(b box) {
	n := len(q.layer.places)
	if q.order != nil {
		n = len(q.order)
	}
	q.quadrant(b, 0, n, 0, worldBits)
}

// at returns which of the layer's places is the tier's i-th.
func (q *query) at(i int) int {
	if q.order != nil {
		return int(q.order[i])
	}
	return i
}

// quadrant finds those places in b among the tier's from from to to, which are all that lie in the quadrant of 2^bits
// world coordinates whose first Morton code is code.
func (q *query) quadrant(b box, from, to int, code uint64, bits uint) {
	// A handful is tested sooner than it is divided.
	const handful = 16
	if to-from <= handful || bits == 0 {
		for i := from; i < to; i++ {
			if p := &q.layer.places[q.at(i)]; p.x >= b.left && p.x <= b.right && p.y >= b.top && p.y <= b.bottom {
				q.found(p)
			}
		}
		return
	}
	x, y := unspread(code), unspread(code>>1)
	last := uint32(1<<bits - 1)
	if x > b.right || y > b.bottom || x+last < b.left || y+last < b.top {
		return
	}
	codes := q.layer.codes
	for i := range uint64(4) {
		start, end := code+i<<(2*bits-2), to
		if i < 3 {
			next := code + (i+1)<<(2*bits-2)
			end = from + sort.Search(to-from, func(j int) bool { return codes[q.at(from+j)] >= next })
		}
		q.quadrant(b, from, end, start, bits-1)
		from = end
	}
}

// found adds the hits of a place whose mark touches the window.
func (q *query) found(p *place) {
	w := q.window
	r := q.painter.reach(p, w)
	y := int64(p.y>>q.shift) - w.top
	if r == 0 || y <= w.firstCentre()-r || y >= w.lastCentre(w.height)+r {
		return
	}
	// The westernmost copy of the place that the reach allows, and each one a world further east.
	west := w.firstCentre() - r + 1
	x := west + floorMod(int64(p.x>>q.shift)-w.left-west, q.world)
	for ; x < w.lastCentre(w.width)+r; x += q.world {
		q.hits = append(q.hits, hit{int32(x), int32(y), p})
	}
}

// floorMod returns a modulo a positive b, which is never negative.
func floorMod(a, b int64) int64 { return (a%b + b) % b }
