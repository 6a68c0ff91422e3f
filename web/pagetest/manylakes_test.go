//go:build long

package pagetest

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"limnomap/web/browsertest"
)

// A server with very many lakes sends only those near the centre. At low zooms their marks would look as if there were no
// lakes elsewhere, so there are marks only when they reach the edges of the map, and the legend says so.
func TestPageMarksNearCentre(t *testing.T) {
	t.Parallel()
	lakes := "id,name,lat,lon\n"
	for i := range 1_120 {
		lakes += fmt.Sprintf("x%04d,Lake %d,52.%04d,13.5\n", i, i, i)
	}
	db := filepath.Join(t.TempDir(), "lakes.db")
	importCSV(t, db, lakes, "lake_id,date,chl,data_type\nx0500,"+weekday(0)+",80,satellite\n")
	base := startOwnServer(t, "--db", db)
	front := startProxyWithManyLakes(t, base)
	b := startBrowser(t, "en-GB")
	b.Prefer(t, "reduced-motion", "reduce")
	const (
		marked = `[...Array(21).keys()].some((x) => [...Array(21).keys()].some((y) => mark(x - 10, y - 10) !== ''))`
		says   = `document.querySelector('#legend .zoom-hint').checkVisibility()`
	)
	b.Do(t,
		chromedp.EmulateViewport(1600, 800), // the legend is open
		chromedp.Navigate(front+"/#map=13/52.05/13.5"),
		chromedp.WaitReady(".leaflet-marks-pane canvas"),
		chromedp.Evaluate[chromedp.Void](pixel),
		browsertest.Until(marked+` && !`+says),
		chromedp.Evaluate[chromedp.Void](`void (location.hash = '#map=5/52.05/13.5')`),
		browsertest.Until(`!(`+marked+`) && `+says),
		// The selected lake has a mark at every zoom.
		chromedp.Evaluate[chromedp.Void](`void (location.hash = '#map=5/52.05/13.5&lake=x0500')`),
		browsertest.Until(marked),
		chromedp.Evaluate[chromedp.Void](`void (location.hash = '#map=13/52.05/13.5')`),
		browsertest.Until(marked+` && !`+says),
	)
	b.WantNoProblems(t, front)
}

// On the smallest phone the open legend is completely visible, covers the buttons and leaves a part of the map.
func TestPageLegendOpenOnAPhone(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "de")
	b.Do(t,
		chromedp.EmulateViewport(320, 640, chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch),
		chromedp.Navigate(base+"/"),
		chromedp.WaitVisible("#legend"),
		chromedp.WaitReady(".leaflet-marks-pane canvas"),
		chromedp.Tap("#legend summary"),
		browsertest.Until(`document.querySelector('#legend details').open`),
		browsertest.Until(`(() => {
			const legend = document.querySelector('#legend');
			const map = document.querySelector('#map').getBoundingClientRect();
			const box = legend.getBoundingClientRect();
			const uncovered = [...legend.querySelectorAll('li, .bar, p')].filter((e) => e.checkVisibility()).every((e) => {
				const r = e.getBoundingClientRect();
				return legend.contains(document.elementFromPoint(r.right - 1, r.top + r.height / 2));
			});
			return uncovered && legend.scrollHeight <= legend.clientHeight && box.top > map.top + 80 && box.bottom <= map.bottom && box.right <= 320;
		})()`),
		chromedp.Tap("#legend summary"),
		browsertest.Until(`!document.querySelector('#legend details').open && document.querySelector('#time').checkVisibility()`),
	)
	b.WantNoProblems(t, base)
}
