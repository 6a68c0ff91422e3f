package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// cardOf holds when the card of that lake is open.
func cardOf(name string) chromedp.Action[chromedp.Void] {
	return until(`document.querySelector('#card h2')?.textContent.includes('` + name + `') && !document.querySelector('#card').hidden`)
}

const noCard = `document.querySelector('#card').hidden`

// The address bar holds the view: a link shows what its sender saw, the back button closes the card that was opened
// last, and an address that says nonsense shows what there is.
func TestPageAddress(t *testing.T) {
	base, _ := startServer(t, "--basemap-url", "none")
	b := startBrowser(t, "en")
	b.do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/#lake=de_by_starnberger_see"), cardOf("Starnberger See"))
	b.do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=de_be_grosser_mueggelsee'`), cardOf("Müggelsee"))
	b.do(t, chromedp.NavigateBack(), cardOf("Starnberger See"))

	b.do(t, chromedp.Navigate(base+"/?again"), until(heatDrawn), until(noCard))
	find(t, b, "muggelsee")
	b.do(t, chromedp.Click("#find li button"), cardOf("Müggelsee"), until(`location.hash.includes('lake=de_b')`))
	b.do(t, chromedp.NavigateBack(), until(noCard), until(`!location.hash.includes('lake=')`))
	b.do(t, chromedp.NavigateForward(), cardOf("Müggelsee"))

	for _, hash := range []string{"map=99/abc/200", "map=6", "map=6/95/10", "lake=", "lake=../x", "opacity=-5", "risk=%00", "style=<b>", "%", "map=" + strings.Repeat("9", 5000)} {
		b.do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(base+"/#"+hash), until(heatDrawn))
	}
	b.wantNoProblems(t, base)
}

// The page speaks the browser's language until its reader chooses the other one, and keeps the view and the choice.
func TestPageLanguage(t *testing.T) {
	base, _ := startServer(t, "--basemap-url", "none")
	b := startBrowser(t, "fr")
	title := func(want string) chromedp.Action[chromedp.Void] {
		return until(`document.querySelector('h1').textContent === '` + want + `' && document.documentElement.lang === '` + map[string]string{"Algae in lakes": "en", "Algen in Seen": "de"}[want] + `'`)
	}
	b.do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/#lake=de_by_starnberger_see"), title("Algae in lakes"), cardOf("Starnberger See"))
	b.do(t, chromedp.Click("#language"), title("Algen in Seen"), cardOf("Starnberger See"))
	card := ask(t, b, chromedp.Text("#card"))
	for _, want := range []string{"Risiko", "Gemessen", "Trophie", ",", "µg/l"} {
		if !strings.Contains(card, want) {
			t.Errorf("the German card lacks %q: %s", want, card)
		}
	}
	b.do(t, chromedp.Navigate(base+"/"), title("Algen in Seen"))
	b.do(t, chromedp.Navigate(base+"/?lang=en"), title("Algae in lakes"))
	b.do(t, chromedp.Click("#language"), title("Algen in Seen"), until(`location.search === '?lang=de'`))
	b.wantNoProblems(t, base)
}

// Values of long ago are shown, but nobody can take them for those of today.
func TestPageOfOldValues(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	mustRun(t, "import", "lakes", "--db", db, writeFile(t, dir, "lakes.csv", "id,name,lat,lon,region\nold,Altsee,52.4,13.6,Berlin\n"))
	mustRun(t, "import", "observations", "--db", db, writeFile(t, dir, "obs.csv", "lake_id,date,chl,data_type\nold,2024-11-11,5,satellite\n"))
	base, _ := startServer(t, "--db", db, "--basemap-url", "none")
	b := startBrowser(t, "en")
	b.do(t, chromedp.Navigate(base+"/#lake=old"), cardOf("Altsee"))
	if said := ask(t, b, chromedp.Text("header .warning")); !strings.HasPrefix(said, "Old values") || !strings.Contains(said, "2024") {
		t.Errorf("of values of 2024 the page says %q", said)
	}
	b.wantNoProblems(t, base)
}
