package index

import (
	"bytes"
	"cmp"
	"slices"
	"sort"

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

// Find returns the lakes that match q, at most limit of them. All words of q must match, in any order, each in the name, the id, the
// external id or the region of a lake. Case, accents and punctuation do not matter, and a letter with an umlaut is found both without it and
// written with an e. German states have their English names and their codes too.
//
// First are lakes whose name or id begins with q; then those where each word of q begins a word of the name or id; is a region; begins a word of a
// region; is inside a word of the name or id; is inside one of the region. The word that matches worst counts. If no lake matches at the beginning
// of words, lakes follow where each word of at least five letters may have one typing error. Lakes of one rank are in the order of folded names.
func (n *NameIndex) Find(q string, limit int) []int {
	p := newQuery(q)
	if len(p.words) == 0 || limit <= 0 {
		return []int{}
	}
	hits := n.search(&p, limit, false)
	if len(hits) == 0 || len(hits) < limit && hits[0].rank >= insideWord {
		if slices.ContainsFunc(p.words, word.allowsError) {
			hits = sorted(append(hits, n.search(&p, limit, true)...))
		}
	}
	lakes := make([]int, min(limit, len(hits)))
	for i := range lakes {
		lakes[i] = int(n.lakes[hits[i].entry])
	}
	return lakes
}

// A hit is an entry that matches.
type hit struct {
	rank  rank
	entry int
}

func (h hit) compare(other hit) int {
	return cmp.Or(cmp.Compare(h.rank, other.rank), cmp.Compare(h.entry, other.entry))
}

// sorted returns the hits, the best first, and each once.
func sorted(hits []hit) []hit {
	slices.SortFunc(hits, hit.compare)
	return slices.Compact(hits)
}

// search returns the hits of the query, the best first: at least the limit, if there are so many. If lenient is set, it allows typing errors.
func (n *NameIndex) search(p *query, limit int, lenient bool) []hit {
	for i := range p.words {
		p.words[i].regions = n.regions.ranks(&p.words[i], lenient)
	}
	driver := &p.words[p.driver]
	pass := func(scan func(b *best)) []hit {
		b := best{index: n, query: p, limit: limit, lenient: lenient, worst: ranks - 1}
		scan(&b)
		return slices.Concat(b.found[:]...)
	}
	hits := pass(func(b *best) { b.scanRegions(driver.regions) })
	for i, s := range driver.spellings {
		if lenient && driver.allowsError() {
			for _, text := range nearby(s) {
				hits = append(hits, pass(func(b *best) { b.scan(func() []byte { return text }) })...)
			}
			continue
		}
		hits = append(hits, pass(func(b *best) {
			b.scan(func() []byte {
				switch {
				case b.worst == atStart:
					return p.phrases[min(i, len(p.phrases)-1)]
				case b.worst < insideWord:
					return s
				default:
					return s[1:]
				}
			})
		})...)
	}
	return sorted(hits)
}

// best are the best hits of one pass over the entries. It stops looking for a rank when there are limit hits of that rank or better, since the
// entries come in order.
type best struct {
	index   *NameIndex
	query   *query
	limit   int
	lenient bool
	worst   rank // that is looked for
	found   [ranks][]hit
}

// add adds the entry if it matches, and reports whether no better one can follow.
func (b *best) add(entry int) (enough bool) {
	r := b.query.rank(b.index.at(entry), b.index.regions.of[entry], b.lenient)
	if r > b.worst {
		return false
	}
	b.found[r] = append(b.found[r], hit{r, entry})
	for b.worst > atStart && b.count() >= b.limit {
		b.worst--
	}
	// What matches without a typing error is known when errors are allowed.
	return len(b.found[atStart]) == b.limit || (b.lenient && b.worst < misspelt)
}

// count returns the number of hits of the worst rank that is looked for, and better ones.
func (b *best) count() (n int) {
	for _, hits := range b.found[:b.worst+1] {
		n += len(hits)
	}
	return n
}

// scan looks at the entries that contain a text, which may change from hit to hit.
func (b *best) scan(text func() []byte) {
	all, ends := b.index.text, b.index.ends
	for at := 0; ; {
		i := bytes.Index(all[at:], text())
		if i < 0 {
			return
		}
		entry := sort.SearchInts(ends, at+i+1)
		if b.add(entry) {
			return
		}
		at = ends[entry]
	}
}

// scanRegions looks at the entries in regions of a rank that is looked for.
func (b *best) scanRegions(of []rank) {
	if slices.Min(of) == ranks {
		return
	}
	for entry, region := range b.index.regions.of {
		if of[region] <= b.worst && b.add(entry) {
			return
		}
	}
}
