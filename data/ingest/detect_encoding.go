package ingest

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// How the single-byte encoding of a file is found out.
//
// The words of the file that are not ASCII are read in each encoding. A reading costs the bits that its letters need in the best language, with
// frequencies by Zipf's law, and more for what no word has, such as a currency sign between letters or letters of two scripts. The encoding with the
// cheapest reading is that of the file, unless another reading costs hardly more: then the file is refused, with the readings of a word in each of them.
// Encodings that give the same text are one.

const (
	// maxEncodedWords bounds the words that are read, and maxEncodedBytes the part of the file that they are from.
	maxEncodedWords = 5000
	maxEncodedBytes = 256 << 20
	// maxEncodedWord is the longest part of a word that is read.
	maxEncodedWord = 64
	// maxLetterCount bounds how often a letter counts, so that a second language of a file counts as the first one.
	maxLetterCount = 4
	// clearMargin is how many bits more every other reading must cost.
	clearMargin = 5
	// rareMargin is clearMargin for an encoding that is not one of the common ones.
	rareMargin = 8
	// maxLetterCost is how many bits a byte of the best reading may cost on average. Words in an encoding that is none of these cost more.
	maxLetterCost = 6
)

// What a reading costs, in bits, beside the letters of its language.
const (
	costForeign = 9  // a letter that the language lacks
	costSymbol  = 3  // a usual symbol where it is usual
	costUnit    = 4  // less, for the sign of a unit, which no other encoding has there
	costCase    = 4  // a capital letter after a small one, a small one at the beginning of a word, or a letter alone
	costBeside  = 2  // a Latin letter after another one that is not ASCII
	costHiatus  = 3  // a vowel with a grave or circumflex before another vowel, where other languages have č, ě or ň
	costNoWord  = 12 // another symbol, or a letter beside one of another script
	costNoByte  = 20 // a byte that is no character
)

// readWords returns the words of an expanded file that are not ASCII.
func readWords(r io.Reader) ([]string, error) {
	words := make(map[string]struct{})
	buffered := bufio.NewReaderSize(r, maxRowBytes)
	var word []byte
	encoded := false
	end := func() {
		if encoded {
			words[string(word)] = struct{}{}
		}
		word, encoded = word[:0], false
	}
	for n := 0; n < maxEncodedBytes && len(words) < maxEncodedWords; n++ {
		c, err := buffered.ReadByte()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		switch {
		case c < utf8.RuneSelf && !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'):
			end()
		case len(word) < maxEncodedWord:
			word, encoded = append(word, c), encoded || c >= utf8.RuneSelf
		}
	}
	end()
	return slices.Sorted(maps.Keys(words)), nil
}

// detectEncoding returns the encoding of words, or an error that names those that it may be.
func detectEncoding(words []string) (*byteEncoding, error) {
	type reading struct {
		*byteEncoding
		text string
		cost float64
	}
	var readings []reading
	for _, e := range encodings[:detectedEncodings] {
		text := e.decode(strings.Join(words, " "))
		if !slices.ContainsFunc(readings, func(other reading) bool { return other.text == text }) {
			readings = append(readings, reading{e, text, textCost(text)})
		}
	}
	slices.SortStableFunc(readings, func(a, b reading) int { return cmp.Compare(a.cost, b.cost) })
	best, margin := readings[0], float64(clearMargin)
	if slices.Index(encodings, best.byteEncoding) >= commonEncodings {
		margin = rareMargin
	}
	if best.cost > maxLetterCost*float64(encodedBytes(words))+costNoWord {
		return nil, fmt.Errorf("the file is not UTF-8, and its encoding is not known (%.40q has bytes of no word): save it as UTF-8, or name its encoding with --encoding", words[0])
	}
	n := 1
	for n < len(readings) && readings[n].cost < best.cost+margin {
		n++
	}
	if n == 1 {
		return best.byteEncoding, nil
	}
	differs := max(slices.IndexFunc(words, func(word string) bool { return best.decode(word) != readings[1].decode(word) }), 0)
	var may []string
	for _, r := range readings[:min(n, 5)] {
		may = append(may, fmt.Sprintf("%s (%.40q)", r.name, r.decode(words[differs])))
	}
	return nil, fmt.Errorf("the file is not UTF-8, and its encoding is not clear: it may be %s; name it with --encoding, or save the file as UTF-8", strings.Join(may, ", or "))
}

// encodedBytes returns how many bytes of words are not ASCII.
func encodedBytes(words []string) (n int) {
	for _, word := range words {
		for i := range len(word) {
			if word[i] >= utf8.RuneSelf {
				n++
			}
		}
	}
	return n
}

// textCost returns the bits that a text costs.
func textCost(text string) (cost float64) {
	letters := make(map[rune]int)
	runes := []rune(" " + text + " ")
	for i, c := range runes {
		switch {
		case c < utf8.RuneSelf:
		case c == utf8.RuneError || unicode.IsControl(c):
			cost += costNoByte
		case !isLetter(c):
			cost += symbolCost(c, runes[i-1], runes[i+1])
		default:
			if lower := unicode.ToLower(c); lower >= utf8.RuneSelf { // not İ
				letters[lower]++
			}
			cost += letterCost(c, runes[i-1], runes[i+1])
		}
	}
	return cost + languageCost(letters)
}

// isLetter reports whether c is a letter of a word.
func isLetter(c rune) bool { return unicode.IsLetter(c) && c != 'ª' && c != 'º' && c != 'µ' }

// letterCost returns what a letter costs because of those beside it.
func letterCost(c, before, after rune) (cost float64) {
	for _, other := range []rune{before, after} {
		if isLetter(other) && scriptOf(other) != scriptOf(c) {
			cost += costNoWord
		}
	}
	if before >= utf8.RuneSelf && isLetter(before) && before != c && scriptOf(c) == latin {
		cost += costBeside
	}
	if strings.ContainsRune("àèìòùâêîôû", unicode.ToLower(c)) && strings.ContainsRune("aeiou", after) {
		cost += costHiatus
	}
	if unicode.IsUpper(c) && unicode.IsLower(before) || unicode.IsLower(c) && c != 'ß' && (unicode.IsUpper(after) || !isLetter(before)) || !isLetter(before) && !isLetter(after) {
		cost += costCase
	}
	return cost
}

// symbolCost returns what a character that is no letter costs between two others.
func symbolCost(c, before, after rune) float64 {
	left, right := isLetter(before), isLetter(after)
	usual := false
	switch {
	case before >= utf8.RuneSelf && !left: // two symbols
	case strings.ContainsRune("’‘´", c) && left && unicode.IsLower(after): // Hunter’s
		return costCase
	case strings.ContainsRune("’‘´\u00a0", c):
		usual = true
	case c == '·':
		usual = before|0x20 == 'l' && after|0x20 == 'l' || !left && !right // as in Catalan
	case strings.ContainsRune("°ºª", c):
		usual = !left && (!right || strings.ContainsRune("CcFf", after)) || before|0x20 == 'n' && !right
	case c == 'µ' && !left && strings.ContainsRune("gmsGMS", after), strings.ContainsRune("²³", c) && before == 'm' && !right:
		return -costUnit
	case strings.ContainsRune("²³", c):
		usual = !left && !right
	case strings.ContainsRune("“„«‹", c):
		usual = !left
	case strings.ContainsRune("”“»›…®©™", c):
		usual = !right
	default:
		usual = !left && !right && strings.ContainsRune("–—…•±×§€£¥¡¿½¼¾", c)
	}
	if usual {
		return costSymbol
	}
	return costNoWord
}

// languages are the letters of languages that are not ASCII, the most frequent one first: of Latin ones in the names of places (GeoNames), of Russian
// by Lyashevskaya and Sharov (frequency dictionary, 2009), of Greek by the Hellenic National Corpus.
var languages = []string{
	"üößä",               // German
	"üéèäöàâêçôîßûëïòùì", // of Belgium and Switzerland
	"óñíáéúàèüçòï",       // of Spain
	"éèâôêëçœîûàïüÿæ",    // French
	"ëéèïöüäêâ",          // Dutch
	"óñíáéúü",            // Spanish
	"ãçóáéõâúôêíàü",      // Portuguese
	"èòàìùéíóî",          // Italian
	"öäåéüà",             // Swedish
	"øåæéöóôòêüáäšžđŋ",   // Danish and Norwegian
	"äöåšž",              // Finnish
	"äõüöšž",             // Estonian
	"óíáðöæþúéý",         // Icelandic
	"ółśężńąźć",          // Polish
	"íářščěžéýňúůťďóöü",  // Czech
	"áčšéľžíýňúäťôďóŕĺ",  // Slovak
	"áéóőöúüíű",          // Hungarian
	"ăâşșţțîéáöőü",       // Romanian
	"ščžćđ",              // Slovenian, Croatian and Serbian
	"ëç",                 // Albanian
	"ıçşüöğâîû",          // Turkish
	"ėščžūųąęį",          // Lithuanian
	"āīēļžņūķščģ",        // Latvian
	"оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",    // Russian
	"оанвиіертсклудмпязьбгйчхцжїєшюфщґ",    // Ukrainian
	"аоиентрвсклдпзъмябугчщхцжшйюфь",       // Bulgarian
	"αοιετσνηυρπκμλςίάόέήωύώγδχθφβξζψϊϋΐΰ", // Greek
}

// latinLetters are the Latin letters of all languages that are not ASCII.
var latinLetters = strings.Join(languages, "")

// languageCost returns the bits of letters in the language in which they need fewest. By Zipf's law the frequency of a letter is that of the first one
// divided by its rank.
func languageCost(letters map[rune]int) float64 {
	best := math.Inf(1)
	for _, language := range languages {
		alphabet, all := []rune(language), 0.0
		for rank := range alphabet {
			all += 1 / float64(rank+1)
		}
		cost, foreign := 0.0, 0
		for _, n := range letters {
			foreign += min(n, maxLetterCount)
		}
		for rank, c := range alphabet {
			n := min(letters[c], maxLetterCount)
			cost += float64(n) * math.Log2(float64(rank+1)*all)
			foreign -= n
		}
		best = min(best, cost+costForeign*float64(foreign))
	}
	return best
}

// A script is that of a letter.
type script uint8

const (
	latin script = iota
	cyrillic
	greek
	otherScript
)

func scriptOf(c rune) script {
	switch {
	case c < 0x250:
		return latin
	case c >= 0x370 && c < 0x400:
		return greek
	case c >= 0x400 && c < 0x500:
		return cyrillic
	}
	return otherScript
}
