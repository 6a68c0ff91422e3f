package render

import (
	"sort"

	"limnomap/colormap"
	"limnomap/data"
)

// classLimits are the smallest values of the classes after the first. They are the same for all colour maps with the same limits.
type classLimits []data.Chlorophyll

func newClassLimits(m *colormap.Map) (limits classLimits) {
	classes := m.Legend().Classes
	first := 0
	for _, c := range classes[:len(classes)-1] {
		first += len(c.Colors)
		limits = append(limits, data.Chlorophyll(sort.Search(int(data.MaxChlorophyll)+1, func(c int) bool {
			return m.Index(data.Chlorophyll(c).Float()) >= first
		})))
	}
	return limits
}

// of returns the class of c, 0 without a value.
func (l classLimits) of(c data.Chlorophyll) int {
	n := 0
	for n < len(l) && c >= l[n] {
		n++
	}
	return n
}
