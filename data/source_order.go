package data

import (
	"fmt"
	"slices"
	"strings"

	"limnomap/data/linetext"
)

// MaxSourceOrder bounds a [SourceOrder]: there are some dozens of satellite products.
const MaxSourceOrder = 64

// A SourceOrder is the order in which the sources of satellite values are preferred, the best first. Each is the beginning of
// [Observation.Source], as products have it, and stands for all sources that begin with it, unless a longer one does too. What follows
// must not be a letter: so "EPA CyAN" stands for "EPA CyAN V5", but "EPA C" does not.
//
// Of the values of a lake in one ISO week only those of the best source count: those of others are neither current nor a part of the
// trophic status. Sources that are not in the order come last, and are equal. A gap or a [Poor] value keeps no other value back.
type SourceOrder []string

// Check returns an error that names the first invalid name.
func (s SourceOrder) Check() error {
	if len(s) > MaxSourceOrder {
		return fmt.Errorf("%d preferred sources: want at most %d", len(s), MaxSourceOrder)
	}
	for i, name := range s {
		if name == "" {
			return fmt.Errorf("preferred source %d is empty: want the beginning of a source's name", i+1)
		}
		if err := checkText("preferred source", name); err != nil {
			return err
		}
		if err := linetext.Check(name); err != nil {
			return fmt.Errorf("preferred source %.80q: %w", name, err)
		}
		if slices.Contains(s[:i], name) {
			return fmt.Errorf("preferred source %.80q comes twice: want each once", name)
		}
	}
	return nil
}

// Rank returns the [Observation.Rank] of a source.
func (s SourceOrder) Rank(source string) uint8 {
	best, longest := 0, 0
	for i, name := range s {
		rest, ok := strings.CutPrefix(source, name)
		if ok && len(name) > longest && (rest == "" || !beginsWithLetter(rest)) {
			best, longest = i+1, len(name)
		}
	}
	return uint8(best)
}

func beginsWithLetter(s string) bool { return 'a' <= s[0]|0x20 && s[0]|0x20 <= 'z' }
