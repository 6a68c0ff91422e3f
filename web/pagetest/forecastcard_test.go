//go:build long

package pagetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

// A historyOf is the answer of a history with what limnomap's own forecast adds to it.
type historyOf struct {
	History  []map[string]any `json:"history"`
	Forecast map[string]any   `json:"forecast"`
}

// forecastHistory returns two years of values, an own forecast that was made a number of weeks from now, and an imported one after it.
func forecastHistory(issuedIn int) historyOf {
	var all []map[string]any
	entry := func(week int, chl float64, kind string, more map[string]any) {
		e := map[string]any{"date": weekday(week), "chl": chl, "data_type": kind, "who_level": 1, "cell_density_cells_ml": nil}
		for name, value := range more {
			e[name] = value
		}
		all = append(all, e)
	}
	entry(issuedIn+5, 40, "ai_forecast", map[string]any{"lower": nil, "upper": nil, "probabilities": nil, "model": nil, "issued_at": nil, "based_on": nil, "source": "another model"})
	for week := 4; week >= 1; week-- {
		entry(issuedIn+week, 24.5-2*float64(week), "ai_forecast", map[string]any{
			"lower": 12.5 - float64(week), "upper": 30 + 5*float64(week), "model": "limnomap-1", "issued_at": weekday(issuedIn), "based_on": weekday(issuedIn),
			"probabilities": map[string]any{"low": .7, "medium": .27, "high": .03}, "source": "limnomap-1",
		})
	}
	for week := 0; week > -95; week-- {
		entry(issuedIn+week, 24.5/(1+float64(-week%26)/9), "satellite", nil)
	}
	return historyOf{all, map[string]any{
		"issued_at": weekday(issuedIn), "model": "limnomap-1", "withheld": nil, "based_on": weekday(issuedIn),
		"skill": map[string]any{"region": "Berlin", "weeks": []map[string]any{{"week": 1, "closer_percent": 22.3, "coverage": .8, "pairs": 900, "lakes": 12}}},
	}}
}

// withheld returns the history without its forecast, and why.
func (h historyOf) withheld(why string) historyOf {
	values := historyOf{nil, map[string]any{"issued_at": weekday(0), "model": "limnomap-1", "withheld": why, "based_on": weekday(0), "skill": nil}}
	for _, e := range h.History {
		if e["data_type"] != "ai_forecast" {
			values.History = append(values.History, e)
		}
	}
	return values
}

// startHistories serves the lakes of startCardServer with histories of their own.
func startHistories(t *testing.T, histories map[string]historyOf) string {
	t.Helper()
	return limnomaptest.Front(t, startCardServer(t), func(w http.ResponseWriter, r *http.Request) bool {
		history, ok := histories[r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]]
		if !ok || !strings.Contains(r.URL.Path, "/history/") {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		return json.NewEncoder(w).Encode(history) == nil
	}, nil)
}

const aheadText = `document.querySelector('#card .ahead').innerText`

// The chart shows limnomap's own forecast apart from values, and the text below it says what it is, what it was worth and how old its basis is.
func TestPageCardForecast(t *testing.T) {
	t.Parallel()
	base := startHistories(t, map[string]historyOf{"de_t_karte": forecastHistory(0)})
	for _, language := range []struct {
		code string
		want []string
		said string
	}{
		{"en-GB", []string{"7 in 10: low; 3 in 10: medium or high.", "knows no weather", "in \u2068Berlin\u2069 it was 22 % closer than the last value", "Based on the value of"}, ": 17\u00a0µg/l, in 4 of 5 cases between 8.5 and 50, Medium risk, statistical forecast"},
		{"de", []string{"7 von 10: gering; 3 von 10: mittel oder hoch.", "das Wetter kennt es nicht", "in der Region \u2068Berlin\u2069 eine Woche voraus um 22 % näher als der letzte Wert", "Aus dem Wert vom"}, ": 17\u00a0µg/l, in 4 von 5 Fällen zwischen 8,5 und 50, Mittleres Risiko, statistische Vorhersage"},
	} {
		b := startBrowser(t, language.code)
		for _, screen := range []struct {
			name          string
			width, height int64
		}{{"phone", 360, 740}, {"desk", 1280, 800}} {
			name := language.code + " on a " + screen.name
			b.Do(t, chromedp.EmulateViewport(screen.width, screen.height), chromedp.Navigate(base+"/#lake=de_t_karte"), chromedp.Reload(), browsertest.Until(chartDrawn))
			text := browsertest.Ask(t, b, chromedp.Evaluate[string](aheadText))
			for _, want := range language.want {
				if !strings.Contains(text, want) {
					t.Errorf("%s: the text about the forecast = %q, want %q in it", name, text, want)
				}
			}
			b.Do(t, chromedp.Focus(".plot input"), chromedp.KeyEvent(kb.End), chromedp.KeyEvent(kb.ArrowLeft)) // the imported forecast, the last own step
			if said := browsertest.Ask(t, b, chromedp.Evaluate[string](chartSays)); !strings.HasSuffix(said, language.said) {
				t.Errorf("%s: the chart says %q about the last step, want %q", name, said, language.said)
			}
			b.Do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('#card figure').scrollIntoView({block: 'start'})`))
			savePicture(t, b, "forecast-"+language.code+"-"+screen.name)
			testForecastDrawn(t, b, name)
			checkAccessOf(t, b, name, "#card")
		}
		wantNoProblems(t, b, base)
	}
}

// testForecastDrawn compares the lines of the chart: those of values, of limnomap's own forecast, and of an imported one.
func testForecastDrawn(t *testing.T, b *browsertest.Browser, name string) {
	t.Helper()
	type drawn struct {
		Own, Fan, Dashed, Whiskers string
		Dashes                     string
		Rings                      int
		Step, Opacity              float64 // pixels between two steps; of the band
	}
	got := browsertest.Ask(t, b, chromedp.Evaluate[drawn](`(() => {
		const e = (s) => document.querySelector('.plot ' + s), d = (s) => e(s)?.getAttribute('d') ?? '';
		const style = (s) => getComputedStyle(e(s));
		return {Own: d('.own'), Fan: d('.fan'), Dashed: d('.dashed'), Whiskers: d('.whisker'), Dashes: style('.own').strokeDasharray,
			Rings: d('.steps').split('M').length - 1, Step: e('.steps').getBoundingClientRect().width / 4, Opacity: Number(style('.fan').fillOpacity)};
	})()`))
	if strings.Count(got.Own, "L") != 4 || got.Dashes == "none" || got.Rings != 4 {
		t.Errorf("%s: the forecast is drawn as %q with the dashes %s and %d rings, want a dashed line from the value through four rings", name, got.Own, got.Dashes, got.Rings)
	}
	if strings.Count(got.Fan, "L") != 9 || got.Opacity <= 0 || got.Opacity > .4 {
		t.Errorf("%s: the band is drawn as %q with the opacity %g, want a light one from the value through eight bounds", name, got.Fan, got.Opacity)
	}
	if got.Step < 12 {
		t.Errorf("%s: the steps are %.1f px apart, which is too narrow to select one", name, got.Step)
	}
	if got.Dashed == "" || strings.Contains(got.Dashed, "L") || got.Whiskers != "" {
		t.Errorf("%s: the imported forecast is drawn as %q, want one point that is not joined to the own one; whiskers %q, want none", name, got.Dashed, got.Whiskers)
	}
}

// A lake without a forecast says why. A forecast whose days are over is not shown beyond now.
func TestPageCardForecastWithheld(t *testing.T) {
	t.Parallel()
	base := startHistories(t, map[string]historyOf{
		"de_t_karte": forecastHistory(0).withheld("few_values"),
		"de_t_alt":   forecastHistory(0).withheld("old_value"),
		"de_t_leer":  forecastHistory(-6),
	})
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(360, 740), chromedp.Navigate(base+"/#lake=de_t_karte"))
	for _, step := range []struct{ lake, want string }{
		{"de_t_karte", "No forecast: fewer than 5 values."},
		{"de_t_alt", "No forecast: the last value is older than 6 weeks."},
		{"de_t_leer", "No forecast: the days of the forecast of "},
	} {
		b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = 'lake=%s'`, step.lake)), says(step.want))
		browsertest.Want(t, b, `document.querySelectorAll('.plot :is(.own, .fan, .steps)').length`, 0, "%s: the chart has", step.lake)
		b.Do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('#card .ahead').scrollIntoView({block: 'end'})`))
		savePicture(t, b, "withheld-"+step.lake)
	}
	checkAccessOf(t, b, "withheld", "#card")
	wantNoProblems(t, b, base)
}

// The card reads the server's own answers: a lake with a forecast made by limnomap forecast, and one lake for each reason to
// withhold it.
func TestPageCardServerForecast(t *testing.T) {
	t.Parallel()
	base := startForecast(t)
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(360, 740), chromedp.Navigate(base+"/#lake=de_v_11"), browsertest.Until(chartDrawn), browsertest.Until(`!!document.querySelector('#card .ahead')`))
	text := browsertest.Ask(t, b, chromedp.Evaluate[string](aheadText))
	for _, want := range []string{" in 10: ", "knows no weather", "Based on the value of"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text about the forecast = %q, want %q in it", text, want)
		}
	}
	b.Do(t, chromedp.Focus(".plot input"), chromedp.KeyEvent(kb.End))
	if said := browsertest.Ask(t, b, chromedp.Evaluate[string](chartSays)); !strings.HasPrefix(said, forecastDay(t, 4)) || !strings.Contains(said, "in 4 of 5 cases between") || !strings.HasSuffix(said, "statistical forecast") {
		t.Errorf("the chart says %q about its last step, want the forecast of %s", said, forecastDay(t, 4))
	}
	b.Do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('#card figure').scrollIntoView({block: 'start'})`))
	savePicture(t, b, "server-forecast")
	for _, withheld := range []struct{ lake, want string }{
		{"de_v_15", "No forecast: fewer than 5 values."},
		{"de_v_16", "No forecast: the last value is older than 6 weeks."},
		{"de_v_17", "No forecast: no value was ever seen at this time of year."},
	} {
		b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = 'lake=%s'`, withheld.lake)), says(withheld.want), browsertest.Until(chartDrawn))
		browsertest.Want(t, b, `document.querySelectorAll('.plot :is(.own, .fan, .steps)').length`, 0, "%s: the chart has", withheld.lake)
	}
	savePicture(t, b, "server-withheld")
	wantNoProblems(t, b, base)
}
