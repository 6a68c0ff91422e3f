package pagetest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

// What the chart draws is what was measured, and no more.
func TestPageCardChart(t *testing.T) {
	t.Parallel()
	base := startCardServer(t)
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/#lake=de_t_karte"), browsertest.Until(chartDrawn))
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
	got := browsertest.Ask(t, b, read)
	// The weeks up to the gap, the one before the week without a value, the three after it, and the current one.
	if got.Runs != 4 {
		t.Errorf("the line has %d parts, want 4, with nothing across the gaps: %s", got.Runs, got.Line)
	}
	if runs := strings.Split(got.Dashed, "M"); len(runs) != 2 || strings.Count(got.Dashed, "L") != 2 {
		t.Errorf("the forecast is drawn as %q, want one line from the current value to both of its own", got.Dashed)
	}
	if dashes := browsertest.Ask(t, b, chromedp.Evaluate[string](`getComputedStyle(document.querySelector('.plot .dashed')).strokeDasharray`)); dashes == "none" {
		t.Error("the forecast is not dashed")
	}
	if low, high := got.Ticks["1"]-got.Ticks["10"], got.Ticks["10"]-got.Ticks["100"]; low < 20 || low-high > .1 || high-low > .1 || got.Ticks["50"] == 0 {
		t.Errorf("the axis has %v, want 1, 10 and 100 equally far apart, and the limit of 50", got.Ticks)
	}
	if named := strings.Join(got.Named, " "); got.Bands != 3 || !strings.Contains(named, "low") || !strings.Contains(named, "medium") || !strings.Contains(named, "high") {
		t.Errorf("%d bands, with the names %s", got.Bands, named)
	}
	for _, want := range []string{"statistical forecast, not measured", "Gap: no value", "beyond the axis", "week shown", "reported level worse"} {
		if !strings.Contains(got.Key, want) {
			t.Errorf("the chart does not explain %q: %s", want, got.Key)
		}
	}
	t.Run("keys", func(t *testing.T) { testChartKeys(t, b) })
	t.Run("pointer", func(t *testing.T) { testChartPointer(t, b) })
	t.Run("more years", func(t *testing.T) {
		const first = `document.querySelector('.plot input').max`
		before := browsertest.Ask(t, b, chromedp.Evaluate[string](first))
		b.Do(t, chromedp.Click(`//section[@id="card"]//button[contains(., "More years")]`), browsertest.Until(first+` !== '`+before+`'`))
		if before != "103" || browsertest.Ask(t, b, chromedp.Evaluate[string](first)) != "118" {
			t.Errorf("%s points in two years, and then %s", before, browsertest.Ask(t, b, chromedp.Evaluate[string](first)))
		}
	})
	t.Run("a week of long ago", func(t *testing.T) {
		b.Do(t, chromedp.Click(`//section[@id="card"]//button[contains(., "More years")]`), browsertest.Until(`document.querySelector('.plot input').max === '103'`))
		b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = 'lake=de_t_karte&date=%s'`, weekday(-128))),
			browsertest.Until(`document.querySelector('.plot input').max === '118' && document.querySelector('.plot .week') !== null`))
		if said, want := browsertest.Ask(t, b, chromedp.Evaluate[string](chartSays)), ": 8 µg/l, Low risk"; !strings.HasSuffix(said, want) {
			t.Errorf("of the week shown the chart says %q, want %q", said, want)
		}
	})
	WantNoProblems(t, b, base)
}

const chartSays = `document.querySelector('.plot input').ariaValueText`

// testChartKeys goes along the points as a keyboard does; what a screen reader hears stands above the chart as well.
func testChartKeys(t *testing.T, b *browsertest.Browser) {
	b.Do(t, chromedp.Focus(".plot input"))
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
		b.Do(t, chromedp.KeyEvent(step.key))
		said := browsertest.Ask(t, b, chromedp.Evaluate[string](chartSays))
		if !strings.HasSuffix(said, ": "+step.want) {
			t.Errorf("%s: the chart says %q, want %q", step.name, said, step.want)
		}
		if tip := browsertest.Ask(t, b, chromedp.Text("#card .tip")); tip != said {
			t.Errorf("%s: above the chart stands %q, and %q is told", step.name, tip, said)
		}
	}
}

func testChartPointer(t *testing.T, b *browsertest.Browser) {
	type box struct{ X, Y float64 }
	at := func(side string) box {
		return browsertest.Ask(t, b, chromedp.Evaluate[box](fmt.Sprintf(`(() => {
			document.querySelector('.plot').scrollIntoView({block: 'center'});
			const r = document.querySelector('.plot .band').getBoundingClientRect();
			return {X: r.%s, Y: r.top + 5};
		})()`, side)))
	}
	right := at("right")
	b.Do(t, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, right.X, right.Y), browsertest.Until(chartSays+`.includes(': 60 µg/l')`))
	left := at("left")
	touch := func(kind input.DispatchTouchEventType, points ...*input.TouchPoint) chromedp.Action[chromedp.Void] {
		return func(ctx context.Context, _ *chromedp.Target) (v chromedp.Void, err error) {
			_, err = chromedp.Call(ctx, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
			return v, err
		}
	}
	b.Do(t, touch(input.DispatchTouchEventTypeTouchStart, &input.TouchPoint{X: left.X, Y: left.Y}), touch(input.DispatchTouchEventTypeTouchEnd),
		browsertest.Until(chartSays+`.includes(': 8 µg/l')`))
	b.Do(t, chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`), chromedp.MouseClickXY(right.X, right.Y), browsertest.Until(`document.activeElement === document.querySelector('.plot input')`),
		chromedp.KeyEvent(kb.ArrowLeft), browsertest.Until(chartSays+`.includes(': 30 µg/l')`)) // whoever pointed at it goes on with the keys
}

// A value that comes while the page is open is in the chart too, not only above it.
func TestPageCardOfANewerValue(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	base := limnomaptest.Front(t, startCardServer(t), func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/history/") || asked.Add(1) > 1 {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"history":[{"date":%q,"chl":8,"data_type":"satellite","who_level":0}]}`, weekday(-20))
		return true
	}, nil)
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/#lake=de_t_karte"), browsertest.Until(chartDrawn))
	wantCard(t, b, []string{"24.5 µg/l"})
	b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = 'lake=de_t_karte&date=%s'`, weekday(-6))),
		browsertest.Until(`document.querySelector('.plot input').max === '103'`), browsertest.Until(chartSays+`.endsWith(': 5 µg/l, High risk, reported')`))
	if n := asked.Load(); n != 2 {
		t.Errorf("the history was asked for %d times, want 2", n)
	}
	WantNoProblems(t, b, base)
}

// With a card open the smallest phone still says of when the values are, that they are simulated, what the satellite does
// not see, and what the signs on the map mean; and no button lies on the mark of the lake.
func TestPageCardLeavesWhatMustBeSaid(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	for _, language := range []string{"en-GB", "de"} {
		b := startBrowser(t, language)
		b.Do(t, chromedp.EmulateViewport(320, 640, chromedp.EmulateScale(2), chromedp.EmulateMobile),
			chromedp.Navigate(base+"/#lake=de_by_starnberger_see"), browsertest.Until(chartDrawn))
		for _, selector := range []string{"#date", "#notice", "#limits summary", "#legend .compact", "#card .risk", "#card .age"} {
			// What is at its middle is it, or a part of it.
			seen := fmt.Sprintf(`(() => {
				const e = document.querySelector(%q), r = e.getBoundingClientRect();
				return e.textContent !== '' && e.contains(document.elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2));
			})()`, selector)
			if !browsertest.Ask(t, b, chromedp.Evaluate[bool](seen)) {
				t.Errorf("%s: with a card open %s is not to be seen", language, selector)
			}
		}
		covered := browsertest.Ask(t, b, chromedp.Evaluate[string](`(() => {
			const r = document.querySelector('#map').getBoundingClientRect();
			return document.elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2).closest('button, #legend')?.outerHTML ?? '';
		})()`))
		if covered != "" {
			t.Errorf("%s: on the mark of the lake lies %.100s", language, covered)
		}
		WantNoProblems(t, b, base)
	}
}

// The limits of any profile can be read beside the axis: no two names lie on each other.
func TestPageCardChartOfAnotherProfile(t *testing.T) {
	t.Parallel()
	for profile, limits := range map[string]string{"uba2015": "1 15 75", "who2021": "1 12 24 100"} {
		base := startCardServer(t, "--profile", profile)
		b := startBrowser(t, "en-GB")
		b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/#lake=de_t_karte"), browsertest.Until(chartDrawn))
		ticks := browsertest.Ask(t, b, chromedp.Evaluate[string](`[...document.querySelectorAll('.plot .tick')].map((e) => Number(e.textContent)).sort((a, b) => a - b).join(' ')`))
		if ticks != limits {
			t.Errorf("%s: the axis names %s, want %s", profile, ticks, limits)
		}
		least := browsertest.Ask(t, b, chromedp.Evaluate[float64](`(() => {
			const y = [...document.querySelectorAll('.plot .tick')].map((e) => Number(e.getAttribute('y'))).sort((a, b) => a - b);
			return Math.min(...y.slice(1).map((v, i) => v - y[i]));
		})()`))
		if least < 12 {
			t.Errorf("%s: names of the axis are %g px apart", profile, least)
		}
		WantNoProblems(t, b, base)
	}
}
