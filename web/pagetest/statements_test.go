//go:build long

package pagetest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
	"limnomap/web/browsertest"
)

// eachReader runs a test in both languages, on a phone and on a desk.
func eachReader(t *testing.T, test func(t *testing.T, b *browsertest.Browser, german bool)) {
	for _, language := range []string{"en-GB", "de"} {
		for _, device := range []struct {
			name          string
			width, height int64
			options       []chromedp.EmulateViewportOption
		}{
			{"phone", 390, 844, []chromedp.EmulateViewportOption{chromedp.EmulateScale(2), chromedp.EmulateMobile}},
			{"desk", 1280, 800, nil},
		} {
			if !testsize.Long && (language == "de") != (device.name == "desk") {
				continue
			}
			t.Run(language+" "+device.name, func(t *testing.T) {
				t.Parallel()
				b := startBrowser(t, language)
				b.Prefer(t, "reduced-motion", "reduce")
				b.Do(t, chromedp.EmulateViewport(device.width, device.height, device.options...))
				test(t, b, language == "de")
			})
		}
	}
}

const (
	cardTop     = `document.querySelector('#card article').innerText`
	closedOnMap = "rgb(22, 25, 28)"
)

// in returns the text of one of two languages.
func in(german bool, english, deutsch string) string {
	if german {
		return deutsch
	}
	return english
}

// wantOrder reports texts that the open card lacks or has in another order.
func wantOrder(t *testing.T, b *browsertest.Browser, wants ...string) {
	t.Helper()
	card := browsertest.Ask(t, b, chromedp.Evaluate[string](cardTop))
	rest := card
	for _, want := range wants {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Errorf("the card lacks %q, or has it too early: %q", want, card)
			continue
		}
		rest = after
	}
}

// A closure is the first thing that a card says, with all that the authority says; the class of the value is below it.
func TestPageClosedLake(t *testing.T) {
	t.Parallel()
	base := startStatements(t)
	eachReader(t, func(t *testing.T, b *browsertest.Browser, german bool) {
		lastDay := closedUntil.Add(-day).Format(time.DateOnly)
		locale := in(german, "en-GB", "de")
		b.Do(t, chromedp.Navigate(base+"/#lake=zu_gruen"), browsertest.Until(chartDrawn), says(in(german, "The whole beach is closed.", "Der ganze Strand ist gesperrt.")))
		until := browsertest.Ask(t, b, chromedp.Evaluate[string](fmt.Sprintf(`new Intl.DateTimeFormat(%q, {dateStyle: 'medium', timeZone: 'UTC'}).format(new Date(%q))`, locale, lastDay)))
		wantOrder(t, b, "Grünsee", in(german, "Closed until "+until, "Gesperrt bis "+until), in(german, "Blue-green algae", "Blaualgen"), "Gesundheitsamt Berlin",
			in(german, "Do not bathe here.", "Hier nicht baden."), in(german, "The whole beach", "Der ganze Strand"), in(german, "Page of the authority", "Seite der Behörde"),
			in(german, "Algae: ", "Algen: "), in(german, "High risk", "Hohes Risiko"), in(german, ", by satellite", ", per Satellit"), in(german, "do not bathe", "nicht baden"),
			in(german, "Bathing season", "Badesaison"), in(german, "The season has begun.", "Die Saison hat begonnen."), "80\u00a0µg/l")
		type link struct{ Href, Rel, Target string }
		if got, want := browsertest.Ask(t, b, chromedp.Evaluate[link](`(({href, rel, target}) => ({href, rel, target}))(document.querySelector('#card .closure a'))`)), (link{"https://example.org/beach?a=1&b=2", "noopener", "_blank"}); got != want {
			t.Errorf("the link is %+v, want %+v", got, want)
		}
		// Without scrolling: the closure is in sight on a phone too.
		browsertest.Expect(t, b, `(() => {
			const e = document.querySelector('#card .closure strong'), r = e.getBoundingClientRect();
			return e.contains(document.elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2));
		})()`, true, "the closure is not in sight")
		if label := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector('#card article').ariaLabel`)); !strings.HasPrefix(label, in(german, "Grünsee: Closed · Algae: High risk, 80", "Grünsee: Gesperrt · Algen: Hohes Risiko, 80")) {
			t.Errorf("the name of the card is %q", label)
		}
		checkAccess(t, b, "the card of a closed lake")
		b.Prefer(t, "color-scheme", "dark")
		checkAccess(t, b, "the card of a closed lake, dark")
		b.WantNoProblems(t, base)
	})
}

// A closed lake without a value is closed, not only grey, and never looks clean. Its text is in the language that there is.
func TestPageClosedLakeWithoutValue(t *testing.T) {
	t.Parallel()
	base := startStatements(t)
	eachReader(t, func(t *testing.T, b *browsertest.Browser, german bool) {
		b.Do(t, chromedp.Navigate(base+"/#lake=zu_leer"), says("Badeverbot wegen Bakterien."), chromedp.WaitVisible("#legend"))
		wantOrder(t, b, "Wolkensee", in(german, "Closed until further notice", "Gesperrt bis auf Weiteres"), in(german, "Bacteria", "Bakterien"), "Landkreis Wittenberg",
			"Badeverbot wegen Bakterien.", in(german, "No current value", "Kein aktueller Wert"), in(german, "never measured", "nie gemessen"))
		browsertest.Want(t, b, `document.querySelector('#card .statement .text').lang`, "de", "the text has the language")
		b.Do(t, chromedp.Evaluate[chromedp.Void](pixel), browsertest.Until(`mark(0, 0) !== ''`))
		if got := markAt(t, b, -7, 5); got != closedOnMap {
			t.Errorf("beside its middle the mark is %q, want the black of a closed lake", got)
		}
		b.WantNoProblems(t, base)
	})
}

// On the map a closed lake is a black disc with a white bar, whatever its value. It keeps its size beside other lakes, and the filter for high risk does
// not hide it.
func TestPageClosedMarks(t *testing.T) {
	t.Parallel()
	base := startStatements(t)
	b := startBrowser(t, "en-GB")
	b.Prefer(t, "reduced-motion", "reduce")
	b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/#map=14/52.4/13.6"), chromedp.WaitVisible("#legend"),
		chromedp.WaitReady(".leaflet-marks-pane canvas"), chromedp.Evaluate[chromedp.Void](pixel), browsertest.Until(`mark(0, 0) !== ''`))
	const white = "rgb(255, 255, 255)"
	for name, hash := range map[string]string{
		"many algae": "map=14/52.4/13.6", "no value": "map=14/51.5/12.0", "few algae": "map=14/48.5/9.0", "among others": "map=9/48.5/9.0", "far away": "map=4/52.4/13.6",
		"a filter for high risk": "map=14/48.5/9.0&risk=high", "a filter for closed lakes": "map=14/48.5/9.0&risk=closed", "the style dots": "map=14/48.5/9.0&style=dots",
	} {
		setHash(t, b, "#"+hash)
		if middle, above, below := markAt(t, b, 0, 0), markAt(t, b, 0, -5), markAt(t, b, 0, 5); middle != white || above != closedOnMap || below != closedOnMap {
			t.Errorf("%s: the mark is %s in the middle, %s above and %s below, want a white bar on black", name, middle, above, below)
		}
	}
	setHash(t, b, "#map=14/48.5/9.0&risk=low")
	if got := markAt(t, b, 0, 5); got == closedOnMap || got != "" {
		t.Errorf("with a filter for low risk, a closed lake is %q, want none", got)
	}
	// Few algae, but a warning: the badge at the upper right.
	setHash(t, b, "#map=14/49.5/10.0")
	if got := markAt(t, b, 12, -8); got != "rgb(29, 35, 40)" {
		t.Errorf("the badge of a warning is %q", got)
	}
	setHash(t, b, "#map=14/53.1/13.0")
	if got := markAt(t, b, 12, -8); got == "rgb(29, 35, 40)" {
		t.Error("a lake with a note has a badge")
	}
	setHash(t, b, "#map=14/52.4/13.6")
	m := middleOfMap(t, b)
	b.Do(t, browsertest.Hover(m.X, m.Y, `document.querySelector('.leaflet-tooltip') !== null`))
	if tip, want := browsertest.Ask(t, b, chromedp.Text(".leaflet-tooltip")), "Grünsee: Closed · Algae: High risk, 80\u00a0µg/l"; tip != want {
		t.Errorf("the tooltip is %q, want %q", tip, want)
	}
	b.WantNoProblems(t, base)
}

// By value the list begins with closed lakes, and its filter has an entry for them; the legend explains their sign.
func TestPageListOfClosedLakes(t *testing.T) {
	t.Parallel()
	base := startStatements(t)
	eachReader(t, func(t *testing.T, b *browsertest.Browser, german bool) {
		b.Do(t, chromedp.Navigate(base+"/"), chromedp.WaitVisible("#legend"),
			browsertest.Until(fmt.Sprintf("%s === %q", firstLine, in(german, "Closed: 3 · High risk: 1 lake, 1 measured this week · 88 % of the lakes seen", "Gesperrt: 3 · Hohes Risiko: 1 See, 1 diese Woche gemessen · 88 % der Seen gesehen"))))
		find(t, b, "")
		selectOrder(t, b, "value")
		b.Do(t, browsertest.Until(`[...document.querySelectorAll('#find li')].every((li) => li.innerText)`)) // entries have no text before they are drawn
		got := browsertest.Ask(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll('#find li')].map((li) => li.querySelector('.symbol').classList[1] + (li.querySelector('.badge') ? '!' : '') + ' ' + li.innerText.replaceAll('\n', ' ').trim())`))
		want := []string{
			in(german, "closed Grünsee Closed: do not swim Closed · Algae: High risk, 80\u00a0µg/l", "closed Grünsee Gesperrt: nicht baden Gesperrt · Algen: Hohes Risiko, 80\u00a0µg/l"),
			in(german, "closed Klarsee Closed: do not swim Closed · Algae: Low risk, 3\u00a0µg/l", "closed Klarsee Gesperrt: nicht baden Gesperrt · Algen: Geringes Risiko, 3\u00a0µg/l"),
			in(german, "closed Wolkensee Closed: do not swim Closed · Algae: No current value (never measured)", "closed Wolkensee Gesperrt: nicht baden Gesperrt · Algen: Kein aktueller Wert (nie gemessen)"),
			in(german, "high! Zellsee Do not swim High risk (cell count), 5\u00a0µg/l", "high! Zellsee Nicht baden Hohes Risiko (Zellzahl), 5\u00a0µg/l"),
			in(german, "low Einstsee Swimming looks fine Low risk, 3\u00a0µg/l", "low Einstsee Baden scheint in Ordnung Geringes Risiko, 3\u00a0µg/l"),
			in(german, "low Nebensee Swimming looks fine Low risk, 3\u00a0µg/l", "low Nebensee Baden scheint in Ordnung Geringes Risiko, 3\u00a0µg/l"),
			in(german, "low Saisonsee Swimming looks fine Low risk, 3\u00a0µg/l", "low Saisonsee Baden scheint in Ordnung Geringes Risiko, 3\u00a0µg/l"),
			in(german, "low! Warnsee Official warning: do not swim Official warning · Algae: Low risk, 3\u00a0µg/l", "low! Warnsee Amtliche Warnung: nicht baden Amtliche Warnung · Algen: Geringes Risiko, 3\u00a0µg/l"),
		}
		if !slices.Equal(got, want) {
			t.Errorf("the list is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		counts := browsertest.Ask(t, b, chromedp.Evaluate[map[string]string](`Object.fromEntries([...document.querySelectorAll('#find [name=risk]')].map((i) => [i.value, i.parentElement.lastElementChild.textContent]))`))
		if fmt.Sprint(counts) != fmt.Sprint(map[string]string{"closed": "3", "high": "1", "medium": "0", "low": "4", "none": "0"}) {
			t.Errorf("the filter counts %v", counts)
		}
		checkAccess(t, b, "the list with closed lakes")
		b.Do(t, chromedp.Click("#find [value=closed]"))
		waitForList(t, b, "closed", []string{"zu_gruen", "zu_klar", "zu_leer"}, false)
		b.Do(t, chromedp.Click("#find [value=closed]"), chromedp.Click("#find [value=high]"))
		waitForList(t, b, "high", []string{"zu_gruen", "zu_klar", "zu_leer", "zell"}, false)
		browsertest.Want(t, b, `[...document.querySelectorAll('#find [name=risk]:checked')].map((i) => i.value + (i.disabled ? ' fixed' : '')).join()`, "closed fixed,high", "the filter for a high risk, which shows closed lakes too, has")
		b.Do(t, chromedp.Click("#find [value=high]"), chromedp.Click("#find [value=low]"))
		waitForList(t, b, "low", []string{"einst", "neben", "saison", "warn"}, false)
		for _, says := range []string{in(german, "Closed by the authority", "Von der Behörde gesperrt"), in(german, "Warning, or worse than its colour", "Warnung oder schlimmer als die Farbe")} {
			const legend = `[...document.querySelectorAll('#legend li:not([hidden])')].map((li) => li.textContent).join()`
			browsertest.WantText(t, b, chromedp.Evaluate[string](legend), fmt.Sprintf("the legend lacks %q", says), says)
		}
		b.WantNoProblems(t, base)
	})
}

// A closed lake is closed in an embedded map and on paper, too.
func TestPageClosedLakeEmbeddedAndPrinted(t *testing.T) {
	t.Parallel()
	base := startStatements(t)
	b := startBrowser(t, "de")
	b.Do(t, chromedp.EmulateViewport(600, 480), chromedp.Navigate(base+"/embed?lake=zu_gruen&lang=de"), says("Der ganze Strand ist gesperrt."), chromedp.WaitVisible("#card .closure"))
	wantOrder(t, b, "Grünsee", "Gesperrt bis ", "Gesundheitsamt Berlin", "Hohes Risiko")
	b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/#lake=zu_klar"), says("Building works."), chromedp.WaitVisible("#legend"),
		chromedp.Evaluate[chromedp.Void](`void window.dispatchEvent(new Event('beforeprint'))`))
	b.Print(t)
	for _, selector := range []string{"#card .closure strong", "#card .closure .symbol", "#card .closure bdi", "#card .closure .text", "#legend .closed", "#card .risk"} {
		b.Do(t, browsertest.Until(fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => e.checkVisibility())`, selector)))
	}
	b.WantNoProblems(t, base)
}

// A warning comes before the class of the value, which does not reassure. A note comes after it.
func TestPageWarningsAndNotes(t *testing.T) {
	t.Parallel()
	base := startStatements(t)
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(390, 844), chromedp.Navigate(base+"/#lake=warn"), browsertest.Until(chartDrawn))
	wantOrder(t, b, "Warnsee", "Official warning until further notice", "Blue-green algae", "Stadt Nürnberg", "advises against bathing", "Algae: ", "Low risk", "The satellite shows few algae.")
	wantCard(t, b, nil, "Keep children out", "Closed")
	checkAccess(t, b, "a warning")
	b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=saison'`), says("Saisonsee"), browsertest.Until(chartDrawn))
	wantOrder(t, b, "Saisonsee", "Low risk", "Keep children out", "Bathing season", "Land Brandenburg")
	wantCard(t, b, nil, "Algae: ", "until further notice", "warning")
	b.WantNoProblems(t, base)
}

// A past week shows the statements of that week.
func TestPageStatementsOfAPastWeek(t *testing.T) {
	t.Parallel()
	base := startStatements(t)
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(390, 844), chromedp.Navigate(base+"/#lake=einst&date="+weekday(-4)), says("It was closed."), browsertest.Until(chartDrawn))
	wantOrder(t, b, "Einstsee", "Week of", "Closed until ", "Amt Uckermark", "Low risk", "What the authority says counts")
	b.Do(t, chromedp.Click(`//section[@id="card"]//button[contains(., "newest week")]`), says("Keep children out"))
	wantCard(t, b, nil, "Closed", "Amt Uckermark")
	b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = 'lake=zu_gruen&date=%s'`, weekday(-4))), says("Grünsee"), says("at that time"))
	wantCard(t, b, nil, "Closed", "Gesundheitsamt")
	b.WantNoProblems(t, base)
}

// Without the text of a statement the card says that the lake is closed, and offers to load the text again.
func TestPageStatementWithoutText(t *testing.T) {
	t.Parallel()
	var working atomic.Bool
	base := limnomaptest.Front(t, startStatements(t), func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/advisories") || working.Load() {
			return false
		}
		w.WriteHeader(http.StatusInternalServerError)
		return true
	}, nil)
	b := openPage(t, "en-GB", base+"/#lake=zu_gruen", says("could not be loaded"), browsertest.Until(chartDrawn))
	wantOrder(t, b, "Closed until ", "Gesundheitsamt Berlin", "could not be loaded", "High risk")
	working.Store(true)
	b.Do(t, chromedp.Click(`//section[@id="card"]//button[contains(., "Try again")]`), says("The whole beach is closed."))
	wantCard(t, b, nil, "could not be loaded")
	b.WantNoProblems(t, base, "/advisories")
}

// A lake whose cell count is worse than its chlorophyll has the colour of its risk and a badge, and the card says why.
func TestPageWorseThanItsColour(t *testing.T) {
	t.Parallel()
	base := startStatements(t)
	colours := legendColours(t, base)
	eachReader(t, func(t *testing.T, b *browsertest.Browser, german bool) {
		b.Do(t, chromedp.Navigate(base+"/#lake=zell"), browsertest.Until(chartDrawn), chromedp.WaitVisible("#legend"), unfold)
		wantOrder(t, b, "Zellsee", in(german, "High risk (cell count)", "Hohes Risiko (Zellzahl)"), in(german, ", from a water sample", ", aus einer Wasserprobe"), in(german, "do not bathe", "nicht baden"),
			in(german, "Cell count 150,000 cells/ml: worse than the colour", "Zellzahl 150.000 Zellen/ml: schlimmer als die Farbe"),
			in(german, "21.5 °C", "21,5 °C"), "5\u00a0µg/l", in(german, "2: high (cell count)", "2: hoch (Zellzahl)"), in(german, "1.2 m", "1,2 m"))
		got := browsertest.Ask(t, b, chromedp.Evaluate[string](`getComputedStyle(document.querySelector('#card .risk .symbol path')).fill`))
		if !slices.Contains(colours["high"], got) || !browsertest.Ask(t, b, chromedp.Evaluate[bool](`document.querySelector('#card .risk .badge') !== null`)) {
			t.Errorf("the symbol on the card is %s, want a colour of high risk and a badge", got)
		}
		b.Do(t, chromedp.Evaluate[chromedp.Void](pixel), browsertest.Until(`mark(0, 0) !== ''`))
		if got := markAt(t, b, -6, -2); !slices.Contains(colours["high"], got) {
			t.Errorf("the mark is %q, want a colour of high risk", got)
		}
		if got := markAt(t, b, 12, -8); got != "rgb(29, 35, 40)" {
			t.Errorf("the badge is %q", got)
		}
		checkAccess(t, b, "a cell count worse than the colour")
		b.WantNoProblems(t, base)
	})
}

// Samples, satellite values and forecasts are apart in the chart, with their uncertainty, quality and limit.
func TestPageSampleBesideSatellite(t *testing.T) {
	t.Parallel()
	base := startStatements(t)
	eachReader(t, func(t *testing.T, b *browsertest.Browser, german bool) {
		b.Do(t, chromedp.Navigate(base+"/#lake=zell"), browsertest.Until(chartDrawn))
		parts := browsertest.Ask(t, b, chromedp.Evaluate[map[string]int](`Object.fromEntries([...document.querySelectorAll('.plot path[class]')].map((p) => [p.getAttribute('class'), p.getAttribute('d').split('M').length - 1]))`))
		for class, want := range map[string]int{"line": 1, "dashed": 1, "dots": 12, "dots poor": 1, "sample": 2, "sample poor": 1, "below": 1, "sign reported": 1} {
			if parts[class] != want {
				t.Errorf("%d parts of the kind %q, want %d: %v", parts[class], class, want, parts)
			}
		}
		if parts["whisker"] < 14 {
			t.Errorf("%d parts of whiskers, want those of 13 satellite values and of samples", parts["whisker"])
		}
		key := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector('.key').innerText`))
		for _, want := range []string{in(german, "● satellite", "● Satellit"), in(german, "■ water sample", "■ Wasserprobe"), in(german, "poor quality", "schlechte Qualität"), in(german, "uncertainty", "Unsicherheit"),
			in(german, "< below", "< weniger"), in(german, "Dashed", "Gestrichelt"), in(german, "worse than the chlorophyll value", "schlimmer als der Chlorophyllwert")} {
			if !strings.Contains(key, want) {
				t.Errorf("the key lacks %q: %q", want, key)
			}
		}
		// The entries in words, as screen readers read them. The one of the card is selected first.
		said := []string{browsertest.Ask(t, b, chromedp.Evaluate[string](chartSays))}
		said = append(said, browsertest.Ask(t, b, chromedp.Evaluate[[]string](`(() => {
			const range = document.querySelector('.plot input'), all = [];
			for (range.value = 0; ; range.value++) {
				range.dispatchEvent(new Event('input'));
				all.push(range.ariaValueText);
				if (range.value === range.max) return all;
			}
		})()`))...)
		if want := in(german, ": 5\u00a0µg/l, between 4 and 6.5, High risk, cell count, water sample", ": 5\u00a0µg/l, zwischen 4 und 6,5, Hohes Risiko, Zellzahl, Wasserprobe"); !strings.HasSuffix(said[0], want) {
			t.Errorf("the chart first says %q, want %q", said[0], want)
		}
		for _, want := range []string{
			in(german, ": < 15\u00a0µg/l, Low risk, water sample", ": < 15\u00a0µg/l, Geringes Risiko, Wasserprobe"), in(german, ": 40\u00a0µg/l, Medium risk, water sample, poor quality", ": 40\u00a0µg/l, Mittleres Risiko, Wasserprobe, schlechte Qualität"),
			in(german, ": 3\u00a0µg/l, between 2 and 4.5, Low risk, poor quality", ": 3\u00a0µg/l, zwischen 2 und 4,5, Geringes Risiko, schlechte Qualität"),
		} {
			if !slices.ContainsFunc(said, func(s string) bool { return strings.HasSuffix(s, want) }) {
				t.Errorf("the chart never says %q: %q", want, said)
			}
		}
		b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=neben'`), says("Nebensee"), browsertest.Until(chartDrawn))
		if key := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector('.key').innerText`)); strings.Contains(key, in(german, "sample", "probe")) || strings.Contains(key, "<") {
			t.Errorf("the key of a chart without samples is %q", key)
		}
		b.WantNoProblems(t, base)
	})
}
