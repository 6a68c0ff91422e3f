package render

import (
	"cmp"
	"slices"

	"github.com/paulmach/orb/maptile"

	"limnomap/data/snapshot"
)

// A thinning collects the sites that have a mark or a sign where these are thinned, in the order of the codes: in each pixel the marker or
// water of the highest value, which would be drawn above the others, and those whose discs are larger than the smallest; or the sign of the
// gravest mark, and of equal ones that of the highest value.
type thinning struct {
	layer  *Layer
	zoom   maptile.Zoom
	signs  bool
	filter Filter
	values []value // by site; nil to look them up
	sites  []int32 // not nil, which means all

	last thinnedSite // the best one of the pixel that is at the end of sites
	at   int         // its index in sites
}

// A thinnedSite is a site with what decides which one of a pixel is best.
type thinnedSite struct {
	pixel uint64
	mark  snapshot.Mark // if it is a sign
	value value
	large bool // whether it has a mark even if it is not the best one
}

// add adds a site if it has a mark. The sites of a pixel must be added one after the other.
func (t *thinning) add(i int) {
	l := t.layer
	s := thinnedSite{pixel: l.codes[i] >> (2 * (MaxZoom - uint(t.zoom) + subBits))}
	if t.values != nil {
		s.value = t.values[i]
	} else {
		s.value = l.value(i)
	}
	if t.signs {
		if s.mark = l.mark(i); s.mark == snapshot.NoMark {
			return
		}
	} else {
		s.large = l.sites[i].disc(t.zoom) > smallestRadius(t.zoom)
	}
	if !l.shows(t.filter, i, &s.value) {
		return
	}
	switch first := len(t.sites) == 0 || s.pixel != t.last.pixel; {
	case first:
	case cmp.Or(cmp.Compare(s.mark, t.last.mark), s.value.compare(&t.last.value)) > 0: // no value is less than any value
		if !t.last.large {
			t.sites = slices.Delete(t.sites, t.at, t.at+1)
		}
	case s.large:
		t.sites = append(t.sites, int32(i))
		return
	default:
		return
	}
	t.last, t.at = s, len(t.sites)
	t.sites = append(t.sites, int32(i))
}

// newThinned returns the sites with a marker or a water at the zooms below end.
func newThinned(l *Layer, end maptile.Zoom) (thinned []selection) {
	for _, sites := range thinnedBelow(end, l.everySite(), thinning{layer: l, values: l.allValues()}) {
		thinned = append(thinned, l.selectionOf(sites))
	}
	return thinned
}

// newThinnedSigns returns the sites with a sign at the zooms below end. No slice is nil.
func newThinnedSigns(l *Layer, end maptile.Zoom) [][]int32 {
	return thinnedBelow(end, l.allMarked().sites, thinning{layer: l, signs: true})
}

// thinnedBelow returns those of the sites that t collects at the zooms below end.
func thinnedBelow(end maptile.Zoom, sites []int32, t thinning) [][]int32 {
	thinned := make([][]int32, end)
	for z := end; z > 0; z-- {
		t.zoom, t.sites = z-1, []int32{}
		for _, i := range sites {
			t.add(int(i))
		}
		sites = slices.Clip(t.sites)
		thinned[z-1] = sites
	}
	return thinned
}

// thinnedSites returns the sites whose marks or signs may touch the window and are drawn there with the filter of q, so that no filter needs
// lists of its own. The sites that are searched reach less than widest.
func (q *query) thinnedSites(sites []int32, widest int64, signs bool) []int32 {
	q.thinning = &thinning{layer: q.layer, zoom: q.window.zoom, signs: signs, filter: q.filter, sites: []int32{}}
	defer func() { q.thinning = nil }()
	q.around(group{sites: sites}, widest+subUnits) // whole pixels
	return q.thinning.sites
}
