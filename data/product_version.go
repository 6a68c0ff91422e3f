package data

import (
	"cmp"
	"strings"
	"unicode"
)

// CompareVersions compares two [Details.Version] of one product: negative if a is older than b, 0 if neither is, positive if a is newer.
//
// The fields between white space are compared one after the other, and in each field its parts. A part is a number, which is a sequence of
// the digits 0 to 9, or a word, which is a sequence of letters and other digits; all other characters only separate parts. Numbers compare
// by value, words without regard to case, and a number is older than a word. A field or a version that ends first is older, so the
// empty version is the oldest. A v before the first number of a field is not a part.
//
// So "V2.1.1 2025-09-14T10:00" is newer than "V2.1.0 2025-10-01T10:00", and "2.1.1 12 observations" newer than "2.1.1 9 observations".
func CompareVersions(a, b string) int {
	for a != "" || b != "" {
		var ofA, ofB string
		ofA, a = versionField(a)
		ofB, b = versionField(b)
		if c := compareVersionFields(ofA, ofB); c != 0 {
			return c
		}
	}
	return 0
}

// versionField returns the first field of s, and what follows it.
func versionField(s string) (field, rest string) {
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	if end := strings.IndexFunc(s, unicode.IsSpace); end >= 0 {
		return s[:end], s[end:]
	}
	return s, ""
}

func compareVersionFields(a, b string) int {
	first := true
	for a != "" || b != "" {
		var ofA, ofB string
		ofA, a = versionPart(a, first)
		ofB, b = versionPart(b, first)
		if c := compareVersionParts(ofA, ofB); c != 0 {
			return c
		}
		first = false
	}
	return 0
}

// versionPart returns the first part of a field, and what follows it. The part is empty at the end.
func versionPart(field string, first bool) (part, rest string) {
	field = strings.TrimLeftFunc(field, func(r rune) bool { return !isVersionDigit(r) && !isVersionLetter(r) })
	if first && len(field) > 1 && field[0]|0x20 == 'v' && isVersionDigit(rune(field[1])) {
		field = field[1:]
	}
	in := isVersionLetter
	if field != "" && isVersionDigit(rune(field[0])) {
		in = isVersionDigit
	}
	for end, r := range field {
		if !in(r) {
			return field[:end], field[end:]
		}
	}
	return field, ""
}

func isVersionDigit(r rune) bool { return '0' <= r && r <= '9' }

func isVersionLetter(r rune) bool {
	return !isVersionDigit(r) && (unicode.IsLetter(r) || unicode.IsNumber(r))
}

// The kinds of parts, the oldest first.
const (
	noPart = iota
	numberPart
	wordPart
)

func compareVersionParts(a, b string) int {
	kindA, kindB := versionPartKind(a), versionPartKind(b)
	if kindA != kindB {
		return cmp.Compare(kindA, kindB)
	}
	if kindA == wordPart {
		return strings.Compare(strings.ToLower(a), strings.ToLower(b))
	}
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

func versionPartKind(part string) int {
	switch {
	case part == "":
		return noPart
	case isVersionDigit(rune(part[0])):
		return numberPart
	}
	return wordPart
}
