package pagetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"limnomap/web/browsertest"
)

// The chart draws what was measured: no line crosses a gap, and forecasts are dashed.
func TestPageCardChart(t *testing.T) {
	t.Parallel()
	base := startCardServer(t)
	b := openPage(t, "en-GB", base+"/#lake=de_t_karte", browsertest.Until(chartDrawn))
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
	// The weeks before the gap, the week before the one without a value, the three weeks after it, and the current week.
	if got.Runs != 4 {
		t.Errorf("the line has %d parts, want 4, with nothing across the gaps: %s", got.Runs, got.Line)
	}
	if runs := strings.Split(got.Dashed, "M"); len(runs) != 2 || strings.Count(got.Dashed, "L") != 2 {
		t.Errorf("the forecast is drawn as %q, want one line from the current value through both forecasts", got.Dashed)
	}
	if dashes := browsertest.Ask(t, b, chromedp.Evaluate[string](`getComputedStyle(document.querySelector('.plot .dashed')).strokeDasharray`)); dashes == "none" {
		t.Error("the forecast is not dashed")
	}
	if low, high := got.Ticks["1"]-got.Ticks["10"], got.Ticks["10"]-got.Ticks["100"]; low < 20 || low-high > .1 || high-low > .1 || got.Ticks["50"] == 0 || got.Ticks["200"] == 0 {
		t.Errorf("axis = %v, want 1, 10 and 100 equally far apart, the limit 50, and 200 above the value 150", got.Ticks)
	}
	// Only zero, which no logarithmic axis has, has the sign of a value beyond it.
	if beyond := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector('.plot .beyond').getAttribute('d')`)); strings.Count(beyond, "M") != 1 {
		t.Errorf("values beyond the axis are drawn as %q, want one", beyond)
	}
	if named := strings.Join(got.Named, " "); got.Bands != 3 || !strings.Contains(named, "low") || !strings.Contains(named, "medium") || !strings.Contains(named, "high") {
		t.Errorf("%d bands with the names %s, want 3 with low, medium and high", got.Bands, named)
	}
	for _, want := range []string{"statistical forecast, not measured", "Gap: no value", "beyond the axis", "week shown", "worse than the chlorophyll value"} {
		if !strings.Contains(got.Key, want) {
			t.Errorf("the key of the chart lacks %q: %s", want, got.Key)
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
		if said, want := browsertest.Ask(t, b, chromedp.Evaluate[string](chartSays)), ": 8\u00a0µg/l, Low risk"; !strings.HasSuffix(said, want) {
			t.Errorf("the chart says %q about the selected week, want %q", said, want)
		}
	})
	wantNoProblems(t, b, base)
}

const chartSays = `document.querySelector('.plot input').ariaValueText`

// testChartKeys selects entries with the keyboard. Screen readers get the text above the chart.
func testChartKeys(t *testing.T, b *browsertest.Browser) {
	b.Do(t, chromedp.Focus(".plot input"))
	for _, step := range []struct{ name, key, want string }{
		{"the last point", kb.End, "60\u00a0µg/l, High risk, statistical forecast"},
		{"the one before", kb.ArrowLeft, "30\u00a0µg/l, Medium risk, statistical forecast"},
		{"the current value", kb.ArrowLeft, "25\u00a0µg/l, Medium risk"},
		{"the scum", kb.ArrowLeft, "5\u00a0µg/l, High risk, reported"},
		{"below the axis", kb.ArrowLeft, "0\u00a0µg/l, Low risk, beyond the axis"},
		{"above the legend", kb.ArrowLeft, "150\u00a0µg/l, High risk"},
		{"no value", kb.ArrowLeft, "no value"},
		{"the first point", kb.Home, "8\u00a0µg/l, Low risk"},
	} {
		b.Do(t, chromedp.KeyEvent(step.key))
		said := browsertest.Ask(t, b, chromedp.Evaluate[string](chartSays))
		if !strings.HasSuffix(said, ": "+step.want) {
			t.Errorf("%s: the chart says %q, want %q", step.name, said, step.want)
		}
		if tip := browsertest.Ask(t, b, chromedp.Text("#card .tip")); tip != said {
			t.Errorf("%s: the text above the chart is %q, the accessible text %q", step.name, tip, said)
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
	b.Do(t, browsertest.Hover(right.X, right.Y, chartSays+`.includes(': 60\u00a0µg/l')`))
	left := at("left")
	touch := func(kind input.DispatchTouchEventType, points ...*input.TouchPoint) chromedp.Action[chromedp.Void] {
		return func(ctx context.Context, _ *chromedp.Target) (v chromedp.Void, err error) {
			_, err = chromedp.Call(ctx, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
			return v, err
		}
	}
	b.Do(t, touch(input.DispatchTouchEventTypeTouchStart, &input.TouchPoint{X: left.X, Y: left.Y}), touch(input.DispatchTouchEventTypeTouchEnd),
		browsertest.Until(chartSays+`.includes(': 8\u00a0µg/l')`))
	b.Do(t, chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`), chromedp.MouseClickXY(right.X, right.Y), browsertest.Until(`document.activeElement === document.querySelector('.plot input')`),
		chromedp.KeyEvent(kb.ArrowLeft), browsertest.Until(chartSays+`.includes(': 30\u00a0µg/l')`)) // the keys continue at the entry under the pointer
}

var cardDatabase database

// startCardServer serves lakes with histories that are hard to draw: a gap, a week without a value, a value below every axis,
// reported scum over clear water, and forecasts.
func startCardServer(t *testing.T, args ...string) string {
	t.Helper()
	const lakes = `id,name,lat,lon,region
de_t_karte,Kartensee,52.4,13.6,Berlin
de_t_alt,Altsee,53.1,13.0,Brandenburg
de_t_leer,Leersee,52.9,14.1,Brandenburg
de_t_nie,Niesee,52.8,14.0,Brandenburg
`
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
	row("de_t_karte", -7, "0", "satellite", "")
	row("de_t_karte", -6, "5", "satellite", "3")
	row("de_t_karte", 0, "24.5", "satellite", "")
	row("de_t_karte", 1, "30", "ai_forecast", "")
	row("de_t_karte", 2, "60", "ai_forecast", "")
	row("de_t_alt", -3, "80", "satellite", "")
	row("de_t_leer", -30, "80", "satellite", "")
	db := cardDatabase.importedOnce(t, lakes, rows.String())
	return startServer(t, append(args, "--db", db, "--base-path", "/lakes")...)
}
