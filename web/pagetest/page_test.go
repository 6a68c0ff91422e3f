//go:build long

package pagetest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

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
