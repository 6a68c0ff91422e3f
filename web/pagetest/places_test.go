//go:build long

package pagetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/gazetteer"
	"limnomap/web/browsertest"
)

const (
	placesFound = `[...document.querySelectorAll('#find .places button')].map((b) => b.textContent)`
	listStatus  = `document.querySelector('#find [role=status]').textContent`
	// addressPosition is the position of the map in the address: zoom, latitude and longitude.
	addressPosition = `(/map=([^&]*)/.exec(location.hash) ?? ['', '0/0/0'])[1].split('/').map(Number)`
)

// typeKeys types a text into the empty field, key by key.
func typeKeys(t *testing.T, b *browsertest.Browser, text string) {
	t.Helper()
	typeText(t, b, "")
	b.Do(t, chromedp.Focus("#q"), chromedp.SendKeys("#q", text))
}

// The keyboard reaches the field of the search within three presses: Tab shows a button that leads there. The map and its buttons come before the
// field, because after it follow all lakes.
func TestPageKeyboardReachesTheSearch(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	for _, s := range []screen{{width: 1440, height: 900}, {width: 390, height: 844}} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			b := startBrowser(t, "en-GB")
			b.Do(t, chromedp.EmulateViewport(s.width, s.height), chromedp.Navigate(base+"/"), browsertest.Until(listReady), chromedp.KeyEvent(kb.Tab),
				browsertest.Until(`(({id, offsetWidth, offsetHeight}) => id === 'skip' && offsetWidth > 40 && offsetHeight >= 24)(document.activeElement)`))
			checkAccess(t, b, "the button that leads to the search")
			b.Do(t, chromedp.KeyEvent(kb.Enter), browsertest.Until(`document.activeElement.id === 'q'`))
			b.WantNoProblems(t, base)
		})
	}
}

func TestPageFindsPlaces(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "en-GB")
	b.Prefer(t, "reduced-motion", "reduce")
	b.Do(t, chromedp.EmulateViewport(1440, 900), chromedp.Navigate(base+"/"), browsertest.Until(listReady))
	for q, want := range map[string]string{
		"Köln": "Köln, Nordrhein-Westfalen", "Munich": "Munich (München), Bayern", "10115": "10115 Berlin", "Wien": "Wien, Austria", "Frankfurt": "Frankfurt am Main, Hessen",
	} {
		typeKeys(t, b, q)
		b.Do(t, browsertest.Until(fmt.Sprintf(`%s[0] === %q`, placesFound, want)))
	}
	typeKeys(t, b, "Berlin") // a place and a region
	b.Do(t, browsertest.Until(placesFound+`[0] === 'Berlin'`), browsertest.Until(listStatus+`.includes('10 lakes')`))
	browsertest.WantText(t, b, chromedp.Evaluate[string](`document.querySelector('#find form > small').textContent`), "the places are credited to", "GeoNames")
	checkAccess(t, b, "places and lakes")
	savePicture(t, b, "places-wide")
	for _, scheme := range []string{"dark", "light"} {
		b.Prefer(t, "color-scheme", scheme)
		checkAccess(t, b, "places, "+scheme)
	}

	t.Run("Enter chooses the place if no lake has that name", func(t *testing.T) {
		typeKeys(t, b, "10115")
		b.Do(t, browsertest.Until(placesFound+`.length === 1`), chromedp.KeyEvent(kb.Enter))
		wantNear(t, b, base, "10115 Berlin", "10115 Berlin", 52.53, 13.39)
		savePicture(t, b, "near-place-wide")
		checkAccess(t, b, "lakes near a place")
	})
	t.Run("a text that no lake has shows those near the best place", func(t *testing.T) {
		typeKeys(t, b, "80331")
		b.Do(t, browsertest.Until(listStatus+`.startsWith('Lakes near 80331 München')`), browsertest.Until(`document.querySelector('#find [name=order]').value === 'distance'`),
			browsertest.Until(`(([zoom, lat, lon]) => zoom >= 8 && Math.hypot(lat - 48.14, lon - 11.57) < 0.4)(`+addressPosition+`)`))
		if places := browsertest.Ask(t, b, chromedp.Evaluate[[]string](placesFound)); !slices.Equal(places, []string{"80331 München, Bayern"}) {
			t.Errorf("beside the lakes near it the page offers the places %q", places)
		}
		browsertest.Want(t, b, `document.querySelector('#q').value`, "80331", "the field has")
		typeKeys(t, b, "Starnberger") // which no place is called
		b.Do(t, browsertest.Until(listedLakes+`.length === 1`), browsertest.Until(`document.querySelector('path.place-dot') === null`))
	})
	t.Run("a postcode needs no answer of the server", func(t *testing.T) {
		b.Do(t, chromedp.Evaluate[chromedp.Void](`window.realFetch = fetch; window.fetch = (url, ...rest) => String(url).includes('/search') ? new Promise(() => {}) : realFetch(url, ...rest)`))
		typeKeys(t, b, "10997")
		b.Do(t, browsertest.Until(listStatus+`.startsWith('Lakes near 10997 Berlin')`), chromedp.Evaluate[chromedp.Void](`window.fetch = realFetch`))
	})
	t.Run("what people write before a name", func(t *testing.T) {
		for q, want := range map[string]string{"lake Tegel": "de_be_tegeler_see", "Strandbad Wannsee": "de_be_grosser_wannsee", "Lake Constance": "de_bw_bodensee_untersee", "52.42, 13.18": "de_be_grosser_wannsee"} {
			typeKeys(t, b, q)
			b.Do(t, browsertest.Until(fmt.Sprintf(`%s[0] === %q`, listedLakes, want)))
		}
		for q, want := range map[string]string{"D-14467": "14467 Potsdam", "D 14467": "14467 Potsdam", "Uckermark": "Uckermark", "52,42 13,18": "52,42 13,18"} {
			typeKeys(t, b, q)
			b.Do(t, browsertest.Until(fmt.Sprintf(`%s[0]?.startsWith(%q)`, placesFound, want)), browsertest.Until(fmt.Sprintf(`%s.startsWith(%q)`, listStatus, "Lakes near "+want)))
		}
	})
	t.Run("with the keyboard only", func(t *testing.T) {
		typeKeys(t, b, "Munich")
		b.Do(t, browsertest.Until(placesFound+`.length > 0`), chromedp.KeyEvent(kb.Tab), browsertest.Until(`document.activeElement.matches('#near')`), chromedp.KeyEvent(kb.Tab), browsertest.Until(`document.activeElement.matches('#find .places button')`), chromedp.KeyEvent(kb.Enter))
		wantNear(t, b, base, "Munich", "Munich (München), Bayern", 48.14, 11.58)
	})
	t.Run("Enter goes to the lakes if there are any", func(t *testing.T) {
		typeKeys(t, b, "Berlin")
		b.Do(t, browsertest.Until(listStatus+`.includes('10 lakes')`), chromedp.KeyEvent(kb.Enter), browsertest.Until(`document.activeElement.matches('#find li:first-child button')`))
		if id := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.activeElement.dataset.id`)); !strings.HasPrefix(id, "de_be_") {
			t.Errorf("the first lake for Berlin is %s", id)
		}
		for _, id := range browsertest.Ask(t, b, chromedp.Evaluate[[]string](listedLakes)) {
			if !strings.HasPrefix(id, "de_be_") {
				t.Errorf("Berlin finds %s", id)
			}
		}
	})
	t.Run("Enter opens the only lake", func(t *testing.T) {
		typeKeys(t, b, "Mügelsee")
		b.Do(t, browsertest.Until(listedLakes+`.length === 1`), browsertest.Until(listStatus+`.startsWith('1 lake')`), chromedp.KeyEvent(kb.Enter), cardOf("Großer Müggelsee"),
			chromedp.KeyEvent(kb.Escape), browsertest.Until(`document.activeElement.matches('#find li:first-child button')`))
	})
	t.Run("another text leaves the place", func(t *testing.T) {
		typeText(t, b, "")
		b.Do(t, browsertest.Until(`document.querySelector('#find [name=order]').value === 'distance'`), browsertest.Until(`document.querySelector('#find .places').hidden`))
	})
	b.WantNoProblems(t, base)
}

// wantNear checks that the list has all lakes by their distance from a place, and that the map shows the nearest.
func wantNear(t *testing.T, b *browsertest.Browser, base, name, label string, lat, lon float64) {
	t.Helper()
	var near limnomaptest.Status
	limnomaptest.GetJSON(t, fmt.Sprintf("%s/api/v1/bathing-lakes/near?lat=%v&lon=%v&radius_km=20000&limit=500", base, lat, lon), &near)
	waitForList(t, b, name, idsOfLakes(near), true)
	b.Do(t, browsertest.Until(fmt.Sprintf(`%s.startsWith(%q)`, listStatus, "Lakes near "+name)), browsertest.Until(`document.activeElement.matches('#find li:first-child button')`))
	browsertest.Want(t, b, `document.querySelector('#find [name=order]').selectedOptions[0].textContent`, "Distance from "+name, "the order is named")
	browsertest.Want(t, b, `document.querySelector('#q').value`, label, "the field has")
	b.Do(t, browsertest.Until(fmt.Sprintf(`(([zoom, lat, lon]) => zoom >= 8 && zoom <= 12 && Math.hypot(lat - %v, lon - %v) < 0.4)(%s)`, lat, lon, addressPosition)))
}

// On a phone the field opens the list, places are large enough for a thumb, and the list has the lakes near the chosen one.
func TestPageFindsPlacesOnAPhone(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "de-DE")
	b.Prefer(t, "reduced-motion", "reduce")
	b.Do(t, chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2), chromedp.EmulateMobile), chromedp.Navigate(base+"/"), browsertest.Until(`!document.querySelector('#find').hidden`))
	b.Do(t, chromedp.Click("#q"))
	for q, first := range map[string]string{"Müggel": "1 ", "14467": "Seen bei 14467 Potsdam", "München": "Seen bei München"} {
		typeText(t, b, q)
		b.Do(t, browsertest.Until(fmt.Sprintf(`%s.startsWith(%q)`, listStatus, first)))
		// The second line of an entry has the verdict. Only the demo has a notice in the header.
		if bottom := browsertest.Ask(t, b, chromedp.Evaluate[float64](`document.querySelector('#find li .verdict').getBoundingClientRect().bottom
			- document.querySelector('#notice').getBoundingClientRect().height`)); bottom > 370 {
			t.Errorf("with %q in the field the verdict on the first lake is %.0f px from the top, want at most 370: below is the keyboard", q, bottom)
		}
	}
	typeText(t, b, "Neustadt")
	b.Do(t, browsertest.Until(placesFound+`.length === 4`))
	checkAccess(t, b, "places on a phone")
	savePicture(t, b, "places-phone")
	if heights := browsertest.Ask(t, b, chromedp.Evaluate[[]float64](`[...document.querySelectorAll('#find .places button')].map((b) => b.getBoundingClientRect().height)`)); slices.Min(heights) < 44 {
		t.Errorf("the places are %v px high, want at least 44", heights)
	}
	b.Do(t, chromedp.Click("#find .places button"), browsertest.Until(`document.activeElement.matches('#find li:first-child button')`), browsertest.Until(listStatus+`.startsWith('Seen bei Neustadt')`))
	savePicture(t, b, "near-place-phone")
	b.Do(t, chromedp.Click("#find [name=toggle]"), browsertest.Until(addressPosition+`[0] > 7`))
	savePicture(t, b, "near-place-phone-map")
	b.Prefer(t, "color-scheme", "dark")
	b.Do(t, chromedp.Click("#find [name=toggle]"))
	typeText(t, b, "Köln")
	b.Do(t, browsertest.Until(placesFound+`[0]?.startsWith('Köln')`))
	checkAccess(t, b, "places on a phone, dark")
	savePicture(t, b, "places-phone-dark")
	b.WantNoProblems(t, base)
}

// The first visit stores neither the search nor the places. After their first use they work without a connection.
func TestPageFindsPlacesOffline(t *testing.T) {
	t.Parallel()
	f := startFaultyNetwork(t, startServer(t))
	b := startBrowser(t, "en-GB")
	f.visit(t, b)
	for _, name := range []string{"/assets/find-", "/assets/places-"} {
		browsertest.Want(t, b, storedCount(name), 0, "after a visit without a search")
	}
	b.Do(t, chromedp.EmulateViewport(1280, 800))
	typeKeys(t, b, "Köln")
	b.Do(t, browsertest.Until(placesFound+`[0] === 'Köln, Nordrhein-Westfalen'`))
	for _, name := range []string{"/assets/find-", "/assets/places-", "/assets/words-find-"} {
		b.Do(t, browsertest.Until(storedCount(name)+`.then((n) => n === 1)`))
	}
	f.set(broken)
	b.Do(t, chromedp.Reload(), chromedp.WaitVisible("#offline"), browsertest.Until(listReady))
	typeKeys(t, b, "80331")
	b.Do(t, browsertest.Until(placesFound+`[0] === '80331 München, Bayern'`), chromedp.KeyEvent(kb.Enter), browsertest.Until(listStatus+`.startsWith('Lakes near 80331')`))
	typeKeys(t, b, "Mügelsee")
	b.Do(t, browsertest.Until(listedLakes+`[0] === 'de_be_grosser_mueggelsee'`))
	f.wantNoOtherProblems(t, b)
}

// Without the gazetteer the search finds lakes.
func TestPageFindsLakesWithoutPlaces(t *testing.T) {
	t.Parallel()
	front := limnomaptest.Front(t, startServer(t), func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/assets/places-") {
			w.WriteHeader(http.StatusNotFound)
			return true
		}
		return false
	}, nil)
	b := openPage(t, "en-GB", front+"/", browsertest.Until(listReady))
	typeKeys(t, b, "Mügelsee")
	waitForList(t, b, "Mügelsee", []string{"de_be_grosser_mueggelsee"}, true)
	b.WantNoProblems(t, front, "404", "places-")
}

// The map shows what a search finds once the user pauses: not under a card, and not after the user has moved the map.
func TestPageMapFitsFinds(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "en-GB")
	b.Prefer(t, "reduced-motion", "reduce")
	b.Do(t, chromedp.EmulateViewport(1440, 900), chromedp.Navigate(base+"/"), browsertest.Until(listReady))
	at := func(lat, lon, minZoom, maxZoom float64) string {
		return fmt.Sprintf(`(([zoom, lat, lon]) => zoom >= %v && zoom <= %v && Math.hypot(lat - %v, lon - %v) < 0.5)(%s)`, minZoom, maxZoom, lat, lon, addressPosition)
	}
	typeText(t, b, "Mügelsee")
	b.Do(t, browsertest.Until(at(52.44, 13.65, 12, 12))) // one lake is in the middle, and not too near
	typeText(t, b, "Bavaria")
	b.Do(t, browsertest.Until(at(48.6, 11.6, 6, 8)))
	savePicture(t, b, "fits-finds")
	settled := func() []float64 {
		b.Do(t, chromedp.Evaluate[chromedp.Void](`new Promise((done) => setTimeout(done, 2500))`, chromedp.EvalAwaitPromise))
		return browsertest.Ask(t, b, chromedp.Evaluate[[]float64](addressPosition))
	}
	before := settled()
	typeText(t, b, "Müritz")
	b.Do(t, browsertest.Until(listedLakes+`[0] === 'de_mv_mueritz'`), chromedp.Evaluate[chromedp.Void](`document.querySelector('#zoom-in').click()`))
	if after := settled(); after[0] != before[0]+1 || after[1] != before[1] {
		t.Errorf("after the user zoomed in at %v the map is at %v", before, after)
	}
	b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'map=6/51/10&lake=de_by_chiemsee'`), chromedp.WaitVisible("#card"))
	before = settled()
	typeText(t, b, "Wannsee")
	if after := settled(); !slices.Equal(before, after) {
		t.Errorf("under a card the map moved from %v to %v", before, after)
	}
	b.Do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('#card [name=close]').click()`))
	typeKeys(t, b, "Großer Wannsee")                                                                                                  // a part of Berlin is called Wannsee: for that text the map shows the lakes near it
	b.Do(t, browsertest.Until(listedLakes+`.length === 1`), chromedp.KeyEvent(kb.Enter), browsertest.Until(at(52.43, 13.17, 11, 12))) // at once
	b.WantNoProblems(t, base)
}

// Far from all lakes the page shows the nearest ones and says how far they are; near one it stays at the position.
func TestPageLocatesFarFromLakes(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "en-GB")
	b.Prefer(t, "reduced-motion", "reduce")
	b.Do(t, chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2), chromedp.EmulateMobile), chromedp.Navigate(base+"/"), browsertest.Until(heatDrawn))
	const toast = `document.querySelector('#toast p').textContent`
	locateAt(t, b, 48.85, 2.35) // Paris
	b.Do(t, browsertest.Until(`/Your position, to within 50 m\. It stays on this device\. The nearest lake is 3\d\d km away\.$/.test(`+toast+`)`),
		browsertest.Until(`(([zoom, , lon]) => zoom > 4 && zoom < 8 && lon > 3 && lon < 7)(`+addressPosition+`)`),
		browsertest.Until(`document.querySelector('path.position-dot') !== null`))
	savePicture(t, b, "locate-far")
	locateAt(t, b, 52.4383, 13.6519) // in the Müggelsee
	b.Do(t, browsertest.Until(toast+`.endsWith('It stays on this device.')`), browsertest.Until(`(([zoom, lat, lon]) => zoom === 12 && lat === 52.44 && lon === 13.65)(`+addressPosition+`)`))
	locateAt(t, b, 48.878, 9.214) // the Max-Eyth-See is 5 km to the south, below the legend
	b.Do(t, browsertest.Until(`(([zoom, lat]) => zoom > 6 && zoom < 10 && lat > 48 && lat < 50)(`+addressPosition+`)`))
	// The address is the same for all positions in a hundredth of a degree.
	var addresses []string
	for _, lon := range []float64{2.3461, 2.3539} {
		locateAt(t, b, 52.4383, 13.6519)
		b.Do(t, browsertest.Until(`(([zoom]) => zoom === 12)(`+addressPosition+`)`))
		locateAt(t, b, 48.85, lon)
		b.Do(t, browsertest.Until(`(([zoom, , lon]) => zoom > 4 && zoom < 8 && lon > 3 && lon < 7)(`+addressPosition+`)`))
		addresses = append(addresses, browsertest.Ask(t, b, chromedp.Evaluate[string](`location.hash`)))
	}
	if addresses[0] != addresses[1] {
		t.Errorf("the address tells where the user is: %q", addresses)
	}
	b.WantNoProblems(t, base)
}

// A server has the page search a list of places of its own.
func TestPageFindsPlacesOfTheServer(t *testing.T) {
	t.Parallel()
	base := startOwnServer(t, "--places", filepath.Join("..", "..", "data", "gazetteer", "testdata", "places.json"))
	b := openPage(t, "en-GB", base+"/", browsertest.Until(listReady))
	typeKeys(t, b, "Christchurch")
	b.Do(t, browsertest.Until(placesFound+`[0] === 'Christchurch (Ōtautahi), Canterbury'`), browsertest.Until(`document.querySelector('#find form > small').textContent === 'Places: Our own list'`))
	typeKeys(t, b, "Munich")
	b.Do(t, browsertest.Until(listStatus+`.startsWith('No lake found')`))
	if got := browsertest.Ask(t, b, chromedp.Evaluate[[]string](placesFound)); len(got) != 0 {
		t.Errorf("a list without Munich finds %q", got)
	}
	b.WantNoProblems(t, base)
}

// The page's own list of places has the format that the server checks.
func TestPlacesOfThePage(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	body := func(path string) []byte {
		_, body := limnomaptest.Get(t, base+"/"+path)
		return body
	}
	address := regexp.MustCompile(`assets/places-\w+\.json`).FindString(string(body("")))
	var list struct{ Names, Credit string }
	if err := json.Unmarshal(body(address), &list); err != nil {
		t.Fatal(err)
	}
	if err := gazetteer.Check(body(address)); err != nil || strings.Count(list.Names, "\n") < 10_000 || !strings.Contains(list.Credit, "GeoNames") {
		t.Errorf("%s has %d places of %q, %v", address, strings.Count(list.Names, "\n")+1, list.Credit, err)
	}
	if licences := string(body("licences.txt")); !strings.Contains(licences, "https://creativecommons.org/licenses/by/4.0/") {
		t.Error("licences.txt does not name the licence of GeoNames")
	}
}

// Without an answer of the server the page searches only names, and says so.
func TestPageFindsNamesWithoutTheServer(t *testing.T) {
	t.Parallel()
	front := limnomaptest.Front(t, startServer(t), func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/search") {
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		}
		return false
	}, nil)
	b := openPage(t, "en-GB", front+"/", browsertest.Until(listReady))
	typeText(t, b, "starnberger")
	waitForList(t, b, "starnberger", []string{"de_by_starnberger_see"}, true)
	b.Do(t, browsertest.Until(`document.querySelector('#find [role=status]').textContent.includes('The server does not answer')`))
	typeText(t, b, "a region that no name contains")
	b.Do(t, browsertest.Until(`/^No lake found.*The server does not answer/.test(document.querySelector('#find [role=status]').textContent)`))
	b.WantNoProblems(t, front, "429")
}

// A new search cancels the one before, and a search that the server refused is repeated.
func TestPageSearchesAgain(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	var asked, withdrawn, refused atomic.Int32
	front := limnomaptest.Front(t, base, func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/search") {
			return false
		}
		switch q := r.URL.Query().Get("q"); {
		case q == "bayern":
			asked.Add(1)
			<-r.Context().Done()
			withdrawn.Add(1)
			return true
		case q == "hamburg" && refused.Add(1) == 1:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		}
		return false
	}, nil)
	b := openPage(t, "en-GB", front+"/", browsertest.Until(listReady))
	typeText(t, b, "bayern")
	limnomaptest.Within(t, 2*time.Minute, "the server is asked", func() bool { return asked.Load() == 1 })
	var berlin, hamburg limnomaptest.Status
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/search?limit=500&q=berlin", &berlin)
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/search?limit=500&q=hamburg", &hamburg)
	typeText(t, b, "berlin")
	waitForList(t, b, "berlin", idsOfLakes(berlin), false)
	limnomaptest.Within(t, 2*time.Minute, "the question for Bavaria is withdrawn", func() bool { return withdrawn.Load() == 1 })
	typeText(t, b, "hamburg")
	waitForList(t, b, "hamburg, once the server is less busy", idsOfLakes(hamburg), false)
	limnomaptest.Within(t, 2*time.Minute, "the server is asked for Hamburg again", func() bool { return refused.Load() == 2 }) // the page knows Hamburg's lakes too
	b.WantNoProblems(t, front, "429")
}
