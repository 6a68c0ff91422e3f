package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/paulmach/orb/maptile"

	"limnomap/data"
	"limnomap/data/snapshot"
)

// A Filter is a set of classes of lakes that a tile shows. The zero Filter shows all lakes.
type Filter uint8

// The classes are those of the page: that of the level, which is the worst of chlorophyll, cell count and report. A closed lake is also
// of the class high, so that no filter for the worst lakes hides it.
const (
	ShowClosed Filter = 1 << iota // closed by an official statement
	ShowHigh
	ShowMedium
	ShowLow
	ShowNone // without a current value
	showAll  = ShowClosed | ShowHigh | ShowMedium | ShowLow | ShowNone
)

// filterNames are the names of the classes, by bit.
var filterNames = [...]string{"closed", "high", "medium", "low", "none"}

// FilterNames returns the names of the classes.
func FilterNames() []string { return slices.Clone(filterNames[:]) }

// ParseFilter reads names of classes with commas between them, in any order. All classes are no filter.
func ParseFilter(s string) (f Filter, err error) {
	for name := range strings.SplitSeq(s, ",") {
		bit := slices.Index(filterNames[:], name)
		if bit < 0 {
			return 0, fmt.Errorf("class %.40q is none of %s", name, strings.Join(filterNames[:], ", "))
		}
		f |= 1 << bit
	}
	if f == showAll {
		return 0, nil
	}
	return f, nil
}

// filterClasses returns the classes of a lake with that mark and value.
func (v *logTable) filterClasses(m snapshot.Mark, c data.Chlorophyll) (f Filter) {
	switch m {
	case snapshot.Closed:
		return ShowClosed | ShowHigh
	case snapshot.WorseHigh:
		f = ShowHigh
	case snapshot.WorseMedium:
		f = ShowMedium
	}
	switch {
	case !c.Valid():
		f |= ShowNone
	case f == 0:
		f = ShowLow >> v.classes.of(c)
	}
	return f
}

// shows reports whether f shows the lake of a site, whose value is v.
func (l *Layer) shows(f Filter, site int, v *value) bool {
	return f == 0 || f&l.logs.filterClasses(l.mark(site), v.Chlorophyll) != 0
}

// A thinning collects the sites that have a mark where marks are thinned and lakes are filtered: as newThinned and newThinnedSigns do for
// all lakes, but for one window, and in the order of the codes. So no filter needs lists of its own.
type thinning struct {
	layer  *Layer
	filter Filter
	signs  bool // of signs: a pixel has that of the gravest mark
	zoom   maptile.Zoom
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

func newThinning(l *Layer, f Filter, z maptile.Zoom, signs bool) *thinning {
	return &thinning{layer: l, filter: f, signs: signs, zoom: z, sites: []int32{}}
}

// add adds a site if it has a mark. The sites of a pixel must be added one after the other.
func (t *thinning) add(i int) {
	l := t.layer
	s := thinnedSite{pixel: l.codes[i] >> (2 * (MaxZoom - uint(t.zoom) + subBits)), value: l.value(i)}
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
	case cmp.Or(cmp.Compare(s.mark, t.last.mark), s.value.compare(&t.last.value)) > 0:
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

// thinnedSites returns the sites whose marks or signs may touch the window and are drawn there with the filter of q. The sites that are
// searched reach less than widest.
func (q *query) thinnedSites(sites []int32, widest int64, signs bool) []int32 {
	t := newThinning(q.layer, q.filter, q.window.zoom, signs)
	q.thinning = t
	q.around(group{sites: sites}, widest+subUnits) // whole pixels
	q.thinning = nil
	return t.sites
}
