package render

import (
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
