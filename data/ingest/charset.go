package ingest

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// How the single-byte encoding of a file is found out.
//
// The words of the file that are not ASCII are read in each encoding, and what is unusual costs something: characters that are in no
// word, such as a box or a currency sign between letters; letters of two scripts in one word; capital letters after small ones; letters that no language of
// the encoding has; and consonants without a vowel beside them. The encoding whose text costs least is that of the file, unless another
// text costs hardly more: then the file is refused, with the readings of a word in each of them. Encodings that give the same text are one.
//
// A byte is a letter in most of these encodings, so a few words are enough only if their letters tell: "Jezioro \xa3\xeakuk" is no word in
// windows-1252, where \xa3 is a pound sign, but Łękuk in ISO 8859-2.

const (
	// maxEncodedWords bounds the words that are read, and maxEncodedBytes the part of the file that they are from.
	maxEncodedWords = 5000
	maxEncodedBytes = 256 << 20
	// maxEncodedWord is the longest part of a word that is read.
	maxEncodedWord = 64
	// clearMargin is how much more every other text must cost.
	clearMargin = 1
	// maxWordCost is how much a word of the best text may cost on average. Words in an encoding that is none of these cost more.
	maxWordCost = 3
)

// What is unusual in a text, in the order of how sure it is. The numbers were set on the names of towns of 25 countries (GeoNames), each in its
// encodings: lists of ten names are read right, and one name is read right or refused, except for some in those of MS-DOS.
const (
	costNoCharacter = 20  // a byte that is no character
	costNoWord      = 12  // a symbol inside a word, or two scripts
	costCase        = 4   // a capital letter after a small one
	costForeign     = 2   // of each letter that the language lacks
	costSecond      = 1.5 // of a second language
	costCluster     = 1.5 // a consonant between two others
	costHiatus      = 1   // a vowel with a grave or circumflex before another vowel, a consonant after another one at the end, and a rare letter
	costPunctuation = 0.5
	costUnit        = 1 // less, for the sign of a unit
)

// encodedWords are the words of a file that are not ASCII, and those of its other words that tell its language.
type encodedWords struct {
	words map[string]struct{}
	lakes map[string]bool // words for a lake
}

// readWords reads the words of an expanded file.
func readWords(r io.Reader) (encodedWords, error) {
	w := encodedWords{words: make(map[string]struct{}), lakes: make(map[string]bool)}
	buffered := bufio.NewReaderSize(r, maxRowBytes)
	var word []byte
	encoded, long := false, false
	end := func() {
		switch {
		case encoded:
			if _, ok := w.words[string(word)]; !ok {
				w.words[string(word)] = struct{}{}
			}
		case len(word) > 2 && len(word) <= maxLakeWord:
			for i, c := range word {
				if 'A' <= c && c <= 'Z' {
					word[i] |= 0x20
				}
			}
			if lakeWords[string(word)] {
				w.lakes[string(word)] = true
			}
		}
		word, encoded, long = word[:0], false, false
	}
	for n := 0; n < maxEncodedBytes && len(w.words) < maxEncodedWords; n++ {
		c, err := buffered.ReadByte()
		if err == io.EOF {
			break
		}
		if err != nil {
			return w, err
		}
		if c < utf8.RuneSelf && !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9') {
			if len(word) > 0 {
				end()
			}
			continue
		}
		if long = long || len(word) == maxEncodedWord; !long {
			word, encoded = append(word, c), encoded || c >= utf8.RuneSelf
		}
	}
	end()
	return w, nil
}

// A reading is a text in one encoding.
type reading struct {
	*byteEncoding
	cost float64
	text uint64 // a hash
}

// detectEncoding returns the encoding of words, or an error that names those that it may be.
func detectEncoding(w encodedWords) (*byteEncoding, error) {
	words := slices.Sorted(maps.Keys(w.words))
	var texts []reading
	for _, e := range encodings {
		if !e.tried {
			continue
		}
		r := e.read(words, w.lakes)
		if !slices.ContainsFunc(texts, func(other reading) bool { return other.text == r.text }) {
			texts = append(texts, r)
		}
	}
	slices.SortStableFunc(texts, func(a, b reading) int {
		switch {
		case a.cost < b.cost:
			return -1
		case a.cost > b.cost:
			return 1
		}
		return 0
	})
	best := texts[0]
	if best.cost > maxWordCost*float64(len(words))+2 {
		return nil, fmt.Errorf("the file is not UTF-8, and its encoding is not known (%.40q has bytes of no word): save it as UTF-8, or name its encoding with --encoding", words[0])
	}
	n := 1
	for n < len(texts) && texts[n].cost < best.cost+clearMargin {
		n++
	}
	if n == 1 {
		return best.byteEncoding, nil
	}
	// The word that differs first.
	example := 0
	for i, word := range words {
		if best.decode(word) != texts[1].decode(word) {
			example = i
			break
		}
	}
	var may []string
	for _, t := range texts[:min(n, 5)] {
		may = append(may, fmt.Sprintf("%s (%.40q)", t.name, t.decode(words[example])))
	}
	return nil, fmt.Errorf("the file is not UTF-8, and its encoding is not clear: it may be %s; name it with --encoding, or save the file as UTF-8", strings.Join(may, ", or "))
}

// read reads words in the encoding.
func (e *byteEncoding) read(words []string, lakes map[string]bool) reading {
	r := reading{byteEncoding: e, cost: e.prior}
	text := fnv.New64a()
	used := make(map[letterUse]int)
	spaced := false
	own := scriptOf(e.bytes.DecodeByte(0xe1)) == latin // a letter in all of those of another script
	var word []rune
	for _, raw := range words {
		word = word[:0]
		for i := range len(raw) {
			c := e.bytes.DecodeByte(raw[i])
			if c == utf8.RuneError || unicode.IsControl(c) {
				r.cost += costNoCharacter
			}
			word = append(word, c)
		}
		_, _ = text.Write([]byte(string(word)))
		_, _ = text.Write([]byte{0})
		r.cost += wordCost(word, used)
		spaced = spaced || slices.Contains(word, '\u00a0')
		own = own || slices.ContainsFunc(word, func(c rune) bool { return scriptOf(c) == greek || scriptOf(c) == cyrillic })
	}
	if spaced { // once only, since many files have such spaces
		r.cost += costCluster
	}
	if !own { // no word of the script that the encoding is for
		r.cost += costCase
	}
	r.cost += languageCost(used, lakes)
	r.text = text.Sum64()
	return r
}

// isLetter reports whether c is a letter of a word.
func isLetter(c rune) bool { return unicode.IsLetter(c) && c != 'ª' && c != 'º' && c != 'µ' }

// wordCost returns how unusual a word is, and adds its letters to used.
func wordCost(word []rune, used map[letterUse]int) (cost float64) {
	for i := 0; i < len(word); {
		if !isLetter(word[i]) {
			cost += symbolCost(word, i)
			i++
			continue
		}
		end := i
		for end < len(word) && isLetter(word[end]) {
			end++
		}
		cost += letterCost(word[i:end], used)
		i = end
	}
	return cost
}

// symbolCost returns how unusual the character at word[i] is, which is no letter.
func symbolCost(word []rune, i int) float64 {
	c := word[i]
	if c < utf8.RuneSelf { // a digit
		return 0
	}
	var before, after rune
	if i > 0 {
		before = word[i-1]
	}
	if i+1 < len(word) {
		after = word[i+1]
	}
	left, right := isLetter(before), isLetter(after)
	switch {
	case c == '\u00a0':
		return 0 // see read
	case c == '\u00ad', strings.ContainsRune("–—‘", c) && left && unicode.IsLower(after):
		return costCase
	case strings.ContainsRune("–—", c) && left != right:
		return costCluster
	case strings.ContainsRune("–—", c):
		return costPunctuation
	case strings.ContainsRune("’‘´", c) && !(left && right):
		return 2 * costPunctuation
	case strings.ContainsRune("’‘´", c) && i > 2 && unicode.IsLower(after) && i+2 < len(word): // not as in d’Annecy or Hunter’s
		return costCase
	case strings.ContainsRune("’‘´", c), c == '·' && before|0x20 == 'l' && after|0x20 == 'l': // as in Catalan
		return costPunctuation
	case c == 'µ':
		if rest := strings.ToLower(string(word[i+1:])); !left && (rest == "g" || rest == "gl" || rest == "m" || rest == "s" || rest == "mol") { // a unit, which no other encoding has there
			return -costUnit
		}
	case c == '°', c == 'º', c == 'ª':
		if !left && (!right || after|0x20 == 'c' || after|0x20 == 'f') || strings.ContainsRune("nN", before) && !right {
			return 0
		}
	case c == '²', c == '³':
		if !right && (!left || before == 'm') {
			return 0
		}
	case strings.ContainsRune("“„«‹", c) && !left, strings.ContainsRune("”“»›…®©™", c) && !right:
		return 2 * costPunctuation
	}
	switch {
	case left || right:
		return costNoWord
	case strings.ContainsRune("–—…•·°±×§©®™«»‹›“”„’‘´µ²³ºª€£¥¡¿½¼¾", c):
		return costPunctuation
	}
	return costCase
}

// letterCost returns how unusual a run of letters is.
func letterCost(run []rune, used map[letterUse]int) (cost float64) {
	foreign := 0
	for i, c := range run {
		if c < utf8.RuneSelf {
			continue
		}
		foreign++
		var before, after rune
		if i > 0 {
			before = run[i-1]
		}
		if i+1 < len(run) {
			after = run[i+1]
		}
		cost += caseCost(run, i)
		script := scriptOf(c)
		if before != 0 && scriptOf(before) != script || after != 0 && scriptOf(after) != script {
			cost += costNoWord
			continue
		}
		lower := unicode.ToLower(c)
		if lower < utf8.RuneSelf { // of İ
			continue
		}
		if script != latin {
			cost += scripts[script].cost(lower)
			continue
		}
		used[letterUse{lower, after != 0 && isVowel(after)}]++
		switch {
		case isVowel(c):
			if strings.ContainsRune("àèìòùâêîôûæ", lower) && after != 0 && isVowel(after) || strings.ContainsRune("āēīū", lower) && before != 0 && isVowel(before) {
				cost += costHiatus
			}
		case strings.ContainsRune("šžśźżłńťşţ", lower), lower == 'ř' && strings.ContainsRune("bcdghkptv", before|0x20): // common in clusters
		case before != 0 && after != 0 && !isVowel(before) && !isVowel(after):
			cost += costCluster
		case before != 0 && after == 0 && !isVowel(before) && (strings.ContainsRune("řĺŕň", lower) || lower == 'č' && before != 'l' && before != 'r'):
			cost += costHiatus
		}
	}
	if len(run) >= 4 && foreign*5 > len(run)*3 && scriptOf(run[0]) == latin { // as Cyrillic looks in a Latin encoding
		cost += 2 * costForeign
	}
	return cost
}

// caseCost returns how unusual the case of run[i] is.
func caseCost(run []rune, i int) float64 {
	upper := unicode.IsUpper(run[i])
	switch {
	case i == 0:
		if !upper && len(run) > 2 && unicode.IsUpper(run[1]) && unicode.IsUpper(run[2]) {
			return costCase
		}
		if !upper && len(run) > 3 && scriptOf(run[0]) == latin { // names begin with a capital letter
			return costHiatus
		}
	case upper && unicode.IsLower(run[i-1]):
		return costCase
	case !upper && unicode.IsUpper(run[i-1]) && (i > 1 && unicode.IsUpper(run[i-2]) || i+1 < len(run) && unicode.IsUpper(run[i+1])):
		return costCase
	case upper && i+1 < len(run) && unicode.IsLower(run[i+1]):
		return costCase
	}
	return 0
}
