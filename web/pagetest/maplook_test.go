//go:build long

package pagetest

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"limnomap/web/browsertest"
)

// closeToast closes the message on the map, also if it has just left by itself.
var closeToast = chromedp.Evaluate[chromedp.Void](`document.querySelector('#toast button').click()`)

// A message on the map leaves by itself, and takes its box with it.
func TestPageMessageLeaves(t *testing.T) {
	t.Parallel()
	away := httptest.NewServer(http.NotFoundHandler())
	defer away.Close()
	b := openPage(t, "en-GB", startOwnServer(t, "--basemap-url", away.URL+"/{z}/{x}/{y}.png")+"/",
		browsertest.Until(`document.querySelector('#toast [role=status]').textContent !== '' && document.querySelector('#toast button').checkVisibility()`))
	b.Do(t, browsertest.Until(`document.querySelector('#toast [role=status]').textContent === '' && !document.querySelector('#toast button').checkVisibility()`))
}

// The land differs from the water in light, in dark and on paper, and the page says once that the basemap cannot be loaded.
func TestPageMapColours(t *testing.T) {
	t.Parallel()
	away := httptest.NewServer(http.NotFoundHandler())
	defer away.Close()
	base := startOwnServer(t, "--basemap-url", away.URL+"/{z}/{x}/{y}.png")
	b := startMap(t, "en-GB", base+"/", 1280, 800)
	b.Do(t, chromedp.WaitVisible(".leaflet-outlines-pane .germany"), browsertest.Until(`document.querySelector('#toast [role=status]')?.textContent.includes('Outlines are shown instead') === true`))
	browsertest.Want(t, b, `document.querySelector('#message').textContent`, "", "with a missing basemap the message is")
	b.Do(t, closeToast, chromedp.Click(button("Zoom in")), browsertest.Until(`!!document.querySelector('.heatmap img[src*="tiles/7/"]')`), browsertest.Until(heatDrawn))
	if said := browsertest.Ask(t, b, chromedp.Text("#toast [role=status]")); said != "" {
		t.Errorf("the page shows the message again: %q", said)
	}
	colours := make(map[string]string)
	for _, media := range []string{"light", "dark", "print"} {
		params := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: media}}}
		if media == "print" { // after dark
			params = emulation.SetEmulatedMediaParams{Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}
		}
		browsertest.Enable(t, b, emulation.SetEmulatedMedia, params)
		colours[media] = browsertest.Ask(t, b, chromedp.Evaluate[string](`['.land', '.germany'].map((s) => getComputedStyle(document.querySelector(s)).fill).join() + getComputedStyle(document.querySelector('#map')).backgroundColor + getComputedStyle(document.querySelector('.basemap')).filter`))
	}
	if colours["light"] == colours["dark"] || colours["print"] != colours["light"] {
		t.Errorf("the colours of the map are %q, want different ones in dark, and the light ones on paper", colours)
	}
	b.WantNoProblems(t, base, away.URL)
}

// The basemap is calm, light and dark, and so are its labels. They lie above the heat map and below the marks, on the page and in an
// iframe, and the policy of the page allows their host.
func TestPageBasemapLabels(t *testing.T) {
	t.Parallel()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewNRGBA(image.Rect(0, 0, 256, 256))); err != nil {
		t.Fatal(err)
	}
	tiles := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		w.Write(picture.Bytes())
	})
	basemap, labels := httptest.NewServer(tiles), httptest.NewServer(tiles)
	defer basemap.Close()
	defer labels.Close()
	base := startOwnServer(t, "--basemap-url", basemap.URL+"/{z}/{x}/{y}.png", "--basemap-labels-url", labels.URL+"/{z}/{x}/{y}.png", "--basemap-attribution", "© Mapper")
	b := startMap(t, "en-GB", base+"/", 1280, 800)
	for _, address := range []string{"/", "/embed"} {
		b.Do(t, chromedp.Navigate(base+address), chromedp.WaitReady(".leaflet-marks-pane canvas"),
			browsertest.Until(fmt.Sprintf(`[%q, %q].every((host) => document.querySelector('.basemap img.leaflet-tile-loaded[src^="' + host + '"]') !== null)`, basemap.URL, labels.URL)))
		type layer struct {
			Host, Filter, Pointer string
			Z                     int
		}
		for scheme, want := range map[string]string{"light": "saturate(0.2)", "dark": "invert(1) hue-rotate(180deg) saturate(0.2) brightness(0.85) contrast(0.85)"} {
			b.Prefer(t, "color-scheme", scheme)
			layers := browsertest.Ask(t, b, chromedp.Evaluate[[]layer](`[...document.querySelectorAll('.leaflet-tile-pane > .leaflet-layer')].map((e) => {
				const {filter, pointerEvents, zIndex} = getComputedStyle(e);
				return {host: new URL(e.querySelector('img').src).origin, filter, pointer: pointerEvents, z: Number(zIndex)};
			}).sort((a, b) => a.z - b.z)`))
			if want := []layer{{basemap.URL, want, "none", 1}, {base, "none", "auto", 2}, {labels.URL, want, "none", 3}}; !slices.Equal(layers, want) {
				t.Errorf("%s, %s: the layers are %+v, want %+v", address, scheme, layers, want)
			}
		}
		if marks := browsertest.Ask(t, b, chromedp.Evaluate[bool](`Number(getComputedStyle(document.querySelector('.leaflet-marks-pane')).zIndex) > Number(getComputedStyle(document.querySelector('.leaflet-tile-pane')).zIndex)`)); !marks {
			t.Errorf("%s: the marks are not above the tiles", address)
		}
		if text := browsertest.Ask(t, b, chromedp.Evaluate[string](attributionText)); strings.Count(text, "© Mapper") != 1 {
			t.Errorf("%s: the attribution is %q, want the basemap's once", address, text)
		}
	}
	for _, p := range b.Problems(base) {
		if !strings.Contains(p, basemap.URL) && !strings.Contains(p, labels.URL) || !strings.HasPrefix(p, "request to another origin") {
			t.Errorf("problem: %s", p)
		}
	}
}

func TestPageMapOnAPhone(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startMap(t, "en-GB", base+"/", 320, 640, chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch)
	type target struct {
		Name                     string
		Left, Right, Top, Bottom float64
	}
	targets := chromedp.Evaluate[[]target](`[...document.querySelectorAll('#controls > button')].map((e) => {
		const r = e.getBoundingClientRect(), m = document.querySelector('#map').getBoundingClientRect();
		return {name: e.ariaLabel, left: r.left - m.left, right: m.right - r.right, top: r.top - m.top, bottom: m.bottom - r.bottom};
	})`)
	type size struct{ Width, Height float64 }
	sizes := browsertest.Ask(t, b, chromedp.Evaluate[[]size](`[...document.querySelectorAll('#controls > button')].map((e) => ({width: e.offsetWidth, height: e.offsetHeight}))`))
	for i, r := range browsertest.Ask(t, b, targets) {
		if r.Left < 0 || r.Right < 0 || r.Top < 0 || r.Bottom < 0 {
			t.Errorf("%+v is not completely on the map", r)
		}
		if sizes[i].Width < 40 || sizes[i].Height < 40 {
			t.Errorf("%s is %+v px, want 40 for a thumb", r.Name, sizes[i])
		}
	}
	b.Do(t, chromedp.Click(button("What the map shows")), chromedp.WaitVisible("#layer-panel"))
	panel := browsertest.Ask(t, b, chromedp.Evaluate[target](`(() => {
		const r = document.querySelector('#layer-panel').getBoundingClientRect();
		return {left: r.left, right: innerWidth - r.right, top: r.top, bottom: innerHeight - r.bottom};
	})()`))
	if panel.Left < 0 || panel.Right < 0 || panel.Top < 0 || panel.Bottom < 0 {
		t.Errorf("the layer panel %+v is not completely on the screen", panel)
	}
	browsertest.Expect(t, b, `(() => { // it must not be covered
		const r = document.querySelector('#layer-panel').getBoundingClientRect();
		return document.elementFromPoint(r.left + 30, r.bottom - 12).closest('#layer-panel') !== null;
	})()`, true, "the layer panel is covered")
	if width := browsertest.Ask(t, b, chromedp.Evaluate[int](`document.documentElement.scrollWidth`)); width > 320 {
		t.Errorf("the page is %d px wide on a phone of 320", width)
	}
	b.WantNoProblems(t, base)
}

// With reduced motion the map does not animate.
func TestPageMapReducedMotion(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "en-GB")
	const moving = `[...document.querySelectorAll('.leaflet-fade-anim, .leaflet-zoom-anim, .leaflet-pan-anim')].length > 0`
	for preference, want := range map[string]bool{"no-preference": true, "reduce": false} {
		b.Prefer(t, "reduced-motion", preference)
		b.Do(t, chromedp.Navigate(base+"/?"+preference), chromedp.WaitVisible("#controls"), browsertest.Until(heatDrawn), chromedp.Focus("#map"), chromedp.KeyEvent(kb.ArrowRight))
		browsertest.Want(t, b, moving, want, "with %s the map is animated", preference)
	}
	b.WantNoProblems(t, base)
}
