//go:build long

package pagetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"limnomap/web/browsertest"
)

// shownAs returns how a person is told the class of a lake.
func (c surfaceCase) shownAs() string {
	return map[string]string{"closed": "Closed", "high": "High risk", "medium": "Medium risk", "low": "Low risk", "none": "No current value"}[c.want.class()]
}

// checkShown checks that a text about a lake begins with its class, and names a closure's computed class too.
func checkShown(t *testing.T, where string, c surfaceCase, shown string) {
	t.Helper()
	if c.want.advisory == "warning" {
		if _, after, ok := strings.Cut(shown, "Official warning"); ok {
			shown = after[strings.Index(after, c.shownAs()):]
		} else {
			t.Errorf("%s: %s has no warning: %q", where, c.id, shown)
		}
	}
	first, class := len(shown), ""
	for _, words := range []string{"Closed", "High risk", "Medium risk", "Low risk", "No current value"} {
		if i := strings.Index(shown, words); i >= 0 && i < first {
			first, class = i, words
		}
	}
	if class != c.shownAs() {
		t.Errorf("%s: %s is first %q, want %q: %q", where, c.id, class, c.shownAs(), shown)
	}
	if open := c; c.want.advisory == "closure" {
		open.want.advisory = ""
		if !strings.Contains(shown, open.shownAs()) {
			t.Errorf("%s: %s lacks the class of its value, %q: %q", where, c.id, open.shownAs(), shown)
		}
	}
}

// The page tells with the history what only that knows.
const (
	historyLoaded = `document.querySelector('#card figure') && document.querySelector('#card article > section > [role=status]').innerText !== 'Loading …'`
	valueOnCard   = `(document.querySelector('#card article > details').open = true, [...document.querySelector('#card article').children].filter((e) => !e.querySelector('figure') && !e.matches('.lower')).map((e) => e.innerText).join(' '))`
)

// The page, the embedded map and the table say the same about each lake as the server's other answers.
func TestPagesAgree(t *testing.T) {
	t.Parallel()
	base := startSurfaces(t)
	t.Run("page", func(t *testing.T) { checkPageOf(t, base) })
	t.Run("table", func(t *testing.T) { checkTableOf(t, base) })
}

func checkPageOf(t *testing.T, base string) {
	b := startBrowser(t, "en-GB")
	b.Prefer(t, "reduced-motion", "reduce")
	// What is far below the window has no text in lines.
	b.Do(t, chromedp.EmulateViewport(1280, 4000), chromedp.Navigate(base+"/"), chromedp.WaitVisible("#legend"))
	find(t, b, "")
	list := browsertest.Ask(t, b, chromedp.Evaluate[map[string]string](`Object.fromEntries([...document.querySelectorAll('#find li')].map((li) => {
		const [name, ...rest] = li.innerText.trim().split('\n');
		return [name.trim(), rest.join(' ')];
	}))`))
	b.Do(t, chromedp.EmulateViewport(1280, 800))
	for _, c := range surfaceCases() {
		checkShown(t, "list", c, list["See "+c.id])
		b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf("location.hash = 'lake=%s'", c.id)), browsertest.Until(fmt.Sprintf(`document.querySelector('#card h2')?.innerText === 'See %s'`, c.id)))
		_, card, _ := strings.Cut(browsertest.Ask(t, b, chromedp.Evaluate[string](cardTop)), "See "+c.id)
		checkShown(t, "card", c, card)
		b.Do(t, browsertest.Until(historyLoaded))
		checkTold(t, "card", c, browsertest.Ask(t, b, chromedp.Evaluate[string](valueOnCard)))
	}
	for _, c := range surfaceCases() {
		b.Do(t, chromedp.EmulateViewport(600, 480), chromedp.Navigate(base+"/embed?lang=en&lake="+c.id), browsertest.Until(fmt.Sprintf(`document.querySelector('#card h2')?.innerText === 'See %s'`, c.id)))
		_, card, _ := strings.Cut(browsertest.Ask(t, b, chromedp.Evaluate[string](cardTop)), "See "+c.id)
		checkShown(t, "embed", c, card)
	}
	b.WantNoProblems(t, base)
}

func checkTableOf(t *testing.T, base string) {
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.Navigate(base+"/table"), chromedp.WaitVisible("tbody tr"))
	rows := browsertest.Ask(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll('tbody tr')].map((r) => r.innerText)`))
	for _, c := range surfaceCases() {
		i := slices.IndexFunc(rows, func(row string) bool {
			return strings.HasPrefix(strings.TrimSpace(row), "See "+c.id+"\t") || strings.HasPrefix(strings.TrimSpace(row), "See "+c.id+"\n")
		})
		if i < 0 {
			t.Errorf("the table lacks %s: %q", c.id, rows)
			continue
		}
		checkShown(t, "table", c, rows[i])
	}
}
