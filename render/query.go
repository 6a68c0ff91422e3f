package render

import (
	"math"
	"sort"
)

// A hit is a place in reach of a window, at a distance in units from the window's north-west corner. A place that
// reaches a window from both sides of the antimeridian is two hits.
type hit struct {
	x, y int32
	*place
}

// A scene is what of a layer is in reach of a window: what can change a pixel of it.
type scene struct {
	hits   []hit  // in the order of the layer, and each place's from west to east
	patch  patch  // of lakes that are binned
	sight  *sight // what there is to see of plan, and what is known of it; nil if it was searched for
	plan   *plan
	places []place // of what is seen
}

// empty reports whether nothing is in reach.
func (s *scene) empty() bool { return len(s.hits) == 0 && !s.patch.any }

// find makes s the scene of l in w.
func (s *scene) find(l *Layer, w window, p painter) {
	x := p.index(l, w)
	s.patch.any, s.sight, s.plan = false, nil, nil
	if x.sheets != nil && x.binned == nil {
		if at := x.sheets.plan.sight(w, p); !at.vague {
			s.look(at, x.sheets)
			return
		}
	}
	q := newQuery(x, w, p)
	q.hits = s.hits[:0]
	q.search()
	s.hits = q.hits
	if x.binned != nil {
		s.bin(x, w, p)
	}
}

// bin makes the patch of s.
func (s *scene) bin(x *index, w window, p painter) {
	reach := p.reach(&small, w)
	s.patch.reset(w, reach)
	if x.grid != nil {
		s.patch.cut(x.grid, w)
		return
	}
	q := newQuery(x.binned, w, p)
	// The pixels that have a share of a lake lie up to a pixel away.
	q.patch, q.reach = &s.patch, reach+subUnits
	q.around(q.reach)
}

// small is a place that reaches as far as each that is binned.
var small = place{ground: math.MinInt8}

// A query finds the places of an index that can change a pixel of a window.
type query struct {
	index   *index
	window  window
	painter painter

	order []int32 // of the tier being searched
	boxes [2]box  // to search
	parts int     // how many of the boxes
	world int64   // the world's width in units, a power of two
	shift uint    // from world coordinates to units
	hits  []hit   // found so far
	once  bool    // whether one hit is enough

	patch  *patch  // for places that are binned; nil for hits
	reach  int64   // of such places
	viewer *viewer // for a sight; nil for hits
}

func newQuery(x *index, w window, p painter) query {
	return query{
		index: x, window: w, painter: p,
		world: 1 << (tileBits + subBits + w.zoom), shift: uint(MaxZoom - w.zoom),
	}
}

// search finds the places of all tiers.
func (q *query) search() {
	for _, t := range q.painter.tiers(q.index) {
		q.order = t.places
		q.around(t.extent>>q.shift + 1 + q.painter.widest(q.index, q.window))
	}
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
	q.parts = 0
	// Where the window with its reach is as wide as the world, each place is met once and then repeated; elsewhere it
	// is one range of longitudes, or two on either side of the antimeridian.
	if right-left >= q.world {
		q.add(0, q.world-1, top, bottom)
	} else {
		from := left & (q.world - 1)
		to := from + right - left
		q.add(from, min(to, q.world-1), top, bottom)
		if to >= q.world {
			q.add(0, to-q.world, top, bottom)
		}
	}
	n := len(q.index.places)
	if q.order != nil {
		n = len(q.order)
	}
	q.quadrant(0, n, 0, worldBits)
}

// A box is a range of world coordinates, all four inclusive.
type box struct{ left, right, top, bottom uint32 }

// add adds a range of units to the boxes.
func (q *query) add(left, right, top, bottom int64) {
	q.boxes[q.parts] = box{
		left: uint32(left << q.shift), right: uint32((right+1)<<q.shift - 1),
		top: uint32(top << q.shift), bottom: uint32((bottom+1)<<q.shift - 1),
	}
	q.parts++
}

// done reports whether no more is to be found.
func (q *query) done() bool { return q.once && len(q.hits) > 0 }

// at returns which of the index's places is the tier's i-th.
func (q *query) at(i int) int {
	if q.order != nil {
		return int(q.order[i])
	}
	return i
}

// meets reports whether any of q's boxes has a part in the square of side last+1 at x, y, and whether it holds all of it.
func (q *query) meets(x, y, last uint32) (some, all bool) {
	for _, b := range q.boxes[:q.parts] {
		if x <= b.right && y <= b.bottom && x+last >= b.left && y+last >= b.top {
			some = true
			all = all || x >= b.left && y >= b.top && x+last <= b.right && y+last <= b.bottom
		}
	}
	return some, all
}

// quadrant finds the places in q's boxes among the tier's from from to to, which are all that lie in the quadrant of
// 2^bits world coordinates whose first Morton code is code.
func (q *query) quadrant(from, to int, code uint64, bits uint) {
	// A handful is tested sooner than it is divided.
	const handful = 16
	if to-from <= handful || bits == 0 {
		for i := from; i < to && !q.done(); i++ {
			p := q.index.place(q.at(i))
			if some, _ := q.meets(p.x, p.y, 0); some {
				q.found(p, q.at(i))
			}
		}
		return
	}
	some, all := q.meets(unspread(code), unspread(code>>1), uint32(1<<bits-1))
	if !some || q.done() {
		return
	}
	if all {
		for i := from; i < to && !q.done(); i++ {
			q.found(q.index.place(q.at(i)), q.at(i))
		}
		return
	}
	codes := q.index.codes
	for i := range uint64(4) {
		start, end := code+i<<(2*bits-2), to
		if i < 3 {
			next := code + (i+1)<<(2*bits-2)
			end = from + sort.Search(to-from, func(j int) bool { return codes[q.at(from+j)] >= next })
		}
		q.quadrant(from, end, start, bits-1)
		from = end
	}
}

// found adds the hits of the index's place at, if its mark touches the window, or bins the place.
func (q *query) found(p *place, at int) {
	w, r := q.window, q.reach
	if q.viewer != nil {
		r = q.viewer.reach(p, q.painter, w)
	} else if q.patch == nil {
		r = q.painter.reach(p, w)
	} else if !p.chlorophyll.Valid() || p.ground.at(w.zoom) > baseSize(w.zoom) {
		r = 0
	}
	y := int64(p.y>>q.shift) - w.top
	if r == 0 || y <= w.firstCentre()-r || y >= w.lastCentre(w.height)+r {
		return
	}
	// The westernmost copy of the place that the reach allows, and each one a world further east.
	west := w.firstCentre() - r + 1
	x := west + (int64(p.x>>q.shift)-w.left-west)&(q.world-1)
	for ; x < w.lastCentre(w.width)+r; x += q.world {
		switch {
		case q.viewer != nil:
			q.viewer.sight.seen = append(q.viewer.sight.seen, seen{x: int32(x), y: int32(y), at: int32(at)})
		case q.patch != nil:
			q.patch.add(x, y, p.log)
		default:
			q.hits = append(q.hits, hit{int32(x), int32(y), p})
		}
	}
}
