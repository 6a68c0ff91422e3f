package render

import (
	"cmp"
	"slices"

	"github.com/paulmach/orb/maptile"

	"limnomap/data/snapshot"
)

// marked are the sites whose lakes have a mark. Most lakes have none.
type marked struct {
	sites []int32         // ascending, not nil
	marks []snapshot.Mark // of sites[i]
}

// mark returns the mark of the lake of a site.
func (l *Layer) mark(site int) snapshot.Mark {
	if !l.prepared {
		return l.week.Mark(int(l.lakes[site]))
	}
	if i, ok := slices.BinarySearch(l.marked.sites, int32(site)); ok {
		return l.marked.marks[i]
	}
	return snapshot.NoMark
}

// allMarked returns all sites whose lakes have a mark.
func (l *Layer) allMarked() marked {
	if l.prepared {
		return l.marked
	}
	m := marked{sites: []int32{}} // not nil, which means all sites for [Layer.markedSites]
	// Lake by lake first: in the order of the sites, most of the time would go into reading memory here and there.
	marks := make([]snapshot.Mark, len(l.week.Lakes))
	for i := range marks {
		marks[i] = l.week.Mark(i)
	}
	for site, lake := range l.lakes {
		if mark := marks[lake]; mark != snapshot.NoMark {
			m.sites, m.marks = append(m.sites, int32(site)), append(m.marks, mark)
		}
	}
	return m
}

// markedSites returns the sites to search for lakes with a mark; nil for all.
func (l *Layer) markedSites() []int32 {
	if !l.prepared {
		return nil
	}
	return l.marked.sites
}

// forSigns returns the sites to search for signs that are drawn at zoom z; nil for all.
func (l *Layer) forSigns(z maptile.Zoom) []int32 {
	if z < l.roomy {
		return l.thinnedSigns()[z]
	}
	return l.markedSites()
}

// newThinnedSigns returns the sites with a sign at the zooms below end: in each pixel the gravest mark, and of equal ones
// that of the highest value. No slice is nil.
func newThinnedSigns(l *Layer, end maptile.Zoom) [][]int32 {
	all := l.allMarked()
	// byPixel are indexes of all.
	byPixel := make([]int32, len(all.sites))
	for i := range byPixel {
		byPixel[i] = int32(i)
	}
	thinned := make([][]int32, end)
	for z := end; z > 0; z-- {
		byPixel = l.gravestAt(z-1, byPixel, all)
		thinned[z-1] = make([]int32, len(byPixel))
		for k, i := range byPixel {
			thinned[z-1][k] = all.sites[i]
		}
	}
	return thinned
}

// gravestAt returns those of the indexes of m, which are ascending, that have a sign at zoom z.
func (l *Layer) gravestAt(z maptile.Zoom, of []int32, m marked) []int32 {
	shift := 2 * (MaxZoom - uint(z) + subBits)
	pixel := func(i int32) uint64 { return l.codes[m.sites[i]] >> shift }
	graver := func(i, k int32) bool {
		a, b := l.value(int(m.sites[i])), l.value(int(m.sites[k]))
		return cmp.Or(cmp.Compare(m.marks[i], m.marks[k]), a.compare(&b)) > 0
	}
	var gravest []int32
	for n, i := range of {
		switch last := len(gravest) - 1; {
		case n == 0 || pixel(gravest[last]) != pixel(i):
			gravest = append(gravest, i)
		case graver(i, gravest[last]):
			gravest[last] = i
		}
	}
	return gravest
}
