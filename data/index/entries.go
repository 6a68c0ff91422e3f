package index

import (
	"bytes"
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
	wordStart  = ' '
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

// at returns the text of an entry.
func (e *entries) at(entry int) []byte {
	start := 0
	if entry > 0 {
		start = e.ends[entry-1]
	}
	return e.text[start:e.ends[entry]]
}
