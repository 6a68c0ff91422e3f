package data

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"unicode"
	"unicode/utf8"

	"github.com/paulmach/orb"

	"limnomap/data/linetext"
	"limnomap/data/outline"
)

// ErrNoLake is returned for an id that no lake has.
var ErrNoLake = errors.New("no such lake")

// A LakeID identifies a lake: `^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`.
type LakeID string

const (
	// maxLakeIDLen is the longest id. It is part of a URL; the longest of 5,493 European bathing sites' ids has 36.
	maxLakeIDLen = 64
	// maxTextRunes bounds the texts of a lake. The longest of those sites' names has 148.
	maxTextRunes = 200
)

// ParseLakeID returns s as an id, or an error that describes a valid id.
func ParseLakeID(s string) (LakeID, error) {
	ok := len(s) > 0 && len(s) <= maxLakeIDLen
	for i := 0; ok && i < len(s); i++ {
		c := s[i]
		alphanumeric := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		ok = alphanumeric || i > 0 && (c == '_' || c == '.' || c == '-')
	}
	if !ok {
		return "", fmt.Errorf("id %.80q: want a letter or digit, then at most %d letters, digits, _ . or -", s, maxLakeIDLen-1)
	}
	return LakeID(s), nil
}

// A Lake is a body of water, shown as one point on the map.
type Lake struct {
	ID         LakeID
	ExternalID string          // id in the monitoring programme; the same as ID if it has none
	Name       string          // as people write it, UTF-8
	Point      orb.Point       // longitude, latitude in degrees, WGS 84
	Region     string          // free text, such as the federal state; may be empty
	AreaKM2    float64         // surface in km²; 0 where unknown
	Outline    outline.Outline // its shore; "" where unknown
	WaterID    string          // the same for all sites of one water; "" if it is not known that there are several
}

// CheckImport is like Check, and also returns an error if a text of the lake could change how other text looks, such as its value, or
// cannot be seen. Only imports call it: databases may have such texts from earlier versions, and must still load.
func (l Lake) CheckImport() error {
	if err := l.Check(); err != nil {
		return err
	}
	for _, text := range l.texts() {
		if text.value == "" { // only the name is required
			continue
		}
		if err := linetext.Check(text.value); err != nil {
			return fmt.Errorf("%s %.80q: %w", text.column, text.value, err)
		}
	}
	return nil
}

type lakeText struct{ column, value string }

// A Site is what decides which site of a water has the pixels of all of it.
type Site struct {
	ID      LakeID
	Outline outline.Outline
}

// CompareSites compares two sites of a water: the smallest one has the pixels. It is that with the larger outline; of sites without any, that with the smaller id.
func CompareSites(a, b Site) int {
	return cmp.Or(cmp.Compare(extent(b.Outline), extent(a.Outline)), cmp.Compare(a.ID, b.ID))
}

// extent returns the size of the bound of an outline in square degrees, 0 without one.
func extent(o outline.Outline) float64 {
	if o == "" {
		return 0
	}
	b := o.Bound()
	return (b.Right() - b.Left()) * (b.Top() - b.Bottom())
}

// texts returns the texts of the lake that are shown to people.
func (l Lake) texts() [3]lakeText {
	return [...]lakeText{{"external_id", l.ExternalID}, {"name", l.Name}, {"region", l.Region}}
}

// Check returns an error that names the first column with an invalid value, the value, and the allowed values. An empty
// ExternalID is valid: it means the ID.
func (l Lake) Check() error {
	if _, err := ParseLakeID(string(l.ID)); err != nil {
		return err
	}
	if l.Name == "" {
		return fmt.Errorf("name is empty: want 1 to %d characters", maxTextRunes)
	}
	for _, text := range l.texts() {
		if err := checkText(text.column, text.value); err != nil {
			return err
		}
	}
	// Written so that NaN fails too.
	if lat := l.Point.Lat(); !(lat >= -90 && lat <= 90) {
		return fmt.Errorf("lat %v: want degrees from -90 to 90", lat)
	}
	if lon := l.Point.Lon(); !(lon >= -180 && lon <= 180) {
		return fmt.Errorf("lon %v: want degrees from -180 to 180", lon)
	}
	if !(l.AreaKM2 >= 0) || math.IsInf(l.AreaKM2, 1) {
		return fmt.Errorf("area_km2 %v: want a finite number, 0 or more", l.AreaKM2)
	}
	if l.WaterID != "" {
		if _, err := ParseLakeID(l.WaterID); err != nil {
			return fmt.Errorf("water_%w", err)
		}
	}
	return l.Outline.Check()
}

// checkText returns an error if s cannot be shown as one line of text.
func checkText(column, s string) error { return checkTextOf(column, s, maxTextRunes) }

// checkTextOf is checkText for a text of at most that many characters.
func checkTextOf(column, s string, runes int) error {
	if n := utf8.RuneCountInString(s); n > runes {
		return fmt.Errorf("%s %.80q has %d characters: want at most %d", column, s, n, runes)
	}
	return checkCharacters(column, s)
}

// checkCharacters returns an error if s has a character that cannot be shown in one line of text.
func checkCharacters(column, s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%s %.80q: want UTF-8", column, s)
	}
	for _, r := range s {
		if unicode.IsControl(r) {
			return fmt.Errorf("%s %.80q holds the control character %U: want text on one line", column, s, r)
		}
	}
	return nil
}
