package pagetest

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"limnomap/api/words"
	"limnomap/data/testsize"
	"limnomap/web/browsertest"
)

// titles are the headings of the page by language.
var titles = map[string]string{
	"en": "Algae in lakes", "de": "Algen in Seen", "fr": "Algues dans les lacs", "pl": "Glony w jeziorach", "cs": "Řasy v jezerech", "da": "Alger i søer", "nl": "Algen in meren",
}

// inLanguage waits until the page is in a language. It has its English title and its links before its script, which removes #load-help.
func inLanguage(language string) chromedp.Action[chromedp.Void] {
	return browsertest.Until(fmt.Sprintf(`!document.querySelector('#load-help') && document.querySelector('h1').textContent === %q && document.documentElement.lang === %q`, titles[language], language))
}

// In each language the page fits on a phone and on a desktop, and loads the words of that language only.
func TestPageInEachLanguage(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	for _, language := range testsize.Of([]string{"fr"}, words.Languages) {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			b := startBrowser(t, language)
			for _, size := range testsize.Cases(1, [][2]int64{{390, 844}, {320, 640}, {1440, 900}}) {
				name := fmt.Sprintf("%s-%dx%d", language, size[0], size[1])
				b.Do(t, chromedp.EmulateViewport(size[0], size[1]), chromedp.Navigate("about:blank"), chromedp.Navigate(base+"/"), inLanguage(language), browsertest.Until(heatDrawn))
				checkFits(t, b, name)
				savePicture(t, b, name)
				b.Do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('#legend details').open = true`))
				checkFits(t, b, name+" with the legend")
				savePicture(t, b, name+"-legend")
				b.Do(t, chromedp.Click("#language"), chromedp.WaitVisible("#languages"))
				checkFits(t, b, name+" with the languages")
				if size[0] == 390 {
					savePicture(t, b, name+"-languages")
					checkAccess(t, b, name+" with the languages")
				}
				b.Do(t, chromedp.KeyEvent(kb.Escape), chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=`+embeddedLake+`'`), browsertest.Until(chartDrawn))
				checkFits(t, b, name+" with a card")
				browsertest.Expect(t, b, `document.querySelector('#offline').hidden`, true, "%s: the page says that it is offline", name)
				savePicture(t, b, name+"-card")
			}
			const others = `performance.getEntriesByType('resource').map(({name}) => name).filter((name) => /\/words-/.test(name) && !name.includes('-%s-')).join()`
			browsertest.Want(t, b, fmt.Sprintf(others, language), "", "in %s the page loads the words", language)
			for _, other := range words.Languages {
				n := browsertest.Ask(t, b, chromedp.Evaluate[int](storedCount("/words-"+other+"-"), chromedp.EvalAwaitPromise))
				if n > 0 && other != language {
					t.Errorf("in %s the words of %s are stored", language, other)
				}
			}
			b.WantNoProblems(t, base)
		})
	}
}

// checkFits checks that nothing in the page is wider than the window, and no text wider than its button.
func checkFits(t *testing.T, b *browsertest.Browser, state string) {
	t.Helper()
	const wide = `[
		...document.documentElement.scrollWidth > innerWidth ? ['the page: ' + document.documentElement.scrollWidth] : [],
		...[...document.querySelectorAll('header *, #legend *, #find fieldset *, #find .row *, #time button, #languages a, #card *')].filter((e) => e.checkVisibility()
			&& !e.closest('.ticks, svg, .symbol, .tip, #load-help')).flatMap((e) => {
			const { left, right } = e.getBoundingClientRect();
			return left < -1 || right > innerWidth + 1 || (e.matches('button, label') && e.scrollWidth > e.clientWidth + 1) ? [e.outerHTML.slice(0, 120) + ' from ' + left + ' to ' + right] : [];
		}),
	].join('\n')`
	browsertest.Want(t, b, wide, "", "%s: too wide:\n", state)
}
