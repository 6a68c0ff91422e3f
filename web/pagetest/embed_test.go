package pagetest

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

const embeddedLake = "de_by_starnberger_see"

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
		chromedp.Navigate(base+"/#lake="+embeddedLake+"&style=dots&colormap=lightness"),
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
	startAxe(t, b)
	checkAccess(t, b, "the dialog that shares")
	b.Do(t, chromedp.Click("#share .copy-row:nth-of-type(1) button"), browsertest.Until(`document.querySelector('#share [role=status]').textContent === 'The link is copied.'`))
	b.Do(t, chromedp.Click("#share .copy-row:nth-of-type(2) button"), browsertest.Until(`document.querySelector('#share [role=status]').textContent === 'The code is copied.'`))
	put := browsertest.Ask(t, b, chromedp.Evaluate[[]string](`window.put`))
	if len(put) != 2 {
		t.Fatalf("copied: %q, want the link and the code", put)
	}
	link, err := url.Parse(put[0])
	if err != nil || !strings.HasPrefix(put[0], base+"/#") || !strings.Contains(link.Fragment, "lake="+embeddedLake) || !strings.Contains(link.Fragment, "style=dots&colormap=lightness") {
		t.Errorf("the link is %q, want this page with its lake, style and colour map", put[0])
	}
	b.Do(t, chromedp.KeyEvent(kb.Escape), browsertest.Until(`!document.querySelector('#share')?.open && document.activeElement.id === 'share-open'`))
	b.WantNoProblems(t, strings.TrimSuffix(base, "/lakes"))

	code := put[1]
	for _, want := range []string{`title="Starnberger See"`, `width="600"`, `height="480"`, `loading="lazy"`, `allow="fullscreen"`,
		`src="` + html.EscapeString(base+"/embed?lake="+embeddedLake+"&style=dots&colormap=lightness&lang=en") + `"`} {
		if !strings.Contains(code, want) {
			t.Errorf("the code lacks %s: %s", want, code)
		}
	}
	testFrame(t, base, code)
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
	if n := browsertest.Ask(t, inFrame, chromedp.Evaluate[int](`history.length`)); n != shown.History {
		t.Errorf("the history of the outer page has %d entries, had %d", n, shown.History)
	}
	allowed := append(b.Problems(page), inFrame.Problems(base)...)
	for _, p := range allowed {
		if !strings.HasPrefix(p, "request to another origin: "+base) && !strings.HasPrefix(p, "request to another origin: "+page) {
			t.Errorf("problem: %s", p)
		}
	}
}

// With frame-ancestors set, other pages cannot embed the map, and the page offers no code for them.
func TestPageFrameAncestors(t *testing.T) {
	t.Parallel()
	base := startServer(t, "--frame-ancestors", "self")
	page := startHost(t, func() string { return fmt.Sprintf(`<iframe src="%s/embed"></iframe>`, base) })
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(page+"/"))
	limnomaptest.Within(t, 2*time.Minute, "the browser refuses the frame", func() bool {
		return strings.Contains(fmt.Sprint(b.Problems(page)), "frame-ancestors 'self'")
	})
	other := startBrowser(t, "en-GB")
	other.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/"), chromedp.Click("#share-open"), browsertest.Until(`document.querySelector('#share')?.open`))
	if browsertest.Ask(t, other, chromedp.Evaluate[bool](`document.querySelector('#share textarea').checkVisibility()`)) {
		t.Error("the page offers a code although no page may embed the map")
	}
	for _, p := range other.Problems(base) {
		t.Errorf("problem: %s", p)
	}
}

// The page itself and the table can never be framed.
func TestPageItselfIsNeverFramed(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	page := startHost(t, func() string {
		return fmt.Sprintf(`<iframe src="%s/"></iframe><iframe src="%s/table"></iframe>`, base, base)
	})
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(page+"/"))
	limnomaptest.Within(t, 2*time.Minute, "the browser refuses both frames", func() bool {
		return strings.Count(fmt.Sprint(b.Problems(page)), "frame-ancestors 'self'") >= 2
	})
}

// If the clipboard is denied, as on a page without https, the text is selected.
func TestPageShareWithoutClipboard(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	for name, without := range map[string]string{
		"denied":   `navigator.clipboard.writeText = () => Promise.reject(new DOMException('no', 'NotAllowedError'))`,
		"no https": `Object.defineProperty(navigator, 'clipboard', {value: undefined})`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := startBrowser(t, "de")
			b.Do(t,
				chromedp.EmulateViewport(320, 640, chromedp.EmulateMobile),
				chromedp.Navigate(base+"/?lang=de#date=2026-10-05"),
				chromedp.WaitVisible("#share-open"),
				chromedp.Evaluate[chromedp.Void](without+`; window.tried = ''; document.execCommand = (c) => { window.tried = c; return false }`),
				chromedp.Click("#share-open"),
				chromedp.WaitVisible("#share textarea"),
			)
			for i, field := range []string{"input", "textarea"} {
				b.Do(t, chromedp.Click(fmt.Sprintf("#share .copy-row:nth-of-type(%d) button", i+1)), browsertest.Until(`document.querySelector('#share [role=status]').textContent.includes('Strg+C')`))
				selected := browsertest.Ask(t, b, chromedp.Evaluate[bool](fmt.Sprintf(`(() => {
					const f = document.querySelector('#share %s');
					return document.activeElement === f && f.selectionStart === 0 && f.selectionEnd === f.value.length && f.value.length > 20 && window.tried === 'copy';
				})()`, field)))
				if !selected {
					t.Errorf("the text of the %s is not selected", field)
				}
			}
			type dialog struct {
				Link, Code, Text            string
				Left, Right, Top, Bottom, X float64
			}
			shown := browsertest.Ask(t, b, chromedp.Evaluate[dialog](`(() => {
				const share = document.querySelector('#share'), r = share.getBoundingClientRect();
				return {Link: share.querySelector('input').value, Code: share.querySelector('textarea').value, Text: share.textContent,
					Left: r.left, Right: r.right, Top: r.top, Bottom: r.bottom, X: document.documentElement.scrollWidth};
			})()`))
			if !strings.HasPrefix(shown.Link, base+"/?lang=de#") || !strings.Contains(shown.Link, "date=2026-10-05") {
				t.Errorf("the link is %q, want the week and the language that are shown", shown.Link)
			}
			// On another page, a past week would look like the present one for years.
			if !strings.Contains(shown.Code, "/embed?bbox=") || !strings.Contains(shown.Code, "lang=de") || strings.Contains(shown.Code, "date=") || !strings.Contains(shown.Text, "immer die neueste Woche") {
				t.Errorf("the code is %q, want the bbox without a week, and a note about that", shown.Code)
			}
			checkBox(t, base, shown.Code)
			if shown.Left < 0 || shown.Right > 320 || shown.Top < 0 || shown.Bottom > 640 || shown.X > 320 {
				t.Errorf("the dialog %+v is not completely on a phone of 320 x 640 px", shown)
			}
			b.WantNoProblems(t, base)
		})
	}
}

// checkBox requests the address in the code: the server validates the bbox.
func checkBox(t *testing.T, base, code string) {
	t.Helper()
	_, rest, _ := strings.Cut(code, `src="`)
	address, _, _ := strings.Cut(rest, `"`)
	resp, body := limnomaptest.Get(t, html.UnescapeString(address))
	if resp.StatusCode != http.StatusOK {
		t.Errorf("%s = %s: %s", address, resp.Status, body)
	}
	u, err := url.Parse(html.UnescapeString(address))
	if err != nil {
		t.Fatal(err)
	}
	var west, south, east, north float64
	if n, err := fmt.Sscanf(u.Query().Get("bbox"), "%f,%f,%f,%f", &west, &south, &east, &north); n != 4 || west > 10 || east < 11 || south > 50 || north < 52 {
		t.Errorf("the bbox %s (%v) does not contain the centre of Germany", u.Query().Get("bbox"), err)
	}
}

// An embedded map of a lake that no longer exists still shows the map, and says so.
func TestPageEmbedOfAnUnknownLake(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "en-GB")
	b.Do(t,
		chromedp.EmulateViewport(600, 480),
		chromedp.Navigate(base+"/embed?lake=gone_for_good&lang=en"),
		browsertest.Until(heatDrawn),
		browsertest.Until(`document.querySelector('#legend').getClientRects().length > 0`),
	)
	if wide := browsertest.Ask(t, b, chromedp.Evaluate[int](`document.documentElement.scrollWidth`)); wide > 600 {
		t.Errorf("the embedded map is %d px wide in an iframe of 600", wide)
	}
	b.Do(t, browsertest.Until(`document.body.innerText.includes('gone_for_good')`))
	// In a narrow iframe the notices are still visible.
	b.Do(t, chromedp.EmulateViewport(320, 480, chromedp.EmulateMobile), browsertest.Until(`innerWidth === 320 && document.querySelector('#map').clientHeight > 80`))
	for _, s := range []string{"#notice", "#date", "#limits summary", "#card", "#tools a"} {
		if !browsertest.Ask(t, b, chromedp.Evaluate[bool](fmt.Sprintf(`document.querySelector('%s').checkVisibility()`, s))) {
			t.Errorf("%s is not visible in an iframe of 320 x 480 px", s)
		}
	}
	if wide := browsertest.Ask(t, b, chromedp.Evaluate[int](`document.documentElement.scrollWidth`)); wide > 320 {
		t.Errorf("the embedded map is %d px wide in an iframe of 320", wide)
	}
	startAxe(t, b)
	checkAccess(t, b, "the embedded map")
	for _, p := range b.Problems(base) {
		if !strings.Contains(p, "gone_for_good") { // the browser reports each 404
			t.Errorf("problem: %s", p)
		}
	}
}

// The dialog offers the apps of a device that has them. If sharing fails, the link is copied; a reader who chooses no app is left alone.
func TestPageShareWithApps(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.Navigate(base+"/#lake=de_be_grosser_mueggelsee"), browsertest.Until(chartDrawn),
		chromedp.Evaluate[chromedp.Void](`navigator.share = async (data) => { window.shared = data; if (window.failure) throw new DOMException('', window.failure) }`),
		chromedp.Click("#share-open"), chromedp.WaitVisible("#share [name=device]"))
	startAxe(t, b)
	checkAccess(t, b, "the dialog with apps")
	const state = `document.querySelector('#share [role=status]').textContent`
	b.Do(t, chromedp.Click("#share [name=device]"), browsertest.Until(`window.shared?.title === 'Großer Müggelsee · Algae in lakes' && window.shared.url === document.querySelector('#share-link').value`))
	b.Do(t, chromedp.Evaluate[chromedp.Void](`window.failure = 'AbortError', delete window.shared`), chromedp.Click("#share [name=device]"), browsertest.Until(`window.shared !== undefined`))
	if said := browsertest.Ask(t, b, chromedp.Evaluate[string](state)); said != "" {
		t.Errorf("after choosing no app, the dialog says %q", said)
	}
	b.Do(t, chromedp.Evaluate[chromedp.Void](`window.failure = 'NotAllowedError'`), chromedp.Click("#share [name=device]"), browsertest.Until(state+` !== ''`))
	wantNoProblems(t, b, base)

	other := startBrowser(t, "en-GB")
	other.Do(t, chromedp.Navigate(base+"/"), chromedp.Evaluate[chromedp.Void](`Object.defineProperty(navigator, 'share', {value: undefined})`), chromedp.Click("#share-open"), chromedp.WaitVisible("#share [name=picture]"))
	if browsertest.Ask(t, other, chromedp.Evaluate[bool](`document.querySelector('#share [name=device]') !== null`)) {
		t.Error("the dialog offers apps on a device without them")
	}
}
