//go:build long

package pagetest

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

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
				chromedp.Click("#share summary"),
				chromedp.WaitVisible("#share textarea"),
			)
			for _, field := range []string{"input", "textarea"} {
				b.Do(t, chromedp.Click(fmt.Sprintf("#share .copy-row:has(%s) button", field)), browsertest.Until(`document.querySelector('#share [role=status]').textContent.includes('Strg+C')`))
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

// The dialog offers the apps of a device that has them. If sharing fails, the link is copied; a reader who chooses no app is left alone.
func TestPageShareWithApps(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.Navigate(base+"/#lake=de_be_grosser_mueggelsee"), browsertest.Until(chartDrawn),
		chromedp.Evaluate[chromedp.Void](`navigator.share = async (data) => { window.shared = data; if (window.failure) throw new DOMException('', window.failure) }`),
		chromedp.Click("#share-open"), chromedp.WaitVisible("#share [name=device]"))
	checkAccess(t, b, "the dialog with apps")
	// Messengers show a preview of the lake's own page. The code for web sites is out of the way.
	browsertest.Want(t, b, `document.querySelector('#share-link').value`, base+"/lakes/de_be_grosser_mueggelsee", "the link to an open lake is")
	browsertest.Expect(t, b, `document.querySelector('#share textarea').checkVisibility()`, false, "the dialog shows the code for web sites at once")
	const state = `document.querySelector('#share [role=status]').textContent`
	b.Do(t, chromedp.Click("#share [name=device]"), browsertest.Until(`window.shared?.title === 'Großer Müggelsee · Algae in lakes' && window.shared.url === document.querySelector('#share-link').value`))
	b.Do(t, chromedp.Evaluate[chromedp.Void](`window.failure = 'AbortError', delete window.shared`), chromedp.Click("#share [name=device]"), browsertest.Until(`window.shared !== undefined`))
	browsertest.Want(t, b, state, "", "after choosing no app, the dialog says")
	b.Do(t, chromedp.Evaluate[chromedp.Void](`window.failure = 'NotAllowedError'`), chromedp.Click("#share [name=device]"), browsertest.Until(state+` !== ''`))
	wantNoProblems(t, b, base)

	other := startBrowser(t, "en-GB")
	other.Do(t, chromedp.Navigate(base+"/"), chromedp.Evaluate[chromedp.Void](`Object.defineProperty(navigator, 'share', {value: undefined})`), chromedp.Click("#share-open"), chromedp.WaitVisible("#share [name=picture]"))
	browsertest.Expect(t, other, `document.querySelector('#share [name=device]') !== null`, false, "the dialog offers apps on a device without them")
}
