package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// A byteEncoding is a character encoding in which each byte is one character.
type byteEncoding struct {
	name  string
	bytes *charmap.Charmap
}

// encodings are the single-byte encodings of tables. Files declared as ISO-8859-1 are windows-1252 (encoding.spec.whatwg.org): all
// printable characters are the same, and it has dashes and quotes instead of control characters, which no name has. Of two that give
// the same text the first one is named.
var encodings = []*byteEncoding{
	{"windows-1252", charmap.Windows1252},
	{"windows-1250", charmap.Windows1250},
	{"iso-8859-2", charmap.ISO8859_2},
	{"windows-1251", charmap.Windows1251},
	{"iso-8859-15", charmap.ISO8859_15},
	{"koi8-r", charmap.KOI8R},
	{"koi8-u", charmap.KOI8U},
	{"windows-1253", charmap.Windows1253},
	{"iso-8859-7", charmap.ISO8859_7},
	{"windows-1254", charmap.Windows1254},
	{"windows-1257", charmap.Windows1257},
	{"iso-8859-13", charmap.ISO8859_13},
	{"iso-8859-5", charmap.ISO8859_5},
	// Those of MS-DOS and of old Macs, in which only old programs write.
	{"cp850", charmap.CodePage850},
	{"cp852", charmap.CodePage852},
	{"cp866", charmap.CodePage866},
	{"macintosh", charmap.Macintosh},
	{"x-mac-cyrillic", charmap.MacintoshCyrillic},
	{"cp437", charmap.CodePage437},
	{"cp855", charmap.CodePage855},
	{"iso-8859-1", charmap.Windows1252},
	{"iso-8859-3", charmap.ISO8859_3},
	{"iso-8859-4", charmap.ISO8859_4},
	{"iso-8859-9", charmap.ISO8859_9},
	{"iso-8859-10", charmap.ISO8859_10},
	{"iso-8859-16", charmap.ISO8859_16},
}

// The first commonEncodings of encodings are common, and the first detectedEncodings may be found out; the others have to be named.
const (
	commonEncodings   = 5
	detectedEncodings = 18
)

// utf8Name is the value of Format.Encoding for UTF-8.
const utf8Name = "utf-8"

// encodingNamed returns the encoding of a name, as programs write it: windows-1250, CP1250 and win1250 are one. It is nil for UTF-8.
func encodingNamed(name string) (*byteEncoding, error) {
	plain := func(s string) string {
		s = strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, strings.ToLower(s))
		for _, prefix := range []string{"windows", "win", "ibm", "cp"} {
			if rest, ok := strings.CutPrefix(s, prefix); ok && rest != "" {
				return rest
			}
		}
		return s
	}
	key := plain(name)
	switch key {
	case "utf8", "utf8bom", "utf8sig":
		return nil, nil
	case "latin1":
		key = "iso88591"
	case "latin2":
		key = "iso88592"
	case "latin9":
		key = "iso885915"
	case "mac", "macroman":
		key = "macintosh"
	}
	if i := slices.IndexFunc(encodings, func(e *byteEncoding) bool { return plain(e.name) == key }); i >= 0 {
		return encodings[i], nil
	}
	names := []string{utf8Name}
	for _, e := range encodings {
		names = append(names, e.name)
	}
	return nil, fmt.Errorf("encoding %.40q: want one of %s", name, strings.Join(names, ", "))
}

// decode returns raw in UTF-8.
func (e *byteEncoding) decode(raw string) string {
	b := make([]byte, 0, len(raw)+len(raw)/2)
	for i := range len(raw) {
		b = utf8.AppendRune(b, e.bytes.DecodeByte(raw[i]))
	}
	return string(b)
}

// A charset is the character encoding of a file.
type charset struct {
	inUTF8 bool
	given  bool          // whether Options say so
	single *byteEncoding // if the file is in a single-byte encoding
	// detect finds out the single-byte encoding of the file from its whole content.
	detect func() (*byteEncoding, error)
	failed error // of detect, which ends the file
	used   bool  // whether a text was decoded from single
}

// decode returns raw in UTF-8. The first text with a character that is not ASCII decides for the whole file whether it is UTF-8, so the result
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
	if !c.inUTF8 && c.single == nil {
		if r, size := utf8.DecodeRuneInString(raw[first:]); r != utf8.RuneError || size > 1 {
			c.inUTF8 = true
		} else if c.detect == nil {
			return "", errors.New("is not UTF-8")
		} else if c.single, c.failed = c.detect(); c.failed != nil {
			return "", c.failed
		}
	}
	valid := utf8.ValidString(raw)
	switch {
	case c.inUTF8 && !valid:
		return "", errors.New("is not UTF-8, but the file before it is: want one encoding in the whole file, or name it with --encoding")
	case c.inUTF8:
		return raw, c.checkText(raw)
	case valid && !strings.ContainsFunc(raw, func(c rune) bool { return c >= utf8.RuneSelf && isOdd(c) }): // others are UTF-8 by chance
		return "", fmt.Errorf("is UTF-8, but the file before it is %s: want one encoding in the whole file", c.single.name)
	}
	c.used = true
	s := c.single.decode(raw)
	if strings.ContainsRune(s, utf8.RuneError) {
		return "", fmt.Errorf("%.80q has a byte that is no character of %s: name the encoding of the file with --encoding", s, c.single.name)
	}
	return s, nil
}

// decodeHeader returns the beginning of a file with its first line in UTF-8, in which the names of columns are looked for.
func (c *charset) decodeHeader(start []byte) ([]byte, error) {
	end := bytes.IndexByte(start, '\n') + 1
	if end == 0 {
		end = len(start)
	}
	header, err := c.decode(string(start[:end]))
	if err != nil {
		return start, c.failed // another error is one of a name, and is found again
	}
	return append([]byte(header), start[end:]...), nil
}

// checkText returns an error if a text in UTF-8 was damaged by a wrong encoding before it was written.
func (c *charset) checkText(s string) error {
	var before rune
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			before = rune(s[i])
			i++
			continue
		}
		end := i
		for end < len(s) && s[end] >= utf8.RuneSelf {
			end++
		}
		if strings.ContainsRune(s[i:end], utf8.RuneError) {
			return fmt.Errorf("%.80q has the character U+FFFD, with which a program replaced one that it could not read: want the text as it was before", s)
		}
		if once := encodedTwice(s[i:end], before); once != "" && !c.given {
			return fmt.Errorf("%.80q is encoded twice, with %.20q for %.20q: want UTF-8 that is encoded once (--encoding utf-8 takes it as it is)", s, s[i:end], once)
		}
		i = end
	}
	return nil
}

// twiceBy are the encodings in which programs most often read UTF-8 by mistake. Only Latin letters are looked for behind the box drawings of
// MS-DOS and the symbols of Macs.
var twiceBy = []struct {
	*charmap.Charmap
	latin bool
}{{charmap.Windows1252, false}, {charmap.Windows1250, false}, {charmap.Windows1251, false}, {charmap.ISO8859_2, false}, {charmap.CodePage850, true}, {charmap.CodePage437, true}, {charmap.Macintosh, true}}

// encodedTwice returns s, a part of a word without ASCII, without its second encoding, or "" if it has none. A text is encoded twice if a program reads its
// UTF-8 in a single-byte encoding and writes it as UTF-8 again: MÃ¼ritz.
func encodedTwice(s string, before rune) string {
	if utf8.RuneCountInString(s) < 2 {
		return ""
	}
	// A dash or a quote after Ä and Å is more likely one, unless the capital letter is inside a word: FertÅ‘.
	if first, size := utf8.DecodeRuneInString(s); (first == 'Ä' || first == 'Å') && !unicode.IsLower(before) {
		if second, _ := utf8.DecodeRuneInString(s[size:]); unicode.IsPunct(second) {
			return ""
		}
	}
	for _, by := range twiceBy {
		var raw []byte
		for _, r := range s {
			b, ok := by.EncodeRune(r)
			switch {
			case ok:
				raw = append(raw, b)
			case r >= 0x80 && r < 0xa0: // C1 controls are the bytes that windows-1252 lacks
				raw = append(raw, byte(r))
			}
		}
		once := string(raw)
		if len(raw) == utf8.RuneCountInString(s) && utf8.Valid(raw) && !strings.ContainsFunc(once, func(c rune) bool { return isOdd(c) || by.latin && c >= 0x250 && c < 0x2000 }) {
			return once
		}
	}
	return ""
}

// isOdd reports whether a character is neither a letter of one of the languages nor a usual symbol.
func isOdd(c rune) bool {
	switch scriptOf(c) {
	case latin:
		return !strings.ContainsRune(latinLetters, unicode.ToLower(c)) && !strings.ContainsRune("\u00a0§«»°²³µ·ºª´", c)
	case cyrillic:
		return c > 0x45f && c != 'Ґ' && c != 'ґ'
	case greek:
		return c < 0x384 || c > 0x3ce
	}
	return c < 0x2010 || c > 0x2122
}
