package pagetest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"limnomap/web/browsertest"
)

// axeRules are what axe-core is asked to hold the page to: WCAG 2.2 to level AA, and its own best practices.
const axeRules = `{resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}`

// startAxe puts axe-core into the page that is open, past its Content-Security-Policy, as a debugger may.
func startAxe(t *testing.T, b *browsertest.Browser) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", "..", "web", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatalf("axe-core is installed with the page (make web): %v", err)
	}
	b.Do(t, chromedp.Evaluate[chromedp.Void](string(source)+"; void 0"))
}

// checkAccess reports what axe-core finds wrong with the page as it is now.
func checkAccess(t *testing.T, b *browsertest.Browser, state string) {
	t.Helper()
	checkAccessOf(t, b, state, "html")
}

// checkAccessOf is checkAccess of the part of the page that a selector names, without some rules, which others' work in it
// breaks: they are not even tried, which takes most of the time.
func checkAccessOf(t *testing.T, b *browsertest.Browser, state, part string, without ...string) {
	t.Helper()
	type violation struct {
		ID, Impact, Help string
		Nodes            []struct {
			HTML           string
			FailureSummary string
		}
	}
	off := make(map[string]map[string]bool)
	for _, rule := range without {
		off[rule] = map[string]bool{"enabled": false}
	}
	rules, err := json.Marshal(off)
	if err != nil {
		t.Fatal(err)
	}
	// Colours that are on their way to others have no contrast of their own.
	run := fmt.Sprintf(`document.getAnimations().forEach((a) => a.finish()), axe.run(%q, {...%s, rules: %s}).then((r) => r.violations)`, part, axeRules, rules)
	for _, v := range browsertest.Ask(t, b, chromedp.Evaluate[[]violation](run, chromedp.EvalAwaitPromise)) {
		for _, n := range v.Nodes[:min(len(v.Nodes), 5)] {
			t.Errorf("%s: %s (%s): %s\n\t%s\n\t%s", state, v.ID, v.Impact, v.Help, n.HTML, n.FailureSummary)
		}
	}
}

// A reader who sees nothing, little or no colours, or who has only a keyboard, finds no obstacle that axe-core knows:
// in whatever the page shows, by day and by night, on a desk and on a phone.
func TestPageAccess(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	for _, device := range []struct {
		name          string
		width, height int64
	}{
		{"desk", 1280, 800},
		{"phone", 320, 640},
	} {
		for _, scheme := range []string{"light", "dark"} {
			t.Run(device.name+" "+scheme, func(t *testing.T) {
				b := startBrowser(t, map[string]string{"light": "en-GB", "dark": "de"}[scheme])
				b.Prefer(t, "color-scheme", scheme)
				b.Do(t,
					chromedp.EmulateViewport(device.width, device.height),
					chromedp.Navigate(base+"/"),
					browsertest.Until(heatDrawn),
				)
				startAxe(t, b)
				checkAccess(t, b, "the first view")
				b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=de_by_starnberger_see'`), browsertest.Until(`document.querySelector('#card svg.symbol') !== null && document.querySelector('#card .plot svg > *') !== null`))
				checkAccess(t, b, "with a card")
				b.WantNoProblems(t, base)
			})
		}
	}
}
