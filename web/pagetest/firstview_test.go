package pagetest

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"limnomap/data/testsize"
	"limnomap/web/browsertest"
)

// maxFirstView bounds the bytes of the first view of the demo, with the requests of the service worker but without tiles.
const maxFirstView = 127_000

// byWorker is the prefix of requests by the service worker: requests to store the page, and on later visits all requests.
const byWorker = "service worker: "

// A meteredNetwork is the network between browser and server. It also counts the requests of the service worker, which the browser
// does not report as such.
type meteredNetwork struct {
	latency time.Duration
	rate    float64 // bytes per second; 0 is no limit

	mu      sync.Mutex
	sending sync.Mutex // held while sending
	bytes   map[string]int
	count   map[string]int
}

// start starts a proxy in front of a server and returns its address.
func (f *meteredNetwork) start(t *testing.T, server string) string {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	f.bytes, f.count = make(map[string]int), make(map[string]int)
	proxy := httputil.NewSingleHostReverseProxy(target)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		proxy.ServeHTTP(answer, r)
		name := path.Base(r.URL.Path)
		switch {
		case strings.HasSuffix(name, ".png"):
			name = "tiles"
		case name == "sw.js" || strings.HasSuffix(r.Header.Get("Referer"), "/sw.js"):
			name = byWorker + name
		}
		f.deliver(name, answer)
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()) // the browser may close the connection
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// deliver delays an answer as the network would, and counts its bytes.
func (f *meteredNetwork) deliver(name string, answer *httptest.ResponseRecorder) {
	var head bytes.Buffer
	if err := answer.Header().Write(&head); err != nil {
		panic(err) // a buffer never fails
	}
	const line = len("HTTP/1.1 200 OK\r\n\r\n")
	size := line + head.Len() + answer.Body.Len()
	time.Sleep(f.latency)
	if f.rate > 0 {
		f.sending.Lock()
		time.Sleep(time.Duration(float64(size) / f.rate * float64(time.Second)))
		f.sending.Unlock()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bytes[name] += size
	f.count[name]++
}

// take returns the bytes since the last call, without tiles.
func (f *meteredNetwork) take(t *testing.T, when string) (total int) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	var requests, kept, keptRequests int
	names := make([]string, 0, len(f.bytes))
	for name := range f.bytes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Logf("%s: %6d bytes in %2d answers: %s", when, f.bytes[name], f.count[name], name)
		switch {
		case strings.HasPrefix(name, byWorker):
			kept += f.bytes[name]
			keptRequests += f.count[name]
		case name != "tiles":
			total += f.bytes[name]
			requests += f.count[name]
		}
	}
	t.Logf("%s: %6d bytes in %2d answers without tiles, and %d in %d by the service worker", when, total, requests, kept, keptRequests)
	clear(f.bytes)
	clear(f.count)
	return total + kept
}

// recordFirstTile stores when the first tile of the heat map is visible, in ms since the start of the navigation.
const recordFirstTile = `requestAnimationFrame(function check() {
	if (document.querySelector('.heatmap img.leaflet-tile-loaded')) window.firstHeat = performance.now();
	else requestAnimationFrame(check);
})`

// firstView waits until the first view is complete, and logs when its first tile was visible.
func firstView(t *testing.T, b *browsertest.Browser, when string) {
	t.Helper()
	b.Do(t,
		browsertest.Until(heatDrawn),
		browsertest.Until(`[...document.querySelectorAll('.heatmap img')].every((img) => img.complete)`),
		browsertest.Until(`document.querySelector('.leaflet-outlines-pane path') !== null`),
	)
	t.Logf("%s: first tile after %.0f ms", when, browsertest.Ask(t, b, chromedp.Evaluate[float64](`window.firstHeat`)))
}

// The first view is small, because users have a phone and a slow network at the lake. The second view comes from the
// stores.
func TestPageFirstView(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	for _, network := range testsize.Cases(1, []*meteredNetwork{{}, {latency: 150 * time.Millisecond, rate: 200_000}}) {
		t.Run(fmt.Sprintf("%v and %v bytes per second", network.latency, network.rate), func(t *testing.T) {
			t.Parallel()
			testFirstView(t, base, network)
		})
	}
}

func testFirstView(t *testing.T, server string, network *meteredNetwork) {
	base := network.start(t, server)
	b := startBrowser(t, "en-GB")
	b.OnNewDocument(t, recordFirstTile)
	b.Do(t, chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2), chromedp.EmulateMobile), chromedp.Navigate(base+"/"))
	firstView(t, b, "cold")
	b.Do(t, browsertest.Until(`navigator.serviceWorker.controller !== null`), browsertest.Until(storedCount("page.json")+`.then((n) => n > 0)`))
	if total := network.take(t, "cold"); total >= maxFirstView {
		t.Errorf("a first view takes %d bytes without tiles, want less than %d", total, maxFirstView)
	}
	b.Do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(base+"/"))
	firstView(t, b, "warm")
	network.take(t, "warm")
	b.WantNoProblems(t, base, "about:blank")
}
