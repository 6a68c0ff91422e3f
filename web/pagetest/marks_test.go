//go:build long

package pagetest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"limnomap/data/testsize"
	"limnomap/web/browsertest"
)

// marksLakes lie far apart, except the last three, two of which are next to a bloom. Their positions have four decimals, as
// in the address, so that they can be exactly in the centre of the map.
const marksLakes = `id,name,lat,lon,region
low,Klarsee,52.9000,14.1000,Brandenburg
medium,Mittelsee,53.1000,13.0000,Brandenburg
high,Grünsee,52.4000,13.6000,Berlin
none,Wolkensee,51.5000,12.0000,Sachsen
scum,Scumsee,50.5000,11.0000,Thüringen
aged,Altsee,49.5000,10.0000,Bayern
bloom,Blütensee,48.5000,9.0000,Bayern
clean,Reinsee,48.5030,9.0000,Bayern
blank,Leersee,48.4970,9.0000,Bayern
twin1,Zwillingssee,54.2000,9.2000,Schleswig-Holstein
twin2,Zwillingssee,54.2050,9.2000,Schleswig-Holstein
`

var marksDatabase database

func startMarks(t *testing.T) string {
	t.Helper()
	day := func(ago int) string { return time.Now().UTC().AddDate(0, 0, -ago).Format(time.DateOnly) }
	obs := "lake_id,date,chl,data_type,who_level\n"
	for _, o := range []struct {
		id    string
		ago   int
		chl   string
		level string
	}{
		{"low", 1, "3", ""}, {"medium", 1, "20", ""}, {"high", 1, "80", ""}, {"scum", 1, "3", "3"}, {"aged", 20, "80", ""},
		{"bloom", 1, "80", ""}, {"clean", 1, "3", ""}, {"none", 60, "3", ""}, {"low", 30, "80", ""}, {"twin1", 1, "3", ""}, {"twin2", 1, "3", ""},
	} {
		obs += fmt.Sprintf("%s,%s,%s,satellite,%s\n", o.id, day(o.ago), o.chl, o.level)
	}
	return startServer(t, "--db", marksDatabase.importedOnce(t, marksLakes, obs))
}

// pixel defines mark(x, y): the colour of the canvas at an offset in pixels from the centre of the map, "" where it is
// transparent, "pale" where more than half of what is below is seen. It reads a copy, because Chromium warns about a canvas that is both drawn and read.
const pixel = `window.mark = (x, y) => {
	const canvas = document.querySelector('.leaflet-marks-pane canvas');
	const map = document.querySelector('#map').getBoundingClientRect();
	const box = canvas.getBoundingClientRect();
	const ratio = canvas.width / box.width;
	const context = Object.assign(document.createElement('canvas'), {width: 1, height: 1}).getContext('2d');
	context.drawImage(canvas, Math.floor((Math.floor(map.width / 2) + map.left + x - box.left) * ratio),
		Math.floor((Math.floor(map.height / 2) + map.top + y - box.top) * ratio), 1, 1, 0, 0, 1, 1);
	const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
	return a === 0 ? '' : a < 128 ? 'pale' : 'rgb(' + [r, g, b].join(', ') + ')';
}, true`

// setHash sets the fragment and waits until the marks are drawn.
func setHash(t *testing.T, b *browsertest.Browser, hash string) {
	t.Helper()
	b.Do(t,
		chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void (location.hash = %q)`, hash)),
		// After two frames the change is drawn.
		chromedp.Evaluate[chromedp.Void](`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))`, chromedp.EvalAwaitPromise),
	)
}

func markAt(t *testing.T, b *browsertest.Browser, x, y int) string {
	t.Helper()
	return browsertest.Ask(t, b, chromedp.Evaluate[string](fmt.Sprintf(`mark(%d, %d)`, x, y)))
}

// Marks show the risk by colour and also by shape. A lake without a value is a grey ring.
func TestPageMarks(t *testing.T) {
	t.Parallel()
	base := startMarks(t)
	colours := legendColours(t, base)
	b := startBrowser(t, "en-GB")
	b.Prefer(t, "reduced-motion", "reduce")
	b.Do(t,
		chromedp.EmulateViewport(1280, 800),
		chromedp.Navigate(base+"/#map=14/52.4/13.6"),
		chromedp.WaitVisible("#legend"),
		chromedp.WaitReady(".leaflet-marks-pane canvas"),
		chromedp.Evaluate[chromedp.Void](pixel),
		browsertest.Until(`mark(-5, 0) !== ''`),
	)
	// Whether the body of the shape covers a pixel to the right, at the lower right, and at the upper left.
	probes := [3][2]int{{9, 0}, {8, 6}, {-6, -3}}
	for _, c := range []struct {
		lake, at, risk string
		body           [3]bool
	}{
		{"low", "52.9/14.1", "low", [3]bool{false, false, true}},
		{"medium", "53.1/13.0", "medium", [3]bool{false, true, false}},
		{"high", "52.4/13.6", "high", [3]bool{true, false, true}},
		{"scum in clear water", "50.5/11.0", "high", [3]bool{true, false, true}},
	} {
		setHash(t, b, "#map=14/"+c.at)
		for i, p := range probes {
			got := markAt(t, b, p[0], p[1])
			if in := slices.Contains(colours[c.risk], got); in != c.body[i] {
				t.Errorf("%s: %v px from its middle the mark is %q: body = %t, want %t", c.lake, p, got, in, c.body[i])
			}
		}
	}
	t.Run("no value", func(t *testing.T) {
		setHash(t, b, "#map=14/51.5/12.0")
		if got := markAt(t, b, -8, 0); got != "rgb(154, 160, 166)" {
			t.Errorf("the ring of a lake without a value is %q, want the grey of no data", got)
		}
		if got := markAt(t, b, -4, 0); got != "rgb(255, 255, 255)" {
			t.Errorf("inside the ring it is %q, want white", got)
		}
	})
	t.Run("an old value", func(t *testing.T) {
		setHash(t, b, "#map=14/49.5/10.0")
		got := markAt(t, b, -6, 0)
		var red, green, blue float64
		if _, err := fmt.Sscanf(got, "rgb(%f, %f, %f)", &red, &green, &blue); err != nil {
			t.Fatalf("the mark of an old value is %q", got)
		}
		if slices.Contains(colours["high"], got) || green < 100 || red < green+20 {
			t.Errorf("an old value of high risk is %s, want a pale red", got)
		}
		old := darkEdgePercent(t, b)
		setHash(t, b, "#map=14/52.4/13.6")
		if fresh := darkEdgePercent(t, b); old > fresh*3/4 || old < fresh/4 {
			t.Errorf("%d %% of the edge of an old value are dark and %d %% of a new one, want a dashed edge", old, fresh)
		}
	})
	t.Run("declutter", func(t *testing.T) { testDeclutter(t, b, colours) })
	t.Run("by zoom", func(t *testing.T) { testMarksByZoom(t, b, colours) })
	t.Run("labels", func(t *testing.T) { testLabels(t, b) })
	t.Run("selected", func(t *testing.T) { testSelected(t, b) })
	t.Run("updates", func(t *testing.T) { testUpdates(t, b, colours) })
	b.WantNoProblems(t, base)
}

// darkEdgePercent returns which percentage of the edge of the diamond in the centre of the map is dark.
func darkEdgePercent(t *testing.T, b *browsertest.Browser) int {
	t.Helper()
	return browsertest.Ask(t, b, chromedp.Evaluate[int](`(() => {
		let ink = 0;
		for (let i = 0; i < 100; i++) {
			const c = 11.4, k = (i % 25) / 25 * c;
			const [x, y] = [[k, k - c], [c - k, k], [-k, c - k], [k - c, -k]][Math.floor(i / 25)];
			if ([-1, 0, 1].some((d) => mark(x + d, y).match(/\d+/g)?.every((v) => v < 100))) ink++;
		}
		return ink;
	})()`))
}

// Where marks would overlap, the worst one keeps its size and nothing covers it. The others stay visible.
func testDeclutter(t *testing.T, b *browsertest.Browser, colours map[string][]string) {
	// There 333 m are 7 pixels.
	setHash(t, b, "#map=11/48.5/9.0")
	for _, p := range [][2]int{{-5, 0}, {5, 0}} {
		if got := markAt(t, b, p[0], p[1]); !slices.Contains(colours["high"], got) {
			t.Errorf("the bloom among its neighbours is %q at %v, want a colour of high risk", got, p)
		}
	}
	const seen = `(() => {
		const found = {};
		for (let x = -20; x <= 20; x++) for (let y = -20; y <= 20; y++) found[mark(x, y)] = (found[mark(x, y)] ?? 0) + 1;
		return found;
	})()`
	found := browsertest.Ask(t, b, chromedp.Evaluate[map[string]int](seen))
	low := 0
	for _, colour := range colours["low"] {
		low += found[colour]
	}
	if low < 4 {
		t.Errorf("%d pixels of the clean lake next to the bloom are visible, want a small mark: %v", low, found)
	}
	if grey := found["rgb(154, 160, 166)"]; grey < 4 {
		t.Errorf("%d pixels of the lake without a value next to the bloom are visible, want a small ring: %v", grey, found)
	}
}

// Zoomed out, only the worst lakes have marks, those of a filter and the selected one, and the heat map is seen through those of medium risk. All lakes can be opened.
func testMarksByZoom(t *testing.T, b *browsertest.Browser, colours map[string][]string) {
	for _, c := range []struct{ hash, risk string }{
		{"5/52.4/13.6", "high"}, {"7/50.5/11.0", "high"}, // the second by a report
		{"7/53.1/13.0", ""}, {"8/53.1/13.0", "pale"}, {"10/53.1/13.0", "pale"}, {"11/53.1/13.0", "medium"}, {"10/53.1/13.0&lake=medium", "medium"},
		{"10/52.9/14.1", ""}, {"11/52.9/14.1", "low"},
		{"8/51.5/12.0", ""}, {"9/51.5/12.0", "none"}, {"7/51.5/12.0&risk=none", "none"},
		{"6/53.1/13.0&risk=medium", "medium"}, {"6/53.1/13.0&risk=high", ""}, {"6/52.9/14.1&risk=nonsense", ""},
		{"6/52.9/14.1&lake=low", "low"}, {"6/52.9/14.1&style=lakes", ""}, {"6/50.5/11.0&style=dots", "high"},
	} {
		setHash(t, b, "#map="+c.hash)
		if c.risk == "none" {
			inside, ring := markAt(t, b, 0, 0), markAt(t, b, -2, 0)
			if !strings.HasPrefix(inside, "rgb(2") || inside <= ring {
				t.Errorf("at %s the mark is %q in its middle and %q beside it, want a ring that is light inside", c.hash, inside, ring)
			}
			continue
		}
		x, y := 0, 0
		if c.risk == "high" {
			x = -4 // beside its cross
		} else if strings.HasPrefix(c.hash, "11") {
			x, y = -5, 5 // below its sign
		}
		if got := markAt(t, b, x, y); got != c.risk && !slices.Contains(colours[c.risk], got) {
			t.Errorf("at %s the mark is %q, want the risk %q", c.hash, got, c.risk)
		}
	}
	setHash(t, b, "#map=7/53.1/13.0")
	m := middleOfMap(t, b)
	b.Do(t, browsertest.Hover(m.X+8, m.Y, `document.querySelector('.leaflet-tooltip')?.textContent.startsWith('Mittelsee') === true`),
		chromedp.MouseClickXY(m.X+8, m.Y), browsertest.Until(`location.hash.includes('lake=medium')`))
}

// From zoom 9 the marks have labels with the name, from zoom 11 with risk and value too. The selected lake has all at every zoom.
func testLabels(t *testing.T, b *browsertest.Browser) {
	b.Do(t, chromedp.Evaluate[chromedp.Void](`(() => {
		const write = CanvasRenderingContext2D.prototype.fillText;
		window.written = [];
		CanvasRenderingContext2D.prototype.fillText = function (...args) {
			if (this.canvas.closest('.leaflet-marks-pane')) window.written.push(args[0]); // another canvas names towns
			return write.apply(this, args);
		};
	})()`))
	for at, want := range map[string][]string{
		"12/52.4/13.6":         {"Grünsee", "high, 80\u00a0µg/l"},
		"11/51.5/12.0":         {"Wolkensee", "no value"},
		"12/49.5/10.0":         {"Altsee", "high, 80\u00a0µg/l, old"},
		"10/49.5/10.0":         {"Altsee"},
		"9/49.5/10.0":          {"Altsee"},
		"9/51.5/12.0":          {}, // only lakes that are worse than low have names there
		"8/49.5/10.0":          {},
		"5/49.5/10.0&lake=low": {"Klarsee", "low, 3\u00a0µg/l"},
	} {
		b.Do(t, chromedp.Evaluate[chromedp.Void](`void (window.written = [])`))
		setHash(t, b, "#map="+at)
		written := browsertest.Ask(t, b, chromedp.Evaluate[[]string](`[...new Set(written)]`))
		values := slices.ContainsFunc(written, func(text string) bool { return strings.Contains(text, "µg/l") })
		if len(want) == 0 && len(written) > 0 || len(want) == 1 && values {
			t.Errorf("at %s the labels are %q, want %q", at, written, want)
		}
		for _, w := range want {
			if !slices.Contains(written, w) {
				t.Errorf("at %s the labels are %q, want %q", at, written, w)
			}
		}
	}
}

// A lake can be hit 12 px next to its centre. The mouse shows its name, and the selected lake has a ring.
func testSelected(t *testing.T, b *browsertest.Browser) {
	for i, off := range [][2]float64{{12, 0}, {-12, 0}, {0, 12}, {0, -12}} {
		setHash(t, b, fmt.Sprintf("#map=%d/53.1/13.0", 10+i))
		m := middleOfMap(t, b)
		b.Do(t, browsertest.Hover(m.X+off[0], m.Y+off[1], `document.querySelector('.leaflet-tooltip') !== null`))
		if tip := browsertest.Ask(t, b, chromedp.Text(".leaflet-tooltip")); tip != "Mittelsee: Medium risk, 20\u00a0µg/l" {
			t.Errorf("the tooltip = %q", tip)
		}
		browsertest.Want(t, b, `getComputedStyle(document.querySelector('#map')).cursor`, "pointer", "on a lake the cursor is")
		b.Do(t, chromedp.MouseClickXY(m.X+off[0], m.Y+off[1]), browsertest.Until(`location.hash.includes('lake=medium')`))
	}
	setHash(t, b, "#map=11/53.1/13.0&lake=medium")
	if got := markAt(t, b, 0, 15); got != "rgb(29, 35, 40)" {
		t.Errorf("15 px below the selected lake the colour is %q, want a dark ring", got)
	}
	b.Prefer(t, "color-scheme", "dark")
	b.Do(t, browsertest.Until(`mark(0, 15) === 'rgb(232, 236, 239)'`)) // the ring has the colour of the dark scheme
	b.Prefer(t, "color-scheme", "light")
	setHash(t, b, "#map=11/53.1/13.0")
	if got := markAt(t, b, 0, 15); got == "rgb(29, 35, 40)" {
		t.Error("a lake that is no longer selected still has its ring")
	}
}

// The marks follow the filter, the week and the style.
func testUpdates(t *testing.T, b *browsertest.Browser, colours map[string][]string) {
	const low = "#map=14/52.9/14.1"
	setHash(t, b, low+"&risk=high,none")
	if got := markAt(t, b, -5, -3); got != "" {
		t.Errorf("with a filter for high risk, a lake of low risk is %q", got)
	}
	setHash(t, b, low+"&style=dots")
	if got := markAt(t, b, -5, -3); got != "" {
		t.Errorf("with the style dots a lake has a second mark: %q", got)
	}
	setHash(t, b, "#map=14/50.5/11.0&style=dots")
	if got := markAt(t, b, -6, -3); !slices.Contains(colours["high"], got) {
		t.Errorf("with the style dots, scum in clear water is %q, want a colour of high risk", got)
	}
	setHash(t, b, low+"&style=lakes")
	if got := markAt(t, b, -6, -3); !slices.Contains(colours["low"], got) {
		t.Errorf("with the style lakes a lake of low risk is %q", got)
	}
	then := time.Now().UTC().AddDate(0, 0, -30).Format(time.DateOnly)
	setHash(t, b, low+"&date="+then)
	b.Do(t, browsertest.Until(fmt.Sprintf(`%s.includes(mark(9, 0))`, quoted(colours["high"])))) // a bloom in that week
}

func quoted(list []string) string { return `["` + strings.Join(list, `","`) + `"]` }

// On a phone a lake can be hit by touch, and the marks have the resolution of the screen.
func TestPageMarksOnAPhone(t *testing.T) {
	t.Parallel()
	base := startMarks(t)
	b := startBrowser(t, "de")
	b.Do(t,
		chromedp.EmulateViewport(320, 640, chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch),
		chromedp.Navigate(base+"/#map=11/53.1/13.0"),
		chromedp.WaitReady(".leaflet-marks-pane canvas"),
		chromedp.Evaluate[chromedp.Void](pixel),
		browsertest.Until(`mark(-4, 4) !== ''`),
	)
	if ratio := browsertest.Ask(t, b, chromedp.Evaluate[float64](`(() => {
		const c = document.querySelector('.leaflet-marks-pane canvas');
		return c.width / parseFloat(c.style.width);
	})()`)); math.Abs(ratio-2) > 0.01 {
		t.Errorf("the marks have %v pixels per point on a screen of 2", ratio)
	}
	m := middleOfMap(t, b)
	m.X += 12
	for _, touch := range []input.DispatchTouchEventParams{
		{Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: m.X, Y: m.Y}}},
		{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}},
	} {
		browsertest.Enable(t, b, input.DispatchTouchEvent, touch)
	}
	b.Do(t, browsertest.Until(`location.hash.includes('lake=medium')`))
	if tips := browsertest.Ask(t, b, chromedp.Evaluate[int](`document.querySelectorAll('.leaflet-tooltip').length`)); tips != 0 {
		t.Error("touch opened a tooltip")
	}
	b.WantNoProblems(t, base)
}

// A click among lakes that have no mark yet zooms in, until one can be meant.
func TestPageClickAmongLakes(t *testing.T) {
	t.Parallel()
	base := startMarks(t)
	b := openPage(t, "en-GB", base+"/#map=7/54.2025/9.2", browsertest.Until(`!document.querySelector('#find').hidden`))
	b.Prefer(t, "reduced-motion", "reduce")
	for _, zoom := range []string{"9", "11"} {
		m := middleOfMap(t, b)
		b.Do(t, chromedp.MouseClickXY(m.X, m.Y), browsertest.Until(fmt.Sprintf(`location.hash.startsWith('#map=%s/') && !location.hash.includes('lake')`, zoom)))
	}
	m := middleOfMap(t, b)
	b.Do(t, chromedp.MouseClickXY(m.X, m.Y), browsertest.Until(`location.hash.includes('lake=twin')`))
	b.WantNoProblems(t, base)
}

// While the map zooms, the canvas of the marks is scaled around the same point as the map.
func TestPageMarksZoom(t *testing.T) {
	t.Parallel()
	base := startMarks(t)
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/#map=9/52.4/13.6"), chromedp.WaitReady(".leaflet-marks-pane canvas"),
		chromedp.WaitVisible("#controls"), browsertest.Until(heatDrawn))
	type zoomed struct{ Scale, OffX, OffY float64 }
	for button, want := range map[string]float64{"#zoom-in": 2, "#zoom-out": 0.5} {
		// A finished transition has its final geometry before Leaflet hears of its end.
		got := browsertest.Ask(t, b, chromedp.Evaluate[zoomed](fmt.Sprintf(`new Promise((done) => {
			const [map, canvas] = ['#map', '.leaflet-marks-pane canvas'].map((s) => document.querySelector(s));
			const width = canvas.getBoundingClientRect().width;
			const look = () => {
				if (!document.querySelector('.leaflet-zoom-anim')) return requestAnimationFrame(look);
				document.getAnimations().forEach((a) => a.finish());
				const [m, c] = [map, canvas].map((e) => e.getBoundingClientRect());
				done({scale: c.width / width, offX: c.left + c.width / 2 - m.left - m.width / 2, offY: c.top + c.height / 2 - m.top - m.height / 2});
			};
			document.querySelector(%q).click();
			look();
		})`, button), chromedp.EvalAwaitPromise))
		if math.Abs(got.Scale-want) > 0.01 || math.Abs(got.OffX) > 2 || math.Abs(got.OffY) > 2 {
			t.Errorf("%s: the canvas is scaled by %v with its centre at an offset of %v, %v, want %v, 0, 0", button, got.Scale, got.OffX, got.OffY, want)
		}
		b.Do(t, browsertest.Until(`!document.querySelector('.leaflet-zoom-anim')`))
	}
	b.WantNoProblems(t, base)
}

// The legend shows the classes of the API, with symbols and limits, for each profile.
func TestPageLegend(t *testing.T) {
	t.Parallel()
	for _, c := range testsize.Cases(3, []struct {
		profile, language string
		width             int64
		says              []string
	}{
		{"who2003", "en-GB", 1600, []string{"Chlorophyll-a, µg/l", "Low risk: below 10", "High risk: 50 or more", "WHO 2003", "No current value", "Older than two weeks", "farther from a lake, not cleaner", "no forecasts", "symbols of all lakes"}},
		{"who2021", "de", 1599, []string{"gering", "mittel", "hoch", "kein Wert"}},
		{"who2021", "de", 1920, []string{"Mittleres Risiko: über 12 bis 24", "WHO 2021", "Kein aktueller Wert", "Älter als zwei Wochen", "Blasse Farbe", "keine Vorhersagen", "Zeichen aller Seen"}},
		{"uba2015", "de", 320, []string{"gering", "mittel", "hoch", "kein Wert"}},
	}) {
		t.Run(fmt.Sprintf("%s at %d px", c.profile, c.width), func(t *testing.T) {
			t.Parallel()
			base := startServer(t, "--profile", c.profile)
			b := startBrowser(t, c.language)
			b.Do(t, chromedp.EmulateViewport(c.width, 640), chromedp.Navigate(base+"/"), chromedp.WaitVisible("#legend"))
			checkLegend(t, b, c.says...)
			const symbols = `[...document.querySelectorAll('#legend li:not([hidden]) .symbol')].map((s) => s.classList.value.replace('symbol ', ''))`
			if got, want := browsertest.Ask(t, b, chromedp.Evaluate[[]string](symbols)), []string{"low", "medium", "high", "none", "high old"}; !slices.Equal(got, want) {
				t.Errorf("the symbols of the legend are %q, want %q", got, want)
			}
			browsertest.Want(t, b, `document.querySelector('#legend details').open`, (c.width >= 1600), "on a page of %d px the legend is open", c.width)
			b.Do(t, chromedp.Evaluate[chromedp.Void](`void (document.querySelector('#legend details').open = true)`))
			const nearness = `[...document.querySelectorAll('#legend p')].filter((p) => p.checkVisibility()).length`
			heat := browsertest.Ask(t, b, chromedp.Evaluate[int](nearness))
			setHash(t, b, "#style=lakes")
			browsertest.Want(t, b, nearness, heat-1, "the legend has %d notes for the style heat and", heat)
			b.WantNoProblems(t, base)
		})
	}
}
