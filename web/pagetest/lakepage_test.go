//go:build long

package pagetest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"limnomap/web/browsertest"
)

// saveWholePicture saves a picture of the whole document for a person to look at.
func saveWholePicture(t *testing.T, b *browsertest.Browser, name string) {
	t.Helper()
	if flag.Lookup("test.artifacts").Value.String() != "true" {
		return
	}
	if err := os.WriteFile(filepath.Join(t.ArtifactDir(), name+".png"), browsertest.Ask(t, b, chromedp.FullScreenshot(100)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The pages that the server makes fit the screen, their targets are large enough, axe-core finds nothing, and the Content-Security-Policy blocks
// nothing of them.
func TestServerPages(t *testing.T) {
	t.Parallel()
	base := startStatements(t)
	for _, width := range []int64{320, 1440} {
		for scheme, language := range map[string]string{"light": "en-GB", "dark": "de"} {
			t.Run(fmt.Sprintf("%d %s", width, scheme), func(t *testing.T) {
				t.Parallel()
				b := startBrowser(t, language)
				b.Prefer(t, "color-scheme", scheme)
				b.Do(t, chromedp.EmulateViewport(width, 800))
				for _, path := range []string{"/lakes/zu_gruen", "/lakes/zu_leer", "/lakes/zu_klar", "/lakes/warn", "/lakes/zell", "/lakes/saison",
					"/lakes/zu/gruen", "/table?sort=value", "/table?lang=pl&q=see", "/week", "/week?lang=de", "/regions/Berlin?lang=de"} { // the address of the seventh is mistyped
					b.Do(t, chromedp.Navigate(base+path), chromedp.WaitVisible("main h1, footer, tbody tr"))
					checkAccess(t, b, path)
					type sizes struct{ Page, Least float64 }
					size := browsertest.Ask(t, b, chromedp.Evaluate[sizes](`({
						Page: document.documentElement.scrollWidth,
						Least: Math.min(...[...document.querySelectorAll('nav a, li a, td a, th a, form a')].filter((e) => e.checkVisibility()).map((e) => e.getBoundingClientRect().height), 99),
					})`))
					if size.Page > float64(width) || size.Least < 24 {
						t.Errorf("%s: the page is %v px wide in %d px, and its smallest target %v px high", path, size.Page, width, size.Least)
					}
					saveWholePicture(t, b, strings.NewReplacer("/", "-", "?", "-").Replace(fmt.Sprintf("page%s-%d-%s", path, width, scheme)))
				}
				b.WantNoProblems(t, base, "404") // the answer to the mistyped address
			})
		}
	}
}

// With colours of the system's own, and on paper, the verdict, its symbol and the chart are still there.
func TestLakePageForcedColoursAndPrint(t *testing.T) {
	t.Parallel()
	base := startStatements(t)
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(800, 1100), chromedp.Navigate(base+"/lakes/zu_gruen?lang=de"), chromedp.WaitVisible("footer"))
	b.Prefer(t, "forced-colors", "active")
	saveWholePicture(t, b, "lake-forced-colours")
	b.Prefer(t, "forced-colors", "none")
	b.Print(t)
	b.Do(t, browsertest.Until(`!document.querySelector('header nav').checkVisibility()`))
	browsertest.Expect(t, b, `['.headline', '.headline svg', '.chart', 'table', '.limits'].every((s) => document.querySelector(s).checkVisibility())`, true, "on paper something of the page is missing")
	saveWholePicture(t, b, "lake-print")
}

// On paper the page of a lake is one sheet, in two columns; its button to print is there with a script only.
func TestLakePagePrintsOneSheet(t *testing.T) {
	t.Parallel()
	base := startStatements(t)
	demo := startServer(t)
	b := startBrowser(t, "en-GB")
	for _, address := range []string{base + "/lakes/zu_gruen", base + "/lakes/warn?lang=de", demo + "/lakes/de_be_grosser_mueggelsee", demo + "/lakes/de_bb_guelper_see?lang=fr"} {
		b.Do(t, chromedp.Navigate(address), chromedp.WaitVisible("#print"))
		for _, paper := range [][2]float64{{8.27, 11.69}, {8.5, 11}} {
			sheet, err := chromedp.Call(b.Ctx, page.PrintToPDF, page.PrintToPDFParams{PrintBackground: new(true), PreferCSSPageSize: new(true), PaperWidth: paper[0], PaperHeight: paper[1]})
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(sheet.Data, []byte("/Type /Page\n")); n != 1 {
				t.Errorf("%s prints on %d sheets of %v inches, want one", address, n, paper)
			}
		}
	}
	b.Print(t)
	browsertest.Expect(t, b, `['.swim', '.chart', '.weeks table', '.limits'].every((s) => document.querySelector(s).checkVisibility())`, true, "on paper something of the page is missing")
	b.Do(t, chromedp.Evaluate[chromedp.Void](`window.print = () => { window.printed = true }; document.querySelector('#print').click()`))
	browsertest.Expect(t, b, `window.printed`, true, "the button does not print")
	disableScripts(t, b)
	b.Do(t, chromedp.Navigate(base+"/lakes/zu_gruen"))
	waitForDocument(t, b, `document.querySelector('#print').hidden`)
	b.WantNoProblems(t, base, demo)
}

// The page of a lake that was opened once works without a connection, and says that it was kept. Another lake's does not.
func TestLakePageOffline(t *testing.T) {
	t.Parallel()
	f := startFaultyNetwork(t, startServer(t))
	b := startBrowser(t, "en-GB")
	const kept = `document.querySelector('#kept').checkVisibility()`
	b.Do(t, chromedp.Navigate(f.base+"/lakes/de_be_grosser_mueggelsee"), browsertest.Until(`navigator.serviceWorker.controller !== null`),
		browsertest.Until(storedCount("/lakes/de_be_grosser_mueggelsee")+`.then((n) => n > 0)`), browsertest.Until(storedCount("/lake.css")+`.then((n) => n > 0)`))
	browsertest.Expect(t, b, kept, false, "with a connection the page says that it was kept")
	for _, mode := range []int32{broken, failing} {
		f.set(mode)
		b.Do(t, chromedp.Reload())
		waitForDocument(t, b, kept)
		browsertest.WantText(t, b, chromedp.Text("main"), "the kept page", "Großer Müggelsee", "No connection. This page is from", "Look at the water yourself")
		browsertest.Expect(t, b, `getComputedStyle(document.querySelector('.swim')).backgroundColor === getComputedStyle(document.querySelector('#kept')).backgroundColor`, true, "a kept verdict looks like one of today, or its style is missing")
	}
	f.set(online)
	b.Do(t, chromedp.Reload())
	waitForDocument(t, b, `!`+kept)

	// Three weeks later the value is old.
	f.set(broken)
	b.OnNewDocument(t, `const now = Date.now; Date.now = () => now() + 21 * 86_400_000`)
	b.Do(t, chromedp.Reload())
	waitForDocument(t, b, kept)
	browsertest.Expect(t, b, `document.querySelector('.swim').matches('.low, .medium') === !document.querySelector('.swim').checkVisibility()`, true, "a kept page of three weeks ago says to swim")
	f.wantNoOtherProblems(t, b)
}

// Without JavaScript the links of the page lead to the lakes around, to the table and to the page in another language. The one to the map
// selects the lake there.
func TestLakePageLinks(t *testing.T) {
	t.Parallel()
	base := startStatements(t)
	b := startBrowser(t, "en-GB")
	disableScripts(t, b)
	for _, link := range []struct{ text, to string }{
		{"Nebensee", "/lakes/neben?lang=de"}, {"Alle Seen als Tabelle", "/table?lang=de"}, {"English", "/lakes/zu_klar?lang=en"},
	} {
		b.Do(t, chromedp.Navigate(base+"/lakes/zu_klar?lang=de"))
		waitForDocument(t, b, `document.querySelector('footer') !== null`)
		find := fmt.Sprintf(`[...document.querySelectorAll('a')].find((a) => a.textContent === %q)`, link.text)
		b.Do(t, chromedp.Evaluate[chromedp.Void](find+`.click()`))
		waitForDocument(t, b, fmt.Sprintf(`location.href === %q`, base+link.to))
	}
	b.WantNoProblems(t, base)

	b.Do(t, chromedp.Navigate(base+"/lakes/zu/gruen")) // a mistyped address
	browsertest.Want(t, b, `document.querySelector('main a').href`, base+"/", "the first link of the page of an error leads to")

	b = startBrowser(t, "en-GB")
	b.Do(t, chromedp.Navigate(base+"/lakes/zu_klar?lang=de"), chromedp.WaitVisible("footer"), chromedp.Click("header nav a"), chromedp.WaitVisible("#card h2"))
	browsertest.WantText(t, b, chromedp.Text("#card"), "the map shows the card", "Klarsee")
}
