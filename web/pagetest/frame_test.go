//go:build long

package pagetest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
	"limnomap/web/browsertest"
)

// In an iframe of the size of an advertisement a lake has its verdict, its value, the advice and a small map, without scrolling.
func TestPageFrameSizes(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	for _, size := range testsize.Cases(2, [][2]int64{{300, 250}, {320, 480}, {600, 480}, {1100, 250}, {1100, 420}}) {
		for language, scheme := range map[string]string{"en": "light", "de": "dark"} {
			t.Run(fmt.Sprintf("%dx%d %s", size[0], size[1], scheme), func(t *testing.T) {
				t.Parallel()
				b := startBrowser(t, language)
				s := screen{width: size[0], height: size[1]}
				for _, query := range []string{"", "&lake=" + embeddedLake} {
					s.open(t, b, scheme, base+"/embed?lang="+language+query)
					if query != "" {
						b.Do(t, browsertest.Until(chartDrawn))
					}
					shown := browsertest.Ask(t, b, chromedp.Evaluate[layout](layoutOfPage))
					if shown.Width > int(s.width) || len(shown.Overlaps)+len(shown.Outside)+len(shown.Small)+len(shown.Clipped) > 0 {
						t.Errorf("%q is %d px wide, with overlaps %q, controls outside %q, small ones %q, and clipped texts %q", query, shown.Width, shown.Overlaps, shown.Outside, shown.Small, shown.Clipped)
					}
					if query == "" && shown.MapArea < 0.5 || shown.MapArea < 0.15 {
						t.Errorf("%q: the map has %.2f of the area", query, shown.MapArea)
					}
					wanted := []string{"#limits summary", "#date", "#legend"}
					if query != "" {
						wanted = []string{"#limits summary", "#card h2", "#card .risk", "#card .age"}
						if s.width != 320 { // there the advice begins below the map
							wanted = append(wanted, "#card [data-fact=meaning]")
						}
					}
					if hidden := browsertest.Ask(t, b, chromedp.Evaluate[[]string](fmt.Sprintf(`%q.split(';').filter((s) => {
						const e = document.querySelector(s), r = e.getBoundingClientRect(), panel = e.closest('#panel')?.getBoundingClientRect() ?? {bottom: innerHeight};
						return !e.checkVisibility() || r.bottom > panel.bottom + 1 || r.right > innerWidth;
					})`, strings.Join(wanted, ";")))); len(hidden) > 0 && !(s.width == 320 && query != "") {
						t.Errorf("%q: %q are not visible without scrolling", query, hidden)
					}
					savePicture(t, b, fmt.Sprintf("embed-%dx%d-%s%s", s.width, s.height, scheme, strings.ReplaceAll(query, "&", "-")))
					checkAccess(t, b, "the embedded map")
				}
				b.WantNoProblems(t, base)
			})
		}
	}
}

// startResizingHost serves a page of another origin with an iframe and a script of its own.
func startResizingHost(t *testing.T, script, frame string) string {
	t.Helper()
	library, err := os.ReadFile(filepath.Join("..", "..", "web", "node_modules", "iframe-resizer", "js", "iframeResizer.min.js"))
	if err != nil {
		t.Fatalf("iframe-resizer is missing (make web): %v", err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, `<!doctype html><title>An authority</title><body>%s<script src="iframeResizer.js"></script><script>%s</script>`, frame, script)
		case "/iframeResizer.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write(library)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
}

// An iframe becomes as high as its card with iframe-resizer, and with the message that the documents describe; it shrinks when the card closes.
func TestPageFrameResizes(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	for name, script := range map[string]string{
		"iframe-resizer": `document.querySelector('iframe').onload = () => iFrameResize({}, 'iframe')`,
		"message": `addEventListener('message', ({source, origin, data}) => {
			const frame = document.querySelector('iframe');
			if (source === frame.contentWindow && origin === new URL(frame.src).origin && data.type === 'limnomap:height') frame.style.height = data.height + 'px';
		})`,
	} {
		if name != "message" && !testsize.Long {
			continue
		}
		for _, width := range testsize.Cases(1, []int{320, 700}) {
			t.Run(fmt.Sprintf("%s %d", name, width), func(t *testing.T) {
				t.Parallel()
				host := startResizingHost(t, "window.heights = new Set(); "+script+"; new ResizeObserver(() => heights.add(document.querySelector('iframe').offsetHeight)).observe(document.querySelector('iframe'))",
					fmt.Sprintf(`<iframe src="%s/embed?lang=en&amp;lake=%s" title="Lakes" width="%d" height="250" style="border:0"></iframe>`, base, embeddedLake, width))
				b := startBrowser(t, "en")
				b.Do(t, chromedp.EmulateViewport(800, 1600), chromedp.Navigate(host+"/"))
				frame := b.Frame(t, base)
				const still = `(() => {
					const now = innerHeight;
					window.same = window.before === now ? (window.same ?? 0) + 1 : 0;
					window.before = now;
					return window.same > 15;
				})()`
				frame.Do(t, browsertest.Until(chartDrawn), browsertest.Until(heatDrawn), browsertest.Until(`document.body.matches('.fits')`), browsertest.Until(still))
				type fit struct{ Inner, Panel, Card, Map float64 }
				const measure = `(() => {
					const [panel, card, map] = ['#panel', '#card', '#map'].map((s) => document.querySelector(s).offsetHeight);
					return {inner: innerHeight, panel, card, map};
				})()`
				open := browsertest.Ask(t, frame, chromedp.Evaluate[fit](measure))
				if open.Panel < open.Card-1 || open.Map < 230 || open.Inner > 2000 {
					t.Errorf("with a card the iframe has %+v, want the whole card and a map", open)
				}
				frame.Do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('#card [name=close]').click()`), browsertest.Until(fmt.Sprintf(`innerHeight < %v`, open.Inner)), browsertest.Until(still))
				if shut := browsertest.Ask(t, frame, chromedp.Evaluate[fit](measure)); shut.Map < 230 || shut.Inner > 700 {
					t.Errorf("without a card the iframe has %+v", shut)
				}
				if n := browsertest.Ask(t, b, chromedp.Evaluate[int](`heights.size`)); n > 12 {
					t.Errorf("the iframe had %d heights", n)
				}
				for _, p := range append(b.Problems(host), frame.Problems(base)...) {
					if !strings.HasPrefix(p, "request to another origin: "+base) && !strings.HasPrefix(p, "request to another origin: "+host) {
						t.Errorf("problem: %s", p)
					}
				}
			})
		}
	}
}

// The embedded map obeys only the page around it, and the full page sends nothing.
func TestPageFrameMessages(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	const init = "[iFrameSizer]lakes:8:false:false:32:true:true:null:bodyOffset:null:null:0:false:parent:scroll:true"
	host := startResizingHost(t, fmt.Sprintf(`window.got = [];
		addEventListener('message', ({data}) => got.push(data));
		const [frame, other] = document.querySelectorAll('iframe');
		window.send = (text) => frame.contentWindow.postMessage(text, '*');
		other.srcdoc = '<script>parent[0].postMessage(%q, "*")<'+'/script>'`, strings.ReplaceAll(init, "lakes", "intruder")),
		fmt.Sprintf(`<iframe src="%s/embed?lang=en" title="Lakes" width="600" height="480"></iframe><iframe title="Other"></iframe>`, base))
	b := startBrowser(t, "en")
	b.Do(t, chromedp.EmulateViewport(800, 1200), chromedp.Navigate(host+"/"), browsertest.Until(`got.some((m) => m.type === 'limnomap:height' && m.height > 100 && Object.keys(m).length === 2)`))
	for _, text := range []string{"{}", "[iFrameSizer]", "[iFrameSizer]resize", "[iFrameSizer]x:y", init} {
		b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`send(%q)`, text)))
	}
	b.Do(t, chromedp.Evaluate[chromedp.Void](`document.querySelectorAll('iframe')[1].srcdoc += ' '`), browsertest.Until(`got.some((m) => /^\[iFrameSizer\]lakes:\d+:600:init$/.test(m))`))
	if bad := browsertest.Ask(t, b, chromedp.Evaluate[[]string](`got.filter((m) => typeof m === 'string' && !/^\[iFrameSizer\]lakes:\d+:600:\w+$/.test(m) && m !== '[iFrameResizerChild]Ready')`)); len(bad) > 0 {
		t.Errorf("the iframe also sent %q", bad)
	}
}

// With frame-ancestors set, other pages cannot embed the map, and the page offers no code for them.
func TestPageFrameAncestors(t *testing.T) {
	t.Parallel()
	base := startServer(t, "--frame-ancestors", "self")
	page := startHost(t, func() string { return fmt.Sprintf(`<iframe src="%s/embed"></iframe>`, base) })
	b := openPage(t, "en-GB", page+"/")
	limnomaptest.Within(t, 2*time.Minute, "the browser refuses the frame", func() bool {
		return strings.Contains(fmt.Sprint(b.Problems(page)), "frame-ancestors 'self'")
	})
	other := openPage(t, "en-GB", base+"/", chromedp.Click("#share-open"), browsertest.Until(`document.querySelector('#share')?.open`))
	browsertest.Expect(t, other, `document.querySelector('#share details').checkVisibility()`, false, "the page offers a code although no page may embed the map")
	other.WantNoProblems(t, base)
}

// The page itself and the table can never be framed.
func TestPageItselfIsNeverFramed(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	page := startHost(t, func() string {
		return fmt.Sprintf(`<iframe src="%s/"></iframe><iframe src="%s/table"></iframe>`, base, base)
	})
	b := openPage(t, "en-GB", page+"/")
	limnomaptest.Within(t, 2*time.Minute, "the browser refuses both frames", func() bool {
		return strings.Count(fmt.Sprint(b.Problems(page)), "frame-ancestors 'self'") >= 2
	})
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
		browsertest.Expect(t, b, fmt.Sprintf(`document.querySelector('%s').checkVisibility()`, s), true, "%s is not visible in an iframe of 320 x 480 px", s)
	}
	if wide := browsertest.Ask(t, b, chromedp.Evaluate[int](`document.documentElement.scrollWidth`)); wide > 320 {
		t.Errorf("the embedded map is %d px wide in an iframe of 320", wide)
	}
	checkAccess(t, b, "the embedded map")
	b.WantNoProblems(t, base, "gone_for_good")
}
