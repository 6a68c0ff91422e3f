package pagetest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"limnomap/data/testsize"
	"limnomap/web/browsertest"
)

// A sheet is paper less the margins of 12 mm, in px.
type sheet struct {
	name          string
	width, height int64
	paper         [2]float64 // inches
	landscape     bool
}

var sheets = []sheet{
	{"A4", 703, 1031, [2]float64{8.27, 11.69}, false},
	{"A4 landscape", 1031, 703, [2]float64{8.27, 11.69}, true},
	{"Letter", 725, 965, [2]float64{8.5, 11}, false},
	{"Letter landscape", 965, 725, [2]float64{8.5, 11}, true},
}

// printed is what a person sees on a sheet.
type printed struct {
	Width, Height int      // of the document
	Small         []string // texts of less than 8 points
	Label         float64  // points of the labels on the map
	Missing       []string
	Map           struct{ Left, Right, Top, Bottom, Tiles float64 }
	Legend, Card  struct{ Left, Right, Top, Bottom float64 }
	Paper         string
}

const layoutOfSheet = `(() => {
	const shown = {Width: document.documentElement.scrollWidth, Height: document.documentElement.scrollHeight, Small: [], Missing: []};
	const point = 96 / 72;
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (texts.nextNode()) {
		const e = texts.currentNode.parentElement;
		if (!texts.currentNode.data.trim() || !e.checkVisibility() || e.closest('script, template, noscript, .visually-hidden')) continue;
		const svg = e.closest('svg');
		const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : e.currentCSSZoom;
		const size = parseFloat(getComputedStyle(e).fontSize) * scale;
		if (size < 8 * point - 0.05) shown.Small.push(e.textContent.trim().slice(0, 30) + ': ' + (size / point).toFixed(1));
	}
	const root = document.documentElement.style;
	const map = document.querySelector('#map'), box = (e) => { const {left, right, top, bottom} = e.getBoundingClientRect(); return {left, right, top, bottom} };
	shown.Label = root.getPropertyValue('--label') * map.currentCSSZoom / point;
	shown.Paper = root.getPropertyValue('--paper');
	shown.Map = {...box(map), tiles: Math.max(...[...document.querySelectorAll('.heatmap img')].map((i) => i.getBoundingClientRect().right))};
	shown.Legend = box(document.querySelector('#legend'));
	shown.Card = box(document.querySelector('#panel'));
	for (const s of ['h1', '#date', '#notice', '#map', '.heatmap img', '#legend li:not([hidden])', '#limits p', '.leaflet-control-attribution', '.leaflet-control-scale-line']) {
		if (!document.querySelector(s)?.checkVisibility()) shown.Missing.push(s);
	}
	return shown;
})()`

// legendUnfolded says whether the legend in the map shows all that it has, as on wide screens.
const legendUnfolded = `document.querySelector('#map #legend details')?.open`

// The print is one sheet of A4 or Letter with the map, the legend, the date, the source and the card, in letters of at least 8 points, also in dark mode
// and of a very wide map.
func TestPagePrintsOneSheet(t *testing.T) {
	t.Parallel()
	base := startServer(t, "--attribution", "Lake Agency")
	for _, s := range testsize.Cases(1, []screen{{width: 1440, height: 900}, {width: 1920, height: 700}, {width: 390, height: 844, touch: true}, {width: 844, height: 390, touch: true}, {width: 1440, height: 900, text: 26}}) {
		for _, lake := range testsize.Of([]string{embeddedLake}, []string{"", embeddedLake}) {
			t.Run(strings.TrimSpace(s.String()+" "+lake), func(t *testing.T) {
				t.Parallel()
				b := startBrowser(t, "en-GB")
				s.open(t, b, "dark", base+"/")
				if lake != "" {
					b.Do(t, chromedp.Evaluate[chromedp.Void](`void (location.hash = 'lake=`+lake+`')`), browsertest.Until(chartDrawn), browsertest.Until(`document.querySelector('#card .ahead').textContent !== ''`))
				}
				b.Do(t, browsertest.Until(`onbeforeprint !== null`), browsertest.Until(`[...document.querySelectorAll('.heatmap img')].every((i) => i.complete)`))
				for _, paper := range testsize.Cases(1, sheets) {
					pdf, err := chromedp.Call(b.Ctx, page.PrintToPDF, page.PrintToPDFParams{PrintBackground: new(true), Landscape: &paper.landscape, PaperWidth: paper.paper[0], PaperHeight: paper.paper[1]})
					if err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(t.ArtifactDir(), paper.name+".pdf"), pdf.Data, 0o644); err != nil {
						t.Fatal(err)
					}
					if n := bytes.Count(pdf.Data, []byte("/Type /Page\n")); n != 1 {
						t.Errorf("%s: %d sheets, want one", paper.name, n)
					}
				}
				unfolded := browsertest.Ask(t, b, chromedp.Evaluate[bool](legendUnfolded))
				b.Do(t, chromedp.Evaluate[chromedp.Void](`void window.dispatchEvent(new Event('beforeprint'))`))
				b.Print(t)
				for _, paper := range testsize.Cases(1, sheets) {
					b.Do(t, chromedp.EmulateViewport(paper.width, paper.height), browsertest.Until(fmt.Sprintf(`innerWidth === %d`, paper.width)))
					checkSheet(t, b, paper, lake != "")
				}
				browsertest.Expect(t, b, `document.querySelector('#card .lower').checkVisibility()`, false, "the heading of lakes with a lower risk is printed without its list, which has buttons")
				browsertest.Enable(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
				b.Do(t, chromedp.EmulateViewport(s.width, s.height), chromedp.Evaluate[chromedp.Void](`void window.dispatchEvent(new Event('afterprint'))`),
					browsertest.Until(fmt.Sprintf(`%s === %t`, legendUnfolded, unfolded))) // the legend is in the map again, as it was
				b.WantNoProblems(t, base)
			})
		}
	}
}

func checkSheet(t *testing.T, b *browsertest.Browser, paper sheet, card bool) {
	t.Helper()
	got := browsertest.Ask(t, b, chromedp.Evaluate[printed](layoutOfSheet))
	const controls = `[...document.querySelectorAll('button, input, select')].filter((e) => e.checkVisibility()).map((e) => e.outerHTML).join()`
	browsertest.Want(t, b, controls, "", "%s: the print contains controls", paper.name)
	if got.Width > int(paper.width) || got.Height > int(paper.height) {
		t.Errorf("%s: the content takes %d x %d px of %d x %d", paper.name, got.Width, got.Height, paper.width, paper.height)
	}
	if len(got.Small)+len(got.Missing) > 0 || got.Label < 7.9 || got.Paper != "#fff" {
		t.Errorf("%s: small are %q, missing are %q; the labels on the map have %.1f points on %q", paper.name, got.Small, got.Missing, got.Label, got.Paper)
	}
	if m := got.Map; m.Left < 0 || m.Right > float64(paper.width) || m.Right-m.Left < 280 || m.Tiles < m.Right {
		t.Errorf("%s: the map covers %+v", paper.name, m)
	}
	if card && paper.landscape && (got.Card.Left < got.Map.Right || got.Card.Top > got.Map.Bottom) {
		t.Errorf("%s: the card %+v is not beside the map %+v", paper.name, got.Card, got.Map)
	}
	if l, m := got.Legend, got.Map; l.Left < m.Right && l.Top < m.Bottom {
		t.Errorf("%s: the legend %+v lies on the map %+v", paper.name, l, m)
	}
}
