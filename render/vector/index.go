package vector

import (
	"cmp"
	"slices"

	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/render"
)

// An Index is the lakes of a snapshot in spatial order. All views of the snapshot share it. It is immutable.
type Index struct {
	codes []uint64 // Morton codes, ascending
	lakes []int32  // by site, that is index of codes: the index of its lake in the view
	// byArea are the sites in descending order of area, equal ones in the order of the lakes; nil if all fit into one tile.
	byArea []int32
}

// NewIndex returns the index of the lakes that are on the map.
func NewIndex(lakes []data.Lake) *Index {
	x := new(Index)
	type site struct {
		code uint64
		lake int32
	}
	sites := make([]site, 0, len(lakes))
	for i := range lakes {
		if code, ok := render.Project(lakes[i].Point); ok {
			sites = append(sites, site{code, int32(i)})
		}
	}
	slices.SortFunc(sites, func(a, b site) int {
		return cmp.Or(cmp.Compare(a.code, b.code), cmp.Compare(a.lake, b.lake))
	})
	x.codes, x.lakes = make([]uint64, len(sites)), make([]int32, len(sites))
	for i, s := range sites {
		x.codes[i], x.lakes[i] = s.code, s.lake
	}
	if len(sites) > MaxFeatures {
		x.byArea = x.sortByArea(lakes)
	}
	return x
}

// sortByArea returns byArea. It sorts copies, which are adjacent in memory: for a million lakes, that takes a quarter of the
// time.
func (x *Index) sortByArea(lakes []data.Lake) []int32 {
	type surface struct {
		area       float64
		lake, site int32
	}
	surfaces := make([]surface, len(x.lakes))
	for site, lake := range x.lakes {
		surfaces[site] = surface{lakes[lake].AreaKM2, lake, int32(site)}
	}
	slices.SortFunc(surfaces, func(a, b surface) int {
		return cmp.Or(cmp.Compare(b.area, a.area), cmp.Compare(a.lake, b.lake))
	})
	sorted := make([]int32, len(surfaces))
	for i, s := range surfaces {
		sorted[i] = s.site
	}
	return sorted
}

// sequence returns 0 to n-1.
func sequence(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

// byRisk are the risks in the order in which lakes with equal areas are kept. A lake that was never measured may be worse
// than one with a low risk.
var byRisk = [...]data.Risk{data.RiskHigh, data.RiskMedium, data.RiskUnknown, data.RiskLow}

// ranked returns the sites in the order in which their lakes are kept where there are too many: first those with a closure, however
// small they are.
func (x *Index) ranked(v *snapshot.View) []int32 {
	isClosed := func(site int32) bool { return v.Advisories.Kind(int(x.lakes[site])) == data.Closure }
	var closed []int32
	for _, site := range x.byArea {
		if isClosed(site) {
			closed = append(closed, site)
		}
	}
	others := x.byArea
	if closed != nil {
		others = slices.DeleteFunc(slices.Clone(x.byArea), isClosed)
	}
	ranked := x.appendRanked(make([]int32, 0, len(x.byArea)), v, closed)
	return x.appendRanked(ranked, v, others)
}

// appendRanked appends sites, which are in the order of byArea, by area and risk.
func (x *Index) appendRanked(ranked []int32, v *snapshot.View, sites []int32) []int32 {
	for rest := sites; len(rest) > 0; {
		area := v.Lakes[x.lakes[rest[0]]].AreaKM2
		n := 1
		for n < len(rest) && v.Lakes[x.lakes[rest[n]]].AreaKM2 == area {
			n++
		}
		if n == 1 {
			ranked = append(ranked, rest[0])
		} else {
			for _, risk := range byRisk {
				for _, site := range rest[:n] {
					if v.States[x.lakes[site]].Risk == risk {
						ranked = append(ranked, site)
					}
				}
			}
		}
		rest = rest[n:]
	}
	return ranked
}
