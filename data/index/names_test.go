package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"limnomap/data"
	"limnomap/data/fold"
)

// lakesNamed returns lakes with those names.
func lakesNamed(names ...string) []data.Lake {
	lakes := make([]data.Lake, len(names))
	for i, name := range names {
		id := data.LakeID(fmt.Sprintf("xx_%03d", i))
		lakes[i] = data.Lake{ID: id, ExternalID: string(id), Name: name}
	}
	return lakes
}

// found returns the names that q finds.
func found(lakes []data.Lake, q string, limit int) string {
	var names []string
	for _, i := range NewNameIndex(lakes).Find(q, limit) {
		names = append(names, lakes[i].Name)
	}
	return strings.Join(names, "|")
}

func TestFindByName(t *testing.T) {
	lakes := lakesNamed("Großer Müggelsee", "Müggelsee", "Kleiner See", "Seeon", "Seddinsee", "Sø", "Łeba", "Ærø",
		"Lac d’Aiguebelette", "Mueggelspree", "Ōnuma", "Żywieckie", "Ḫāzār", "ＷＩＤＥ", "Straße am See", "湖", "Ü", "Århus Sø", "Waiʻaleʻale")
	for _, test := range []struct{ q, want string }{
		{"Müggelsee", "Müggelsee|Großer Müggelsee"},
		{"Muggelsee", "Müggelsee|Großer Müggelsee"},
		{"mueggelsee", "Müggelsee|Großer Müggelsee"},
		{"MÜGGEL", "Mueggelspree|Müggelsee|Großer Müggelsee"},
		{"Mu\u0308ggelsee", "Müggelsee|Großer Müggelsee"}, // decomposed
		{"ggelsee", "Großer Müggelsee|Müggelsee"},
		{"see", "Seeon|Kleiner See|Straße am See|Großer Müggelsee|Müggelsee|Seddinsee"},
		{"grosser", "Großer Müggelsee"},
		{"GROẞER", "Großer Müggelsee"},
		{"strasse am", "Straße am See"},
		{"strasse-am", "Straße am See"},
		{"so", "Sø|Århus Sø"},
		{"soe", "Sø|Århus Sø"},
		{"aarhus", "Århus Sø"},
		{"arhus", "Århus Sø"},
		{"leba", "Łeba"},
		{"aero", "Ærø"},
		{"aeroe", "Ærø"},
		{"d'aigue", "Lac d’Aiguebelette"},
		{"wai'ale", "Waiʻaleʻale"}, // Hawaiian has a letter for it
		{"onuma", "Ōnuma"},
		{"zywiec", "Żywieckie"},
		{"hazar", "Ḫāzār"},
		{"wide", "ＷＩＤＥ"},
		{"湖", "湖"},
		{"nowhere", ""},
		{"eddinsee", "Seddinsee"},                 // inside a word
		{"müggelsee grosser", "Großer Müggelsee"}, // all words, in any order
		{"see strasse", "Straße am See"},
		{"see gross", "Großer Müggelsee"},
		{"müggelsee nowhere", ""},
		{"Mügelsee", "Großer Müggelsee|Müggelsee"},              // a letter is missing,
		{"mügggelsee", "Großer Müggelsee|Müggelsee"},            // is too many,
		{"mücgelsee", "Großer Müggelsee|Müggelsee"},             // is another one,
		{"müggeslee", "Großer Müggelsee|Müggelsee"},             // or two are swapped
		{"mueggesl", "Großer Müggelsee|Mueggelspree|Müggelsee"}, // at the start of a word
		{"grosser mugelsee", "Großer Müggelsee"},
		{"mügeglsee", "Großer Müggelsee|Müggelsee"}, // swapped in the middle
		{"mügelse", "Großer Müggelsee|Müggelsee"},
		{"mügelzee", ""}, // two errors
		{"leva", ""},     // a short word is another word
		{"", ""},
		{" -!", ""},
	} {
		if got := found(lakes, test.q, 10); got != test.want {
			t.Errorf("Find(%q) = %q, want %q", test.q, got, test.want)
		}
	}
}

func TestFindById(t *testing.T) {
	lakes := []data.Lake{
		{ID: "DEBY_PR_0001", ExternalID: "Z-17", Name: "Alpsee"},
		{ID: "DEBY_PR_0002", ExternalID: "DEBY_PR_0002", Name: "Bannwaldsee"},
	}
	names := NewNameIndex(lakes)
	for q, want := range map[string]string{
		"DEBY_PR_0002": "[1]", "deby_pr": "[0 1]", "deby-pr-0001": "[0]", "z-17": "[0]", "17": "[0]", "0002": "[1]", "Z17": "[]",
	} {
		if got := fmt.Sprint(names.Find(q, 10)); got != want {
			t.Errorf("Find(%q) = %s, want %s", q, got, want)
		}
	}
}

func TestFindKeepsToItsLimitAndItsOrder(t *testing.T) {
	lakes := lakesNamed("Bsee", "Asee", "See C", "Am See", "See A", "See A", "Zu See", "See B")
	for limit, want := range []string{"", "See A", "See A|See A", "See A|See A|See B", "See A|See A|See B|See C",
		"See A|See A|See B|See C|Am See", "See A|See A|See B|See C|Am See|Zu See",
		"See A|See A|See B|See C|Am See|Zu See|Asee", "See A|See A|See B|See C|Am See|Zu See|Asee|Bsee",
		"See A|See A|See B|See C|Am See|Zu See|Asee|Bsee",
	} {
		if got := found(lakes, "see", limit); got != want {
			t.Errorf("Find with limit %d = %q, want %q", limit, got, want)
		}
	}
	if got := fmt.Sprint(NewNameIndex(lakes).Find("see a", 2)); got != "[4 5]" {
		t.Errorf("lakes of one name are %s, want them in their own order: [4 5]", got)
	}
}

// What is found with a limit is the beginning of what is found without one, although the search ends early, and without a typing error each lake that
// has all words of the query is found.
func TestFindEndsEarly(t *testing.T) {
	syllables := []string{"see", "Müg", "mueg", "a", "S", "ß", " ", "-", "ø", "le", "e", "1", "_", "Å", "mugel", "湖", "baye"}
	text := func(t *rapid.T, name string, least int) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(syllables), least, 5).Draw(t, name), "")
	}
	rapid.Check(t, func(t *rapid.T) {
		lakes := make([]data.Lake, rapid.IntRange(0, 30).Draw(t, "lakes"))
		for i := range lakes {
			lakes[i] = data.Lake{ID: data.LakeID(fmt.Sprintf("x%02d", i)), Name: text(t, "name", 1), ExternalID: text(t, "external id", 0),
				Region: rapid.SampledFrom([]string{"", "See", "Mügsee", "Mugsee", "SEE a", "ø", "-", "a see", "Bayern", "by"}).Draw(t, "region")}
		}
		names := NewNameIndex(lakes)
		for range 5 {
			q, limit := text(t, "q", 0), rapid.IntRange(1, 12).Draw(t, "limit")
			all := names.Find(q, len(lakes))
			if got := names.Find(q, limit); !slices.Equal(got, all[:min(limit, len(all))]) {
				t.Fatalf("Find(%q, %d) = %v, want the beginning of %v", q, limit, got, all)
			}
			words := strings.Fields(string(fold.Append(nil, q, fold.Bare)))
			for i, l := range lakes {
				name := string(fold.Append(nil, l.Name, fold.Bare))
				has := len(words) > 0 && !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(name, word) })
				if has && !slices.Contains(all, i) {
					t.Fatalf("Find(%q) = %v, without lake %d with the name %q", q, all, i, l.Name)
				}
			}
		}
	})
}

func FuzzFind(f *testing.F) {
	for _, seed := range []string{"Großer Müggelsee", "İstanbul", "ǅ", "ﬁ", "\u0308", "각", "ﷺ", "\xff\x00", "ΌΣΟΣ", "Ａ", "ǿ", "Å", "½ ²"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		lakes := []data.Lake{{ID: "x", Name: s}}
		if got := NewNameIndex(lakes).Find(s, 1); Searchable(s) != (len(got) == 1) {
			t.Fatalf("a lake named %q is found by its name: %v, want %v", s, got, Searchable(s))
		}
	})
}
