//go:build long

package pagetest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

// originCredits are the credit lines of the products of startOriginServer, in the order in which the page shows them.
const originCredits = "European Union's Copernicus Land Monitoring Service information | " +
	"Cyanobacteria Assessment Network (CyAN) of US EPA, NASA, NOAA and USGS | NOAA National Centers for Coastal Ocean Science"

// wholeAttribution is true if no part of the attribution is hidden.
const wholeAttribution = `(({scrollHeight, clientHeight}) => scrollHeight <= clientHeight)(document.querySelector('.leaflet-control-attribution'))`

// Whoever looks at values of satellite products sees whose they are: on the page, in a frame, in the table and on paper.
func TestPageNamesProviders(t *testing.T) {
	t.Parallel()
	base := startOriginServer(t, "--attribution", "Lake <b>Agency</b>")
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(1280, 800))
	for _, path := range []string{"/", "/embed"} {
		b.Do(t, chromedp.Navigate(base+path), browsertest.Until(heatDrawn), browsertest.Until(attributionText+`.endsWith('GeoNames')`)) // after the towns
		if got, want := browsertest.Ask(t, b, chromedp.Evaluate[string](attributionText)), "Lake <b>Agency</b> | "+originCredits+", GeoNames"; got != want {
			t.Errorf("%s: the attribution is %q, want %q", path, got, want)
		}
	}
	links := browsertest.Ask(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll('.leaflet-control-attribution a')].map((a) => [a.href, a.target, a.rel].join(' '))`))
	if len(links) != 3 || links[0] != "https://land.copernicus.eu/en/products/water-bodies _blank noopener" {
		t.Errorf("the attribution has the links %q, want one to each provider", links)
	}
	checkAccess(t, b, "credit lines")
	b.Print(t)
	b.Do(t, chromedp.EmulateViewport(360, 640), browsertest.Until(wholeAttribution))
	b.WantNoProblems(t, base)
	table := string(body(t, base+"/table"))
	for _, credit := range strings.Split(originCredits, " | ") {
		if !strings.Contains(table, strings.ReplaceAll(credit, "'", "&#39;")) {
			t.Errorf("the table does not name %s", credit)
		}
	}
}

// On a phone credit lines take two lines of the map, and one above a card. A tap and the keyboard show the rest.
func TestPageProvidersLeaveThePhoneItsMap(t *testing.T) {
	t.Parallel()
	base := startOriginServer(t, "--attribution", "Lake Agency")
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(360, 640, chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch), chromedp.Navigate(base+"/"), browsertest.Until(heatDrawn))
	// lines is how many lines the attribution has on the map.
	const lines = `Math.round((({clientHeight}, style) => (clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom)) / parseFloat(style.lineHeight))(
		document.querySelector('.leaflet-control-attribution'), getComputedStyle(document.querySelector('.leaflet-control-attribution'))))`
	want := func(when string, from, to int) {
		t.Helper()
		if n := browsertest.Ask(t, b, chromedp.Evaluate[int](lines)); n < from || n > to {
			t.Errorf("%s, the attribution has %d lines, want %d to %d", when, n, from, to)
		}
	}
	want("on a phone", 2, 2)
	savePicture(t, b, "providers")
	b.Do(t, chromedp.Focus(".leaflet-control-attribution a"))
	want("with the focus", 4, 6)
	browsertest.Expect(t, b, wholeAttribution, true, "with the focus, a part of the attribution is hidden")
	checkAccess(t, b, "open credit lines")
	savePicture(t, b, "providers-open")
	b.Do(t, chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`))
	want("without the focus", 2, 2)
	b.Do(t, chromedp.Click(".leaflet-control-attribution")) // a tap hovers until the next one
	want("after a tap", 4, 6)
	b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=de_o_product'`), browsertest.Until(chartDrawn), chromedp.Click("#card h2"))
	want("above a card", 1, 1)
	const covered = `document.querySelector('#legend').getBoundingClientRect().bottom > document.querySelector('.leaflet-control-attribution').getBoundingClientRect().top`
	browsertest.Expect(t, b, covered, false, "the legend covers the attribution")
	wantNoProblems(t, b, base)
}

// An open page names the provider of values that come while it is open.
func TestPageNamesProvidersOfNewValues(t *testing.T) {
	t.Parallel()
	needPage(t)
	db := filepath.Join(t.TempDir(), "lakes.db")
	importCSV(t, db, "id,name,lat,lon,region\na,Asee,52.5,13.4,Berlin\n", fmt.Sprintf("lake_id,date,chl,data_type,source\na,%s,20,satellite,EPA CyAN V6\n", weekday(-1)))
	base := startOwnServer(t, "--db", db)
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.Navigate(base+"/"), browsertest.Until(heatDrawn))
	const cyan, copernicus = "Cyanobacteria Assessment Network (CyAN) of US EPA, NASA, NOAA and USGS", "European Union's Copernicus Land Monitoring Service information"
	const providers = attributionText + `.replace(/GeoNames, |, GeoNames/, '')` // which names towns if there is room for some
	b.Do(t, browsertest.Until(fmt.Sprintf("%s === %q", providers, cyan)))
	more := fmt.Sprintf("lake_id,date,chl,data_type,source\na,%s,30,satellite,Copernicus LWQ300\n", weekday(0))
	limnomaptest.Run(t, "import", "observations", "--db", db, limnomaptest.WriteFile(t, filepath.Dir(db), "more.csv", more))
	limnomaptest.Within(t, 2*time.Minute, "the server names the new provider", func() bool {
		var page struct{ Attribution string }
		limnomaptest.GetJSON(t, base+"/page.json", &page)
		return page.Attribution == copernicus+" | "+cyan
	})
	b.Do(t, chromedp.Evaluate[chromedp.Void](`document.dispatchEvent(new Event('visibilitychange'))`),
		browsertest.Until(fmt.Sprintf("%s === %q", providers, copernicus+" | "+cyan)))
	wantNoProblems(t, b, base)
}
