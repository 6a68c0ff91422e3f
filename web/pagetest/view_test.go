//go:build long

package pagetest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"limnomap/data/demo"
	"limnomap/web/browsertest"
)

// The address holds the view: a link shares it, the back button closes the card, and invalid fields are ignored.
func TestPageAddress(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := openPage(t, "en-GB", base+"/#lake=de_by_starnberger_see", cardOf("Starnberger See"))
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

// A reported level may be worse than the chlorophyll suggests, as with scum. The lake's colour shows only the chlorophyll; the page
// must not look cleaner. A level that is lower changes nothing.
func TestPageOfReportedLevels(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "lakes.db")
	importCSV(t, db,
		"id,name,lat,lon,region\nscum,Scumsee,52.4,13.6,Berlin\nharmless,Blumsee,53.1,13.0,Brandenburg\nclean,Klarsee,52.9,14.1,Brandenburg\n",
		strings.ReplaceAll("lake_id,date,chl,data_type,who_level\nscum,DAY,5,satellite,3\nharmless,DAY,80,satellite,0\nclean,DAY,5,satellite,\n", "DAY", weekday(0)))
	base := startOwnServer(t, "--db", db)
	for language, cards := range map[string][]struct {
		name, risk string   // in the order of the list
		says       []string // the card
		level      string   // on the card, at the end of its line
	}{
		"en-GB": {
			{"Scumsee", "high", []string{"High risk (reported)", "do not bathe", "People at the lake reported"}, "3: high (reported)"},
			{"Blumsee", "high", []string{"High risk", "do not bathe"}, "2: high"},
			{"Klarsee", "low", []string{"Low risk", "few algae"}, "not reached"},
		},
		"de": {
			{"Scumsee", "high", []string{"Hohes Risiko (gemeldet)", "nicht baden", "Menschen am See gemeldet"}, "3: hoch (gemeldet)"},
			{"Blumsee", "high", []string{"Hohes Risiko", "nicht baden"}, "2: hoch"},
			{"Klarsee", "low", []string{"Geringes Risiko", "wenige Algen"}, "nicht erreicht"},
		},
	} {
		b := startBrowser(t, language)
		b.Prefer(t, "reduced-motion", "reduce") // no animation of the cards
		b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/"), chromedp.WaitVisible("#legend"), browsertest.Until(heatDrawn))
		find(t, b, "")
		selectOrder(t, b, "value")
		for i, want := range cards {
			name := fmt.Sprintf(`document.querySelectorAll('#find li strong')[%d].textContent`, i)
			browsertest.Want(t, b, name, want.name, "%s: lake %d of the list is", language, i)
		}
		for _, want := range cards {
			find(t, b, want.name)
			b.Do(t, chromedp.Click("#find li button"), browsertest.Until(fmt.Sprintf(`document.querySelector('#card h2')?.textContent === %q`, want.name)), says(want.level))
			card := browsertest.Ask(t, b, chromedp.Text("#card"))
			for _, says := range append(want.says, want.level+"\n") {
				if !strings.Contains(card, says) {
					t.Errorf("%s: the card of %s lacks %q: %q", language, want.name, says, card)
				}
			}
			b.Do(t, chromedp.KeyEvent(kb.Escape), chromedp.WaitNotVisible("#card"))
		}
		for _, p := range b.Problems(base) {
			t.Errorf("%s: problem: %s", language, p)
		}
	}
}

// In German, with a profile whose limits belong to the lower class.
func TestPageInGerman(t *testing.T) {
	t.Parallel()
	base := startServer(t, "--profile", "who2021", "--attribution", demo.Notice)
	b := openPage(t, "de", base+"/", chromedp.WaitVisible("#legend"))
	browsertest.WantText(t, b, chromedp.Text("#notice"), "the notice", "imulierte")
	b.Do(t, browsertest.Until(`['', 'GeoNames'].includes(`+attributionText+`)`)) // the latter where the map names towns
	b.Do(t, chromedp.Click("#legend summary"))
	checkLegend(t, b, "Geringes Risiko: bis 12", "Mittleres Risiko: über 12 bis 24", "Hohes Risiko: über 24", "Kein aktueller Wert")
	b.WantNoProblems(t, base)
}
