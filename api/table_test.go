package api

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/data"
)

// tableRowsPerPart is how many lakes one part of the table has.
const tableRowsPerPart = 200

var (
	tableRowPattern = regexp.MustCompile(`(?s)<tr role="row" class="([a-z ]+)">.*?</tr>`)
	tagPattern      = regexp.MustCompile(`<[^>]*>`)
)

// rowsOf returns the rows of a table as readers see them: the class of the row, then its text.
func rowsOf(page string) []string {
	var rows []string
	for _, m := range tableRowPattern.FindAllStringSubmatch(page, -1) {
		text := html.UnescapeString(tagPattern.ReplaceAllString(m[0], " "))
		rows = append(rows, m[1]+"| "+strings.Join(strings.Fields(text), " "))
	}
	return rows
}

func namesOf(rows []string) []string {
	var names []string
	for _, row := range rows {
		_, text, _ := strings.Cut(row, "| ")
		for _, name := range []string{"Klarer See", `Grüner "See" <&>`, "Müritz", "Unbekannt", "Schlierensee", "Wolkensee", "Ostsee auf Taveuni", "Westsee"} {
			if strings.HasPrefix(text, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func tablePageOf(t *testing.T, s *Server, query string, headers ...string) string {
	t.Helper()
	w := get(t, s, http.StatusOK, "/table"+query, headers...)
	if got := w.Header().Get("Content-Type"); got != "text/html; charset=utf-8" {
		t.Errorf("/table%s is %s", query, got)
	}
	return w.Body.String()
}

// Each kind of lake has its text: neither a lake without a value nor one with scum in clear water looks clean, and an old value looks old.
func TestTableRows(t *testing.T) {
	s := testServer(t)
	want := []string{
		`medium| Grüner "See" <&> Medium risk 10 µg/l 9 November 2026 unknown JSON CSV`,
		`low| Klarer See Low risk 3.5 µg/l 16 November 2026 unknown JSON CSV`,
		`high| Müritz High risk 61 µg/l 16 November 2026 unknown JSON CSV`,
		`low| Ostsee auf Taveuni Low risk 1 µg/l 16 November 2026 unknown JSON CSV`,
		`high| Schlierensee High risk (reported) 8 µg/l 16 November 2026 unknown JSON CSV`,
		`none| Unbekannt No current value (never measured) no value never measured unknown JSON CSV`,
		`medium| Westsee Medium risk 20 µg/l 16 November 2026 unknown JSON CSV`,
		`none old| Wolkensee No current value (last known risk: high) no value last value: 3 August 2026 older than two weeks unknown JSON CSV`,
	}
	page := tablePageOf(t, s, "")
	rows := rowsOf(page)
	if !slices.Equal(rows, want) {
		t.Errorf("rows:\n%s\nwant:\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
	for _, text := range []string{
		"A satellite sees neither scum on the shore nor bacteria", "No current value does not mean that a lake is clean",
		"Newest measurement: 16 November 2026.", "Lakes 1 to 8 of 8", "(WHO 2003): low below 10, medium 10 to below 50, high 50 or more",
		"Example Agency", `href="lakes/de_by_clean"`, `href="api/v1/bathing-lakes/history/de_by_clean.csv"`, "ask your local health authority",
	} {
		if !strings.Contains(page, text) {
			t.Errorf("the table lacks %q", text)
		}
	}
	for _, text := range []string{"<script", " style=", "<style", "noindex", "All values are older", `id="notice"`} {
		if strings.Contains(page, text) {
			t.Errorf("the table has %q", text)
		}
	}
	if !strings.Contains(page, "Grüner &#34;See&#34; &lt;&amp;&gt;") {
		t.Error("a name is not escaped")
	}
}

func TestTableOrder(t *testing.T) {
	s := testServer(t)
	for query, want := range map[string][]string{
		// The worst first: scum in clear water comes before a bloom of medium risk. Lakes without a value are last: those with a
		// known last risk before those without.
		"?sort=value":                {"Müritz", "Schlierensee", "Westsee", `Grüner "See" <&>`, "Klarer See", "Ostsee auf Taveuni", "Wolkensee", "Unbekannt"},
		"?risk=high":                 {"Müritz", "Schlierensee"},
		"?risk=medium":               {`Grüner "See" <&>`, "Westsee"},
		"?risk=medium&sort=value":    {"Westsee", `Grüner "See" <&>`},
		"?risk=low":                  {"Klarer See", "Ostsee auf Taveuni"},
		"?risk=low&sort=value":       {"Klarer See", "Ostsee auf Taveuni"},
		"?risk=none":                 {"Unbekannt", "Wolkensee"}, // a lake without a value is not found by its last risk
		"?q=muritz":                  {"Müritz"},
		"?q=see&sort=value":          {"Schlierensee", "Westsee", `Grüner "See" <&>`, "Klarer See", "Ostsee auf Taveuni", "Wolkensee"},
		"?q=see&risk=high":           {"Schlierensee"},
		"?q=&risk=&sort=value&lang=": {"Müritz", "Schlierensee", "Westsee", `Grüner "See" <&>`, "Klarer See", "Ostsee auf Taveuni", "Wolkensee", "Unbekannt"},
		"?q=nowhere":                 nil,
		"?q=%22%3E":                  nil,
		"?page=2":                    nil,
	} {
		page := tablePageOf(t, s, query)
		if got := namesOf(rowsOf(page)); !slices.Equal(got, want) {
			t.Errorf("/table%s has %q, want %q", query, got, want)
		}
		if (want == nil) == strings.Contains(page, "<table") {
			t.Errorf("/table%s: a table without lakes, or lakes without one", query)
		}
	}
	if page := tablePageOf(t, s, "?q=nowhere"); !strings.Contains(page, "No lake found. This says nothing about the state of any lake.") {
		t.Error("the table does not say that no lake was found")
	}
	if page := tablePageOf(t, s, "?page=2"); !strings.Contains(page, "There is no page 2.") || !strings.Contains(page, `href="table"`) {
		t.Error("a part after the last one does not lead back")
	}
	for query, parameter := range map[string]string{
		"?risk=no": "risk", "?sort=date": "sort", "?page=0": "page", "?page=1000001": "page", "?page=x": "page", "?lang=xx": "lang",
		"?q=%ff": "q", "?q=" + strings.Repeat("a", maxSearch+1): "q", "?q=a&q=b": "q",
	} {
		wantProblem(t, do(s, http.MethodGet, "/table"+query), http.StatusBadRequest, parameter)
	}
	wantProblem(t, do(newServer(t, testOptions(t), nil), http.MethodGet, "/table"), http.StatusServiceUnavailable)
}

func TestTableLanguage(t *testing.T) {
	opts := testOptions(t)
	opts.Notice = "Simulated demo data, not measurements"
	s := newServer(t, opts, testSource(t))
	for _, test := range []struct{ query, accept, want string }{
		{"", "", "en"}, {"", "fr-BE, de;q=0.4", "fr"}, {"", "cs", "cs"}, {"?lang=pl", "de", "pl"}, {"?lang=da", "", "da"}, {"?lang=nl", "", "nl"}, {"?lang=", "de", "de"},
		{"", strings.Repeat("de-", 2000), "en"},
	} {
		w := get(t, s, http.StatusOK, "/table"+test.query, "Accept-Language", test.accept)
		h := w.Header()
		if got := h.Get("Content-Language"); got != test.want || !strings.Contains(w.Body.String(), fmt.Sprintf(`<html lang="%s">`, test.want)) {
			t.Errorf("/table%s for %.20q is in %s, want %s", test.query, test.accept, got, test.want)
		}
		if !slices.Contains(h.Values("Vary"), "Accept-Language") {
			t.Errorf("Vary = %q", h.Values("Vary"))
		}
		notice := map[string]string{
			"en": "Simulated demo data, not measurements", "de": "Simulierte Demodaten, keine Messwerte", "fr": "Données de démonstration simulées",
			"pl": "Symulowane dane demonstracyjne", "cs": "Simulovaná ukázková data", "da": "Simulerede demodata", "nl": "Gesimuleerde demogegevens",
		}[test.want]
		if !strings.Contains(w.Body.String(), notice) {
			t.Errorf("in %s the notice is missing", test.want)
		}
	}
	page := tablePageOf(t, s, "?lang=de&sort=value")
	for _, want := range []string{"Hohes Risiko", "3,5", "16. November 2026", "Kein aktueller Wert (letztes bekanntes Risiko: hoch)", "älter als zwei Wochen",
		`name="lang" value="de"`, `href="lakes/de_mv_high?lang=de"`, `href="table?lang=en&amp;sort=value"`, `<a href="table?lang=cs&amp;sort=value" hreflang="cs" lang="cs">Čeština</a>`, "Seen 1 bis 8 von 8"} {
		if !strings.Contains(page, want) {
			t.Errorf("the German table lacks %q", want)
		}
	}
}

// The table has a message if all data are old.
func TestTableOfOldData(t *testing.T) {
	opts := testOptions(t)
	now := testNow()
	opts.Now = func() time.Time { return now }
	s := newServer(t, opts, testSource(t))
	first := get(t, s, http.StatusOK, "/table").Header().Get("ETag")
	publish := func() {
		t.Helper()
		if err := s.Publish(snapshotAt(t, testSource(t), now)); err != nil {
			t.Fatal(err)
		}
	}
	now = now.AddDate(0, 0, 10) // fourteen days after the newest measurement: not yet
	publish()
	if strings.Contains(tablePageOf(t, s, "?q=muritz"), "older than two weeks") {
		t.Error("a value of fourteen days counts as old")
	}
	now = now.AddDate(0, 0, 1)
	publish()
	page := tablePageOf(t, s, "")
	if !strings.Contains(page, "All values are older than two weeks.") || strings.Count(page, "old\">") < 7 {
		t.Error("old values do not look old")
	}
	if again := get(t, s, http.StatusOK, "/table").Header().Get("ETag"); again == first {
		t.Error("the ETag did not change with the ages")
	}
}

// manyLakes returns a source of n lakes with all kinds of values.
func manyLakes(tb testing.TB, n int) *fakeSource {
	tb.Helper()
	f := &fakeSource{revision: testSource(tb).revision}
	day := date(tb, "2026-11-16")
	for i := range n {
		id := data.LakeID(fmt.Sprintf("lake_%07d", i))
		f.lakes = append(f.lakes, data.Lake{ID: id, Name: fmt.Sprintf("See %07d", i*7919%n)})
		if i%5 == 4 {
			continue // never measured
		}
		f.observations = append(f.observations, data.Observation{
			LakeID: id, Date: day, Chlorophyll: data.Chlorophyll(i * 7919 % 15000), Level: data.NoLevel, CellDensity: data.NoCellDensity,
		})
	}
	return f
}

func TestTableParts(t *testing.T) {
	const lakes = 1103
	s := newServer(t, testOptions(t), manyLakes(t, lakes))
	nameOf := regexp.MustCompile(`lakes/lake_\d+"><bdi>([^<]+)<`)
	for _, query := range []string{"?", "?sort=value&", "?risk=none&"} {
		seen := make(map[string]bool)
		page := 1
		for ; ; page++ {
			text := tablePageOf(t, s, fmt.Sprintf("%spage=%d", query, page))
			rows := nameOf.FindAllStringSubmatch(text, -1)
			if len(rows) > tableRowsPerPart {
				t.Fatalf("%spage=%d has %d rows", query, page, len(rows))
			}
			for _, m := range rows {
				if seen[m[1]] {
					t.Fatalf("%s: %s is in it twice", query, m[1])
				}
				seen[m[1]] = true
			}
			if got := strings.Contains(text, `rel="prev" href="table`); got != (page > 1) {
				t.Errorf("%spage=%d: a link to the page before: %t", query, page, got)
			}
			if !strings.Contains(text, `<a rel="next"`) {
				break
			}
		}
		want := lakes
		if query == "?risk=none&" {
			want = lakes / 5
		}
		if len(seen) != want || page != (want+tableRowsPerPart-1)/tableRowsPerPart {
			t.Errorf("%s: %d lakes on %d pages, want %d", query, len(seen), page, want)
		}
	}
	if text := tablePageOf(t, s, "?q=see"); !strings.Contains(text, "More than 1,000 lakes match the name") || !strings.Contains(text, "Lakes 1 to 200 of 1,000.") {
		t.Error("the table does not say that it left out lakes")
	}
	if text := tablePageOf(t, s, "?q=see%20000001"); strings.Contains(text, "More than") {
		t.Error("the table says that it left out lakes, and did not")
	}
}
