package render

import (
	"math/bits"
	"slices"

	"github.com/paulmach/orb/maptile"
)

// A neighbourhood is a square of the global grid. Where the cores of its lakes would cover more than a quarter of its inked pixels, only
// the worst lake of each cell has one. Cells are as small as they can be for that, so that the number of cores changes little from one neighbourhood to the
// next.
const (
	neighbourhoodBits = 6 // log2 of the width of a neighbourhood in pixels of scale 1
	neighbourhoodPx   = 1 << neighbourhoodBits
	mostCellBits      = 4 // likewise of the largest cells; the smallest are pixels
	// inkBits is likewise that of the squares by which inked pixels are estimated: about the radius of the smallest blob.
	inkBits = 3
)

// A neighbourhood collects the lakes in one. It is reused for one after the other.
type neighbourhood struct {
	code  uint64                   // the Morton code of its lakes, without the bits that differ
	inked uint64                   // by square: whether it has a lake with a value
	upper [upperClasses][]coreSite // the lakes of each upper class
	cored []int32                  // the sites with a core
	free  uint                     // the number of bits in which the codes of its lakes differ
	shift uint                     // from world coordinates to units
}

// A coreSite is a lake that may have a core.
type coreSite struct {
	site int32
	x, y int32 // in units from the corner of the neighbourhood
	value
}

// reset makes n an empty neighbourhood of zoom z.
func (n *neighbourhood) reset(z maptile.Zoom) {
	n.shift = uint(MaxZoom - z)
	n.free = 2 * (n.shift + subBits + neighbourhoodBits)
	n.empty()
}

func (n *neighbourhood) empty() {
	n.inked = 0
	for k := range n.upper {
		n.upper[k] = n.upper[k][:0]
	}
}

// size returns the number of lakes for which n has memory.
func (n *neighbourhood) size() (size int) {
	for _, sites := range n.upper {
		size += cap(sites)
	}
	return size
}

// add adds a site if it has a value. Sites are added in ascending order, so that those of a neighbourhood follow one another. If the
// site is the first of another neighbourhood, add returns the sites of the former with a core.
func (n *neighbourhood) add(l *Layer, site int) (cored []int32) {
	if code := l.codes[site] >> n.free; code != n.code {
		cored = n.finish()
		n.code = code
	}
	v := l.value(site)
	if !v.Valid() {
		return cored
	}
	s := &l.sites[site]
	const side = neighbourhoodPx*subUnits - 1
	x, y := int32(s.x>>n.shift&side), int32(s.y>>n.shift&side)
	n.inked |= 1 << (y>>(inkBits+subBits)<<inkBits | x>>(inkBits+subBits))
	if class := l.logs.classes.of(v.Chlorophyll); class > 0 {
		n.upper[class-1] = appendWorst(n.upper[class-1], coreSite{int32(site), x, y, v})
	}
	return cored
}

// appendWorst appends a site to those of its class, of which each pixel has only the worst: those of a pixel follow one another.
func appendWorst(sites []coreSite, s coreSite) []coreSite {
	if n := len(sites); n > 0 && sites[n-1].x>>subBits == s.x>>subBits && sites[n-1].y>>subBits == s.y>>subBits {
		if s.compare(&sites[n-1].value) > 0 {
			sites[n-1] = s
		}
		return sites
	}
	return append(sites, s)
}

// finish returns the sites with a core, and empties n. High lakes come first: medium ones get what is left of the quarter.
func (n *neighbourhood) finish() []int32 {
	n.cored = n.cored[:0]
	var covered coverage
	var above []coreSite              // those of the class above with a core
	most, sum := n.inkedPixels()/4, 0 // sum is of the pixels of cores, however they overlap
	for k := upperClasses - 1; k >= 0; k-- {
		sites, radius := n.upper[k], coreRadius(k+1)
		with := covered
		if sum += len(sites) * mostPixels[k]; sum <= most {
			with = covered.with(sites, radius)
		} else {
			for bits := 0; bits <= mostCellBits; bits++ {
				if bits > 0 {
					sites = worstByCell(n.upper[k], above, bits)
				}
				if with = covered.with(sites, radius); with.pixels() <= most {
					break
				}
			}
		}
		covered, above = with, sites
		for i := range sites {
			n.cored = append(n.cored, sites[i].site)
		}
	}
	n.empty()
	slices.Sort(n.cored)
	return n.cored
}

// mostPixels are the most pixels of scale 1 that a core covers, by class.
var mostPixels = [upperClasses]int{6, 12}

// inkedPixels estimates the pixels in which the field is visible: the squares with a lake and those next to them.
func (n *neighbourhood) inkedPixels() int {
	const west, east = 0x0101010101010101, 0x8080808080808080
	wide := n.inked | n.inked&^east<<1 | n.inked&^west>>1
	return bits.OnesCount64(wide|wide<<8|wide>>8) << (2 * inkBits)
}

// worstByCell returns the worst site of each cell that has none of others. A cell is 2^bits pixels wide.
func worstByCell(sites, others []coreSite, bits int) []coreSite {
	var worst [neighbourhoodPx / 2 * neighbourhoodPx / 2]int32 // by cell, 1 more than the index of the site
	const taken = -1
	cell := func(s *coreSite) *int32 {
		return &worst[s.y>>(bits+subBits)<<(neighbourhoodBits-bits)|s.x>>(bits+subBits)]
	}
	for i := range others {
		*cell(&others[i]) = taken
	}
	for i := range sites {
		if w := cell(&sites[i]); *w == 0 || *w > 0 && sites[i].compare(&sites[*w-1].value) > 0 {
			*w = int32(i) + 1
		}
	}
	var kept []coreSite
	for _, w := range worst[:1<<(2*(neighbourhoodBits-bits))] {
		if w > 0 {
			kept = append(kept, sites[w-1])
		}
	}
	return kept
}

// A coverage is the pixels of scale 1 of a neighbourhood that cores cover, by row.
type coverage [neighbourhoodPx]uint64

// with returns the coverage with the discs of sites.
func (c coverage) with(sites []coreSite, radius int32) coverage {
	for i := range sites {
		x, y := sites[i].x, sites[i].y
		for row := max(y-radius, 0) >> subBits; row <= min((y+radius)>>subBits, neighbourhoodPx-1); row++ {
			for column := max(x-radius, 0) >> subBits; column <= min((x+radius)>>subBits, neighbourhoodPx-1); column++ {
				dx, dy := column<<subBits+subUnits/2-x, row<<subBits+subUnits/2-y
				if dx*dx+dy*dy <= radius*radius {
					c[row] |= 1 << column
				}
			}
		}
	}
	return c
}

func (c *coverage) pixels() (n int) {
	for _, row := range c {
		n += bits.OnesCount64(row)
	}
	return n
}
