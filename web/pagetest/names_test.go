//go:build long

package pagetest

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/store"
	"limnomap/web/browsertest"
)

// mirroringNames are names as an earlier version imported them. Those from right to left are still allowed.
var mirroringNames = []string{"Badesee \u202e", "\u2067See\u202e 1.25\u2069\u202e", "ים כנרת"}

// storeNames makes a database with lakes of these names, which import would reject, from west to east. All have the value 52.1.
func storeNames(t *testing.T, names []string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lakes.db")
	s, err := store.Open(t.Context(), path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var lakes []data.Lake
	var observations []data.Observation
	date, err := data.ParseDate(weekday(0))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		id := data.LakeID(fmt.Sprintf("x%d", i))
		lakes = append(lakes, data.Lake{ID: id, ExternalID: string(id), Name: name, Point: orb.Point{13 + 0.1*float64(i), 53}})
		observations = append(observations, data.Observation{LakeID: id, Date: date, Chlorophyll: 5210, Level: data.NoLevel, CellDensity: data.NoCellDensity})
	}
	err = s.Import(t.Context(), func(tx store.Tx) error {
		if _, err := tx.PutLakes(context.Background(), lakes, store.LakeColumns{}); err != nil {
			return err
		}
		_, err := tx.PutObservations(context.Background(), observations, store.ObservationColumns{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// displayedText returns the characters of an element in the order in which they are displayed in a line from left to right. Lines
// are separated by a line break.
const displayedText = `((root) => {
	const chars = [];
	const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) {
		const text = walker.currentNode;
		for (let i = 0; i < text.length; i++) {
			const range = new Range();
			range.setStart(text, i);
			range.setEnd(text, i + 1);
			const box = range.getBoundingClientRect();
			if (box.width > 0) chars.push({c: text.data[i], x: box.x, y: Math.round(box.y + box.height / 2)});
		}
	}
	chars.sort((a, b) => Math.abs(a.y - b.y) > 6 ? a.y - b.y : a.x - b.x);
	return chars.map(({c, y}, i) => (i > 0 && y - chars[i - 1].y > 6 ? '\n' : '') + c).join('').replaceAll('\u00a0', ' ');
})`

func displayed(t *testing.T, b *browsertest.Browser, selector string) string {
	t.Helper()
	return browsertest.Ask(t, b, chromedp.Evaluate[string](fmt.Sprintf(`%s(document.querySelector(%q))`, displayedText, selector)))
}

// No name changes the order in which the value next to it is displayed: in the tooltip, the list, the card and the table, in an
// iframe too.
func TestPageNamesKeepValues(t *testing.T) {
	t.Parallel()
	base := startServer(t, "--db", storeNames(t, mirroringNames))
	b := startMap(t, "en-GB", base+"/#map=10/53/13", 1280, 800)
	b.Do(t, browsertest.Until(heatDrawn), browsertest.Until(listReady))

	want := "High risk, 52 µg/l"
	for i, name := range mirroringNames {
		setHash(t, b, fmt.Sprintf("#map=10/53/%.1f", 13+0.1*float64(i)))
		m := middleOfMap(t, b)
		b.Do(t, browsertest.Hover(m.X+3, m.Y, `document.querySelector('.leaflet-tooltip bdi') !== null`))
		if got := displayed(t, b, ".leaflet-tooltip"); !strings.Contains(strings.ReplaceAll(got, "\n", " "), ": "+want) {
			t.Errorf("%+q: the tooltip is displayed as %q, want %q in it", name, got, want)
		}
		savePicture(t, b, fmt.Sprintf("tooltip-%d", i))
		entry := fmt.Sprintf("#find [data-id=x%d]", i)
		if got := displayed(t, b, entry); !strings.Contains(got, want) {
			t.Errorf("%+q: the entry of the list is displayed as %q, want %q in it", name, got, want)
		}
		browsertest.Want(t, b, fmt.Sprintf(`getComputedStyle(document.querySelector(%q)).unicodeBidi`, entry+" strong"), "plaintext", "unicode-bidi of names in the list is")
		b.Do(t, chromedp.Click(entry), browsertest.Until(fmt.Sprintf(`document.querySelector('#card [data-fact=chlorophyll]')?.textContent === '52\u00a0µg/l' && location.hash.includes('lake=x%d')`, i)), unfold)
		if got := displayed(t, b, "#card [data-fact=chlorophyll]"); got != "52 µg/l" {
			t.Errorf("%+q: the card shows the value %q", name, got)
		}
		label := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector('#card article').ariaLabel`))
		if strings.ContainsAny(label, "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") || !strings.Contains(strings.ReplaceAll(label, "\u00a0", " "), ": "+want) {
			t.Errorf("%+q: the card's label is %+q", name, label)
		}
		b.Do(t, chromedp.Click("#card [name=close]"), chromedp.WaitNotVisible("#card"))
	}
	b.WantNoProblems(t, base)

	b.Do(t, chromedp.Navigate(base+"/table"))
	waitForDocument(t, b, `document.querySelectorAll('tbody tr').length > 0`)
	savePicture(t, b, "table")
	for i := range mirroringNames {
		row := fmt.Sprintf("tbody tr:has(a[href$='x%d'])", i)
		if got := displayed(t, b, row+" .value"); !strings.HasPrefix(got, "52") {
			t.Errorf("row %d of the table shows the value %q", i, got)
		}
		names := browsertest.Ask(t, b, chromedp.Evaluate[[]string](fmt.Sprintf(`[document.querySelector(%q).textContent, ...[...document.querySelectorAll(%q)].map((a) => a.ariaLabel)]`, row+" th bdi", row+" [aria-label]")))
		if len(names) != 3 || strings.ContainsAny(names[0], "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") {
			t.Errorf("row %d of the table has the names %+q", i, names)
		}
		for _, label := range names[1:] {
			if strings.ContainsAny(label, "\u202a\u202b\u202c\u202d\u202e\u2066\u2067") || strings.Count(label, "\u2068") != strings.Count(label, "\u2069") || strings.Contains(mirroringNames[i], "ים") != strings.Contains(label, "\u2068ים כנרת\u2069") {
				t.Errorf("row %d of the table has the label %+q", i, label)
			}
		}
	}

	b.Do(t, chromedp.Navigate(base+"/embed?lake=x0"), browsertest.Until(`document.querySelector('#card [data-fact=chlorophyll]')?.textContent === '52\u00a0µg/l'`), unfold)
	if got := displayed(t, b, "#card [data-fact=chlorophyll]"); got != "52 µg/l" {
		t.Errorf("the card in an iframe shows the value %q", got)
	}
}
