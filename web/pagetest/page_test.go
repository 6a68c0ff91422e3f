package pagetest

import (
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/demo"
	"limnomap/web/browsertest"
)

const attributionText = `document.querySelector('.leaflet-control-attribution').textContent.trim()`

func TestPageInBrowser(t *testing.T) {
	t.Parallel()
	base := startServer(t, "--base-path", "/lakes", "--attribution", "Lake <b>Agency</b>")
	b := startBrowser(t, "en-GB")
	b.Do(t,
		chromedp.EmulateViewport(1280, 800),
		chromedp.Navigate(base+"/"),
		chromedp.WaitVisible("#legend"),
		browsertest.Until(heatDrawn),
		chromedp.WaitVisible(".leaflet-outlines-pane svg"), // shown without a basemap
	)
	if title := browsertest.Ask(t, b, chromedp.Title()); !strings.Contains(title, "Algae in lakes") {
		t.Errorf("title = %q", title)
	}
	if notice := browsertest.Ask(t, b, chromedp.Text("#notice")); !strings.Contains(notice, "imulated") {
		t.Errorf("the notice = %q, want it to say that the values are simulated", notice)
	}
	if attribution := browsertest.Ask(t, b, chromedp.Evaluate[string](attributionText)); attribution != "Lake <b>Agency</b>" {
		t.Errorf("the attribution = %q, want it unchanged, once and without the notice", attribution)
	}
	// Germany fills a map of this size at zoom 6, next to the legend.
	if zoom := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector('.heatmap img').src.match(/tiles.(\d+)/)[1]`)); zoom != "6" {
		t.Errorf("the first view is at zoom %s, want 6", zoom)
	}
	b.Do(t, chromedp.Click("#legend summary"))
	checkLegend(t, b, "Low risk: below 10", "Medium risk: 10 to below 50", "High risk: 50 or more", "No current value", "µg/l")
	b.Do(t, chromedp.WaitVisible("#find li button"))
	var status limnomaptest.Status
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/status", &status)
	if items := browsertest.Ask(t, b, chromedp.Evaluate[int](`document.querySelectorAll('#find li').length`)); items != status.TotalLakes {
		t.Errorf("the list holds %d lakes, want %d", items, status.TotalLakes)
	}
	t.Run("a lake's card", func(t *testing.T) { testCard(t, b) })
	t.Run("a lake without a value", func(t *testing.T) { testNoData(t, b, status) })
	t.Run("light and dark", func(t *testing.T) { testScheme(t, b) })
	t.Run("a phone", func(t *testing.T) { testPhone(t, b, base) })
	b.WantNoProblems(t, strings.TrimSuffix(base, "/lakes"))
}

func checkLegend(t *testing.T, b *browsertest.Browser, wants ...string) {
	t.Helper()
	legend := browsertest.Ask(t, b, chromedp.Text("#legend"))
	for _, want := range wants {
		if !strings.Contains(legend, want) {
			t.Errorf("the legend lacks %q: %s", want, legend)
		}
	}
}

// find searches for a text and waits for the list and for the answer of the server, after which the list does not change.
func find(t *testing.T, b *browsertest.Browser, words string) {
	t.Helper()
	b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => {
		document.querySelector('#find [role=status]').value = '';
		performance.clearResourceTimings();
		const field = document.querySelector('#q');
		field.focus();
		field.value = %q;
		field.dispatchEvent(new Event('input'));
	})()`, words)))
	if words != "" {
		b.Do(t, browsertest.Until(`performance.getEntriesByType('resource').some(({name}) => name.includes('/search?'))`))
	}
	b.Do(t, browsertest.Until(`/^\d/.test(document.querySelector('#find [role=status]').value)`), chromedp.WaitVisible("#find li button"))
}

func testCard(t *testing.T, b *browsertest.Browser) {
	checkCard := func(how string) {
		t.Helper()
		card := browsertest.Ask(t, b, chromedp.Text("#card"))
		for _, want := range []string{"Müggelsee", "Chlorophyll-a", " risk", "Trophic status"} {
			if !strings.Contains(card, want) {
				t.Errorf("the card opened by %s lacks %q: %s", how, want, card)
			}
		}
		// The demo's newest week begins this Monday.
		if measured := regexp.MustCompile(`Measured (today|yesterday|[2-6] days ago), \d{1,2} \w+ \d{4}`); !measured.MatchString(card) {
			t.Errorf("the card opened by %s lacks %q: %s", how, measured, card)
		}
	}
	const button = `//section[@id="find"]//li/button[contains(., "Müggelsee") and not(contains(., "Kleiner"))]`
	b.Do(t,
		chromedp.SendKeys("#q", "muggelsee"),
		browsertest.Until(`document.querySelectorAll('#find li').length < 5`),
		chromedp.Focus(button),
		chromedp.KeyEvent(kb.Enter),
		chromedp.WaitVisible("#card h2"),
	)
	checkCard("the list")
	if !browsertest.Ask(t, b, chromedp.Evaluate[bool](`document.activeElement.closest('#card') !== null`)) {
		t.Error("the focus is not on the card that the list opened")
	}
	b.Do(t, chromedp.KeyEvent(kb.Escape), chromedp.WaitNotVisible("#card"))
	if focused := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.activeElement.textContent`)); !strings.Contains(focused, "Müggelsee") {
		t.Errorf("with the card closed the focus is on %q, want the list's button", focused)
	}
}

// A lake without a current value must not look clean, whatever its last risk was.
func testNoData(t *testing.T, b *browsertest.Browser, status limnomaptest.Status) {
	var name string
	for _, lake := range status.Lakes {
		if lake.Chl == nil {
			name = lake.Name
		}
	}
	if name == "" {
		t.Fatal("no lake of the demo lacks a value")
	}
	find(t, b, name)
	b.Do(t, chromedp.Click("#find li button:has(.none)"), chromedp.WaitVisible("#card h2"))
	if risk := browsertest.Ask(t, b, chromedp.Text("#card .risk")); risk != "No current value" {
		t.Errorf("the card of %s shows the risk %q, want No current value", name, risk)
	}
	if !browsertest.Ask(t, b, chromedp.Evaluate[bool](`document.querySelector('#card .risk .symbol').matches('.none')`)) {
		t.Error("the card's symbol is not the ring of lakes without a value")
	}
	if card := browsertest.Ask(t, b, chromedp.Text("#card")); !strings.Contains(card, "does not mean that it is clean") {
		t.Errorf("the card does not warn that the lake may not be clean: %s", card)
	}
}

// The page differs in light and dark. axe-core checks that both are readable.
func testScheme(t *testing.T, b *browsertest.Browser) {
	paper := make(map[string]string)
	for _, scheme := range []string{"light", "dark"} {
		b.Prefer(t, "color-scheme", scheme)
		paper[scheme] = browsertest.Ask(t, b, chromedp.Evaluate[string](`getComputedStyle(document.body).backgroundColor`))
	}
	if paper["light"] == paper["dark"] {
		t.Errorf("the page is %s light and dark", paper["dark"])
	}
}

func testPhone(t *testing.T, b *browsertest.Browser, base string) {
	b.Prefer(t, "reduced-motion", "reduce") // no animation of the card
	b.Do(t,
		chromedp.EmulateViewport(320, 640, chromedp.EmulateScale(2), chromedp.EmulateMobile),
		chromedp.Navigate(base+"/"),
		chromedp.WaitVisible("#legend"),
		browsertest.Until(heatDrawn),
	)
	if browsertest.Ask(t, b, chromedp.Evaluate[bool](`document.querySelector('#legend details').open`)) {
		t.Error("the legend is open on a phone")
	}
	checkLegend(t, b, "low", "medium", "high", "no value")
	find(t, b, "muggelsee")
	b.Do(t, chromedp.Click("#find li button"), chromedp.WaitVisible("#card h2"))
	type box struct{ Left, Right, Top, Bottom, Header, Width float64 }
	card := browsertest.Ask(t, b, chromedp.Evaluate[box](`(() => {
		const r = document.querySelector('#panel').getBoundingClientRect();
		return {Left: r.left, Right: r.right, Top: r.top, Bottom: r.bottom,
			Header: document.querySelector('header').getBoundingClientRect().bottom, Width: document.documentElement.scrollWidth};
	})()`))
	if card.Width > 320 {
		t.Errorf("the page is %v px wide on a phone of 320 px", card.Width)
	}
	if card.Left < 0 || card.Right > 320 || card.Top < card.Header || card.Bottom > 640 {
		t.Errorf("the card %+v is not completely on a phone of 320 x 640 px", card)
	}
	if !slices.ContainsFunc(b.Requests(), func(url string) bool { return strings.Contains(url, "@2x.png") }) {
		t.Error("a screen with two pixels per point loaded no @2x tile")
	}
}

// The page draws the map under the host it was opened with, also if the TileJSON names another one.
func TestPageWithAnotherPublicURL(t *testing.T) {
	t.Parallel()
	base := startServer(t, "--public-url", "http://elsewhere.example")
	var tileJSON struct {
		Tiles    []string
		Snapshot string
	}
	limnomaptest.GetJSON(t, base+"/api/v1/tiles.json", &tileJSON)
	if len(tileJSON.Tiles) != 1 || !strings.HasPrefix(tileJSON.Tiles[0], "http://elsewhere.example/") {
		t.Fatalf("tiles = %q, want another host than the page's", tileJSON.Tiles)
	}
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.Navigate(base+"/"), chromedp.WaitVisible("#legend"), browsertest.Until(heatDrawn))
	src := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector('.heatmap img').src`))
	if !strings.HasSuffix(src, ".png?v="+tileJSON.Snapshot) {
		t.Errorf("a tile's address is %s, want v=%s", src, tileJSON.Snapshot)
	}
	b.WantNoProblems(t, base)
}

// A reported level may be worse than the chlorophyll suggests, as with scum. The lake's colour shows only the chlorophyll; the page
// must not look cleaner. A level that is lower changes nothing.
func TestPageOfReportedLevels(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "lakes.db")
	importCSV(t, db,
		"id,name,lat,lon,region\nscum,Scumsee,52.4,13.6,Berlin\nharmless,Blumsee,53.1,13.0,Brandenburg\nclean,Klarsee,52.9,14.1,Brandenburg\n",
		"lake_id,date,chl,data_type,who_level\nscum,2024-11-11,5,satellite,3\nharmless,2024-11-11,80,satellite,0\nclean,2024-11-11,5,satellite,\n")
	base := startOwnServer(t, "--db", db)
	colours := legendColours(t, base)
	for language, cards := range map[string][]struct {
		name, risk string   // in the order of the list
		says       []string // the card
		level      string   // on the card, at the end of its line
	}{
		"en-GB": {
			{"Scumsee", "high", []string{"High risk (reported)", "do not bathe", "People at the lake reported"}, "3 of 3 (reported)"},
			{"Blumsee", "high", []string{"High risk", "do not bathe"}, "2 of 3"},
			{"Klarsee", "low", []string{"Low risk", "Few algae"}, "not reached"},
		},
		"de": {
			{"Scumsee", "high", []string{"Hohes Risiko (gemeldet)", "nicht baden", "Menschen am See gemeldet"}, "3 von 3 (gemeldet)"},
			{"Blumsee", "high", []string{"Hohes Risiko", "nicht baden"}, "2 von 3"},
			{"Klarsee", "low", []string{"Geringes Risiko", "wenige Algen"}, "nicht erreicht"},
		},
	} {
		b := startBrowser(t, language)
		b.Prefer(t, "reduced-motion", "reduce") // no animation of the cards
		b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/"), chromedp.WaitVisible("#legend"), browsertest.Until(heatDrawn))
		find(t, b, "")
		for i, want := range cards {
			name := fmt.Sprintf(`document.querySelectorAll('#find li strong')[%d].textContent`, i)
			if got := browsertest.Ask(t, b, chromedp.Evaluate[string](name)); got != want.name {
				t.Errorf("%s: lake %d of the list is %s, want the worst first: %s", language, i, got, want.name)
			}
		}
		for _, want := range cards {
			find(t, b, want.name)
			b.Do(t, chromedp.Click("#find li button"), browsertest.Until(fmt.Sprintf(`document.querySelector('#card h2')?.textContent === %q`, want.name)))
			card := browsertest.Ask(t, b, chromedp.Text("#card"))
			for _, says := range append(want.says, want.level+"\n") {
				if !strings.Contains(card, says) {
					t.Errorf("%s: the card of %s lacks %q: %q", language, want.name, says, card)
				}
			}
			for where, got := range browsertest.Ask(t, b, chromedp.Evaluate[map[string]string](shownColours)) {
				if !slices.Contains(colours[want.risk], got) {
					t.Errorf("%s: the %s of %s is %s, want a colour of %s risk", language, where, want.name, got, want.risk)
				}
			}
			b.Do(t, chromedp.KeyEvent(kb.Escape), chromedp.WaitNotVisible("#card"))
		}
		for _, p := range b.Problems(base) {
			t.Errorf("%s: problem: %s", language, p)
		}
	}
}

// legendColours returns the colours of the legend by risk, in the browser's notation.
func legendColours(t *testing.T, base string) map[string][]string {
	t.Helper()
	var legend struct {
		Classes []struct {
			Risk   string
			Colors []string
		}
	}
	limnomaptest.GetJSON(t, base+"/api/v1/legend.json", &legend)
	colours := make(map[string][]string)
	for _, c := range legend.Classes {
		for _, hex := range c.Colors {
			var r, g, b uint8
			if _, err := fmt.Sscanf(hex, "#%02x%02x%02x", &r, &g, &b); err != nil {
				t.Fatalf("colour %q of the legend: %v", hex, err)
			}
			colours[c.Risk] = append(colours[c.Risk], fmt.Sprintf("rgb(%d, %d, %d)", r, g, b))
		}
	}
	return colours
}

// In German, with a profile whose limits belong to the lower class.
func TestPageInGerman(t *testing.T) {
	t.Parallel()
	base := startServer(t, "--profile", "who2021", "--attribution", demo.Notice)
	b := startBrowser(t, "de")
	b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/"), chromedp.WaitVisible("#legend"))
	if notice := browsertest.Ask(t, b, chromedp.Text("#notice")); !strings.Contains(notice, "imulierte") {
		t.Errorf("the notice = %q, want German", notice)
	}
	if attribution := browsertest.Ask(t, b, chromedp.Evaluate[string](attributionText)); attribution != "" {
		t.Errorf("the attribution = %q, want only the notice above the map, in German", attribution)
	}
	b.Do(t, chromedp.Click("#legend summary"))
	checkLegend(t, b, "Geringes Risiko: bis 12", "Mittleres Risiko: über 12 bis 24", "Hohes Risiko: über 24", "Kein aktueller Wert")
	b.WantNoProblems(t, base)
}

// Without a basemap the page still shows outlines, heat map and lakes.
func TestPageWithoutInternet(t *testing.T) {
	t.Parallel()
	const unreachable = "http://127.0.0.1:1/"
	base := startServer(t, "--basemap-url", unreachable+"{z}/{x}/{y}.png")
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.Navigate(base+"/"), chromedp.WaitVisible("#legend"), browsertest.Until(heatDrawn))
	if said := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector('#message').textContent`)); said != "" {
		t.Errorf("the page says %q", said)
	}
	for _, p := range b.Problems(base) {
		if !strings.Contains(p, unreachable) {
			t.Errorf("problem: %s", p)
		}
	}
}

// A page that is opened before the first snapshot says so, and continues by itself.
func TestPageBeforeTheFirstSnapshot(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	var ready atomic.Bool
	front := limnomaptest.Front(t, base, func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/bathing-lakes/") && !ready.Load() {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		if strings.HasSuffix(r.URL.Path, "/page.json") && !ready.Load() {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"basemap":null,"notice":"Simulated","simulated":true,"attribution":"","max_zoom":18,"version":""}`)
			return true
		}
		return false
	}, nil)
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.Navigate(front+"/"), chromedp.WaitVisible("#message"))
	if said := browsertest.Ask(t, b, chromedp.Text("#message")); !strings.Contains(said, "still loading its data") {
		t.Errorf("before the first snapshot the page says %q", said)
	}
	if browsertest.Ask(t, b, chromedp.Evaluate[bool](`document.querySelector('#notice').hidden`)) {
		t.Error("the waiting page does not show the notice")
	}
	ready.Store(true)
	b.Do(t, chromedp.WaitNotVisible("#message"), browsertest.Until(heatDrawn))
	if src := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector('.heatmap img').src`)); strings.HasSuffix(src, "v=") {
		t.Errorf("a tile's address is %s, want the version of the server", src)
	}
}
