package fold

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzAppend(f *testing.F) {
	for _, seed := range []string{"Großer Müggelsee", "İstanbul", "ǅ", "ﬁ", "\u0308", "각", "ﷺ", "\xff\x00", "ΌΣΟΣ", "Ａ", "ǿ", "Å", "½ ²"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for how := range Spellings {
			folded := string(Append(nil, s, how))
			if again := string(Append(nil, folded, how)); again != folded {
				t.Fatalf("%q is folded to %q, and %[2]q to %[3]q: want no change the second time", s, folded, again)
			}
			if !utf8.ValidString(folded) || strings.ContainsAny(folded, "\x00\n") || strings.Contains(folded, "  ") ||
				folded != "" && folded[0] != ' ' || strings.HasSuffix(folded, " ") {
				t.Fatalf("%q is folded to %q, want words, each after a space", s, folded)
			}
			// NFKD makes at most 18 runes of one (U+FDFA), with spaces between.
			if most := 4 * 20 * len(s); len(folded) > most {
				t.Fatalf("%d bytes are folded to %d", len(s), len(folded))
			}
		}
	})
}
