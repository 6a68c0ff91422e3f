//go:build long

package pagetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"limnomap/api/words"
	"limnomap/web/browsertest"
)

// The table in another language fits on the smallest phone, has no obstacles, and links to all other languages.
func TestTableInPolish(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "pl")
	for _, width := range []int64{320, 1440} {
		b.Do(t, chromedp.EmulateViewport(width, 800), chromedp.Navigate(base+"/table"), chromedp.WaitVisible("tbody tr"))
		if lang := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.documentElement.lang`)); lang != "pl" {
			t.Fatalf("the table is in %q", lang)
		}
		if wide := browsertest.Ask(t, b, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); wide > width {
			t.Errorf("at %d px the table is %d px wide", width, wide)
		}
		savePicture(t, b, fmt.Sprintf("table-pl-%d", width))
		startAxe(t, b)
		checkAccess(t, b, fmt.Sprintf("the Polish table at %d px", width))
	}
	var others []string
	for _, language := range words.Languages {
		if language != "pl" {
			others = append(others, language)
		}
	}
	if links := browsertest.Ask(t, b, chromedp.Evaluate[string](`[...document.querySelectorAll('nav [hreflang]')].map((a) => a.hreflang).join()`)); links != strings.Join(others, ",") {
		t.Errorf("the table links to the languages %s, want %s", links, others)
	}
	b.Do(t, chromedp.Click(`nav [hreflang=da]`))
	waitForDocument(t, b, `document.documentElement.lang === 'da' && location.search === '?lang=da'`)
	b.WantNoProblems(t, base)
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

// Without JavaScript the table says the same.
func TestPageNoScriptStatements(t *testing.T) {
	t.Parallel()
	base := startStatements(t)
	eachReader(t, func(t *testing.T, b *browsertest.Browser, german bool) {
		b.Do(t, chromedp.Navigate(base+"/table?sort=value"), chromedp.WaitVisible("tbody tr"))
		rows := browsertest.Ask(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll('tbody tr')].map((r) => [...r.querySelectorAll('use')].map((u) => u.getAttribute('href')).join('') + ' ' + r.innerText.replaceAll(/\s+/g, ' '))`))
		for i, want := range []string{
			in(german, "#closed Grünsee Closed until", "#closed Grünsee Gesperrt bis"), in(german, "#closed Klarsee Closed", "#closed Klarsee Gesperrt"), in(german, "#closed Wolkensee Closed", "#closed Wolkensee Gesperrt"),
			in(german, "#high#badge Zellsee High risk (cell count)", "#high#badge Zellsee Hohes Risiko (Zellzahl)"),
		} {
			if len(rows) <= i || !strings.HasPrefix(rows[i], want) {
				t.Errorf("row %d of %q does not begin with %q", i, rows, want)
			}
		}
		if width := browsertest.Ask(t, b, chromedp.Evaluate[int](`document.documentElement.scrollWidth - innerWidth`)); width > 0 {
			t.Errorf("the table is %d px too wide", width)
		}
		startAxe(t, b)
		checkAccess(t, b, "the table with closed lakes")
		b.WantNoProblems(t, base)
	})
}
