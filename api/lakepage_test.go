package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/data"
)

// lakePageOf returns the page of a lake, and its text as readers see it.
func lakePageOf(t *testing.T, s *Server, target string, headers ...string) (page, text string) {
	t.Helper()
	w := get(t, s, http.StatusOK, "/lakes/"+target, headers...)
	if got := w.Header().Get("Content-Type"); got != "text/html; charset=utf-8" {
		t.Errorf("/lakes/%s is %s", target, got)
	}
	page = w.Body.String()
	_, body, _ := strings.Cut(page, "<body>")
	body = keptPattern.ReplaceAllString(body, "")
	return page, strings.Join(strings.Fields(html.UnescapeString(tagPattern.ReplaceAllString(body, " "))), " ")
}

// keptPattern finds what only a kept copy of the page shows.
var keptPattern = regexp.MustCompile(`<p id="kept" role="note" hidden>[^<]*</p>`)

// verdictSource has a lake in each state.
func verdictSource(t *testing.T) *fakeSource {
	f := testSource(t)
	add := func(lake, day string, chl data.Chlorophyll, change func(*data.Observation)) {
		o := data.Observation{LakeID: data.LakeID(lake), Date: date(t, day), Chlorophyll: chl, Level: data.NoLevel, CellDensity: data.NoCellDensity}
		if change != nil {
			change(&o)
		}
		f.observations = append(f.observations, o)
	}
	for _, l := range []string{"x_cells", "x_closed", "x_old", "x_sample", "x_warned"} {
		f.lakes = append(f.lakes, data.Lake{ID: data.LakeID(l), Name: l, Point: f.lakes[0].Point, Region: "Bayern"})
	}
	add("x_cells", "2026-11-16", 3_00, func(o *data.Observation) { o.CellDensity = 150_000; o.Type = data.InSitu })
	add("x_closed", "2026-11-16", 3_00, nil)
	add("x_old", "2026-10-26", 30_00, nil)
	add("x_sample", "2026-11-15", 12_50, func(o *data.Observation) { o.Type = data.InSitu; o.Source = "Labor <Süd>" })
	add("x_warned", "2026-11-16", 2_00, nil)
	from := date(t, "2026-11-01").Time()
	f.advisories = []data.Advisory{
		{ID: "c", LakeID: "x_closed", Kind: data.Closure, Cause: data.Cyanobacteria, Issuer: "Amt <B>", TextDE: "Badeverbot", URL: "https://example.org/c", Issued: from, ValidFrom: from, ValidUntil: date(t, "2026-12-24").Time()},
		{ID: "w", LakeID: "x_warned", Kind: data.Warning, Issuer: "Amt W", Issued: from, ValidFrom: from},
	}
	return f
}

// What the page says first is true in each state: an authority before any value, no old value as one of today, and no value is not clean.
func TestLakePageVerdicts(t *testing.T) {
	s := newServer(t, testOptions(t), verdictSource(t))
	for _, test := range []struct{ lake, class, want string }{ // the beginning of the text after the name
		{"de_by_clean", "low", "Klarer See Swimming looks fine Swimmers Swimming looks fine Small children Fine where the water is clear Dogs Fine where the water is clear The satellite shows few algae. Low risk Keep children out"},
		{"de_by_medium", "medium", `Grüner "See" <&> Swim with care, small children should not Swimmers Swim with care, do not swallow the water Small children Better keep them out Dogs Better keep them out The satellite shows many algae. Medium risk Many algae`},
		{"de_mv_high", "high", "Müritz Do not swim Swimmers Do not swim Small children Keep them out Dogs Keep them out, do not let them drink The satellite shows very many algae. High risk Very many algae: do not bathe"},
		{"de_mv_scum", "high", "Schlierensee Do not swim Swimmers Do not swim Small children Keep them out Dogs Keep them out, do not let them drink High risk (reported) Very many algae: do not bathe"},
		{"x_cells", "high", "x_cells Bayern Do not swim Swimmers Do not swim Small children Keep them out Dogs Keep them out, do not let them drink High risk (cell count) Very many algae"},
		{"x_sample", "medium", "x_sample Bayern Swim with care, small children should not Swimmers Swim with care, do not swallow the water Small children Better keep them out Dogs Better keep them out The sample shows many algae. Medium risk"},
		{"de_mv_never", "none", "Unbekannt No current value: look before you swim Swimmers Look at the water first Small children Only where you see clear water Dogs Only where you see clear water No current value This lake has never been measured. That does not mean that it is clean. Measured never"},
		{"de_mv_stale", "none", "Wolkensee No current value: look before you swim Swimmers Look at the water first Small children Better keep them out Dogs Better keep them out No current value Last known risk: high"},
		{"x_closed", "closed", "x_closed Bayern Closed: do not swim Swimmers Do not swim Small children Keep them out Dogs Keep them out, do not let them drink Closed until 23 December 2026 Do not bathe here. Blue-green algae · Amt <B> Badeverbot Page of the authority Algae: The satellite shows few algae. Low risk What the authority says counts all the same."},
		{"x_warned", "low", "x_warned Bayern Official warning: do not swim Swimmers Do not swim Small children Keep them out Dogs Keep them out, do not let them drink Official warning until further notice The authority advises against bathing here. Amt W Algae: The satellite shows few algae. Low risk What the authority says"},
	} {
		page, text := lakePageOf(t, s, test.lake)
		if _, main, _ := strings.Cut(text, " Nederlands "); !strings.HasPrefix(main, test.want) { // after the names of the other languages
			t.Errorf("%s begins with\n%.300s\nwant\n%s", test.lake, main, test.want)
		}
		for _, always := range []string{`<section class="verdict ` + test.class, "A satellite sees neither scum", "Example Agency", "WHO 2003"} {
			if !strings.Contains(page, always) {
				t.Errorf("%s lacks %q", test.lake, always)
			}
		}
		verdict, _, _ := strings.Cut(page, "</section>")
		if clean := test.class == "low" || test.class == "closed"; !clean && strings.Contains(verdict, "few algae") {
			t.Errorf("%s says that there are few algae", test.lake)
		}
		for _, never := range []string{" style=", "<style", "javascript:", "<no value>", "&lt;nil&gt;", "%!"} {
			if strings.Contains(page, never) {
				t.Errorf("%s has %q", test.lake, never)
			}
		}
	}
}

// The page names a value of an index of cyanobacteria as one, and no other.
func TestLakePageOfAnIndex(t *testing.T) {
	const sentence = "The value is from an index of blue-green algae"
	f := verdictSource(t)
	f.lakes = append(f.lakes, data.Lake{ID: "y_index", Name: "y_index", Point: f.lakes[0].Point})
	f.observations = append(f.observations, data.Observation{LakeID: "y_index", Date: date(t, "2026-11-16"), Chlorophyll: 7_88, Level: data.NoLevel,
		CellDensity: 165_422, Source: "EPA CyAN", Details: data.Details{PeriodStart: data.Known(date(t, "2026-11-10")), Composite: data.MaximumComposite}})
	opts := testOptions(t)
	opts.Historian = f
	s := newServer(t, opts, f)
	for _, lake := range []string{"y_index", "x_cells", "x_sample", "de_by_medium", "de_mv_stale"} {
		if _, text := lakePageOf(t, s, lake); strings.Contains(text, sentence) != (lake == "y_index") {
			t.Errorf("%s: %.600s", lake, text)
		}
	}
	if _, text := lakePageOf(t, s, "y_index"); !strings.Contains(text, "High risk (index of blue-green algae) Very many algae") ||
		!strings.Contains(text, "Index of blue-green algae: 170,000 cells/ml, worse") || strings.Contains(text, "Most satellite products") {
		t.Errorf("the page is %.600s", text)
	}
	for _, want := range []string{"10 to 16 November 2026 (4 days ago), by satellite, maximum of the week", "10 to 16 November 2026 7.9 "} {
		if _, text := lakePageOf(t, s, "y_index"); !strings.Contains(text, want) {
			t.Errorf("the page lacks %q: %s", want, text)
		}
	}
}

// A value older than two weeks is not said to be today's, and its symbol is pale.
func TestLakePageOfAnOldValue(t *testing.T) {
	opts := testOptions(t)
	opts.Now = func() time.Time { return date(t, "2026-12-01").Time() }
	s := newServer(t, opts, verdictSource(t))
	page, text := lakePageOf(t, s, "de_mv_high")
	for _, want := range []string{"Müritz Old value, high: do not swim without a newer one Swimmers Do not swim Small children Keep them out Dogs Keep them out, do not let them drink Last known risk: high Old value, not today’s. Very many algae at that time", "16 November 2026 (15 days ago), by satellite"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q: %s", want, text)
		}
	}
	if strings.Contains(page, "The satellite shows") || !strings.Contains(page, `<section class="verdict high old">`) {
		t.Error("an old value looks like one of today")
	}
	if !strings.Contains(page, `name="description" content="Müritz: Old value, high: do not swim without a newer one. Last known risk: high. Measured on 16 November 2026. A satellite sees`) {
		t.Error("the description does not say that the value is old")
	}
}

// Simulated data are said to be that wherever the page is shown, and search engines get no value of them.
func TestLakePageOfSimulatedData(t *testing.T) {
	opts := testOptions(t)
	opts.Notice = "Simulated demo data, not measurements"
	s := newServer(t, opts, verdictSource(t))
	for language, notice := range map[string]string{"en": opts.Notice, "de": "Simulierte Demodaten, keine Messwerte"} {
		page, _ := lakePageOf(t, s, "de_mv_high?lang="+language)
		if !strings.Contains(page, `<p id="notice" role="note">`+notice+`<`) || !strings.Contains(page, `name="description" content="`+notice+`. Müritz: `) ||
			!strings.Contains(page, `content="noindex"`) || strings.Contains(page, "measuredProperty") {
			t.Errorf("in %s simulated data look real: %.3000s", language, page)
		}
	}
	if page, _ := lakePageOf(t, newServer(t, testOptions(t), verdictSource(t)), "de_mv_high"); strings.Contains(page, "noindex") || !strings.Contains(page, "measuredProperty") {
		t.Error("search engines do not find real data")
	}
}

// The page names who answers questions, also by telephone, if the operator does.
func TestLakePageContact(t *testing.T) {
	opts := testOptions(t)
	if page, _ := lakePageOf(t, newServer(t, opts, verdictSource(t)), "x_sample"); strings.Contains(page, "Who to ask") {
		t.Error("the page names a contact, and there is none")
	}
	opts.Contact = Contact{Name: "Amt <Süd>", URL: "tel:+493012345"}
	if page, _ := lakePageOf(t, newServer(t, opts, verdictSource(t)), "x_sample"); !strings.Contains(page, `Who to ask: <a href="tel:&#43;493012345" rel="noopener"><bdi>Amt &lt;Süd&gt;</bdi></a>`) {
		t.Errorf("the page has no contact: %s", page)
	}
}

func TestLakePageFacts(t *testing.T) {
	opts := testOptions(t)
	opts.Historian = verdictSource(t) // a snapshot does not hold the names of sources
	s := newServer(t, opts, verdictSource(t))
	page, text := lakePageOf(t, s, "x_sample?lang=de")
	for _, want := range []string{
		"15. November 2026 (vor 5 Tagen), aus einer Wasserprobe", "Quelle Labor <Süd>", "13 µg/l", "Trophie (OECD 1982) unbekannt", "Klassen. WHO 2003 sagt: ab 20.000 Zellen/ml oder 10 µg/l „relatively low probability of adverse health effects“ (",
		"Die letzten zwölf Wochen", "15. November 2026 13 mittel Wasserprobe ( Labor <Süd> ) Woche 45, 2026 kein Wert",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q: %s", want, text)
		}
	}
	if n := strings.Count(page, `<th scope="row">`); n != 12 {
		t.Errorf("the table has %d weeks", n)
	}
	for _, want := range []string{
		`href="../?lang=de#lake=x_sample"`, `href="x_sample/sign?lang=de"`, `href="../table?lang=de"`, `href="../lake.css"`,
		`href="../api/v1/bathing-lakes/history/x_sample.csv"`, `href="../api/v1/bathing-lakes/history/x_sample"`,
		`href="x_sample?lang=en" hreflang="en" lang="en">English<`, `<path class="squares"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, `<path class="dots"`) {
		t.Error("the chart of a lake with one sample has a value of a satellite")
	}
}

// The lakes around a lake come in the order of their distance; those with lower risk have a value of these days and no warning.
func TestLakePageNeighbours(t *testing.T) {
	s := newServer(t, testOptions(t), verdictSource(t))
	names := func(lake, heading string) []string {
		page, _ := lakePageOf(t, s, lake)
		_, list, found := strings.Cut(page, "<h2>"+heading+"</h2>")
		if !found {
			return nil
		}
		list, _, _ = strings.Cut(list, "</ul>")
		var names []string
		for _, m := range regexp.MustCompile(`<a href="([^"]+)"><bdi>`).FindAllStringSubmatch(list, -1) {
			names = append(names, m[1])
		}
		return names
	}
	for _, test := range []struct {
		lake        string
		near, lower []string
	}{
		// Lakes with the same distance are in the order of their ids.
		{"de_by_clean", []string{"x_cells", "x_closed", "x_old", "x_sample", "x_warned"}, nil},
		{"x_cells", []string{"de_by_clean", "x_closed", "x_old", "x_sample", "x_warned"}, []string{"de_by_clean", "x_sample", "de_by_medium"}},
		{"x_closed", []string{"de_by_clean", "x_cells", "x_old", "x_sample", "x_warned"}, []string{"de_by_clean"}},
		{"x_sample", []string{"de_by_clean", "x_cells", "x_closed", "x_old", "x_warned"}, []string{"de_by_clean"}},
		{"de_mv_never", []string{"de_mv_scum", "de_mv_high", "de_mv_stale"}, nil},
		{"fj_west", nil, nil}, // the other lake of Fiji is 107 km away
	} {
		if got := names(test.lake, "Nearest lakes"); !slices.Equal(got, test.near) {
			t.Errorf("near %s are %q, want %q", test.lake, got, test.near)
		}
		if got := names(test.lake, "Nearest lakes with lower risk"); !slices.Equal(got, test.lower) {
			t.Errorf("lower than %s are %q, want %q", test.lake, got, test.lower)
		}
	}
	if _, text := lakePageOf(t, s, "de_by_clean"); !strings.Contains(text, "x_closed Closed, 0.0 km") || !strings.Contains(text, "x_warned Official warning, Low risk, 0.0 km") {
		t.Errorf("the lakes around do not say what authorities say: %s", text)
	}
}

// What other servers read has the public address, if there is one, and the base path.
func TestLakePageForOthers(t *testing.T) {
	opts := testOptions(t)
	opts.PublicURL = &url.URL{Scheme: "https", Host: "lakes.example.org"}
	opts.BasePath = "/base"
	s := newServer(t, opts, verdictSource(t))
	page := get(t, s, http.StatusOK, "/base/lakes/x_sample?lang=de").Body.String()
	const address = "https://lakes.example.org/base/lakes/x_sample"
	for _, want := range []string{
		`<link rel="canonical" href="` + address + `?lang=de">`,
		`<link rel="alternate" hreflang="x-default" href="` + address + `">`,
		`<link rel="alternate" hreflang="en" href="` + address + `?lang=en">`,
		`<link rel="alternate" hreflang="de" href="` + address + `?lang=de">`,
		`href="https://lakes.example.org/base/oembed?format=json&amp;url=` + url.QueryEscape(address+"?lang=de") + `"`,
		`<meta property="og:image" content="` + address + `/preview.png?lang=de">`,
		`<meta property="og:url" content="` + address + `?lang=de">`,
		`<meta property="og:title" content="x_sample, Bayern · Algen in Seen">`,
		`<meta property="og:locale" content="de_DE">`,
		`<title>x_sample, Bayern · Algen in Seen</title>`,
		`<meta name="description" content="x_sample, Bayern: Vorsichtig baden, kleine Kinder nicht. Die Wasserprobe zeigt viele Algen. Mittleres Risiko. Gemessen am 15. November 2026. Ein Satellit`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	_, text, _ := strings.Cut(page, `<script type="application/ld+json">`)
	text, _, _ = strings.Cut(text, "</script>")
	var linked struct {
		Context string           `json:"@context"`
		Graph   []map[string]any `json:"@graph"`
	}
	if err := json.Unmarshal([]byte(text), &linked); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if len(linked.Graph) != 2 || linked.Context != "https://schema.org" || linked.Graph[0]["url"] != address || linked.Graph[1]["observationDate"] != "2026-11-15" || linked.Graph[1]["value"] != 12.5 {
		t.Errorf("JSON-LD = %s", text)
	}

	// Without a public address, and by a Host that anyone may have sent, the addresses have no origin.
	page, _ = lakePageOf(t, newServer(t, testOptions(t), verdictSource(t)), "x_sample")
	if !strings.Contains(page, `<link rel="canonical" href="/lakes/x_sample">`) {
		t.Error("canonical is not relative")
	}
	for _, never := range []string{"og:image", "og:url", "oembed", "example.com"} {
		if strings.Contains(page, never) {
			t.Errorf("without a public address the page has %s", never)
		}
	}
}

// Names come from outside: they stay texts.
func TestLakePageEscapesNames(t *testing.T) {
	hostile := `</script><script>alert(1)</script>"'<!--{{.}}` + "\u202e\u2028"
	f := verdictSource(t)
	for i := range f.lakes {
		f.lakes[i].Name, f.lakes[i].Region = hostile, hostile
	}
	for i := range f.observations {
		if f.observations[i].LakeID == "x_sample" {
			f.observations[i].Source = hostile
		}
	}
	f.advisories[0].Issuer, f.advisories[0].TextEN = hostile, hostile
	s := newServer(t, testOptions(t), f)
	for _, lake := range []string{"x_sample", "x_closed", "de_mv_high"} {
		page, _ := lakePageOf(t, s, lake)
		if n := strings.Count(page, "<script"); n != 2 { // its own, and the data for search engines
			t.Errorf("%s has %d scripts", lake, n)
		}
		if strings.Contains(page, "<!--") || strings.Contains(page, "\u202e") || strings.Contains(page, "\u2028") {
			t.Errorf("%s has a comment, or a character that changes the order of others", lake)
		}
		_, text, _ := strings.Cut(page, `<script type="application/ld+json">`)
		text, _, _ = strings.Cut(text, "</script>")
		var linked any
		if err := json.Unmarshal([]byte(text), &linked); err != nil {
			t.Errorf("%s: %v: %s", lake, err, text)
		}
		if !strings.Contains(fmt.Sprint(linked), `</script><script>alert(1)`) {
			t.Errorf("%s: the name was lost: %s", lake, text)
		}
	}
}

func TestLakePageRequests(t *testing.T) {
	s := newServer(t, testOptions(t), verdictSource(t))
	h := get(t, s, http.StatusOK, "/lakes/de_mv_high", "Accept-Language", "de").Header()
	if h.Get("Content-Language") != "de" || !slices.Contains(h.Values("Vary"), "Accept-Language") || h.Get("Cache-Control") != "public, max-age=60, stale-while-revalidate=300" {
		t.Errorf("the German page has %v", h)
	}
	wantProblem(t, do(s, http.MethodGet, "/lakes/de_mv_high?lang=xx"), http.StatusBadRequest, "lang")
	wantProblem(t, do(s, http.MethodGet, "/lakes/nowhere"), http.StatusNotFound)
	wantProblem(t, do(newServer(t, testOptions(t), nil), http.MethodGet, "/lakes/de_mv_high"), http.StatusServiceUnavailable)
}

// A history that is not in memory is read once. While the store fails, the page has the verdict all the same.
func TestLakePageOfAHistoryInTheStore(t *testing.T) {
	f := longSource(t)
	f.observations[3].Date = date(t, "2026-06-01") // of the newest of the old ones
	opts := testOptions(t)
	historian := &countingHistorian{fakeSource: f}
	opts.Historian = historian
	s := shortServer(t, opts, f)
	for range 3 {
		if page, text := lakePageOf(t, s, "de_by_clean"); !strings.Contains(page, `<path class="dots"`) || !strings.Contains(text, "3 values, 1 June 2026 to 16 November 2026. Lowest 2 µg/l, highest 20 µg/l.") {
			t.Errorf("the history is not whole: %s", text)
		}
	}
	if len(historian.limits) != 1 {
		t.Errorf("the store was asked %d times", len(historian.limits))
	}
	f.err = errors.New("disk on fire")
	s = shortServer(t, opts, f)
	_, text := lakePageOf(t, s, "de_by_clean")
	if !strings.Contains(text, "The satellite shows few algae.") || !strings.Contains(text, "Earlier values cannot be read at the moment.") || strings.Contains(text, "last twelve weeks") {
		t.Errorf("without the store the page is: %s", text)
	}
}
