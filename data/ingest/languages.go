package ingest

import (
	"math"
	"strings"
	"unicode"
)

// A language is what a file's words may be in: its letters that are not ASCII, as its official orthography has them. Words for a lake tell the language of a
// list of lakes.
type language struct {
	letters string
	rare    string // in few words, such as those from other languages
	// noVowel are the letters that are never before a vowel: Polish writes si for ś there. The letters onlyVowel are always before one.
	noVowel, onlyVowel string
	lakes              string
}

// languages are those of Europe with Latin letters, and Turkish.
var languages = []language{
	{letters: "äöüß", rare: "é", lakes: "see weiher teich talsperre badesee stausee"},
	{letters: "éèêàçîôâûùëïœ", rare: "üÿæ", onlyVowel: "ç", lakes: "lac etang plage barrage"},
	{letters: "äöüßéèêàçîôâûùëï", onlyVowel: "ç", lakes: "see lac"}, // two languages of one country
	{letters: "ïëéèüöäê", lakes: "meer plas plassen"},
	{letters: "áéíóúñ", rare: "ü", onlyVowel: "ñ", lakes: "embalse lago laguna pantano"},
	{letters: "áéíóúñüàèòïç", onlyVowel: "ñ", lakes: "embalse estany"}, // of Spain
	{letters: "áâãàçéêíóôõú", rare: "ü", onlyVowel: "çõ", lakes: "lagoa albufeira barragem praia"},
	{letters: "àèéíïòóúüç", lakes: "estany panta llac"},
	{letters: "àèéìòù", rare: "íîó", lakes: "lago bacino"},
	{letters: "åäöé", rare: "üà", lakes: "tjarn sjo"},
	{letters: "æøå", rare: "éôòêóü", lakes: "vann vannet vatn vatnet tjern innsjo"},
	{letters: "äö", rare: "åšž", lakes: "lampi uimaranta"},
	{letters: "äöüõ", rare: "šž", lakes: "paisjarv"},
	{letters: "áðéíóúýþæö", lakes: "vatn"},
	{letters: "ąćęłńóśż", rare: "ź", noVowel: "ćńśź", lakes: "jezioro zalew zbiornik staw"},
	{letters: "áčďéěíňřšťúůýž", rare: "óöü", lakes: "rybnik jezero nadrz"},
	{letters: "áäčďéíľňóôšťúýž", rare: "ĺŕěřö", lakes: "jazero nadrz pleso"},
	{letters: "áéíóöőúüű", lakes: "tava viztarozo holtag"},
	{letters: "čšž", rare: "ćđ", lakes: "jezero"},
	{letters: "čćšžđ", lakes: "jezero"},
	{letters: "ăâîşţșț", lakes: "lacul lac"},
	{letters: "ë", rare: "ç", lakes: "liqeni"},
	{letters: "çğıöşüâ", rare: "îû", lakes: "gol golu baraj"},
	{letters: "ąčęėįšūž", rare: "ų", lakes: "ezeras"},
	{letters: "āčēģīķļņšūž", rare: "õ", lakes: "ezers"},
}

// maxLakeWord is the length of the longest word for a lake.
const maxLakeWord = 12

// lakeWords are the words for a lake of all languages.
var lakeWords = func() map[string]bool {
	all := make(map[string]bool)
	for _, l := range languages {
		for word := range strings.FieldsSeq(l.lakes) {
			all[word] = true
		}
	}
	return all
}()

// latinLetters are the letters of all languages that are not ASCII.
var latinLetters = func() map[rune]bool {
	all := make(map[rune]bool)
	for _, l := range languages {
		for _, c := range l.letters + l.rare {
			all[c] = true
		}
	}
	return all
}()

// A letterUse is a small letter, and whether it is before a vowel.
type letterUse struct {
	letter      rune
	beforeVowel bool
}

// cost returns how unusual a letter is in the language.
func (l *language) cost(u letterUse) float64 {
	switch {
	case u.beforeVowel && strings.ContainsRune(l.noVowel, u.letter), !u.beforeVowel && strings.ContainsRune(l.onlyVowel, u.letter):
		return costForeign
	case strings.ContainsRune(l.letters, u.letter):
		return 0
	case strings.ContainsRune(l.rare, u.letter):
		return costHiatus
	}
	return costForeign
}

// namesLake reports whether one of the words is one of the language for a lake.
func (l *language) namesLake(words map[string]bool) bool {
	if len(words) == 0 {
		return false
	}
	for word := range strings.FieldsSeq(l.lakes) {
		if words[word] {
			return true
		}
	}
	return false
}

// languageCost returns how unusual Latin letters are in one language, or in two.
func languageCost(used map[letterUse]int, lakes map[string]bool) float64 {
	best := math.Inf(1)
	for i := range languages {
		for j := i; j < len(languages); j++ {
			cost := 0.0
			if j > i {
				cost = costSecond
			}
			for u := range used {
				cost += min(languages[i].cost(u), languages[j].cost(u))
			}
			if languages[i].namesLake(lakes) || languages[j].namesLake(lakes) {
				cost -= costHiatus
			}
			best = min(best, cost)
		}
	}
	return best
}

// isVowel reports whether a Latin letter is a vowel.
func isVowel(c rune) bool {
	return strings.ContainsRune("aeiouyáàâäãåāăąæéèêëēėęěíìîïīįıóòôöõøōőœúùûüūůűųýÿ", unicode.ToLower(c))
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

// A frequency is how often a script has its letters: often and rarely are the most and the least frequent ones, of about 75 % and 3 % of the text.
type frequency struct{ often, rarely string }

// scripts are those with few ASCII letters, so that how often each letter is there tells the encoding. The orders are those of Russian (Lyashevskaya
// and Sharov, frequency dictionary, 2009) with the letters of Ukrainian and Bulgarian, and of Greek (Hellenic National Corpus).
var scripts = map[script]frequency{
	cyrillic:    {often: "оеаинтсрвлкм", rarely: "ъэфщюёцґўјљњћђџѓќѕ"},
	greek:       {often: "αοιετσνηυρπκμλςίάόέή", rarely: "ξζψϊϋΐΰ"},
	otherScript: {},
}

func (f frequency) cost(c rune) float64 {
	switch {
	case strings.ContainsRune(f.often, c):
		return 0
	case f.often == "", strings.ContainsRune(f.rarely, c):
		return 1.5
	}
	return 0.5
}
