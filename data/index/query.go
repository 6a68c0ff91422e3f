package index

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"limnomap/data/fold"
)

// A rank says how well an entry matches a query: it is the rank of the word that matches worst. Less is better.
type rank uint8

const (
	atStart      rank = iota // a field of the entry begins with the whole query
	startsWord               // in the entry
	isRegion                 // the whole name or code of the entry's region
	startsRegion             // a word of the region
	insideWord               // of the entry
	insideRegion             // a word of the region
	misspelt                 // with one typing error at the start of a word of the entry or the region
	ranks                    // the number of ranks, and the rank of what does not match
)

// A query is a folded text to search for: words that must all match, in any order.
type query struct {
	phrases [][]byte // the whole query in each spelling, as the beginning of a field
	words   []word
	driver  int // the longest word, by which entries are looked for
}

// A word is one word of a query.
type word struct {
	spellings [][]byte // each after a space; the second one is left out if it is like the first
	regions   []rank   // of each region
}

func newQuery(q string) query {
	var p query
	for how := range fold.Spellings {
		phrase := fold.Append([]byte{fieldStart}, q, how)
		if how > 0 && bytes.Equal(phrase, p.phrases[0]) {
			break
		}
		p.phrases = append(p.phrases, phrase)
		// The spellings differ in letters, not in what separates words.
		for i, text := range bytes.Split(phrase, []byte{wordStart})[1:] {
			spelling := append([]byte{wordStart}, text...)
			switch {
			case how == 0:
				p.words = append(p.words, word{spellings: [][]byte{spelling}})
			case !bytes.Equal(p.words[i].spellings[0], spelling):
				p.words[i].spellings = append(p.words[i].spellings, spelling)
			}
		}
	}
	for i := range p.words {
		if len(p.words[i].spellings[0]) > len(p.words[p.driver].spellings[0]) {
			p.driver = i
		}
	}
	return p
}

// rank returns the rank of an entry with this text in a region. Typing errors count only if lenient is set.
func (p *query) rank(entry []byte, region int32, lenient bool) rank {
	worst := atStart
	for i := range p.words {
		w := &p.words[i]
		worst = max(worst, min(w.in(entry, w.regions[region], lenient), w.regions[region]))
		if worst == ranks {
			return ranks
		}
	}
	if worst == startsWord && slices.ContainsFunc(p.phrases, func(phrase []byte) bool { return bytes.Contains(entry, phrase) }) {
		return atStart
	}
	return worst
}

// in returns the rank of the word in the text of an entry. If that rank is not better than known, it may return any rank that is not better.
func (w *word) in(entry []byte, known rank, lenient bool) rank {
	best := ranks
	lenient = lenient && w.allowsError()
	for _, s := range w.spellings {
		switch {
		case bytes.Contains(entry, s):
			return startsWord
		case known > insideWord && bytes.Contains(entry, s[1:]):
			best = insideWord
		case lenient && best == ranks && known > misspelt && hasMisspelt(entry, s):
			best = misspelt
		}
	}
	return best
}

// inRegion returns the rank of the word in the text of a region.
func (w *word) inRegion(region []byte, lenient bool) rank {
	best := ranks
	lenient = lenient && w.allowsError()
	for _, s := range w.spellings {
		switch {
		case isField(region, append([]byte{fieldStart}, s...)):
			return isRegion
		case bytes.Contains(region, s):
			best = min(best, startsRegion)
		case bytes.Contains(region, s[1:]):
			best = min(best, insideRegion)
		case lenient && hasMisspelt(region, s):
			best = min(best, misspelt)
		}
	}
	return best
}

// minMisspelt is the least number of letters of a word in which a typing error is allowed. In shorter ones an error makes another word.
const minMisspelt = 5

// allowsError reports whether a typing error is allowed in the word: not in ids and numbers.
func (w word) allowsError() bool {
	letters := w.spellings[0][1:]
	return utf8.RuneCount(letters) >= minMisspelt && !bytes.ContainsAny(letters, "0123456789")
}

// hasMisspelt reports whether one of the entry's words begins with the word, which follows a space, but for one typing error.
func hasMisspelt(entry, word []byte) bool {
	for i, c := range entry {
		if c == wordStart && beginsNearly(entry[i+1:], word[1:]) {
			return true
		}
	}
	return false
}

// beginsNearly reports whether text begins with word, or would after one letter of word is left out, added, replaced, or swapped with the next
// one (Damerau, CACM 7, 1964). Words end before a space and the like.
func beginsNearly(text, word []byte) bool {
	i := 0
	for i < len(word) && i < len(text) && text[i] == word[i] {
		i++
	}
	for i > 0 && i < len(word) && !utf8.RuneStart(word[i]) {
		i-- // to the beginning of the letter
	}
	if i == len(word) {
		return true
	}
	_, extra := utf8.DecodeRune(word[i:])
	if bytes.HasPrefix(text[i:], word[i+extra:]) {
		return true
	}
	if i == len(text) || text[i] <= wordStart {
		return false
	}
	_, missing := utf8.DecodeRune(text[i:])
	if bytes.HasPrefix(text[i+missing:], word[i:]) || bytes.HasPrefix(text[i+missing:], word[i+extra:]) {
		return true
	}
	next := word[i+extra:]
	_, swapped := utf8.DecodeRune(next)
	return len(next) > 0 && bytes.HasPrefix(text[i:], next[:swapped]) && bytes.HasPrefix(text[i+swapped:], word[i:i+extra]) &&
		bytes.HasPrefix(text[i+swapped+extra:], next[swapped:])
}

// nearby returns texts to look for. Each entry in which hasMisspelt finds the word contains at least one of them: the error is in one half of the
// word, so that the entry has the other half unchanged, or the error swaps the letters around the middle.
func nearby(word []byte) [][]byte {
	middle := len(word) / 2
	for !utf8.RuneStart(word[middle]) {
		middle--
	}
	_, before := utf8.DecodeLastRune(word[:middle])
	_, after := utf8.DecodeRune(word[middle:])
	swapped := slices.Concat(word[:middle-before], word[middle:middle+after], word[middle-before:middle], word[middle+after:])
	return [][]byte{word[:middle], word[middle:], swapped}
}
