package pagetest

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

const attributionText = `document.querySelector('.leaflet-control-attribution').textContent.trim()`

// find searches for a text and waits for the list and for the answer of the server, after which the list does not change.
func find(t *testing.T, b *browsertest.Browser, words string) {
	t.Helper()
	b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => {
		document.querySelector('#find [role=status]').value = '';
		performance.clearResourceTimings();
		const field = document.querySelector('#q');
		field.focus();
		field.value = %q;
		field.dispatchEvent(new Event('input'));
	})()`, words)))
	if words != "" {
		b.Do(t, browsertest.Until(`performance.getEntriesByType('resource').some(({name}) => name.includes('/search?'))`))
	}
	b.Do(t, browsertest.Until(`/^\d/.test(document.querySelector('#find [role=status]').value)`), chromedp.WaitVisible("#find li button"))
}

// cardOf waits until the card of a lake is open.
func cardOf(name string) chromedp.Action[chromedp.Void] {
	return browsertest.Until(`document.querySelector('#card h2')?.textContent.includes('` + name + `') && !document.querySelector('#card').hidden`)
}

const noCard = `document.querySelector('#card').hidden`

// weekday returns the Monday that is a number of weeks after this week's, as a date in the data.
func weekday(weeks int) string {
	now := time.Now().UTC()
	return now.AddDate(0, 0, 7*weeks-(int(now.Weekday())+6)%7).Format(time.DateOnly)
}

const chartDrawn = `document.querySelector('#card .plot svg > *') !== null`

// press presses a button of the card. A card grows while it loads, so that a click at a place could miss the button.
func press(text string) chromedp.Action[chromedp.Void] {
	return browsertest.Until(fmt.Sprintf(`(() => {
		const button = [...document.querySelectorAll('#card button')].find((b) => b.checkVisibility() && (b.textContent === %[1]q || b.ariaLabel === %[1]q));
		button?.click();
		return button !== undefined;
	})()`, text))
}

// unfold shows the numbers of the open card, which stay shown on the next one.
var unfold = chromedp.Evaluate[chromedp.Void](`document.querySelector('#card article > details').open = true`)

// says waits until the card contains a text, with its numbers.
func says(text string) chromedp.Action[chromedp.Void] {
	return browsertest.Until(fmt.Sprintf(`(document.querySelector('#card article > details').open = true, document.querySelector('#card').innerText.includes(%q))`, text))
}

// wantCard reports the texts that the open card lacks, with its numbers, and the forbidden texts that it contains.
func wantCard(t *testing.T, b *browsertest.Browser, wants []string, never ...string) {
	t.Helper()
	b.Do(t, unfold)
	card := browsertest.Ask(t, b, chromedp.Text("#card"))
	for _, want := range wants {
		if !strings.Contains(card, want) {
			t.Errorf("card = %[2]q, want %[1]q in it", want, card)
		}
	}
	for _, no := range never {
		if strings.Contains(card, no) {
			t.Errorf("the card contains %q: %s", no, card)
		}
	}
}

func wantNoProblems(t *testing.T, b *browsertest.Browser, base string) {
	t.Helper()
	b.WantNoProblems(t, strings.TrimSuffix(base, "/lakes"))
}

// savePicture saves a picture of the window for a person to look at, with go test -artifacts.
func savePicture(t *testing.T, b *browsertest.Browser, name string) {
	t.Helper()
	if flag.Lookup("test.artifacts").Value.String() != "true" {
		return
	}
	if err := os.WriteFile(filepath.Join(t.ArtifactDir(), name+".png"), browsertest.Ask(t, b, chromedp.CaptureScreenshot()), 0o644); err != nil {
		t.Fatal(err)
	}
}

const embeddedLake = "de_by_starnberger_see"

// listedLakes returns the ids of the listed lakes, in order.
const listedLakes = `[...document.querySelectorAll('#find li button:not(.star)')].map((b) => b.dataset.id)`

const listReady = `document.querySelectorAll('#find li').length > 0`

// typeText replaces the text in the search field.
func typeText(t *testing.T, b *browsertest.Browser, text string) {
	t.Helper()
	b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => {
		const q = document.querySelector('#q');
		q.value = %q;
		q.dispatchEvent(new Event('input'));
	})()`, text)))
}

// waitForList waits until the list shows these lakes, in this order if ordered is set.
func waitForList(t *testing.T, b *browsertest.Browser, what string, want []string, ordered bool) {
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
	if _, err := chromedp.Run(b.Ctx, browsertest.Until(holds)); err != nil {
		t.Fatalf("%s: the list has %.300q, want %.300q", what, browsertest.Ask(t, b, chromedp.Evaluate[[]string](list)), want)
	}
}

func idsOfLakes(answer limnomaptest.Status) (ids []string) {
	for _, lake := range answer.Lakes {
		ids = append(ids, lake.ID)
	}
	return ids
}

// disableScripts disables the scripts of pages. Scripts of the test still run.
func disableScripts(t *testing.T, b *browsertest.Browser) {
	t.Helper()
	browsertest.Enable(t, b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// waitForDocument waits for another document for which the expression is true. During the navigation an evaluation fails.
func waitForDocument(t *testing.T, b *browsertest.Browser, expression string) {
	t.Helper()
	limnomaptest.Within(t, 2*time.Minute, expression, func() bool {
		holds, err := chromedp.Run(b.Ctx, chromedp.Evaluate[bool](`document.readyState === 'complete' && `+expression))
		return err == nil && holds
	})
}

// storedCount returns an expression for the number of stored answers whose addresses contain a text.
func storedCount(words string) string {
	return fmt.Sprintf(`(async () => {
		let n = 0;
		for (const name of await caches.keys()) n += (await (await caches.open(name)).keys()).filter(({url}) => url.includes(%q)).length;
		return n;
	})()`, words)
}

// A mapPosition is the centre and the zoom of the map.
type mapPosition struct{ Zoom, Lat, Lon float64 }

// centreOfMap computes the position from a tile of the heat map, independently of the page's own state.
const centreOfMap = `(() => {
	const img = [...document.querySelectorAll('.heatmap img')].find((i) => i.isConnected);
	const [, z, x, y] = img.src.match(/tiles.(\d+).(\d+).(\d+)/).map(Number);
	const [tile, map] = [img, document.querySelector('#map')].map((e) => e.getBoundingClientRect());
	const across = (x + (map.left + map.width / 2 - tile.left) / tile.width) / 2 ** z;
	const down = (y + (map.top + map.height / 2 - tile.top) / tile.height) / 2 ** z;
	return {zoom: z + Math.log2(tile.width / 256), lon: across * 360 - 180,
		lat: Math.atan(Math.sinh(Math.PI * (1 - 2 * down))) * 180 / Math.PI};
})()`

// wantNothingCutOff reports parts of the card that are beyond the edge of a phone of 320 px.
func wantNothingCutOff(t *testing.T, b *browsertest.Browser, where string) {
	t.Helper()
	const cut = `[...document.querySelectorAll('#card *')].filter((e) => e.getBoundingClientRect().right > 320).map((e) => e.outerHTML.slice(0, 80)).join()`
	browsertest.Want(t, b, cut, "", "%s: cut off on a phone", where)
}

// A point is a place in the window, in pixels.
type point struct{ X, Y float64 }

func middleOfMap(t *testing.T, b *browsertest.Browser) point {
	t.Helper()
	return browsertest.Ask(t, b, chromedp.Evaluate[point](`(() => {
		const r = document.querySelector('#map').getBoundingClientRect();
		return {X: r.left + r.width / 2, Y: r.top + r.height / 2};
	})()`))
}
