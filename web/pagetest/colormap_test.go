//go:build long

package pagetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

// coloursShown are all colours of the page that depend on the colour map, and the colour maps of the addresses of the tiles.
const coloursShown = `(() => {
	const all = (selector) => [...document.querySelectorAll(selector)];
	const symbols = (selector) => all(selector + ' .symbol:is(.low, .medium, .high):not(.old)').map((s) => s.classList[1] + ' ' + s.style.getPropertyValue('--colour'));
	const map = (tile) => new URL(tile.src).searchParams.get('colormap') ?? '';
	return {Tiles: [...new Set(all('.heatmap img').map(map))], Bar: all('#legend .bar span').map((s) => s.style.background),
		Legend: symbols('#legend li'), Filter: symbols('#find fieldset'), List: symbols('#find li'), Card: symbols('#card'),
		Bands: all('#card .band').map((b) => b.style.fill), Mark: mark(-5, 0)};
})()`

// The colour map that the user selects is that of the tiles, the legend and all symbols, and of a page opened from the address.
func TestPageColourMap(t *testing.T) {
	t.Parallel()
	base := startMarks(t)
	b := startBrowser(t, "en-GB")
	b.Prefer(t, "reduced-motion", "reduce")
	const place = "map=12/52.4000/13.6000"
	b.Do(t,
		chromedp.EmulateViewport(1280, 800),
		chromedp.Navigate(base+"/#"+place+"&colormap=nonsense&lake=high"),
		chromedp.WaitVisible("#legend"),
		chromedp.WaitReady(".leaflet-marks-pane canvas"),
		chromedp.Evaluate[chromedp.Void](pixel),
		browsertest.Until(heatDrawn),
	)
	wantColours(t, b, base, "limno")
	for _, id := range []string{"cividis", "algae", "limno"} {
		b.Do(t,
			chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => {
				const select = document.querySelector('#layer-panel select');
				select.value = [...select.options].find((o) => o.value === %q)?.value ?? '';
				select.dispatchEvent(new Event('input', {bubbles: true}));
			})()`, id)),
			browsertest.Until(fmt.Sprintf(`(location.hash.match(/colormap=(\w+)/)?.[1] ?? 'limno') === %q`, id)),
		)
		wantColours(t, b, base, id)
	}
	// A shared address, and a step back in the history.
	b.Do(t, chromedp.Navigate(base+"/?again#"+place+"&colormap=cividis&lake=high"), chromedp.WaitReady(".leaflet-marks-pane canvas"),
		chromedp.Evaluate[chromedp.Void](pixel), browsertest.Until(heatDrawn))
	wantColours(t, b, base, "cividis")
	browsertest.Want(t, b, `document.querySelector('#layer-panel select').selectedOptions[0].textContent`, "Cividis", "the panel names the colour map")
	setHash(t, b, "#"+place+"&lake=high")
	wantColours(t, b, base, "limno")
	b.WantNoProblems(t, base)
}

// wantColours waits until the tiles have a colour map, and compares all colours with its legend.
func wantColours(t *testing.T, b *browsertest.Browser, base, id string) {
	t.Helper()
	var legend struct {
		Steps   []struct{ Color string }
		Classes []struct {
			Risk, Color string
			Colors      []string
		}
	}
	limnomaptest.GetJSON(t, base+"/api/v1/legend.json?colormap="+id, &legend)
	want := id
	if id == "limno" {
		want = "" // the default is left out
	}
	var bar, classes, bands []string
	for _, step := range legend.Steps {
		bar = append(bar, rgbOf(t, step.Color))
	}
	allowed := make(map[string]bool)
	for _, c := range legend.Classes {
		classes = append(classes, c.Risk+" "+c.Color)
		bands = append(bands, rgbOf(t, c.Color))
		for _, hex := range c.Colors {
			allowed[c.Risk+" "+hex] = true
		}
	}
	high := legend.Classes[2].Colors
	b.Do(t, browsertest.Until(fmt.Sprintf(`(() => {
		const tiles = [...document.querySelectorAll('.heatmap img')];
		return tiles.length > 0 && tiles.every((tile) => (new URL(tile.src).searchParams.get('colormap') ?? '') === %q);
	})()`, want)), browsertest.Until(`document.querySelectorAll('#card .band').length === 3`),
		browsertest.Until(fmt.Sprintf(`%q.includes(mark(-5, 0))`, rgbsOf(t, high))))
	got := browsertest.Ask(t, b, chromedp.Evaluate[struct {
		Tiles, Bar, Legend, Filter, List, Card, Bands []string
		Mark                                          string
	}](coloursShown))
	if !slices.Equal(got.Bar, bar) {
		t.Errorf("%s: the bar of the legend is %q, want %q", id, got.Bar, bar)
	}
	if !slices.Equal(got.Legend[:3], classes) {
		t.Errorf("%s: the symbols of the legend are %q, want %q", id, got.Legend, classes)
	}
	slices.Sort(classes)
	if slices.Sort(got.Filter); !slices.Equal(got.Filter, classes) {
		t.Errorf("%s: the symbols of the filter are %q, want %q", id, got.Filter, classes)
	}
	if slices.Sort(bands); !slices.Equal(slices.Sorted(slices.Values(got.Bands)), bands) {
		t.Errorf("%s: the bands of the chart are %q, want %q", id, got.Bands, bands)
	}
	if len(got.Card) != 2 || len(got.List) < 5 { // a card has the verdict and the risk
		t.Errorf("%s: the card has the symbols %q, the list %q", id, got.Card, got.List)
	}
	for _, symbol := range append(got.Card, got.List...) {
		if !allowed[symbol] {
			t.Errorf("%s: a lake has the symbol %s, not a colour of its class", id, symbol)
		}
	}
}

// rgbOf returns #rrggbb as the style sheet of an element gives it.
func rgbOf(t *testing.T, hex string) string {
	t.Helper()
	var r, g, b uint8
	if _, err := fmt.Sscanf(hex, "#%02x%02x%02x", &r, &g, &b); err != nil {
		t.Fatalf("colour %q: %v", hex, err)
	}
	return fmt.Sprintf("rgb(%d, %d, %d)", r, g, b)
}

func rgbsOf(t *testing.T, hexes []string) string {
	t.Helper()
	var all []string
	for _, hex := range hexes {
		all = append(all, rgbOf(t, hex))
	}
	return strings.Join(all, ";")
}
