package render

import (
	"math"
	"slices"

	"github.com/paulmach/orb/maptile"

	"limnomap/data/snapshot"
)

// A hit is a lake in reach of a window. A lake that reaches a window from both sides of the antimeridian is two hits.
type hit struct {
	x, y int32 // in units from the window's north-west corner
	site int32
	value
}

// find makes m.scene the scene of l in w with that filter, unless it is still that: nearly always a fingerprint is followed by the
// picture.
func (m *memory) find(l *Layer, w window, st *style, f Filter) {
	key := sceneKey{l.self, w, st, f}
	if m.found == key {
		return
	}
	m.found = sceneKey{} // if this panics, the scene is of no use
	s := &m.scene
	s.empty()
	if st.above == nil || w.zoom < waterZoom {
		selected := st.sites(l, w.zoom)
		q := newQuery(l, w, st)
		q.filter, q.stamped = f, selected.blurred
		s.marks = m.appendMarks(s.marks, &q, st, selected)
		s.signs = st.signs.appendTo(s.signs, &q)
		m.hits = q.hits
		if st.cored {
			s.cores = q.appendCores(s.cores)
		}
		if selected.blurred {
			m.hits = s.patch.bin(l, w, st, m.hits[:0])
			s.marks = st.appendMarks(s.marks, l, m.hits, w)
		}
	}
	if st.above != nil && w.zoom >= fadeZoom {
		q := newQuery(l, w, st.above)
		s.waters = m.appendMarks(s.waters, &q, st.above, &l.whole)
	}
	m.found = key
}

// appendMarks appends the marks of the selected lakes, of a painter whose marks lie on each other only the visible ones.
func (m *memory) appendMarks(marks []mark, q *query, st *style, selected *selection) []mark {
	if st.clustered(q.window.zoom) {
		q.hits = m.hits[:0]
		m.scene.clusters = q.searchClusters(m.scene.clusters)
		q.sortTies(0)
		m.hits = q.hits
	} else {
		m.hits = m.search(q, st, selected)
	}
	by, ok := st.painter.(stacker)
	if !ok {
		return st.appendMarks(marks, q.layer, q.hits, q.window)
	}
	m.unsorted = st.appendMarks(m.unsorted[:0], q.layer, q.hits, q.window)
	marks = m.stack.appendTo(marks, by, m.unsorted, q.window, q.layer.logs.classes)
	clear(m.unsorted) // they may refer to shores of another layer
	return marks
}

// search returns the hits of the selected lakes, in the memory of m.hits.
func (m *memory) search(q *query, st *style, selected *selection) []hit {
	q.hits = m.hits[:0]
	for _, g := range q.groups(st, selected) {
		first := len(q.hits)
		q.searchGroup(g)
		q.sortTies(first)
	}
	return q.hits
}

// groups returns the groups of s that are searched, one after the other.
func (q *query) groups(st *style, s *selection) []group {
	l := q.layer
	switch {
	case q.filter == 0:
		return st.groups(s)
	case q.window.zoom >= l.roomy:
		return st.groups(&l.whole) // marks that are hidden without the filter may be visible
	}
	all := group{}
	if st.byExtent && len(l.whole.byExtent) > 0 {
		all.extent = l.whole.byExtent[len(l.whole.byExtent)-1].extent
	}
	thinned := l.selectionOf(q.thinnedSites(nil, q.widest(all), false))
	return st.groups(&thinned)
}

// small is a site that reaches as far as every lake that is binned.
var small = site{blob: math.MinInt8}

// bin makes p the patch of the lakes of l that are binned, and appends the hits of those without a value to hits.
func (p *patch) bin(l *Layer, w window, by *style, hits []hit) []hit {
	reach := by.reach(&small, w)
	p.reset(w, reach)
	q := newQuery(l, w, by)
	// The centres of the cells that have a share of a lake are less than two pixels away from it.
	q.patch, q.reach, q.hits = p, reach+2*subUnits, hits
	if int(w.zoom) < len(l.grids) {
		p.cut(l.grids[w.zoom], w)
		q.around(group{sites: l.traced[w.zoom]}, q.reach)
		return q.hits
	}
	thinning := fieldThinning{layer: l, zoom: w.zoom, visit: q.visit}
	q.search(l.codes, nil, q.reach, subUnits<<coreCellBits, func(from, to int, whole bool) bool {
		for i := from; i < to; i++ {
			switch {
			case !l.sites[i].binned(w.zoom) || !whole && !q.contains(i):
			case l.valid(i):
				thinning.add(i)
			default:
				q.visit(i)
			}
		}
		return true
	})
	thinning.finish()
	p.finish()
	return q.hits
}

// A query finds the lakes of a layer whose marks touch a window.
type query struct {
	layer   *Layer
	window  window
	painter painter
	signs   *markers // finds signs if not nil
	filter  Filter
	world   int64 // width of the world in units, a power of two
	shift   uint  // from world coordinates to units

	first, right, bottom int64 // the centres of the first, of the last column and of the last row of pixels in the window

	group group  // being searched
	boxes [2]box // to search
	parts int    // how many of the boxes
	hits  []hit  // found so far

	stamped bool   // leave out the lakes that are binned
	below   bool   // also find marks of larger zooms, and end with the first hit
	patch   *patch // collects lakes that are binned, and hits only of those that leave a trace
	trace   traceThinning
	reach   int64 // of such lakes

	thinning *thinning // collects sites, instead of hits
}

func newQuery(l *Layer, w window, st *style) query {
	return query{
		layer: l, window: w, painter: st.painter,
		world: 1 << (tileBits + subBits + w.zoom), shift: uint(MaxZoom - w.zoom),
		first: w.firstCentre(), right: w.lastCentre(w.width), bottom: w.lastCentre(w.height),
	}
}

// searchGroup finds the sites of g.
func (q *query) searchGroup(g group) {
	q.around(g, q.widest(g))
}

// widest returns how many units the marks of g reach at most.
func (q *query) widest(g group) int64 {
	return g.extent>>q.shift + 1 + q.painter.widest(q.layer.geometry, q.window.zoom)
}

// sortTies sorts hits at one point by value, from the given one on. Their sites are in the order of their shapes.
func (q *query) sortTies(first int) {
	if !q.layer.ties {
		return
	}
	codes := q.layer.codes
	for hits := q.hits[first:]; len(hits) > 0; {
		n := 1
		for n < len(hits) && codes[hits[n].site] == codes[hits[0].site] {
			n++
		}
		if n > 1 {
			slices.SortStableFunc(hits[:n], func(a, b hit) int { return a.compare(&b.value) })
		}
		hits = hits[n:]
	}
}

// around finds the sites of g whose marks touch the window, none of which reaches further than widest.
func (q *query) around(g group, widest int64) {
	q.group = g
	q.search(q.layer.codes, g.sites, widest, 1, q.visitRange)
}

// search calls visit for the sites, see [Search], at most widest units from the window, and those in the same squares of a grid whose side
// is a power of two.
func (q *query) search(codes []uint64, sites []int32, widest, side int64, visit func(from, to int, whole bool) bool) {
	w := q.window
	top, bottom := (w.top+w.firstCentre()-widest)&^(side-1), (w.top+w.lastCentre(w.height)+widest)|(side-1)
	left, right := (w.left+w.firstCentre()-widest)&^(side-1), (w.left+w.lastCentre(w.width)+widest)|(side-1)
	if bottom < 0 || top >= q.world {
		return
	}
	top, bottom = max(top, 0), min(bottom, q.world-1)
	q.parts = 0
	// If the window with its reach is as wide as the world, each site is visited once and then repeated. Otherwise the
	// window is one range of longitudes, or two on both sides of the antimeridian.
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
	Search(codes, sites, q.meets, visit)
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

// done reports whether the search can end.
func (q *query) done() bool { return q.below && len(q.hits) > 0 }

// at returns the i-th site of the group.
func (q *query) at(i int) int {
	if q.group.sites != nil {
		return int(q.group.sites[i])
	}
	return i
}

// meets reports whether any box overlaps the square of side last+1 at x, y, and whether one contains all of it.
func (q *query) meets(x, y, last uint32) (some, all bool) {
	for _, b := range q.boxes[:q.parts] {
		if x <= b.right && y <= b.bottom && x+last >= b.left && y+last >= b.top {
			some = true
			all = all || x >= b.left && y >= b.top && x+last <= b.right && y+last <= b.bottom
		}
	}
	return some, all
}

// visitRange visits the sites in the boxes among the group's from from to to, which is all of them if whole is true. It
// reports whether the search continues.
func (q *query) visitRange(from, to int, whole bool) bool {
	for i := from; i < to && !q.done(); i++ {
		if at := q.at(i); whole || q.contains(at) {
			q.visit(at)
		}
	}
	return !q.done()
}

// contains reports whether a site is in the boxes.
func (q *query) contains(site int) bool {
	s := &q.layer.sites[site]
	some, _ := q.meets(s.x, s.y, 0)
	return some
}

// visit adds the hits of a site if its mark touches the window and the filter shows it, or bins its lake.
func (q *query) visit(i int) {
	if q.thinning != nil {
		q.thinning.add(i)
		return
	}
	s, w := &q.layer.sites[i], q.window
	var r int64
	switch {
	case q.signs != nil:
		r = q.signs.reach
	case q.below:
		r = q.painter.reachBelow(s, w.zoom)
	case q.patch == nil:
		if q.stamped && s.binned(w.zoom) {
			return
		}
		r = q.painter.reach(s, w)
	case s.binned(w.zoom):
		r = q.reach
	}
	y := int64(s.y>>q.shift) - w.top
	if r == 0 || y <= q.first-r || y >= q.bottom+r {
		return
	}
	// The westernmost copy of the site in reach, and those each a world further east.
	west := q.first - r + 1
	x := west + (int64(s.x>>q.shift)-w.left-west)&(q.world-1)
	if x >= q.right+r {
		return
	}
	if q.signs != nil && q.layer.mark(i) == snapshot.NoMark {
		return
	}
	value := q.layer.value(i)
	if !q.layer.shows(q.filter, i, &value) {
		return
	}
	if q.patch != nil && !value.Valid() && !q.trace.keeps(q.layer, i, w.zoom) {
		return
	}
	for ; x < q.right+r; x += q.world {
		if q.patch != nil && value.Valid() {
			q.patch.add(x, y, value, q.layer.logs.classes.of(value.Chlorophyll))
		} else {
			q.hits = append(q.hits, hit{int32(x), int32(y), int32(i), value})
		}
	}
}

// MayShow reports whether a tile, or any tile within it at a larger zoom, may show something of l in a style, at either
// scale. If not, all of them are blank. If it reports true for a tile, it does for all tiles that contain it: descending
// from zoom 0 finds every tile that is not blank. It is for tiles without a [Filter]. It reports false for specs that [Renderer.Render] rejects.
func (r *Renderer) MayShow(l *Layer, t maptile.Tile, style StyleID) bool {
	st, err := r.drawingOf(l).style(Spec{Tile: t, Scale: 1, Style: style})
	if err != nil {
		return false
	}
	// Sites, distances and the centres of pixels are rounded, by less than a pixel in all: a window with one more pixel on
	// each side contains those of all tiles within. So do the pixels of lakes that are thinned or binned at this zoom.
	w := windowOf(t, 1)
	if st.pixels != nil {
		st = st.pixels
	}
	w.left, w.top = w.left-w.step(), w.top-w.step()
	w.width, w.height = w.width+2, w.height+2
	q := newQuery(l, w, st)
	q.below = true
	groups := st.groups(&l.whole)
	if st.above != nil {
		groups = l.whole.byExtent // for its waters
	}
	for _, g := range groups {
		q.searchGroup(g)
	}
	if st.signs != nil && !q.done() {
		q.searchSigns(st.signs, l.markedSites())
	}
	return q.done()
}
