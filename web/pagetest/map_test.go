//go:build long

package pagetest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

func (p mapPosition) near(other mapPosition, pixels float64) bool {
	degrees := pixels * 360 / (256 * math.Exp2(p.Zoom))
	return math.Abs(p.Zoom-other.Zoom) < 0.01 && math.Abs(p.Lat-other.Lat) < degrees && math.Abs(p.Lon-other.Lon) < degrees
}

// startMap opens the page with reduced motion, so that the map moves at once.
func startMap(t *testing.T, language, url string, width, height int64, options ...chromedp.EmulateViewportOption) *browsertest.Browser {
	t.Helper()
	b := startBrowser(t, language)
	b.Prefer(t, "reduced-motion", "reduce")
	b.Do(t, chromedp.EmulateViewport(width, height, options...), chromedp.Navigate(url), chromedp.WaitVisible("#controls"), browsertest.Until(heatDrawn))
	return b
}

func button(label string) string { return fmt.Sprintf(`#controls button[aria-label=%q]`, label) }

func TestPageMapInTheAddress(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startMap(t, "en-GB", base+"/", 1280, 800)
	hash := chromedp.Evaluate[string](`location.hash`)
	place := chromedp.Evaluate[mapPosition](centreOfMap)
	first := browsertest.Ask(t, b, place)
	b.Do(t, chromedp.EmulateViewport(1100, 780), browsertest.Until(`document.querySelector('#map').offsetWidth < 800`))
	if h := browsertest.Ask(t, b, hash); h != "" {
		t.Errorf("the fragment of the first view is %q, want none", h)
	}
	// With the buttons, with keys, and with the history.
	b.Do(t, chromedp.Click(button("Zoom in")), browsertest.Until(`location.hash.startsWith('#map=7/') || location.hash.startsWith('#map=6/')`))
	in := browsertest.Ask(t, b, place)
	if in.Zoom <= first.Zoom {
		t.Errorf("after zooming in the map is at %+v, was %+v", in, first)
	}
	b.Do(t, chromedp.EmulateViewport(1280, 800), browsertest.Until(`document.querySelector('#map').offsetWidth > 800`),
		browsertest.Until(fmt.Sprintf(`Math.abs(%s.lon - %v) < 0.05`, centreOfMap, in.Lon))) // once the map has its new size
	if now := browsertest.Ask(t, b, place); !now.near(in, 2) {
		t.Errorf("in a larger window the map is at %+v, was %+v", now, in)
	}
	b.Do(t, chromedp.Focus("#map"))
	for _, step := range []struct{ key, becomes string }{
		{"-", "6"}, {"+", "7"}, {"-", "6"}, {"=", "7"}, {kb.ArrowRight, "7"}, {kb.ArrowUp, "7"},
	} {
		before := browsertest.Ask(t, b, hash)
		b.Do(t, chromedp.KeyEvent(step.key), browsertest.Until(fmt.Sprintf(`location.hash !== %q && location.hash.startsWith('#map=%s/')`, before, step.becomes)))
	}
	moved := browsertest.Ask(t, b, place)
	if moved.Lon <= in.Lon || moved.Lat <= in.Lat {
		t.Errorf("after arrow right and up the map is at %+v, was %+v", moved, in)
	}
	var held mapPosition
	if _, err := fmt.Sscanf(browsertest.Ask(t, b, hash), "#map=%f/%f/%f", &held.Zoom, &held.Lat, &held.Lon); err != nil || !held.near(moved, 2) {
		t.Errorf("the address holds %+v (%v), the map shows %+v", held, err, moved)
	}
	// A link, a typed address and the back button move the map, and the page does not change these addresses.
	const there = "#map=9/47.9100/11.3100"
	b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void (location.hash = %q)`, there)), browsertest.Until(`!!document.querySelector('.heatmap img[src*="tiles/9/"]')`))
	if now := browsertest.Ask(t, b, place); !now.near(mapPosition{9, 47.91, 11.31}, 2) {
		t.Errorf("the address %s shows %+v", there, now)
	}
	if h := browsertest.Ask(t, b, hash); h != there {
		t.Errorf("the address %s became %s", there, h)
	}
	b.Do(t, chromedp.Evaluate[chromedp.Void](`history.back()`), browsertest.Until(`!!document.querySelector('.heatmap img[src*="tiles/7/"]')`))
	if now := browsertest.Ask(t, b, place); !now.near(moved, 2) {
		t.Errorf("after going back the map shows %+v, want %+v", now, moved)
	}
	b.Do(t, chromedp.Navigate(base+"/?again"+there), chromedp.WaitVisible("#controls"), browsertest.Until(heatDrawn))
	if now := browsertest.Ask(t, b, place); !now.near(mapPosition{9, 47.91, 11.31}, 2) {
		t.Errorf("opened with the address %s the map shows %+v", there, now)
	}
	b.WantNoProblems(t, base)
}

// The first view shows the lake or the bbox of the address.
func TestPageMapFirstView(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	var status limnomaptest.Status
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/status", &status)
	lake := status.Lakes[0]
	b := startMap(t, "en-GB", base+"/#lake="+lake.ID, 1280, 800)
	place := chromedp.Evaluate[mapPosition](centreOfMap)
	if now := browsertest.Ask(t, b, place); !now.near(mapPosition{12, lake.Lat, lake.Lon}, 60) {
		t.Errorf("the link to %s at %v, %v shows %+v", lake.Name, lake.Lat, lake.Lon, now)
	}
	b.Do(t, chromedp.Navigate(base+"/?bbox=13,52,14,53"), chromedp.WaitVisible("#controls"), browsertest.Until(heatDrawn))
	if now := browsertest.Ask(t, b, place); now.Zoom < 8 || math.Abs(now.Lat-52.5) > 0.5 || math.Abs(now.Lon-13.5) > 1 {
		t.Errorf("the box 13,52,14,53 is shown as %+v", now)
	}
	b.Do(t, chromedp.Navigate(base+"/?bbox=13,53,14,nonsense"), chromedp.WaitVisible("#controls"), browsertest.Until(heatDrawn))
	if now := browsertest.Ask(t, b, place); now.Zoom != 6 {
		t.Errorf("with an invalid bbox the map shows %+v, want zoom 6", now)
	}
	b.WantNoProblems(t, base)
}

// A selected lake moves into the visible part of the map, and stays visible when its card takes room.
func TestPageMapPansToLake(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	var status limnomaptest.Status
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/status", &status)
	b := startMap(t, "en-GB", base+"/", 360, 640, chromedp.EmulateMobile, chromedp.EmulateTouch)
	south := status.Lakes[0]
	for _, lake := range status.Lakes {
		if lake.Lat < south.Lat {
			south = lake
		}
	}
	const away = "#map=9/54.5000/10.0000" // far from the lake
	b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void (location.hash = '%s&lake=%s')`, away, south.ID)),
		chromedp.WaitVisible("#card"), browsertest.Until(`!location.hash.startsWith('`+away+`')`), browsertest.Until(`!!document.querySelector('.heatmap img[src*="tiles/11/"]')`))
	now := browsertest.Ask(t, b, chromedp.Evaluate[mapPosition](centreOfMap))
	type size struct{ Width, Height, Legend float64 }
	s := browsertest.Ask(t, b, chromedp.Evaluate[size](`(() => {
		const m = document.querySelector('#map'), l = document.querySelector('#map #legend');
		return {width: m.offsetWidth, height: m.offsetHeight, legend: l.offsetHeight};
	})()`))
	perPixel := 360 / (256 * math.Exp2(now.Zoom))
	x := (south.Lon-now.Lon)/perPixel + s.Width/2
	y := (now.Lat-south.Lat)/(perPixel*math.Cos(south.Lat*math.Pi/180)) + s.Height/2
	if x < 20 || x > s.Width-20 || y < 20 || y > s.Height-20 {
		t.Errorf("%s lies at %.0f, %.0f of a map of %+v", south.Name, x, y, s)
	}
	b.WantNoProblems(t, base)
}

func TestPageMapLayers(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startMap(t, "de", base+"/#style=nonsense&opacity=3", 1280, 800)
	const shown = `document.querySelector('#layer-panel').checkVisibility()`
	browsertest.Expect(t, b, shown, false, "the layer panel is open at the start")
	b.Do(t, chromedp.Focus(button("Was die Karte zeigt")), chromedp.KeyEvent(kb.Enter), browsertest.Until(shown))
	browsertest.Expect(t, b, `(() => {
		const r = document.querySelector('#layer-panel').getBoundingClientRect(), opener = document.querySelector('#layers').getBoundingClientRect();
		return r.left > 0 && r.top > 0 && r.bottom < innerHeight && r.right < opener.left && r.top < opener.bottom && r.bottom > opener.top;
	})()`, true, "the layer panel is not next to its button")
	text := browsertest.Ask(t, b, chromedp.Text("#layer-panel"))
	for _, want := range []string{"Farbfläche", "Markierungen", "Gewässer", "Farben", "Limno: ein Farbton je Klasse, dunkel ist viel", "Viridis", "Deckkraft", "20\u00a0%"} {
		if !strings.Contains(text, want) {
			t.Errorf("the layer panel lacks %q: %q", want, text)
		}
	}
	browsertest.Expect(t, b, `[...document.querySelectorAll('#layer-panel :is(select, input)')].every((e) => e.getBoundingClientRect().right < document.querySelector('#layer-panel').getBoundingClientRect().right)`, true, "the layer panel is narrower than its fields")
	const checked = `document.querySelector('#layer-panel [name=style]:checked').value`
	browsertest.Want(t, b, checked, "heat", "with an unknown style in the address")
	// With less than 20 % a bloom could look like clean water.
	browsertest.WantText(t, b, chromedp.Evaluate[string](`location.hash`), "opacity=3 became", "opacity=20")
	b.Do(t,
		chromedp.Focus("#layer-panel [type=range]"),
		chromedp.KeyEvent(kb.ArrowRight),
		browsertest.Until(`location.hash.includes('opacity=25')`),
		browsertest.Until(`document.querySelector('#layer-panel [type=range]').ariaValueText === '25\u00a0%'`),
		chromedp.Click(`#layer-panel [value=lakes]`),
		browsertest.Until(`location.hash.includes('style=lakes')`),
		chromedp.Click(`#layer-panel [value=heat]`),
		browsertest.Until(`!location.hash.includes('style')`),
	)
	b.Do(t, chromedp.Focus("#layer-panel [type=range]"), chromedp.KeyEvent(kb.Escape), browsertest.Until(`!`+shown),
		browsertest.Until(`document.activeElement.matches('#layers')`))
	b.WantNoProblems(t, base)
}

// At the maximum zoom the button is disabled but keeps the focus.
func TestPageMapZoomLimit(t *testing.T) {
	t.Parallel()
	base := startServer(t, "--max-zoom", "8")
	b := startMap(t, "en-GB", base+"/#map=7/52.5/13.4", 1280, 800)
	b.Do(t, chromedp.Focus(button("Zoom in")), chromedp.KeyEvent(kb.Tab), browsertest.Until(`document.activeElement.matches('#zoom-out')`),
		browsertest.Until(`getComputedStyle(document.querySelector('#zoom-out'), '::after').display === 'block'`), chromedp.Focus(button("Zoom in")), // shows its name
		chromedp.KeyEvent(kb.Enter), browsertest.Until(`document.activeElement.matches('#zoom-in[aria-disabled=true]')`),
		chromedp.KeyEvent(kb.Enter))
	if hash := browsertest.Ask(t, b, chromedp.Evaluate[string](`location.hash`)); !strings.HasPrefix(hash, "#map=8/") {
		t.Errorf("after zooming in at the maximum zoom the address is %s", hash)
	}
	b.Do(t, chromedp.Click(button("Zoom out")), browsertest.Until(`document.querySelector('#zoom-in').ariaDisabled === 'false'`))
	b.WantNoProblems(t, base)
}

func TestPageMapPosition(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startMap(t, "en-GB", base+"/", 1280, 800)
	permit := func(setting cdpbrowser.PermissionSetting) {
		t.Helper()
		params := cdpbrowser.SetPermissionParams{Permission: &cdpbrowser.PermissionDescriptor{Name: "geolocation"}, Setting: setting, Origin: base, BrowserContextID: chromedp.FromContext(b.Ctx).BrowserContextID}
		browsertest.Enable(t, b, cdpbrowser.SetPermission, params)
	}
	stand := func(params emulation.SetGeolocationOverrideParams) {
		t.Helper()
		browsertest.Enable(t, b, emulation.SetGeolocationOverride, params)
	}
	said := func(words string) chromedp.Action[chromedp.Void] {
		return browsertest.Until(fmt.Sprintf(`document.querySelector('#toast [role=status]')?.textContent.includes(%q) === true`, words))
	}
	here := emulation.SetGeolocationOverrideParams{Latitude: new(52.438217), Longitude: new(13.650391), Accuracy: new(320.0)}
	stand(here)
	permit(cdpbrowser.PermissionSettingDenied)
	b.Do(t, chromedp.Click(button("Show my position")), said("does not give this page your position"),
		browsertest.Until(`document.querySelector('#locate').ariaBusy === 'false'`))
	browsertest.Want(t, b, `document.querySelectorAll('.position-dot').length`, 0, "it")
	permit(cdpbrowser.PermissionSettingGranted)
	stand(emulation.SetGeolocationOverrideParams{}) // no position
	b.Do(t, chromedp.Click(button("Show my position")), said("cannot be found"), browsertest.Until(`document.querySelector('#locate').ariaBusy === 'false'`))
	stand(here)
	b.Do(t, chromedp.Click(button("Show my position")), said("to within 320 m"), chromedp.WaitVisible(".position-dot"),
		browsertest.Until(`!!document.querySelector('.heatmap img[src*="tiles/12/"]')`))
	// The address must not contain the exact position of the user.
	browsertest.Want(t, b, `location.hash`, "#map=12/52.4400/13.6500", "the address is")
	type circle struct{ Dot, Area, OffX, OffY float64 }
	c := browsertest.Ask(t, b, chromedp.Evaluate[circle](`(() => {
		const [dot, area, map] = ['.position-dot', '.position-area', '#map'].map((s) => document.querySelector(s).getBoundingClientRect());
		return {dot: dot.width, area: area.width, offX: dot.left + dot.width / 2 - map.left - map.width / 2, offY: dot.top + dot.height / 2 - map.top - map.height / 2};
	})()`))
	metres := 40_075_016.7 * math.Cos(52.438*math.Pi/180) / (256 * math.Exp2(12)) // metres per pixel
	if math.Abs(c.Area-640/metres) > 4 {
		t.Errorf("the circle of 320 m around is %.1f px wide, want %.1f", c.Area, 640/metres)
	}
	if math.Abs(c.OffX-0.000391/360*256*4096) > 2 || math.Abs(c.OffY-(52.44-52.438217)*111_320/metres) > 2 {
		t.Errorf("the dot is at an offset of %+v", c)
	}
	b.Do(t, closeToast, chromedp.WaitNotVisible("#toast button"), browsertest.Until(`document.activeElement.matches('#map')`))
	for _, stored := range browsertest.Ask(t, b, chromedp.Evaluate[[]string](`[...Object.values(localStorage), ...Object.values(sessionStorage), document.cookie]`)) {
		if strings.Contains(stored, "52.4") {
			t.Errorf("the position is stored: %s", stored)
		}
	}
	// Who has asked for it begins there on the next visit, unless the address says what to show.
	b.Do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(base+"/"), said("to within 320 m"), chromedp.WaitVisible(".position-dot"))
	b.Do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(base+"/#map=7/48/11"), browsertest.Until(heatDrawn), browsertest.Until(listReady))
	browsertest.Want(t, b, `document.querySelectorAll('.position-dot').length`, 0, "at the position of an address the page")
	for _, url := range b.Requests() {
		if strings.Contains(url, "52.438") || strings.Contains(url, "13.650") {
			t.Errorf("the position was sent: %s", url)
		}
	}
	b.WantNoProblems(t, base, "about:blank")
}

// A permission alone, which may have been given for another page of the site, does not move the map: only who has pressed a button on an
// earlier visit begins at the position.
func TestPageMapPositionNeedsAPress(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "en-GB")
	b.Prefer(t, "reduced-motion", "reduce")
	b.Do(t, chromedp.EmulateViewport(390, 844))
	params := cdpbrowser.SetPermissionParams{Permission: &cdpbrowser.PermissionDescriptor{Name: "geolocation"}, Setting: cdpbrowser.PermissionSettingGranted, Origin: base, BrowserContextID: chromedp.FromContext(b.Ctx).BrowserContextID}
	browsertest.Enable(t, b, cdpbrowser.SetPermission, params)
	b.OnNewDocument(t, `window.asked = 0; for (const name of ['getCurrentPosition', 'watchPosition']) navigator.geolocation[name] = () => { asked++ }`)
	visit := []chromedp.Action[chromedp.Void]{chromedp.Navigate(base + "/"), browsertest.Until(heatDrawn), browsertest.Until(nearestFive), browsertest.Until(`navigator.permissions.query({name: 'geolocation'}).then(({state}) => state === 'granted')`)}
	b.Do(t, visit...)
	browsertest.Want(t, b, `asked`, 0, "after a permission only, the page has asked for the position this often:")
	b.Do(t, chromedp.Click("#near"), browsertest.Until(`asked === 1`)) // not found
	b.Do(t, chromedp.Navigate("about:blank"))
	b.Do(t, visit...)
	browsertest.Want(t, b, `asked`, 0, "after a press that found nothing, the page has asked this often:")
	b.WantNoProblems(t, base, "about:blank")
}

// In full screen the notice and the date stay visible.
func TestPageMapFullScreen(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startMap(t, "en-GB", base+"/", 1000, 700)
	const inside = `['#notice', '#date', '#map', '#legend', '#panel', '#limits'].every((s) => document.querySelector(':fullscreen ' + s)?.checkVisibility())`
	b.Do(t, chromedp.Click(button("Full screen")), browsertest.Until(`document.querySelector('#full-screen').ariaPressed === 'true'`), browsertest.Until(`document.fullscreenElement?.matches(':root') === true`), browsertest.Until(inside))
	browsertest.WantText(t, b, chromedp.Text(":fullscreen #notice"), "in full screen the notice is", "imulated")
	b.Do(t, chromedp.Click(button("Full screen")), browsertest.Until(`!document.fullscreenElement`),
		browsertest.Until(`document.querySelector('#full-screen').ariaPressed === 'false'`), chromedp.WaitVisible(button("Full screen")))
	b.WantNoProblems(t, base)
}
