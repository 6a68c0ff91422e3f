package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Of more than 500 lakes the document holds no more at once.
func TestPageListOfManyLakes(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	lakes, observations := "id,name,lat,lon,region\n", "lake_id,date,chl,data_type\n"
	for i := range 1_120 {
		lakes += fmt.Sprintf("x%04d,Lake %d,52.%04d,13.5,Province\n", i, i, i)
		observations += fmt.Sprintf("x%04d,2024-11-11,%d,satellite\n", i, 1_500-i)
	}
	mustRun(t, "import", "lakes", "--db", db, writeFile(t, dir, "lakes.csv", lakes))
	mustRun(t, "import", "observations", "--db", db, writeFile(t, dir, "obs.csv", observations))
	base, _ := startServer(t, "--db", db, "--basemap-url", "none")
	b := startBrowser(t, "en")
	b.do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/"), until(listReady))
	page := func(from, to int) (ids []string) {
		for i := from; i < to; i++ {
			ids = append(ids, fmt.Sprintf("x%04d", i))
		}
		return ids
	}
	for _, want := range [][2]int{{0, 500}, {500, 1000}, {1000, 1120}, {0, 500}} {
		b.listed(t, fmt.Sprint(want), page(want[0], want[1]), true)
		if more := ask(t, b, chromedp.Text("#find [name=more]")); !strings.HasSuffix(more, "of 1,120: show more") {
			t.Errorf("the button says %q", more)
		}
		b.do(t, chromedp.Focus("#find [name=more]"), chromedp.KeyEvent(kb.Enter), until(`document.activeElement.matches('#find li:first-child button')`))
	}
	b.typeText(t, "lake 111") // 111 and 1110 to 1119
	b.listed(t, "lake 111", append(page(111, 112), page(1110, 1120)...), true)
	if !ask(t, b, chromedp.Evaluate[bool](`document.querySelector('#find [name=more]').hidden`)) {
		t.Error("there is more to show of eleven lakes")
	}
	b.typeText(t, "province") // which the server alone knows, and whose lakes it does not all give
	b.do(t, until(`document.querySelector('#find [role=status]').textContent === '500 lakes. Of the server’s finds the best 500: type more for others'`))
	b.wantNoProblems(t, base)
}

// Of a server with more lakes than a phone can hold the list has those near the middle, and says so; the search finds all.
func TestPageListOfAServerOfTheWorld(t *testing.T) {
	base, _ := startServer(t, "--basemap-url", "none")
	front := startWorldFront(t, base)
	b := startBrowser(t, "en")
	b.do(t,
		chromedp.EmulateViewport(1280, 800),
		chromedp.Navigate(front+"/#map=11/52.44/13.65"),
		until(listReady),
		until(`document.querySelector('#find [role=status]').textContent.includes('Of 1,400,000 lakes')`),
	)
	if n := ask(t, b, chromedp.Evaluate[int](`document.querySelectorAll('#find li').length`)); n > 100 {
		t.Errorf("the list has %d lakes, want those near the middle of the map alone", n)
	}
	const far = "de_by_starnberger_see"
	if slices.Contains(ask(t, b, chromedp.Evaluate[[]string](listedLakes)), far) {
		t.Errorf("%s is near Berlin", far)
	}
	b.typeText(t, "starnberger")
	b.listed(t, "starnberger", []string{far}, true)
	b.wantNoProblems(t, front)

	// What was found beyond the lakes that are loaded follows the week too.
	var dates struct{ Weeks []struct{ Date string } }
	getJSON(t, base+"/api/v1/bathing-lakes/dates", &dates)
	week := dates.Weeks[len(dates.Weeks)-20].Date
	var then statusAnswer
	getJSON(t, base+"/api/v1/bathing-lakes/search?q=starnberger&date="+week, &then)
	b.do(t,
		chromedp.Evaluate[chromedp.Void](`location.hash = 'map=11/52.44/13.65&date=`+week+`'`),
		until(fmt.Sprintf(`document.querySelector('#find li')?.textContent.includes(', %v µg/l')`, *then.Lakes[0].Chl)),
	)
}

// A phone that is turned until the list stands beside the map has its lakes there, and no sheet when it is turned back.
func TestPageListOnATurnedPhone(t *testing.T) {
	base, _ := startServer(t, "--basemap-url", "none")
	b := startBrowser(t, "en")
	b.do(t,
		chromedp.EmulateViewport(420, 920, chromedp.EmulateMobile, chromedp.EmulateTouch),
		chromedp.Navigate(base+"/"),
		until(`document.querySelector('#q')?.placeholder !== ''`),
	)
	if n := ask(t, b, chromedp.Evaluate[int](`document.querySelectorAll('#find li').length`)); n > 0 {
		t.Fatalf("a list of %d lakes is made that nobody sees", n)
	}
	b.do(t,
		chromedp.EmulateViewport(920, 420, chromedp.EmulateMobile, chromedp.EmulateTouch),
		until(listReady),
		chromedp.Tap("#q"),
		chromedp.EmulateViewport(420, 920, chromedp.EmulateMobile, chromedp.EmulateTouch),
		until(`!document.querySelector('#find li').checkVisibility() && document.querySelector('#map').checkVisibility({visibilityProperty: true})`),
	)
	b.wantNoProblems(t, base)
}

// The list is of the week that is shown, and in the reader's language.
func TestPageListOfAPastWeekInGerman(t *testing.T) {
	base, _ := startServer(t, "--basemap-url", "none")
	var dates struct{ Weeks []struct{ Date string } }
	getJSON(t, base+"/api/v1/bathing-lakes/dates", &dates)
	week := dates.Weeks[len(dates.Weeks)-10].Date
	var now, then statusAnswer
	getJSON(t, base+"/api/v1/bathing-lakes/status", &now)
	getJSON(t, base+"/api/v1/bathing-lakes/status?risk=high&date="+week, &then)
	b := startBrowser(t, "de")
	b.do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/#risk=high&date="+week), until(listReady))
	var want, today []string
	for _, lake := range then.Lakes { // the filter of the API goes by the last known risk
		if lake.Chl != nil {
			want = append(want, lake.ID)
		}
	}
	for _, lake := range now.Lakes {
		if lake.Chl != nil && lake.Risk == "high" {
			today = append(today, lake.ID)
		}
	}
	slices.Sort(want)
	slices.Sort(today)
	if slices.Equal(want, today) {
		t.Fatal("the week is like today's")
	}
	b.listed(t, week, want, false)
	b.do(t, until(fmt.Sprintf(`document.querySelector('#find [role=status]').textContent === '%d Seen'`, len(want))))
	if text := ask(t, b, chromedp.Text("#find li button")); !strings.Contains(text, "Hohes Risiko") || !strings.Contains(text, ",") {
		t.Errorf("the list says %q", text)
	}
	b.wantNoProblems(t, base)
}

func TestPageListOnAPhone(t *testing.T) {
	base, _ := startServer(t, "--basemap-url", "none")
	b := startBrowser(t, "en")
	b.prefer(t, "reduced-motion", "reduce")
	b.do(t,
		chromedp.EmulateViewport(320, 640, chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch),
		chromedp.Navigate(base+"/"),
		until(`document.querySelector('#q').placeholder !== ''`),
	)
	const seen = `(() => {
		const visible = (s) => [...document.querySelectorAll(s)].some((e) => e.checkVisibility());
		const map = document.querySelector('#map').getBoundingClientRect();
		const row = document.querySelector('#find .row').getBoundingClientRect();
		return {List: visible('#find li'), Choices: visible('#find fieldset'), Notice: visible('#notice'), Inert: !document.querySelector('#map').checkVisibility({visibilityProperty: true}),
			Width: document.documentElement.scrollWidth, Map: map.height, Row: row.bottom,
			Font: parseFloat(getComputedStyle(document.querySelector('#q')).fontSize)};
	})()`
	type view struct {
		List, Choices, Notice, Inert bool
		Width, Map, Row, Font        float64
	}
	closed := ask(t, b, chromedp.Evaluate[view](seen))
	if closed.List || closed.Choices || closed.Inert || !closed.Notice || closed.Width > 320 || closed.Row > 640 || closed.Font < 16 {
		t.Errorf("closed: %+v, want the row with the field alone", closed)
	}
	b.do(t, chromedp.Tap("#q"), until(listReady), until(`document.body.matches('.find-open')`))
	open := ask(t, b, chromedp.Evaluate[view](seen))
	if !open.List || !open.Choices || !open.Inert || !open.Notice || open.Width > 320 || open.Map != closed.Map {
		t.Errorf("open: %+v, want the list over a map of %v px", open, closed.Map)
	}
	small := ask(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll('#find :is(button, input, select)')]
		.map((e) => [e, (e.closest('label') ?? e).getBoundingClientRect()])
		.filter(([e, r]) => e.checkVisibility() && (r.width < 24 || r.height < 24 || r.left < 0 || r.right > 320)).map(([e]) => e.outerHTML)`))
	if len(small) > 0 {
		t.Errorf("smaller than 24 px, or beyond the screen: %q", small)
	}

	startAxe(t, b)
	checkAccess(t, b, "the list on a phone")

	// A lake's card has the room, and with its end the list is there again.
	id := ask(t, b, chromedp.Evaluate[string](`document.querySelector('#find li:nth-child(4) button').dataset.id`))
	b.do(t,
		chromedp.Tap("#find li:nth-child(4) button"),
		chromedp.WaitVisible("#card h2"),
		until(`document.querySelector('#map').checkVisibility({visibilityProperty: true}) && !document.querySelector('#find').checkVisibility()`),
		chromedp.Evaluate[chromedp.Void](`history.back()`),
		until(`!document.querySelector('#map').checkVisibility({visibilityProperty: true}) && document.activeElement.dataset.id === '`+id+`'`),
		chromedp.KeyEvent(kb.Escape),
		until(`!document.body.matches('.find-open') && document.querySelector('#map').checkVisibility({visibilityProperty: true})`),
		until(`document.activeElement.name === 'toggle'`),
	)

	// The filter is seen also while the list is not.
	b.do(t,
		chromedp.Tap("#find [name=toggle]"),
		chromedp.Tap("#find [value=high]"),
		chromedp.Tap("#find [name=toggle]"),
		until(`!document.body.matches('.find-open')`),
	)
	if on := ask(t, b, chromedp.Evaluate[view](seen)); !on.Choices || on.List {
		t.Errorf("closed, with a filter: %+v", on)
	}
	b.wantNoProblems(t, base)
}
