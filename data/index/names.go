package index

import (
	"bytes"
	"cmp"
	"slices"

	"limnomap/data"
	"limnomap/data/fold"
)

// A NameIndex finds lakes by their name, id or region. It has an entry for each lake with its name, id and external id, in the
// order of folded names and, where those are equal, of lakes.
type NameIndex struct {
	entries
	lakes   []int32 // the lake of each entry
	regions regions
}

// NewNameIndex returns an index of lakes.
func NewNameIndex(lakes []data.Lake) *NameIndex {
	n := &NameIndex{lakes: byFoldedName(lakes)}
	n.ends = make([]int, 0, len(lakes))
	for _, lake := range n.lakes {
		l := &lakes[lake]
		if l.ExternalID == string(l.ID) {
			n.add(l.Name, string(l.ID))
		} else {
			n.add(l.Name, string(l.ID), l.ExternalID)
		}
	}
	n.clip()
	n.regions = regionsOf(lakes, n.lakes)
	return n
}

// byFoldedName returns the lakes in the order of folded names.
func byFoldedName(lakes []data.Lake) []int32 {
	var text []byte
	starts := make([]int, 1, len(lakes)+1)
	order := make([]int32, len(lakes))
	for i := range lakes {
		text = fold.Append(text, lakes[i].Name, fold.Bare)
		starts = append(starts, len(text))
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(bytes.Compare(text[starts[a]:starts[a+1]], text[starts[b]:starts[b+1]]), cmp.Compare(a, b))
	})
	return order
}

// ByName returns the lakes in the order of folded names and, where those are equal, in their own order. The slice is shared
// and must not be changed.
func (n *NameIndex) ByName() []int32 { return n.lakes }

// Searchable reports whether q contains a letter or a digit, so that it can be searched for.
func Searchable(q string) bool { return len(fold.Append(nil, q, fold.Bare)) > 0 }

// Find returns the lakes whose name, id or external id contains q, at most limit of them. First are those that begin with q,
// then those with a word that begins with q, then those with q inside a word; each group in the order of folded names, then
// of lakes. After them are the lakes whose region contains q, with the regions in the same ranking, and the lakes of each
// region in the order of names. Case, accents and punctuation do not matter, and a letter with an umlaut is found both
// without it and written with an e.
func (n *NameIndex) Find(q string, limit int) []int {
	lakes := make([]int, 0, max(0, min(limit, len(n.lakes))))
	for _, entry := range n.find(q, limit) {
		lakes = append(lakes, int(n.lakes[entry]))
	}
	if len(lakes) == limit {
		return lakes
	}
	return n.regions.appendLakes(lakes, q, limit)
}
