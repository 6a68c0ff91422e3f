package pagetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"limnomap/data/testsize"
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
		const row = e.closest('#find ul, #find fieldset'); // which scrolls to the side where its content is wider
		const scrolls = row && row.scrollWidth > row.clientWidth && getComputedStyle(row).overflowX === 'auto';
		if (!scrolls && (left < -1 || right > innerWidth + 1) || top + scrollY < -1) shown.Outside.push(name);
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
		b.OnNewDocument(t, sheet)
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
	for _, c := range testsize.Cases(1, []struct {
		screen
		mapHeight, mapArea map[string]float64 // the least of the window
	}{
		{screen{width: 390, height: 844, touch: true}, map[string]float64{closed: 0.5, card: 0.2}, nil},
		{screen{width: 640, height: 360, touch: true}, map[string]float64{closed: 1, card: 1, list: 1}, map[string]float64{closed: 0.5, card: 0.5, list: 0.5}},
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
		for language, scheme := range testsize.Of(map[string]string{"de": "dark"}, map[string]string{"en-GB": "light", "de": "dark"}) {
			t.Run(c.String()+" "+scheme, func(t *testing.T) {
				t.Parallel()
				b := startBrowser(t, language)
				c.open(t, b, scheme, base+"/")
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
					b.Do(t, chromedp.Click("#find [name=toggle]"), browsertest.Until(`!document.body.classList.contains('find-open')`))
				}
				b.Do(t, chromedp.Evaluate[chromedp.Void](`void (location.hash = 'lake=`+embeddedLake+`')`), browsertest.Until(chartDrawn))
				check(card)
				b.WantNoProblems(t, base)
			})
		}
	}
}
