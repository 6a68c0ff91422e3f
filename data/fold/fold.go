// Package fold reduces names to a plain form, by which they are searched and from which ids are made: lower case, without
// accents and punctuation.
package fold

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A Spelling says how letters with umlauts and the like are written.
type Spelling uint8

const (
	Bare      Spelling = iota // without their marks: Müggelsee is muggelsee
	Spelt                     // as on a keyboard without them: Müggelsee is mueggelsee
	Spellings                 // the number of spellings
)

// letters are the Latin letters that Unicode does not decompose into a letter and marks (so golang.org/x/text cannot
// fold them), with their usual spelling in ASCII; and the Greek final sigma.
var letters = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ħ': "h", 'ŧ': "t", 'ŋ': "n",
	'ı': "i", 'ĸ': "k", 'ς': "σ",
}

// speltLetters are the letters that German, Danish, Norwegian and Swedish write as two if they are not available.
var speltLetters = map[rune]string{'ä': "ae", 'ö': "oe", 'ü': "ue", 'ø': "oe", 'å': "aa"}

// Append appends the words of s in lower case, without accents, each after a space. A word consists of letters, digits and
// marks that are not accents; everything else separates words. Texts that differ only in accents, case, width or
// punctuation have the same result (by NFKD, Unicode Standard Annex 15).
func Append(b []byte, s string, how Spelling) []byte {
	f := folder{out: b, how: how}
	if !norm.NFKC.IsNormalString(s) {
		s = norm.NFKC.String(s)
	}
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			f.ascii(s[i])
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		f.composed(r, s[i:i+size])
		i += size
	}
	return f.out
}

// A folder folds a text rune by rune.
type folder struct {
	out    []byte
	how    Spelling
	inWord bool
}

func (f *folder) ascii(c byte) {
	switch {
	case 'A' <= c && c <= 'Z':
		c += 'a' - 'A'
	case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
	default:
		f.inWord = false
		return
	}
	f.beginWord()
	f.out = append(f.out, c)
}

// beginWord begins a word, unless one has begun.
func (f *folder) beginWord() {
	if !f.inWord {
		f.out = append(f.out, ' ')
		f.inWord = true
	}
}

// composed folds r, a rune of a text in NFKC, which is encoded as written.
func (f *folder) composed(r rune, written string) {
	r = unicode.ToLower(r)
	if two, ok := speltLetters[r]; ok && f.how == Spelt {
		f.beginWord()
		f.out = append(f.out, two...)
		return
	}
	parts := norm.NFKD.PropertiesString(written).Decomposition()
	if parts == nil { // Hangul syllables too: they stay as they are
		f.letter(r)
		return
	}
	for len(parts) > 0 {
		r, size := utf8.DecodeRune(parts)
		f.letter(unicode.ToLower(r))
		parts = parts[size:]
	}
}

// letter folds a rune in lower case that has no decomposition.
func (f *folder) letter(r rune) {
	plain, ok := letters[r]
	switch {
	case unicode.Is(unicode.Mn, r): // an accent
	case '\u02b9' <= r && r <= '\u02bf': // letters in Unicode, but used as apostrophes
		f.inWord = false
	case ok:
		f.beginWord()
		f.out = append(f.out, plain...)
	case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
		f.beginWord()
		f.out = utf8.AppendRune(f.out, r)
	default:
		f.inWord = false
	}
}
