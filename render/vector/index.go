package vector

import (
	"cmp"
	"slices"

	"limnomap/data"
	"limnomap/render"
)

// An Index is the lakes of a snapshot in spatial order. All of the snapshot's views share it. It is immutable.
type Index struct {
	of    *data.Lake // the first of the lakes, by which the list of them is known; nil for none
	codes []uint64   // Morton codes, ascending
	lakes []int32    // by place in codes: which of the view's lakes lies there
	// byArea are the places in descending order of area, equals in the order of the lakes; nil if all have room in one tile.
	byArea []int32
}

// NewIndex returns the index of those lakes that the map holds.
func NewIndex(lakes []data.Lake) *Index {
	x := &Index{of: first(lakes)}
	type place struct {
		code uint64
		lake int32
	}
	places := make([]place, 0, len(lakes))
	for i := range lakes {
		if code, ok := render.Project(lakes[i].Point); ok {
			places = append(places, place{code, int32(i)})
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.code, b.code), cmp.Compare(a.lake, b.lake))
	})
	x.codes, x.lakes = make([]uint64, len(places)), make([]int32, len(places))
	for i, p := range places {
		x.codes[i], x.lakes[i] = p.code, p.lake
	}
	if len(places) > MaxFeatures {
		x.byArea = x.sortByArea(lakes)
	}
	return x
}

// sortByArea returns what byArea is to hold. It sorts copies, which lie side by side: of a million lakes, that takes a
// quarter of the time.
func (x *Index) sortByArea(lakes []data.Lake) []int32 {
	type surface struct {
		area        float64
		lake, place int32
	}
	surfaces := make([]surface, len(x.lakes))
	for place, lake := range x.lakes {
		surfaces[place] = surface{lakes[lake].AreaKM2, lake, int32(place)}
	}
	slices.SortFunc(surfaces, func(a, b surface) int {
		return cmp.Or(cmp.Compare(b.area, a.area), cmp.Compare(a.lake, b.lake))
	})
	sorted := make([]int32, len(surfaces))
	for i, s := range surfaces {
		sorted[i] = s.place
	}
	return sorted
}

// Of reports whether x is the index of the lakes of v.
func (x *Index) Of(v *data.View) bool { return x.of != nil && x.of == first(v.Lakes) }

func first(lakes []data.Lake) *data.Lake {
	if len(lakes) == 0 {
		return nil
	}
	return &lakes[0]
}

// sequence returns 0 to n-1.
func sequence(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

// byRisk are the risks in the order in which lakes of one area are kept. What was never measured may be worse than what
// was found to be low.
var byRisk = [...]data.Risk{data.RiskHigh, data.RiskMedium, data.RiskUnknown, data.RiskLow}

// ranked returns the places in the order in which their lakes are kept where there are too many.
func (x *Index) ranked(v *data.View) []int32 {
	ranked := make([]int32, 0, len(x.byArea))
	for rest := x.byArea; len(rest) > 0; {
		area := v.Lakes[x.lakes[rest[0]]].AreaKM2
		n := 1
		for n < len(rest) && v.Lakes[x.lakes[rest[n]]].AreaKM2 == area {
			n++
		}
		if n == 1 {
			ranked = append(ranked, rest[0])
		} else {
			for _, risk := range byRisk {
				for _, place := range rest[:n] {
					if v.States[x.lakes[place]].Risk == risk {
						ranked = append(ranked, place)
					}
				}
			}
		}
		rest = rest[n:]
	}
	return ranked
}
