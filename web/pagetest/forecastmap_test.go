//go:build long

package pagetest

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

var (
	forecastDatabase database
	forecastOnce     sync.Once
)

// startForecast serves lakes with two years of values and a forecast that was made this week.
func startForecast(t *testing.T) string {
	t.Helper()
	var lakes, rows strings.Builder
	lakes.WriteString("id,name,lat,lon,region\n")
	rows.WriteString("lake_id,date,chl,data_type\n")
	for i := range 18 {
		fmt.Fprintf(&lakes, "de_v_%02d,Vorsee %d,%.2f,%.2f,Brandenburg\n", i, i+1, 52+float64(i/4)*0.4, 12.5+float64(i%4)*0.5)
		for week := -104; week <= 0; week++ {
			switch {
			case i == 15 && week < -2, // too few values
				i == 16 && week > -7, // the last value is too old
				i == 17 && (week > -4 || week > -56 && week < -44 || week > -108 && week < -96): // no value within 3 weeks of the days of the forecast
				continue
			}
			chl := 3*math.Exp(float64(i)/5) + 2*math.Sin(float64(week)/8)
			fmt.Fprintf(&rows, "de_v_%02d,%s,%.1f,satellite\n", i, weekday(week), chl*(1+0.2*math.Sin(float64(week*(i+3)))))
		}
	}
	db := forecastDatabase.importedOnce(t, lakes.String(), rows.String())
	forecastOnce.Do(func() { limnomaptest.Run(t, "forecast", "--force", "--db", db) })
	return startServer(t, "--db", db, "--base-path", "/lakes")
}

// forecastDay returns the day that the forecast of a week is for, as the page writes it in English.
func forecastDay(t *testing.T, week int) string {
	t.Helper()
	day, err := time.Parse(time.DateOnly, weekday(week))
	if err != nil {
		t.Fatal(err)
	}
	return day.Format("2 Jan 2006")
}

const (
	forecastSwitch = `#forecast input`
	openLayers     = `document.querySelector('#layer-panel').showPopover()`
	closeLayers    = `document.querySelector('#layer-panel').hidePopover()`
	banner         = `(document.querySelector('#ahead-banner')?.innerText ?? '')`
	// mapState tells which tiles the map shows, whether marks are hidden and what the address has.
	mapState = `(() => {
		const shown = (s) => [...document.querySelectorAll(s)].some((e) => e.checkVisibility());
		const tile = document.querySelector('.heatmap img');
		return {Tiles: tile ? new URL(tile.src).searchParams.get('forecast') ?? '' : 'none', Marks: shown('.leaflet-marks-pane'), Weeks: shown('#time'), Ahead: /^(Forecast for|Vorhersage für)/.test(document.querySelector('#time strong').textContent),
			Legend: shown('#ahead-legend'), Values: shown('#legend > details:not(#ahead-legend)'), Banner: shown('#ahead-banner'), Hash: location.hash};
	})()`
)

type forecastState struct {
	Tiles, Hash                                 string
	Marks, Weeks, Ahead, Legend, Values, Banner bool
}

// The forecast is the right end of the timeline, and has a switch: its own tiles, banner and legend, no marks of the present risk. Back at the newest
// week, or switched off, the map is as before.
func TestPageForecast(t *testing.T) {
	t.Parallel()
	base := startForecast(t)
	for _, screen := range []struct {
		name, language string
		width, height  int64
		banner, off    string
	}{
		{"desk", "en-GB", 1280, 800, "Forecast for " + forecastDay(t, 2) + ": probability of medium or high risk. A statistical model, not a measurement. The list and the cards", "Newest week"},
		{"phone", "de", 360, 740, "Wahrscheinlichkeit von mittlerem oder hohem Risiko. Ein statistisches Modell, keine Messung.", "Neueste Woche"},
	} {
		t.Run(screen.name, func(t *testing.T) {
			t.Parallel()
			b := startBrowser(t, screen.language)
			b.Do(t, chromedp.EmulateViewport(screen.width, screen.height), chromedp.Navigate(base+"/"), browsertest.Until(heatDrawn))
			before := browsertest.Ask(t, b, chromedp.Evaluate[forecastState](mapState))
			if want := (forecastState{Marks: true, Weeks: true, Values: true}); before != want {
				t.Fatalf("before the switch: %+v, want %+v", before, want)
			}
			if hasRequest(b, "/assets/forecast-") || hasRequest(b, "forecast-en") {
				t.Error("the map loads the script of the forecast")
			}
			b.Do(t, chromedp.Evaluate[chromedp.Void](openLayers), chromedp.WaitVisible(forecastSwitch), chromedp.Focus(forecastSwitch), chromedp.KeyEvent(" "),
				browsertest.Until(banner+` !== ''`))
			savePicture(t, b, "switch-"+screen.name)
			b.Do(t, chromedp.Evaluate[chromedp.Void](closeLayers), chromedp.Focus("#time input"), chromedp.KeyEvent(kb.ArrowRight),
				browsertest.Until(`new URL(document.querySelector('.heatmap img').src).searchParams.get('forecast') === '2'`), browsertest.Until(heatDrawn))
			want := forecastState{Tiles: "2", Hash: "#forecast=2", Weeks: true, Ahead: true, Legend: true, Banner: true}
			browsertest.Want(t, b, mapState, want, "two weeks ahead")
			browsertest.WantText(t, b, chromedp.Evaluate[string](banner), "the banner says", screen.banner)
			const weights = `['#ahead-banner strong', '#ahead-banner', '#limits p'].map((s) => Number(getComputedStyle(document.querySelector(s)).fontWeight) >= 600).join()`
			browsertest.Want(t, b, weights, "true,false,false", "the day, the rest of the banner, and other text of the page are bold")
			savePicture(t, b, "map-"+screen.name)
			checkAccess(t, b, "forecast on a "+screen.name)
			b.Do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('#ahead-legend').open = true`))
			savePicture(t, b, "legend-"+screen.name)
			checkAccessOf(t, b, "legend on a "+screen.name, "#legend")
			b.Do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('#ahead-legend').open = false`))

			// A link to the forecast shows it; a past week has none.
			b.Do(t, chromedp.Reload(), browsertest.Until(banner+` !== ''`), browsertest.Until(heatDrawn))
			browsertest.Want(t, b, mapState, want, "after a reload")
			b.Do(t, chromedp.Focus("#time input"), chromedp.KeyEvent(kb.ArrowLeft), browsertest.Until(`location.hash === '#forecast=1'`), chromedp.KeyEvent(kb.ArrowLeft),
				browsertest.Until(banner+` === ''`))
			browsertest.Want(t, b, mapState, before, "at the newest week")
			b.Do(t, chromedp.KeyEvent(kb.End), browsertest.Until(banner+` !== ''`))
			if got := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector('#time input').ariaValueText`)); screen.name == "desk" && got != "Forecast for "+forecastDay(t, 4) {
				t.Errorf("the last day of the slider is %q", got)
			}
			b.Do(t, chromedp.Click(fmt.Sprintf(`//section[@id="time"]//button[@aria-label=%q]`, screen.off)), browsertest.Until(banner+` === ''`))
			browsertest.Want(t, b, mapState, before, "switched off")
			browsertest.Expect(t, b, `document.querySelector('#forecast input').checked`, false, "the switch stays on after the button")
			wantNoProblems(t, b, base)
		})
	}
}

// While the script of the forecast is on its way, no tile of it is seen beside the legend and the marks of the present. With the style of dots,
// which a forecast does not have, as that of pixels, it shows the heat map; the choice of colours has no effect and cannot be used.
func TestPageForecastOnItsWay(t *testing.T) {
	t.Parallel()
	arrive := make(chan struct{})
	base := limnomaptest.Front(t, startForecast(t), func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/assets/forecast-") {
			select {
			case <-arrive:
			case <-r.Context().Done():
			}
		}
		return false
	}, nil)
	b := startBrowser(t, "en-GB")
	const seen = `[...document.querySelectorAll('.heatmap img')].some((e) => e.checkVisibility({visibilityProperty: true}))`
	b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/#style=dots&forecast=2"),
		browsertest.Until(`document.querySelectorAll('.heatmap img.leaflet-tile-loaded').length > 0 && document.querySelectorAll('.heatmap img:not(.leaflet-tile-loaded)').length === 0`))
	state := browsertest.Ask(t, b, chromedp.Evaluate[forecastState](mapState))
	if browsertest.Ask(t, b, chromedp.Evaluate[bool](seen)) || state.Tiles != "2" || !state.Marks || state.Banner {
		t.Errorf("before the script is there: %+v, and the tiles are seen: %v; want them hidden", state, browsertest.Ask(t, b, chromedp.Evaluate[bool](seen)))
	}
	close(arrive)
	b.Do(t, browsertest.Until(banner+` !== ''`), browsertest.Until(seen), chromedp.Evaluate[chromedp.Void](openLayers), chromedp.WaitVisible(forecastSwitch))
	if state := browsertest.Ask(t, b, chromedp.Evaluate[forecastState](mapState)); state.Tiles != "2" || state.Marks || !state.Banner || !state.Legend {
		t.Errorf("with the script: %+v, want the forecast", state)
	}
	const disabled = `[...document.querySelectorAll('#layer-panel select:disabled, #layer-panel input:disabled')].map((e) => e.value || e.localName).sort().join()`
	browsertest.Want(t, b, disabled, "dots,pixels,select", "of the layer panel these cannot be used:")
	const reasons = `[...document.querySelectorAll('#layer-panel :is(select, fieldset)')].map((e) => document.getElementById(e.getAttribute('aria-describedby')).innerText).join()`
	const why = "A forecast has its own colours, and no markers."
	browsertest.Want(t, b, reasons, why+","+why, "the reasons why the style dots and the colours cannot be used are")
	savePicture(t, b, "panel")
	checkAccessOf(t, b, "layer panel with a forecast", "#layer-panel")
	b.Do(t, chromedp.Click(forecastSwitch), browsertest.Until(banner+` === ''`))
	browsertest.Want(t, b, disabled, "", "without the forecast")
	browsertest.Want(t, b, reasons, ",", "without the forecast the layer panel says")
	wantNoProblems(t, b, base)
}

// The most probable is the darkest: it needs a light map, also on a page with dark colours. On paper the banner can be read.
func TestPageForecastDarkAndPrinted(t *testing.T) {
	t.Parallel()
	base := startForecast(t)
	b := startBrowser(t, "en-GB")
	b.Prefer(t, "color-scheme", "dark")
	b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/#forecast=1"), browsertest.Until(banner+` !== ''`), browsertest.Until(heatDrawn))
	const colours = `(() => {
		const of = (s) => getComputedStyle(document.querySelector(s));
		return [of('body').backgroundColor, of('.leaflet-outlines-pane .germany').fill, of('.leaflet-outlines-pane .rivers').stroke, of('#ahead-banner').color, of('#ahead-banner').backgroundColor].join(' ');
	})()`
	const dark, white, river, violet, black = "rgb(27, 32, 37)", "rgb(255, 255, 255)", "rgb(197, 208, 214)", "rgb(91, 42, 134)", "rgb(0, 0, 0)"
	want := strings.Join([]string{dark, white, river, white, violet}, " ")
	browsertest.Want(t, b, colours, want, "on a dark page the colours of page, map, and banner are")
	// Text of the open legend and of the credits can be read on the light map.
	b.Do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('#ahead-legend').open = true`))
	savePicture(t, b, "dark")
	const quiet = `['#ahead-legend p', '.leaflet-control-attribution'].map((s) => getComputedStyle(document.querySelector(s)).color).join()`
	const grey = "rgb(90, 99, 107)"
	browsertest.Want(t, b, quiet, grey+","+grey, "on a light map of a dark page the texts of the legend and the credits have the colours")
	checkAccess(t, b, "forecast on a dark page")
	// The end of the timeline has the violet of the forecast, which is lighter on a dark page.
	if got, want := browsertest.Ask(t, b, chromedp.Evaluate[string](`getComputedStyle(document.querySelector('#time path:last-child')).fill`)), "rgb(181, 143, 255)"; got != want {
		t.Errorf("on a dark page the end of the timeline is %s, want %s", got, want)
	}
	b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=de_v_11&forecast=1'`), browsertest.Until(chartDrawn))
	b.Print(t)
	const legendFits = `(() => {
		const e = document.querySelector('#legend'), ticks = [...e.querySelectorAll('#ahead-legend .ticks span')].map((tick) => tick.getBoundingClientRect());
		return e.checkVisibility() && e.scrollWidth <= e.clientWidth && ticks.every(({left}, i) => i === 0 || left > ticks[i - 1].right + 2);
	})()`
	browsertest.Expect(t, b, legendFits, true, "on paper the legend is cut off beside a card, or its numbers touch")
	savePicture(t, b, "paper")
	if got := browsertest.Ask(t, b, chromedp.Evaluate[string](colours)); !strings.HasSuffix(got, black+" "+white) {
		t.Errorf("on paper the colours of page, map, and banner are %s, want a banner in black and white", got)
	}
	wantNoProblems(t, b, base)
}

// A phone in landscape shows the whole banner, beside the buttons of the map.
func TestPageForecastOnATurnedPhone(t *testing.T) {
	t.Parallel()
	base := startForecast(t)
	b := startBrowser(t, "de")
	b.Do(t, chromedp.EmulateViewport(844, 390, chromedp.EmulateMobile), chromedp.Navigate(base+"/#forecast=1"), browsertest.Until(banner+` !== ''`), browsertest.Until(heatDrawn))
	browsertest.Expect(t, b, `(() => {
		const [box, frame, buttons] = ['#ahead-banner', '#frame', '#controls'].map((s) => document.querySelector(s).getBoundingClientRect());
		return box.top >= 0 && box.bottom < innerHeight / 2 && box.left >= frame.left && box.right <= buttons.left &&
			document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2).closest('#ahead-banner') !== null;
	})()`, true, "the banner is cut off, or lies under the map or its buttons")
	checkAccess(t, b, "forecast on a turned phone")
	b.WantNoProblems(t, base)
}

// On a phone with an open card the map is low: its legend is small, and covers no button and not the selected lake. The legend
// keeps its name.
func TestPageForecastBesideCard(t *testing.T) {
	t.Parallel()
	base := startForecast(t)
	b := startBrowser(t, "de")
	b.Do(t, chromedp.EmulateViewport(390, 760), chromedp.Navigate(base+"/#lake=de_v_11&forecast=1"), browsertest.Until(banner+` !== ''`), browsertest.Until(chartDrawn), browsertest.Until(heatDrawn))
	const covered = `(() => {
		const legend = document.querySelector('#legend').getBoundingClientRect();
		return [...document.querySelectorAll('#controls button, .ahead-ring')].filter((e) => e.checkVisibility()).some((e) => {
			const box = e.getBoundingClientRect();
			return box.bottom > legend.top && box.top < legend.bottom && box.right > legend.left && box.left < legend.right;
		});
	})()`
	savePicture(t, b, "legend-beside-card")
	if state := browsertest.Ask(t, b, chromedp.Evaluate[forecastState](mapState)); !state.Legend {
		t.Errorf("beside a card: %+v, want the legend", state)
	}
	browsertest.Expect(t, b, covered, false, "the legend and a button or the selected lake overlap")
	if got, want := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector('#ahead-legend b')?.textContent ?? ''`)), "Vorhersage: Wahrscheinlichkeit von mittlerem oder hohem Risiko"; got != want {
		t.Errorf("the name of the legend is %q, want %q", got, want)
	}
	checkAccess(t, b, "forecast beside a card on a phone")
	wantNoProblems(t, b, base)
}

func hasRequest(b *browsertest.Browser, part string) bool {
	for _, url := range b.Requests() {
		if strings.Contains(url, part) {
			return true
		}
	}
	return false
}

// A server without a forecast has no switch, and a link to a forecast shows the present.
func TestPageWithoutForecast(t *testing.T) {
	t.Parallel()
	base := startCardServer(t)
	b := openPage(t, "en-GB", base+"/#forecast=2", browsertest.Until(heatDrawn), chromedp.Evaluate[chromedp.Void](openLayers), chromedp.WaitVisible("#layer-panel"))
	if got := browsertest.Ask(t, b, chromedp.Evaluate[forecastState](mapState)); got.Tiles != "" || !got.Marks || got.Ahead || !got.Values {
		t.Errorf("the map shows %+v, want the present", got)
	}
	browsertest.Expect(t, b, `document.querySelector('#forecast').checkVisibility()`, false, "the page has a switch for a forecast that does not exist")
	wantNoProblems(t, b, base)
}

// Without a connection the switch says why it does not work, and stays off.
func TestPageForecastOffline(t *testing.T) {
	t.Parallel()
	f := startFaultyNetwork(t, startForecast(t))
	b := openPage(t, "en-GB", f.base+"/", browsertest.Until(heatDrawn), chromedp.Evaluate[chromedp.Void](openLayers), chromedp.WaitVisible(forecastSwitch))
	f.set(broken)
	b.Do(t, chromedp.Click(forecastSwitch), browsertest.Until(`document.querySelector('#forecast p').textContent.includes('needs a connection')`))
	if got := browsertest.Ask(t, b, chromedp.Evaluate[forecastState](mapState)); got.Tiles != "" || !got.Marks || got.Ahead || got.Hash != "" {
		t.Errorf("without a connection the map shows %+v, want the present", got)
	}
	browsertest.Expect(t, b, `document.querySelector('#forecast input').checked`, false, "the switch is on without a connection")
}
