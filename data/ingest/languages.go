package ingest

import (
	"math"
	"strings"
)

// languages are the letters of languages that are not ASCII, the most frequent one first: those of Europe with Latin letters and Turkish in the names of
// their places (GeoNames), Russian (Lyashevskaya and Sharov, frequency dictionary, 2009), Ukrainian, Bulgarian, Serbian, and Greek (Hellenic National Corpus).
var languages = []string{
	"üößä",
	"üéèäöàâêçôîßûëïòùì", // of Belgium and Switzerland
	"óñíáéúàèüçòï",       // of Spain
	"éèâôêëçœîûàïüÿæ",
	"ëéèïöüäêâ",
	"óñíáéúü",
	"ãçóáéõâúôêíàü",
	"èòàìùéíóî",
	"öäåéüà",
	"øåæéöóôòêüáäšžđŋ",
	"äöåšž",
	"äõüöšž",
	"óíáðöæþúéý",
	"ółśężńąźć",
	"íářščěžéýňúůťďóöü",
	"áčšéľžíýňúäťôďóŕĺ",
	"áéóőöúüíű",
	"ăâşșţțîéáöőü",
	"ščžćđ",
	"ëç",
	"ıçşüöğâîû",
	"ėščžūųąęį",
	"āīēļžņūķščģ",
	"оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",
	"оанвиіертсклудмпязьбгйчхцжїєшюфщґ",
	"аоиентрвсклдпзъмябугчщхцжшйюфь",
	"αοιετσνηυρπκμλςίάόέήωύώγδχθφβξζψϊϋΐΰ",
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
