package index

import (
	"bytes"
	"cmp"
	"slices"
	"sort"

	"limnomap/data"
)

// Names tell which lakes bear a name. Their text has an entry for each lake, in the order of folded names and, where those
// are equal, of lakes. An entry is a start, and a field for each folded spelling that differs from those before: of
// the name, the id, the external id. A field is a line break and its words, each behind a space.
type Names struct {
	text  []byte
	ends  []int   // of the entries in text
	lakes []int32 // whose entries they are
}

const (
	entryStart = 0
	fieldStart = '\n'
)

// NewNames returns the names of lakes.
func NewNames(lakes []data.Lake) *Names {
	n := &Names{ends: make([]int, 0, len(lakes)), lakes: byFoldedName(lakes)}
	var entry []byte
	for _, lake := range n.lakes {
		entry = appendEntry(entry[:0], &lakes[lake])
		n.text = append(n.text, entry...)
		n.ends = append(n.ends, len(n.text))
	}
	n.text = bytes.Clone(n.text) // without the room that it grew into
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

// appendEntry appends what a lake is found by.
func appendEntry(b []byte, lake *data.Lake) []byte {
	b = append(b, entryStart)
	first := len(b)
	fields := []string{lake.Name, string(lake.ID)}
	if lake.ExternalID != string(lake.ID) {
		fields = append(fields, lake.ExternalID)
	}
	for _, s := range fields {
		for how := range spellings {
			if how > bare && isASCII(s) {
				break // one spelling is enough
			}
			start := len(b)
			b = appendFolded(append(b, fieldStart), s, how)
			if len(b) == start+1 || isField(b[first:start], b[start:]) {
				b = b[:start] // nothing to find, or to be found already
			}
		}
	}
	return b
}

// isField reports whether one of the fields is that one.
func isField(fields, field []byte) bool {
	for rest := fields; ; {
		i := bytes.Index(rest, field)
		if i < 0 {
			return false
		}
		rest = rest[i+len(field):]
		if len(rest) == 0 || rest[0] == fieldStart {
			return true
		}
	}
}

// Searchable reports whether there is anything in q to search for: a letter or a digit.
func Searchable(q string) bool { return len(appendFolded(nil, q, bare)) > 0 }

// Find returns the lakes whose name, id or external id holds q, at most limit of them: first those where it stands at the
// start, then those where a word begins with it, then those where it stands inside a word; among these by folded name,
// then in their own order. Case, accents and punctuation do not matter, and a letter with an umlaut is found both
// without it and spelt with an e.
func (n *Names) Find(q string, limit int) []int {
	var hits []hit
	var before []byte
	for how := range spellings {
		wanted := appendFolded(nil, q, how)
		if limit <= 0 || len(wanted) == 0 || bytes.Equal(wanted, before) {
			continue
		}
		hits = append(hits, n.scan(wanted, limit)...)
		before = wanted
	}
	slices.SortFunc(hits, hit.compare)
	lakes := make([]int, 0, min(limit, len(hits)))
	for _, h := range hits {
		if lake := int(n.lakes[h.entry]); len(lakes) < limit && !slices.Contains(lakes, lake) {
			lakes = append(lakes, lake)
		}
	}
	return lakes
}

// A rank is where in an entry a text stands: the less, the better.
type rank uint8

const (
	atStart    rank = iota // of a field
	wordStart              // of another word
	insideWord             //
	ranks                  // how many there are
)

// A hit is an entry that holds what is searched for.
type hit struct {
	rank  rank
	entry int
}

func (h hit) compare(other hit) int {
	return cmp.Or(cmp.Compare(h.rank, other.rank), cmp.Compare(h.entry, other.entry))
}

// scan returns the best hits for wanted, words each behind a space, in one reading of the text that ends as soon as none
// can be better: once there are hits enough of a rank and the better ones, that rank is not looked for any more.
func (n *Names) scan(wanted []byte, limit int) []hit {
	patterns := [ranks][]byte{
		atStart:    append([]byte{fieldStart}, wanted...),
		wordStart:  wanted,
		insideWord: wanted[1:],
	}
	var found [ranks][]hit
	worst := insideWord
	for at := 0; ; {
		i := bytes.Index(n.text[at:], patterns[worst])
		if i < 0 {
			break
		}
		start, end := n.entryAround(at + i)
		r := best(n.text[start:end], patterns[:worst+1])
		entry := sort.SearchInts(n.ends, end)
		found[r] = append(found[r], hit{r, entry})
		for worst > atStart && count(found[:worst+1]) >= limit {
			worst--
		}
		if len(found[atStart]) == limit {
			break
		}
		at = end
	}
	return slices.Concat(found[:]...)
}

// count returns how many hits there are.
func count(found [][]hit) (n int) {
	for _, hits := range found {
		n += len(hits)
	}
	return n
}

// entryAround returns where the entry begins and ends that holds the byte at i.
func (n *Names) entryAround(i int) (start, end int) {
	start = bytes.LastIndexByte(n.text[:i+1], entryStart)
	end = len(n.text)
	if k := bytes.IndexByte(n.text[i+1:], entryStart); k >= 0 {
		end = i + 1 + k
	}
	return start, end
}

// best returns the rank of the first of patterns that the entry holds. It holds the last.
func best(entry []byte, patterns [][]byte) rank {
	for r, pattern := range patterns {
		if bytes.Contains(entry, pattern) {
			return rank(r)
		}
	}
	return rank(len(patterns) - 1)
}
