package pagetest

import (
	"fmt"
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
		{"page up at the newest week", kb.PageUp, last},
		{"arrow left", kb.ArrowLeft, last - 1},
		{"arrow down", kb.ArrowDown, last - 2},
		{"page down", kb.PageDown, last - 6},
		{"arrow right", kb.ArrowRight, last - 5},
		{"page up", kb.PageUp, last - 1},
		{"end again", kb.End, last},
	}) {
		b.Do(t, chromedp.KeyEvent(step.key))
		check(step.name, step.i)
	}
	for _, click := range testsize.Cases(2, []struct {
		button string
		i      int
	}{{"previous", last - 1}, {"newest", last}, {"previous", last - 1}, {"next", last}, {"next", last}}) {
		b.Do(t, chromedp.Click("#time ."+click.button))
		check(click.button, click.i)
	}
	// A click on the slider.
	b.Do(t, clickWeek(t, b, 0.5))
	i := last / 2
	b.Do(t, browsertest.Until(fmt.Sprintf(`Math.abs(document.querySelector('#time input').value - %d) <= 1 && location.hash.includes('date=')`, i)))
	value := browsertest.Ask(t, b, chromedp.Evaluate[int](`Number(document.querySelector('#time input').value)`))
	check("a press on the slider", value)
	// A reload keeps the week.
	b.Do(t, chromedp.Reload(), chromedp.WaitVisible("#time"))
	check("after a reload", value)
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
