//go:build long

package pagetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
	"limnomap/web/browsertest"
)

// Without a service worker, or if it is denied, the page works without errors.
func TestPageWithoutServiceWorker(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	for name, source := range map[string]string{
		"by http":    `delete Navigator.prototype.serviceWorker`,
		"refused":    `ServiceWorkerContainer.prototype.register = () => Promise.reject(new DOMException('no', 'SecurityError'))`,
		"in a frame": `Object.defineProperty(Navigator.prototype, 'serviceWorker', {get() { throw new DOMException('no', 'SecurityError'); }})`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := startBrowser(t, "en-GB")
			b.OnNewDocument(t, source)
			b.Do(t, chromedp.Navigate(base+"/"), browsertest.Until(heatDrawn))
			b.WantNoProblems(t, base)
		})
	}
}

// If the words or a script of the page do not load, the page says so in both languages, and continues when they do.
func TestPageLoadHelp(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	for _, file := range []string{"/words-", "/leaflet-"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			var available atomic.Bool
			front := limnomaptest.Front(t, base, func(w http.ResponseWriter, r *http.Request) bool {
				if available.Load() || !strings.Contains(r.URL.Path, file) {
					return false
				}
				http.Error(w, "no server", http.StatusBadGateway)
				return true
			}, nil)
			b := startBrowser(t, "de")
			const help = `document.querySelector('#load-help').innerText`
			b.Do(t,
				chromedp.Navigate(front+"/"),
				browsertest.Until(help+`.includes('The map has not loaded yet')`),
				browsertest.Until(help+`.includes('Die Karte ist noch nicht geladen')`),
			)
			available.Store(true)
			if file == "/leaflet-" {
				b.Do(t, chromedp.Click("#load-help a"))
			}
			b.Do(t, browsertest.Until(heatDrawn), browsertest.Until(`document.querySelector('#load-help') === null`))
			b.WantNoProblems(t, front, "Failed to load resource", "was preloaded")
		})
	}
}

// The page draws the map under the host it was opened with, also if the TileJSON names another one.
func TestPageWithAnotherPublicURL(t *testing.T) {
	t.Parallel()
	base := startServer(t, "--public-url", "http://elsewhere.example")
	var tileJSON struct {
		Tiles    []string
		Snapshot string
	}
	limnomaptest.GetJSON(t, base+"/api/v1/tiles.json", &tileJSON)
	if len(tileJSON.Tiles) != 1 || !strings.HasPrefix(tileJSON.Tiles[0], "http://elsewhere.example/") {
		t.Fatalf("tiles = %q, want another host than the page's", tileJSON.Tiles)
	}
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.Navigate(base+"/"), chromedp.WaitVisible("#legend"), browsertest.Until(heatDrawn))
	src := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector('.heatmap img').src`))
	if !strings.HasSuffix(src, ".png?v="+tileJSON.Snapshot) {
		t.Errorf("a tile's address is %s, want v=%s", src, tileJSON.Snapshot)
	}
	b.WantNoProblems(t, base)
}

// Without a basemap the page still shows outlines, heat map and lakes.
func TestPageWithoutInternet(t *testing.T) {
	t.Parallel()
	const unreachable = "http://127.0.0.1:1/"
	base := startServer(t, "--basemap-url", unreachable+"{z}/{x}/{y}.png")
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.Navigate(base+"/"), chromedp.WaitVisible("#legend"), browsertest.Until(heatDrawn))
	browsertest.Want(t, b, `document.querySelector('#message').textContent`, "", "the page says")
	b.WantNoProblems(t, base, unreachable)
}

// A basemap and labels that throw are left out: the page shows lakes, and goes on when the map is moved.
func TestPageWithLayersThatThrow(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	front := limnomaptest.Front(t, base, func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/page.json") {
			return false
		}
		var settings map[string]any
		limnomaptest.GetJSON(t, base+"/page.json", &settings)
		settings["basemap"] = map[string]string{"url": "/tiles/{apikey}/{z}/{x}/{y}.png", "labels_url": "/labels/{apikey}/{z}/{x}/{y}.png", "attribution": "Mapper"}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(settings); err != nil {
			t.Error(err)
		}
		return true
	}, nil)
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(front+"/"), browsertest.Until(heatDrawn), chromedp.WaitVisible("#find li button"), chromedp.Click("#find li button"),
		chromedp.WaitVisible("#card h2"), browsertest.Until(heatDrawn))
	browsertest.Want(t, b, `document.querySelector('#message').textContent`, "", "the page says")
	b.WantNoProblems(t, front, "No value provided for variable {apikey}")
}

// A page that is opened before the first snapshot says so, and continues by itself.
func TestPageBeforeTheFirstSnapshot(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	var ready atomic.Bool
	front := limnomaptest.Front(t, base, func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/bathing-lakes/") && !ready.Load() {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		if strings.HasSuffix(r.URL.Path, "/page.json") && !ready.Load() {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"basemap":null,"notice":"Simulated","simulated":true,"attribution":"","max_zoom":18,"version":""}`)
			return true
		}
		return false
	}, nil)
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.Navigate(front+"/"), chromedp.WaitVisible("#message"))
	browsertest.WantText(t, b, chromedp.Text("#message"), "before the first snapshot the page says", "still loading its data")
	browsertest.Expect(t, b, `document.querySelector('#notice').hidden`, false, "the waiting page does not show the notice")
	ready.Store(true)
	b.Do(t, chromedp.WaitNotVisible("#message"), browsertest.Until(heatDrawn))
	if src := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector('.heatmap img').src`)); strings.HasSuffix(src, "v=") {
		t.Errorf("a tile's address is %s, want the version of the server", src)
	}
}

// recordShifts sums up what the browser calls the layout shifts of a document.
const recordShifts = `window.shifts = 0; window.shifted = []; new PerformanceObserver((list) => {
	for (const e of list.getEntries()) if (!e.hadRecentInput) {
		shifts += e.value;
		shifted.push(e.value.toFixed(4) + ' ' + e.sources.map((s) => s.node?.nodeName + '#' + s.node?.id).join());
	}
}).observe({type: 'layout-shift', buffered: true})`

// On a slow network and a slow processor nothing that loads late moves what is shown.
func TestPageMovesNothing(t *testing.T) {
	t.Parallel()
	const maxShifts = 0.05 // of all shifts together; Core Web Vitals call 0.1 good
	base := startServer(t)
	var status limnomaptest.Status
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/status", &status)
	var high string // a lake whose card has nearest lakes of lower risk
	for _, lake := range status.Lakes {
		if lake.Risk == "high" && lake.Chl != nil {
			high = lake.ID
		}
	}
	const card = `document.querySelector('#card .links')?.checkVisibility({visibilityProperty: true}) && document.querySelector('#card .star') !== null`
	for _, page := range []struct{ path, complete string }{
		{"/", heatDrawn + ` && document.querySelector('#highs').textContent !== ''`},
		{"/?lang=de#lake=" + high, heatDrawn + ` && ` + card},
		{"/?lang=fr#lake=" + status.Lakes[0].ID, card},
		{"/embed", heatDrawn},
		{"/lakes/" + high, `document.readyState === 'complete'`},
		{"/lakes/" + high + "/sign", `document.readyState === 'complete'`},
		{"/table", `document.readyState === 'complete'`},
		{"/lakes/none", `document.readyState === 'complete'`},
	} {
		for _, s := range testsize.Cases(1, []screen{{width: 390, height: 844}, {width: 360, height: 640}, {width: 1440, height: 900}, {width: 844, height: 390}}) {
			t.Run(page.path+" "+s.String(), func(t *testing.T) {
				t.Parallel()
				b := startBrowser(t, "en-GB")
				b.OnNewDocument(t, recordShifts)
				slow := meteredNetwork{latency: 150 * time.Millisecond, rate: 200_000}
				browsertest.Enable(t, b, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: 4})
				b.Do(t, chromedp.EmulateViewport(s.width, s.height, chromedp.EmulateMobile), chromedp.Navigate(slow.start(t, base)+page.path),
					browsertest.Until(page.complete), chromedp.Evaluate[chromedp.Void](`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`, chromedp.EvalAwaitPromise))
				if got := browsertest.Ask(t, b, chromedp.Evaluate[float64](`shifts`)); got > maxShifts {
					t.Errorf("what is shown moves by %.4f, want at most %.2f: %s", got, maxShifts, browsertest.Ask(t, b, chromedp.Evaluate[string](`shifted.join('; ')`)))
				}
			})
		}
	}
}

// startProxyWithManyLakes starts a proxy in front of base that reports more lakes than a phone can hold.
func startProxyWithManyLakes(t *testing.T, base string) string {
	t.Helper()
	return limnomaptest.Front(t, base, func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/page.json") {
			return false
		}
		var settings map[string]any
		limnomaptest.GetJSON(t, base+"/page.json", &settings)
		settings["total_lakes"] = 1_400_000
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(settings); err != nil {
			t.Error(err)
		}
		return true
	}, nil)
}

// What loads at the first movement of the pointer moves nothing either: a click in the list opens the lake that was under the pointer.
func TestPageMovesNothingAtTheFirstMovement(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	for _, language := range testsize.Cases(1, []string{"en-GB", "de", "fr"}) {
		for _, s := range []screen{{width: 1440, height: 900}, {width: 1024, height: 768}} {
			t.Run(language+" "+s.String(), func(t *testing.T) {
				t.Parallel()
				b := startBrowser(t, language)
				s.open(t, b, "light", base+"/")
				b.Do(t, browsertest.Until(listReady))
				const top = `document.querySelector('#find li').getBoundingClientRect().top`
				before := browsertest.Ask(t, b, chromedp.Evaluate[float64](top))
				browsertest.Expect(t, b, `document.querySelector('#favourites-open') === null`, true, "the button was there before")
				b.Do(t, browsertest.Hover(100, 400, `document.querySelector('#favourites-open') !== null && document.querySelector('#find li .star') !== null`))
				if after := browsertest.Ask(t, b, chromedp.Evaluate[float64](top)); after != before {
					t.Errorf("the list moved from %v to %v px", before, after)
				}
			})
		}
	}
}
