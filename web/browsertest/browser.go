// Package browsertest runs pages in a real Chromium for tests and collects the problems that the browser reports.
package browsertest

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"limnomap/data/testsize"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A Browser is one open page with its own cookies, cache and service workers.
type Browser struct {
	// Ctx is the context for chromedp's functions.
	Ctx context.Context

	mu       sync.Mutex
	problems []string // console errors, exceptions and violations of the Content-Security-Policy
	requests []string // URLs that the page has requested
}

// maxTime bounds the life of a page, so that a test that hangs fails. It is long because the machine may be busy.
const maxTime = 15 * time.Minute

// pollInterval is the time between two evaluations of a condition.
const pollInterval = 40 * time.Millisecond

// maxWait bounds the wait for one condition.
const maxWait = 5 * time.Minute

// maxRepeats bounds the repetitions of a step that the page disturbs.
const maxRepeats = 5

// chromiums are the Chromium processes that the tests of a package share, one per language.
var chromiums struct {
	sync.Mutex
	byLanguage map[string]context.Context
	cancel     []context.CancelFunc
}

// Start opens a page for one test and closes it when the test ends. All pages of a language share one Chromium, which runs
// until [Close]; with options the page gets a Chromium of its own, with the profile of a new user. Without Chromium the test is skipped, and
// fails in CI.
func Start(t testing.TB, language string, options ...chromedp.ExecAllocatorOption) *Browser {
	t.Helper()
	path := findChromium(t)
	var chromium context.Context
	var own []chromedp.ContextOption
	if len(options) > 0 {
		ctx, cancel, err := startChromium(t.Context(), path, language, options...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cancel)
		chromium = ctx
	} else {
		chromium = sharedChromium(t, path, language)
		own = append(own, chromedp.WithNewBrowserContext()) // a private window, which nothing is pushed to
	}
	ctx, cancel := chromedp.NewContext(chromium, own...)
	t.Cleanup(cancel)
	b := &Browser{Ctx: ctx}
	b.watch(t)
	// Several pages are open at once: each must believe that it has the focus.
	if _, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		t.Fatal(err)
	}
	var cancelTimeout context.CancelFunc
	b.Ctx, cancelTimeout = context.WithTimeout(ctx, maxTime)
	t.Cleanup(cancelTimeout)
	return b
}

// Close ends the Chromium processes that tests share. Call it after all tests of a package, in TestMain.
func Close() {
	chromiums.Lock()
	defer chromiums.Unlock()
	for _, cancel := range chromiums.cancel {
		cancel()
	}
	chromiums.cancel, chromiums.byLanguage = nil, nil
}

func sharedChromium(t testing.TB, path, language string) context.Context {
	t.Helper()
	chromiums.Lock()
	defer chromiums.Unlock()
	if ctx := chromiums.byLanguage[language]; ctx != nil && ctx.Err() == nil {
		return ctx
	}
	ctx, cancel, err := startChromium(context.Background(), path, language)
	if err != nil {
		t.Fatal(err)
	}
	if chromiums.byLanguage == nil {
		chromiums.byLanguage = make(map[string]context.Context)
	}
	chromiums.byLanguage[language] = ctx
	chromiums.cancel = append(chromiums.cancel, cancel)
	return ctx
}

func startChromium(parent context.Context, path, language string, options ...chromedp.ExecAllocatorOption) (context.Context, context.CancelFunc, error) {
	all := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path),
		chromedp.NoSandbox, // root cannot start Chromium with a sandbox; it opens only our own pages
		chromedp.DisableGPU,
		chromedp.Flag("lang", language),
		chromedp.Flag("accept-lang", language),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		// Otherwise Chromium ignores clicks until it has drawn a page for the first time, which a busy machine does late.
		chromedp.Flag("allow-pre-commit-input", true),
	)
	allocator, cancelAllocator := chromedp.NewExecAllocator(parent, append(all, options...)...)
	ctx, cancel := chromedp.NewContext(allocator)
	cancelAll := func() {
		cancel()
		cancelAllocator()
	}
	if err := chromedp.Do(ctx); err != nil {
		cancelAll()
		return nil, nil, err
	}
	return ctx, cancelAll, nil
}

// watch collects problems and requests from now on.
func (b *Browser) watch(t testing.TB) {
	t.Helper()
	if err := chromedp.Listen(b.Ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	Enable(t, b, network.Enable, network.EnableParams{})
	Enable(t, b, cdplog.Enable, cdp.Empty{})
	Enable(t, b, runtime.Enable, cdp.Empty{})
}

// Frame waits for an iframe whose URL begins with base and returns it. It must belong to another site than the page, because
// only such a frame is a target of its own.
func (b *Browser) Frame(t testing.TB, base string) *Browser {
	t.Helper()
	frame := &Browser{Ctx: b.target(t, "iframe", base)}
	frame.watch(t)
	return frame
}

// Worker waits for the service worker whose URL begins with base to run, and returns its context for chromedp's functions.
func (b *Browser) Worker(t testing.TB, base string) context.Context {
	t.Helper()
	return b.target(t, "service_worker", base)
}

// target waits for a part of the page that is a target of its own.
func (b *Browser) target(t testing.TB, kind, base string) context.Context {
	t.Helper()
	own := chromedp.FromContext(b.Ctx).BrowserContextID // empty with a Chromium of its own
	for end := time.Now().Add(maxWait); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		targets, err := chromedp.Targets(b.Ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range targets {
			if target.Type == kind && (own == "" || target.BrowserContextID == own) && strings.HasPrefix(target.URL, base) {
				ctx, cancel := chromedp.NewContext(b.Ctx, chromedp.WithTargetID(target.TargetID))
				t.Cleanup(cancel)
				return ctx
			}
		}
	}
	t.Fatalf("the page has no %s with a URL below %s", kind, base)
	return nil
}

// Requests returns the URLs that the page has requested.
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
	testsize.LeaveOut(t, "no Chromium is installed (make setup)")
	return ""
}

// Enable turns on a domain of the DevTools protocol.
func Enable[P any](t testing.TB, b *Browser, command cdp.Command[P, cdp.Empty], params P) {
	t.Helper()
	if _, err := chromedp.Call(b.Ctx, command, params); err != nil {
		t.Fatal(err)
	}
}

// Prefer sets a user preference as CSS media queries see it: Prefer(t, "color-scheme", "dark").
func (b *Browser) Prefer(t testing.TB, feature, value string) {
	t.Helper()
	params := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-" + feature, Value: value}}}
	if _, err := chromedp.Call(b.Ctx, emulation.SetEmulatedMedia, params); err != nil {
		t.Fatal(err)
	}
}

// busy matches what Chromium reports on a busy machine: a file that a slow page used seconds after it was loaded, and a tile for
// which the server asked the page to wait.
var busy = regexp.MustCompile(`was preloaded using link preload but not used within a few seconds|status of 503 .*/api/v1/tiles/\d`)

func (b *Browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, "exception: "+e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			for _, arg := range e.Args {
				b.problems = append(b.problems, "console: "+string(arg.Value)+arg.Description)
			}
		}
	case *cdplog.EventEntryAdded: // CSP violations and failed requests
		if problem := string(e.Entry.Source) + ": " + e.Entry.Text + " " + e.Entry.URL; !busy.MatchString(problem) {
			b.problems = append(b.problems, problem)
		}
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

// Do runs steps on the page, one after the other. It repeats a step whose element the page replaced before the step could use it.
func (b *Browser) Do(t testing.TB, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	for i, step := range steps {
		var err error
		for range maxRepeats {
			if _, err = chromedp.Run(b.Ctx, step); err == nil || !strings.Contains(err.Error(), "Could not find node") {
				break
			}
		}
		if err != nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			t.Fatalf("step %d: %v\nproblems: %q", i, err, b.problems)
		}
	}
}

// Ask returns the result of an action.
func Ask[T any](t testing.TB, b *Browser, action chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(b.Ctx, action)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Want fails the test unless a JavaScript expression, or the promise that it is, has the value want. The format says what it is.
func Want[T comparable](t testing.TB, b *Browser, expression string, want T, format string, args ...any) {
	t.Helper()
	if got := Ask(t, b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise)); got != want {
		t.Errorf("%s: got %#v, want %#v", fmt.Sprintf(format, args...), got, want)
	}
}

// Expect fails the test with a message unless a JavaScript expression, or the promise that it is, is true or false, as want says.
func Expect(t testing.TB, b *Browser, expression string, want bool, format string, args ...any) {
	t.Helper()
	if Ask(t, b, chromedp.Evaluate[bool](expression, chromedp.EvalAwaitPromise)) != want {
		t.Errorf(format, args...)
	}
}

// WantText fails the test for each of the wanted texts that another one lacks. what says what that is.
func WantText(t testing.TB, b *Browser, text chromedp.Action[string], what string, wants ...string) {
	t.Helper()
	got := Ask(t, b, text)
	for _, want := range wants {
		if !strings.Contains(got, want) {
			t.Errorf("%s %q, want %q in it", what, got, want)
		}
	}
}

// Until waits until a JavaScript expression is true. While the page is loading the expression may throw, because elements are
// missing.
func Until(expression string) chromedp.Action[chromedp.Void] {
	expression = `(() => { try { return ` + expression + ` } catch (e) { if (document.readyState === 'complete') throw e; return false } })()`
	// By default the expression is evaluated in each frame, which makes the browser draw frames all the time.
	poll := chromedp.Poll[bool](expression, chromedp.WithPollingInterval(pollInterval), chromedp.WithPollingTimeout(maxWait))
	return func(ctx context.Context, target *chromedp.Target) (v chromedp.Void, err error) {
		for range maxRepeats {
			// A page that reloads drops the running evaluation.
			if _, err = poll(ctx, target); err == nil || !strings.Contains(err.Error(), "(-32000)") {
				return v, err
			}
		}
		return v, err
	}
}

// Hover moves the mouse to a point, in pixels of the page, until a JavaScript expression is true. A page that draws late misses the first move.
func Hover(x, y float64, expression string) chromedp.Action[chromedp.Void] {
	move := chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y)
	soon := chromedp.Poll[bool](expression, chromedp.WithPollingInterval(pollInterval), chromedp.WithPollingTimeout(time.Second))
	return func(ctx context.Context, target *chromedp.Target) (v chromedp.Void, err error) {
		for end := time.Now().Add(maxWait); time.Now().Before(end); {
			if _, err = move(ctx, target); err != nil {
				return v, err
			}
			if _, err = soon(ctx, target); err == nil || ctx.Err() != nil {
				return v, err
			}
		}
		return v, err
	}
}

// Problems returns the problems that the browser reported, and requests to other origins.
func (b *Browser) Problems(origin string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := slices.Clone(b.problems)
	for _, url := range b.requests {
		if !strings.HasPrefix(url, origin) && !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "blob:") {
			found = append(found, "request to another origin: "+url)
		}
	}
	return found
}

// WantNoProblems fails the test for each problem of the page, except those that contain one of the texts.
func (b *Browser) WantNoProblems(t testing.TB, origin string, except ...string) {
	t.Helper()
	for _, p := range b.Problems(origin) {
		if !slices.ContainsFunc(except, func(text string) bool { return strings.Contains(p, text) }) {
			t.Errorf("on the page: %s", p)
		}
	}
}

// OnNewDocument runs a script in each document that the page opens from now on, before those of the document.
func (b *Browser) OnNewDocument(t testing.TB, source string) {
	t.Helper()
	Enable(t, b, page.Enable, page.EnableParams{})
	if _, err := chromedp.Call(b.Ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: source}); err != nil {
		t.Fatal(err)
	}
}

// Print shows the page as it is printed.
func (b *Browser) Print(t testing.TB) {
	t.Helper()
	Enable(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
}
