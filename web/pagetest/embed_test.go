package pagetest

import (
	"fmt"
	"html"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"limnomap/web/browsertest"
)

// startHost serves a page of another origin with iframes in it.
func startHost(t *testing.T, body func() string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			w.WriteHeader(http.StatusNoContent) // favicon.ico
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<!doctype html><title>An authority</title><h1>Bathing</h1>%s", body())
	}))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "127.0.0.1", "localhost", 1) // not the site of the server
}

// The dialog copies a link and the code of an iframe, which works on a page of another origin.
func TestPageShareAndEmbed(t *testing.T) {
	t.Parallel()
	base := startServer(t, "--base-path", "/lakes")
	b := startBrowser(t, "en-GB")
	b.Do(t,
		chromedp.EmulateViewport(1280, 800),
		chromedp.Navigate(base+"/#lake="+embeddedLake+"&style=dots&colormap=cividis"),
		chromedp.WaitVisible("#card h2"),
		chromedp.WaitVisible("#share-open"),
		// The test replaces writeText, so that it needs no permission to read the clipboard.
		chromedp.Evaluate[chromedp.Void](`window.put = []; navigator.clipboard.writeText = async (text) => { window.put.push(text) }`),
	)
	openByKeyboard := func() {
		t.Helper()
		b.Do(t, chromedp.Focus("#share-open"), chromedp.KeyEvent(kb.Enter), browsertest.Until(`document.querySelector('#share')?.open`))
	}
	openByKeyboard()
	checkAccess(t, b, "the dialog that shares")
	b.Do(t, chromedp.Click("#share .copy-row:nth-of-type(1) button"), browsertest.Until(`document.querySelector('#share [role=status]').textContent === 'The link is copied.'`))
	b.Do(t, chromedp.Click("#share summary"), chromedp.Click("#share details .copy-row button"), browsertest.Until(`document.querySelector('#share [role=status]').textContent === 'The code is copied.'`))
	put := browsertest.Ask(t, b, chromedp.Evaluate[[]string](`window.put`))
	if len(put) != 2 {
		t.Fatalf("copied: %q, want the link and the code", put)
	}
	link, err := url.Parse(put[0])
	if err != nil || !strings.HasPrefix(put[0], base+"/#") || !strings.Contains(link.Fragment, "lake="+embeddedLake) || !strings.Contains(link.Fragment, "style=dots&colormap=cividis") {
		t.Errorf("the link is %q, want this page with its lake, style and colour map", put[0])
	}
	b.Do(t, chromedp.KeyEvent(kb.Escape), browsertest.Until(`!document.querySelector('#share')?.open && document.activeElement.id === 'share-open'`))
	b.WantNoProblems(t, strings.TrimSuffix(base, "/lakes"))

	code := put[1]
	for _, want := range []string{`title="Starnberger See"`, `width="600"`, `height="480"`, `loading="lazy"`, `allow="fullscreen"`,
		`src="` + html.EscapeString(base+"/embed?lake="+embeddedLake+"&style=dots&colormap=cividis&lang=en") + `"`} {
		if !strings.Contains(code, want) {
			t.Errorf("the code lacks %s: %s", want, code)
		}
	}
	testFrame(t, base, code)
}

// A page with a Cross-Origin-Embedder-Policy shows the embedded map, and that a basemap whose server knows nothing of it.
func TestPageEmbedInAnIsolatedPage(t *testing.T) {
	t.Parallel()
	basemap := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		if err := png.Encode(w, image.NewGray(image.Rect(0, 0, 256, 256))); err != nil {
			t.Error(err)
		}
	}))
	defer basemap.Close()
	base := startServer(t, "--basemap-url", strings.Replace(basemap.URL, "127.0.0.1", "localhost", 1)+"/{z}/{x}/{y}.png")
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cross-Origin-Embedder-Policy", "require-corp")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><title>An authority</title><iframe src="%s/embed?lake=%s&amp;lang=en" width="600" height="480"></iframe>`, base, embeddedLake)
	}))
	defer host.Close()
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(strings.Replace(host.URL, "127.0.0.1", "localhost", 1)+"/"), chromedp.WaitVisible("iframe"))
	b.Frame(t, base).Do(t, chromedp.WaitVisible("#card h2"), browsertest.Until(heatDrawn), browsertest.Until(`Boolean(document.querySelector('.basemap .leaflet-tile-loaded'))`))
}

// testFrame opens the code on a page of another origin.
func testFrame(t *testing.T, base, code string) {
	t.Helper()
	page := startHost(t, func() string { return code })
	b := startBrowser(t, "de") // the code asks for English
	b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(page+"/"), chromedp.WaitVisible("iframe"))
	inFrame := b.Frame(t, base)
	inFrame.Do(t, chromedp.WaitVisible("#card h2"), browsertest.Until(heatDrawn), browsertest.Until(`document.querySelector('#legend').getClientRects().length > 0`))
	type seen struct {
		Card, Notice, Date, Limits string
		Find, Share, Language      bool
		Full, Target, Rel          string
		History                    int
	}
	shown := browsertest.Ask(t, inFrame, chromedp.Evaluate[seen](`(() => {
		const visible = (s) => Boolean(document.querySelector(s)?.checkVisibility());
		const text = (s) => visible(s) ? document.querySelector(s).textContent : '';
		const full = document.querySelector('#tools a');
		return {Card: text('#card'), Notice: text('#notice'), Date: text('#date'), Limits: text('#limits summary'),
			Find: visible('#find'), Share: visible('#share-open'), Language: visible('#language'),
			Full: full.href, Target: full.target, Rel: full.rel, History: history.length};
	})()`))
	for what, text := range map[string][2]string{
		"card": {shown.Card, "Starnberger See"}, "notice": {shown.Notice, "Simulated"}, "date": {shown.Date, "As of"}, "limits": {shown.Limits, "neither scum"},
	} {
		if !strings.Contains(text[0], text[1]) {
			t.Errorf("the %s of the embedded map says %q, want %q", what, text[0], text[1])
		}
	}
	if shown.Find || shown.Share || shown.Language {
		t.Errorf("the embedded map shows controls of the full page: %+v", shown)
	}
	if !strings.HasPrefix(shown.Full, base+"/?lang=en#") || !strings.Contains(shown.Full, "lake="+embeddedLake) || shown.Target != "_blank" || shown.Rel != "noopener" {
		t.Errorf("the link to the full page is %q, %q, %q", shown.Full, shown.Target, shown.Rel)
	}
	// Closing the card does not change the history of the outer page.
	inFrame.Do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('#card button').click()`), browsertest.Until(`!document.querySelector('#card').checkVisibility()`))
	browsertest.Want(t, inFrame, `history.length`, shown.History, "the history of the outer page has")
	allowed := append(b.Problems(page), inFrame.Problems(base)...)
	for _, p := range allowed {
		if !strings.HasPrefix(p, "request to another origin: "+base) && !strings.HasPrefix(p, "request to another origin: "+page) {
			t.Errorf("problem: %s", p)
		}
	}
}
