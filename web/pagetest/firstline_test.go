//go:build long

package pagetest

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
	"limnomap/web/browsertest"
)

const firstLine = `document.querySelector('#highs').textContent`

// The page begins with the number of lakes with a high risk, of which it tells how many were measured in the week. It compares only lakes that were
// measured in both weeks.
func TestPageFirstLine(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	weeks := weeksOf(t, base)
	// measured returns whether each lake that was measured in a week has a high risk, and how many lakes have one in all.
	total := 0
	measured := func(i int) (inWeek map[string]bool, high int) {
		var status limnomaptest.Status
		limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/status?date="+weeks[i].Date, &status)
		inWeek, total = make(map[string]bool), len(status.Lakes)
		for _, lake := range status.Lakes {
			if lake.Chl == nil {
				continue
			}
			if year, week := lake.MeasuredAt.ISOWeek(); fmt.Sprintf("%d-W%02d", year, week) == weeks[i].Week {
				inWeek[lake.ID] = lake.Risk == "high"
			}
			if lake.Risk == "high" {
				high++
			}
		}
		return inWeek, high
	}
	line := func(i int) string {
		now, high := measured(i)
		then, _ := measured(i - 1)
		ofWeek, both, more := 0, 0, 0
		for id, isHigh := range now {
			wasHigh, known := then[id]
			if isHigh {
				ofWeek++
			}
			if !known {
				continue
			}
			both++
			if isHigh && !wasHigh {
				more++
			} else if !isHigh && wasHigh {
				more--
			}
		}
		change := "as many as"
		if more > 0 {
			change = fmt.Sprintf("%d more than", more)
		} else if more < 0 {
			change = fmt.Sprintf("%d fewer than", -more)
		}
		when := "that week"
		if year, week := time.Now().UTC().ISOWeek(); fmt.Sprintf("%d-W%02d", year, week) == weeks[i].Week {
			when = "this week"
		}
		return fmt.Sprintf("High risk: %d lakes, %d measured %s · %.0f %% of the lakes seen · %d lakes measured in both weeks: %s the week before", high, ofWeek, when, math.Round(100*float64(len(now))/float64(total)), both, change)
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

// Without an answer about the week before, or if clouds hid all lakes in it, the line has no comparison. On a phone it has its place from
// the start, and one line.
func TestPageFirstLineWithoutComparison(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"error":  "",
		"clouds": `{"all":{"lakes_with_data":40},"week_counts":{"both_weeks":{"measured":0,"high":0,"high_before":0}}}`,
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
			b.Do(t, browsertest.Until(`/^Hohes Risiko: \d+ Seen, \d+ (diese|in jener) Woche gemessen · \d+ % der Seen gesehen$/.test(`+firstLine+`)`))
			b.Do(t, browsertest.Until(`/ · \d+ % gesehen$/.test(document.querySelector('#date').innerText)`)) // where a phone has room for it
			browsertest.Want(t, b, stage, before, "the line moves the map from %v to", before)
		})
	}
}

// The header of a phone has one line for the date and one below it, also with how many lakes were seen, and with a closed lake.
func TestPageFirstLineOnAPhone(t *testing.T) {
	t.Parallel()
	for name, base := range map[string]string{"open lakes": startServer(t), "a closed lake": startStatements(t)} {
		for _, language := range testsize.Cases(1, []string{"de", "en-GB"}) {
			for _, width := range []int64{360, 390} {
				t.Run(fmt.Sprintf("%s, %s, %d px", name, language, width), func(t *testing.T) {
					t.Parallel()
					b := startBrowser(t, language)
					b.Do(t, chromedp.EmulateViewport(width, 844, chromedp.EmulateMobile), chromedp.Navigate(base+"/"), browsertest.Until(heatDrawn), browsertest.Until(firstLine+` !== ''`))
					if name == "open lakes" {
						b.Do(t, browsertest.Until(`/ · \d+.% (gesehen|seen)$/.test(document.querySelector('#date').innerText)`))
					}
					for _, line := range []string{"#date", "#highs"} {
						browsertest.Expect(t, b, fmt.Sprintf(`((e) => e.offsetHeight < 1.5 * parseFloat(getComputedStyle(e).lineHeight))(document.querySelector(%q))`, line), true, "%s has more than one line", line)
					}
					b.WantNoProblems(t, base)
				})
			}
		}
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
