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

// swaggerState returns the paths of all operations, and how much wider than the screen the page is.
const swaggerState = `({
	paths: [...document.querySelectorAll('.opblock-summary-path')].map((p) => p.dataset.path),
	wide: document.documentElement.scrollWidth - innerWidth,
})`

// /docs shows all operations and can run them, on a desktop and on a phone, light and dark, under a base path, with the
// same Content-Security-Policy as the page and without requests to other servers.
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
	for _, device := range []struct {
		name, scheme, background string
		width, height            int64
	}{
		{"desktop", "light", "rgb(255, 255, 255)", 1280, 800},
		{"phone", "dark", "rgb(27, 32, 37)", 360, 740},
	} {
		b.Prefer(t, "color-scheme", device.scheme)
		b.Do(t, chromedp.EmulateViewport(device.width, device.height),
			browsertest.Until(fmt.Sprintf(`innerWidth <= %d && getComputedStyle(document.body).backgroundColor === %q`, device.width, device.background)))
		type shows struct {
			Paths []string
			Wide  int
		}
		got := browsertest.Ask(t, b, chromedp.Evaluate[shows](swaggerState))
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
		checkAccess(t, b, device.name)
	}
	tryOperation(t, b, base)
	checkAccess(t, b, "an open operation on a phone, dark")
	b.Prefer(t, "color-scheme", "light")
	b.Do(t, chromedp.EmulateViewport(1280, 800), browsertest.Until(`getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 255)'`))
	checkAccess(t, b, "an open operation")
	b.WantNoProblems(t, strings.TrimSuffix(base, "/lakes"))
}

// tryOperation requests the styles in Swagger UI and checks the answer.
func tryOperation(t *testing.T, b *browsertest.Browser, base string) {
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
		t.Errorf("%s: answer %.300s", asked, answer)
	}
}
