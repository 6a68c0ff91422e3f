//go:build long

package pagetest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"limnomap/internal/testsize"
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

// The page of a lake in each state fits the screen, its targets are large enough, axe-core finds nothing, and
// the Content-Security-Policy blocks nothing of it.
func TestLakePageInBrowser(t *testing.T) {
	t.Parallel()
	base := startStatements(t)
	for _, device := range testsize.Cases(1, []struct {
		name          string
		width, height int64
	}{
		{"narrow", 320, 640}, {"phone", 390, 844}, {"desk", 1440, 900},
	}) {
		for _, scheme := range []string{"light", "dark"} {
			t.Run(device.name+" "+scheme, func(t *testing.T) {
				t.Parallel()
				b := startBrowser(t, map[string]string{"light": "en-GB", "dark": "de"}[scheme])
				b.Prefer(t, "color-scheme", scheme) // scripts stay on, for axe-core: the page has none

				b.Do(t, chromedp.EmulateViewport(device.width, device.height))
				for _, lake := range []string{"zu_gruen", "zu_leer", "zu_klar", "warn", "zell", "saison"} {
					b.Do(t, chromedp.Navigate(base+"/lakes/"+lake), chromedp.WaitVisible("footer"))
					startAxe(t, b)
					checkAccess(t, b, fmt.Sprintf("%s, %s, %d px", lake, scheme, device.width))
					type sizes struct{ Page, Least float64 }
					size := browsertest.Ask(t, b, chromedp.Evaluate[sizes](`({
						Page: document.documentElement.scrollWidth,
						Least: Math.min(...[...document.querySelectorAll('nav a, li a')].map((e) => e.getBoundingClientRect().height)),
					})`))
					if size.Page > float64(device.width) || size.Least < 24 {
						t.Errorf("%s: the page is %v px wide in %d px, and its smallest target %v px high", lake, size.Page, device.width, size.Least)
					}
					saveWholePicture(t, b, fmt.Sprintf("lake-%s-%s-%s", lake, device.name, scheme))
				}
				b.WantNoProblems(t, base)
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
	if _, err := chromedp.Call(b.Ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		t.Fatal(err)
	}
	b.Do(t, browsertest.Until(`!document.querySelector('header nav').checkVisibility()`))
	if !browsertest.Ask(t, b, chromedp.Evaluate[bool](`['.headline', '.headline svg', '.chart', 'table', '.limits'].every((s) => document.querySelector(s).checkVisibility())`)) {
		t.Error("on paper something of the page is missing")
	}
	saveWholePicture(t, b, "lake-print")
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

	b = startBrowser(t, "en-GB")
	b.Do(t, chromedp.Navigate(base+"/lakes/zu_klar?lang=de"), chromedp.WaitVisible("footer"), chromedp.Click("header nav a"), chromedp.WaitVisible("#card h2"))
	if text := browsertest.Ask(t, b, chromedp.Text("#card")); !strings.Contains(text, "Klarsee") {
		t.Errorf("the map shows the card %q", text)
	}
}

// A mistyped address shows a page that fits the screen, and leads to the map.
func TestPageOfAMistypedAddress(t *testing.T) {
	t.Parallel()
	base := startStatements(t)
	for _, scheme := range []string{"light", "dark"} {
		b := startBrowser(t, map[string]string{"light": "en-GB", "dark": "de"}[scheme])
		b.Prefer(t, "color-scheme", scheme)
		for _, width := range []int64{320, 1440} {
			b.Do(t, chromedp.EmulateViewport(width, 640), chromedp.Navigate(base+"/lakes/zu/gruen"), chromedp.WaitVisible("main h1"))
			startAxe(t, b)
			checkAccess(t, b, fmt.Sprintf("a mistyped address, %s, %d px", scheme, width))
			if got := browsertest.Ask(t, b, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); got > width {
				t.Errorf("the page is %d px wide in %d px", got, width)
			}
			savePicture(t, b, fmt.Sprintf("mistyped-%s-%d", scheme, width))
		}
		if got := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector('main a').href`)); got != base+"/" {
			t.Errorf("the first link leads to %s", got)
		}
	}
}
