package gazetteer

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/paulmach/orb"

	"limnomap/data/linetext"
)

const (
	// MaxPlaces bounds the places of a gazetteer, and MaxCodes their postcodes. A phone searches all of them with each key press.
	MaxPlaces = 500_000
	MaxCodes  = 500_000

	maxNames = 20  // of a place
	maxText  = 200 // characters of a name or of a region
	maxCode  = 12  // characters of a postcode
)

// A Place is a town or a village, or a part of one.
type Place struct {
	Names      []string // the one to show, then others
	Region     string   // such as a federal state, or the two capital letters of a country; may be empty
	Point      orb.Point
	Population int64 // 0 if unknown
	Codes      []Code
}

// A Code is a postcode with its position. It has letters and digits only.
type Code struct {
	Code  string
	Point orb.Point
}

// checkText returns an error if s cannot be a name or a region: the page shows it, and | and line ends separate names.
func checkText(s string) error {
	switch {
	case !utf8.ValidString(s):
		return errors.New("not UTF-8")
	case utf8.RuneCountInString(s) > maxText:
		return fmt.Errorf("more than %d characters", maxText)
	case strings.ContainsFunc(s, func(r rune) bool { return r == '|' || unicode.IsControl(r) }):
		return errors.New("a | or a control character")
	case s == "":
		return nil
	}
	return linetext.Check(s)
}

// checkName is checkText for a name, which must not be empty.
func checkName(s string) error {
	if s == "" {
		return errors.New("empty")
	}
	return checkText(s)
}

// checkCode returns an error if s is no postcode.
func checkCode(s string) error {
	for _, r := range s {
		if (r < '0' || r > '9') && (r < 'A' || r > 'Z') {
			return fmt.Errorf("%q has other characters than letters and digits", s)
		}
	}
	if s == "" || len(s) > maxCode {
		return fmt.Errorf("%q has not 1 to %d letters and digits", s, maxCode)
	}
	return nil
}

// checkPoint returns an error if p is not on the globe.
func checkPoint(p orb.Point) error {
	if !(math.Abs(p.Lat()) <= 90 && math.Abs(p.Lon()) <= 180) { // true for NaN
		return fmt.Errorf("%v, %v is no latitude and longitude", p.Lat(), p.Lon())
	}
	return nil
}
