//go:build long

package pagetest

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

// A link opens the card of a lake, which first answers what a bather asks.
func TestPageCard(t *testing.T) {
	t.Parallel()
	base := startCardServer(t)
	b := openPage(t, "en-GB", base+"/#lake=de_t_karte", browsertest.Until(chartDrawn))
	wantCard(t, b, []string{"Kartensee", "Medium risk", "better not for small children", "Measured ", "25\u00a0µg/l", "1: medium", "Trophic status"}, "at that time", "Week of")
	if day := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector('#card time').dateTime`)); !strings.HasPrefix(day, weekday(0)) {
		t.Errorf("measured at %q, want %s", day, weekday(0))
	}
	for form, want := range map[string]string{"JSON": `"lake_id":"de_t_karte"`, "CSV": "\nde_t_karte," + weekday(0) + ",24.5,"} {
		body := fmt.Sprintf(`fetch([...document.querySelectorAll('#card a')].find((a) => a.textContent.includes(%q)).href).then((r) => r.text())`, form)
		browsertest.WantText(t, b, chromedp.Evaluate[string](body, chromedp.EvalAwaitPromise), fmt.Sprintf("the link to %s leads to", form), want)
	}
	t.Run("focus", func(t *testing.T) { testCardFocus(t, b) })
	t.Run("an old value", func(t *testing.T) {
		b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=de_t_alt'`), says("Altsee"), browsertest.Until(chartDrawn))
		wantCard(t, b, []string{"High risk (2", "Very many algae at that time", "An old value", " ago"})
	})
	t.Run("no value", func(t *testing.T) {
		b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=de_t_leer'`), says("Leersee"), browsertest.Until(chartDrawn))
		wantCard(t, b, []string{"No current value", "does not mean that it is clean", "Last value ", " months ago", "Last known risk"}, "Few algae")
		browsertest.WantText(t, b, chromedp.Evaluate[string](`document.querySelector('#card article').ariaLabel`), "aria-label", "No current value")
	})
	t.Run("never measured", func(t *testing.T) {
		b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=de_t_nie'`), says("Niesee"), browsertest.Until(`document.querySelector('#card [role=status]').textContent === 'never measured'`))
		wantCard(t, b, []string{"No current value", "does not mean that it is clean"}, "Few algae", "risk", "level", "Dashed")
	})
	t.Run("a past week", func(t *testing.T) {
		b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = 'lake=de_t_karte&date=%s'`, weekday(-6))), says("Week of "))
		wantCard(t, b, []string{"High risk (reported)", " ago)", "Very many algae at that time", "not the current state", "3: high (reported)"}, "keep children and dogs away")
		b.Do(t, chromedp.Click(`//section[@id="card"]//button[contains(., "newest week")]`), says("25\u00a0µg/l"))
		if where := browsertest.Ask(t, b, chromedp.Evaluate[string](`location.hash + ' ' + document.activeElement.tagName`)); !strings.HasSuffix(where, "lake=de_t_karte ARTICLE") || strings.Contains(where, "date=") {
			t.Errorf("after the button for the newest week: %s", where)
		}
	})
	t.Run("an unknown lake", func(t *testing.T) {
		b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=de_t_nosuch'`), says("“de_t_nosuch”"))
		wantCard(t, b, []string{"There is no lake"}, "risk", "Kartensee", "History", "Trophic", "newest week")
		browsertest.WantText(t, b, chromedp.Evaluate[string](`document.querySelector('#card article').ariaLabel`), "aria-label", "There is no lake")
		b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=%3Cb%3E'`), says("“<b>”"))
	})
	wantNoProblems(t, b, base)
}

// The focus moves into a card that opens, and back when it closes. Escape and the back button close it.
func testCardFocus(t *testing.T, b *browsertest.Browser) {
	const focused = `(document.activeElement.closest('#card') ? 'card' : document.activeElement.id)`
	b.Do(t, chromedp.KeyEvent(kb.Escape), chromedp.WaitNotVisible("#card"))
	browsertest.Want(t, b, focused, "map", "after closing a card that a link opened, the focus is on")
	b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=de_t_karte'`), chromedp.WaitVisible("#card h2"))
	browsertest.Want(t, b, focused, "card", "with the card open the focus is on")
	b.Do(t, chromedp.Evaluate[chromedp.Void](`history.back()`), chromedp.WaitNotVisible("#card"))
	b.Do(t, chromedp.Evaluate[chromedp.Void](`history.forward()`), chromedp.WaitVisible("#card h2"))
	b.Do(t, chromedp.Click("#card .head button"), chromedp.WaitNotVisible("#card"))
	if hash := browsertest.Ask(t, b, chromedp.Evaluate[string](`location.hash`)); strings.Contains(hash, "lake") {
		t.Errorf("the card is closed, but the address has %s", hash)
	}
}

// A lake that is not loaded, because it is far from the centre of the map, has a card too.
func TestPageCardOfLakeNotLoaded(t *testing.T) {
	t.Parallel()
	var fails atomic.Bool
	base := limnomaptest.Front(t, startCardServer(t), func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/search") && fails.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return true
		}
		if !strings.HasSuffix(r.URL.Path, "/page.json") {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"basemap":null,"notice":"","simulated":false,"attribution":"","max_zoom":18,"version":"1","total_lakes":1000000}`)
		return true
	}, nil)
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.Navigate(base+"/#map=12/48/8&lake=de_t_karte"), browsertest.Until(chartDrawn))
	wantCard(t, b, []string{"Kartensee", "Medium risk", "25\u00a0µg/l"})
	b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'map=12/48/8&lake=de_t_alt'`), says("Altsee"))
	wantCard(t, b, []string{"High risk (2", "An old value"})
	b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'map=12/48/8&lake=de_t'`), says("“de_t”"))
	wantNoProblems(t, b, base)

	fails.Store(true)
	b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'map=12/48/8&lake=de_t_leer'`), says("could not be loaded"))
	wantCard(t, b, []string{"de_t_leer"}, "risk", "There is no lake", "History")
	fails.Store(false)
	b.Do(t, chromedp.Click(`//section[@id="card"]//button[contains(., "Try again")]`), says("Leersee"), says("No current value"))
	wantCard(t, b, nil, "could not be loaded")
}

// A failed history can be requested again. A stored history shows its age.
func TestPageCardWithoutHistory(t *testing.T) {
	t.Parallel()
	var working atomic.Bool
	kept := time.Now().AddDate(0, 0, -3).UTC().Format(time.RFC3339)
	base := limnomaptest.Front(t, startCardServer(t), func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/history/") {
			return false
		}
		w.Header().Set("X-Kept-At", kept) // as the service worker does
		if working.Load() {
			return false
		}
		w.WriteHeader(http.StatusInternalServerError)
		return true
	}, nil)
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.Navigate(base+"/#lake=de_t_karte"), says("could not be loaded"))
	wantCard(t, b, []string{"Kartensee", "Medium risk", "25\u00a0µg/l"})
	working.Store(true)
	b.Do(t, chromedp.Click(`//section[@id="card"]//button[contains(., "Try again")]`), browsertest.Until(chartDrawn))
	wantCard(t, b, []string{"As of ", "(3 days ago)"}, "could not be loaded")
	browsertest.Want(t, b, `document.activeElement.tagName`, "ARTICLE", "after trying again, the focus is on")
	b.WantNoProblems(t, strings.TrimSuffix(base, "/lakes"), "/history/")
}

// The script of a card and its texts load when a card opens, not for the map. Without one of them the card shows its facts, and they can be
// requested again.
func TestPageCardWithoutScript(t *testing.T) {
	t.Parallel()
	for _, missing := range []string{"/assets/card-", "/assets/words-card-en-"} {
		t.Run(missing, func(t *testing.T) { testCardWithout(t, missing) })
	}
}

func testCardWithout(t *testing.T, missing string) {
	t.Parallel()
	var working atomic.Bool
	base := limnomaptest.Front(t, startCardServer(t), func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, missing) || working.Load() {
			return false
		}
		w.WriteHeader(http.StatusBadGateway)
		return true
	}, nil)
	const asked = `performance.getEntriesByType('resource').some(({name}) => /assets\/(words-)?card-/.test(name))`
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.Navigate(base+"/"), browsertest.Until(heatDrawn))
	browsertest.Expect(t, b, asked, false, "the map loads the script of a card")
	b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=de_t_karte'`), says("could not be loaded"))
	wantCard(t, b, []string{"Kartensee", "Medium risk", "25\u00a0µg/l"})
	working.Store(true)
	b.Do(t, chromedp.Click(`//section[@id="card"]//button[contains(., "Try again")]`), browsertest.Until(chartDrawn))
	wantCard(t, b, nil, "could not be loaded")
	b.WantNoProblems(t, base, missing)
}

// On the smallest phone, light and dark, in German: nothing is cut off, and axe-core finds nothing.
func TestPageCardOnAPhone(t *testing.T) {
	t.Parallel()
	base := startCardServer(t)
	for _, scheme := range []string{"light", "dark"} {
		b := startBrowser(t, "de")
		b.Prefer(t, "color-scheme", scheme)
		b.Do(t, chromedp.EmulateViewport(320, 640, chromedp.EmulateScale(2), chromedp.EmulateMobile),
			chromedp.Navigate(base+"/#lake=de_t_karte"), browsertest.Until(chartDrawn))
		wantCard(t, b, []string{"Kartensee", "Mittleres Risiko", "besser nicht für kleine Kinder", "25\u00a0µg/l", "statistische Vorhersage, nicht gemessen"})
		for _, hash := range []string{"lake=de_t_karte", "lake=de_t_alt", "lake=de_t_leer", "lake=nosuch", "lake=de_t_karte&date=" + weekday(-6)} {
			b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = %q`, hash)))
			if hash != "lake=nosuch" {
				b.Do(t, browsertest.Until(chartDrawn))
			} else {
				b.Do(t, says("gibt es hier nicht"))
			}
			checkAccess(t, b, scheme+" "+hash)
			wantNothingCutOff(t, b, hash)
		}
		wantNoProblems(t, b, base)
	}
}

// On a phone the card is a sheet of three heights: by its button, by the arrow keys, and by swipes of its head. The highest one covers the map, whose
// controls cannot have the focus then.
func TestPageCardStops(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "en-GB")
	b.Prefer(t, "reduced-motion", "reduce")
	b.Do(t, chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch),
		chromedp.Navigate(base+"/#lake=de_be_grosser_mueggelsee"), browsertest.Until(chartDrawn))
	stop := func(how, want string, least, most float64) {
		t.Helper()
		b.Do(t, browsertest.Until(`document.querySelector('#panel').dataset.stop === '`+want+`'`))
		if part := browsertest.Ask(t, b, chromedp.Evaluate[float64](`document.querySelector('#panel').getBoundingClientRect().height / innerHeight`)); part < least || part > most {
			t.Errorf("%s: at the stop %s the card has %.2f of the height, want %.2f to %.2f", how, want, part, least, most)
		}
		verdict := browsertest.Ask(t, b, chromedp.Evaluate[bool](`(() => {
			const r = document.querySelector('#card [data-fact=verdict]').getBoundingClientRect();
			return document.elementFromPoint(r.left + 20, r.top + r.height / 2)?.closest('[data-fact=verdict]') !== null;
		})()`))
		if !verdict {
			t.Errorf("%s: at the stop %s the verdict is covered", how, want)
		}
		browsertest.Want(t, b, `document.querySelector('#map').checkVisibility({visibilityProperty: true})`, want != "full", "%s: at the stop %s the map is visible:", how, want)
	}
	peek := func(how string) { t.Helper(); stop(how, "peek", 0.15, 0.3) }
	half := func(how string) { t.Helper(); stop(how, "half", 0.4, 0.6) }
	full := func(how string) { t.Helper(); stop(how, "full", 0.6, 1) }
	half("at first")
	b.Do(t, chromedp.Tap("#grip"))
	full("after a tap")
	checkAccess(t, b, "the card at its highest")
	savePicture(t, b, "card-full-phone")
	b.Do(t, chromedp.Tap("#grip"))
	peek("after two taps")
	checkAccess(t, b, "the card at its lowest")
	savePicture(t, b, "card-peek-phone")
	b.Do(t, chromedp.Focus("#grip"), chromedp.KeyEvent(kb.ArrowUp))
	half("by the keyboard")
	b.Do(t, chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.ArrowUp))
	full("by the keyboard, beyond the highest")
	b.Do(t, chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
	peek("by the keyboard, beyond the lowest")
	b.Do(t, chromedp.KeyEvent(kb.Enter))
	half("by Enter")

	touch := func(kind input.DispatchTouchEventType, points ...*input.TouchPoint) {
		browsertest.Enable(t, b, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
	}
	swipe := func(selector string, up float64) {
		t.Helper()
		at := browsertest.Ask(t, b, chromedp.Evaluate[struct{ X, Y float64 }](`(() => {
			const {left, top, height} = document.querySelector('`+selector+`').getBoundingClientRect();
			return {X: left + 60, Y: top + height / 2};
		})()`))
		touch(input.DispatchTouchEventTypeTouchStart, &input.TouchPoint{X: at.X, Y: at.Y})
		for i := range 5 {
			touch(input.DispatchTouchEventTypeTouchMove, &input.TouchPoint{X: at.X, Y: at.Y - up*float64(i+1)/5})
		}
		touch(input.DispatchTouchEventTypeTouchEnd)
	}
	swipe("#card .head", 120)
	full("after a swipe up")
	swipe("#card .head", -120)
	half("after a swipe down")
	swipe("#grip", -120)
	peek("after a swipe of the button down")
	// On a busy machine the browser takes a slow tap for a long press, which changes nothing.
	for range 20 {
		swipe("#grip", 8)
		if browsertest.Ask(t, b, chromedp.Evaluate[bool](`document.querySelector('#panel').dataset.stop !== 'peek'`)) {
			break
		}
	}
	half("after a tap that trembles")
	b.WantNoProblems(t, base)
}

// A card says where the lake is, how its value compares with earlier years, whom to ask, and where the lake's own page is.
func TestPageCardContext(t *testing.T) {
	t.Parallel()
	base := startServer(t, "--contact-name", "Gesundheitsamt Havelland", "--contact-url", "https://example.org/baden")
	b := openPage(t, "en-GB", base+"/#lake=de_be_grosser_mueggelsee", browsertest.Until(`document.querySelector('#card .plot .usual') !== null`))
	wantCard(t, b, []string{"\nBerlin\n", "In earlier years: usually ", " at this time of year (median of 2 years), ", "the same week a year ago.", "Wide grey line: median of earlier years", "Who to ask: Gesundheitsamt Havelland"})
	links := browsertest.Ask(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll('#card .contact a, #card .links a')].map((a) => a.href)`))
	for _, want := range []string{"https://example.org/baden", base + "/lakes/de_be_grosser_mueggelsee?lang=en"} {
		if !strings.Contains(strings.Join(links, " ")+" ", want+" ") {
			t.Errorf("the card has the links %q, want %s", links, want)
		}
	}
	// The years before the chart arrive after it: an entry that the reader has selected stays selected.
	browsertest.Want(t, b, `document.querySelector('.plot input').max`, "103", "the chart has")
	checkAccess(t, b, "a card with a contact")

	other := openPage(t, "en-GB", startServer(t)+"/#lake=de_be_grosser_mueggelsee", browsertest.Until(chartDrawn))
	wantCard(t, other, nil, "Who to ask")
}

// The season and the years of a lake load when a reader opens them: a picture of the season, one of the years, and words.
func TestPageCardSeason(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	for _, lang := range []string{"en-GB", "de-DE"} {
		b := startBrowser(t, lang)
		b.Do(t, chromedp.EmulateViewport(320, 640), chromedp.Navigate(base+"/#lake=de_be_grosser_mueggelsee"), browsertest.Until(chartDrawn))
		if n := browsertest.Ask(t, b, chromedp.Evaluate[int](`performance.getEntriesByType('resource').filter(({ name }) => /statistics|known-/.test(name)).length`)); n != 0 {
			t.Errorf("%d files of the season are loaded before it is opened", n)
		}
		b.Do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('.known summary').click()`), browsertest.Until(`document.querySelectorAll('.known svg').length === 2`),
			chromedp.Evaluate[chromedp.Void](`document.querySelector('.known').scrollIntoView()`))
		wantCard(t, b, []string{map[string]string{"en-GB": "Weeks with many algae, by year", "de-DE": "Wochen mit vielen Algen, nach Jahren"}[lang]})
		savePicture(t, b, "season-"+lang)
		checkAccess(t, b, "a card with a season "+lang)
		wantNothingCutOff(t, b, lang)
		wantNoProblems(t, b, base)
	}
}

// A value that arrives while the page is open appears in the chart too.
func TestPageCardOfANewerValue(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	base := limnomaptest.Front(t, startCardServer(t), func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/history/") || strings.Contains(r.URL.RawQuery, "to=") || asked.Add(1) > 1 { // with to= it asks for the years before the chart
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"history":[{"date":%q,"chl":8,"data_type":"satellite","who_level":0}]}`, weekday(-20))
		return true
	}, nil)
	b := openPage(t, "en-GB", base+"/#lake=de_t_karte", browsertest.Until(chartDrawn))
	wantCard(t, b, []string{"25\u00a0µg/l"})
	b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = 'lake=de_t_karte&date=%s'`, weekday(-6))),
		browsertest.Until(`document.querySelector('.plot input').max === '103'`), browsertest.Until(chartSays+`.endsWith(': 5\u00a0µg/l, High risk, reported')`))
	if n := asked.Load(); n != 2 {
		t.Errorf("the history was asked for %d times, want 2", n)
	}
	wantNoProblems(t, b, base)
}

// With an open card on the smallest phone, the date, the notice, the limits and the legend stay visible, and nothing covers
// the mark of the lake.
func TestPageCardKeepsNotices(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	for _, language := range []string{"en-GB", "de"} {
		b := startBrowser(t, language)
		b.Do(t, chromedp.EmulateViewport(320, 640, chromedp.EmulateScale(2), chromedp.EmulateMobile),
			chromedp.Navigate(base+"/#lake=de_by_starnberger_see"), browsertest.Until(chartDrawn))
		for _, selector := range []string{"#date", "#notice", "#limits summary", "#legend .compact", "#card .risk", "#card .age"} {
			// The element at its centre must be the element itself or a part of it.
			seen := fmt.Sprintf(`(() => {
				const e = document.querySelector(%q), r = e.getBoundingClientRect();
				return e.textContent !== '' && e.contains(document.elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2));
			})()`, selector)
			browsertest.Expect(t, b, seen, true, "%s: %s is not visible with an open card", language, selector)
		}
		covered := browsertest.Ask(t, b, chromedp.Evaluate[string](`(() => {
			const r = document.querySelector('#map').getBoundingClientRect();
			return document.elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2).closest('button, #legend')?.outerHTML ?? '';
		})()`))
		if covered != "" {
			t.Errorf("%s: the mark of the lake is covered by %.100s", language, covered)
		}
		wantNoProblems(t, b, base)
	}
}
