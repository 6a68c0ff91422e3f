package main

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A mapPlace is what the middle of the map shows, and at which zoom.
type mapPlace struct{ Zoom, Lat, Lon float64 }

// middleOfMap measures it from where a heat tile lies, not from what the page believes.
const middleOfMap = `(() => {
	const img = [...document.querySelectorAll('.heat img')].find((i) => i.isConnected);
	const [, z, x, y] = img.src.match(/tiles.(\d+).(\d+).(\d+)/).map(Number);
	const [tile, map] = [img, document.querySelector('#map')].map((e) => e.getBoundingClientRect());
	const across = (x + (map.left + map.width / 2 - tile.left) / tile.width) / 2 ** z;
	const down = (y + (map.top + map.height / 2 - tile.top) / tile.height) / 2 ** z;
	return {zoom: z + Math.log2(tile.width / 256), lon: across * 360 - 180,
		lat: Math.atan(Math.sinh(Math.PI * (1 - 2 * down))) * 180 / Math.PI};
})()`

func (p mapPlace) near(other mapPlace, pixels float64) bool {
	degrees := pixels * 360 / (256 * math.Exp2(p.Zoom))
	return math.Abs(p.Zoom-other.Zoom) < 0.01 && math.Abs(p.Lat-other.Lat) < degrees && math.Abs(p.Lon-other.Lon) < degrees
}

// startMap opens the page for somebody who wants no movement, so that the map is where it belongs at once.
func startMap(t *testing.T, language, url string, width, height int64, options ...chromedp.EmulateViewportOption) *browser {
	t.Helper()
	b := startBrowser(t, language)
	b.prefer(t, "reduced-motion", "reduce")
	b.do(t, chromedp.EmulateViewport(width, height, options...), chromedp.Navigate(url), chromedp.WaitVisible("#controls"), until(heatDrawn))
	return b
}

func button(label string) string { return fmt.Sprintf(`#controls button[aria-label=%q]`, label) }

func noProblems(t *testing.T, b *browser, base string) {
	t.Helper()
	for _, p := range b.problems(base) {
		t.Errorf("on the page: %s", p)
	}
}

func TestPageMapInTheAddress(t *testing.T) {
	base, _ := startServer(t, "--basemap-url", "none")
	b := startMap(t, "en", base+"/", 1280, 800)
	hash := chromedp.Evaluate[string](`location.hash`)
	place := chromedp.Evaluate[mapPlace](middleOfMap)
	first := ask(t, b, place)
	b.do(t, chromedp.EmulateViewport(1100, 780), until(`document.querySelector('#map').offsetWidth < 800`))
	if h := ask(t, b, hash); h != "" {
		t.Errorf("the address of a view that nobody chose bears %q", h)
	}
	// By its buttons, then by keys, and by the wheel of history back again.
	b.do(t, chromedp.Click(button("Zoom in")), until(`location.hash.startsWith('#map=7/') || location.hash.startsWith('#map=6/')`))
	in := ask(t, b, place)
	if in.Zoom <= first.Zoom {
		t.Errorf("closer the middle of the map is %+v, was %+v", in, first)
	}
	b.do(t, chromedp.EmulateViewport(1280, 800), until(`document.querySelector('#map').offsetWidth > 800`),
		until(fmt.Sprintf(`Math.abs(%s.lon - %v) < 0.05`, middleOfMap, in.Lon))) // once the map has heard of it
	if now := ask(t, b, place); !now.near(in, 2) {
		t.Errorf("in a larger window the middle of the map is %+v, was %+v", now, in)
	}
	b.do(t, chromedp.Focus("#map"))
	for _, step := range []struct{ key, becomes string }{
		{"-", "6"}, {"+", "7"}, {"-", "6"}, {"=", "7"}, {kb.ArrowRight, "7"}, {kb.ArrowUp, "7"},
	} {
		before := ask(t, b, hash)
		b.do(t, chromedp.KeyEvent(step.key), until(fmt.Sprintf(`location.hash !== %q && location.hash.startsWith('#map=%s/')`, before, step.becomes)))
	}
	moved := ask(t, b, place)
	if moved.Lon <= in.Lon || moved.Lat <= in.Lat {
		t.Errorf("after arrow right and up the middle is %+v, was %+v", moved, in)
	}
	var held mapPlace
	if _, err := fmt.Sscanf(ask(t, b, hash), "#map=%f/%f/%f", &held.Zoom, &held.Lat, &held.Lon); err != nil || !held.near(moved, 2) {
		t.Errorf("the address holds %+v (%v), the map shows %+v", held, err, moved)
	}
	// A link, a typed address and the back button move the map, and it does not write them anew.
	const there = "#map=9/47.9100/11.3100"
	b.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void (location.hash = %q)`, there)), until(`!!document.querySelector('.heat img[src*="tiles/9/"]')`))
	if now := ask(t, b, place); !now.near(mapPlace{9, 47.91, 11.31}, 2) {
		t.Errorf("the address %s shows %+v", there, now)
	}
	if h := ask(t, b, hash); h != there {
		t.Errorf("the address %s became %s by itself", there, h)
	}
	b.do(t, chromedp.Evaluate[chromedp.Void](`history.back()`), until(`!!document.querySelector('.heat img[src*="tiles/7/"]')`))
	if now := ask(t, b, place); !now.near(moved, 2) {
		t.Errorf("back again the map shows %+v, want %+v", now, moved)
	}
	b.do(t, chromedp.Navigate(base+"/?again"+there), chromedp.WaitVisible("#controls"), until(heatDrawn))
	if now := ask(t, b, place); !now.near(mapPlace{9, 47.91, 11.31}, 2) {
		t.Errorf("opened with the address %s the map shows %+v", there, now)
	}
	noProblems(t, b, base)
}

// The first view is that of the lake, or of the box that an embedded map is asked for.
func TestPageMapFirstView(t *testing.T) {
	base, _ := startServer(t, "--basemap-url", "none")
	var status statusAnswer
	getJSON(t, base+"/api/v1/bathing-lakes/status", &status)
	lake := status.Lakes[0]
	b := startMap(t, "en", base+"/#lake="+lake.ID, 1280, 800)
	place := chromedp.Evaluate[mapPlace](middleOfMap)
	if now := ask(t, b, place); !now.near(mapPlace{12, lake.Lat, lake.Lon}, 60) {
		t.Errorf("the link to %s at %v, %v shows %+v", lake.Name, lake.Lat, lake.Lon, now)
	}
	b.do(t, chromedp.Navigate(base+"/?bbox=13,52,14,53"), chromedp.WaitVisible("#controls"), until(heatDrawn))
	if now := ask(t, b, place); now.Zoom < 8 || math.Abs(now.Lat-52.5) > 0.5 || math.Abs(now.Lon-13.5) > 1 {
		t.Errorf("the box 13,52,14,53 is shown as %+v", now)
	}
	b.do(t, chromedp.Navigate(base+"/?bbox=13,53,14,nonsense"), chromedp.WaitVisible("#controls"), until(heatDrawn))
	if now := ask(t, b, place); now.Zoom != 6 {
		t.Errorf("a box that is none is shown as %+v, want all lakes at zoom 6", now)
	}
	noProblems(t, b, base)
}

// A lake that is chosen comes into sight, and stays there when its card takes room from the map.
func TestPageMapBringsTheLakeIntoSight(t *testing.T) {
	base, _ := startServer(t, "--basemap-url", "none")
	var status statusAnswer
	getJSON(t, base+"/api/v1/bathing-lakes/status", &status)
	b := startMap(t, "en", base+"/", 360, 640, chromedp.EmulateMobile, chromedp.EmulateTouch)
	south := status.Lakes[0]
	for _, lake := range status.Lakes {
		if lake.Lat < south.Lat {
			south = lake
		}
	}
	const away = "#map=9/54.5000/10.0000" // far from it
	b.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void (location.hash = '%s&lake=%s')`, away, south.ID)),
		chromedp.WaitVisible("#card"), until(`!location.hash.startsWith('`+away+`')`), until(`!!document.querySelector('.heat img[src*="tiles/11/"]')`))
	now := ask(t, b, chromedp.Evaluate[mapPlace](middleOfMap))
	type size struct{ Width, Height, Legend float64 }
	s := ask(t, b, chromedp.Evaluate[size](`(() => {
		const m = document.querySelector('#map'), l = document.querySelector('#map #legend');
		return {width: m.offsetWidth, height: m.offsetHeight, legend: l.offsetHeight};
	})()`))
	perPixel := 360 / (256 * math.Exp2(now.Zoom))
	x := (south.Lon-now.Lon)/perPixel + s.Width/2
	y := (now.Lat-south.Lat)/(perPixel*math.Cos(south.Lat*math.Pi/180)) + s.Height/2
	if x < 20 || x > s.Width-20 || y < 20 || y > s.Height-20 {
		t.Errorf("%s lies at %.0f, %.0f of a map of %+v", south.Name, x, y, s)
	}
	noProblems(t, b, base)
}

func TestPageMapLayers(t *testing.T) {
	base, _ := startServer(t, "--basemap-url", "none")
	b := startMap(t, "de-DE", base+"/#style=nonsense&opacity=3", 1280, 800)
	const shown = `document.querySelector('#layer-panel').checkVisibility()`
	if ask(t, b, chromedp.Evaluate[bool](shown)) {
		t.Error("the layers are open from the start")
	}
	b.do(t, chromedp.Focus(button("Was die Karte zeigt")), chromedp.KeyEvent(kb.Enter), until(shown))
	if !ask(t, b, chromedp.Evaluate[bool](`(() => {
		const r = document.querySelector('#layer-panel').getBoundingClientRect(), opener = document.querySelector('#layers').getBoundingClientRect();
		return r.left > 0 && r.top > 0 && r.bottom < innerHeight && r.right < opener.left && r.top < opener.bottom && r.bottom > opener.top;
	})()`)) {
		t.Error("the layers do not lie beside their button")
	}
	text := ask(t, b, chromedp.Text("#layer-panel"))
	for _, want := range []string{"Farbfläche", "Markierungen", "Gewässer", "Deckkraft", "20\u00a0%"} {
		if !strings.Contains(text, want) {
			t.Errorf("the layers lack %q: %q", want, text)
		}
	}
	const checked = `document.querySelector('#layer-panel [name=style]:checked').value`
	if style := ask(t, b, chromedp.Evaluate[string](checked)); style != "heat" {
		t.Errorf("with an unknown style in the address %q is chosen, want the usual one", style)
	}
	// Less than a fifth of the colour could pass for clean water.
	if hash := ask(t, b, chromedp.Evaluate[string](`location.hash`)); !strings.Contains(hash, "opacity=20") {
		t.Errorf("opacity=3 became %q, want 20", hash)
	}
	b.do(t,
		chromedp.Focus("#layer-panel [type=range]"),
		chromedp.KeyEvent(kb.ArrowRight),
		until(`location.hash.includes('opacity=25')`),
		until(`document.querySelector('#layer-panel [type=range]').ariaValueText === '25\u00a0%'`),
		chromedp.Click(`#layer-panel [value=lakes]`),
		until(`location.hash.includes('style=lakes')`),
		chromedp.Click(`#layer-panel [value=heat]`),
		until(`!location.hash.includes('style')`),
	)
	b.do(t, chromedp.Focus("#layer-panel [type=range]"), chromedp.KeyEvent(kb.Escape), until(`!`+shown),
		until(`document.activeElement.matches('#layers')`))
	noProblems(t, b, base)
}

// At the last zoom the button says that it does no more, and keeps the focus.
func TestPageMapZoomLimit(t *testing.T) {
	base, _ := startServer(t, "--basemap-url", "none", "--max-zoom", "8")
	b := startMap(t, "en", base+"/#map=7/52.5/13.4", 1280, 800)
	b.do(t, chromedp.Focus(button("Zoom in")), chromedp.KeyEvent(kb.Tab), until(`document.activeElement.matches('#zoom-out')`),
		until(`getComputedStyle(document.querySelector('#zoom-out'), '::after').display === 'block'`), chromedp.Focus(button("Zoom in")), // its name is shown
		chromedp.KeyEvent(kb.Enter), until(`document.activeElement.matches('#zoom-in[aria-disabled=true]')`),
		chromedp.KeyEvent(kb.Enter))
	if hash := ask(t, b, chromedp.Evaluate[string](`location.hash`)); !strings.HasPrefix(hash, "#map=8/") {
		t.Errorf("beyond the last zoom the address is %s", hash)
	}
	b.do(t, chromedp.Click(button("Zoom out")), until(`document.querySelector('#zoom-in').ariaDisabled === 'false'`))
	noProblems(t, b, base)
}

func TestPageMapPosition(t *testing.T) {
	base, _ := startServer(t, "--basemap-url", "none")
	b := startMap(t, "en", base+"/", 1280, 800)
	permit := func(setting cdpbrowser.PermissionSetting) {
		t.Helper()
		params := cdpbrowser.SetPermissionParams{Permission: &cdpbrowser.PermissionDescriptor{Name: "geolocation"}, Setting: setting, Origin: base}
		if _, err := chromedp.Call(b.ctx, cdpbrowser.SetPermission, params); err != nil {
			t.Fatal(err)
		}
	}
	stand := func(params emulation.SetGeolocationOverrideParams) {
		t.Helper()
		if _, err := chromedp.Call(b.ctx, emulation.SetGeolocationOverride, params); err != nil {
			t.Fatal(err)
		}
	}
	said := func(words string) chromedp.Action[chromedp.Void] {
		return until(fmt.Sprintf(`document.querySelector('#note [role=status]')?.textContent.includes(%q) === true`, words))
	}
	here := emulation.SetGeolocationOverrideParams{Latitude: new(52.438217), Longitude: new(13.650391), Accuracy: new(320.0)}
	stand(here)
	permit(cdpbrowser.PermissionSettingDenied)
	b.do(t, chromedp.Click(button("Show where I am")), said("does not tell this page where you are"),
		until(`document.querySelector('#locate').ariaBusy === 'false'`))
	if n := ask(t, b, chromedp.Evaluate[int](`document.querySelectorAll('.here-dot').length`)); n != 0 {
		t.Errorf("%d dots show a position that was refused", n)
	}
	permit(cdpbrowser.PermissionSettingGranted)
	stand(emulation.SetGeolocationOverrideParams{}) // nowhere
	b.do(t, chromedp.Click(button("Show where I am")), said("cannot be found"), until(`document.querySelector('#locate').ariaBusy === 'false'`))
	stand(here)
	b.do(t, chromedp.Click(button("Show where I am")), said("to within 320 m"), chromedp.WaitVisible(".here-dot"),
		until(`!!document.querySelector('.heat img[src*="tiles/12/"]')`))
	// The middle is near, but the address must not tell where exactly the reader stands.
	if hash := ask(t, b, chromedp.Evaluate[string](`location.hash`)); hash != "#map=12/52.4400/13.6500" {
		t.Errorf("the address is %s, want the position to a hundredth of a degree", hash)
	}
	type circle struct{ Dot, Area, OffX, OffY float64 }
	c := ask(t, b, chromedp.Evaluate[circle](`(() => {
		const [dot, area, map] = ['.here-dot', '.here-area', '#map'].map((s) => document.querySelector(s).getBoundingClientRect());
		return {dot: dot.width, area: area.width, offX: dot.left + dot.width / 2 - map.left - map.width / 2, offY: dot.top + dot.height / 2 - map.top - map.height / 2};
	})()`))
	metres := 40_075_016.7 * math.Cos(52.438*math.Pi/180) / (256 * math.Exp2(12)) // a pixel
	if math.Abs(c.Area-640/metres) > 4 {
		t.Errorf("the circle of 320 m around is %.1f px wide, want %.1f", c.Area, 640/metres)
	}
	if math.Abs(c.OffX-0.000391/360*256*4096) > 2 || math.Abs(c.OffY-(52.44-52.438217)*111_320/metres) > 2 {
		t.Errorf("the dot is %+v off the middle", c)
	}
	b.do(t, chromedp.Click("#note button"), chromedp.WaitNotVisible("#note button"), until(`document.activeElement.matches('#map')`))
	for _, stored := range ask(t, b, chromedp.Evaluate[[]string](`[...Object.values(localStorage), ...Object.values(sessionStorage), document.cookie]`)) {
		if strings.Contains(stored, "52.4") {
			t.Errorf("the position is stored: %s", stored)
		}
	}
	b.mu.Lock()
	for _, url := range b.requests {
		if strings.Contains(url, "52.438") || strings.Contains(url, "13.650") {
			t.Errorf("the position was sent: %s", url)
		}
	}
	b.mu.Unlock()
	noProblems(t, b, base)
}

// On the whole screen the page still says that the values are simulated, and of when they are.
func TestPageMapFullScreen(t *testing.T) {
	base, _ := startServer(t, "--basemap-url", "none")
	b := startMap(t, "en", base+"/", 1000, 700)
	const inside = `['#notice', '#date', '#map', '#legend', '#panel', '#limits'].every((s) => document.querySelector(':fullscreen ' + s)?.checkVisibility())`
	b.do(t, chromedp.Click(button("Full screen")), until(`document.querySelector('#full').ariaPressed === 'true'`), until(`document.fullscreenElement?.matches(':root') === true`), until(inside))
	if notice := ask(t, b, chromedp.Text(":fullscreen #notice")); !strings.Contains(notice, "imulated") {
		t.Errorf("in full screen the notice is %q", notice)
	}
	b.do(t, chromedp.Click(button("Full screen")), until(`!document.fullscreenElement`),
		until(`document.querySelector('#full').ariaPressed === 'false'`), chromedp.WaitVisible(button("Full screen")))
	noProblems(t, b, base)
}

// By day, by night and on paper the land keeps clear of the water, and the page says once that the basemap is away.
func TestPageMapColours(t *testing.T) {
	away := httptest.NewServer(http.NotFoundHandler())
	defer away.Close()
	base, _ := startServer(t, "--basemap-url", away.URL+"/{z}/{x}/{y}.png")
	b := startMap(t, "en", base+"/", 1280, 800)
	b.do(t, chromedp.WaitVisible(".leaflet-outlines-pane .germany"), until(`document.querySelector('#note [role=status]')?.textContent.includes('Outlines take its place') === true`))
	if said := ask(t, b, chromedp.Evaluate[string](`document.querySelector('#message').textContent`)); said != "" {
		t.Errorf("a missing basemap raises the alarm %q", said)
	}
	b.do(t, chromedp.Click("#note button"), chromedp.Click(button("Zoom in")), until(`!!document.querySelector('.heat img[src*="tiles/7/"]')`), until(heatDrawn))
	if said := ask(t, b, chromedp.Text("#note [role=status]")); said != "" {
		t.Errorf("the page says again %q", said)
	}
	colours := make(map[string]string)
	for _, media := range []string{"light", "dark", "print"} {
		params := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: media}}}
		if media == "print" { // from the night
			params = emulation.SetEmulatedMediaParams{Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}
		}
		if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, params); err != nil {
			t.Fatal(err)
		}
		colours[media] = ask(t, b, chromedp.Evaluate[string](`['.land', '.germany'].map((s) => getComputedStyle(document.querySelector(s)).fill).join() + getComputedStyle(document.querySelector('#map')).backgroundColor + getComputedStyle(document.querySelector('.basemap')).filter`))
	}
	if colours["light"] == colours["dark"] || colours["print"] != colours["light"] {
		t.Errorf("the colours of the map are %q, want other ones by night and those of the day on paper", colours)
	}
	for _, p := range b.problems(base) {
		if !strings.Contains(p, away.URL) {
			t.Errorf("on the page: %s", p)
		}
	}
}

func TestPageMapOnAPhone(t *testing.T) {
	base, _ := startServer(t, "--basemap-url", "none")
	b := startMap(t, "en", base+"/", 320, 640, chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch)
	type target struct {
		Name                     string
		Left, Right, Top, Bottom float64
	}
	targets := chromedp.Evaluate[[]target](`[...document.querySelectorAll('#controls > button')].map((e) => {
		const r = e.getBoundingClientRect(), m = document.querySelector('#map').getBoundingClientRect();
		return {name: e.ariaLabel, left: r.left - m.left, right: m.right - r.right, top: r.top - m.top, bottom: m.bottom - r.bottom};
	})`)
	type size struct{ Width, Height float64 }
	sizes := ask(t, b, chromedp.Evaluate[[]size](`[...document.querySelectorAll('#controls > button')].map((e) => ({width: e.offsetWidth, height: e.offsetHeight}))`))
	for i, r := range ask(t, b, targets) {
		if r.Left < 0 || r.Right < 0 || r.Top < 0 || r.Bottom < 0 {
			t.Errorf("%+v is not wholly on the map", r)
		}
		if sizes[i].Width < 40 || sizes[i].Height < 40 {
			t.Errorf("%s is %+v px, want 40 for a thumb", r.Name, sizes[i])
		}
	}
	b.do(t, chromedp.Click(button("What the map shows")), chromedp.WaitVisible("#layer-panel"))
	panel := ask(t, b, chromedp.Evaluate[target](`(() => {
		const r = document.querySelector('#layer-panel').getBoundingClientRect();
		return {left: r.left, right: innerWidth - r.right, top: r.top, bottom: innerHeight - r.bottom};
	})()`))
	if panel.Left < 0 || panel.Right < 0 || panel.Top < 0 || panel.Bottom < 0 {
		t.Errorf("the layers %+v are not wholly on the screen", panel)
	}
	if !ask(t, b, chromedp.Evaluate[bool](`(() => { // nothing lies above it
		const r = document.querySelector('#layer-panel').getBoundingClientRect();
		return document.elementFromPoint(r.left + 30, r.bottom - 12).closest('#layer-panel') !== null;
	})()`)) {
		t.Error("something covers the layers")
	}
	if width := ask(t, b, chromedp.Evaluate[int](`document.documentElement.scrollWidth`)); width > 320 {
		t.Errorf("the page is %d px wide on a phone of 320", width)
	}
	noProblems(t, b, base)
}

// Who wants no movement gets none.
func TestPageMapWithoutMovement(t *testing.T) {
	base, _ := startServer(t, "--basemap-url", "none")
	b := startBrowser(t, "en")
	const moving = `[...document.querySelectorAll('.leaflet-fade-anim, .leaflet-zoom-anim, .leaflet-pan-anim')].length > 0`
	for preference, want := range map[string]bool{"no-preference": true, "reduce": false} {
		b.prefer(t, "reduced-motion", preference)
		b.do(t, chromedp.Navigate(base+"/?"+preference), chromedp.WaitVisible("#controls"), until(heatDrawn), chromedp.Focus("#map"), chromedp.KeyEvent(kb.ArrowRight))
		if got := ask(t, b, chromedp.Evaluate[bool](moving)); got != want {
			t.Errorf("with %s the map moves: %v, want %v", preference, got, want)
		}
	}
	noProblems(t, b, base)
}

// On paper is what was on the screen: the map as large as the sheet allows, the legend unfolded, and nothing to press.
func TestPageMapPrinted(t *testing.T) {
	base, _ := startServer(t, "--basemap-url", "none", "--attribution", "Lake Agency")
	var status statusAnswer
	getJSON(t, base+"/api/v1/bathing-lakes/status", &status)
	b := startMap(t, "en", base+"/", 360, 640, chromedp.EmulateScale(2), chromedp.EmulateMobile)
	b.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void (location.hash = '#lake=%s')`, status.Lakes[0].ID)), chromedp.WaitVisible("#card"),
		until(`document.querySelectorAll('#card figure svg').length > 0`), until(`(() => { // the card is whole, and the map has found its place beside it
			const now = document.querySelector('#map').offsetHeight + [...document.querySelectorAll('.heat img')].map((i) => i.src).join();
			window.alike = window.seen === now ? window.alike + 1 : 0;
			window.seen = now;
			return window.alike > 30;
		})()`))
	place := chromedp.Evaluate[mapPlace](middleOfMap)
	seen := ask(t, b, place)
	const tiles = `[...document.querySelectorAll('.heat img')].map((i) => i.getAttribute('src')).sort().join()`
	before := ask(t, b, chromedp.Evaluate[string](tiles))
	emulate := func(media string) {
		t.Helper()
		params := emulation.SetEmulatedMediaParams{Media: media, Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}}
		if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, params); err != nil {
			t.Fatal(err)
		}
	}
	b.do(t, chromedp.Evaluate[chromedp.Void](`void window.dispatchEvent(new Event('beforeprint'))`))
	emulate("print")
	b.do(t, chromedp.EmulateViewport(703, 1031), until(`document.querySelector('main > #legend details')?.open === true`))
	for _, selector := range []string{"h1", "#date", "#notice", "#map", ".heat img", "#legend li", "#card h2", "#limits p", ".leaflet-control-attribution", ".leaflet-control-scale-line"} {
		if !ask(t, b, chromedp.Evaluate[bool](fmt.Sprintf(`document.querySelector(%q)?.checkVisibility() ?? false`, selector))) {
			t.Errorf("%s is not printed", selector)
		}
	}
	if left := ask(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll('button, input, select')].filter((e) => e.checkVisibility()).map((e) => e.outerHTML)`)); len(left) > 0 {
		t.Errorf("printed with what cannot be pressed on paper: %q", left)
	}
	if now := ask(t, b, chromedp.Evaluate[string](tiles)); now != before {
		t.Errorf("the printed map is of other tiles: %s, was %s", now, before)
	}
	type box struct{ Left, Right, Bottom float64 }
	if r := ask(t, b, chromedp.Evaluate[box](`(() => { const r = document.querySelector('#map').getBoundingClientRect(); return {left: r.left, right: r.right, bottom: r.bottom}; })()`)); r.Left < 0 || r.Right > 703 || r.Right-r.Left < 400 || r.Bottom > 1031 {
		t.Errorf("the map takes %+v of a sheet of 703 x 1031 px", r)
	}
	b.do(t, chromedp.EmulateViewport(360, 640, chromedp.EmulateScale(2), chromedp.EmulateMobile))
	emulate("")
	b.do(t, chromedp.Evaluate[chromedp.Void](`void window.dispatchEvent(new Event('afterprint'))`), until(`document.querySelector('#map #legend details')?.open === false`))
	sheets := func() int {
		t.Helper()
		sheet, err := chromedp.Call(b.ctx, page.PrintToPDF, page.PrintToPDFParams{PrintBackground: new(true), PreferCSSPageSize: new(true)})
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(sheet.Data, []byte("/Type /Page\n"))
	}
	if n := sheets(); n < 1 || n > 2 {
		t.Errorf("the map with a card takes %d sheets, want two at most", n)
	}
	b.do(t, until(fmt.Sprintf(`Math.abs(%s.lon - %v) < 0.05`, middleOfMap, seen.Lon))) // as it was
	b.do(t, chromedp.Evaluate[chromedp.Void](`void (location.hash = '')`), chromedp.WaitNotVisible("#card"))
	if n := sheets(); n != 1 {
		t.Errorf("the map takes %d sheets, want one", n)
	}
	b.do(t, until(`document.querySelector('#map #legend details')?.open === false`), chromedp.WaitVisible("#controls"))
	noProblems(t, b, base)
}
