package words_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"limnomap/api/words"
	"limnomap/api/words/wordstest"
	"limnomap/data"
)

const web = "../../web"

type none struct{}

func load(t *testing.T) *words.Set[none] {
	t.Helper()
	set, err := words.Load[none](os.DirFS(web), "pages")
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestNoWordIsMissing(t *testing.T) {
	wordstest.NoneMissing[none](t, web, "pages")
	for _, w := range load(t).All() {
		if len(w.Format.Months) != 12 || len(w.Format.MonthsShort) != 12 {
			t.Errorf("%s has %d months, and %d short ones", w.Language, len(w.Format.Months), len(w.Format.MonthsShort))
		}
		for c := data.RiskLow; c <= data.RiskHigh; c++ {
			if w.Risk[c.String()] == "" || w.RiskShort[c.String()] == "" {
				t.Errorf("%s has no words for %s risk", w.Language, c)
			}
		}
		for _, name := range words.ClassNames() {
			if w.RiskShort[name] == "" {
				t.Errorf("%s has no word for the class %s", w.Language, name)
			}
		}
	}
}

// Each file of words of a page has the language that it is named for, and no language was forgotten.
func TestLanguagesOfFiles(t *testing.T) {
	for _, folder := range []string{"error", "lake", "pages", "sign", "table", "week", "src/words"} {
		files, err := filepath.Glob(filepath.Join(web, folder, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		var languages []string
		for _, file := range files {
			languages = append(languages, strings.TrimSuffix(filepath.Base(file), ".json"))
		}
		if want := slices.Sorted(slices.Values(words.Languages)); !slices.Equal(languages, want) {
			t.Errorf("%s has words in %q, want %q", folder, languages, want)
		}
	}
}

func TestLoadFails(t *testing.T) {
	files := fstest.MapFS{}
	for _, l := range words.Languages {
		for _, folder := range []string{"src/words", "pages", "own"} {
			files[folder+"/"+l+".json"] = &fstest.MapFile{Data: []byte("{}")}
		}
	}
	if _, err := words.Load[none](files, "own"); err != nil {
		t.Error(err)
	}
	for name := range maps.Clone(files) {
		broken := maps.Clone(files)
		delete(broken, name)
		if strings.HasPrefix(name, "own/") && name != "own/en.json" { // not translated yet
			set, err := words.Load[none](broken, "own")
			if err != nil || len(set.All()) != len(words.Languages)-1 {
				t.Fatalf("without %s: %v", name, err)
			}
			if lang := strings.TrimSuffix(strings.TrimPrefix(name, "own/"), ".json"); set.For(lang, nil).Language != "en" {
				t.Errorf("without %s the page is in %s", name, set.For(lang, nil).Language)
			}
		} else if _, err := words.Load[none](broken, "own"); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
		broken[name] = &fstest.MapFile{Data: []byte("{")}
		if _, err := words.Load[none](broken, "own"); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("with a broken %s: %v", name, err)
		}
	}
}

func TestFor(t *testing.T) {
	set := load(t)
	for _, test := range []struct {
		chosen, accept, want string
	}{
		{"", "", "en"}, {"", "de", "de"}, {"", "de-CH, en;q=0.3", "de"}, {"", "ja, de;q=0.4", "de"}, {"", "***", "en"}, {"", "ja", "en"}, {"", "fr-CA", "fr"}, {"", "pl, de;q=0.4", "pl"}, {"nl", "de", "nl"},
		{"de", "en", "de"}, {"en", "de", "en"}, {"xx", "de", "de"},
	} {
		if got := set.For(test.chosen, []string{test.accept}).Language; got != test.want {
			t.Errorf("For(%q, %q) = %s, want %s", test.chosen, test.accept, got, test.want)
		}
	}
	links := set.Others(set.For("de", nil), func(language string) string { return "x?lang=" + language })
	if len(links) != len(words.Languages)-1 || links[0] != (words.Link{Language: "en", Name: "English", Address: "x?lang=en"}) {
		t.Errorf("Others = %+v", links)
	}
}

func parseDay(t *testing.T, s string) data.Date {
	t.Helper()
	d, err := data.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestFormats(t *testing.T) {
	set := load(t)
	en, de, fr, pl, cs := set.For("en", nil), set.For("de", nil), set.For("fr", nil), set.For("pl", nil), set.For("cs", nil)
	day := data.Date(20649)
	period := func(w *words.Page[none], start, date string, composite data.Composite) string {
		o := data.Observation{Date: parseDay(t, date)}
		o.Details.Composite = composite
		if start != "" {
			o.Details.PeriodStart = data.Known(parseDay(t, start))
		}
		return w.Period(&o) + "|" + w.CompositeOf(&o)
	}
	for _, test := range []struct{ got, want string }{
		{period(en, "2026-09-01", "2026-09-10", data.MeanComposite), "1 to 10 September 2026|mean of 10 days"},
		{period(en, "2026-09-28", "2026-10-04", data.MaximumComposite), "28 September to 4 October 2026|maximum of the week"},
		{period(en, "2025-12-28", "2026-01-03", data.NoComposite), "28 December 2025 to 3 January 2026|"},
		{period(en, "2026-09-10", "2026-09-10", data.NoComposite), "10 September 2026|"},
		{period(en, "", "2026-09-10", data.MeanComposite), "10 September 2026|"},
		{period(de, "2026-09-01", "2026-09-10", data.MedianComposite), "1. bis 10. September 2026|Median von 10 Tagen"},
		{period(de, "2026-08-30", "2026-09-05", data.MaximumComposite), "30. August bis 5. September 2026|Maximum der Woche"},
		{period(fr, "2026-09-01", "2026-09-10", data.MeanComposite), "1er au 10 septembre 2026|moyenne de 10 jours"},
		{period(pl, "2026-09-01", "2026-09-10", data.MeanComposite), "1 do 10 września 2026|średnia z 10 dni"},
		{period(cs, "2026-09-01", "2026-09-07", data.MeanComposite), "1. až 7. září 2026|průměr za týden"},
		{en.Number("1234567.25"), "1,234,567.25"}, {de.Number("1234567.25"), "1.234.567,25"}, {en.Number("61.2"), "61.2"}, {de.Number("0"), "0"},
		{en.Count(1892), "1,892"}, {de.Count(999), "999"},
		{en.Day(day), "15 July 2026"}, {de.Day(day), "15. Juli 2026"},
		{en.Ago(day, day), "today"}, {en.Ago(day+1, day), "today"}, {en.Ago(day-1, day), "yesterday"}, {en.Ago(day-2, day), "2 days ago"},
		{de.Ago(day-1, day), "gestern"}, {de.Ago(day-1200, day), "vor 1.200 Tagen"},
		{words.Fill("{a} of {b}, {a}", "a", "{b}", "b", "2"), "{b} of 2, {b}"},
		{words.Fill("{x} {a {a} } {", "a", "1"), "{x} {a 1 } {"}, {words.Fill("", "a", "1"), ""}, {words.Fill("{a}", "a", ""), ""}, {words.Fill("none"), "none"},
		{en.Plural(map[string]string{"one": "{n} lake", "other": "{n} lakes"}, 1), "1 lake"},
		{en.Plural(map[string]string{"one": "{n} lake", "other": "{n} lakes"}, 0), "0 lakes"},
		{en.Plural(map[string]string{"other": "{n} lakes"}, 1), "1 lakes"},
		{fr.Number("1892.5"), "1\u202f892,5"}, {fr.Ago(day-1, day), "hier"}, {fr.Ago(day-9, day), "il y a 9 jours"},
		{pl.Day(day), "15 lipca 2026"}, {pl.Ago(day-22, day), "22 dni temu"}, {pl.Ago(day-5, day), "5 dni temu"},
		{cs.Day(day), "15. července 2026"}, {cs.Ago(day-2, day), "před 2 dny"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

// The pages made here and the map round alike: web/test/figures.test.mjs reads the same cases.
func TestFigures(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(web, "test", "figures.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Profile, Text string
		Chl, Cells    *float64
	}
	if err := json.Unmarshal(content, &cases); err != nil || len(cases) < 30 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	english := load(t).For("en", nil)
	for _, c := range cases {
		p, err := data.ProfileByID(c.Profile)
		if err != nil {
			t.Fatal(err)
		}
		if c.Cells != nil {
			if got := english.Density(*c.Cells, p); got != c.Text {
				t.Errorf("%s: %v cells/ml are %s, want %s", c.Profile, *c.Cells, got, c.Text)
			}
			continue
		}
		chl, err := data.ChlorophyllOf(*c.Chl)
		if err != nil {
			t.Fatal(err)
		}
		if got := english.Value(chl, p); got != c.Text {
			t.Errorf("%s: %v µg/l are %s, want %s", c.Profile, *c.Chl, got, c.Text)
		}
	}
}

// Each language quotes WHO 2003 in English at the limits of the profile, with a translation, in the same words as the drawn legends; of other
// profiles it has only the names.
func TestScheme(t *testing.T) {
	who := data.Profiles()[0]
	for _, w := range load(t).All() {
		content, err := os.ReadFile(filepath.Join(web, "..", "render", "legend", "words", w.Language+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var drawn struct{ Scheme, Quotes string }
		if err := json.Unmarshal(content, &drawn); err != nil || drawn.Scheme != w.Legend.Profile || drawn.Quotes != w.Legend.Quotes {
			t.Errorf("%s: the drawn legend says %+v, %v, want the words of the page", w.Language, drawn, err)
		}
		got := w.Scheme(&who)
		moderate, _, _ := strings.Cut(who.Words[1], " of ")
		high, _, _ := strings.Cut(who.Words[2], " of ")
		parts := []string{who.Title, w.Number("20000"), w.Number(who.Limits[0].String()) + " µg/l", who.Words[0], w.Number("100000"), w.Number(who.Limits[1].String()) + " µg/l", moderate, high}
		for rest, i := got, 0; i < len(parts); i++ {
			_, after, found := strings.Cut(strings.ReplaceAll(rest, "\u00a0", " "), strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(parts[i]))
			if !found {
				t.Errorf("%s: no %q in its place in %q", w.Language, parts[i], got)
				break
			}
			rest = after
		}
		if translated := strings.Count(got, "("); translated != map[bool]int{true: 0, false: 3}[w.Language == "en"] {
			t.Errorf("%s: %d quotations are translated: %q", w.Language, translated, got)
		}
		for _, p := range data.Profiles()[1:] {
			if got := w.Scheme(&p); !strings.Contains(got, p.Title) || strings.Contains(got, "probability") {
				t.Errorf("%s: the scheme of %s is %q", w.Language, p.ID, got)
			}
		}
	}
}
