package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// weekday returns the Monday that many weeks after this week's, as the data write it.
func weekday(weeks int) string {
	now := time.Now().UTC()
	return now.AddDate(0, 0, 7*weeks-(int(now.Weekday())+6)%7).Format(time.DateOnly)
}

// startCardServer serves lakes whose histories have what a chart must not hide: a gap, a week seen without a value, values
// beyond the axis, scum that was reported over clear water, and forecasts.
func startCardServer(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	mustRun(t, "import", "lakes", "--db", db, writeFile(t, dir, "lakes.csv", `id,name,lat,lon,region
de_t_karte,Kartensee,52.4,13.6,Berlin
de_t_alt,Altsee,53.1,13.0,Brandenburg
de_t_leer,Leersee,52.9,14.1,Brandenburg
`))
	var rows strings.Builder
	rows.WriteString("lake_id,date,chl,data_type,who_level\n")
	row := func(lake string, week int, chl, kind, level string) {
		fmt.Fprintf(&rows, "%s,%s,%s,%s,%s\n", lake, weekday(week), chl, kind, level)
	}
	for week := -130; week <= -20; week++ {
		row("de_t_karte", week, "8", "satellite", "")
	}
	row("de_t_karte", -10, "12", "satellite", "")
	row("de_t_karte", -9, "", "satellite", "")
	row("de_t_karte", -8, "150", "satellite", "")
	row("de_t_karte", -7, "0.5", "satellite", "")
	row("de_t_karte", -6, "5", "satellite", "3")
	row("de_t_karte", 0, "24.5", "satellite", "")
	row("de_t_karte", 1, "30", "ai_forecast", "")
	row("de_t_karte", 2, "60", "ai_forecast", "")
	row("de_t_alt", -3, "80", "satellite", "")
	row("de_t_leer", -30, "80", "satellite", "")
	mustRun(t, "import", "observations", "--db", db, writeFile(t, dir, "obs.csv", rows.String()))
	base, _ := startServer(t, "--db", db, "--basemap-url", "none", "--base-path", "/lakes")
	return base
}

const chartDrawn = `document.querySelector('#card .plot svg > *') !== null`

// says holds when the card's text contains that.
func says(text string) chromedp.Action[chromedp.Void] {
	return until(fmt.Sprintf(`document.querySelector('#card').innerText.includes(%q)`, text))
}

// wantCard reports which of the texts the open card lacks, and which it must not have.
func wantCard(t *testing.T, b *browser, wants []string, never ...string) {
	t.Helper()
	card := ask(t, b, chromedp.Text("#card"))
	for _, want := range wants {
		if !strings.Contains(card, want) {
			t.Errorf("the card lacks %q: %s", want, card)
		}
	}
	for _, no := range never {
		if strings.Contains(card, no) {
			t.Errorf("the card says %q: %s", no, card)
		}
	}
}

func wantNoProblems(t *testing.T, b *browser, base string) {
	t.Helper()
	for _, p := range b.problems(strings.TrimSuffix(base, "/lakes")) {
		t.Errorf("on the page: %s", p)
	}
}

// A link opens a lake's card, which says what a swimmer asks first.
func TestPageCard(t *testing.T) {
	base := startCardServer(t)
	b := startBrowser(t, "en-GB")
	b.do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/#lake=de_t_karte"), until(chartDrawn))
	wantCard(t, b, []string{"Kartensee", "Medium risk", "better not for small children", "Measured ", "24.5 µg/l", "1 of 3", "Trophic status"}, "then", "As of")
	if day := ask(t, b, chromedp.Evaluate[string](`document.querySelector('#card time').dateTime`)); !strings.HasPrefix(day, weekday(0)) {
		t.Errorf("measured at %q, want %s", day, weekday(0))
	}
	for form, want := range map[string]string{"JSON": `"lake_id":"de_t_karte"`, "CSV": "\nde_t_karte," + weekday(0) + ",24.5,"} {
		body := fmt.Sprintf(`fetch([...document.querySelectorAll('#card a')].find((a) => a.textContent.includes(%q)).href).then((r) => r.text())`, form)
		if got := ask(t, b, chromedp.Evaluate[string](body, chromedp.EvalAwaitPromise)); !strings.Contains(got, want) {
			t.Errorf("the link to %s leads to %.200q, want %s in it", form, got, want)
		}
	}
	t.Run("focus", func(t *testing.T) { testCardFocus(t, b) })
	t.Run("an old value", func(t *testing.T) {
		b.do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=de_t_alt'`), says("Altsee"), until(chartDrawn))
		wantCard(t, b, []string{"High risk (2", "Very many algae then", "An old value", " ago"})
	})
	t.Run("no value", func(t *testing.T) {
		b.do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=de_t_leer'`), says("Leersee"), until(chartDrawn))
		wantCard(t, b, []string{"No current value", "does not mean that it is clean", "Last value ", " months ago", "Risk then"}, "Few algae")
		if label := ask(t, b, chromedp.Evaluate[string](`document.querySelector('#card article').ariaLabel`)); !strings.Contains(label, "No current value") {
			t.Errorf("a screen reader hears %q", label)
		}
	})
	t.Run("a past week", func(t *testing.T) {
		b.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = 'lake=de_t_karte&date=%s'`, weekday(-6))), says("As of the week of"))
		wantCard(t, b, []string{"High risk (reported)", " ago)", "Very many algae then", "not the present state", "3 of 3 (reported)"}, "keep children and dogs away")
		b.do(t, chromedp.Click(`//section[@id="card"]//button[contains(., "newest week")]`), says("24.5 µg/l"))
		if where := ask(t, b, chromedp.Evaluate[string](`location.hash + ' ' + document.activeElement.tagName`)); !strings.HasSuffix(where, "lake=de_t_karte ARTICLE") || strings.Contains(where, "date=") {
			t.Errorf("the way back to the newest week leads to %s", where)
		}
	})
	t.Run("an unknown lake", func(t *testing.T) {
		b.do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=de_t_nosuch'`), says("“de_t_nosuch”"))
		wantCard(t, b, []string{"There is no lake"}, "risk", "Kartensee", "History", "Trophic", "newest week")
		if label := ask(t, b, chromedp.Evaluate[string](`document.querySelector('#card article').ariaLabel`)); !strings.Contains(label, "There is no lake") {
			t.Errorf("a screen reader hears %q", label)
		}
		b.do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=%3Cb%3E'`), says("“<b>”"))
	})
	wantNoProblems(t, b, base)
}

// The focus goes into a card that somebody opens, and back to where it came from; Escape and the back button close it.
func testCardFocus(t *testing.T, b *browser) {
	const focused = `(document.activeElement.closest('#card') ? 'card' : document.activeElement.id)`
	b.do(t, chromedp.KeyEvent(kb.Escape), chromedp.WaitNotVisible("#card"))
	if at := ask(t, b, chromedp.Evaluate[string](focused)); at != "map" {
		t.Errorf("a card that a link opened leaves the focus on %q, want the map", at)
	}
	b.do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=de_t_karte'`), chromedp.WaitVisible("#card h2"))
	if at := ask(t, b, chromedp.Evaluate[string](focused)); at != "card" {
		t.Errorf("with the card open the focus is on %q", at)
	}
	b.do(t, chromedp.Evaluate[chromedp.Void](`history.back()`), chromedp.WaitNotVisible("#card"))
	b.do(t, chromedp.Evaluate[chromedp.Void](`history.forward()`), chromedp.WaitVisible("#card h2"))
	b.do(t, chromedp.Click("#card .head button"), chromedp.WaitNotVisible("#card"))
	if hash := ask(t, b, chromedp.Evaluate[string](`location.hash`)); strings.Contains(hash, "lake") {
		t.Errorf("the address of a closed card is %s", hash)
	}
}

// What the chart draws is what was measured, and no more.
func TestPageCardChart(t *testing.T) {
	base := startCardServer(t)
	b := startBrowser(t, "en-GB")
	b.do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/#lake=de_t_karte"), until(chartDrawn))
	type drawn struct {
		Line, Dashed string
		Runs, Bands  int
		Key          string
		Ticks        map[string]float64
		Named        []string
	}
	read := chromedp.Evaluate[drawn](`(() => {
		const d = (s) => document.querySelector('.plot .' + s).getAttribute('d');
		return {Line: d('line'), Dashed: d('dashed'), Runs: d('line').split('M').length - 1, Bands: document.querySelectorAll('.plot .band').length,
			Key: document.querySelector('.key').innerText,
			Named: [...document.querySelectorAll('.plot text:not([class="tick"])')].map((e) => e.textContent),
			Ticks: Object.fromEntries([...document.querySelectorAll('.plot .tick')].map((e) => [e.textContent, Number(e.getAttribute('y'))]))};
	})()`)
	got := ask(t, b, read)
	// The weeks up to the gap, the one before the week without a value, the three after it, and the current one.
	if got.Runs != 4 {
		t.Errorf("the line has %d parts, want 4, with nothing across the gaps: %s", got.Runs, got.Line)
	}
	if runs := strings.Split(got.Dashed, "M"); len(runs) != 2 || strings.Count(got.Dashed, "L") != 2 {
		t.Errorf("the forecast is drawn as %q, want one line from the current value to both of its own", got.Dashed)
	}
	if dashes := ask(t, b, chromedp.Evaluate[string](`getComputedStyle(document.querySelector('.plot .dashed')).strokeDasharray`)); dashes == "none" {
		t.Error("the forecast is not dashed")
	}
	if low, high := got.Ticks["1"]-got.Ticks["10"], got.Ticks["10"]-got.Ticks["100"]; low < 20 || low-high > .1 || high-low > .1 || got.Ticks["50"] == 0 {
		t.Errorf("the axis has %v, want 1, 10 and 100 equally far apart, and the limit of 50", got.Ticks)
	}
	if named := strings.Join(got.Named, " "); got.Bands != 3 || !strings.Contains(named, "low") || !strings.Contains(named, "medium") || !strings.Contains(named, "high") {
		t.Errorf("%d bands, with the names %s", got.Bands, named)
	}
	for _, want := range []string{"statistical forecast, not measured", "Gap: no value", "beyond the axis", "week shown", "worse was reported"} {
		if !strings.Contains(got.Key, want) {
			t.Errorf("the chart does not explain %q: %s", want, got.Key)
		}
	}
	t.Run("keys", func(t *testing.T) { testChartKeys(t, b) })
	t.Run("pointer", func(t *testing.T) { testChartPointer(t, b) })
	t.Run("more years", func(t *testing.T) {
		const first = `document.querySelector('.plot input').max`
		before := ask(t, b, chromedp.Evaluate[string](first))
		b.do(t, chromedp.Click(`//section[@id="card"]//button[contains(., "More years")]`), until(first+` !== '`+before+`'`))
		if before != "103" || ask(t, b, chromedp.Evaluate[string](first)) != "118" {
			t.Errorf("%s points in two years, and then %s", before, ask(t, b, chromedp.Evaluate[string](first)))
		}
	})
	t.Run("a week of long ago", func(t *testing.T) {
		b.do(t, chromedp.Click(`//section[@id="card"]//button[contains(., "More years")]`), until(`document.querySelector('.plot input').max === '103'`))
		b.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = 'lake=de_t_karte&date=%s'`, weekday(-128))),
			until(`document.querySelector('.plot input').max === '118' && document.querySelector('.plot .week') !== null`))
		if said, want := ask(t, b, chromedp.Evaluate[string](chartSays)), ": 8 µg/l, Low risk"; !strings.HasSuffix(said, want) {
			t.Errorf("of the week shown the chart says %q, want %q", said, want)
		}
	})
	wantNoProblems(t, b, base)
}

const chartSays = `document.querySelector('.plot input').ariaValueText`

// testChartKeys goes along the points as a keyboard does; what a screen reader hears stands above the chart as well.
func testChartKeys(t *testing.T, b *browser) {
	b.do(t, chromedp.Focus(".plot input"))
	for _, step := range []struct{ name, key, want string }{
		{"the last point", kb.End, "60 µg/l, High risk, statistical forecast"},
		{"the one before", kb.ArrowLeft, "30 µg/l, Medium risk, statistical forecast"},
		{"the current value", kb.ArrowLeft, "24.5 µg/l, Medium risk"},
		{"the scum", kb.ArrowLeft, "5 µg/l, High risk, reported"},
		{"below the axis", kb.ArrowLeft, "0.5 µg/l, Low risk, beyond the axis"},
		{"above the axis", kb.ArrowLeft, "150 µg/l, High risk, beyond the axis"},
		{"no value", kb.ArrowLeft, "no value"},
		{"the first point", kb.Home, "8 µg/l, Low risk"},
	} {
		b.do(t, chromedp.KeyEvent(step.key))
		said := ask(t, b, chromedp.Evaluate[string](chartSays))
		if !strings.HasSuffix(said, ": "+step.want) {
			t.Errorf("%s: the chart says %q, want %q", step.name, said, step.want)
		}
		if tip := ask(t, b, chromedp.Text("#card .tip")); tip != said {
			t.Errorf("%s: above the chart stands %q, and %q is told", step.name, tip, said)
		}
	}
}

func testChartPointer(t *testing.T, b *browser) {
	type box struct{ X, Y float64 }
	at := func(side string) box {
		return ask(t, b, chromedp.Evaluate[box](fmt.Sprintf(`(() => {
			document.querySelector('.plot').scrollIntoView({block: 'center'});
			const r = document.querySelector('.plot .band').getBoundingClientRect();
			return {X: r.%s, Y: r.top + 5};
		})()`, side)))
	}
	right := at("right")
	b.do(t, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, right.X, right.Y), until(chartSays+`.includes(': 60 µg/l')`))
	left := at("left")
	touch := func(kind input.DispatchTouchEventType, points ...*input.TouchPoint) chromedp.Action[chromedp.Void] {
		return func(ctx context.Context, _ *chromedp.Target) (v chromedp.Void, err error) {
			_, err = chromedp.Call(ctx, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
			return v, err
		}
	}
	b.do(t, touch(input.DispatchTouchEventTypeTouchStart, &input.TouchPoint{X: left.X, Y: left.Y}), touch(input.DispatchTouchEventTypeTouchEnd),
		until(chartSays+`.includes(': 8 µg/l')`))
	b.do(t, chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`), chromedp.MouseClickXY(right.X, right.Y), until(`document.activeElement === document.querySelector('.plot input')`),
		chromedp.KeyEvent(kb.ArrowLeft), until(chartSays+`.includes(': 30 µg/l')`)) // whoever pointed at it goes on with the keys
}

// A value that comes while the page is open is in the chart too, not only above it.
func TestPageCardOfANewerValue(t *testing.T) {
	var asked atomic.Int32
	base := startFront(t, startCardServer(t), func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/history/") || asked.Add(1) > 1 {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"history":[{"date":%q,"chl":8,"data_type":"satellite","who_level":0}]}`, weekday(-20))
		return true
	})
	b := startBrowser(t, "en-GB")
	b.do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/#lake=de_t_karte"), until(chartDrawn))
	wantCard(t, b, []string{"24.5 µg/l"})
	b.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = 'lake=de_t_karte&date=%s'`, weekday(-6))),
		until(`document.querySelector('.plot input').max === '103'`), until(chartSays+`.endsWith(': 5 µg/l, High risk, reported')`))
	if n := asked.Load(); n != 2 {
		t.Errorf("the history was asked for %d times, want 2", n)
	}
	wantNoProblems(t, b, base)
}

// With a card open the smallest phone still says of when the values are, that they are simulated, what the satellite does
// not see, and what the signs on the map mean; and no button lies on the mark of the lake.
func TestPageCardLeavesWhatMustBeSaid(t *testing.T) {
	base, _ := startServer(t, "--basemap-url", "none")
	for _, language := range []string{"en-GB", "de-DE"} {
		b := startBrowser(t, language)
		b.do(t, chromedp.EmulateViewport(320, 640, chromedp.EmulateScale(2), chromedp.EmulateMobile),
			chromedp.Navigate(base+"/#lake=de_by_starnberger_see"), until(chartDrawn))
		for _, selector := range []string{"#date", "#notice", "#limits summary", "#legend .glance", "#card .risk", "#card .age"} {
			// What is at its middle is it, or a part of it.
			seen := fmt.Sprintf(`(() => {
				const e = document.querySelector(%q), r = e.getBoundingClientRect();
				return e.textContent !== '' && e.contains(document.elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2));
			})()`, selector)
			if !ask(t, b, chromedp.Evaluate[bool](seen)) {
				t.Errorf("%s: with a card open %s is not to be seen", language, selector)
			}
		}
		covered := ask(t, b, chromedp.Evaluate[string](`(() => {
			const r = document.querySelector('#map').getBoundingClientRect();
			return document.elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2).closest('button, #legend')?.outerHTML ?? '';
		})()`))
		if covered != "" {
			t.Errorf("%s: on the mark of the lake lies %.100s", language, covered)
		}
		wantNoProblems(t, b, base)
	}
}

// A lake that is not among those around the middle of the map has its card all the same.
func TestPageCardOfALakeFarAway(t *testing.T) {
	base := startFront(t, startCardServer(t), func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/page.json") {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"basemap":null,"notice":"","simulated":false,"attribution":"","max_zoom":18,"version":"1","total_lakes":1000000}`)
		return true
	})
	b := startBrowser(t, "en-GB")
	b.do(t, chromedp.Navigate(base+"/#map=12/48/8&lake=de_t_karte"), until(chartDrawn))
	wantCard(t, b, []string{"Kartensee", "Medium risk", "24.5 µg/l"})
	b.do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'map=12/48/8&lake=de_t_alt'`), says("Altsee"))
	wantCard(t, b, []string{"High risk (2", "An old value"})
	b.do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'map=12/48/8&lake=de_t'`), says("“de_t”"))
	wantNoProblems(t, b, base)
}

// A history that does not come says so and can be asked for again; one that was kept says how old it is.
func TestPageCardWithoutHistory(t *testing.T) {
	var working atomic.Bool
	kept := time.Now().AddDate(0, 0, -3).UTC().Format(time.RFC3339)
	base := startFront(t, startCardServer(t), func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/history/") {
			return false
		}
		w.Header().Set("X-Kept-At", kept) // as the service worker does
		if working.Load() {
			return false
		}
		w.WriteHeader(http.StatusInternalServerError)
		return true
	})
	b := startBrowser(t, "en-GB")
	b.do(t, chromedp.Navigate(base+"/#lake=de_t_karte"), says("could not be loaded"))
	wantCard(t, b, []string{"Kartensee", "Medium risk", "24.5 µg/l"})
	working.Store(true)
	b.do(t, chromedp.Click(`//section[@id="card"]//button[contains(., "Try again")]`), until(chartDrawn))
	wantCard(t, b, []string{"As of ", "(3 days ago)"}, "could not be loaded")
	for _, p := range b.problems(strings.TrimSuffix(base, "/lakes")) {
		if !strings.Contains(p, "/history/") {
			t.Errorf("on the page: %s", p)
		}
	}
}

// On the smallest phone, by day and by night, in German: nothing is cut off, and axe-core finds no obstacle.
func TestPageCardOnAPhone(t *testing.T) {
	base := startCardServer(t)
	for _, scheme := range []string{"light", "dark"} {
		b := startBrowser(t, "de-DE")
		b.prefer(t, "color-scheme", scheme)
		b.do(t, chromedp.EmulateViewport(320, 640, chromedp.EmulateScale(2), chromedp.EmulateMobile),
			chromedp.Navigate(base+"/#lake=de_t_karte"), until(chartDrawn))
		wantCard(t, b, []string{"Kartensee", "Mittleres Risiko", "besser nicht für kleine Kinder", "24,5 µg/l", "statistische Vorhersage, nicht gemessen"})
		startAxe(t, b)
		for _, hash := range []string{"lake=de_t_karte", "lake=de_t_alt", "lake=de_t_leer", "lake=nosuch", "lake=de_t_karte&date=" + weekday(-6)} {
			b.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = %q`, hash)))
			if hash != "lake=nosuch" {
				b.do(t, until(chartDrawn))
			} else {
				b.do(t, says("gibt es hier nicht"))
			}
			checkAccess(t, b, scheme+" "+hash)
			const cut = `[...document.querySelectorAll('#card *')].filter((e) => e.getBoundingClientRect().right > 320).map((e) => e.outerHTML.slice(0, 80))`
			if found := ask(t, b, chromedp.Evaluate[[]string](cut)); len(found) > 0 {
				t.Errorf("%s: cut off on a phone: %q", hash, found)
			}
		}
		wantNoProblems(t, b, base)
	}
}
