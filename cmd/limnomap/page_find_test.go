package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/paulmach/orb"
)

// listedLakes gives the ids of the lakes that the list shows, in its order.
const listedLakes = `[...document.querySelectorAll('#find li button')].map((b) => b.dataset.id)`

const listReady = `document.querySelectorAll('#find li').length > 0`

// typeText puts a text into the field as a key would.
func (b *browser) typeText(t *testing.T, text string) {
	t.Helper()
	b.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => {
		const q = document.querySelector('#q');
		q.value = %q;
		q.dispatchEvent(new Event('input'));
	})()`, text)))
}

// pick has the list take an order.
func (b *browser) pick(t *testing.T, order string) {
	t.Helper()
	b.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => {
		const select = document.querySelector('#find [name=order]');
		select.value = %q;
		select.dispatchEvent(new Event('change'));
	})()`, order)))
}

// listed waits until the list shows those lakes, in any order unless it is told to matter.
func (b *browser) listed(t *testing.T, what string, want []string, ordered bool) {
	t.Helper()
	if !ordered {
		want = slices.Sorted(slices.Values(want))
	}
	wanted, err := json.Marshal(append([]string{}, want...))
	if err != nil {
		t.Fatal(err)
	}
	list := listedLakes
	if !ordered {
		list += ".sort()"
	}
	holds := fmt.Sprintf(`JSON.stringify(%s) === %q`, list, wanted)
	if _, err := chromedp.Run(b.ctx, until(holds)); err != nil {
		t.Fatalf("%s: the list has %.300q, want %.300q", what, ask(t, b, chromedp.Evaluate[[]string](list)), want)
	}
}

func idsOfLakes(answer statusAnswer) (ids []string) {
	for _, lake := range answer.Lakes {
		ids = append(ids, lake.ID)
	}
	return ids
}

func TestPageFind(t *testing.T) {
	base, _ := startServer(t, "--basemap-url", "none")
	b := startBrowser(t, "en")
	b.prefer(t, "reduced-motion", "reduce")
	b.do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/"), until(listReady))
	var status statusAnswer
	getJSON(t, base+"/api/v1/bathing-lakes/status", &status)
	t.Run("all, the worst first", func(t *testing.T) {
		var valued []string
		for _, lake := range status.Lakes {
			if lake.Chl != nil {
				valued = append(valued, lake.ID)
			}
		}
		got := ask(t, b, chromedp.Evaluate[[]string](listedLakes))
		if len(got) != status.TotalLakes || len(valued) == len(got) {
			t.Fatalf("the list holds %d lakes, %d with a value, want %d and fewer", len(got), len(valued), status.TotalLakes)
		}
		chl := make(map[string]float64)
		for _, lake := range status.Lakes {
			chl[lake.ID] = worst(lake.Chl)
		}
		if !slices.IsSortedFunc(got, func(x, y string) int { return cmp.Compare(chl[y], chl[x]) }) {
			t.Errorf("the list is not sorted by value: %q", got)
		}
		for _, id := range got[len(valued):] {
			text := ask(t, b, chromedp.Evaluate[string](fmt.Sprintf(`document.querySelector('#find [data-id=%q]').textContent`, id)))
			if !strings.Contains(text, "No current value") {
				t.Errorf("without a value, the list says %q", text)
			}
		}
		b.do(t, until(fmt.Sprintf(`document.querySelector('#find [role=status]').textContent === '%d lakes'`, status.TotalLakes)))
	})
	t.Run("by name", func(t *testing.T) { testFindByName(t, b, base) })
	t.Run("by region", func(t *testing.T) { testFindByRegion(t, b, base) })
	t.Run("orders", func(t *testing.T) { testFindOrders(t, b, base) })
	t.Run("by risk", func(t *testing.T) { testFindByRisk(t, b, base, status) })
	t.Run("opens a lake", func(t *testing.T) { testFindOpens(t, b) })
	t.Run("near the reader", func(t *testing.T) { testFindNearReader(t, b, base) })
	startAxe(t, b)
	checkAccess(t, b, "the list by distance")
	b.wantNoProblems(t, base)
}

// worst is a value to sort by: none is less than any.
func worst(chl *float64) float64 {
	if chl == nil {
		return -1
	}
	return *chl
}

func testFindByName(t *testing.T, b *browser, base string) {
	for _, q := range []string{"grosser", "GROßER", "gröss", "muggelsee", "MUEGGELSEE"} {
		var found statusAnswer
		getJSON(t, base+"/api/v1/bathing-lakes/search?limit=500&q="+url.QueryEscape(q), &found)
		if found.TotalLakes == 0 {
			t.Fatalf("the demo has no lake named %s", q)
		}
		b.typeText(t, "")
		b.do(t, chromedp.SendKeys("#q", q))
		b.listed(t, q, idsOfLakes(found), false)
	}
	b.typeText(t, "no such lake")
	b.do(t, until(`document.querySelector('#find [role=status]').textContent.startsWith('No lake found')`))
	b.typeText(t, "")
}

func testFindByRegion(t *testing.T, b *browser, base string) {
	var found, first statusAnswer
	getJSON(t, base+"/api/v1/bathing-lakes/search?limit=500&q=berlin", &found)
	getJSON(t, base+"/api/v1/bathing-lakes/search?limit=1&q=wannsee", &first)
	if found.TotalLakes < 5 || !slices.Contains(idsOfLakes(found), first.Lakes[0].ID) {
		t.Fatalf("Berlin has %d lakes in the demo, want the Wannsee among them", found.TotalLakes)
	}
	b.typeText(t, "Berlin")
	b.listed(t, "Berlin", idsOfLakes(found), false)
	b.typeText(t, "")
}

func testFindOrders(t *testing.T, b *browser, base string) {
	const lat, lon, zoom = 52.44, 13.65, 10
	b.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = 'map=%d/%v/%v'`, zoom, lat, lon)))
	var near statusAnswer
	getJSON(t, fmt.Sprintf("%s/api/v1/bathing-lakes/near?lat=%v&lon=%v&radius_km=20000&limit=500", base, lat, lon), &near)
	b.pick(t, "distance")
	b.listed(t, "by distance", idsOfLakes(near), true)
	km := ask(t, b, chromedp.Evaluate[string](`document.querySelector('#find li button').lastChild.textContent`))
	want := math.Round(metresBetween(orb.Point{lon, lat}, orb.Point{near.Lakes[0].Lon, near.Lakes[0].Lat})/100) / 10
	if km != fmt.Sprintf("%v km", want) {
		t.Errorf("the nearest lake is %q away, want %v km", km, want)
	}
	if label := ask(t, b, chromedp.Evaluate[string](`document.querySelector('#find [name=order]').selectedOptions[0].textContent`)); label != "Distance from the middle" {
		t.Errorf("the order is called %q, which does not say from where", label)
	}

	b.pick(t, "name")
	names := ask(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll('#find li strong')].map((e) => e.textContent)`))
	if sorted := ask(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll('#find li strong')].map((e) => e.textContent).sort(new Intl.Collator('en').compare)`)); !slices.Equal(names, sorted) {
		t.Errorf("by name the list is %q", names)
	}
	b.pick(t, "value")
}

// metresBetween is by the haversine formula, which the page does not share with the server.
func metresBetween(a, b orb.Point) float64 {
	const radius, degree = 6_371_008.8, math.Pi / 180
	half := func(x float64) float64 { return math.Pow(math.Sin(x*degree/2), 2) }
	h := half(b.Lat()-a.Lat()) + math.Cos(a.Lat()*degree)*math.Cos(b.Lat()*degree)*half(b.Lon()-a.Lon())
	return 2 * radius * math.Asin(math.Sqrt(h))
}

func testFindByRisk(t *testing.T, b *browser, base string, status statusAnswer) {
	with := make(map[string][]string)
	for _, lake := range status.Lakes {
		risk := lake.Risk
		if lake.Chl == nil {
			risk = "none"
		}
		with[risk] = append(with[risk], lake.ID)
	}
	for _, risk := range []string{"low", "medium", "high", "none"} {
		label := fmt.Sprintf(`document.querySelector('#find [value=%s]').parentElement`, risk)
		if n := ask(t, b, chromedp.Evaluate[string](label+`.lastElementChild.textContent`)); n != fmt.Sprint(len(with[risk])) || n == "0" {
			t.Errorf("there are %s of %s, want %d", n, risk, len(with[risk]))
		}
		b.do(t, chromedp.Click("#find [value="+risk+"]"))
		b.listed(t, risk, with[risk], false)
		b.do(t, until(`location.hash.includes('risk=`+risk+`')`))
		if risk != "high" {
			b.do(t, chromedp.Click("#find [value="+risk+"]"))
			continue
		}
		b.do(t, chromedp.Reload(), until(listReady))
		b.listed(t, "high, after a reload", with[risk], false)
		b.do(t, chromedp.Click("#find [value=none]"))
		b.listed(t, "high and none", append(slices.Clone(with[risk]), with["none"]...), false)
		b.do(t, chromedp.Click("#find [value=none]"), chromedp.Click("#find [value=high]"))
	}
	b.listed(t, "all", idsOfLakes(status), false)
	if hash := ask(t, b, chromedp.Evaluate[string](`location.hash`)); strings.Contains(hash, "risk") {
		t.Errorf("with all shown the address is %s", hash)
	}
}

func testFindOpens(t *testing.T, b *browser) {
	b.typeText(t, "")
	b.do(t,
		chromedp.SendKeys("#q", "grosser"),
		until(`document.querySelectorAll('#find li').length < 50`),
		chromedp.KeyEvent(kb.Enter), // goes to the first
		until(`document.activeElement.matches('#find li:first-child button')`),
		chromedp.KeyEvent(kb.Tab),
		until(`document.activeElement.matches('#find li:nth-child(2) button')`),
	)
	id := ask(t, b, chromedp.Evaluate[string](`document.activeElement.dataset.id`))
	b.do(t,
		chromedp.KeyEvent(kb.Enter),
		chromedp.WaitVisible("#card h2"),
		until(`location.hash.includes('lake=`+id+`')`),
		until(`document.querySelector('#card').contains(document.activeElement)`),
		chromedp.KeyEvent(kb.Escape),
		until(`document.activeElement.dataset.id === '`+id+`'`),
	)
	b.typeText(t, "")
}

func testFindNearReader(t *testing.T, b *browser, base string) {
	const lat, lon = 53.4183, 12.6919
	var near statusAnswer
	getJSON(t, fmt.Sprintf("%s/api/v1/bathing-lakes/near?lat=%v&lon=%v&radius_km=20000&limit=500", base, lat, lon), &near)
	b.do(t, chromedp.Reload(), until(listReady), chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => {
		navigator.geolocation.getCurrentPosition = (found) => found({coords: {latitude: %v, longitude: %v, accuracy: 50}});
		document.querySelector('#locate').click();
	})()`, lat, lon)))
	b.listed(t, "near the reader", idsOfLakes(near), true)
	if label := ask(t, b, chromedp.Evaluate[string](`document.querySelector('#find [name=order]').selectedOptions[0].textContent`)); label != "Distance from you" {
		t.Errorf("the order is called %q", label)
	}
}

// The page folds names as the server does: what the page finds alone is what the server finds.
func TestPageFindsNamesAsTheServerDoes(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	rows := "id,name,lat,lon\n"
	for i, name := range []string{"Großer Müggelsee", "Sø", "Łeba", "Ærø", "Lac d’Aiguebelette", "Mueggelspree", "Ōnuma", "Żywieckie", "ＷＩＤＥ", "Straße am See", "Århus Sø", "Waiʻaleʻale", "İznik"} {
		rows += fmt.Sprintf("x%02d,%s,52.%d,13\n", i, name, i)
	}
	mustRun(t, "import", "lakes", "--db", db, writeFile(t, dir, "lakes.csv", rows))
	mustRun(t, "import", "observations", "--db", db, writeFile(t, dir, "obs.csv", "lake_id,date,chl,data_type\nx00,2024-11-11,5,satellite\n"))
	base, _ := startServer(t, "--db", db, "--basemap-url", "none")
	front := startFront(t, base, func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/search") {
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		}
		return false
	})
	b := startBrowser(t, "en")
	b.do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(front+"/"), until(listReady))
	for _, q := range []string{"muggel", "MUEGGEL", "müggel", "soe", "so", "leba", "aero", "d'aigue", "onuma", "zywiec", "wide", "strasse-am", "aarhus", "arhus", "wai'ale", "iznik", "GROẞER", "see", "e"} {
		var found statusAnswer
		getJSON(t, base+"/api/v1/bathing-lakes/search?limit=500&q="+url.QueryEscape(q), &found)
		if found.TotalLakes == 0 {
			t.Fatalf("the server finds nothing for %q", q)
		}
		b.typeText(t, q)
		b.listed(t, q, idsOfLakes(found), false)
	}
	b.do(t, until(`document.querySelector('#find [role=status]').textContent.includes('The server does not answer')`))
	b.typeText(t, "a region that no name holds")
	b.do(t, until(`/^No lake found.*The server does not answer/.test(document.querySelector('#find [role=status]').textContent)`))
	for _, p := range b.problems(front) {
		if !strings.Contains(p, "429") {
			t.Errorf("on the page: %s", p)
		}
	}
}

// A question that another one follows is withdrawn; and a server that was too busy is asked again.
func TestPageSearchesAgain(t *testing.T) {
	base, _ := startServer(t, "--basemap-url", "none")
	var asked, withdrawn, refused atomic.Int32
	front := startFront(t, base, func(w http.ResponseWriter, r *http.Request) bool {
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
	})
	b := startBrowser(t, "en")
	b.do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(front+"/"), until(listReady))
	b.typeText(t, "bayern")
	within(t, 30*time.Second, "the server is asked", func() bool { return asked.Load() == 1 })
	var berlin, hamburg statusAnswer
	getJSON(t, base+"/api/v1/bathing-lakes/search?limit=500&q=berlin", &berlin)
	getJSON(t, base+"/api/v1/bathing-lakes/search?limit=500&q=hamburg", &hamburg)
	b.typeText(t, "berlin")
	b.listed(t, "berlin", idsOfLakes(berlin), false)
	within(t, 30*time.Second, "the question for Bavaria is withdrawn", func() bool { return withdrawn.Load() == 1 })
	b.typeText(t, "hamburg")
	b.listed(t, "hamburg, once the server is less busy", idsOfLakes(hamburg), false)
	if refused.Load() != 2 {
		t.Errorf("the server was asked %d times for Hamburg, want 2", refused.Load())
	}
	for _, p := range b.problems(front) {
		if !strings.Contains(p, "429") {
			t.Errorf("on the page: %s", p)
		}
	}
}
