// Package browsertest drives a real Chromium, for tests, and notes what goes wrong on its page.
package browsertest

import (
	"context"
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
)

// A Browser is a Chromium with one page open, and what went wrong on it.
type Browser struct {
	// Ctx is what chromedp's functions take.
	Ctx context.Context

	mu       sync.Mutex
	faults   []string // console errors, exceptions and violations of the Content-Security-Policy
	requests []string // the addresses that the page asked for
}

// mostTime is how long a browser may live: of a test that hangs, not of one on a machine that is busy.
const mostTime = 5 * time.Minute

// Start starts a real Chromium for one test, which ends it, at the latest after mostTime. The options come behind ours.
// Where there is no Chromium it skips the test, loudly; in CI it fails.
func Start(t testing.TB, language string, options ...chromedp.ExecAllocatorOption) *Browser {
	t.Helper()
	ours := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(findChromium(t)),
		chromedp.NoSandbox, // root's Chromium starts no other way; it only sees our own pages
		chromedp.DisableGPU,
		chromedp.Flag("lang", language),
		chromedp.Flag("accept-lang", language),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
	)
	allocator, cancelAllocator := chromedp.NewExecAllocator(t.Context(), append(ours, options...)...)
	t.Cleanup(cancelAllocator)
	page, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	b := &Browser{Ctx: page}
	b.watch(t)
	var cancelTimed context.CancelFunc
	b.Ctx, cancelTimed = context.WithTimeout(page, mostTime)
	t.Cleanup(cancelTimed)
	return b
}

// watch notes what goes wrong and is asked for from now on.
func (b *Browser) watch(t testing.TB) {
	t.Helper()
	if err := chromedp.Listen(b.Ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	Enable(t, b, network.Enable, network.EnableParams{})
	Enable(t, b, cdplog.Enable, cdp.Empty{})
	Enable(t, b, runtime.Enable, cdp.Empty{})
}

// Frame returns the document of a frame whose address begins with base, once it is there. It must be of another site than
// the page around, so that it has a process of its own.
func (b *Browser) Frame(t testing.TB, base string) *Browser {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		targets, err := chromedp.Targets(b.Ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range targets {
			if target.Type == "iframe" && strings.HasPrefix(target.URL, base) {
				ctx, cancel := chromedp.NewContext(b.Ctx, chromedp.WithTargetID(target.TargetID))
				t.Cleanup(cancel)
				frame := &Browser{Ctx: ctx}
				frame.watch(t)
				return frame
			}
		}
	}
	t.Fatalf("there is no frame of %s", base)
	return nil
}

// Requests returns the addresses that the page has asked for.
func (b *Browser) Requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.requests)
}

func findChromium(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const missing = "no Chromium is installed (make setup)"
	if os.Getenv("CI") != "" {
		t.Fatal(missing)
	}
	t.Skip("LEFT OUT: " + missing)
	return ""
}

// Enable turns on a domain of Chromium's protocol.
func Enable[P any](t testing.TB, b *Browser, command cdp.Command[P, cdp.Empty], params P) {
	t.Helper()
	if _, err := chromedp.Call(b.Ctx, command, params); err != nil {
		t.Fatal(err)
	}
}

// Prefer sets what the reader prefers: Prefer(t, "color-scheme", "dark").
func (b *Browser) Prefer(t testing.TB, feature, value string) {
	t.Helper()
	params := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-" + feature, Value: value}}}
	if _, err := chromedp.Call(b.Ctx, emulation.SetEmulatedMedia, params); err != nil {
		t.Fatal(err)
	}
}

func (b *Browser) listen(event any) {
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

// Do carries out steps on the page.
func (b *Browser) Do(t testing.TB, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	for i, step := range steps {
		if _, err := chromedp.Run(b.Ctx, step); err != nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			t.Fatalf("step %d: %v\nfaults: %q", i, err, b.faults)
		}
	}
}

// Ask returns what an action of the page gives.
func Ask[T any](t testing.TB, b *Browser, action chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(b.Ctx, action)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Until waits for a JavaScript expression to hold.
func Until(expression string) chromedp.Action[chromedp.Void] {
	poll := chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(time.Minute))
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

// Problems returns what went wrong on the page, requests to other origins included.
func (b *Browser) Problems(origin string) []string {
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

// WantNoProblems reports what went wrong on the page that is open.
func (b *Browser) WantNoProblems(t testing.TB, origin string) {
	t.Helper()
	for _, p := range b.Problems(origin) {
		t.Errorf("on the page: %s", p)
	}
}
