package pagetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
	"limnomap/web/browsertest"
)

// visit opens the page and waits until it can work without a network.
func (f *faultyNetwork) visit(t *testing.T, b *browsertest.Browser) {
	t.Helper()
	b.Do(t,
		chromedp.EmulateViewport(800, 600),
		chromedp.Navigate(f.base+"/"),
		browsertest.Until(heatDrawn),
		browsertest.Until(`navigator.serviceWorker.controller !== null`),
		browsertest.Until(`[...document.querySelectorAll('.heatmap img')].every((img) => img.complete)`),
		browsertest.Until(storedCount("/status")+`.then((n) => n > 0)`),
		browsertest.Until(storedCount("/api/v1/tiles/")+`.then((n) => n >= document.querySelectorAll('.heatmap img').length)`),
	)
}

// wantNoOtherProblems fails the test for each problem of the page except failed requests, and those that contain one of the texts.
func (f *faultyNetwork) wantNoOtherProblems(t *testing.T, b *browsertest.Browser, except ...string) {
	t.Helper()
	origin, _, _ := strings.Cut(f.base, frontPath)
	b.WantNoProblems(t, origin, append(except, "Failed to load resource")...)
}

const offlineText = `document.querySelector('#offline').textContent`

// checkOld checks that the page shows its values and their age.
func checkOld(t *testing.T, b *browsertest.Browser, when string) {
	t.Helper()
	b.Do(t, browsertest.Until(heatDrawn), chromedp.WaitVisible("#offline"))
	said := browsertest.Ask(t, b, chromedp.Evaluate[string](offlineText))
	days := browsertest.Ask(t, b, chromedp.Evaluate[int](`fetch('api/v1/bathing-lakes/status').then((a) => a.json()).then(({lakes}) => {
		const newest = Math.max(...lakes.filter((l) => l.chl !== null).map((l) => Date.parse(l.measured_at)));
		return Math.floor(Date.now() / 864e5) - Math.floor(newest / 864e5);
	})`, chromedp.EvalAwaitPromise))
	if want := fmt.Sprintf("%d days old", days); days > 1 && !strings.Contains(said, want) {
		t.Errorf("%s: the page says %q, want %q in it", when, said, want)
	}
	if !strings.Contains(said, "Values as of") {
		t.Errorf("%s: the page says %q, want the date of the values", when, said)
	}
}

// After one visit the page works without a network, under a path that only a proxy knows, and shows how old its values are.
func TestPageOffline(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	f := startFaultyNetwork(t, base)
	b := startBrowser(t, "en-GB")
	f.visit(t, b)
	if browsertest.Ask(t, b, chromedp.Evaluate[bool](`!document.querySelector('#offline').hidden`)) {
		t.Errorf("with a connection the page says %q", browsertest.Ask(t, b, chromedp.Evaluate[string](offlineText)))
	}
	var status limnomaptest.Status
	limnomaptest.GetJSON(t, f.base+"/api/v1/bathing-lakes/status", &status)
	history := "api/v1/bathing-lakes/history/" + status.Lakes[0].ID + "?limit=104"
	length := browsertest.Ask(t, b, chromedp.Evaluate[int](fmt.Sprintf(`fetch(%q).then((a) => a.text()).then((s) => s.length)`, history), chromedp.EvalAwaitPromise))
	b.Do(t, browsertest.Until(storedCount("/history/")+`.then((n) => n > 0)`))

	for _, c := range testsize.Cases(1, []struct {
		name string
		mode int32
	}{{"no network", broken}, {"no answer", hanging}, {"a proxy without a server", failing}, {"answers of another page", foreign}}) {
		t.Run(c.name, func(t *testing.T) {
			f.set(c.mode)
			b.Do(t, chromedp.Reload())
			checkOld(t, b, c.name)
			type answer struct {
				Length int
				Kept   string
			}
			got := browsertest.Ask(t, b, chromedp.Evaluate[answer](fmt.Sprintf(
				`fetch(%q, {cache: 'no-cache'}).then(async (a) => ({Length: (await a.text()).length, Kept: a.headers.get('X-Kept-At') ?? ''}))`, history), chromedp.EvalAwaitPromise))
			if got.Length != length || got.Kept == "" {
				t.Errorf("the stored history has %d characters and X-Kept-At %q, want %d and a time", got.Length, got.Kept, length)
			}
		})
	}
	t.Run("a tile that is not stored", func(t *testing.T) {
		f.set(broken)
		b.Do(t,
			chromedp.Evaluate[chromedp.Void](`void (location.hash = '#map=13/53.9/10.4')`), chromedp.Reload(),
			chromedp.WaitVisible("#missing-tiles"),
		)
	})
	t.Run("online again", func(t *testing.T) {
		f.set(online)
		b.Do(t, chromedp.Evaluate[chromedp.Void](`void dispatchEvent(new Event('online'))`), chromedp.WaitNotVisible("#offline"))
	})
	t.Run("offline again", func(t *testing.T) {
		f.set(broken)
		b.Do(t, chromedp.Evaluate[chromedp.Void](`void dispatchEvent(new Event('offline'))`), chromedp.WaitVisible("#offline"))
	})
	f.wantNoOtherProblems(t, b)
}
