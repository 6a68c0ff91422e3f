//go:build long

package pagetest

import (
	"bytes"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"limnomap/web"
	"limnomap/web/browsertest"
)

// Wrong and truncated answers are not stored, and never replace right ones.
func TestPageOfflineStoresCompleteAnswers(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	f := startFaultyNetwork(t, base)
	b := startBrowser(t, "en-GB")
	f.visit(t, b)
	const right = `caches.match('api/v1/bathing-lakes/status', {ignoreVary: true}).then((a) => a.json()).then(({lakes}) => lakes.length)`
	want := browsertest.Ask(t, b, chromedp.Evaluate[int](right, chromedp.EvalAwaitPromise))
	version := browsertest.Ask(t, b, chromedp.Evaluate[string](`fetch('page.json').then((a) => a.json()).then(({version}) => version)`, chromedp.EvalAwaitPromise))
	// Each request goes to the network; the tiles have a style that was never stored.
	fetchAll := fmt.Sprintf(`(async () => {
		const again = (url) => fetch(url, {cache: 'reload'}).then((a) => a.arrayBuffer()).catch(() => {});
		await again('api/v1/bathing-lakes/status');
		await again('api/v1/bathing-lakes/history/de_wrong');
		await again('api/v1/tiles/6/33/21.png?style=dots&v=%[1]s');
		await again('api/v1/tiles/6/33/21.png?style=dots');
		await fetch('api/v1/tiles/6/34/21.png?style=dots&v=%[1]s', {headers: {Range: 'bytes=0-9'}}).catch(() => {});
		await fetch('api/v1/tiles/6/35/21.png?style=dots&v=%[1]s', {method: 'HEAD'}).catch(() => {});
	})()`, version)
	for _, c := range []struct {
		name string
		mode int32
	}{{"failing", failing}, {"foreign", foreign}, {"cut off", truncating}} {
		f.set(c.mode)
		b.Do(t, chromedp.Evaluate[chromedp.Void](fetchAll, chromedp.EvalAwaitPromise))
		browsertest.Want(t, b, right, want, "%s", c.name)
		for _, words := range []string{"de_wrong", "style=dots"} {
			browsertest.Want(t, b, storedCount(words), 0, "%s", c.name)
		}
	}
	f.set(online)
	// Until an open page learns of a statement that has begun, it asks for tiles by the version before, and gets those of the new one.
	many := fmt.Sprintf(`(async () => {
		await fetch('api/v1/tiles/6/33/21.png?style=dots&v=other').then((a) => a.blob());
		for (let i = 0; i < 340; i += 20) {
			await Promise.all(Array.from({length: 20}, (_, j) => fetch('api/v1/tiles/12/' + (i + j) + '/5.png?v=%s').then((a) => a.blob())));
		}
	})()`, version)
	b.Do(t, chromedp.Evaluate[chromedp.Void](many, chromedp.EvalAwaitPromise), browsertest.Until(storedCount("/tiles/12/339/")+`.then((n) => n === 1)`))
	b.Do(t, browsertest.Until(storedCount("/api/v1/tiles/")+`.then((n) => n <= 300)`))
	if n := browsertest.Ask(t, b, chromedp.Evaluate[int](storedCount("v=other"), chromedp.EvalAwaitPromise)); n != 0 {
		t.Errorf("a tile of another version than its address names is stored")
	}
	f.wantNoOtherProblems(t, b)
}

var (
	mainScript  = regexp.MustCompile(`main-([0-9A-F]{8})\.js`)
	laterScript = regexp.MustCompile(`(beside|card|compare|export|find|forecast|highs|known|share|tell|timeline|towns|years)-[0-9A-F]{8}\.js`)
	pageVersion = regexp.MustCompile(`data-version="([0-9a-f]{8})"`)
)

// A new version of the page is shown at once. It is stored completely or not at all, and replaces the previous one.
func TestPageOfflineUpdate(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	f := startFaultyNetwork(t, base)
	b := startBrowser(t, "en-GB")
	f.visit(t, b)
	index, err := fs.ReadFile(web.FS(), "index.html")
	if err != nil {
		t.Fatal(err)
	}
	f.script = string(mainScript.Find(index))
	version := pageVersion.FindSubmatch(index)[1]
	// Scripts that load later have the name of the main script in them, so that they have new names too.
	const newLater = "$1-99999999.js"
	for _, name := range laterScript.FindAllString(string(index), -1) {
		f.later = append(f.later, laterScript.ReplaceAllString(name, newLater), name)
	}
	var half atomic.Bool // some of several servers have the new page, some the old one
	half.Store(true)
	newer := func(path string, content []byte) []byte {
		switch {
		case strings.HasSuffix(path, f.script):
			content = append(content, ";document.documentElement.dataset.page = 'new'"...)
		case laterScript.MatchString(path):
			return mainScript.ReplaceAll(content, []byte(newScript))
		case path == "/sw.js", (path == "/" || path == "/embed") && !half.Load():
			content = bytes.ReplaceAll(content, version, []byte("99999999"))
			return laterScript.ReplaceAll(mainScript.ReplaceAll(content, []byte(newScript)), []byte(newLater))
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
	browsertest.Want(t, b, update, "redundant", "a page with parts of two versions is")
	f.set(broken)
	b.Do(t, chromedp.Reload())
	checkOld(t, b, "with half an update")
	f.set(online)
	half.Store(false)
	const isNew = `document.documentElement.dataset.page === 'new'`
	b.Do(t, chromedp.Reload(), browsertest.Until(heatDrawn))
	browsertest.Expect(t, b, isNew, true, "a new page is not shown at once")
	const shells = `caches.keys().then((names) => names.filter((n) => n.includes(' shell ')))`
	b.Do(t,
		browsertest.Until(shells+`.then((names) => names.length === 1 && names[0].endsWith(' 99999999'))`), // the browser checks for updates itself
		chromedp.Evaluate[chromedp.Void](`navigator.serviceWorker.ready.then(() => {})`, chromedp.EvalAwaitPromise),
	)
	f.set(broken)
	b.Do(t, chromedp.Reload())
	checkOld(t, b, "with the new page")
	browsertest.Expect(t, b, isNew, true, "without a network the old page is shown")
	f.wantNoOtherProblems(t, b)
}

// The embedded map is stored when it is first open, with its own Content-Security-Policy, which allows framing, whatever its query.
func TestPageOfflineEmbed(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	f := startFaultyNetwork(t, base)
	b := startBrowser(t, "en-GB")
	f.visit(t, b)
	b.Do(t, chromedp.Navigate(f.base+"/embed?lang=en"), browsertest.Until(heatDrawn), browsertest.Until(`caches.match('embed').then(Boolean)`))
	f.set(broken)
	b.Do(t, chromedp.Navigate(f.base+"/embed?lang=de&bbox=5,47,15,55"), browsertest.Until(heatDrawn), chromedp.WaitVisible("#offline"))
	// The words of a language that was never shown are not stored.
	browsertest.WantText(t, b, chromedp.Evaluate[string](offlineText), "the embedded map says", "Values as of")
	browsertest.Expect(t, b, `document.querySelector('#locate').checkVisibility()`, false, "the embedded map lacks its styles")
	const ancestors = `caches.match('embed').then((a) => a.headers.get('Content-Security-Policy'))`
	if csp := browsertest.Ask(t, b, chromedp.Evaluate[string](ancestors, chromedp.EvalAwaitPromise)); csp == "" || strings.Contains(csp, "frame-ancestors") {
		t.Errorf("the embedded map is stored with the policy %q", csp)
	}
	f.wantNoOtherProblems(t, b)
}

// The first visit stores no script of a card, because the map does not need it. A card that was open once works without a network, with
// its history, also if it opened before the service worker started.
func TestPageOfflineCard(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	for name, first := range map[string]string{"after the worker": "", "before the worker": "#lake=" + embeddedLake} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startFaultyNetwork(t, base)
			b := startBrowser(t, "en-GB")
			if first == "" {
				f.visit(t, b)
				browsertest.Want(t, b, storedCount("/assets/card-"), 0, "after a visit without a card")
				b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=`+embeddedLake+`'`), browsertest.Until(chartDrawn))
			} else {
				b.Do(t, chromedp.EmulateViewport(800, 600), chromedp.Navigate(f.base+"/"+first), browsertest.Until(chartDrawn))
			}
			b.Do(t, browsertest.Until(storedCount("/assets/card-")+`.then((n) => n === 1)`), browsertest.Until(storedCount("/assets/words-card-en-")+`.then((n) => n === 1)`))
			b.Do(t, browsertest.Until(storedCount("/history/")+`.then((n) => n > 0)`),
				browsertest.Until(storedCount("/status")+`.then((n) => n > 0)`), browsertest.Until(storedCount("page.json")+`.then((n) => n > 0)`))
			f.set(broken)
			b.Do(t, chromedp.Reload(), chromedp.WaitVisible("#offline"), browsertest.Until(chartDrawn))
			f.wantNoOtherProblems(t, b)
		})
	}
}

// The age of an answer includes its Age header.
func TestPageOfflineAge(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	f := startFaultyNetwork(t, base)
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
	f.wantNoOtherProblems(t, b)
}

// A basemap that cannot be loaded does not mean that the page is offline. Nothing of other origins is stored.
func TestPageOfflineBasemap(t *testing.T) {
	t.Parallel()
	const unreachable = "http://127.0.0.1:1/"
	base := startServer(t, "--basemap-url", unreachable+"{z}/{x}/{y}.png")
	f := startFaultyNetwork(t, base)
	b := startBrowser(t, "en-GB")
	f.visit(t, b)
	b.Do(t, chromedp.Reload(), browsertest.Until(heatDrawn), browsertest.Until(`document.querySelector('.leaflet-outlines-pane path') !== null`))
	if browsertest.Ask(t, b, chromedp.Evaluate[bool](`!document.querySelector('#offline').hidden`)) {
		t.Errorf("without its basemap the page says %q", browsertest.Ask(t, b, chromedp.Evaluate[string](offlineText)))
	}
	f.set(broken)
	b.Do(t, chromedp.Reload(), browsertest.Until(`document.querySelector('.leaflet-outlines-pane path') !== null`))
	checkOld(t, b, "without a basemap")
	browsertest.Want(t, b, storedCount(unreachable), 0, "it")
	f.wantNoOtherProblems(t, b, unreachable)
}
