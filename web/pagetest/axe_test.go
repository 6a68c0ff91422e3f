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

// axeRules are the rules that the page must pass: WCAG 2.2 to level AA, and axe-core's best practices.
const axeRules = `{resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}`

// checkAccess reports the violations that axe-core finds in the current state of the page.
func checkAccess(t *testing.T, b *browsertest.Browser, state string) {
	t.Helper()
	checkAccessOf(t, b, state, "html")
}

// checkAccessOf is like checkAccess for the part of the page that a selector names, without some rules. Those are not run,
// which saves most of the time.
func checkAccessOf(t *testing.T, b *browsertest.Browser, state, part string, without ...string) {
	t.Helper()
	if !browsertest.Ask(t, b, chromedp.Evaluate[bool](`'axe' in window`)) { // as a debugger, the test may ignore the Content-Security-Policy
		source, err := os.ReadFile(filepath.Join("..", "..", "web", "node_modules", "axe-core", "axe.min.js"))
		if err != nil {
			t.Fatalf("axe-core is missing (make web): %v", err)
		}
		b.Do(t, chromedp.Evaluate[chromedp.Void](string(source)+"; void 0"))
	}
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
	// An element in a colour transition has no final contrast.
	run := fmt.Sprintf(`document.getAnimations().forEach((a) => a.finish()), axe.run(%q, {...%s, rules: %s}).then((r) => r.violations)`, part, axeRules, rules)
	for _, v := range browsertest.Ask(t, b, chromedp.Evaluate[[]violation](run, chromedp.EvalAwaitPromise)) {
		for _, n := range v.Nodes[:min(len(v.Nodes), 5)] {
			t.Errorf("%s: %s (%s): %s\n\t%s\n\t%s", state, v.ID, v.Impact, v.Help, n.HTML, n.FailureSummary)
		}
	}
}
