// Package linetext checks and isolates texts of one line that come from outside, such as the name of a lake.
//
// Unicode has characters that are invisible, but change the order in which the text around them is displayed: after a
// right-to-left override (U+202E) "52.1" is displayed as "1.25". A lake's name stands next to its value, so such a name could
// change what readers take for the value. There are two defences:
//
//   - [Check] rejects such texts when they are imported.
//   - [Clean] and [Isolate] make texts that were stored before harmless where they are displayed. Isolate is for plain text,
//     such as the title of a link; in HTML, use Clean within a bdi element.
//
// The order of characters is that of the Unicode Bidirectional Algorithm, https://www.unicode.org/reports/tr9/.
package linetext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

// maxMarks bounds the combining marks on one letter. Hebrew with vowels and accents has 4, Tibetan has 6; hundreds of them
// cover the lines above and below.
const maxMarks = 8

// forbidden are characters that no text of one line needs. Those of the first two rows open and close parts of a text with a
// direction of their own; text after the end of the line would belong to the last part.
var forbidden = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x2028, 0x2029, 1}, // line and paragraph separator
		{0x202A, 0x202E, 1}, // embeddings and overrides
		{0x2066, 0x2069, 1}, // isolates
		{0x206A, 0x206F, 1}, // deprecated: change the shapes of digits and the mirroring of brackets
		{0xFFF9, 0xFFFB, 1}, // annotations, which programs show in place of the text or hide
	},
	R32: []unicode.Range32{
		{0xE0001, 0xE0001, 1}, // deprecated: a language follows in invisible characters
	},
}

const wantAllowed = "want text without U+2028 to U+202E, U+2066 to U+206F, U+FFF9 to U+FFFB and U+E0001"

// The directional marks. They are invisible letters: digits between two of them change their order, as between two letters of
// a script that is written from right to left.
const (
	leftToRightMark  = '\u200e'
	rightToLeftMark  = '\u200f'
	arabicLetterMark = '\u061c'
)

const (
	firstStrongIsolate = "\u2068"
	popIsolate         = "\u2069"
)

// blank are characters that look like a space, but are not spaces, and that [ignorable] does not contain.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{{0x2800, 0x2800, 1}},   // Braille pattern without dots
	R32: []unicode.Range32{{0x1D159, 0x1D159, 1}}, // musical symbol null notehead
}

// ignorable reports whether r is a default ignorable code point, which is invisible: see DerivedCoreProperties.txt of Unicode.
func ignorable(r rune) bool {
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		unicode.Is(unicode.Cf, r) && !unicode.In(r, unicode.Prepended_Concatenation_Mark) &&
			!(0xFFF9 <= r && r <= 0xFFFB) && !(0x13430 <= r && r <= 0x13440) // signs around letters, which are visible
}

// Check returns an error if s, which is not empty, must not be imported, since it changes how the text around it looks or cannot be
// seen. The error names the character as U+XXXX, its position and what is allowed. A valid s has a visible character; it has
// none of forbidden; each combining mark follows a letter or symbol, at most maxMarks of them; and directional marks are next to a
// letter of a right-to-left script somewhere in s. Zero-width joiners, variation selectors and soft hyphens are valid inside a text:
// Persian, Hindi, Thai and emoji need them.
func Check(s string) error {
	if ascii(s) {
		return nil
	}
	var (
		visible, rightToLeft, base bool
		marks, position            int
		mark                       rune // the first directional mark
		markAt                     int
	)
	for _, r := range s {
		position++
		switch {
		case unicode.Is(forbidden, r):
			return fmt.Errorf("%U at character %d changes the order or shape of other characters: %s", r, position, wantAllowed)
		case unicode.Is(unicode.M, r):
			if !base {
				return fmt.Errorf("%U at character %d is a combining mark without a letter before it: want a letter first", r, position)
			}
			if ignorable(r) {
				continue
			}
			if marks++; marks > maxMarks {
				return fmt.Errorf("%U at character %d is one of more than %d combining marks on one letter: want at most %d", r, position, maxMarks, maxMarks)
			}
		case r == leftToRightMark || r == rightToLeftMark || r == arabicLetterMark:
			if markAt == 0 {
				mark, markAt = r, position
			}
		case ignorable(r):
		case unicode.IsSpace(r) || unicode.Is(blank, r):
			base, marks = false, 0
		default:
			visible, base, marks = true, true, 0
			rightToLeft = rightToLeft || isRightToLeft(r)
		}
	}
	if !visible {
		r, _ := utf8.DecodeRuneInString(s)
		return fmt.Errorf("no visible character, only such as %U: want a letter, digit or symbol", r)
	}
	if mark != 0 && !rightToLeft {
		return fmt.Errorf("%U at character %d is a directional mark, which changes the order of digits: want U+200E, U+200F and U+061C only in text with right-to-left letters", mark, markAt)
	}
	return nil
}

// ascii reports whether s has only characters that Check accepts at once: visible ASCII and spaces, at least one of them visible.
func ascii(s string) bool {
	visible := false
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
		visible = visible || s[i] != ' '
	}
	return visible
}

// isRightToLeft reports whether r belongs to a script that is written from right to left.
func isRightToLeft(r rune) bool {
	p, _ := bidi.LookupRune(r)
	class := p.Class()
	return class == bidi.R || class == bidi.AL
}

// Clean returns s without control characters, without those that Check rejects everywhere, and without combining marks at its
// beginning, which would change the character before s.
func Clean(s string) string {
	if ascii(s) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if unicode.Is(forbidden, r) || unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
	return strings.TrimLeftFunc(s, unicode.IsMark)
}

// Isolate returns Clean(s) for use inside plain text. If s has characters of a right-to-left script or directional marks, it is
// surrounded by isolates, so that the order of the text around it stays the same.
func Isolate(s string) string {
	s = Clean(s)
	if ascii(s) || !strings.ContainsFunc(s, changesOrder) {
		return s
	}
	return firstStrongIsolate + s + popIsolate
}

// Escape returns s for a terminal or a log: control characters except line breaks and tabs, and characters that change the order of
// others, are written as \uXXXX, as in JSON. Bytes that are not UTF-8 are written as \xXX: terminals take some of them for control characters.
func Escape(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, needsEscape) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)) {
			fmt.Fprintf(&b, `\x%02x`, s[i])
			continue
		}
		if !needsEscape(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

func needsEscape(r rune) bool {
	if r < 0x7f {
		return r < ' ' && r != '\n' && r != '\t'
	}
	return unicode.IsControl(r) || unicode.Is(forbidden, r) || r == leftToRightMark || r == rightToLeftMark || r == arabicLetterMark
}

// changesOrder reports whether r can change the order of characters next to it in text from left to right.
func changesOrder(r rune) bool {
	p, _ := bidi.LookupRune(r)
	switch p.Class() {
	case bidi.R, bidi.AL, bidi.AN:
		return true
	}
	return r == leftToRightMark
}
