//go:build long

package pagetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

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
		browsertest.Until(`['land', 'borders', 'germany', 'rivers'].every((name) => document.querySelector('.leaflet-outlines-pane .' + name) !== null)`),
	)
	if title := browsertest.Ask(t, b, chromedp.Title()); !strings.Contains(title, "Algae in lakes") {
		t.Errorf("title = %q", title)
	}
	browsertest.WantText(t, b, chromedp.Text("#notice"), "the notice", "imulated")
	b.Do(t, browsertest.Until(attributionText+` === 'Lake <b>Agency</b>, GeoNames'`)) // the names of towns are from there
	// Germany fills a map of this size at zoom 6, next to the legend.
	browsertest.Want(t, b, `document.querySelector('.heatmap img').src.match(/tiles.(\d+)/)[1]`, "6", "the first view is at zoom")
	b.Do(t, chromedp.Click("#legend summary"))
	checkLegend(t, b, "Low risk: below 10", "Medium risk: 10 to below 50", "High risk: 50 or more", "No current value", "µg/l")
	b.Do(t, chromedp.WaitVisible("#find li button"))
	var status limnomaptest.Status
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/status", &status)
	browsertest.Want(t, b, `document.querySelectorAll('#find li').length`, status.TotalLakes, "the list holds")
	// The foot of the page leads to the data.
	browsertest.Want(t, b, `[...document.querySelectorAll('#foot a:not([hidden])')].map((a) => a.textContent + ' ' + a.getAttribute('href')).join()`,
		"About the data table#about,Table of lakes table,Data (CSV) api/v1/bathing-lakes/status.csv,API docs", "the foot of the page links to")
	t.Run("a lake without a value", func(t *testing.T) { testNoData(t, b, status) })
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
	browsertest.Expect(t, b, `document.querySelector('#card .risk .symbol').matches('.none')`, true, "the card's symbol is not the ring of lakes without a value")
	browsertest.WantText(t, b, chromedp.Text("#card"), "the card does not warn that the lake may not be clean", "does not mean that it is clean")
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
