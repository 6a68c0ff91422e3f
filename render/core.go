package render

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/paulmach/orb/maptile"

	"limnomap/data"
)

// A core is a small disc in a lake's own colour, drawn above the field: without it a lake that is worse than its neighbours would
// disappear where they are closer than a pixel or two. Lakes of the first class have none.
type core struct {
	x, y int32 // in units from the window's north-west corner
	data.Chlorophyll
	old bool
}

// Lengths are in units. A disc of highCore is at least three pixels wide at scale 1, and one of mediumCore two, wherever the lake lies
// within a pixel: their radii are at least sqrt(1.5²+0.5²) and sqrt(1²+0.5²) pixels, rounded up.
const (
	mediumCore = 18
	highCore   = 26
	// coreRim is the width of the rim of a core on another one of the highest class. It is fainter than a core: lighter on a white map.
	coreRim = subUnits
	// coreReach is the smallest distance from a lake at which its core changes no pixel.
	coreReach = highCore + coreRim + 1
)

const (
	// oldCoreLevel is the level of the core of an old value, which is about as opaque as the field there.
	oldCoreLevel = 8
	// rimLevel is the level of a rim: the map below shines through.
	rimLevel = 5
)

// coreRadius returns the radius of the cores of a class.
func coreRadius(class int) int32 {
	if class == upperClasses {
		return highCore
	}
	return mediumCore
}

// A coreList is the cores of one zoom, found in advance. They lie side by side in memory, unlike the sites of a million lakes.
type coreList struct {
	codes []uint64 // the Morton codes of their sites, ascending
	cores []value  // of codes[i]
}

func newCoreList(l *Layer, z maptile.Zoom) *coreList {
	var n neighbourhood
	n.reset(z)
	var sites []int32
	for i := range l.sites {
		sites = append(sites, n.add(l, i)...)
	}
	sites = append(sites, n.finish()...)
	list := &coreList{make([]uint64, len(sites)), make([]value, len(sites))}
	for i, site := range sites {
		list.codes[i], list.cores[i] = l.codes[site], l.value(int(site))
	}
	return list
}

// A coreSearch finds the cores that touch a window. It is reused.
type coreSearch struct {
	neighbourhood neighbourhood
	found         [upperClasses][]core // by class, in the order of the sites
}

// appendTo appends the cores that touch the window of q, in the order of drawing: medium ones, and then the high ones, the worst last.
func (s *coreSearch) appendTo(cores []core, q *query) []core {
	w := q.window
	if w.zoom >= fadeZoom { // from there on waters show the lakes
		return cores
	}
	for k := range s.found {
		s.found[k] = s.found[k][:0]
	}
	if int(w.zoom) < len(q.layer.cores) {
		s.searchList(q, q.layer.cores[w.zoom])
	} else {
		s.searchSites(q)
	}
	for k, found := range s.found {
		if k+1 < upperClasses {
			cores = append(cores, found...)
			continue
		}
		slices.SortFunc(found, func(a, b core) int {
			if c := compareValues(a.Chlorophyll, a.old, b.Chlorophyll, b.old); c != 0 {
				return c
			}
			return cmp.Or(cmp.Compare(w.mortonAt(a.x, a.y), w.mortonAt(b.x, b.y)), cmp.Compare(a.x, b.x))
		})
		cores = append(cores, found...)
	}
	return cores
}

// appendTo appends the bytes of c that are hashed for a fingerprint.
func (c *core) appendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(c.x))
	b = binary.LittleEndian.AppendUint32(b, uint32(c.y))
	v := uint32(c.Chlorophyll) << 1
	if c.old {
		v |= 1
	}
	return binary.LittleEndian.AppendUint32(b, v)
}

// searchList finds the cores of a list.
func (s *coreSearch) searchList(q *query, list *coreList) {
	q.search(list.codes, nil, coreReach, 1, func(from, to int, _ bool) bool {
		for i := from; i < to; i++ {
			s.add(q, list.codes[i], list.cores[i])
		}
		return true
	})
}

// searchSites finds the cores of the neighbourhoods that the window touches.
func (s *coreSearch) searchSites(q *query) {
	s.neighbourhood.reset(q.window.zoom)
	add := func(sites []int32) {
		for _, i := range sites {
			s.add(q, q.layer.codes[i], q.layer.value(int(i)))
		}
	}
	q.search(q.layer.codes, nil, coreReach, neighbourhoodPx*subUnits, func(from, to int, whole bool) bool {
		for i := from; i < to; i++ {
			if whole || q.contains(i) {
				add(s.neighbourhood.add(q.layer, i))
			}
		}
		return true
	})
	add(s.neighbourhood.finish())
}

// add adds the cores of a lake that touch the window.
func (s *coreSearch) add(q *query, code uint64, v value) {
	w := q.window
	atX, atY := World(code)
	y := int64(atY>>q.shift) - w.top
	if y <= w.firstCentre()-coreReach || y >= w.lastCentre(w.height)+coreReach {
		return
	}
	found := &s.found[q.layer.logs.classes.of(v.Chlorophyll)-1]
	west := w.firstCentre() - coreReach + 1
	for x := west + (int64(atX>>q.shift)-w.left-west)&(q.world-1); x < w.lastCentre(w.width)+coreReach; x += q.world {
		*found = append(*found, core{int32(x), int32(y), v.Chlorophyll, v.old})
	}
}

// A disc has the half width of a disc, in units, by the distance of a row of pixels from its middle.
type disc []int32

func newDisc(radius int32) disc {
	d := make(disc, radius+1)
	for dy := range d {
		d[dy] = int32(math.Sqrt(float64(int(radius)*int(radius) - dy*dy)))
	}
	return d
}

// columns returns the range of columns of w whose centres are in the disc around x, y, in a row of pixels.
func (d disc) columns(x, y int32, row int, w window) (from, to int) {
	dy := distance(int64(row)*w.step()+w.firstCentre(), int64(y))
	if dy >= int64(len(d)) {
		return 0, 0
	}
	half, bits := int64(d[dy]), w.stepBits()
	from = int((int64(x) - half - w.firstCentre() + w.step() - 1) >> bits)
	to = int((int64(x)+half-w.firstCentre())>>bits) + 1
	return max(from, 0), min(to, w.width)
}

// A corePainter draws cores on the field.
type corePainter struct{ medium, high, rim disc }

func newCorePainter() *corePainter {
	return &corePainter{newDisc(mediumCore), newDisc(highCore), newDisc(highCore + coreRim)}
}

// paint draws cores. Those of medium lakes change only pixels of the first class, so that they hide nothing worse.
func (p *corePainter) paint(dst []uint8, cores []core, w window, sc *scale, m *memory) {
	covered := m.cored[:0]
	for i := range cores {
		c := &cores[i]
		level := levels
		if c.old {
			level = oldCoreLevel
		}
		fill := sc.shading.entries[level-1][sc.colours.Index(c.Float())]
		first, end := w.rows(int64(c.y), coreReach)
		if sc.class(c.Chlorophyll) < upperClasses {
			for row := first; row < end; row++ {
				from, to := p.medium.columns(c.x, c.y, row, w)
				for at := row*w.width + from; at < row*w.width+to; at++ {
					if dst[at] != 0 && sc.entryClass[dst[at]] == 0 {
						dst[at] = fill
					}
				}
			}
			continue
		}
		if len(covered) == 0 {
			covered = falses(m.cored, len(dst))
			m.cored = covered
		}
		rim := sc.shading.entries[rimLevel-1][sc.highest]
		for row := first; row < end; row++ {
			line, over := dst[row*w.width:][:w.width], covered[row*w.width:][:w.width]
			from, to := p.rim.columns(c.x, c.y, row, w)
			for at := from; at < to; at++ {
				if over[at] {
					line[at] = rim
				}
			}
			from, to = p.high.columns(c.x, c.y, row, w)
			for at := from; at < to; at++ {
				line[at], over[at] = fill, true
			}
		}
	}
}

// falses returns n times false, in the memory of b if that is large enough.
func falses(b []bool, n int) []bool {
	if cap(b) < n {
		return make([]bool, n)
	}
	b = b[:n]
	clear(b)
	return b
}
