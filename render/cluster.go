package render

import (
	"encoding/binary"

	"github.com/paulmach/orb/maptile"

	"limnomap/data/snapshot"
)

// Up to clusterZoom the style Dots divides the world into cells by a fixed grid. Where a cell has clusterFrom lakes or more, one symbol stands for all of
// them: markers would lie on each other, with the worst on top, and a country with one bloom in twelve lakes would be red.
const (
	clusterZoom     = 6
	clusterFrom     = 4
	clusterCellBits = 6 // log2 of the width of a cell in pixels of scale 1
	clusterCell     = 1 << clusterCellBits * subUnits
)

// A cluster is the lakes of a cell: all that its symbol depends on. The symbol lies within the cell, so that none covers another one, and each tile
// has all that it needs.
type cluster struct {
	x, y   int32 // of its middle, in units from the window's north-west corner; whole pixels of scale 1
	shares [upperClasses + 2]uint32
}

// The shares of a cluster are its numbers of lakes by class, the worst first, and then of those without a value.
const noValueShare = upperClasses + 1

// lakes returns the number of lakes of c.
func (c *cluster) lakes() (n uint32) {
	for _, share := range c.shares {
		n += share
	}
	return n
}

// appendTo appends the bytes of c that are hashed for a fingerprint.
func (c *cluster) appendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(c.x))
	b = binary.LittleEndian.AppendUint32(b, uint32(c.y))
	for _, share := range c.shares {
		b = binary.LittleEndian.AppendUint32(b, share)
	}
	return b
}

// A clusterSearch collects the lakes of one cell after the other.
type clusterSearch struct {
	cell     uint64 // the Morton code of the lakes, without the bits that differ in a cell
	few      [clusterFrom - 1]int32
	cluster  cluster
	sumX     uint64 // of the places in the cell, in units
	sumY     uint64
	clusters []cluster // found
}

// clustered reports whether lakes in the style st are in clusters at zoom z.
func (st *style) clustered(z maptile.Zoom) bool {
	_, ok := st.painter.(*dots)
	return ok && z <= clusterZoom
}

// searchClusters appends the clusters that touch the window of q, and adds the lakes in reach that are in none to its hits. Lakes with a mark are in
// none: they have signs.
func (q *query) searchClusters(clusters []cluster) []cluster {
	s := clusterSearch{clusters: clusters}
	free := 2 * (q.shift + subBits + clusterCellBits)
	q.search(q.layer.codes, nil, q.widest(group{}), clusterCell, func(from, to int, whole bool) bool {
		for i := from; i < to; i++ {
			if !whole && !q.contains(i) {
				continue
			}
			if cell := q.layer.codes[i] >> free; cell != s.cell {
				s.finish(q)
				s.cell = cell
			}
			s.add(q, i)
		}
		return true
	})
	s.finish(q)
	return s.clusters
}

// add adds a site of the cell.
func (s *clusterSearch) add(q *query, site int) {
	v := q.layer.value(site)
	if q.layer.mark(site) != snapshot.NoMark || !q.layer.shows(q.filter, site, &v) {
		return
	}
	if n := s.cluster.lakes(); n < uint32(len(s.few)) {
		s.few[n] = int32(site)
	}
	share := noValueShare
	if v.Valid() {
		share = upperClasses - q.layer.logs.classes.of(v.Chlorophyll)
	}
	s.cluster.shares[share]++
	at := &q.layer.sites[site]
	s.sumX += uint64(at.x >> q.shift & (clusterCell - 1))
	s.sumY += uint64(at.y >> q.shift & (clusterCell - 1))
}

// finish adds the symbol of the cell, or the hits of its few lakes, and empties s.
func (s *clusterSearch) finish(q *query) {
	n := s.cluster.lakes()
	if n < clusterFrom {
		for _, site := range s.few[:n] {
			q.visit(int(site))
		}
	} else {
		s.place(q, n)
	}
	s.cluster, s.sumX, s.sumY = cluster{}, 0, 0
}

// place adds the copies of the cell's symbol that touch the window. Its middle is that of the lakes, as far as it fits into the cell.
func (s *clusterSearch) place(q *query, n uint32) {
	w := q.window
	half := int64(clusterSizes[clusterStep(n)].half()) * subUnits
	within := func(sum uint64) int64 {
		return min(max(int64(sum/uint64(n))&^(subUnits-1), half), clusterCell-half)
	}
	cellX, cellY := World(s.cell << (2 * (q.shift + subBits + clusterCellBits)))
	c := s.cluster
	y := int64(cellY>>q.shift) + within(s.sumY) - w.top
	if y <= -half || y >= int64(w.height)*w.step()+half {
		return
	}
	end := int64(w.width)*w.step() + half
	for x := 1 - half + (int64(cellX>>q.shift)+within(s.sumX)-w.left-1+half)&(q.world-1); x < end; x += q.world {
		c.x, c.y = int32(x), int32(y)
		s.clusters = append(s.clusters, c)
	}
}
