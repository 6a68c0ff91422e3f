package index

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
)

// Entries are texts to be searched, folded into one. An entry is a start, and a field for each folded spelling of its
// texts that differs from those before. A field is a line break and its words, each behind a space.
type entries struct {
	text []byte
	ends []int // of the entries in text
}

const (
	entryStart = 0
	fieldStart = '\n'
)

// add adds an entry that is found by any of the texts.
func (e *entries) add(texts ...string) {
	e.text = append(e.text, entryStart)
	first := len(e.text)
	for _, s := range texts {
		e.text = appendFields(e.text, first, s)
	}
	e.ends = append(e.ends, len(e.text))
}

// appendFields appends the fields of s to the entry whose fields begin at first.
func appendFields(b []byte, first int, s string) []byte {
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

// clip gives back the room that the text grew into.
func (e *entries) clip() { e.text = bytes.Clone(e.text) }

// find returns the entries that hold q in one of its spellings, the best first, at most limit of them.
func (e *entries) find(q string, limit int) []int {
	var hits []hit
	var before []byte
	for how := range spellings {
		wanted := appendFolded(nil, q, how)
		if limit <= 0 || len(wanted) == 0 || bytes.Equal(wanted, before) {
			continue
		}
		hits = append(hits, e.scan(wanted, limit)...)
		before = wanted
	}
	slices.SortFunc(hits, hit.compare)
	found := make([]int, 0, min(max(limit, 0), len(hits)))
	for _, h := range hits {
		if len(found) < limit && !slices.Contains(found, h.entry) {
			found = append(found, h.entry)
		}
	}
	return found
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
func (e *entries) scan(wanted []byte, limit int) []hit {
	patterns := [ranks][]byte{
		atStart:    append([]byte{fieldStart}, wanted...),
		wordStart:  wanted,
		insideWord: wanted[1:],
	}
	var found [ranks][]hit
	worst := insideWord
	for at := 0; ; {
		i := bytes.Index(e.text[at:], patterns[worst])
		if i < 0 {
			break
		}
		start, end := e.entryAround(at + i)
		r := best(e.text[start:end], patterns[:worst+1])
		entry := sort.SearchInts(e.ends, end)
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
func (e *entries) entryAround(i int) (start, end int) {
	start = bytes.LastIndexByte(e.text[:i+1], entryStart)
	end = len(e.text)
	if k := bytes.IndexByte(e.text[i+1:], entryStart); k >= 0 {
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
