//go:build long

package pagetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

// The card of a lake with medium or high risk has the nearest lakes with a lower one, and no other card has.
func TestPageCardLowerRisk(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	type record struct {
		ID, Name, Risk string
		Lat, Lon       float64
		Chl            *float64
		MeasuredAt     time.Time `json:"measured_at"`
	}
	type list struct{ Lakes []record }
	var status list
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/status", &status)
	levels := map[string]int{"low": 0, "medium": 1, "high": 2}
	today := time.Now().UTC().Truncate(24 * time.Hour)
	current := func(l record) bool {
		return l.Chl != nil && today.Sub(l.MeasuredAt.Truncate(24*time.Hour)) <= 14*24*time.Hour
	}
	var lake record
	var want []string
	for _, l := range status.Lakes { // a lake of high risk with both kinds of neighbours
		if !current(l) || l.Risk != "high" {
			continue
		}
		var near list
		limnomaptest.GetJSON(t, fmt.Sprintf("%s/api/v1/bathing-lakes/near?lat=%v&lon=%v&radius_km=50&limit=100", base, l.Lat, l.Lon), &near)
		lower := slices.DeleteFunc(near.Lakes, func(n record) bool { return !current(n) || levels[n.Risk] >= 2 })
		if len(lower) >= 3 {
			lake = l
			want = []string{lower[0].Name, lower[1].Name, lower[2].Name}
			break
		}
	}
	if lake.ID == "" {
		t.Fatal("the demo has no lake of high risk with better ones near it")
	}
	const names = `[...document.querySelectorAll('#card .lower:not([hidden]) bdi')].map((e) => e.textContent)`
	b := startBrowser(t, "en-GB")
	b.Prefer(t, "reduced-motion", "reduce")
	b.Do(t, chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2), chromedp.EmulateMobile), chromedp.Navigate(base+"/#lake="+lake.ID), browsertest.Until(names+`.length === 3`))
	if got := browsertest.Ask(t, b, chromedp.Evaluate[[]string](names)); !slices.Equal(got, want) {
		t.Errorf("%s has the lakes %q with lower risk, want %q", lake.Name, got, want)
	}
	browsertest.WantText(t, b, chromedp.Evaluate[string](`[...document.querySelectorAll('#card .lower small')].map((e) => /2\d{3} · [\d.,]+\u00a0km$/.test(e.textContent) ? 'dated' : e.textContent).join()`),
		"each lake with lower risk has the day of its value", "dated,dated,dated")
	browsertest.WantText(t, b, chromedp.Evaluate[string](`document.querySelector('#card .lower').textContent`), "the lakes with lower risk come with", "look at the water there too")
	for _, scheme := range []string{"dark", "light"} {
		b.Prefer(t, "color-scheme", scheme)
		checkAccess(t, b, "lakes with lower risk, "+scheme)
		b.Do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('#card .lower').scrollIntoView({block: 'center'})`))
		savePicture(t, b, "lower-"+scheme)
	}
	b.Do(t, chromedp.Click("#card .lower button"), browsertest.Until(fmt.Sprintf(`document.querySelector('#card h2').textContent === %q`, want[0])))
	b.Do(t, chromedp.Evaluate[chromedp.Void](`history.back()`), browsertest.Until(fmt.Sprintf(`document.querySelector('#card h2').textContent === %q`, lake.Name)), browsertest.Until(names+`.length === 3`))

	low := status.Lakes[slices.IndexFunc(status.Lakes, func(l record) bool { return current(l) && l.Risk == "low" })]
	for _, hash := range []string{"lake=" + low.ID, "date=2026-07-08&lake=" + lake.ID} {
		b.Do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(base+"/#"+hash), browsertest.Until(chartDrawn))
		if got := browsertest.Ask(t, b, chromedp.Evaluate[[]string](names)); len(got) != 0 {
			t.Errorf("the card of %s has the lakes %q with lower risk", hash, got)
		}
	}
}
