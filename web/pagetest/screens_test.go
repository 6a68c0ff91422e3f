package pagetest

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/internal/testsize"
	"limnomap/web/browsertest"
)

// layout is what a person sees of the parts of the page.
type layout struct {
	MapHeight float64 // of the window's height
	MapArea   float64 // of the window's area
	Width     int     // of the document
	Overlaps  []string
	Outside   []string // controls that are beyond an edge that no scrolling reaches
	Small     []string // controls of less than 24 px
	Clipped   []string // texts without room
}

const layoutOfPage = `(() => {
	const seen = (e) => e?.checkVisibility({visibilityProperty: true, opacityProperty: true});
	const map = document.querySelector('#frame').getBoundingClientRect();
	const shown = {MapHeight: map.height / innerHeight, MapArea: map.width * map.height / innerWidth / innerHeight,
		Width: document.documentElement.scrollWidth, Overlaps: [], Outside: [], Small: [], Clipped: []};
	const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
	const parts = ['header', '#frame', '#time', '#panel', '#limits'].map((s) => document.querySelector(s)).filter(seen);
	const inMap = ['#controls', '#legend'].map((s) => document.querySelector(s)).filter(seen);
	for (const list of [parts, document.querySelector('#legend [open]') ? [] : inMap]) {
		for (const [i, a] of list.entries()) for (const b of list.slice(i + 1)) {
			if (overlap(a.getBoundingClientRect(), b.getBoundingClientRect())) shown.Overlaps.push((a.id || a.tagName) + ' ' + b.id);
		}
	}
	for (const e of document.querySelectorAll('button, summary, select, #q, #full-page, #time .info, #date, #notice')) {
		if (!seen(e)) continue;
		const {left, right, top, width, height} = e.getBoundingClientRect();
		const name = e.id || e.className || e.ariaLabel || e.textContent;
		if (left < -1 || right > innerWidth + 1 || top + scrollY < -1) shown.Outside.push(name);
		if (e.matches('button, summary, select, #q, #full-page') && Math.min(width, height) < 24) shown.Small.push(name + ' ' + width + 'x' + height);
		if (e.scrollWidth > e.clientWidth + 1 && !e.matches('select, #q')) shown.Clipped.push(name);
	}
	return shown;
})()`

// A screen is a size of the window, and what the reader has chosen.
type screen struct {
	width, height int64
	touch         bool
	text          int64 // px, the text size that the reader has chosen in the browser; 0 is 16
	root          int   // px, the size of the document's text; 0 is the reader's
	forced        bool  // colours
}

func (s screen) String() string {
	name := fmt.Sprintf("%dx%d", s.width, s.height)
	if s.text > 0 {
		name += fmt.Sprintf(" text %d", s.text)
	}
	if s.root > 0 {
		name += fmt.Sprintf(" root %d", s.root)
	}
	if s.forced {
		name += " forced colours"
	}
	return name
}

// open opens an address on a screen, light or dark.
func (s screen) open(t *testing.T, b *browsertest.Browser, scheme, url string) {
	t.Helper()
	media := []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}, {Name: "prefers-color-scheme", Value: scheme}}
	if s.forced {
		media = append(media, &emulation.MediaFeature{Name: "forced-colors", Value: "active"})
	}
	browsertest.Enable(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: media})
	if s.text > 0 {
		browsertest.Enable(t, b, page.SetFontSizes, page.SetFontSizesParams{FontSizes: &page.FontSizes{Standard: s.text, Fixed: s.text}})
	}
	if s.root > 0 {
		browsertest.Enable(t, b, page.Enable, page.EnableParams{})
		sheet := fmt.Sprintf(`addEventListener('DOMContentLoaded', () => {
			const sheet = new CSSStyleSheet();
			sheet.replaceSync('html { font-size: %dpx !important }');
			document.adoptedStyleSheets = [sheet];
		})`, s.root)
		if _, err := chromedp.Call(b.Ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: sheet}); err != nil {
			t.Fatal(err)
		}
	}
	var options []chromedp.EmulateViewportOption
	if s.touch {
		options = append(options, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	b.Do(t, chromedp.EmulateViewport(s.width, s.height, options...), chromedp.Navigate(url), browsertest.Until(heatDrawn), browsertest.Until(`!document.querySelector('#controls').hidden`))
}

// The page has room for the map, and shows and reaches everything, on every screen, with large text and in forced colours.
func TestPageScreens(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	const closed, card, list = "", "with a card", "with the list"
	for _, c := range testsize.Cases(3, []struct {
		screen
		mapHeight, mapArea map[string]float64 // the least of the window
	}{
		{screen{width: 640, height: 360, touch: true}, map[string]float64{closed: 1, card: 1, list: 1}, map[string]float64{closed: 0.5, card: 0.5, list: 0.5}},
		{screen{width: 390, height: 844, touch: true}, map[string]float64{closed: 0.5, card: 0.2}, nil},
		{screen{width: 1440, height: 900, text: 26}, map[string]float64{closed: 0.6, card: 0.6}, nil},
		{screen{width: 844, height: 390, touch: true}, map[string]float64{closed: 1, card: 1, list: 1}, map[string]float64{closed: 0.5, card: 0.5, list: 0.5}},
		{screen{width: 844, height: 390, touch: true, text: 26}, map[string]float64{closed: 1, card: 1, list: 1}, nil},
		{screen{width: 720, height: 450}, map[string]float64{closed: 1, card: 1}, nil}, // 1440 x 900 at 200 %
		{screen{width: 820, height: 1180, touch: true}, map[string]float64{closed: 0.6, card: 0.3}, nil},
		{screen{width: 390, height: 844, touch: true, root: 26}, map[string]float64{closed: 0.25, card: 0.25}, nil},
		{screen{width: 390, height: 844, touch: true, root: 32}, map[string]float64{closed: 0.25, card: 0.25}, nil},
		{screen{width: 390, height: 844, touch: true, text: 26}, map[string]float64{closed: 0.25, card: 0.25}, nil},
		{screen{width: 1440, height: 900}, map[string]float64{closed: 0.7, card: 0.7}, nil},
		{screen{width: 1440, height: 900, root: 26}, map[string]float64{closed: 0.6, card: 0.6}, nil},
		{screen{width: 1440, height: 900, forced: true}, map[string]float64{closed: 0.7, card: 0.7}, nil},
		{screen{width: 390, height: 844, touch: true, forced: true}, map[string]float64{closed: 0.5, card: 0.2}, nil},
	}) {
		for language, scheme := range map[string]string{"en-GB": "light", "de": "dark"} {
			t.Run(c.String()+" "+scheme, func(t *testing.T) {
				t.Parallel()
				b := startBrowser(t, language)
				c.open(t, b, scheme, base+"/")
				startAxe(t, b)
				check := func(state string) {
					t.Helper()
					shown := browsertest.Ask(t, b, chromedp.Evaluate[layout](layoutOfPage))
					if shown.MapHeight < c.mapHeight[state]-0.001 || shown.MapArea < c.mapArea[state] {
						t.Errorf("%s the map has %.2f of the height and %.2f of the area, want %.2f and %.2f", state, shown.MapHeight, shown.MapArea, c.mapHeight[state], c.mapArea[state])
					}
					if shown.Width > int(c.width) {
						t.Errorf("%s the page is %d px wide", state, shown.Width)
					}
					if len(shown.Overlaps)+len(shown.Outside)+len(shown.Small)+len(shown.Clipped) > 0 {
						t.Errorf("%s there are overlaps %q, controls outside %q, small ones %q, and clipped texts %q", state, shown.Overlaps, shown.Outside, shown.Small, shown.Clipped)
					}
					savePicture(t, b, strings.ReplaceAll(c.String()+" "+scheme+" "+state, " ", "-"))
					if state == list { // axe-core measures list items that the browser has not laid out yet
						checkAccessOf(t, b, state, "html", "target-size")
					} else {
						checkAccess(t, b, state)
					}
				}
				check(closed)
				if browsertest.Ask(t, b, chromedp.Evaluate[bool](`document.querySelector('#find [name=toggle]').checkVisibility()`)) {
					b.Do(t, chromedp.Click("#find [name=toggle]"), browsertest.Until(`document.querySelector('#find li button').checkVisibility()`))
					check(list)
					b.Do(t, chromedp.Click("#find [name=toggle]"), browsertest.Until(`document.querySelector('#find li')?.checkVisibility() !== true`))
				}
				b.Do(t, chromedp.Evaluate[chromedp.Void](`void (location.hash = 'lake=`+embeddedLake+`')`), browsertest.Until(chartDrawn))
				check(card)
				b.WantNoProblems(t, base)
			})
		}
	}
}

// On a tablet, a phone and a desktop all lakes are in the part of the map that nothing covers, and in its middle.
func TestPageFirstViewIsCentred(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	var status limnomaptest.Status
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/status", &status)
	west, south, east, north := 180.0, 90.0, -180.0, -90.0
	for _, lake := range status.Lakes {
		west, east, south, north = min(west, lake.Lon), max(east, lake.Lon), min(south, lake.Lat), max(north, lake.Lat)
	}
	for _, s := range testsize.Cases(2, []screen{{width: 1440, height: 900}, {width: 390, height: 844, touch: true}, {width: 640, height: 360, touch: true}, {width: 820, height: 1180, touch: true}}) {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			b := startBrowser(t, "en-GB")
			s.open(t, b, "light", base+"/")
			b.Do(t, browsertest.Until(`!document.querySelector('#time').hidden`), chromedp.Evaluate[chromedp.Void](`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`, chromedp.EvalAwaitPromise))
			at := browsertest.Ask(t, b, chromedp.Evaluate[mapPosition](centreOfMap))
			type size struct{ Width, Height, Legend, LegendWidth, Buttons float64 }
			m := browsertest.Ask(t, b, chromedp.Evaluate[size](`(() => {
				const [map, legend, buttons] = ['#map', '#legend', '#controls'].map((s) => document.querySelector(s).getBoundingClientRect());
				return {width: map.width, height: map.height, legend: map.bottom - legend.top, legendWidth: legend.width, buttons: map.right - buttons.left};
			})()`))
			world := 256 * math.Exp2(at.Zoom)
			down := func(lat float64) float64 { return -math.Asinh(math.Tan(lat*math.Pi/180)) / (2 * math.Pi) * world }
			left, right := m.Width/2+(west-at.Lon)/360*world, m.Width/2+(east-at.Lon)/360*world
			top, bottom := m.Height/2+down(north)-down(at.Lat), m.Height/2+down(south)-down(at.Lat)
			if left < 8 || top < 8 || right > m.Width-8 || bottom > m.Height-8 {
				t.Errorf("the lakes cover %.0f to %.0f and %.0f to %.0f px of a map of %.0f x %.0f px", left, right, top, bottom, m.Width, m.Height)
			}
			if right > m.Width-m.LegendWidth && bottom > m.Height-m.Legend {
				t.Errorf("the legend, %.0f px high, covers lakes, which reach %.0f of %.0f px", m.Legend, bottom, m.Height)
			}
			if off := (left+right)/2 - m.Width/2; math.Abs(off) > m.Buttons/2+4 {
				t.Errorf("the lakes are %.0f px beside the middle of a map of %.0f px", off, m.Width)
			}
			if off := (top+bottom)/2 - m.Height/2; math.Abs(off) > m.Legend/2+4 {
				t.Errorf("the lakes are %.0f px above or below the middle of a map of %.0f px", off, m.Height)
			}
		})
	}
}

// The bars of few weeks are slim and stay in the track of the slider.
func TestPageFewWeeks(t *testing.T) {
	t.Parallel()
	for name, weeks := range map[string][]int{"one week": {0}, "two weeks": {-1, 0}, "three dates": {-6, -3, 0}, "ten weeks": {-9, -8, -7, -6, -5, -4, -3, -2, -1, 0}, "a week and years before": {-150, 0}} {
		if len(weeks) > 3 && !testsize.Long {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := filepath.Join(t.TempDir(), "lakes.db")
			rows := "lake_id,date,chl,data_type\n"
			for _, week := range weeks {
				rows += fmt.Sprintf("a,%s,%d,satellite\n", weekday(week), 20-week%10)
			}
			importCSV(t, db, "id,name,lat,lon,region\na,Asee,52.5,13.4,Berlin\nb,Bsee,48.5,9.4,Schwaben\n", rows)
			b := startBrowser(t, "de")
			base := startOwnServer(t, "--db", db)
			for _, s := range []screen{{width: 1440, height: 900}, {width: 390, height: 844, touch: true}, {width: 640, height: 360, touch: true}} {
				s.open(t, b, "light", base+"/")
				if len(weeks) == 1 {
					if browsertest.Ask(t, b, chromedp.Evaluate[bool](`document.querySelector('#time').checkVisibility()`)) {
						t.Errorf("%v: the slider of one week is visible", s)
					}
					continue
				}
				b.Do(t, browsertest.Until(`document.querySelector('.track path').getAttribute('d') !== null`))
				type bars struct{ Left, Right, Top, Bottom, Widest, Track float64 }
				shown := browsertest.Ask(t, b, chromedp.Evaluate[bars](`(() => {
					const path = document.querySelector('.track path'), r = path.getBoundingClientRect(), track = document.querySelector('.track').getBoundingClientRect();
					const unit = document.querySelector('.track svg').clientWidth / path.ownerSVGElement.viewBox.baseVal.width;
					const widths = [...path.getAttribute('d').matchAll(/h([\d.]+)/g)].map((m) => m[1] * unit);
					return {left: r.left - track.left, right: track.right - r.right, top: r.top - track.top, bottom: track.bottom - r.bottom, widest: Math.max(...widths), track: track.width};
				})()`))
				if shown.Left < 0 || shown.Right < 0 || shown.Top < 0 || shown.Bottom < 0 {
					t.Errorf("%v: the bars leave the track: %+v", s, shown)
				}
				if shown.Widest > shown.Track/40 || shown.Widest < 0.5 {
					t.Errorf("%v: a bar is %.1f px wide in a track of %.0f px", s, shown.Widest, shown.Track)
				}
			}
			b.WantNoProblems(t, base)
		})
	}
}

// With a card on a phone, the ring of the lake touches neither the legend nor the buttons, also below the notice of the demo.
func TestPageRingIsFree(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	for _, s := range testsize.Cases(1, []screen{{width: 390, height: 844, touch: true}, {width: 360, height: 640, touch: true}, {width: 640, height: 360, touch: true}}) {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			b := startBrowser(t, "en-GB")
			s.open(t, b, "light", base+"/")
			var status limnomaptest.Status
			limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/status", &status)
			for _, lake := range status.Lakes[:4] {
				b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void (location.hash = 'lake=%s')`, lake.ID)), cardOf(lake.Name), browsertest.Until(heatDrawn),
					chromedp.Evaluate[chromedp.Void](`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`, chromedp.EvalAwaitPromise))
				near := touching(t, b, lake.Lat, lake.Lon)
				for range 50 { // while the map moves
					if len(near) == 0 {
						break
					}
					time.Sleep(100 * time.Millisecond)
					near = touching(t, b, lake.Lat, lake.Lon)
				}
				if len(near) > 0 {
					t.Errorf("%q touch the ring of %s", near, lake.Name)
				}
			}
		})
	}
}

// touching returns what touches the ring of a selected lake.
func touching(t *testing.T, b *browsertest.Browser, lat, lon float64) []string {
	t.Helper()
	at := browsertest.Ask(t, b, chromedp.Evaluate[mapPosition](centreOfMap))
	world := 256 * math.Exp2(at.Zoom)
	down := func(lat float64) float64 { return -math.Asinh(math.Tan(lat*math.Pi/180)) / (2 * math.Pi) * world }
	return browsertest.Ask(t, b, chromedp.Evaluate[[]string](fmt.Sprintf(`(() => {
		const map = document.querySelector('#map').getBoundingClientRect();
		const [x, y, r] = [map.left + map.width / 2 + %v, map.top + map.height / 2 + %v, 18];
		return ['legend', 'controls'].filter((id) => {
			const e = document.querySelector('#' + id), box = e.getBoundingClientRect();
			return e.checkVisibility() && x + r > box.left && x - r < box.right && y + r > box.top && y - r < box.bottom;
		});
	})()`, (lon-at.Lon)/360*world, down(lat)-down(at.Lat))))
}
