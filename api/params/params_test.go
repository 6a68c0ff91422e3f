package params

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestQuoteIsShortAndValid(t *testing.T) {
	for _, s := range []string{strings.Repeat("ä", 400), "\xff\xfe", "\x00" + strings.Repeat("\n", 100)} {
		if got := Quote(s); len(got) > 4*maxQuoted+8 || !utf8.ValidString(got) {
			t.Errorf("Quote(%q) = %s", s, got)
		}
	}
}
