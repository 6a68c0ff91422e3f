package deploy

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

// A faultyFront is a proxy that answers requests for tiles as `fault` says: with a status, or 0 for the answer of the server.
// It counts the requests.
type faultyFront struct {
	URL string

	mu    sync.Mutex
	fault func(path string, times int) int
	asked map[string]int // tiles, by path
}

func startFaultyFront(t *testing.T, server string) *faultyFront {
	t.Helper()
	f := &faultyFront{asked: map[string]int{}}
	f.URL = limnomaptest.Front(t, server, func(w http.ResponseWriter, r *http.Request) bool {
		status := f.statusFor(r)
		if status != 0 {
			answerProblem(w, status)
		}
		return status != 0
	}, nil)
	return f
}

func (f *faultyFront) statusFor(r *http.Request) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !strings.HasPrefix(r.URL.Path, "/api/v1/tiles/") || strings.HasSuffix(r.URL.Path, ".json") {
		return 0
	}
	f.asked[r.URL.Path]++
	if f.fault == nil {
		return 0
	}
	return f.fault(r.URL.Path, f.asked[r.URL.Path])
}

// become changes how the proxy answers, and resets the counts.
func (f *faultyFront) become(fault func(path string, times int) int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
	clear(f.asked)
}

// most returns how often the most requested tile was requested.
func (f *faultyFront) most() (most int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.asked {
		most = max(most, n)
	}
	return most
}

// times returns how often a tile was requested.
func (f *faultyFront) times(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[path]
}

// tiles returns how many tiles were requested.
func (f *faultyFront) tiles() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.asked)
}

// answerProblem answers as the server does when it sheds load.
func answerProblem(w http.ResponseWriter, status int) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Expose-Headers", "Retry-After")
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"type":"about:blank","title":%q,"status":%d}`, http.StatusText(status), status)
}

// checkFaults opens the page with a server that sheds load, one that refuses for a while, and one that fails. The page says
// which tiles are missing, and shows nothing for them.
func checkFaults(t *testing.T, v *mapView, server string, lakes []exampleLake) {
	t.Helper()
	lake := loneliest(t, lakes, func(l exampleLake) bool { return l.Chl != nil && l.Risk == "medium" })
	other := loneliest(t, lakes, func(l exampleLake) bool { return l.Chl != nil && l.Risk == "high" })
	v.learn(t, server, v.page, lake) // while there are no faults
	v.learn(t, server, v.page, other)
	front := startFaultyFront(t, server)
	front.become(func(string, int) int { return http.StatusInternalServerError })
	v.open(t, v.page, front.URL, 1)
	checkGone(t, v, front, loneliest(t, lakes, func(l exampleLake) bool { return l.Chl != nil && l.Risk == "low" }))
	checkShed(t, v, front, lake, http.StatusServiceUnavailable)
	checkShed(t, v, front, other, http.StatusTooManyRequests)
	for _, problem := range v.problems()[v.seen:] {
		if !strings.HasPrefix(problem, "network: Failed to load resource: the server responded with a status of ") {
			t.Errorf("on the page: %s", problem)
		}
	}
}

// The page asks again at the time that a server gives which is overloaded, or whose limit is used up, and then shows all tiles.
func checkShed(t *testing.T, v *mapView, front *faultyFront, lake exampleLake, status int) {
	t.Helper()
	front.become(func(_ string, times int) int {
		if times == 1 {
			return status
		}
		return 0
	})
	v.look(t, lake.Lon, lake.Lat, mapZoom)
	v.wantHealed(t)
	v.wantLake(t, lake)
	if most := front.most(); most != 2 {
		t.Errorf("after one refusal each, tiles were asked for up to %d times, want 2", most)
	}
}

// wantHealed waits until all tiles are there, and fails the test if the page says that one is missing.
func (v *mapView) wantHealed(t *testing.T) {
	t.Helper()
	v.Do(t, browsertest.Until(v.page.drawn))
	if text := v.trouble(t); text != "" {
		t.Errorf("the page says %q", text)
	}
}

// The page says that tiles are missing, shows nothing for them, and requests them again when the reader asks for that. No
// other tile was shown before, which a map might enlarge.
func checkGone(t *testing.T, v *mapView, front *faultyFront, lake exampleLake) {
	t.Helper()
	v.move(t, lake.Lon, lake.Lat, mapZoom)
	tile, _ := pixelOf(lake.Lon, lake.Lat, mapZoom, 1)
	limnomaptest.Within(t, patience, "the page asks for the lake's tile", func() bool {
		return front.times(fmt.Sprintf("/api/v1/tiles/%d/%d/%d.png", tile.Z, tile.X, tile.Y)) > 0
	})
	v.Do(t, browsertest.Until(`!document.querySelector('#trouble').hidden`))
	if text := v.trouble(t); !strings.Contains(text, "of the map cannot be shown: the server answered 500. This says nothing about the lakes there.") {
		t.Errorf("of tiles that fail the page says %q", text)
	}
	v.Do(t, browsertest.Until(`[...document.images].every((image) => image.id === 'legend' || image.naturalWidth !== 0 || !image.complete || !image.src)`))
	if got := v.picture(t).At(mapWidth/2, mapHeight/2); !near(got, mapBackground, 0) {
		t.Errorf("where a tile fails the screen has %v, want the background", got)
	}
	if most := front.most(); most > 1 {
		t.Errorf("a tile that answers 500 was asked for %d times, want once", most)
	}
	front.become(nil)
	v.Do(t, chromedp.Click("#trouble button"))
	colours := v.learn(t, v.server, v.page, lake)
	limnomaptest.Within(t, patience, "the lake is there when the reader tries again", func() bool {
		if v.trouble(t) != "" { // a late answer also reports a missing tile
			v.Do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('#trouble button').click(); void 0`))
			return false
		}
		shown, _ := v.shows(t, colours)
		return shown
	})
}

// The page stops asking a server that stays overloaded.
func checkBounded(t *testing.T, v *mapView, server string) {
	t.Helper()
	front := startFaultyFront(t, server)
	front.become(func(string, int) int { return http.StatusServiceUnavailable })
	v.open(t, mapPages[0], front.URL, 1)
	v.Do(t, browsertest.Until(`!document.querySelector('#trouble').hidden`))
	if text := v.trouble(t); !strings.Contains(text, "the server answered 503") {
		t.Errorf("of a server that stays overloaded the page says %q", text)
	}
	v.Do(t, browsertest.Until(`[...document.querySelectorAll('img.leaflet-tile')].length > 0 && !document.querySelector('img.leaflet-tile-loaded')`))
	if most := front.most(); most != 4 {
		t.Errorf("a tile was asked for up to %d times, want 4", most)
	}
}

// Without WebGL MapLibre shows no map, and the page says so.
func checkNoWebGL(t *testing.T, v *mapView, server string) {
	t.Helper()
	v.OnNewDocument(t, `HTMLCanvasElement.prototype.getContext = () => null`)
	v.Do(t, chromedp.Navigate(v.address("maplibre", server)), browsertest.Until(`!document.querySelector('#trouble').hidden`))
	if text := v.trouble(t); !strings.Contains(text, "The map fails: ") || !strings.Contains(text, "WebGL") {
		t.Errorf("without WebGL the page says %q", text)
	}
}
