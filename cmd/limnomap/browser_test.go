package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"limnomap/web"
)

// A browser is a Chromium with one page open, and what went wrong on it.
type browser struct {
	ctx context.Context

	mu       sync.Mutex
	faults   []string // console errors, exceptions and violations of the Content-Security-Policy
	requests []string // the addresses that the page asked for
}

// startBrowser starts a real Chromium for one test. Where there is none, or no built page to look at, it skips the
// test, unless LIMNOMAP_REQUIRE_BROWSER says that this may not be.
func startBrowser(t *testing.T, language string) *browser {
	t.Helper()
	chromium := findChromium(t)
	allocator, cancelAllocator := chromedp.NewExecAllocator(t.Context(), append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(chromium),
		chromedp.NoSandbox, // root's Chromium starts no other way; it only sees our own page
		chromedp.DisableGPU,
		chromedp.Flag("lang", language),
		chromedp.Flag("accept-lang", language),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
	)...)
	t.Cleanup(cancelAllocator)
	page, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	b := &browser{ctx: page}
	if err := chromedp.Listen(page, b.listen); err != nil {
		t.Fatal(err)
	}
	var cancelTimed context.CancelFunc
	b.ctx, cancelTimed = context.WithTimeout(page, 2*time.Minute)
	t.Cleanup(cancelTimed)
	enable(t, b, network.Enable, network.EnableParams{})
	enable(t, b, cdplog.Enable, cdp.Empty{})
	enable(t, b, runtime.Enable, cdp.Empty{})
	return b
}

func findChromium(t *testing.T) string {
	t.Helper()
	missing := "no Chromium is installed (make setup)"
	if !web.Built(web.FS()) {
		missing = "web/dist is not built (make web)"
	} else {
		for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
			if path, err := exec.LookPath(name); err == nil {
				return path
			}
		}
	}
	if os.Getenv("LIMNOMAP_REQUIRE_BROWSER") != "" {
		t.Fatal(missing)
	}
	t.Skip("BROWSER TEST LEFT OUT: " + missing)
	return ""
}

func enable[P any](t *testing.T, b *browser, command cdp.Command[P, cdp.Empty], params P) {
	t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		t.Fatal(err)
	}
}

// prefer sets what the reader prefers: prefer(t, "color-scheme", "dark").
func (b *browser) prefer(t *testing.T, feature, value string) {
	t.Helper()
	params := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-" + feature, Value: value}}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, params); err != nil {
		t.Fatal(err)
	}
}

func (b *browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, "exception: "+e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			for _, arg := range e.Args {
				b.faults = append(b.faults, "console: "+string(arg.Value)+arg.Description)
			}
		}
	case *cdplog.EventEntryAdded: // violations of the CSP and failed requests come here
		b.faults = append(b.faults, string(e.Entry.Source)+": "+e.Entry.Text+" "+e.Entry.URL)
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

// do carries out steps on the page.
func (b *browser) do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	for i, step := range steps {
		if _, err := chromedp.Run(b.ctx, step); err != nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			t.Fatalf("step %d: %v\nfaults: %q", i, err, b.faults)
		}
	}
}

// ask returns what an action of the page gives.
func ask[T any](t *testing.T, b *browser, action chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(b.ctx, action)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// until waits for a JavaScript expression to hold.
func until(expression string) chromedp.Action[chromedp.Void] {
	poll := chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(30*time.Second))
	return func(ctx context.Context, target *chromedp.Target) (v chromedp.Void, err error) {
		for range 5 {
			// A page that is being loaded anew takes the question with it.
			if _, err = poll(ctx, target); err == nil || !strings.Contains(err.Error(), "(-32000)") {
				return v, err
			}
		}
		return v, err
	}
}

// problems returns what went wrong on the page, requests to other origins included.
func (b *browser) problems(origin string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := slices.Clone(b.faults)
	for _, url := range b.requests {
		if !strings.HasPrefix(url, origin) && !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "blob:") {
			found = append(found, "request to another origin: "+url)
		}
	}
	return found
}

// wantNoProblems reports what went wrong on the page that is open.
func (b *browser) wantNoProblems(t *testing.T, origin string) {
	t.Helper()
	for _, p := range b.problems(origin) {
		t.Errorf("on the page: %s", p)
	}
}

// heatDrawn holds when a heat tile is there that has strongly coloured pixels.
const heatDrawn = `[...document.querySelectorAll('.heat img.leaflet-tile-loaded')].some(img => {
	const canvas = Object.assign(document.createElement('canvas'), {width: img.naturalWidth, height: img.naturalHeight});
	const context = canvas.getContext('2d');
	context.drawImage(img, 0, 0);
	return context.getImageData(0, 0, canvas.width, canvas.height).data.some((v, i) => i % 4 === 3 && v > 100);
})`

// shownColours gives the colours of the lake whose card is open and that the list names first: of their
// symbols, which are paled where a value is old.
const shownColours = `(() => {
	const probe = document.body.appendChild(document.createElement('i'));
	const colour = (s) => {
		probe.style.color = document.querySelector(s + ' .symbol').style.getPropertyValue('--colour');
		return getComputedStyle(probe).color;
	};
	return {card: colour('#card .risk'), list: colour('#find li')};
})()`

// startFront starts a server before that of base, which may answer instead of it, and returns its address.
func startFront(t *testing.T, base string, answers func(http.ResponseWriter, *http.Request) bool) string {
	t.Helper()
	target, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !answers(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	return front.URL
}

// startWorldFront starts a server before base that says that it has more lakes than a phone can hold.
func startWorldFront(t *testing.T, base string) string {
	return startFront(t, base, func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/page.json") {
			return false
		}
		var settings map[string]any
		getJSON(t, base+"/page.json", &settings)
		settings["total_lakes"] = 1_400_000
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(settings); err != nil {
			t.Error(err)
		}
		return true
	})
}
