package render

import (
	"slices"

	"github.com/paulmach/orb/maptile"
)

const (
	// maxStamped is the largest number of lakes with a value in one tile at which each lake of a zoom is stamped. At zooms
	// with a denser tile the field is blurred, see blur. All tiles of a zoom are drawn in the same way: others would not join.
	maxStamped = 4096
	// roomyPixels is the number of pixels per lake above which the world is not binned in advance and markers are not
	// thinned. Below, both take no more memory than the lakes themselves.
	roomyPixels = 16
)

// A denseZoom is a zoom at which the field may be blurred, if enough of the lakes have a value.
type denseZoom struct {
	tiles []span    // the sites of each tile with more than maxStamped of them, the largest first
	cells []span    // the sites of each cell of cores with thinnedLakes or more of them
	wide  selection // the sites whose disc is larger than the smallest one, or that have an outline: they are always stamped
}

func (g *geometry) denseZooms() (zooms []denseZoom) {
	for z := maptile.Zoom(0); z <= MaxZoom; z++ {
		d := denseZoom{tiles: g.crowds(worldBits-uint(z), maxStamped)}
		if z < fadeZoom {
			d.cells = g.crowds(uint(MaxZoom-z)+subBits+coreCellBits, thinnedLakes-1)
		}
		if d.tiles == nil && d.cells == nil {
			break
		}
		d.wide = g.wideAt(z)
		zooms = append(zooms, d)
	}
	return zooms
}

// crowds returns the sites of each square of the world with more than most of them, the largest crowd first: the larger it is, the more likely it has enough
// values. The sides of the squares are 2^bits world units.
func (g *geometry) crowds(bits uint, most int) (crowds []span) {
	for square := range g.runs(2 * bits) {
		if square.to-square.from > most {
			crowds = append(crowds, square)
		}
	}
	slices.SortStableFunc(crowds, func(a, b span) int { return (b.to - b.from) - (a.to - a.from) })
	return crowds
}

// wideAt returns the sites that are stamped at zoom z where others are blurred. If they are more than half, it returns all: a search leaves out the
// others.
func (g *geometry) wideAt(z maptile.Zoom) selection {
	wide := []int32{} // not nil, which means all
	for i := range g.sites {
		if !g.sites[i].binned(z) {
			wide = append(wide, int32(i))
		}
	}
	s := g.whole
	if 2*len(wide) <= len(g.sites) {
		s = g.selectionOf(wide)
	}
	s.blurred = true
	return s
}

// firstRoomy returns the first zoom at which the world has more than roomyPixels pixels for each site.
func (g *geometry) firstRoomy() maptile.Zoom {
	z := maptile.Zoom(0)
	for 1<<(2*(tileBits+z)) <= roomyPixels*len(g.sites) {
		z++
	}
	return z
}

// crowded reports whether any of the crowds has more than most lakes with a value. Lakes without one leave only traces:
// they must not change how the field is drawn either.
func (l *Layer) crowded(crowds []span, most int) bool {
	return slices.ContainsFunc(crowds, func(c span) bool {
		n := 0
		for i := c.from; i < c.to && n+c.to-i > most; i++ {
			if l.value(i).Valid() {
				if n++; n > most {
					return true
				}
			}
		}
		return false
	})
}

// forField returns the sites that the value field of zoom z is drawn from.
func (l *Layer) forField(z maptile.Zoom) *selection {
	if int(z) < len(l.blurred) && l.blurred[z]() {
		return &l.dense[z].wide
	}
	return &l.whole
}

// forDots returns the sites whose markers are drawn at zoom z.
func (l *Layer) forDots(z maptile.Zoom) *selection {
	if s := l.dots.at(z); s != nil {
		return s
	}
	return l.forMarkers(z)
}

// forWaters returns the sites whose waters are drawn at zoom z.
func (l *Layer) forWaters(z maptile.Zoom) *selection {
	if s := l.waters.at(z); s != nil {
		return s
	}
	return l.forMarkers(z)
}

// forMarkers returns the sites whose markers or waters are drawn at zoom z, with those that others hide.
func (l *Layer) forMarkers(z maptile.Zoom) *selection {
	if z < l.roomy {
		return &l.thinned()[z]
	}
	return &l.whole
}
