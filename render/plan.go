package render

import (
	"github.com/paulmach/orb/maptile"
)

// A plan is the sites that a style draws at each zoom with dense tiles, without those whose mark is hidden in every tile at every scale. It
// is made in advance, so that a tile does not search a million lakes for those of which something is visible. Tiles are the same without it.
type plan []*selection // by zoom; nil where it would leave out too few

const (
	// plannedSites is the number of sites from which on a tile is searched for hidden ones, and plannedCrowd that of the densest tile
	// of a zoom from which on the zoom has a plan. A tile with fewer takes some milliseconds without one.
	plannedSites = 1 << 12
	plannedCrowd = 1 << 14
	// plannedShare is the largest part of the sites that a plan keeps: beyond it, a list takes memory for little.
	plannedShare = 0.9
)

// at returns the selection of a zoom, or nil without one.
func (p plan) at(z maptile.Zoom) *selection {
	if int(z) < len(p) {
		return p[z]
	}
	return nil
}

// newPlan returns the plan of l in a style whose painter is a stacker.
func (r *Renderer) newPlan(l *Layer, st *style) plan {
	m := r.memories.Get().(*memory)
	defer r.release(m)
	m.found = sceneKey{} // the hits are no longer those of a scene
	var p plan
	visible := make([]bool, len(l.sites))
	for z, zoom := range l.dense {
		if len(zoom.tiles) == 0 || zoom.tiles[0].to-zoom.tiles[0].from < plannedCrowd {
			break
		}
		if st.clustered(maptile.Zoom(z)) {
			p = append(p, nil)
			continue
		}
		p = append(p, m.planned(visible, l, st, maptile.Zoom(z)))
	}
	return p
}

// planned returns the selection of a plan at zoom z, or nil. It uses visible, which has an element for each site.
func (m *memory) planned(visible []bool, l *Layer, st *style, z maptile.Zoom) *selection {
	clear(visible)
	for tile := range l.runs(2 * (worldBits - uint(z))) {
		if tile.to-tile.from > plannedSites {
			m.findVisible(visible, l, st, z, tile)
			continue
		}
		for i := tile.from; i < tile.to; i++ {
			visible[i] = true
		}
	}
	all := l.forMarkers(z).all[0].sites // ascending; nil for all
	if all == nil {
		all = l.everySite()
	}
	n := 0
	for _, site := range all {
		if visible[site] {
			n++
		}
	}
	if float64(n) > plannedShare*float64(len(all)) || n == 0 {
		return nil
	}
	sites := make([]int32, 0, n)
	for _, site := range all {
		if visible[site] {
			sites = append(sites, site)
		}
	}
	if st.byExtent {
		s := l.selectionOf(sites)
		return &selection{byExtent: s.byExtent}
	}
	return &selection{all: []group{{sites: sites}}}
}

// findVisible sets visible for the sites of a tile of zoom z whose mark is visible at any scale.
func (m *memory) findVisible(visible []bool, l *Layer, st *style, z maptile.Zoom, tile span) {
	x, y := World(l.codes[tile.from])
	at := maptile.New(x>>(worldBits-uint(z)), y>>(worldBits-uint(z)), z)
	// The window has all pixels of the marks of the tile's sites. The marks and their order are the same at all scales.
	w := windowOf(at, 1).widened(int(st.widest(l.geometry, z)>>subBits) + 1)
	q := newQuery(l, w, st)
	m.hits = m.search(&q, st, l.forMarkers(z))
	m.unsorted, m.sites = m.unsorted[:0], m.sites[:0]
	for i := range m.hits {
		m.unsorted = st.appendMarks(m.unsorted, l, m.hits[i:i+1], w)
		for len(m.sites) < len(m.unsorted) {
			m.sites = append(m.sites, m.hits[i].site)
		}
	}
	by := st.painter.(stacker)
	m.stack.sort(by, m.unsorted, w, l.logs.classes)
	for w.scale = 1; w.scale <= 2; w.scale++ {
		m.stack.find(by, m.unsorted, w, l.logs.classes, false)
		for _, i := range m.stack.visible {
			if site := int(m.sites[i]); site >= tile.from && site < tile.to {
				visible[site] = true
			}
		}
		w.width, w.height = 2*w.width, 2*w.height
	}
	clear(m.unsorted) // they may refer to shores
}
