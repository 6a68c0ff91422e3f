//go:build long

package pagetest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

const firstLine = `document.querySelector('#highs').textContent`

type riskCounts struct {
	All struct {
		Lakes int `json:"lakes_with_data"`
		Risk  struct{ High int }
	}
}

// The page begins with the number of lakes with a high risk, and how it has changed, as the server counts them.
func TestPageFirstLine(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	weeks := weeksOf(t, base)
	line := func(i int) string {
		var now, before riskCounts
		limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/stats?by=risk&date="+weeks[i].Date, &now)
		limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/stats?by=risk&date="+weeks[i-1].Date, &before)
		more := now.All.Risk.High - before.All.Risk.High
		change := "as many as"
		if more > 0 {
			change = fmt.Sprintf("%d more than", more)
		} else if more < 0 {
			change = fmt.Sprintf("%d fewer than", -more)
		}
		return fmt.Sprintf("High risk: %d lakes, %s a week ago", now.All.Risk.High, change)
	}
	for _, many := range []bool{false, true} {
		t.Run(fmt.Sprintf("many=%v", many), func(t *testing.T) {
			t.Parallel()
			address := base
			if many {
				address = startProxyWithManyLakes(t, base)
			}
			b := startBrowser(t, "en-GB")
			last := len(weeks) - 1
			b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(address+"/"), browsertest.Until(fmt.Sprintf("%s === %q", firstLine, line(last))))
			past := last - 15 // a summer has more of them
			b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = 'date=%s'`, weeks[past].Date)), browsertest.Until(fmt.Sprintf("%s === %q", firstLine, line(past))))
			b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'forecast=1'`), browsertest.Until(firstLine+` === ''`))
			wantNoProblems(t, b, address)
		})
	}
}

// Without an answer about the week before, or if clouds hid many lakes in it, the line has no comparison. On a phone it has its place from
// the start, and one line.
func TestPageFirstLineWithoutComparison(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"error":  "",
		"clouds": `{"all":{"lakes_with_data":40,"risk":{"high":1}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := limnomaptest.Front(t, startServer(t), func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "/stats") {
					return false
				}
				if answer == "" {
					w.WriteHeader(http.StatusInternalServerError)
				}
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, answer)
				return true
			}, nil)
			b := startBrowser(t, "de")
			const stage = `document.querySelector('#stage').getBoundingClientRect().top`
			b.Do(t, chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2), chromedp.EmulateMobile), chromedp.Navigate(base+"/"), browsertest.Until(heatDrawn))
			before := browsertest.Ask(t, b, chromedp.Evaluate[float64](stage))
			b.Do(t, browsertest.Until(`/^Hohes Risiko: \d+ Seen$/.test(`+firstLine+`)`))
			browsertest.Want(t, b, stage, before, "the line moves the map from %v to", before)
		})
	}
}

// An open card names the page, so that tabs, bookmarks and shared links say which lake they show.
func TestPageTitle(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "en-GB")
	title := func(want string) chromedp.Action[chromedp.Void] {
		return browsertest.Until(fmt.Sprintf(`document.title === %q`, want))
	}
	b.Do(t, chromedp.Navigate(base+"/"), title("Algae in lakes · limnomap"))
	b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=de_be_grosser_mueggelsee'`), title("Großer Müggelsee · Algae in lakes"))
	b.Do(t, chromedp.Click("#card [name=close]"), title("Algae in lakes · limnomap"))
}
