//go:build long

package pagetest

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

// A date in the address may be old or invalid.
func TestPageTimeInTheAddress(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	weeks := weeksOf(t, base)
	last := len(weeks) - 1
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(1280, 800))
	thursday, err := time.Parse(time.DateOnly, weeks[last-3].Date)
	if err != nil {
		t.Fatal(err)
	}
	// web/test/weeks.test.mjs has more dates.
	for _, tt := range []struct{ name, date, shown, says string }{
		{"a Thursday", thursday.AddDate(0, 0, 3).Format(time.DateOnly), weeks[last-3].Date, "Past week"},
		{"the newest week", weeks[last].Date, "", ""},
		{"no date", "%3Cb%3Ewhen%3C/b%3E", "", "no data for the date <b>when</b>"},
	} {
		openWeek(t, b, base+"/#date="+tt.date, tt.shown)
		if says := browsertest.Ask(t, b, chromedp.Evaluate[string](stateText)); !strings.Contains(says, tt.says) || (tt.says == "") != (says == "") {
			t.Errorf("%s: the page says %q, want %q", tt.name, says, tt.says)
		}
		at := browsertest.Ask(t, b, chromedp.Evaluate[string](hash))
		if strings.Contains(at, "date=") != (tt.shown != "") || !strings.Contains(at, tt.shown) {
			t.Errorf("%s: the address has become %q, want the week of %q", tt.name, at, tt.shown)
		}
	}
	// With a style and an opacity.
	b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'date=`+weeks[last-2].Date+`&style=lakes&opacity=40'`), browsertest.Until(heatOf(weeks[last-2].Date)),
		browsertest.Until(`[...document.querySelectorAll('.heatmap img')].every((t) => t.src.includes('style=lakes')) && document.querySelector('.heatmap').style.opacity === '0.4'`))
	// The same, in a page that is already open.
	b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'date=' + '`+weeks[last-2].Date+`'`), browsertest.Until(heatOf(weeks[last-2].Date)),
		chromedp.Evaluate[chromedp.Void](`location.hash = 'date=1999-01-04'`), browsertest.Until(heatOf("")), browsertest.Until(stateText+`.includes('1999-01-04')`),
		// The message about an invalid date disappears with the next date.
		chromedp.Evaluate[chromedp.Void](`location.hash = 'date=' + '`+weeks[last-2].Date+`'`), browsertest.Until(heatOf(weeks[last-2].Date)), browsertest.Until(stateText+` === 'Past week'`))
	b.WantNoProblems(t, base)
}

// sampleFrames records for each frame the visible tiles, their weeks, and the weeks named in the header and above the slider.
const sampleFrames = `(() => {
	window.samples = [];
	const seen = (tile, map) => {
		const r = tile.getBoundingClientRect();
		const style = getComputedStyle(tile);
		return tile.complete && tile.naturalWidth > 0 && style.visibility === 'visible' && style.opacity === '1' &&
			r.right > map.left && r.left < map.right && r.bottom > map.top && r.top < map.bottom;
	};
	const sample = () => {
		const map = document.querySelector('#map').getBoundingClientRect();
		const tiles = [...document.querySelectorAll('.heatmap img')].filter((t) => seen(t, map));
		window.samples.push({
			tiles: tiles.length,
			dates: [...new Set(tiles.map((t) => new URL(t.src).searchParams.get('date') ?? ''))],
			head: document.querySelector('#date').textContent,
			week: document.querySelector('#time .info strong').textContent,
		});
		requestAnimationFrame(sample);
	};
	sample();
})()`

type frameSample struct {
	Tiles      int
	Dates      []string
	Head, Week string
}

// While the weeks play over a slow network, each frame shows tiles of one week, which is the week of the lakes, and no week
// is skipped.
func TestPageTimePlays(t *testing.T) {
	t.Parallel()
	base := startOwnServer(t) // with its default rate limits
	weeks := weeksOf(t, base)
	last := len(weeks) - 1
	front := limnomaptest.Front(t, base, func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/tiles/") {
			time.Sleep(300 * time.Millisecond) // a slow network
		}
		return false
	}, nil)
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(1280, 800))
	const first = 5
	openWeek(t, b, front+"/#date="+weeks[last-first].Date, weeks[last-first].Date)
	const whole = `[...document.querySelectorAll('.heatmap img')].every((t) => t.complete && getComputedStyle(t).opacity === '1')`
	b.Do(t, browsertest.Until(whole), chromedp.Evaluate[chromedp.Void](sampleFrames), chromedp.Focus("#time .play"), chromedp.KeyEvent(" "))
	browsertest.Expect(t, b, isPlaying, true, "the button is not pressed while the weeks play")
	b.Do(t, browsertest.Until(`!(`+isPlaying+`) && location.hash.indexOf('date=') < 0`), browsertest.Until(heatOf("")))
	samples := browsertest.Ask(t, b, chromedp.Evaluate[[]frameSample](`window.samples`))
	var played []string
	words := make(map[string]frameSample)
	for i, s := range samples {
		if s.Tiles < samples[0].Tiles {
			t.Errorf("frame %d of %d shows %d tiles, want the %d of the first", i, len(samples), s.Tiles, samples[0].Tiles)
			break
		}
		if len(s.Dates) != 1 {
			t.Errorf("frame %d shows the weeks %q at once", i, s.Dates)
			break
		}
		date := s.Dates[0]
		if known, ok := words[date]; !ok {
			words[date] = s
			played = append(played, date)
		} else if known.Head != s.Head || known.Week != s.Week {
			t.Errorf("frame %d: the tiles of %q are shown with the texts %q, %q and %q, %q", i, date, known.Head, known.Week, s.Head, s.Week)
			break
		}
	}
	var want []string
	for _, w := range weeks[last-first : last] {
		want = append(want, w.Date)
	}
	if want = append(want, ""); strings.Join(played, " ") != strings.Join(want, " ") {
		t.Errorf("the weeks shown are %q, want %q", played, want)
	}
	b.WantNoProblems(t, front)
}

// Playing stops when the user selects a week or the page is hidden.
func TestPageTimeStops(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	weeks := weeksOf(t, base)
	last := len(weeks) - 1
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(1280, 800))
	b.Prefer(t, "reduced-motion", "reduce")
	openWeek(t, b, base+"/", "")
	browsertest.Expect(t, b, isPlaying, false, "the weeks play at the start")
	// Record the timeouts that the page sets from now on.
	b.Do(t, chromedp.Evaluate[chromedp.Void](`(() => {
		window.waits = [];
		const set = window.setTimeout;
		window.setTimeout = (f, ms, ...more) => { window.waits.push(ms ?? 0); return set(f, ms, ...more); };
	})()`))
	// From the newest week, the last year is played.
	b.Do(t, chromedp.Click("#time .play"), browsertest.Until(isPlaying), browsertest.Until(heatOf(weeks[last-52].Date)), browsertest.Until(`window.waits.includes(2500)`))
	browsertest.Expect(t, b, `window.waits.includes(600)`, false, "the weeks play fast with reduced motion")
	for name, stop := range map[string]chromedp.Action[chromedp.Void]{
		"the button":                   chromedp.Click("#time .play"),
		"the button for the next week": chromedp.Click("#time .next"),
		"a press on the slider":        clickWeek(t, b, 0.25),
		"a key on the slider": chromedp.Evaluate[chromedp.Void](`document.querySelector('#time input')
			.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft', bubbles: true, cancelable: true}))`),
		"a hidden page": chromedp.Evaluate[chromedp.Void](`Object.defineProperty(document, 'hidden', {configurable: true, get: () => true});
			document.dispatchEvent(new Event('visibilitychange'));
			delete document.hidden;`),
	} {
		if !browsertest.Ask(t, b, chromedp.Evaluate[bool](isPlaying)) {
			b.Do(t, chromedp.Click("#time .play"), browsertest.Until(isPlaying))
		}
		b.Do(t, stop)
		browsertest.Expect(t, b, isPlaying, false, "the weeks still play after %s", name)
		b.Do(t, browsertest.Until(`document.querySelectorAll('.heatmap-next').length === 0`))
	}
	b.WantNoProblems(t, base)
}

// On the smallest phone the slider works by touch.
func TestPageTimeOnAPhone(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	weeks := weeksOf(t, base)
	last := len(weeks) - 1
	b := startBrowser(t, "de")
	b.Do(t, chromedp.EmulateViewport(320, 640, chromedp.EmulateScale(2), chromedp.EmulateMobile))
	openWeek(t, b, base+"/", "")
	type size struct{ Width, Height, Page float64 }
	slider := browsertest.Ask(t, b, chromedp.Evaluate[size](`(() => {
		const r = document.querySelector('#time input').getBoundingClientRect();
		return {Width: r.width, Height: r.height, Page: document.documentElement.scrollWidth};
	})()`))
	if slider.Width < 280 || slider.Height < 40 || slider.Page > 320 {
		t.Errorf("on a phone of 320 px the slider is %v x %v px, the page %v px wide", slider.Width, slider.Height, slider.Page)
	}
	touch := func(kind input.DispatchTouchEventType, points ...*input.TouchPoint) {
		t.Helper()
		if points == nil {
			points = []*input.TouchPoint{}
		}
		browsertest.Enable(t, b, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
	}
	b.Do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('#time').scrollIntoView()`)) // the page is higher than the smallest phone
	x, y := sliderPoint(t, b, 1)
	to, _ := sliderPoint(t, b, 0)
	touch(input.DispatchTouchEventTypeTouchStart, &input.TouchPoint{X: x, Y: y})
	for x > to {
		x = max(to, x-20)
		touch(input.DispatchTouchEventTypeTouchMove, &input.TouchPoint{X: x, Y: y})
	}
	touch(input.DispatchTouchEventTypeTouchEnd)
	// The slider has the last season; its left end is not the first week.
	b.Do(t, browsertest.Until(`location.hash.includes('date=')`))
	b.Do(t, browsertest.Until(stateText+` === 'Frühere Woche'`))
	b.Do(t, chromedp.Focus("#time input"), chromedp.KeyEvent(kb.Home), browsertest.Until(heatOf(weeks[0].Date)))
	browsertest.WantText(t, b, chromedp.Text("#date"), "the header says", "nicht der heutige Zustand")
	if high := browsertest.Ask(t, b, chromedp.Evaluate[int](`document.querySelector('#time').offsetHeight`)); high > 100 {
		t.Errorf("the time control is %d px high, want at most 100", high)
	}
	b.Do(t, chromedp.Click("#time .newest"), browsertest.Until(heatOf("")))
	if targets := browsertest.Ask(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll('#time button')].filter((b) => b.checkVisibility()).filter((b) => {
		const r = b.getBoundingClientRect();
		return r.width < 24 || r.height < 24 || r.left < 0 || r.right > 320;
	}).map((b) => b.className)`)); len(targets) > 0 {
		t.Errorf("the buttons %q are too small or off the screen", targets)
	}
	if last < 1 {
		t.Fatal("one week")
	}
	b.WantNoProblems(t, base)
}
