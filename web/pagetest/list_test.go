//go:build long

package pagetest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

// The document contains at most 500 lakes at once.
func TestPageListOfManyLakes(t *testing.T) {
	t.Parallel()
	lakes, observations := "id,name,lat,lon,region\n", "lake_id,date,chl,data_type\n"
	for i := range 1_120 {
		lakes += fmt.Sprintf("x%04d,Lake %d,52.%04d,13.5,Province\n", i, i, i)
		observations += fmt.Sprintf("x%04d,%s,%d,satellite\n", i, weekday(0), 1_500-i)
	}
	db := filepath.Join(t.TempDir(), "lakes.db")
	importCSV(t, db, lakes, observations)
	base := startOwnServer(t, "--db", db)
	b := openPage(t, "en-GB", base+"/", browsertest.Until(listReady))
	selectOrder(t, b, "value") // the list begins with the nearest
	page := func(from, to int) (ids []string) {
		for i := from; i < to; i++ {
			ids = append(ids, fmt.Sprintf("x%04d", i))
		}
		return ids
	}
	for _, want := range [][2]int{{0, 500}, {500, 1000}, {1000, 1120}, {0, 500}} {
		waitForList(t, b, fmt.Sprint(want), page(want[0], want[1]), true)
		if more := browsertest.Ask(t, b, chromedp.Text("#find [name=more]")); !strings.HasSuffix(more, "of 1,120: show more") {
			t.Errorf("the button says %q", more)
		}
		b.Do(t, chromedp.Focus("#find [name=more]"), chromedp.KeyEvent(kb.Enter), browsertest.Until(`document.activeElement.matches('#find li:first-child button')`))
	}
	typeText(t, b, "lake 111") // 111 and 1110 to 1119
	waitForList(t, b, "lake 111", append(page(111, 112), page(1110, 1120)...), true)
	browsertest.Expect(t, b, `document.querySelector('#find [name=more]').hidden`, true, "the button for more lakes is visible with eleven lakes")
	typeText(t, b, "province") // only the server knows regions, and it returns at most 500 lakes
	b.Do(t, browsertest.Until(`document.querySelector('#find [role=status]').textContent === '500 lakes. Only the 500 best matches of the server: type more to see others'`))
	b.WantNoProblems(t, base)
}

// An answer that arrives between a press on an entry and the release takes nothing from the click, if the list remains the same.
func TestPageListKeepsPress(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := openPage(t, "en-GB", base+"/", browsertest.Until(heatDrawn))
	find(t, b, "starnberger")
	const middle = `(() => {
		const {left, top, width, height} = document.querySelector('#find li button').getBoundingClientRect();
		return {X: left + width / 2, Y: top + height / 2};
	})()`
	at := browsertest.Ask(t, b, chromedp.Evaluate[struct{ X, Y float64 }](middle))
	b.Do(t,
		chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, at.X, at.Y, chromedp.ButtonLeft, chromedp.ClickCount(1)),
		chromedp.Evaluate[chromedp.Void](`document.querySelector('#find [name=order]').dispatchEvent(new Event('change'))`), // fills the list again
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, at.X, at.Y, chromedp.ButtonLeft, chromedp.ClickCount(1)),
		cardOf("Starnberger See"),
	)
	b.WantNoProblems(t, base)
}

// If the server has more lakes than a phone can hold, the list has those near the centre of the map, and says so. The
// search finds all.
func TestPageListNearCentre(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	front := startProxyWithManyLakes(t, base)
	b := startBrowser(t, "en-GB")
	b.Do(t,
		chromedp.EmulateViewport(1280, 800),
		chromedp.Navigate(front+"/#map=11/52.44/13.65"),
		browsertest.Until(listReady),
		browsertest.Until(`document.querySelector('#find [role=status]').textContent.includes('of 1,400,000 lakes')`),
	)
	if n := browsertest.Ask(t, b, chromedp.Evaluate[int](`document.querySelectorAll('#find li').length`)); n > 100 {
		t.Errorf("the list has %d lakes, want only those near the centre of the map", n)
	}
	const far = "de_by_starnberger_see"
	if slices.Contains(browsertest.Ask(t, b, chromedp.Evaluate[[]string](listedLakes)), far) {
		t.Errorf("%s is listed near Berlin", far)
	}
	typeText(t, b, "starnberger")
	waitForList(t, b, "starnberger", []string{far}, true)
	b.WantNoProblems(t, front)

	// The result of the search follows the week too.
	var dates struct{ Weeks []struct{ Date string } }
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/dates", &dates)
	week := dates.Weeks[len(dates.Weeks)-20].Date
	var then limnomaptest.Status
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/search?q=starnberger&date="+week, &then)
	b.Do(t,
		chromedp.Evaluate[chromedp.Void](`location.hash = 'map=11/52.44/13.65&date=`+week+`'`),
		browsertest.Until(fmt.Sprintf(`document.querySelector('#find li')?.textContent.includes(', %v\u00a0µg/l')`, *then.Lakes[0].Chl)),
	)
}

// When a phone is rotated to landscape, the list appears next to the map; rotated back, its bottom sheet is closed: a row of the nearest lakes
// above the map.
func TestPageListOnATurnedPhone(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "en-GB")
	b.Do(t,
		chromedp.EmulateViewport(420, 920, chromedp.EmulateMobile, chromedp.EmulateTouch),
		chromedp.Navigate(base+"/"),
		browsertest.Until(nearestFive),
		chromedp.EmulateViewport(920, 420, chromedp.EmulateMobile, chromedp.EmulateTouch),
		browsertest.Until(`document.querySelectorAll('#find li').length > 5`),
		chromedp.Tap("#q"),
		chromedp.EmulateViewport(420, 920, chromedp.EmulateMobile, chromedp.EmulateTouch),
		browsertest.Until(`!document.body.matches('.find-open') && document.querySelector('#map').checkVisibility({visibilityProperty: true})`),
		browsertest.Until(nearestFive),
	)
	b.WantNoProblems(t, base)
}

// The list shows the selected week, in the user's language.
func TestPageListOfAPastWeekInGerman(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	var dates struct{ Weeks []struct{ Date string } }
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/dates", &dates)
	week := dates.Weeks[len(dates.Weeks)-10].Date
	var now, then limnomaptest.Status
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/status", &now)
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/status?risk=high&date="+week, &then)
	b := openPage(t, "de", base+"/#risk=high&date="+week, browsertest.Until(listReady))
	var want, today []string
	for _, lake := range then.Lakes { // the filter of the API uses the last known risk
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
		t.Fatal("the week has the same lakes as the newest one")
	}
	waitForList(t, b, week, want, false)
	b.Do(t, browsertest.Until(fmt.Sprintf(`document.querySelector('#find [role=status]').textContent === '%d Seen'`, len(want))))
	browsertest.WantText(t, b, chromedp.Text("#find li button"), "the list says", "Hohes Risiko", ",")
	b.WantNoProblems(t, base)
}

// nearestFive is true when the closed sheet of a phone has the nearest lakes, side by side, with their verdicts.
const nearestFive = `(() => {
	const shown = [...document.querySelectorAll('#find li')].filter((li) => li.checkVisibility() && li.querySelector('.verdict').checkVisibility());
	return shown.length === 5 && new Set(shown.map((li) => li.getBoundingClientRect().top)).size === 1;
})()`

func TestPageListOnAPhone(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "en-GB")
	b.Prefer(t, "reduced-motion", "reduce")
	b.Do(t,
		chromedp.EmulateViewport(320, 640, chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch),
		chromedp.Navigate(base+"/"),
		browsertest.Until(nearestFive),
	)
	const seen = `(() => {
		const visible = (s) => [...document.querySelectorAll(s)].some((e) => e.checkVisibility());
		const map = document.querySelector('#map').getBoundingClientRect();
		const row = document.querySelector('#find .row').getBoundingClientRect();
		return {List: visible('#find li:nth-child(6)'), Choices: visible('#find fieldset'), Notice: visible('#notice'), Inert: !document.querySelector('#map').checkVisibility({visibilityProperty: true}),
			Width: document.documentElement.scrollWidth, Map: map.height, Row: row.bottom,
			Font: parseFloat(getComputedStyle(document.querySelector('#q')).fontSize)};
	})()`
	type view struct {
		List, Choices, Notice, Inert bool
		Width, Map, Row, Font        float64
	}
	closed := browsertest.Ask(t, b, chromedp.Evaluate[view](seen))
	if closed.List || closed.Choices || closed.Inert || !closed.Notice || closed.Width > 320 || closed.Row > 640 || closed.Font < 16 {
		t.Errorf("closed: %+v, want only the field and the nearest lakes", closed)
	}
	b.Do(t, chromedp.Tap("#q"), browsertest.Until(listReady), browsertest.Until(`document.body.matches('.find-open')`))
	open := browsertest.Ask(t, b, chromedp.Evaluate[view](seen))
	if !open.List || !open.Choices || !open.Inert || !open.Notice || open.Width > 320 || open.Map != closed.Map {
		t.Errorf("open: %+v, want the list over a map of %v px", open, closed.Map)
	}
	small := browsertest.Ask(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll('#find :is(button, input, select)')]
		.map((e) => [e, (e.closest('label') ?? e).getBoundingClientRect()])
		.filter(([e, r]) => e.checkVisibility() && (r.width < 24 || r.height < 24 || r.left < 0 || r.right > 320)).map(([e]) => e.outerHTML)`))
	if len(small) > 0 {
		t.Errorf("smaller than 24 px, or beyond the screen: %q", small)
	}

	checkAccess(t, b, "the list on a phone")

	// The card of a lake hides the list, which returns when the card is closed.
	id := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector('#find li:nth-child(4) button').dataset.id`))
	b.Do(t,
		chromedp.Tap("#find li:nth-child(4) button"),
		chromedp.WaitVisible("#card h2"),
		browsertest.Until(`document.querySelector('#map').checkVisibility({visibilityProperty: true}) && !document.querySelector('#find').checkVisibility()`),
		chromedp.Evaluate[chromedp.Void](`history.back()`),
		browsertest.Until(`!document.querySelector('#map').checkVisibility({visibilityProperty: true}) && document.activeElement.dataset.id === '`+id+`'`),
		chromedp.KeyEvent(kb.Escape),
		browsertest.Until(`!document.body.matches('.find-open') && document.querySelector('#map').checkVisibility({visibilityProperty: true})`),
		browsertest.Until(`document.activeElement.name === 'toggle'`),
	)

	// An active filter is visible while the list is closed too.
	b.Do(t,
		chromedp.Tap("#find [name=toggle]"),
		chromedp.Tap("#find [value=high]"),
		chromedp.Tap("#find [name=toggle]"),
		browsertest.Until(`!document.body.matches('.find-open')`),
	)
	if on := browsertest.Ask(t, b, chromedp.Evaluate[view](seen)); !on.Choices || on.List {
		t.Errorf("closed, with a filter: %+v, want the filter", on)
	}
	b.WantNoProblems(t, base)
}
