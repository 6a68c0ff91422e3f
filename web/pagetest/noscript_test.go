package pagetest

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

// Without JavaScript the page leads to the table, which has all lakes and a search.
func TestPageNoScript(t *testing.T) {
	t.Parallel()
	base := startServer(t, "--base-path", "/lakes", "--attribution", "Lake <b>Agency</b>")
	var status limnomaptest.Status
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/status", &status)
	b := startBrowser(t, "de")
	disableScripts(t, b)
	b.Do(t,
		chromedp.EmulateViewport(320, 640, chromedp.EmulateMobile),
		chromedp.Navigate(base+"/"),
	)
	waitForDocument(t, b, fmt.Sprintf(`location.href === %q`, base+"/table"))
	text := browsertest.Ask(t, b, chromedp.Text("body"))
	for _, want := range []string{"Die Seen als Tabelle", "Simulierte Demodaten", "weder Algenteppiche", "Neueste Messung", "älter als zwei Wochen",
		"Lake <b>Agency</b>", fmt.Sprintf("Seen 1 bis 200 von %d", status.TotalLakes)} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q", want)
		}
	}
	type sizes struct{ Page, Least float64 }
	size := browsertest.Ask(t, b, chromedp.Evaluate[sizes](`(() => {
		const height = (e) => e.getBoundingClientRect().height;
		return {Page: document.documentElement.scrollWidth, Least: Math.min(...[...document.querySelectorAll('td a, th a, nav a, form a, button, input, select')].filter((e) => e.checkVisibility()).map(height))};
	})()`))
	if size.Page > 320 || size.Least < 24 {
		t.Errorf("on a phone of 320 px the table is %v px wide, and its smallest target %v px high", size.Page, size.Least)
	}

	// The pages of the table contain all lakes.
	seen := make(map[string]bool)
	for page := 1; ; page++ {
		for _, id := range browsertest.Ask(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll('tbody th a')].map((a) => new URL(a.href).pathname)`)) {
			seen[path.Base(id)] = true
		}
		if !browsertest.Ask(t, b, chromedp.Evaluate[bool](`document.querySelector('a[rel=next]') !== null`)) {
			break
		}
		b.Do(t, chromedp.Click("a[rel=next]"))
		waitForDocument(t, b, fmt.Sprintf(`location.search === '?page=%d'`, page+1))
	}
	for _, lake := range status.Lakes {
		if !seen[lake.ID] {
			t.Errorf("%s is missing in the table", lake.ID)
		}
	}

	// A search with the keyboard.
	b.Do(t, chromedp.SendKeys("input[type=search]", "mueggelsee"+kb.Enter))
	waitForDocument(t, b, `location.search.startsWith('?q=mueggelsee&')`)
	if n := browsertest.Ask(t, b, chromedp.Evaluate[int](`document.querySelectorAll('tbody tr').length`)); n < 1 || n > 5 {
		t.Errorf("the search for mueggelsee gives %d lakes", n)
	}
	browsertest.WantText(t, b, chromedp.Text("tbody"), "the search for mueggelsee gives", "Großer Müggelsee", "Risiko")
	// A lake without a value never looks clean.
	b.Do(t, chromedp.Navigate(base+"/table?risk=none&lang=en"), chromedp.WaitVisible("tbody tr"))
	for _, row := range browsertest.Ask(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll('tbody tr')].map((r) => r.innerText)`)) {
		if !strings.Contains(row, "No current value") || !strings.Contains(row, "no value") || strings.Index(row, "No current value") > strings.Index(row+" risk", " risk") {
			t.Errorf("a lake without a value: %q", row)
		}
	}
	// Its link leads to the page of the lake, and the link there to the map, which without scripts redirects to the table.
	b.Do(t, chromedp.Click("tbody th a"))
	waitForDocument(t, b, `location.pathname.startsWith('/lakes/lakes/') && document.querySelector('.verdict.none') !== null`)
	b.Do(t, chromedp.Click("header nav a"))
	waitForDocument(t, b, `location.pathname === '/lakes/table' && location.search === ''`)
	b.WantNoProblems(t, strings.TrimSuffix(base, "/lakes"))
}
