package pagetest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"limnomap/web/browsertest"
)

// cardOf waits until the card of a lake is open.
func cardOf(name string) chromedp.Action[chromedp.Void] {
	return browsertest.Until(`document.querySelector('#card h2')?.textContent.includes('` + name + `') && !document.querySelector('#card').hidden`)
}

const noCard = `document.querySelector('#card').hidden`

// The address holds the view: a link shares it, the back button closes the card, and invalid fields are ignored.
func TestPageAddress(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/#lake=de_by_starnberger_see"), cardOf("Starnberger See"))
	b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=de_be_grosser_mueggelsee'`), cardOf("Müggelsee"))
	b.Do(t, chromedp.NavigateBack(), cardOf("Starnberger See"))

	b.Do(t, chromedp.Navigate(base+"/?again"), browsertest.Until(heatDrawn), browsertest.Until(noCard))
	find(t, b, "muggelsee")
	b.Do(t, chromedp.Click("#find li button"), cardOf("Müggelsee"), browsertest.Until(`location.hash.includes('lake=de_b')`))
	b.Do(t, chromedp.NavigateBack(), browsertest.Until(noCard), browsertest.Until(`!location.hash.includes('lake=')`))
	b.Do(t, chromedp.NavigateForward(), cardOf("Müggelsee"))

	// web/test/viewurl.test.mjs has more invalid addresses.
	for _, hash := range []string{"map=6/95/10&lake=../x&opacity=-5&risk=%00&style=<b>", "%"} {
		b.Do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(base+"/#"+hash), browsertest.Until(heatDrawn))
	}
	b.WantNoProblems(t, base)
}

// Old values are shown, but with a warning.
func TestPageOfOldValues(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "lakes.db")
	importCSV(t, db, "id,name,lat,lon,region\nold,Altsee,52.4,13.6,Berlin\n", "lake_id,date,chl,data_type\nold,2024-11-11,5,satellite\n")
	base := startOwnServer(t, "--db", db)
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.Navigate(base+"/#lake=old"), cardOf("Altsee"))
	if said := browsertest.Ask(t, b, chromedp.Text("header .warning")); !strings.HasPrefix(said, "Old values") || !strings.Contains(said, "2024") {
		t.Errorf("the page says %q about values of 2024", said)
	}
	b.WantNoProblems(t, base)
}
