package render

import (
	"math/bits"
	"slices"

	"github.com/paulmach/orb/maptile"
)

// A neighbourhood is a square of the global grid. Where the cores of its lakes would cover more than a quarter of its inked pixels, only
// the worst lake of each cell has one.
const (
	neighbourhoodBits = 6 // log2 of the width of a neighbourhood in pixels of scale 1
	neighbourhoodPx   = 1 << neighbourhoodBits
	cellBits          = 4 // likewise of a cell
	cellsPerSide      = neighbourhoodPx >> cellBits
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
	cell uint8
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
	cell := uint8(y>>(cellBits+subBits)*cellsPerSide + x>>(cellBits+subBits))
	if class := l.logs.classes.of(v.Chlorophyll); class > 0 {
		n.upper[class-1] = appendWorst(n.upper[class-1], coreSite{int32(site), cell, x, y, v})
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
	most, taken := n.inkedPixels()/4, uint16(0) // taken are the cells with a core
	sum, thinned := 0, false                    // sum is of the pixels of cores, however they overlap
	for k := upperClasses - 1; k >= 0; k-- {
		sites, radius := n.upper[k], coreRadius(k+1)
		sum += len(sites) * mostPixels[k]
		if !thinned && sum > most {
			with := covered.with(sites, radius)
			thinned = with.pixels() > most
		}
		if thinned {
			sites = worstByCell(sites, taken)
		}
		if k > 0 {
			covered = covered.with(sites, radius)
		}
		for i := range sites {
			taken |= 1 << sites[i].cell
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

// worstByCell returns the worst site of each cell that is not taken. It changes sites.
func worstByCell(sites []coreSite, taken uint16) []coreSite {
	var worst [cellsPerSide * cellsPerSide]*coreSite
	for i := range sites {
		s := &sites[i]
		if w := worst[s.cell]; taken>>s.cell&1 == 0 && (w == nil || s.compare(&w.value) > 0) {
			worst[s.cell] = s
		}
	}
	kept := make([]coreSite, 0, cellsPerSide*cellsPerSide)
	for _, s := range worst {
		if s != nil {
			kept = append(kept, *s)
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
