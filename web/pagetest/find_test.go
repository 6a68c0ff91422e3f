package pagetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/paulmach/orb"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
	"limnomap/web/browsertest"
)

// selectOrder selects the order of the list.
func selectOrder(t *testing.T, b *browsertest.Browser, order string) {
	t.Helper()
	b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => {
		const select = document.querySelector('#find [name=order]');
		select.value = %q;
		select.dispatchEvent(new Event('change'));
	})()`, order)))
}

func TestPageFind(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "en-GB")
	b.Prefer(t, "reduced-motion", "reduce")
	b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/"), browsertest.Until(listReady))
	var status limnomaptest.Status
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/status", &status)
	t.Run("all, the nearest to the middle of the map first", func(t *testing.T) {
		km := browsertest.Ask(t, b, chromedp.Evaluate[[]float64](`[...document.querySelectorAll('#find li button:not(.star)')].map((b) => parseFloat(b.lastChild.textContent))`))
		if len(km) != status.TotalLakes || !slices.IsSorted(km) {
			t.Errorf("the distances of %d lakes are %v, want those of all %d, sorted", len(km), km, status.TotalLakes)
		}
		selectOrder(t, b, "value")
	})
	t.Run("all, the worst first", func(t *testing.T) {
		var valued []string
		for _, lake := range status.Lakes {
			if lake.Chl != nil {
				valued = append(valued, lake.ID)
			}
		}
		got := browsertest.Ask(t, b, chromedp.Evaluate[[]string](listedLakes))
		if len(got) != status.TotalLakes || len(valued) == len(got) {
			t.Fatalf("the list holds %d lakes, %d with a value, want %d and fewer", len(got), len(valued), status.TotalLakes)
		}
		chl := make(map[string]float64)
		for _, lake := range status.Lakes {
			chl[lake.ID] = sortValue(lake.Chl)
		}
		if !slices.IsSortedFunc(got, func(x, y string) int { return cmp.Compare(chl[y], chl[x]) }) {
			t.Errorf("the list is not sorted by value: %q", got)
		}
		for _, id := range got[len(valued):] {
			text := browsertest.Ask(t, b, chromedp.Evaluate[string](fmt.Sprintf(`document.querySelector('#find [data-id=%q]').textContent`, id)))
			if !strings.Contains(text, "No current value") {
				t.Errorf("without a value, the list says %q", text)
			}
		}
		b.Do(t, browsertest.Until(fmt.Sprintf(`document.querySelector('#find [role=status]').textContent === '%d lakes'`, status.TotalLakes)))
	})
	t.Run("by name", func(t *testing.T) { testFindByName(t, b, base) })
	t.Run("by region", func(t *testing.T) { testFindByRegion(t, b, base) })
	t.Run("orders", func(t *testing.T) { testFindOrders(t, b, base) })
	t.Run("by risk", func(t *testing.T) { testFindByRisk(t, b, base, status) })
	t.Run("of the last seven days", func(t *testing.T) { testFindSeen(t, b, base, status) })
	t.Run("opens a lake", func(t *testing.T) { testFindOpens(t, b) })
	t.Run("near the user", func(t *testing.T) { testFindNearReader(t, b, base) })
	checkAccess(t, b, "the list by distance")
	b.WantNoProblems(t, base)
}

// sortValue returns a number to sort by: a missing value is less than any value.
func sortValue(chl *float64) float64 {
	if chl == nil {
		return -1
	}
	return *chl
}

func testFindByName(t *testing.T, b *browsertest.Browser, base string) {
	for _, q := range testsize.Cases(1, []string{"muggelsee", "GROßER", "grosser", "gröss", "MUEGGELSEE"}) {
		var found limnomaptest.Status
		limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/search?limit=500&q="+url.QueryEscape(q), &found)
		if found.TotalLakes == 0 {
			t.Fatalf("the demo has no lake named %s", q)
		}
		typeText(t, b, "")
		b.Do(t, chromedp.SendKeys("#q", q))
		waitForList(t, b, q, idsOfLakes(found), false)
	}
	typeText(t, b, "no such lake")
	b.Do(t, browsertest.Until(`document.querySelector('#find [role=status]').textContent.startsWith('No lake found')`))
	typeText(t, b, "")
}

func testFindByRegion(t *testing.T, b *browsertest.Browser, base string) {
	var found, first limnomaptest.Status
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/search?limit=500&q=berlin", &found)
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/search?limit=1&q=wannsee", &first)
	if found.TotalLakes < 5 || !slices.Contains(idsOfLakes(found), first.Lakes[0].ID) {
		t.Fatalf("Berlin has %d lakes in the demo, want the Wannsee among them", found.TotalLakes)
	}
	typeText(t, b, "Berlin")
	waitForList(t, b, "Berlin", idsOfLakes(found), false)
	typeText(t, b, "")
}

func testFindOrders(t *testing.T, b *browsertest.Browser, base string) {
	const lat, lon, zoom = 52.44, 13.65, 10
	b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = 'map=%d/%v/%v'`, zoom, lat, lon)))
	var near limnomaptest.Status
	limnomaptest.GetJSON(t, fmt.Sprintf("%s/api/v1/bathing-lakes/near?lat=%v&lon=%v&radius_km=20000&limit=500", base, lat, lon), &near)
	selectOrder(t, b, "distance")
	waitForList(t, b, "by distance", idsOfLakes(near), true)
	km := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector('#find li button').lastChild.textContent`))
	want := math.Round(metresBetween(orb.Point{lon, lat}, orb.Point{near.Lakes[0].Lon, near.Lakes[0].Lat})/100) / 10
	if km != fmt.Sprintf("%v km", want) {
		t.Errorf("the nearest lake is %q away, want %v km", km, want)
	}
	browsertest.Want(t, b, `document.querySelector('#find [name=order]').selectedOptions[0].textContent`, "Distance from the map’s centre", "the order is named")

	// The lowest risk first: current values, then old ones, then lakes without a value.
	b.Do(t, chromedp.Click("#find [name=cleanest]"))
	waitForList(t, b, "the cleanest nearby", idsOfLakes(limnomaptest.Status{Lakes: near.Lakes[:20]}), false)
	facts := browsertest.Ask(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll('#find li strong ~ span')].map((e) => e.textContent)`))
	rank := func(facts string) int {
		class := slices.IndexFunc([]string{"Low", "Medium", "High", "No current"}, func(name string) bool { return strings.HasPrefix(facts, name) })
		if strings.Contains(facts, "old value") {
			class += 3
		} else if class == 3 {
			class = 6
		}
		return class
	}
	if !slices.IsSortedFunc(facts, func(x, y string) int { return rank(x) - rank(y) }) || rank(facts[0]) != 0 {
		t.Errorf("the list is not sorted by the lowest risk: %q", facts)
	}

	selectOrder(t, b, "name")
	names := browsertest.Ask(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll('#find li strong')].map((e) => e.textContent)`))
	if sorted := browsertest.Ask(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll('#find li strong')].map((e) => e.textContent).sort(new Intl.Collator('en').compare)`)); !slices.Equal(names, sorted) {
		t.Errorf("the list is not sorted by name: %q", names)
	}
	selectOrder(t, b, "value")
}

// metresBetween uses the haversine formula, independently of the server.
func metresBetween(a, b orb.Point) float64 {
	const radius, degree = 6_371_008.8, math.Pi / 180
	half := func(x float64) float64 { return math.Pow(math.Sin(x*degree/2), 2) }
	h := half(b.Lat()-a.Lat()) + math.Cos(a.Lat()*degree)*math.Cos(b.Lat()*degree)*half(b.Lon()-a.Lon())
	return 2 * radius * math.Asin(math.Sqrt(h))
}

func testFindByRisk(t *testing.T, b *browsertest.Browser, base string, status limnomaptest.Status) {
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
		if n := browsertest.Ask(t, b, chromedp.Evaluate[string](label+`.lastElementChild.textContent`)); n != fmt.Sprint(len(with[risk])) || n == "0" {
			t.Errorf("%[2]s: count %[1]s, want %[3]d", n, risk, len(with[risk]))
		}
		b.Do(t, chromedp.Click("#find [value="+risk+"]"))
		waitForList(t, b, risk, with[risk], false)
		b.Do(t, browsertest.Until(`location.hash.includes('risk=`+risk+`')`))
		if risk != "high" {
			b.Do(t, chromedp.Click("#find [value="+risk+"]"))
			continue
		}
		b.Do(t, chromedp.Reload(), browsertest.Until(listReady))
		waitForList(t, b, "high, after a reload", with[risk], false)
		b.Do(t, chromedp.Click("#find [value=none]"))
		waitForList(t, b, "high and none", append(slices.Clone(with[risk]), with["none"]...), false)
		b.Do(t, chromedp.Click("#find [value=none]"), chromedp.Click("#find [value=high]"))
	}
	waitForList(t, b, "all", idsOfLakes(status), false)
	if hash := browsertest.Ask(t, b, chromedp.Evaluate[string](`location.hash`)); strings.Contains(hash, "risk") {
		t.Errorf("without a filter the address is %s", hash)
	}
}

func testFindOpens(t *testing.T, b *browsertest.Browser) {
	typeText(t, b, "")
	b.Do(t,
		chromedp.SendKeys("#q", "grosser"),
		browsertest.Until(`document.querySelectorAll('#find li').length < 50`),
		chromedp.KeyEvent(kb.Enter), // focuses the first lake
		browsertest.Until(`document.activeElement.matches('#find li:first-child button')`),
		chromedp.KeyEvent(kb.Tab),
		browsertest.Until(`document.activeElement.matches('#find li:nth-child(2) button')`),
	)
	id := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.activeElement.dataset.id`))
	b.Do(t,
		chromedp.KeyEvent(kb.Enter),
		chromedp.WaitVisible("#card h2"),
		browsertest.Until(`location.hash.includes('lake=`+id+`')`),
		browsertest.Until(`document.querySelector('#card').contains(document.activeElement)`),
		chromedp.KeyEvent(kb.Escape),
		browsertest.Until(`document.activeElement.dataset.id === '`+id+`'`),
	)
	typeText(t, b, "")
}

func testFindNearReader(t *testing.T, b *browsertest.Browser, base string) {
	const lat, lon = 53.4183, 12.6919
	var near limnomaptest.Status
	limnomaptest.GetJSON(t, fmt.Sprintf("%s/api/v1/bathing-lakes/near?lat=%v&lon=%v&radius_km=20000&limit=500", base, lat, lon), &near)
	b.Do(t, chromedp.Reload(), browsertest.Until(listReady))
	locateAt(t, b, lat, lon)
	waitForList(t, b, "near the user", idsOfLakes(near), true)
	browsertest.Want(t, b, `document.querySelector('#find [name=order]').selectedOptions[0].textContent`, "Distance from you", "the order is named")
}

// The server finds the names that web/test/fold.test.mjs wants from the page.
func TestSearchFoldsNames(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join("..", "test", "fold.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases struct {
		Lakes   map[string]string
		Queries map[string][]string
	}
	if err := json.Unmarshal(content, &cases); err != nil {
		t.Fatal(err)
	}
	rows := "id,name,lat,lon\n"
	for id, name := range cases.Lakes {
		rows += id + "," + name + ",52." + id[1:] + ",13\n"
	}
	db := filepath.Join(t.TempDir(), "lakes.db")
	importCSV(t, db, rows, "lake_id,date,chl,data_type\nx00,"+weekday(0)+",5,satellite\n")
	base := startOwnServer(t, "--db", db)
	for query, want := range cases.Queries {
		var found limnomaptest.Status
		limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/search?limit=500&q="+url.QueryEscape(query), &found)
		if got := slices.Sorted(slices.Values(idsOfLakes(found))); !slices.Equal(got, want) {
			t.Errorf("search for %q = %q, want %q", query, got, want)
		}
	}
}

// locateAt presses the button that shows the user's position, which is there.
func locateAt(t *testing.T, b *browsertest.Browser, lat, lon float64) {
	t.Helper()
	b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => {
		navigator.geolocation.getCurrentPosition = (found) => found({coords: {latitude: %v, longitude: %v, accuracy: 50}});
		document.querySelector('#locate').click();
	})()`, lat, lon)))
}

// The filter of the last seven days shows the lakes that were measured in them, and its number is theirs. The address holds it.
func testFindSeen(t *testing.T, b *browsertest.Browser, base string, status limnomaptest.Status) {
	t.Helper()
	today := time.Now().UTC().Truncate(day)
	var seen []string
	for _, lake := range status.Lakes {
		if lake.Chl != nil && today.Sub(lake.MeasuredAt.UTC().Truncate(day)) <= 7*day {
			seen = append(seen, lake.ID)
		}
	}
	typeText(t, b, "")
	b.Do(t, chromedp.Click(`#find [name=seen]`), browsertest.Until(`location.hash.includes('seen=7')`))
	browsertest.Want(t, b, `document.querySelector('#find [name=seen]').parentElement.querySelector('.n').textContent`, strconv.Itoa(len(seen)), "the number beside the filter")
	if len(seen) > 0 {
		waitForList(t, b, "seen in seven days", seen, false)
	}
	// The tiles show older values too: they are pale, whatever the style, and the page says why.
	const tiles = `getComputedStyle(document.querySelector('.heatmap')).filter`
	b.Do(t, browsertest.Until(`document.querySelector('#find [role=status]').textContent.endsWith('The pale colours of the map show older values too')`))
	for _, style := range []string{"dots", "lakes", "pixels", "heat"} {
		b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash += '&style=%s'`, style)), browsertest.Until(tiles+`.includes('opacity(0.35)')`))
	}
	checkAccess(t, b, "the lakes of seven days")
	b.Do(t, chromedp.Click(`#find [name=seen]`), browsertest.Until(`!location.hash.includes('seen')`), browsertest.Until(tiles+` === 'none'`))
}
