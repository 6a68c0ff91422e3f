//go:build long

package pagetest

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

// Refused tiles are requested again after a delay. Missing tiles are marked and reported. If no tile of a week loads, the
// map and its texts keep the week before.
func TestPageFailedTiles(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	weeks := weeksOf(t, base)
	last := len(weeks) - 1
	busy, holes, gone := weeks[last-1].Date, weeks[last-2].Date, weeks[last-3].Date
	var refused, records atomic.Int32
	var hole atomic.Pointer[string]
	var back atomic.Bool
	front := limnomaptest.Front(t, base, func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/status") && r.URL.Query().Get("date") == busy && records.Add(1) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		}
		if !strings.Contains(r.URL.Path, "/tiles/") {
			return false
		}
		switch r.URL.Query().Get("date") {
		case busy:
			if refused.Add(1) > 3 {
				return false
			}
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		case holes:
			hole.CompareAndSwap(nil, &r.URL.Path)
			if *hole.Load() != r.URL.Path {
				return false
			}
		case gone:
			if back.Load() {
				return false
			}
		default:
			return false
		}
		w.WriteHeader(http.StatusBadGateway)
		return true
	}, nil)
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(800, 600))
	openWeek(t, b, front+"/#map=6/51.1/10.4", "") // a fixed view, because the first view depends on the height of the message

	b.Do(t, chromedp.Click("#time .previous"), browsertest.Until(stateText+` === 'Not on the map yet'`), browsertest.Until(heatOf(busy)))
	if records.Load() < 2 {
		t.Error("the refused lakes of a week were not requested again")
	}
	if refused.Load() <= 3 {
		t.Errorf("%d requests of refused tiles, want more than 3", refused.Load())
	}
	if n := browsertest.Ask(t, b, chromedp.Evaluate[int](`document.querySelectorAll('.missing').length`)); n > 0 {
		t.Errorf("%d late tiles are still marked as missing", n)
	}

	b.Do(t, chromedp.Click("#time .previous"), chromedp.WaitVisible("#missing-tiles"))
	if browsertest.Ask(t, b, chromedp.Evaluate[string](`getComputedStyle(document.querySelector('.heatmap .missing')).visibility`)) != "visible" {
		t.Error("the missing tile is not marked")
	}

	b.Do(t, chromedp.Click("#time .previous"), chromedp.WaitVisible("#message button"), browsertest.Until(stateText+` === 'Not on the map yet'`))
	browsertest.Expect(t, b, fmt.Sprintf(`[...document.querySelectorAll('.heatmap img.leaflet-tile-loaded')].every((t) => t.src.includes(%q))`, holes), true, "the map does not show the week before")
	browsertest.WantText(t, b, chromedp.Text("#date"), "the header says", dayInWords(t, holes))
	back.Store(true)
	b.Do(t, chromedp.Click("#message button"), browsertest.Until(heatOf(gone)), browsertest.Until(stateText+`.includes('Past week')`), browsertest.Until(`document.querySelector('#message').hidden`))
	b.Do(t, chromedp.Click("#time .newest"), browsertest.Until(heatOf("")), browsertest.Until(stateText+` === ''`), chromedp.WaitNotVisible("#missing-tiles"))
	b.WantNoProblems(t, front, "429", "502", "no tile loaded")
}

// A late tile is marked and reported as missing until it loads.
func TestPageLateTiles(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	come := make(chan struct{})
	var once sync.Once
	release := func() { once.Do(func() { close(come) }) }
	var hanging atomic.Pointer[string]
	front := limnomaptest.Front(t, base, func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/tiles/") {
			hanging.CompareAndSwap(nil, &r.URL.Path)
			if *hanging.Load() == r.URL.Path {
				<-come
			}
		}
		return false
	}, nil)
	t.Cleanup(release)
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(800, 600), chromedp.Navigate(front+"/#map=6/51.1/10.4"), chromedp.WaitVisible("#missing-tiles"))
	browsertest.WantText(t, b, chromedp.Text("#missing-tiles"), "the page says", "does not mean clean water")
	const marked = `[...document.querySelectorAll('.heatmap img.missing')].map((tile) => new URL(tile.src).pathname + ' ' + getComputedStyle(tile).visibility).join()`
	browsertest.Want(t, b, marked, *hanging.Load()+" visible", "marked as missing is")
	release()
	b.Do(t, chromedp.WaitNotVisible("#missing-tiles"), browsertest.Until(`document.querySelectorAll('.missing').length === 0`))
	b.WantNoProblems(t, front)
}

func dayInWords(t *testing.T, date string) string {
	t.Helper()
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		t.Fatal(err)
	}
	return day.Format("2 Jan")
}

// New data appear when the user returns to the page.
func TestPageNewData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	importCSV(t, db,
		"id,name,lat,lon,region\na,Asee,52.4,13.6,Berlin\nb,Bsee,53.1,13.0,Brandenburg\nc,Csee,52.9,14.1,Brandenburg\n",
		strings.NewReplacer("FIRST", weekday(-5), "SECOND", weekday(-1)).Replace("lake_id,date,chl,data_type\na,FIRST,5,satellite\na,SECOND,80,satellite\nb,SECOND,8,satellite\nc,SECOND,8,satellite\n"))
	base := startOwnServer(t, "--db", db)
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(1280, 800))
	openWeek(t, b, base+"/", "")
	// Between the two weeks are three without data, which the slider skips. A week with few values says so.
	browsertest.Want(t, b, `document.querySelector('#time input').max`, "4", "the slider ends at")
	b.Do(t, chromedp.Focus("#time input"), chromedp.KeyEvent(kb.ArrowLeft), browsertest.Until(heatOf(weekday(-5))))
	browsertest.WantText(t, b, chromedp.Evaluate[string](`document.querySelector('#time input').ariaValueText`), "the slider says", "few values")
	b.Do(t, clickWeek(t, b, 0.8), browsertest.Until(heatOf("")), chromedp.Evaluate[chromedp.Void](`window.same = true`))
	version := browsertest.Ask(t, b, chromedp.Evaluate[string](`new URL(document.querySelector('.heatmap img').src).searchParams.get('v')`))

	limnomaptest.Run(t, "import", "observations", "--db", db, limnomaptest.WriteFile(t, dir, "more.csv", "lake_id,date,chl,data_type\na,"+weekday(0)+",120,satellite\n"))
	limnomaptest.Within(t, 2*time.Minute, "the server shows the import", func() bool {
		var page struct{ Version string }
		limnomaptest.GetJSON(t, base+"/page.json", &page)
		return page.Version != version
	})
	b.Do(t,
		chromedp.Evaluate[chromedp.Void](`document.dispatchEvent(new Event('visibilitychange'))`),
		browsertest.Until(stateText+`.includes('New values')`),
		browsertest.Until(`document.querySelector('#time input').max === '5' && document.querySelector('#time input').value === '5'`),
		browsertest.Until(fmt.Sprintf(`[...document.querySelectorAll('.heatmap img')].every((t) => !t.src.includes(%q))`, version)),
		browsertest.Until(heatDrawn),
	)
	_, newest := time.Now().UTC().ISOWeek()
	if week := browsertest.Ask(t, b, chromedp.Evaluate[string](weekText)); !strings.HasPrefix(week, fmt.Sprintf("Week %d, ", newest)) {
		t.Errorf("with the new values the page shows %q, want week %d", week, newest)
	}
	browsertest.WantText(t, b, chromedp.Text("#date"), "the header says", dayInWords(t, weekday(0)))
	browsertest.Expect(t, b, `window.same === true`, true, "the page was reloaded")
	b.WantNoProblems(t, base)
}
