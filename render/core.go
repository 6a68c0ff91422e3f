package render

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/paulmach/orb/maptile"

	"limnomap/data"
)

// A core is the middle of the disc of a lake of an upper class: there the lake weighs so much more than better ones that it lies on top of them,
// as a small disc. Without it a lake that is worse than its neighbours would disappear where they are closer than a pixel or two. Lakes of the
// first class have none.
type core struct {
	x, y int32 // in units from the window's north-west corner
	data.Chlorophyll
	old bool
}

// coreWeights are the weights of the cores by class at their centres. They have the narrow kernel, in addition to that of every
// lake: a medium lake lies on top of low ones up to 1.2 pixels from its place, where they weigh 1, and a high one up to 1.7.
var coreWeights = [upperClasses + 1]float32{1: 15, 2: 400}

// crowdWeight is the factor of coreWeights where the field is blurred: there hundreds of lakes may lie in a pixel.
const crowdWeight = 100

// The radii of cores in units, by which their pixels are counted.
const (
	mediumCore = 18
	highCore   = 26
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
	reach         int64                // the smallest distance from a lake at which its core changes no pixel
}

// appendTo appends the cores that touch the window of q, in the order of drawing: medium ones, and then the high ones, the worst last.
func (s *coreSearch) appendTo(cores []core, q *query) []core {
	w := q.window
	if w.zoom >= fadeZoom { // from there on waters show the lakes
		return cores
	}
	s.reach = q.painter.reach(&small, w)
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
	q.search(list.codes, nil, s.reach, 1, func(from, to int, _ bool) bool {
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
	q.search(q.layer.codes, nil, s.reach, neighbourhoodPx*subUnits, func(from, to int, whole bool) bool {
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
	if y <= w.firstCentre()-s.reach || y >= w.lastCentre(w.height)+s.reach {
		return
	}
	found := &s.found[q.layer.logs.classes.of(v.Chlorophyll)-1]
	west := w.firstCentre() - s.reach + 1
	for x := west + (int64(atX>>q.shift)-w.left-west)&(q.world-1); x < w.lastCentre(w.width)+s.reach; x += q.world {
		*found = append(*found, core{int32(x), int32(y), v.Chlorophyll, v.old})
	}
}
