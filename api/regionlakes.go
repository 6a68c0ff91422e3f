package api

import (
	"strings"

	"limnomap/api/params"
	"limnomap/data"
)

// maxScannedLakes bounds the lakes whose values in memory one answer goes through, which takes some seconds.
const maxScannedLakes = 100_000

// regionLakes has the lakes of each region, in four bytes a lake.
type regionLakes struct {
	members map[string][]int32
	names   map[string]string // the name of a region by its lower case; of several the one of the first lake
}

func newRegionLakes(lakes []data.Lake) *regionLakes {
	counts := make(map[string]int)
	for i := range lakes {
		counts[lakes[i].Region]++
	}
	r := &regionLakes{members: make(map[string][]int32, len(counts)), names: make(map[string]string, len(counts))}
	for i := range lakes {
		name := lakes[i].Region
		if r.members[name] == nil {
			r.members[name] = make([]int32, 0, counts[name])
			if lower := strings.ToLower(name); r.names[lower] == "" {
				r.names[lower] = name
			}
		}
		r.members[name] = append(r.members[name], int32(i))
	}
	return r
}

// find returns the name of a region as lakes have it, from one in any case, and its lakes; none if there is no such region.
func (r *regionLakes) find(asked string) (name string, lakes []int32) {
	name = asked
	if r.members[name] == nil {
		name = r.names[strings.ToLower(name)]
	}
	if name == "" { // lakes without a region are in none
		return "", nil
	}
	return name, r.members[name]
}

// A regionFilter is the region that a query names.
type regionFilter struct {
	name  string
	given bool // otherwise all lakes
}

// lakesOf returns the region of a query and its lakes, or all lakes. It refuses too many.
func (p *published) lakesOf(query *params.Params) (f regionFilter, lakes []int32) {
	f.name, f.given = query.Text("region")
	n := len(p.snap.Lakes)
	if f.given {
		lakes = p.lookup.regions.members[f.name]
		n = len(lakes)
	}
	switch {
	case n > maxScannedLakes:
		query.Refuse("region", "there are %d lakes; want a region with at most %d", n, maxScannedLakes)
	case !f.given:
		lakes = make([]int32, n)
		for i := range lakes {
			lakes[i] = int32(i)
		}
	}
	return f, lakes
}
