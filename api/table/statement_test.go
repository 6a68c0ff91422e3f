package table

import (
	"context"
	"html"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/api/pages"
	"limnomap/api/words"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/index"
	"limnomap/data/snapshot"
)

// unused has the methods of a source that Load does not need. They are below those of a fakeSource.
type unused struct{ snapshot.Source }

// A fakeSource holds lakes in memory, for [snapshot.Load].
type fakeSource struct {
	snapshot.NoForecasts
	snapshot.NoPixels
	unused
	lakes        []data.Lake
	observations []data.Observation
	advisories   []data.Advisory
}

func (f *fakeSource) Scan(_ context.Context, lake func(data.Lake) error, observation func(data.Observation) error) (data.Revision, error) {
	for _, l := range f.lakes {
		if err := lake(l); err != nil {
			return data.Revision{}, err
		}
	}
	for _, o := range f.observations {
		if err := observation(o); err != nil {
			return data.Revision{}, err
		}
	}
	return data.Revision{}, nil
}

func (f *fakeSource) Advisories(context.Context) ([]data.Advisory, data.Revision, error) {
	return f.advisories, data.Revision{}, nil
}

var (
	today = data.DateOf(time.Date(2026, 7, 13, 0, 0, 0, 0, time.UTC))
	gaps  = data.Observation{Date: today, Chlorophyll: data.NoChlorophyll, Level: data.NoLevel, CellDensity: data.NoCellDensity}
)

// add adds a lake with a value in µg/l, none if it is negative.
func (f *fakeSource) add(id data.LakeID, name string, chl float64, change func(*data.Observation), statements ...data.Advisory) {
	f.lakes = append(f.lakes, data.Lake{ID: id, Name: name})
	o := gaps
	o.LakeID = id
	if chl >= 0 {
		o.Chlorophyll = data.Chlorophyll(chl * 100)
	}
	if change != nil {
		change(&o)
	}
	f.observations = append(f.observations, o)
	for _, s := range statements {
		s.LakeID, s.Issued, s.ValidFrom = id, today.Time(), today.Time()
		f.advisories = append(f.advisories, s)
	}
}

// statementSource has each kind of lake that the colour of a value does not show completely.
func statementSource() *fakeSource {
	f := new(fakeSource)
	f.add("a", "Algensee", 80, nil)
	f.add("b", "Badsee", 3, nil, data.Advisory{
		ID: "b", Kind: data.Closure, Cause: data.Bacteria, Issuer: "Amt <B>", TextDE: "Badeverbot\nfür alle", URL: "https://example.org/b?x=1&y=2",
		ValidUntil: today.Time().AddDate(0, 0, 3),
	})
	f.add("c", "Zellsee", 3, func(o *data.Observation) { o.CellDensity, o.Type = 150_000, data.InSitu })
	f.add("d", "Dichtsee", -1, nil, data.Advisory{ID: "d", Kind: data.Closure, Issuer: "Amt D", TextEN: "Closed", TextDE: "Zu"})
	f.add("e", "Warnsee", 20, nil, data.Advisory{ID: "e", Kind: data.Warning, Cause: data.Cyanobacteria, Issuer: "Amt E"})
	f.add("f", "Saisonsee", 3, nil, data.Advisory{ID: "f", Kind: data.Season, Issuer: "Amt F"})
	f.add("g", "Scumsee", 3, func(o *data.Observation) { o.Level, o.CellDensity = 3, 25_000 })
	f.add("h", "Leersee", -1, nil)
	return f
}

var (
	rowPattern = regexp.MustCompile(`(?s)<tr role="row" class="([a-z ]+)">.*?</tr>`)
	usePattern = regexp.MustCompile(`<use href="#(\w+)"/>`)
	tagPattern = regexp.MustCompile(`<[^>]*>`)
)

// pageOf returns the page of a query, and its rows: class, symbols and text.
func pageOf(t *testing.T, q Query) (page string, rows []string) {
	t.Helper()
	snap, err := snapshot.Load(t.Context(), statementSource(), &snapshot.Options{AsOf: snapshot.Newest, Present: data.ByClock(func() time.Time { return today.Time() })})
	if err != nil {
		t.Fatal(err)
	}
	scale, err := colormap.New(colormap.IDs()[0], colormap.Limits{Level1: 10, Level2: 50})
	if err != nil {
		t.Fatal(err)
	}
	table, err := New(os.DirFS("../../web"), scale)
	if err != nil {
		t.Fatal(err)
	}
	q.Number = 1
	content, _, err := table.Page(NewLakes(snap, index.NewNameIndex(snap.Lakes)), q, &pages.Reader{Today: today})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range rowPattern.FindAllStringSubmatch(string(content), -1) {
		symbols := ""
		for _, use := range usePattern.FindAllStringSubmatch(m[0], -1) {
			symbols += " #" + use[1]
		}
		text := html.UnescapeString(tagPattern.ReplaceAllString(m[0], " "))
		rows = append(rows, m[1]+symbols+"| "+strings.Join(strings.Fields(text), " "))
	}
	return string(content), rows
}

// A closure comes before the class of the value, which is beside it. A lake that is worse than the colour of its value has the badge and
// the reason.
func TestStatements(t *testing.T) {
	for language, wants := range map[string][]string{
		"en": {
			"closed #closed| Badsee Closed until 15 July 2026 Bacteria · Amt <B> Do not bathe here. Badeverbot für alle Page of the authority Algae: Low risk 3 µg/l",
			"closed #closed| Dichtsee Closed until further notice Amt D Do not bathe here. Closed Algae: No current value (never measured) no value",
			"high #high| Algensee High risk 80 µg/l",
			"high #high #badge| Scumsee High risk (reported) 3 µg/l",
			"high #high #badge| Zellsee High risk (cell count) 3 µg/l 13 July 2026 , from a water sample",
			"medium #medium #badge| Warnsee Official warning until further notice Blue-green algae · Amt E The authority advises against bathing here. Algae: Medium risk 20 µg/l",
			"low #low| Saisonsee Low risk 3 µg/l",
			"none #none| Leersee No current value (never measured)",
		},
		// A statement in German only is shown to readers of other languages, too, and one in English and German in English.
		"pl": {
			"closed #closed| Badsee Zakaz kąpieli do 15 lipca 2026 Bakterie · Amt <B> Nie wolno się tu kąpać. Badeverbot für alle Strona urzędu Glony: Niskie ryzyko 3 µg/l",
			"closed #closed| Dichtsee Zakaz kąpieli do odwołania Amt D Nie wolno się tu kąpać. Closed Glony: Brak aktualnej wartości (bez pomiarów)",
			"high #high| Algensee Wysokie ryzyko",
			"high #high #badge| Scumsee Wysokie ryzyko (zgłoszone)",
			"high #high #badge| Zellsee Wysokie ryzyko (liczba komórek)",
			"medium #medium #badge| Warnsee Ostrzeżenie urzędowe do odwołania Sinice · Amt E Urząd odradza kąpiel w tym miejscu. Glony: Średnie ryzyko",
			"low #low| Saisonsee Niskie ryzyko",
			"none #none| Leersee Brak aktualnej wartości",
		},
	} {
		page, rows := pageOf(t, Query{Class: AllClasses, ByValue: true, Language: language})
		if len(rows) != len(wants) {
			t.Fatalf("%s: %d rows, want %d: %q", language, len(rows), len(wants), rows)
		}
		for i, want := range wants {
			if !strings.HasPrefix(rows[i], want) {
				t.Errorf("%s: row %d = %q, want %q", language, i, rows[i], want)
			}
		}
		for _, want := range []string{`href="https://example.org/b?x=1&amp;y=2" rel="noopener"`, `lang="de" dir="auto">Badeverbot`, "Amt &lt;B&gt;"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page lacks %s", language, want)
			}
		}
	}
}

// A closed lake is found as closed and, with those of high risk, among the worst; never by the class of its value alone.
func TestClassOfClosedLakes(t *testing.T) {
	for _, test := range []struct {
		q    Query
		want []string
	}{
		{Query{Class: words.Closed}, []string{"Badsee", "Dichtsee"}},
		{Query{Class: words.Closed, ByValue: true}, []string{"Badsee", "Dichtsee"}},
		{Query{Class: words.HighRisk}, []string{"Algensee", "Badsee", "Dichtsee", "Scumsee", "Zellsee"}},
		{Query{Class: words.HighRisk, ByValue: true}, []string{"Badsee", "Dichtsee", "Algensee", "Scumsee", "Zellsee"}},
		{Query{Class: words.HighRisk, Name: "badsee"}, []string{"Badsee"}},
		{Query{Class: words.Closed, Name: "see", ByValue: true}, []string{"Badsee", "Dichtsee"}},
		{Query{Class: words.LowRisk}, []string{"Saisonsee"}},
		{Query{Class: words.LowRisk, Name: "badsee"}, nil},
		{Query{Class: words.NoValue}, []string{"Leersee"}},
	} {
		_, rows := pageOf(t, test.q)
		var names []string
		for _, row := range rows {
			_, text, _ := strings.Cut(row, "| ")
			name, _, _ := strings.Cut(text, " ")
			names = append(names, name)
		}
		if !slices.Equal(names, test.want) {
			t.Errorf("%+v finds %q, want %q", test.q, names, test.want)
		}
	}
}
