package index

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"unicode/utf8"

	"limnomap/data/fold"
)

// entries are texts to search, folded and joined into one text. An entry is entryStart and its fields: one for each folded
// spelling of its texts that differs from the fields before. A field is fieldStart and its words, each after a space.
type entries struct {
	text []byte
	ends []int // of each entry in text
}

const (
	entryStart = 0
	fieldStart = '\n'
)

// add adds an entry that each of the texts finds.
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
	for how := range fold.Spellings {
		if how > fold.Bare && len(s) == utf8.RuneCountInString(s) {
			break // all spellings of ASCII are the same, and of invalid UTF-8 too
		}
		start := len(b)
		b = fold.Append(append(b, fieldStart), s, how)
		if len(b) == start+1 || isField(b[first:start], b[start:]) {
			b = b[:start] // empty, or the same as a field before
		}
	}
	return b
}

// isField reports whether field is one of fields.
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

// clip frees unused capacity.
func (e *entries) clip() { e.text = bytes.Clone(e.text) }

// find returns the entries that contain q in one of its spellings, the best first, at most limit of them.
func (e *entries) find(q string, limit int) []int {
	var hits []hit
	var before []byte
	for how := range fold.Spellings {
		wanted := fold.Append(nil, q, how)
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

// A rank says where in an entry the text was found. Less is better.
type rank uint8

const (
	atStart    rank = iota // of a field
	wordStart              // of another word
	insideWord             //
	ranks                  // the number of ranks
)

// A hit is an entry that contains the text.
type hit struct {
	rank  rank
	entry int
}

func (h hit) compare(other hit) int {
	return cmp.Or(cmp.Compare(h.rank, other.rank), cmp.Compare(h.entry, other.entry))
}

// scan returns the best hits for wanted, words that each follow a space, in one pass over the text. It stops looking for a
// rank when there are limit hits of that rank or better, and ends when there are limit hits of the best rank.
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

// count returns the number of hits.
func count(found [][]hit) (n int) {
	for _, hits := range found {
		n += len(hits)
	}
	return n
}

// entryAround returns where the entry that contains byte i begins and ends.
func (e *entries) entryAround(i int) (start, end int) {
	start = bytes.LastIndexByte(e.text[:i+1], entryStart)
	end = len(e.text)
	if k := bytes.IndexByte(e.text[i+1:], entryStart); k >= 0 {
		end = i + 1 + k
	}
	return start, end
}

// best returns the rank of the first of patterns that the entry contains. The entry contains the last one.
func best(entry []byte, patterns [][]byte) rank {
	for r, pattern := range patterns {
		if bytes.Contains(entry, pattern) {
			return rank(r)
		}
	}
	return rank(len(patterns) - 1)
}
