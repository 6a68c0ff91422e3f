package ingest

import (
	"errors"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// A charset is the character encoding of a file.
type charset uint8

const (
	undecided charset = iota // only ASCII so far
	inUTF8
	inLatin1
)

// decode returns raw in UTF-8. The first text with a character that is not ASCII decides for the whole file, so the result
// does not depend on how the file is split into reads. A later text that contradicts is an error: otherwise some names
// would be garbled silently.
func (c *charset) decode(raw string) (string, error) {
	first := 0
	for first < len(raw) && raw[first] < utf8.RuneSelf {
		first++
	}
	if first == len(raw) {
		return raw, nil
	}
	if *c == undecided {
		*c = inUTF8
		if r, size := utf8.DecodeRuneInString(raw[first:]); r == utf8.RuneError && size == 1 {
			*c = inLatin1
		}
	}
	switch valid := utf8.ValidString(raw); {
	case *c == inUTF8 && !valid:
		return "", errors.New("is not UTF-8, but the file before it is: want one encoding in the whole file")
	case *c == inLatin1 && valid:
		return "", errors.New("is UTF-8, but the file before it is ISO-8859-1: want one encoding in the whole file")
	case *c == inUTF8:
		return raw, nil
	}
	// Files declared as ISO-8859-1 are Windows-1252 (encoding.spec.whatwg.org): all printable characters are the same, and it
	// has dashes and quotes instead of control characters, which no name has.
	return charmap.Windows1252.NewDecoder().String(raw)
}
