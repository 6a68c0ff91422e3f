//go:build long

package pagetest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"limnomap/api/words"
	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

// choose selects a language with the pointer.
func choose(t *testing.T, b *browsertest.Browser, language string) {
	t.Helper()
	b.Do(t, chromedp.Click("#language"), chromedp.Click(fmt.Sprintf(`#languages [lang=%s]`, language)))
}

// The page has the first language of the browser that it knows, until the user selects one, which it keeps.
func TestPageLanguage(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "en-GB")
	b.OnNewDocument(t, `Object.defineProperty(Navigator.prototype, 'languages', { get: () => ['ja', 'fr-CH', 'de'] })`)
	b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/#lake=de_by_starnberger_see"), inLanguage("fr"), cardOf("Starnberger See"))
	choose(t, b, "de")
	b.Do(t, inLanguage("de"), cardOf("Starnberger See"), browsertest.Until(`!document.querySelector('.filling')`), unfold)
	card := browsertest.Ask(t, b, chromedp.Text("#card"))
	for _, want := range []string{"Risiko", "Gemessen", "Trophie", ",", "µg/l"} {
		if !strings.Contains(card, want) {
			t.Errorf("the German card lacks %q: %s", want, card)
		}
	}
	b.Do(t, chromedp.Navigate(base+"/"), inLanguage("de"))
	b.Do(t, chromedp.Navigate(base+"/?lang=en"), inLanguage("en"))
	// By the keyboard: the button opens the menu, the links follow it, and Escape closes it.
	b.Do(t, chromedp.Focus("#language"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("#languages"), chromedp.KeyEvent(kb.Escape), chromedp.WaitNotVisible("#languages"))
	b.Do(t, chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("#languages"))
	for range slices.Index(words.Languages, "pl") + 1 {
		b.Do(t, chromedp.KeyEvent(kb.Tab))
	}
	if lang := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.activeElement.lang`)); lang != "pl" {
		t.Fatalf("the keyboard reaches the language %q, want pl", lang)
	}
	b.Do(t, chromedp.KeyEvent(kb.Enter), inLanguage("pl"), browsertest.Until(`location.search === '?lang=pl'`))
	browsertest.Want(t, b, `document.querySelector('#language').ariaLabel + '|' + document.querySelector('#languages [aria-current]').textContent`, "Język: PL|Polski", "the button and the current language are")
	b.WantNoProblems(t, base)
}

// A language that is chosen before the script has run is not lost: the choices are links.
func TestPageLanguageWithoutScript(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	var available atomic.Bool
	front := limnomaptest.Front(t, base, func(w http.ResponseWriter, r *http.Request) bool {
		if available.Load() || !strings.Contains(r.URL.Path, "/main-") || !strings.HasSuffix(r.URL.Path, ".js") {
			return false
		}
		http.Error(w, "no server", http.StatusBadGateway)
		return true
	}, nil)
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.Navigate(front+"/"))
	choose(t, b, "cs")
	b.Do(t, browsertest.Until(`location.search === '?lang=cs'`))
	available.Store(true)
	b.Do(t, chromedp.Reload(), inLanguage("cs"))
}

// A page that was shown in a language works in it without a network, also after an update: the service worker stores the words that are used.
func TestPageOfflineLanguage(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	f := startFaultyNetwork(t, base)
	b := startBrowser(t, "pl")
	f.visit(t, b)
	b.Do(t, browsertest.Until(storedCount("/words-pl-")+`.then((n) => n === 1)`))
	f.set(broken)
	b.Do(t, chromedp.Reload(), inLanguage("pl"), chromedp.WaitVisible("#offline"))
	// Another language cannot be loaded: the page stays as it is, and says so.
	choose(t, b, "nl")
	b.Do(t, browsertest.Until(`document.querySelector('#toast [role=status]').textContent.includes('Nie udało się')`), inLanguage("pl"))
	f.set(online)
	// An update gives the words other names.
	f.words = browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector('script').dataset.words.match(/LANG-(\w+)/)[1]`))
	version := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.documentElement.dataset.version`))
	newer := func(path string, content []byte) []byte {
		if path == "/" || path == "/embed" || path == "/sw.js" {
			return []byte(strings.NewReplacer(version, "99999999", f.words, newWords).Replace(string(content)))
		}
		return content
	}
	f.change.Store(&newer)
	b.Do(t, chromedp.Evaluate[chromedp.Void](`navigator.serviceWorker.getRegistration().then((r) => r.update()).then(() => {})`, chromedp.EvalAwaitPromise),
		browsertest.Until(storedCount("/words-pl-"+newWords)+`.then((n) => n === 1)`))
	b.Do(t, browsertest.Until(`caches.keys().then((names) => /^[^,]* shell 99999999$/.test(names.filter((n) => n.includes(' shell ')).join()))`))
	f.set(broken)
	b.Do(t, chromedp.Reload(), inLanguage("pl"), chromedp.WaitVisible("#offline"))
	browsertest.Want(t, b, `document.documentElement.dataset.version`, "99999999", "without a network the page has the version")
}

// On a touch screen the button and the links are 44 px high, and the menu has no obstacles in dark colours either.
func TestPageLanguagesOnAPhone(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "en-GB")
	b.Prefer(t, "color-scheme", "dark")
	b.Do(t, chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch), chromedp.Navigate(base+"/"), inLanguage("en"), browsertest.Until(heatDrawn))
	b.Do(t, chromedp.Click("#language"), chromedp.WaitVisible("#languages"))
	const least = `Math.min(...[...document.querySelectorAll('#language, #languages a')].map((e) => e.getBoundingClientRect().height))`
	if height := browsertest.Ask(t, b, chromedp.Evaluate[float64](least)); height < 44 {
		t.Errorf("the smallest target of the languages is %v px high, want 44 or more", height)
	}
	checkAccess(t, b, "the languages on a dark phone")
	savePicture(t, b, "languages-dark-phone")
	b.WantNoProblems(t, base)
}
