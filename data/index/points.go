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
// Geodesy 74, 2000). Distances on a sphere of that radius are accurate to half a percent.
const earthRadius = 6_371_008.8

// Metres returns the great-circle distance of two points, rounded to metres once, so that the printed and the compared
// distance are the same. The formula (Vincenty's for a sphere) is accurate at short distances and near the antipode too.
func Metres(a, b orb.Point) int {
	latA, latB, lon := radians(a.Lat()), radians(b.Lat()), radians(b.Lon()-a.Lon())
	sinA, cosA := math.Sincos(latA)
	sinB, cosB := math.Sincos(latB)
	sinLon, cosLon := math.Sincos(lon)
	across := math.Hypot(cosB*sinLon, cosA*sinB-sinA*cosB*cosLon)
	return int(math.Round(earthRadius * math.Atan2(across, sinA*sinB+cosA*cosB*cosLon)))
}

func radians(degrees float64) float64 { return degrees * (math.Pi / 180) }

// A PointIndex finds the lakes near a point.
type PointIndex struct {
	nodes []point // an implicit tree: the middle node of a range is its root, the nodes before and after it are its subtrees
}

// A point is a lake on the unit sphere. 24 bits locate it to half a metre: enough to find it, not for its distance.
type point struct {
	at   [3]float32
	lake int32
}

// NewPointIndex returns an index of lakes.
func NewPointIndex(lakes []data.Lake) *PointIndex {
	nodes := make([]point, len(lakes))
	for i := range lakes {
		for axis, x := range unit(lakes[i].Point) {
			nodes[i].at[axis] = float32(x)
		}
		nodes[i].lake = int32(i)
	}
	buildTree(nodes, 0)
	return &PointIndex{nodes}
}

// unit returns p on the unit sphere.
func unit(p orb.Point) [3]float64 {
	sinLat, cosLat := math.Sincos(radians(p.Lat()))
	sinLon, cosLon := math.Sincos(radians(p.Lon()))
	return [3]float64{cosLat * cosLon, cosLat * sinLon, sinLat}
}

// buildTree orders the nodes as a tree that is divided along one axis after the other.
func buildTree(nodes []point, axis int) {
	for len(nodes) > 1 {
		middle := len(nodes) / 2
		selectAt(nodes, middle, axis)
		axis = (axis + 1) % 3
		buildTree(nodes[:middle], axis)
		nodes = nodes[middle+1:]
	}
}

// selectAt moves the node of rank k along the axis to index k, and the nodes below it before it (Hoare's FIND). After many
// bad pivots it sorts the rest.
func selectAt(nodes []point, k, axis int) {
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
	slices.SortFunc(nodes, func(a, b point) int { return cmp.Compare(a.at[axis], b.at[axis]) })
}

func medianOf(a, b, c float32) float32 { return max(min(a, b), min(max(a, b), c)) }

// A Neighbour is a lake and its distance.
type Neighbour struct {
	Lake   int
	Metres int
}

// compare orders neighbours by distance, and at the same distance by lake.
func (n Neighbour) compare(other Neighbour) int {
	return cmp.Or(cmp.Compare(n.Metres, other.Metres), cmp.Compare(n.Lake, other.Lake))
}

// Nearest returns the lakes at most that many metres from a point, the nearest first and at equal distance in their own
// order, at most limit of them. The lakes must be those that the index was made from.
func (p *PointIndex) Nearest(lakes []data.Lake, from orb.Point, within, limit int) []Neighbour {
	if limit <= 0 || within < 0 {
		return nil
	}
	s := nearestSearch{lakes: lakes, from: from, at: unit(from), within: within, limit: limit, reach: chord(within)}
	s.visit(p.nodes, 0)
	return s.found
}

// slack is the largest error of a chord, in units of the Earth's radius: about six metres, ten times the rounding error of
// a point.
const slack = 1e-6

// chord returns the length of the straight line, on the unit sphere, to the farthest point whose distance rounds to that
// many metres.
func chord(metres int) float64 {
	return 2*math.Sin(min(float64(metres+1)/(2*earthRadius), math.Pi/2)) + slack
}

// A nearestSearch is one search for the nearest lakes.
type nearestSearch struct {
	lakes  []data.Lake
	from   orb.Point
	at     [3]float64
	within int // metres
	limit  int
	reach  float64     // the chord beyond which no lake belongs to the result
	found  []Neighbour // the nearest so far, in order, at most limit of them
}

// visit searches a subtree that is divided along axis.
func (s *nearestSearch) visit(nodes []point, axis int) {
	for len(nodes) > 0 {
		middle := len(nodes) / 2
		root := &nodes[middle]
		s.consider(root)
		near, far := nodes[:middle], nodes[middle+1:]
		beyond := s.at[axis] - float64(root.at[axis])
		if beyond > 0 {
			near, far = far, near
		}
		axis = (axis + 1) % 3
		s.visit(near, axis)
		if math.Abs(beyond) > s.reach {
			return
		}
		nodes = far
	}
}

// consider adds the lake to the result if it is among the nearest so far.
func (s *nearestSearch) consider(p *point) {
	x, y, z := s.at[0]-float64(p.at[0]), s.at[1]-float64(p.at[1]), s.at[2]-float64(p.at[2])
	if x*x+y*y+z*z > s.reach*s.reach {
		return
	}
	n := Neighbour{int(p.lake), Metres(s.from, s.lakes[p.lake].Point)}
	if n.Metres > s.within {
		return
	}
	i, _ := slices.BinarySearchFunc(s.found, n, Neighbour.compare)
	if i == s.limit {
		return
	}
	if len(s.found) == s.limit {
		s.found = s.found[:s.limit-1]
	}
	s.found = slices.Insert(s.found, i, n)
	if len(s.found) == s.limit {
		s.reach = chord(s.found[s.limit-1].Metres)
	}
}
