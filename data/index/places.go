package index

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/paulmach/orb"

	"limnomap/data"
)

// earthRadius is the mean radius R1 of the Earth in metres (IUGG; Moritz: Geodetic Reference System 1980, Journal of
// Geodesy 74, 2000). On a sphere of that radius distances are right to half a percent.
const earthRadius = 6_371_008.8

// MaxMetres is half the way around the globe: no place is farther from another.
const MaxMetres = 20_015_114

// Metres returns the great-circle distance between two places, rounded to metres once, so that what is printed is what is
// compared. The formula (Vincenty's for a sphere) keeps its precision at short distances and at the antipode too.
func Metres(a, b orb.Point) int {
	latA, latB, lon := radians(a.Lat()), radians(b.Lat()), radians(b.Lon()-a.Lon())
	sinA, cosA := math.Sincos(latA)
	sinB, cosB := math.Sincos(latB)
	sinLon, cosLon := math.Sincos(lon)
	across := math.Hypot(cosB*sinLon, cosA*sinB-sinA*cosB*cosLon)
	return int(math.Round(earthRadius * math.Atan2(across, sinA*sinB+cosA*cosB*cosLon)))
}

func radians(degrees float64) float64 { return degrees * (math.Pi / 180) }

// Places tell which lakes are near a place.
type Places struct {
	nodes []place // an implicit tree: of any run of nodes the middle one is the root, those before and behind its branches
}

// A place is a lake on the unit sphere. 24 bits tell it to half a metre: enough to find it, not to tell its distance.
type place struct {
	at   [3]float32
	lake int32
}

// NewPlaces returns the places of lakes.
func NewPlaces(lakes []data.Lake) *Places {
	nodes := make([]place, len(lakes))
	for i := range lakes {
		for axis, x := range unit(lakes[i].Point) {
			nodes[i].at[axis] = float32(x)
		}
		nodes[i].lake = int32(i)
	}
	plant(nodes, 0)
	return &Places{nodes}
}

// unit returns p on the unit sphere.
func unit(p orb.Point) [3]float64 {
	sinLat, cosLat := math.Sincos(radians(p.Lat()))
	sinLon, cosLon := math.Sincos(radians(p.Lon()))
	return [3]float64{cosLat * cosLon, cosLat * sinLon, sinLat}
}

// plant puts the nodes in the order of a tree that divides along one axis after the other.
func plant(nodes []place, axis int) {
	for len(nodes) > 1 {
		middle := len(nodes) / 2
		selectAt(nodes, middle, axis)
		axis = (axis + 1) % 3
		plant(nodes[:middle], axis)
		nodes = nodes[middle+1:]
	}
}

// selectAt moves the node that belongs at k to its place, and those that are less along the axis before it (Hoare's
// FIND). Should the pivots be bad again and again, the rest is sorted.
func selectAt(nodes []place, k, axis int) {
	for rounds := 2 * bits.Len(uint(len(nodes))); len(nodes) > 8 && rounds > 0; rounds-- {
		pivot := medianOf(nodes[0].at[axis], nodes[len(nodes)/2].at[axis], nodes[len(nodes)-1].at[axis])
		i, j := 0, len(nodes)-1
		for i <= j {
			for nodes[i].at[axis] < pivot {
				i++
			}
			for nodes[j].at[axis] > pivot {
				j--
			}
			if i <= j {
				nodes[i], nodes[j] = nodes[j], nodes[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			nodes = nodes[:j+1]
		case k >= i:
			nodes, k = nodes[i:], k-i
		default:
			return
		}
	}
	slices.SortFunc(nodes, func(a, b place) int { return cmp.Compare(a.at[axis], b.at[axis]) })
}

func medianOf(a, b, c float32) float32 { return max(min(a, b), min(max(a, b), c)) }

// A Neighbour is a lake and how far it is.
type Neighbour struct {
	Lake   int
	Metres int
}

// compare orders neighbours by distance, and at the same distance by lake.
func (n Neighbour) compare(other Neighbour) int {
	return cmp.Or(cmp.Compare(n.Metres, other.Metres), cmp.Compare(n.Lake, other.Lake))
}

// Nearest returns the lakes at most that many metres from a place, the nearest first and at the same distance in their
// own order, at most limit of them. The lakes are those that the places were made of.
func (p *Places) Nearest(lakes []data.Lake, from orb.Point, within, limit int) []Neighbour {
	if limit <= 0 || within < 0 {
		return nil
	}
	q := quest{lakes: lakes, from: from, at: unit(from), within: within, limit: limit, reach: chord(within)}
	q.visit(p.nodes, 0)
	slices.SortFunc(q.found, Neighbour.compare)
	return q.found
}

// slack is what a chord may seem too long by, of the sphere's radius: some six metres, ten times what rounding a place to
// 24 bits does.
const slack = 1e-6

// chord returns the length of the straight line, on the unit sphere, to where a lake that rounds to that many metres may
// be.
func chord(metres int) float64 {
	return 2*math.Sin(min(float64(metres+1)/(2*earthRadius), math.Pi/2)) + slack
}

// A quest is one search for the nearest lakes.
type quest struct {
	lakes  []data.Lake
	from   orb.Point
	at     [3]float64
	within int // metres
	limit  int
	reach  float64     // the chord beyond which no lake belongs to the result
	found  []Neighbour // once it is full a heap, the farthest first
}

// visit looks at the part of the tree that divides along axis first.
func (q *quest) visit(nodes []place, axis int) {
	for len(nodes) > 0 {
		middle := len(nodes) / 2
		root := &nodes[middle]
		q.consider(root)
		near, far := nodes[:middle], nodes[middle+1:]
		beyond := q.at[axis] - float64(root.at[axis])
		if beyond > 0 {
			near, far = far, near
		}
		axis = (axis + 1) % 3
		q.visit(near, axis)
		if math.Abs(beyond) > q.reach {
			return
		}
		nodes = far
	}
}

// consider takes the lake into the result if it belongs there so far.
func (q *quest) consider(p *place) {
	x, y, z := q.at[0]-float64(p.at[0]), q.at[1]-float64(p.at[1]), q.at[2]-float64(p.at[2])
	if x*x+y*y+z*z > q.reach*q.reach {
		return
	}
	n := Neighbour{int(p.lake), Metres(q.from, q.lakes[p.lake].Point)}
	switch {
	case n.Metres > q.within:
		return
	case len(q.found) < q.limit:
		q.found = append(q.found, n)
		if len(q.found) < q.limit {
			return
		}
		slices.SortFunc(q.found, func(a, b Neighbour) int { return b.compare(a) }) // a heap too
	case n.compare(q.found[0]) < 0:
		q.found[0] = n
		q.sink()
	default:
		return
	}
	q.reach = chord(q.found[0].Metres)
}

// sink moves the first of the found down to where it belongs in the heap.
func (q *quest) sink() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(q.found) {
			return
		}
		if child+1 < len(q.found) && q.found[child+1].compare(q.found[child]) > 0 {
			child++
		}
		if q.found[i].compare(q.found[child]) >= 0 {
			return
		}
		q.found[i], q.found[child] = q.found[child], q.found[i]
		i = child
	}
}
