package index

import (
	"bytes"
	"cmp"
	"slices"

	"limnomap/data"
)

// Names tell which lakes bear a name, or lie in a region of that name. They have an entry for each lake, in the order of
// folded names and, where those are equal, of lakes: its name, its id, its external id.
type Names struct {
	entries
	lakes   []int32 // whose entries they are
	regions regions
}

// NewNames returns the names of lakes.
func NewNames(lakes []data.Lake) *Names {
	n := &Names{lakes: byFoldedName(lakes)}
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

// byFoldedName returns the order of lakes by folded name.
func byFoldedName(lakes []data.Lake) []int32 {
	var text []byte
	starts := make([]int, 1, len(lakes)+1)
	order := make([]int32, len(lakes))
	for i := range lakes {
		text = appendFolded(text, lakes[i].Name, bare)
		starts = append(starts, len(text))
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(bytes.Compare(text[starts[a]:starts[a+1]], text[starts[b]:starts[b+1]]), cmp.Compare(a, b))
	})
	return order
}

// ByName returns the lakes in the order of their folded names and, where those are equal, in their own. The slice is shared
// and must not be changed.
func (n *Names) ByName() []int32 { return n.lakes }

// Searchable reports whether there is anything in q to search for: a letter or a digit.
func Searchable(q string) bool { return len(appendFolded(nil, q, bare)) > 0 }

// Find returns the lakes whose name, id or external id holds q, at most limit of them: first those where it stands at the
// start, then those where a word begins with it, then those where it stands inside a word; among these by folded name,
// then in their own order. Behind them come the lakes whose region holds q, the regions ranked alike and by name, the
// lakes of each by name. Case, accents and punctuation do not matter, and a letter with an umlaut is found both without
// it and spelt with an e.
func (n *Names) Find(q string, limit int) []int {
	lakes := make([]int, 0, max(0, min(limit, len(n.lakes))))
	for _, entry := range n.find(q, limit) {
		lakes = append(lakes, int(n.lakes[entry]))
	}
	if len(lakes) == limit {
		return lakes
	}
	return n.regions.appendLakes(lakes, q, limit)
}
