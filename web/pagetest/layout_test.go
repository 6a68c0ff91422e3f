//go:build long

package pagetest

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
	"limnomap/web/browsertest"
)

// On a tablet, a phone and a desktop all lakes are in the part of the map that nothing covers, and in its middle. On a small phone that is the
// part above the lower edge of the screen.
func TestPageFirstViewIsCentred(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	var status limnomaptest.Status
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/status", &status)
	west, south, east, north := 180.0, 90.0, -180.0, -90.0
	for _, lake := range status.Lakes {
		west, east, south, north = min(west, lake.Lon), max(east, lake.Lon), min(south, lake.Lat), max(north, lake.Lat)
	}
	for _, s := range testsize.Cases(2, []screen{{width: 1440, height: 900}, {width: 390, height: 844, touch: true}, {width: 640, height: 360, touch: true}, {width: 820, height: 1180, touch: true}, {width: 360, height: 640, touch: true}}) {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			b := startBrowser(t, "en-GB")
			s.open(t, b, "light", base+"/")
			b.Do(t, browsertest.Until(`!document.querySelector('#time').hidden`), chromedp.Evaluate[chromedp.Void](`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`, chromedp.EvalAwaitPromise))
			at := browsertest.Ask(t, b, chromedp.Evaluate[mapPosition](centreOfMap))
			type size struct{ Width, Height, Seen, Legend, LegendWidth, Buttons float64 }
			m := browsertest.Ask(t, b, chromedp.Evaluate[size](`(() => {
				const [map, legend, buttons] = ['#map', '#legend', '#controls'].map((s) => document.querySelector(s).getBoundingClientRect());
				const seen = Math.min(map.bottom, innerHeight) - map.top;
				return {width: map.width, height: map.height, seen, legend: Math.max(0, seen - (legend.top - map.top)), legendWidth: legend.width, buttons: map.right - buttons.left};
			})()`))
			world := 256 * math.Exp2(at.Zoom)
			down := func(lat float64) float64 { return -math.Asinh(math.Tan(lat*math.Pi/180)) / (2 * math.Pi) * world }
			left, right := m.Width/2+(west-at.Lon)/360*world, m.Width/2+(east-at.Lon)/360*world
			top, bottom := m.Height/2+down(north)-down(at.Lat), m.Height/2+down(south)-down(at.Lat)
			if left < 8 || top < 8 || right > m.Width-8 || bottom > m.Seen-8 {
				t.Errorf("the lakes cover %.0f to %.0f and %.0f to %.0f px of a map of %.0f x %.0f px", left, right, top, bottom, m.Width, m.Seen)
			}
			if right > m.Width-m.LegendWidth && bottom > m.Seen-m.Legend {
				t.Errorf("the legend, %.0f px high, covers lakes, which reach %.0f of %.0f px", m.Legend, bottom, m.Seen)
			}
			if off := (left+right)/2 - m.Width/2; math.Abs(off) > m.Buttons/2+4 {
				t.Errorf("the lakes are %.0f px beside the middle of a map of %.0f px", off, m.Width)
			}
			if off := (top+bottom)/2 - m.Seen/2; math.Abs(off) > m.Legend/2+4 {
				t.Errorf("the lakes are %.0f px above or below the middle of a map of %.0f px", off, m.Seen)
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
					browsertest.Expect(t, b, `document.querySelector('#time').checkVisibility()`, false, "%v: the slider of one week is visible", s)
					continue
				}
				b.Do(t, browsertest.Until(`document.querySelector('.track path').getAttribute('d') !== null`))
				type bars struct{ Left, Right, Top, Bottom, Widest, Track float64 }
				shown := browsertest.Ask(t, b, chromedp.Evaluate[bars](`(() => {
					const path = [...document.querySelectorAll('.track path')].find((p) => p.getAttribute('d')), r = path.getBoundingClientRect(), track = document.querySelector('.track').getBoundingClientRect();
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

// A phone in landscape shows the verdict on a lake at the start, and the open list shows lakes.
func TestPageListOnALowScreen(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "de")
	screen{width: 844, height: 390, touch: true}.open(t, b, "light", base+"/")
	b.Do(t, browsertest.Until(nearestFive))
	browsertest.Expect(t, b, `document.querySelector('#find li .verdict').getBoundingClientRect().bottom <= innerHeight`, true, "at the start no verdict is in sight")
	screen{width: 640, height: 360, touch: true}.open(t, b, "light", base+"/")
	b.Do(t, chromedp.Click("[name=toggle]"), browsertest.Until(`document.querySelector('#find li')?.checkVisibility()`))
	browsertest.Expect(t, b, `(() => {
		const panel = document.querySelector('#panel').getBoundingClientRect();
		return [...document.querySelectorAll('#find li')].filter((li) => li.getBoundingClientRect().bottom <= Math.min(innerHeight, panel.bottom)).length >= 1;
	})()`, true, "no lake of the open list is visible as a whole")
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
