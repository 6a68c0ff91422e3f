package index

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A spelling is how letters that ASCII lacks are folded.
type spelling uint8

const (
	bare      spelling = iota // without their marks: Müggelsee is muggelsee
	spelt                     // as they are written where the keyboard lacks them: Müggelsee is mueggelsee
	spellings                 // how many there are
)

// letters are what Unicode does not decompose into a letter and marks, and what people type for it.
var letters = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ħ': "h", 'ŧ': "t", 'ŋ': "n",
	'ı': "i", 'ĸ': "k", 'ς': "σ",
}

// speltLetters are the letters that German, Danish, Norwegian and Swedish spell with two where they cannot be written.
var speltLetters = map[rune]string{'ä': "ae", 'ö': "oe", 'ü': "ue", 'ø': "oe", 'å': "aa"}

// appendFolded appends what of s a search goes by: its words in lower case, without accents, each behind a space. Letters,
// digits and marks that are no accents make words, everything else divides them. Two texts that only differ in accents,
// case, width or punctuation are folded alike (by NFKD, Unicode Standard Annex 15).
func appendFolded(b []byte, s string, how spelling) []byte {
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

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// A folder folds a text rune by rune.
type folder struct {
	out    []byte
	how    spelling
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
	f.begin()
	f.out = append(f.out, c)
}

// begin begins a word, unless one has begun.
func (f *folder) begin() {
	if !f.inWord {
		f.out = append(f.out, ' ')
		f.inWord = true
	}
}

// composed folds a rune of a text in NFKC, which is written so.
func (f *folder) composed(r rune, written string) {
	r = unicode.ToLower(r)
	if two, ok := speltLetters[r]; ok && f.how == spelt {
		f.begin()
		f.out = append(f.out, two...)
		return
	}
	parts := norm.NFKD.PropertiesString(written).Decomposition()
	if parts == nil { // Hangul syllables too, which are letters as they are
		f.letter(r)
		return
	}
	for len(parts) > 0 {
		r, size := utf8.DecodeRune(parts)
		f.letter(unicode.ToLower(r))
		parts = parts[size:]
	}
}

// letter folds a rune in lower case that does not decompose.
func (f *folder) letter(r rune) {
	plain, ok := letters[r]
	switch {
	case unicode.Is(unicode.Mn, r): // an accent
	case '\u02b9' <= r && r <= '\u02bf': // letters to Unicode, and typed as the apostrophes that they look like
		f.inWord = false
	case ok:
		f.begin()
		f.out = append(f.out, plain...)
	case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
		f.begin()
		f.out = utf8.AppendRune(f.out, r)
	default:
		f.inWord = false
	}
}
