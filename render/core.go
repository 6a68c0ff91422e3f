package render

import (
	"encoding/binary"
	"math"

	"github.com/paulmach/orb/maptile"
)

// In a crowd of better lakes a bloom would disappear. So the world is divided into cells by a fixed grid, and of the lakes of the highest class in a
// crowded cell, the worst has a core: it weighs so much more that it lies on top of as many lakes as there are in its cell.

const (
	// coreCellBits is log2 of the width of a cell in pixels of scale 1, and coredLakes the number of lakes from which on it is crowded.
	coreCellBits = 4
	coredLakes   = 20
	// coreSigma is the sigma in pixels of a core. Where better lakes are equally dense in a cell, it is seen up to 1.7 pixels from its place.
	coreSigma = 0.6
)

// A core is what a lake weighs more.
type core struct {
	x, y      int32 // in units from the window's north-west corner
	gain, log float32
}

// appendTo appends the bytes of c that are hashed for a fingerprint.
func (c *core) appendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(c.x))
	b = binary.LittleEndian.AppendUint32(b, uint32(c.y))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(c.gain))
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(c.log))
}

// A coreCell collects the lakes of one cell. It is reused for one after the other.
type coreCell struct {
	free  uint   // the number of bits in which the codes of its lakes differ
	code  uint64 // of its lakes, without these bits
	lakes int    // with a value
	found bool   // whether one is of the highest class
	site  int    // the worst of these
	worst value
}

// coreCellAt returns an empty cell of zoom z.
func coreCellAt(z maptile.Zoom) coreCell {
	return coreCell{free: 2 * (uint(MaxZoom-z) + subBits + coreCellBits)}
}

// add adds a site if it has a value. Sites are added in ascending order, so that those of a cell follow one another. If the site is the first of
// another cell, add calls visit for the core of the former, if that has one.
func (c *coreCell) add(l *Layer, site int, visit func(site int, gain float32, v *value)) {
	if code := l.codes[site] >> c.free; code != c.code {
		c.finish(visit)
		*c = coreCell{free: c.free, code: code}
	}
	v := l.value(site)
	if !v.Valid() {
		return
	}
	c.lakes++
	if l.logs.classes.of(v.Chlorophyll) == upperClasses && (!c.found || v.compare(&c.worst) > 0) {
		c.found, c.site, c.worst = true, site, v
	}
}

// finish calls visit for the core of the last cell, if that has one.
func (c *coreCell) finish(visit func(site int, gain float32, v *value)) {
	if c.found && c.lakes >= coredLakes {
		drawn := c.lakes
		if drawn >= thinnedLakes {
			drawn = 1 << (2 * (coreCellBits - thinnedBits))
		}
		visit(c.site, float32(highShare*float64(drawn)), &c.worst)
	}
}

// A coreList is the cores of one zoom, found in advance. They lie side by side in memory, unlike the sites of a million lakes.
type coreList struct {
	codes []uint64 // the Morton codes of their sites, ascending
	gains []float32
	logs  []float32
}

func newCoreList(l *Layer, z maptile.Zoom) *coreList {
	list, cell := &coreList{}, coreCellAt(z)
	add := func(site int, gain float32, v *value) {
		list.codes, list.gains, list.logs = append(list.codes, l.codes[site]), append(list.gains, gain), append(list.logs, v.log)
	}
	for i := range l.sites {
		cell.add(l, i, add)
	}
	cell.finish(add)
	return list
}

// appendCores appends the cores that touch the window of q.
func (q *query) appendCores(cores []core) []core {
	w := q.window
	if w.zoom >= fadeZoom { // from there on waters show the lakes
		return cores
	}
	reach := q.painter.reach(&small, w)
	add := func(code uint64, gain, log float32) {
		atX, atY := World(code)
		y := int64(atY>>q.shift) - w.top
		if y <= w.firstCentre()-reach || y >= w.lastCentre(w.height)+reach {
			return
		}
		west := w.firstCentre() - reach + 1
		for x := west + (int64(atX>>q.shift)-w.left-west)&(q.world-1); x < w.lastCentre(w.width)+reach; x += q.world {
			cores = append(cores, core{int32(x), int32(y), gain, log})
		}
	}
	if int(w.zoom) < len(q.layer.cores) {
		list := q.layer.cores[w.zoom]
		q.search(list.codes, nil, reach, 1, func(from, to int, _ bool) bool {
			for i := from; i < to; i++ {
				add(list.codes[i], list.gains[i], list.logs[i])
			}
			return true
		})
		return cores
	}
	cell := coreCellAt(w.zoom)
	visit := func(site int, gain float32, v *value) { add(q.layer.codes[site], gain, v.log) }
	q.search(q.layer.codes, nil, reach, subUnits<<coreCellBits, func(from, to int, whole bool) bool {
		for i := from; i < to; i++ {
			if whole || q.contains(i) {
				cell.add(q.layer, i, visit)
			}
		}
		return true
	})
	cell.finish(visit)
	return cores
}

// appendCore appends the splat of c if it touches w.
func appendCore(splats []splat, c *core, w *window, t *heat) []splat {
	s := splat{gain: c.gain, log: c.log, class: upperClasses}
	return s.appendTo(splats, c.x, c.y, w, &t.core)
}
