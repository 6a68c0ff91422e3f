package pagetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

// viewerShows tells what the viewer shows: the paths of all operations, and how much wider than the screen it is.
const viewerShows = `({
	paths: [...document.querySelectorAll('.opblock-summary-path')].map((p) => p.dataset.path),
	wide: document.documentElement.scrollWidth - innerWidth,
})`

// viewersOwn are the rules that Swagger UI breaks by itself. Whoever is hindered by that has the same in openapi.json, which
// /docs names at its top. Rules of the page around it, which a part cannot be held to, are among them.
var viewersOwn = []string{"color-contrast", "heading-order", "landmark-unique", "nested-interactive", "region",
	"scrollable-region-focusable", "select-name", "target-size"}

// The description of the interface is shown whole, and what it describes can be tried, by readers on a desk and on a phone, by
// day and by night, below a base path, with nothing asked of anybody else and under the page's own Content-Security-Policy.
func TestDocs(t *testing.T) {
	t.Parallel()
	base := startServer(t, "--base-path", "/lakes")
	var described struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	limnomaptest.GetJSON(t, base+"/openapi.json", &described)
	page, _ := limnomaptest.Get(t, base+"/")
	docs, _ := limnomaptest.Get(t, base+"/docs")
	const policy = "Content-Security-Policy"
	if got, want := docs.Header.Get(policy), page.Header.Get(policy); got != want || strings.Contains(got, "unsafe") {
		t.Errorf("the policy of /docs is %q, want the page's, %q", got, want)
	}
	b := startBrowser(t, "en-GB")
	b.Prefer(t, "color-scheme", "light")
	b.Do(t, chromedp.EmulateViewport(1280, 800),
		chromedp.Navigate(base+"/docs"),
		browsertest.Until(`document.querySelectorAll('.opblock').length > 0`))
	startAxe(t, b)
	for _, device := range []struct {
		name, scheme, background string
		width, height            int64
	}{
		{"desk", "light", "rgb(255, 255, 255)", 1280, 800},
		{"phone", "dark", "rgb(27, 32, 37)", 360, 740},
	} {
		b.Prefer(t, "color-scheme", device.scheme)
		b.Do(t, chromedp.EmulateViewport(device.width, device.height),
			browsertest.Until(fmt.Sprintf(`innerWidth <= %d && getComputedStyle(document.body).backgroundColor === %q`, device.width, device.background)))
		type shows struct {
			Paths []string
			Wide  int
		}
		got := browsertest.Ask(t, b, chromedp.Evaluate[shows](viewerShows))
		shown := make(map[string]int)
		for _, path := range got.Paths {
			shown[path]++
		}
		for path, operations := range described.Paths {
			if shown[path] == 0 {
				t.Errorf("%s: %s, with %d operations, is not shown", device.name, path, len(operations))
			}
		}
		if len(shown) != len(described.Paths) {
			t.Errorf("%s: %d paths are shown, %d described", device.name, len(shown), len(described.Paths))
		}
		if got.Wide > 0 {
			t.Errorf("%s: the page is %d pixels wider than the screen", device.name, got.Wide)
		}
		checkAccessOf(t, b, device.name+": above the viewer", "header")
	}
	try(t, b, base)
	checkAccessOf(t, b, "the viewer", "#swagger-ui", viewersOwn...) // with an operation that is open
	b.WantNoProblems(t, strings.TrimSuffix(base, "/lakes"))
}

// try has the viewer ask for the styles, as a reader does, and demands the answer's body.
func try(t *testing.T, b *browsertest.Browser, base string) {
	t.Helper()
	const operation = `[...document.querySelectorAll('.opblock')].find((o) => o.querySelector('[data-path="/api/v1/styles"]'))`
	press := func(button string) chromedp.Action[chromedp.Void] {
		return chromedp.Evaluate[chromedp.Void](operation + fmt.Sprintf(`.querySelector(%q).click()`, button))
	}
	b.Do(t, press(".opblock-summary-control"), browsertest.Until(`!!`+operation+`.querySelector('.try-out__btn')`),
		press(".try-out__btn"), browsertest.Until(`!!`+operation+`.querySelector('.execute')`),
		press(".execute"), browsertest.Until(`!!`+operation+`.querySelector('.live-responses-table .microlight, .live-responses-table code')`))
	answer := browsertest.Ask(t, b, chromedp.Evaluate[string](operation+`.querySelector('.live-responses-table').textContent`))
	asked := browsertest.Ask(t, b, chromedp.Evaluate[string](operation+`.querySelector('.request-url').textContent`))
	if !strings.Contains(answer, "viridis") || !strings.Contains(asked, base+"/api/v1/styles") {
		t.Errorf("%s is answered %.300s", asked, answer)
	}
}
