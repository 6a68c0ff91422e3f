package ingest

import (
	"errors"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// A charset is how the bytes of a file stand for characters.
type charset uint8

const (
	undecided charset = iota // only ASCII so far, which is the same in both
	inUTF8
	inLatin1
)

// decode returns raw in UTF-8. The first text beyond ASCII decides for the whole file; it needs no look ahead, so the
// answer does not depend on how a file is cut into reads. One that contradicts later is an error: taken either way,
// some names would be garbled in silence.
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
		return "", errors.New("is not UTF-8, which the file is up to here: want one encoding throughout")
	case *c == inLatin1 && valid:
		return "", errors.New("is UTF-8, while the file is ISO-8859-1 up to here: want one encoding throughout")
	case *c == inUTF8:
		return raw, nil
	}
	// What calls itself ISO-8859-1 is Windows-1252 (encoding.spec.whatwg.org): equal in all printable characters, with
	// dashes and quotes in the place of control characters that no name has.
	return charmap.Windows1252.NewDecoder().String(raw)
}
