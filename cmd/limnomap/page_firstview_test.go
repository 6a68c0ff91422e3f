package main

import (
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// mostFirstView bounds the bytes of a first view of the demo, tiles besides.
const mostFirstView = 120_000

// A traffic is what came over the wire for a page, by the kind of request.
type traffic struct {
	mu    sync.Mutex
	names map[network.RequestID]string
	bytes map[string]float64
	count map[string]int
}

func (f *traffic) listen(event any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		name, _, _ := strings.Cut(e.Request.URL, "?")
		if strings.Contains(name, "/api/v1/tiles/") {
			name = "tiles"
		}
		f.names[e.RequestID] = path.Base(name)
	case *network.EventLoadingFinished:
		if name := f.names[e.RequestID]; e.EncodedDataLength > 0 { // what a cache gave is none
			f.bytes[name] += e.EncodedDataLength
			f.count[name]++
		}
	}
}

// take returns the sum of all but tiles and how it is made up, and begins anew.
func (f *traffic) take(t *testing.T, when string) (bytes float64) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	requests := 0
	names := make([]string, 0, len(f.bytes))
	for name := range f.bytes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Logf("%s: %6.0f bytes, %2d requests: %s", when, f.bytes[name], f.count[name], name)
		if name != "tiles" {
			bytes += f.bytes[name]
			requests += f.count[name]
		}
	}
	t.Logf("%s: %6.0f bytes, %2d requests without tiles", when, bytes, requests)
	clear(f.bytes)
	clear(f.count)
	return bytes
}

// noteFirstHeat notes when the first heat tile is on the screen, in ms from the start of the navigation.
const noteFirstHeat = `requestAnimationFrame(function look() {
	if (document.querySelector('.heat img.leaflet-tile-loaded')) window.firstHeat = performance.now();
	else requestAnimationFrame(look);
})`

// firstView waits for the first view to be whole, and tells when its first heat tile was there.
func firstView(t *testing.T, b *browser, when string) {
	t.Helper()
	b.do(t,
		until(heatDrawn),
		until(`[...document.querySelectorAll('.heat img')].every((img) => img.complete)`),
		chromedp.WaitVisible(".leaflet-outlines-pane canvas"),
	)
	t.Logf("%s: first heat tile after %.0f ms", when, ask(t, b, chromedp.Evaluate[float64](`window.firstHeat`)))
}

// The page is for a phone by the lake: its first view is small, and its second comes from what was kept.
func TestPageFirstView(t *testing.T) {
	base, _ := startServer(t, "--basemap-url", "none")
	b := startBrowser(t, "en")
	wire := &traffic{names: make(map[network.RequestID]string), bytes: make(map[string]float64), count: make(map[string]int)}
	if err := chromedp.Listen(b.ctx, wire.listen); err != nil {
		t.Fatal(err)
	}
	enable(t, b, page.Enable, page.EnableParams{})
	note := page.AddScriptToEvaluateOnNewDocumentParams{Source: noteFirstHeat}
	if _, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, note); err != nil {
		t.Fatal(err)
	}
	b.do(t, chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2), chromedp.EmulateMobile))
	b.do(t, chromedp.Navigate(base+"/"))
	firstView(t, b, "cold")
	if bytes := wire.take(t, "cold"); bytes >= mostFirstView {
		t.Errorf("a first view takes %.0f bytes without tiles, want less than %d", bytes, mostFirstView)
	}
	b.do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(base+"/"))
	firstView(t, b, "warm")
	wire.take(t, "warm")
	for _, p := range b.problems(base) {
		if !strings.Contains(p, "about:blank") {
			t.Errorf("on the page: %s", p)
		}
	}
}
