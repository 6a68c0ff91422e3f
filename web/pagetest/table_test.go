//go:build long

package pagetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"limnomap/api/words"
	"limnomap/web/browsertest"
)

// The table is in the language of the browser, and links to all others.
func TestTableInPolish(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "pl")
	b.Do(t, chromedp.Navigate(base+"/table"), chromedp.WaitVisible("tbody tr"))
	browsertest.Want(t, b, `document.documentElement.lang`, "pl", "the table is in")
	var others []string
	for _, language := range words.Languages {
		if language != "pl" {
			others = append(others, language)
		}
	}
	browsertest.Want(t, b, `[...document.querySelectorAll('nav [hreflang]')].map((a) => a.hreflang).join()`, strings.Join(others, ","), "the table links to the languages")
	b.Do(t, chromedp.Click(`nav .languages summary`), chromedp.Click(`nav [hreflang=da]`))
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

// Each class has its own shape in the table, not only its own colour. On paper the table has no form.
func TestTableShapesAndPrint(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "en-GB")
	for _, class := range []string{"high", "medium", "low", "none"} {
		b.Do(t, chromedp.Navigate(base+"/table?risk="+class), chromedp.WaitVisible("tbody tr"))
		const symbols = `[...new Set([...document.querySelectorAll('tbody use')].map((u) => u.getAttribute('href')))].join()`
		browsertest.Want(t, b, symbols, "#"+class, "lakes of the class %s have the symbols", class)
		browsertest.Expect(t, b, fmt.Sprintf(`document.querySelector('symbol#%s path') !== null`, class), true, "the symbol of %s is not drawn", class)
	}
	b.Do(t, chromedp.Navigate(base+"/table"), chromedp.WaitVisible("form"))
	b.Print(t)
	b.Do(t, browsertest.Until(`!document.querySelector('form').checkVisibility()`))
	browsertest.Expect(t, b, `['caption', '#notice', '#about + p', 'tbody td.risk svg'].every((s) => document.querySelector(s).checkVisibility())`, true, "on paper the caption, the notice or the symbols are missing")
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
		b.WantNoProblems(t, base)
	})
}
