package pagetest

import (
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

// disableScripts disables the scripts of pages. Scripts of the test still run.
func disableScripts(t *testing.T, b *browsertest.Browser) {
	t.Helper()
	if _, err := chromedp.Call(b.Ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
}

// waitForDocument waits for another document for which the expression is true. During the navigation an evaluation fails.
func waitForDocument(t *testing.T, b *browsertest.Browser, expression string) {
	t.Helper()
	limnomaptest.Within(t, 2*time.Minute, expression, func() bool {
		holds, err := chromedp.Run(b.Ctx, chromedp.Evaluate[bool](`document.readyState === 'complete' && `+expression))
		return err == nil && holds
	})
}

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
	if text := browsertest.Ask(t, b, chromedp.Text("tbody")); !strings.Contains(text, "Großer Müggelsee") || !strings.Contains(text, "Risiko") {
		t.Errorf("the search for mueggelsee gives %q", text)
	}
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

// An embedded map without scripts does not redirect to the table, which must not be framed, but links to it.
func TestPageNoScriptInAFrame(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "en-GB")
	disableScripts(t, b)
	b.Do(t, chromedp.Navigate(base+"/embed"), chromedp.WaitVisible("noscript a"))
	type link struct{ Href, Target, Rel, At string }
	got := browsertest.Ask(t, b, chromedp.Evaluate[link](`(() => {
		const a = document.querySelector('noscript a');
		return {Href: a.href, Target: a.target, Rel: a.rel, At: location.pathname + (document.querySelector('meta[http-equiv=refresh]') ? ' that moves on' : '')};
	})()`))
	if want := (link{base + "/table", "_blank", "noopener", "/embed"}); got != want {
		t.Errorf("without scripts the embedded map has %+v, want %+v", got, want)
	}
}

// axe-core finds nothing in the table, light and dark, on a desktop and on a phone. On paper the table has no form.
func TestPageNoScriptAccess(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			b := startBrowser(t, "en-GB")
			b.Prefer(t, "color-scheme", scheme)
			for _, width := range []int64{1280, 320} {
				b.Do(t, chromedp.EmulateViewport(width, 640), chromedp.Navigate(base+"/table?q=talsperre&sort=value"), chromedp.WaitVisible("tbody tr"))
				startAxe(t, b)
				checkAccess(t, b, fmt.Sprintf("the table, %s, %d px", scheme, width))
			}
			// Each class has its own shape, not only its own colour.
			for _, class := range []string{"high", "medium", "low", "none"} {
				b.Do(t, chromedp.Navigate(base+"/table?risk="+class), chromedp.WaitVisible("tbody tr"))
				const symbols = `[...new Set([...document.querySelectorAll('tbody use')].map((u) => u.getAttribute('href')))]`
				drawn := fmt.Sprintf(`document.querySelector('symbol#%s path') !== null`, class)
				if got := browsertest.Ask(t, b, chromedp.Evaluate[[]string](symbols)); len(got) != 1 || got[0] != "#"+class || !browsertest.Ask(t, b, chromedp.Evaluate[bool](drawn)) {
					t.Errorf("lakes of the class %s have the symbols %q", class, got)
				}
			}
			b.WantNoProblems(t, base)
		})
	}
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.Navigate(base+"/table"), chromedp.WaitVisible("form"))
	if _, err := chromedp.Call(b.Ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		t.Fatal(err)
	}
	b.Do(t, browsertest.Until(`!document.querySelector('form').checkVisibility()`))
	if !browsertest.Ask(t, b, chromedp.Evaluate[bool](`['caption', '#notice', '#more', 'tbody td.risk svg'].every((s) => document.querySelector(s).checkVisibility())`)) {
		t.Error("on paper the caption, the notice or the symbols are missing")
	}
}
