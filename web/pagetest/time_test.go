package pagetest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
	"limnomap/web/browsertest"
)

// A weekAnswer is a week with data.
type weekAnswer struct {
	Week, Date string
}

// weeksOf returns the weeks with data, oldest first.
func weeksOf(t *testing.T, base string) []weekAnswer {
	t.Helper()
	var dates struct{ Weeks []weekAnswer }
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/dates", &dates)
	if len(dates.Weeks) < 60 {
		t.Fatalf("the demo has %d weeks, want more than a year", len(dates.Weeks))
	}
	return dates.Weeks
}

// heatOf returns an expression that is true when the map shows only tiles of a week. The newest week has no date.
func heatOf(date string) string {
	return fmt.Sprintf(`(() => {
		const tiles = [...document.querySelectorAll('.heatmap img.leaflet-tile-loaded')];
		return tiles.length > 0 && tiles.every((t) => (new URL(t.src).searchParams.get('date') ?? '') === %q);
	})()`, date)
}

const (
	weekText  = `document.querySelector('#time .info strong').textContent`
	stateText = `document.querySelector('#time .state').textContent`
	isPlaying = `document.querySelector('#time .play').ariaPressed === 'true'`
	hash      = `location.hash`
)

// openWeek opens the page and waits for the tiles of a week.
func openWeek(t *testing.T, b *browsertest.Browser, address, date string) {
	t.Helper()
	b.Do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(address), chromedp.WaitVisible("#time"), browsertest.Until(heatOf(date)))
}

func TestPageTimeSteps(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	weeks := weeksOf(t, base)
	last := len(weeks) - 1
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(1280, 800))
	openWeek(t, b, base+"/", "")
	newest := chromedp.Evaluate[chromedp.Void](`document.querySelector('#time .newest').click()`) // the end of the slider is the forecast
	check := func(how string, i int) {
		t.Helper()
		date, state := weeks[i].Date, "Past week"
		if i == last {
			date, state = "", ""
		}
		b.Do(t, browsertest.Until(heatOf(date)), browsertest.Until(fmt.Sprintf(`%s === %q`, stateText, state)))
		if at := browsertest.Ask(t, b, chromedp.Evaluate[string](hash)); strings.Contains(at, "date=") != (i != last) || !strings.Contains(at, date) {
			t.Errorf("%s: the address holds %q, want the week of %q", how, at, date)
		}
		number := strings.TrimLeft(weeks[i].Week[len("2026-W"):], "0")
		monday, err := time.Parse(time.DateOnly, weeks[i].Date)
		if err != nil {
			t.Fatal(err)
		}
		sunday := monday.AddDate(0, 0, 6)
		said := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector('#time input').ariaValueText`))
		if !strings.HasPrefix(said, "Week "+number+", ") || !strings.Contains(said, sunday.Format("2 Jan")) || !strings.Contains(said, sunday.Format("2006")) {
			t.Errorf("%s: the slider says %q, want week %s up to %s", how, said, number, sunday.Format("2 Jan 2006"))
		}
		if strings.Contains(said, "Past week") != (i != last) {
			t.Errorf("%s: the slider says %q, of the newest week %v", how, said, i == last)
		}
		if shown := browsertest.Ask(t, b, chromedp.Evaluate[string](weekText)); !strings.HasPrefix(said, shown) {
			t.Errorf("%s: the page says %q, the slider %q", how, shown, said)
		}
	}
	check("at first", last)
	b.Do(t, chromedp.Focus("#time input"))
	for _, step := range testsize.Cases(4, []struct {
		name, key string
		i         int
	}{
		{"home", kb.Home, 0},
		{"arrow left at the first week", kb.ArrowLeft, 0},
		{"arrow up", kb.ArrowUp, 1},
		{"end", kb.End, last},
		{"arrow left", kb.ArrowLeft, last - 1},
		{"arrow down", kb.ArrowDown, last - 2},
		{"page down", kb.PageDown, last - 6},
		{"arrow right", kb.ArrowRight, last - 5},
		{"page up", kb.PageUp, last - 1},
		{"end again", kb.End, last},
	}) {
		b.Do(t, chromedp.KeyEvent(step.key))
		if step.key == kb.End {
			b.Do(t, browsertest.Until(`location.hash.includes('forecast=')`), newest)
		}
		check(step.name, step.i)
	}
	for _, click := range testsize.Cases(2, []struct {
		button string
		i      int
	}{{"previous", last - 1}, {"newest", last}, {"previous", last - 1}, {"next", last}}) {
		b.Do(t, chromedp.Click("#time ."+click.button))
		check(click.button, click.i)
	}
	// A click on the slider.
	b.Do(t, clickWeek(t, b, 0.5))
	b.Do(t, browsertest.Until(`(({min, max, value}) => Math.abs(value - (+min + +max) / 2) <= 1)(document.querySelector('#time input')) && location.hash.includes('date=')`))
	value := browsertest.Ask(t, b, chromedp.Evaluate[int](`Number(document.querySelector('#time input').value)`))
	check("a press on the slider", value)
	// A reload keeps the week.
	b.Do(t, chromedp.Reload(), chromedp.WaitVisible("#time"))
	check("after a reload", value)
	b.WantNoProblems(t, base)
}

// The timeline has a bar for each week, months with names, and the forecast as its end. On a phone a week has some pixels: the slider has the last
// season, and shows the weeks before when it is released at its left end. A swipe over the week steps too.
func TestPageTimeline(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	weeks := weeksOf(t, base)
	b := startBrowser(t, "en-GB")
	const (
		drawn   = `document.querySelectorAll('#time .scale span').length > 1`
		perWeek = `(({min, max, clientWidth}) => (clientWidth - 28) / (max - min))(document.querySelector('#time input'))`
		names   = `[...document.querySelectorAll('#time .scale span')].map((e) => e.textContent).join(' ')`
	)
	b.Do(t, chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2), chromedp.EmulateMobile), chromedp.Navigate(base+"/"), browsertest.Until(drawn))
	if wide := browsertest.Ask(t, b, chromedp.Evaluate[float64](perWeek)); wide < 5 {
		t.Errorf("on a phone a week has %.1f px, want 5", wide)
	}
	if named := browsertest.Ask(t, b, chromedp.Evaluate[string](names)); !regexp.MustCompile(`(Jan|Apr|Jul|Oct|20\d\d) (Jan|Apr|Jul|Oct|20\d\d)`).MatchString(named) {
		t.Errorf("the timeline names %q, want months", named)
	}
	colours := browsertest.Ask(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll('#time path')].map((e) => e.getAttribute('d') && getComputedStyle(e).fill)`))
	if slices.Contains(colours, "") || len(slices.Compact(slices.Sorted(slices.Values(colours)))) != 4 || colours[3] != "rgb(91, 42, 134)" {
		t.Errorf("the bars have the colours %q, want those of three classes and the violet of the forecast", colours)
	}
	savePicture(t, b, "timeline-phone")
	const swipe = `(() => {
		const info = document.querySelector('#time .info');
		for (const [type, clientX] of [['pointerdown', 100], ['pointermove', 160], ['pointerup', 160]]) info.dispatchEvent(new PointerEvent(type, {bubbles: true, clientX}));
	})()`
	b.Do(t, chromedp.Evaluate[chromedp.Void](swipe), browsertest.Until(`location.hash.includes('date=`+weeks[len(weeks)-2].Date+`')`))
	const release = `(() => {
		const slider = document.querySelector('#time input');
		slider.value = slider.min;
		for (const type of ['input', 'change']) slider.dispatchEvent(new Event(type, {bubbles: true}));
		return slider.valueAsNumber - slider.min;
	})()`
	if before := browsertest.Ask(t, b, chromedp.Evaluate[int](release)); before < 10 {
		t.Errorf("after a release at the left end %d weeks before it are seen", before)
	}
	b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate("about:blank"), chromedp.Navigate(base+"/"), browsertest.Until(drawn))
	savePicture(t, b, "timeline-desk")
	b.WantNoProblems(t, base)
}

// Two weeks side by side: to the left of a border, which keys move, are the tiles of another week and no marks. The address holds it.
func TestPageTwoWeeks(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	weeks := weeksOf(t, base)
	last := len(weeks) - 1
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(1280, 800))
	openWeek(t, b, base+"/", "")
	besideOf := func(i int) chromedp.Action[chromedp.Void] {
		return browsertest.Until(fmt.Sprintf(`(() => {
			const tiles = [...document.querySelectorAll('.heatmap-beside img.leaflet-tile-loaded')];
			return tiles.length > 0 && tiles.every((t) => new URL(t.src).searchParams.get('date') === %q) && location.hash.includes('beside=%[1]s');
		})()`, weeks[i].Date))
	}
	b.Do(t, chromedp.Click("#time .beside"), besideOf(last-4), chromedp.Click("#border .previous"), besideOf(last-5), browsertest.Until(heatOf("")))
	const borders = `['.heatmap', '.leaflet-marks-pane', '.heatmap-beside'].map((s) => getComputedStyle(document.querySelector(s)).clipPath.match(/polygon\(.*?(-?[\d.]+)px -99999px, (-?[\d.]+)px/).slice(1).map(Math.round).join()).join(' ')`
	x := browsertest.Ask(t, b, chromedp.Evaluate[int](`Math.round(document.querySelector('#map').clientWidth / 2)`))
	browsertest.Want(t, b, borders, fmt.Sprintf("%[1]d,99999 %[1]d,99999 -99999,%[1]d", x), "the parts of the map are")
	b.Do(t, chromedp.Focus("#border input"), chromedp.KeyEvent(kb.ArrowRight))
	x = browsertest.Ask(t, b, chromedp.Evaluate[int](`Math.round(document.querySelector('#map').clientWidth * .55)`))
	browsertest.Want(t, b, borders, fmt.Sprintf("%[1]d,99999 %[1]d,99999 -99999,%[1]d", x), "after a key the parts of the map are")
	checkAccess(t, b, "two weeks")
	savePicture(t, b, "two-weeks")
	b.Do(t, chromedp.Click("#time .beside"), browsertest.Until(`!document.querySelector('.heatmap-beside') && document.querySelector('#border').hidden && !location.hash.includes('beside')`))
	b.WantNoProblems(t, base)
}

// clickWeek clicks the slider at a share of its length.
func clickWeek(t *testing.T, b *browsertest.Browser, share float64) chromedp.Action[chromedp.Void] {
	t.Helper()
	x, y := sliderPoint(t, b, share)
	return chromedp.MouseClickXY(x, y)
}

// sliderPoint returns the position of the centre of the thumb at a share of the slider's length.
func sliderPoint(t *testing.T, b *browsertest.Browser, share float64) (x, y float64) {
	t.Helper()
	type box struct{ Left, Top, Width, Height float64 }
	r := browsertest.Ask(t, b, chromedp.Evaluate[box](`(() => {
		const r = document.querySelector('#time input').getBoundingClientRect();
		return {Left: r.left, Top: r.top, Width: r.width, Height: r.height};
	})()`))
	const thumb = 28
	return r.Left + thumb/2 + share*(r.Width-thumb), r.Top + r.Height/2
}
