package picture

import (
	"strings"
	"testing"
)

// The fonts have the letters of all languages of the pages.
func TestCovers(t *testing.T) {
	f, err := NewFonts()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"Großer Müggelsee": true, "ąćęłńóśźż ĄĆĘŁŃÓŚŹŻ": true, "čďěňřšťůýž ČĎĚŇŘŠŤŮÝŽ": true, "æøåÆØÅ àâçéèêëîïôùûüœ": true, "Ιόνιο Байкал · – “…”": true,
		"琵琶湖": false, "بحيرة": false, "🏊": false,
	} {
		if got := f.Covers(text); got != want {
			t.Errorf("Covers(%q) = %t, want %t", text, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	f, err := NewFonts()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"": "", "See": "See", strings.Repeat("x", 40): "xxx…", "a b " + strings.Repeat("x", 40): "a b…", "湖湖湖湖湖湖": "湖…"} {
		got := f.Cut(text, 12, 34, false)
		if got != want || f.Estimate(got, 12, false) > 34 {
			t.Errorf("Cut(%q) = %q, %v wide, want %q", text, got, f.Estimate(got, 12, false), want)
		}
	}
}
