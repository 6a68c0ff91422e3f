package pagetest

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web"
	"limnomap/web/browsertest"
)

// kept gives how many answers the service worker keeps whose addresses contain the words.
func kept(words string) string {
	return fmt.Sprintf(`(async () => {
		let n = 0;
		for (const name of await caches.keys()) n += (await (await caches.open(name)).keys()).filter(({url}) => url.includes(%q)).length;
		return n;
	})()`, words)
}

// visit opens the page and waits until it would do without a network.
func (f *reception) visit(t *testing.T, b *browsertest.Browser) {
	t.Helper()
	b.Do(t,
		chromedp.EmulateViewport(800, 600),
		chromedp.Navigate(f.base+"/"),
		browsertest.Until(heatDrawn),
		browsertest.Until(`navigator.serviceWorker.controller !== null`),
		browsertest.Until(`[...document.querySelectorAll('.heatmap img')].every((img) => img.complete)`),
		browsertest.Until(kept("/status")+`.then((n) => n > 0)`),
		browsertest.Until(kept("/api/v1/tiles/")+`.then((n) => n >= document.querySelectorAll('.heatmap img').length)`),
	)
}

// others returns what went wrong on the page besides what has to while there is no network: requests that fail.
func (f *reception) others(b *browsertest.Browser) []string {
	origin, _, _ := strings.Cut(f.base, frontPath)
	return slices.DeleteFunc(b.Problems(origin), func(p string) bool { return strings.Contains(p, "Failed to load resource") })
}

const offlineText = `document.querySelector('#offline').textContent`

// checkOld checks that the page says the age of what it shows, and shows it.
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
		t.Errorf("%s: the page says %q, want it to tell of when the values are", when, said)
	}
}

// After one visit the page works without a network, and says how old it is; at a path that only a proxy knows.
func TestPageOffline(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	f := startReception(t, base)
	b := startBrowser(t, "en-GB")
	f.visit(t, b)
	if browsertest.Ask(t, b, chromedp.Evaluate[bool](`!document.querySelector('#offline').hidden`)) {
		t.Errorf("with a connection the page says %q", browsertest.Ask(t, b, chromedp.Evaluate[string](offlineText)))
	}
	var status limnomaptest.Status
	limnomaptest.GetJSON(t, f.base+"/api/v1/bathing-lakes/status", &status)
	history := "api/v1/bathing-lakes/history/" + status.Lakes[0].ID + "?limit=104"
	length := browsertest.Ask(t, b, chromedp.Evaluate[int](fmt.Sprintf(`fetch(%q).then((a) => a.text()).then((s) => s.length)`, history), chromedp.EvalAwaitPromise))
	b.Do(t, browsertest.Until(kept("/history/")+`.then((n) => n > 0)`))

	for _, c := range []struct {
		name string
		mode int32
	}{{"no network", broken}, {"no answer", hanging}, {"a proxy alone", failing}, {"somebody else's answers", lying}} {
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
				t.Errorf("the history that was seen has %d characters, kept at %q, want %d and a time", got.Length, got.Kept, length)
			}
		})
	}
	t.Run("a tile that was not seen", func(t *testing.T) {
		f.set(broken)
		b.Do(t,
			chromedp.Evaluate[chromedp.Void](`void (location.hash = '#map=13/53.9/10.4')`), chromedp.Reload(),
			chromedp.WaitVisible("#missing-tiles"),
		)
	})
	t.Run("back", func(t *testing.T) {
		f.set(passing)
		b.Do(t, chromedp.Evaluate[chromedp.Void](`void dispatchEvent(new Event('online'))`), chromedp.WaitNotVisible("#offline"))
	})
	t.Run("gone again", func(t *testing.T) {
		f.set(broken)
		b.Do(t, chromedp.Evaluate[chromedp.Void](`void dispatchEvent(new Event('offline'))`), chromedp.WaitVisible("#offline"))
	})
	for _, p := range f.others(b) {
		t.Errorf("on the page: %s", p)
	}
}

// What is wrong or cut off is never kept, in the place of what was right least of all.
func TestPageOfflineKeepsWhatIsWhole(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	f := startReception(t, base)
	b := startBrowser(t, "en-GB")
	f.visit(t, b)
	const right = `caches.match('api/v1/bathing-lakes/status', {ignoreVary: true}).then((a) => a.json()).then(({lakes}) => lakes.length)`
	want := browsertest.Ask(t, b, chromedp.Evaluate[int](right, chromedp.EvalAwaitPromise))
	// Each asks the network anew, tiles with a version that was never kept.
	const fetchAll = `(async () => {
		const again = (url) => fetch(url, {cache: 'reload'}).then((a) => a.arrayBuffer()).catch(() => {});
		await again('api/v1/bathing-lakes/status');
		await again('api/v1/bathing-lakes/history/de_wrong');
		await again('api/v1/tiles/6/33/21.png?v=wrong');
		await again('api/v1/tiles/6/33/21.png');
		await fetch('api/v1/tiles/6/34/21.png?v=wrong', {headers: {Range: 'bytes=0-9'}}).catch(() => {});
		await fetch('api/v1/tiles/6/35/21.png?v=wrong', {method: 'HEAD'}).catch(() => {});
	})()`
	for _, c := range []struct {
		name string
		mode int32
	}{{"failing", failing}, {"somebody else's", lying}, {"cut off", cutting}} {
		f.set(c.mode)
		b.Do(t, chromedp.Evaluate[chromedp.Void](fetchAll, chromedp.EvalAwaitPromise))
		if got := browsertest.Ask(t, b, chromedp.Evaluate[int](right, chromedp.EvalAwaitPromise)); got != want {
			t.Errorf("%s: %d lakes are kept, want %d", c.name, got, want)
		}
		for _, words := range []string{"de_wrong", "v=wrong"} {
			if n := browsertest.Ask(t, b, chromedp.Evaluate[int](kept(words), chromedp.EvalAwaitPromise)); n != 0 {
				t.Errorf("%s: %d answers of %s are kept", c.name, n, words)
			}
		}
	}
	f.set(passing)
	const many = `(async () => {
		for (let i = 0; i < 340; i += 20) {
			await Promise.all(Array.from({length: 20}, (_, j) => fetch('api/v1/tiles/12/' + (i + j) + '/5.png?v=many').then((a) => a.blob())));
		}
	})()`
	b.Do(t, chromedp.Evaluate[chromedp.Void](many, chromedp.EvalAwaitPromise), browsertest.Until(kept("/tiles/12/339/")+`.then((n) => n === 1)`))
	b.Do(t, browsertest.Until(kept("/api/v1/tiles/")+`.then((n) => n <= 300)`))
	for _, p := range f.others(b) {
		t.Errorf("on the page: %s", p)
	}
}

var (
	mainScript  = regexp.MustCompile(`main-([0-9A-F]{8})\.js`)
	pageVersion = regexp.MustCompile(`data-version="([0-9a-f]{8})"`)
)

// A new page is seen at once, is kept as a whole or not at all, and takes the place of the one before.
func TestPageOfflineUpdate(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	f := startReception(t, base)
	b := startBrowser(t, "en-GB")
	f.visit(t, b)
	index, err := fs.ReadFile(web.FS(), "index.html")
	if err != nil {
		t.Fatal(err)
	}
	f.script = string(mainScript.Find(index))
	version := pageVersion.FindSubmatch(index)[1]
	var half atomic.Bool // of several servers some have the new page, some the old one
	half.Store(true)
	newer := func(path string, content []byte) []byte {
		switch {
		case strings.HasSuffix(path, f.script):
			content = append(content, ";document.documentElement.dataset.page = 'new'"...)
		case path == "/sw.js", (path == "/" || path == "/embed") && !half.Load():
			content = bytes.ReplaceAll(content, version, []byte("99999999"))
			return mainScript.ReplaceAll(content, []byte(newScript))
		}
		return content
	}
	f.change.Store(&newer)
	const update = `navigator.serviceWorker.getRegistration().then((r) => r.update()).then((r) => new Promise((done) => {
		const worker = r.installing ?? r.waiting ?? r.active;
		const look = () => { if (['redundant', 'activated'].includes(worker.state)) done(worker.state); };
		worker.addEventListener('statechange', look);
		look();
	}))`
	if state := browsertest.Ask(t, b, chromedp.Evaluate[string](update, chromedp.EvalAwaitPromise)); state != "redundant" {
		t.Errorf("a page whose parts do not fit is %s", state)
	}
	f.set(broken)
	b.Do(t, chromedp.Reload())
	checkOld(t, b, "with half an update")
	f.set(passing)
	half.Store(false)
	const isNew = `document.documentElement.dataset.page === 'new'`
	b.Do(t, chromedp.Reload(), browsertest.Until(heatDrawn))
	if !browsertest.Ask(t, b, chromedp.Evaluate[bool](isNew)) {
		t.Error("a new page is not seen at once")
	}
	const shells = `caches.keys().then((names) => names.filter((n) => n.includes(' shell ')))`
	b.Do(t,
		browsertest.Until(shells+`.then((names) => names.length === 1 && names[0].endsWith(' 99999999'))`), // the browser looks by itself
		chromedp.Evaluate[chromedp.Void](`navigator.serviceWorker.ready.then(() => {})`, chromedp.EvalAwaitPromise),
	)
	f.set(broken)
	b.Do(t, chromedp.Reload())
	checkOld(t, b, "with the new page")
	if !browsertest.Ask(t, b, chromedp.Evaluate[bool](isNew)) {
		t.Error("without a network the old page is back")
	}
	for _, p := range f.others(b) {
		t.Errorf("on the page: %s", p)
	}
}

// Where there is no service worker, or none is allowed, the page works as it would without, and complains of nothing.
func TestPageWithoutServiceWorker(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	for name, source := range map[string]string{
		"by http":    `delete Navigator.prototype.serviceWorker`,
		"refused":    `ServiceWorkerContainer.prototype.register = () => Promise.reject(new DOMException('no', 'SecurityError'))`,
		"in a frame": `Object.defineProperty(Navigator.prototype, 'serviceWorker', {get() { throw new DOMException('no', 'SecurityError'); }})`,
	} {
		t.Run(name, func(t *testing.T) {
			b := startBrowser(t, "en-GB")
			browsertest.Enable(t, b, page.Enable, page.EnableParams{})
			if _, err := chromedp.Call(b.Ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: source}); err != nil {
				t.Fatal(err)
			}
			b.Do(t, chromedp.Navigate(base+"/"), browsertest.Until(heatDrawn))
			b.WantNoProblems(t, base)
		})
	}
}

// Where the page's words, or its script, do not come, it says so in both languages, and goes on when they do.
func TestPageLate(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	var away atomic.Value
	front := limnomaptest.Front(t, base, func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, away.Load().(string)) {
			return false
		}
		http.Error(w, "no server", http.StatusBadGateway)
		return true
	}, nil)
	const said = `document.querySelector('#load-help').innerText`
	for _, file := range []string{"/words-", "/leaflet-"} {
		t.Run(file, func(t *testing.T) {
			b := startBrowser(t, "de") // a new one, in which nothing is kept
			away.Store(file)
			b.Do(t,
				chromedp.Navigate(front+"/"),
				browsertest.Until(said+`.includes('The map has not loaded yet')`),
				browsertest.Until(said+`.includes('Die Karte ist noch nicht geladen')`),
			)
			away.Store("/nothing")
			if file == "/leaflet-" {
				b.Do(t, chromedp.Click("#load-help a"))
			}
			b.Do(t, browsertest.Until(heatDrawn), browsertest.Until(`document.querySelector('#load-help') === null`))
			for _, p := range b.Problems(front) {
				// What fails, fails, and what had been asked for in advance is used late.
				if !strings.Contains(p, "Failed to load resource") && !strings.Contains(p, "was preloaded") {
					t.Errorf("on the page: %s", p)
				}
			}
		})
	}
}

// The map in a frame is kept as well, with its own policy, which lets others frame it, whatever its address asks for.
func TestPageOfflineEmbed(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	f := startReception(t, base)
	b := startBrowser(t, "en-GB")
	f.visit(t, b)
	f.set(broken)
	b.Do(t, chromedp.Navigate(f.base+"/embed?lang=de&bbox=5,47,15,55"), browsertest.Until(heatDrawn), chromedp.WaitVisible("#offline"))
	if said := browsertest.Ask(t, b, chromedp.Evaluate[string](offlineText)); !strings.Contains(said, "Werte vom") {
		t.Errorf("the map in a frame says %q", said)
	}
	const ancestors = `caches.match('embed').then((a) => a.headers.get('Content-Security-Policy'))`
	if csp := browsertest.Ask(t, b, chromedp.Evaluate[string](ancestors, chromedp.EvalAwaitPromise)); csp == "" || strings.Contains(csp, "frame-ancestors") {
		t.Errorf("the map in a frame is kept with the policy %q", csp)
	}
	for _, p := range f.others(b) {
		t.Errorf("on the page: %s", p)
	}
}

// What the server itself could not confirm is as old as it said, not as young as the visit.
func TestPageOfflineAge(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	f := startReception(t, base)
	f.age.Store(3 * 24 * 3600)
	b := startBrowser(t, "en-GB")
	f.visit(t, b)
	f.set(broken)
	b.Do(t, chromedp.Reload())
	checkOld(t, b, "three days old")
	said := browsertest.Ask(t, b, chromedp.Evaluate[string](offlineText))
	loaded := browsertest.Ask(t, b, chromedp.Evaluate[string](`new Intl.DateTimeFormat('en-GB', {dateStyle: 'medium', timeZone: 'UTC'}).format(Date.now() - 3 * 864e5)`))
	if want := "Loaded on " + loaded; !strings.Contains(said, want) {
		t.Errorf("the page says %q, want %q in it", said, want)
	}
	for _, p := range f.others(b) {
		t.Errorf("on the page: %s", p)
	}
}

// A basemap that cannot be reached is no reason to call the page offline, and nothing of another origin is kept.
func TestPageOfflineBasemap(t *testing.T) {
	t.Parallel()
	const unreachable = "http://127.0.0.1:1/"
	base := startServer(t, "--basemap-url", unreachable+"{z}/{x}/{y}.png")
	f := startReception(t, base)
	b := startBrowser(t, "en-GB")
	f.visit(t, b)
	b.Do(t, chromedp.Reload(), browsertest.Until(heatDrawn), browsertest.Until(`document.querySelector('.leaflet-outlines-pane path') !== null`))
	if browsertest.Ask(t, b, chromedp.Evaluate[bool](`!document.querySelector('#offline').hidden`)) {
		t.Errorf("without its basemap the page says %q", browsertest.Ask(t, b, chromedp.Evaluate[string](offlineText)))
	}
	f.set(broken)
	b.Do(t, chromedp.Reload(), browsertest.Until(`document.querySelector('.leaflet-outlines-pane path') !== null`))
	checkOld(t, b, "without a basemap")
	if n := browsertest.Ask(t, b, chromedp.Evaluate[int](kept(unreachable), chromedp.EvalAwaitPromise)); n != 0 {
		t.Errorf("%d tiles of the basemap are kept", n)
	}
	for _, p := range f.others(b) {
		if !strings.Contains(p, unreachable) {
			t.Errorf("on the page: %s", p)
		}
	}
}
