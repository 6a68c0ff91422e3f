package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"
)

func TestHEADWorksWhereverGETDoes(t *testing.T) {
	s := testServer(t)
	for _, target := range append(cachedTargets(), "/metrics", statusURL+"?risk=no", "/nowhere") {
		gotten := do(s, http.MethodGet, target, "X-API-Key", goodKey)
		w := do(s, http.MethodHead, target, "X-API-Key", goodKey)
		if w.Code != gotten.Code {
			t.Errorf("HEAD %s = %d, GET %d", target, w.Code, gotten.Code)
		}
		if target == "/metrics" {
			continue // its length changes, and net/http itself drops the body
		}
		if w.Body.Len() > 0 {
			t.Errorf("HEAD %s has a body of %d bytes", target, w.Body.Len())
		}
		for _, name := range []string{"ETag", "Content-Type", "Content-Length", "Cache-Control"} {
			if got, want := w.Header().Get(name), gotten.Header().Get(name); got != want {
				t.Errorf("%s of HEAD %s = %q, of GET %q", name, target, got, want)
			}
		}
	}
}

func TestOtherMethodsAre405WithAllow(t *testing.T) {
	s := testServer(t)
	for _, target := range append(cachedTargets(), "/metrics") {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, "BREW"} {
			w := do(s, method, target)
			wantProblem(t, w, http.StatusMethodNotAllowed)
			if got := w.Header().Get("Allow"); got != "GET, HEAD, OPTIONS" {
				t.Errorf("%s %s: Allow = %q", method, target, got)
			}
		}
	}
}

func TestOPTIONSIsAnsweredWithAllow(t *testing.T) {
	s := testServer(t)
	for _, target := range cachedTargets() {
		w := do(s, http.MethodOptions, target) // the keyed endpoint too: a preflight has no key
		if w.Code != http.StatusNoContent || w.Header().Get("Allow") != "GET, HEAD, OPTIONS" {
			t.Errorf("OPTIONS %s = %d with Allow %q", target, w.Code, w.Header().Get("Allow"))
		}
	}
}

func TestUnknownPathsAre404(t *testing.T) {
	s := testServer(t)
	for _, target := range []string{
		"/nowhere", "/api", "/api/v1", "/api/v2/bathing-lakes/status", "/api/v1/bathing-lakes/status/",
		"//api/v1/bathing-lakes/status", "/api/v1/../v1/bathing-lakes/status", "/assets/", "/assets/app.js",
		"/.keep", "/api/v1/bathing-lakes/history/", "/index.html/", "/API/v1/styles",
	} {
		wantProblem(t, do(s, http.MethodGet, target), http.StatusNotFound)
	}
}

func TestBasePath(t *testing.T) {
	opts := testOptions(t)
	opts.BasePath = "/lakes"
	s := newServer(t, opts, testSource(t))
	for _, target := range cachedTargets() {
		get(t, s, http.StatusOK, "/lakes"+target, "X-API-Key", goodKey)
		wantProblem(t, do(s, http.MethodGet, target), http.StatusNotFound)
	}
	for _, target := range []string{"/lakesstyles", "/lakesindex.html", "/lake/"} {
		wantProblem(t, do(s, http.MethodGet, target), http.StatusNotFound)
	}
	w := get(t, s, http.StatusPermanentRedirect, "/lakes")
	if got := w.Header().Get("Location"); got != "/lakes/" {
		t.Errorf("GET /lakes leads to %q, want /lakes/", got)
	}
	w = get(t, s, http.StatusPermanentRedirect, "/lakes?lang=de&style=dots")
	if got := w.Header().Get("Location"); got != "/lakes/?lang=de&style=dots" {
		t.Errorf("GET /lakes with a query leads to %q, want the query kept", got)
	}
}

// A problem names the path that the client asked for, also behind a proxy that strips a path.
func TestProblemsHaveThePublicPath(t *testing.T) {
	for _, tt := range []struct{ public, basePath, target, want string }{
		{"", "", "/nowhere", "/nowhere"},
		{"", "/lakes", "/lakes/nowhere", "/lakes/nowhere"},
		{"http://127.0.0.1:18320/lakes", "", "/nowhere", "/lakes/nowhere"},
		{"https://example.org/water", "/lakes", "/lakes/nowhere", "/water/nowhere"},
		{"https://example.org/water", "/lakes", "/nowhere", "/nowhere"}, // nothing of this server
		{"https://example.org", "/lakes", "/lakes/nowhere", "/lakes/nowhere"},
	} {
		opts := testOptions(t)
		opts.BasePath = tt.basePath
		if tt.public != "" {
			var err error
			if opts.PublicURL, err = url.Parse(tt.public); err != nil {
				t.Fatal(err)
			}
		}
		body := problemOf(t, do(newServer(t, opts, nil), http.MethodGet, tt.target), http.StatusNotFound)
		if body["instance"] != tt.want {
			t.Errorf("with --public-url %q and --base-path %q, %s is %v in a problem, want %s", tt.public, tt.basePath, tt.target, body["instance"], tt.want)
		}
	}
}

func TestEveryAnswerHasTheNotice(t *testing.T) {
	const notice = "Simulated demo data, not measurements"
	opts := testOptions(t)
	opts.Notice = notice
	s := newServer(t, opts, testSource(t))
	for _, target := range append(cachedTargets(), "/nowhere", statusURL+"?risk=no", "/metrics") {
		if got := do(s, http.MethodGet, target).Header().Get("X-Data-Notice"); got != notice {
			t.Errorf("X-Data-Notice of %s = %q", target, got)
		}
	}
	if got, ok := do(testServer(t), http.MethodGet, statusURL).Header()["X-Data-Notice"]; ok {
		t.Errorf("real data have the notice %q", got)
	}
}

func TestRateLimits(t *testing.T) {
	opts := testOptions(t)
	opts.APIRate, opts.TileRate, opts.KeyRate, opts.MetricsRate = 2, 3, 2, 4
	s := newServer(t, opts, testSource(t))
	const tile = "/api/v1/tiles/6/33/21.png"
	from := func(target string, status int, headers ...string) {
		t.Helper()
		w := get(t, s, status, target, headers...)
		if w.Header().Get("RateLimit") == "" || w.Header().Get("RateLimit-Policy") == "" {
			t.Errorf("%s = %d without RateLimit and RateLimit-Policy", target, status)
		}
		if status == http.StatusTooManyRequests {
			wantProblem(t, w, status)
			if w.Header().Get("Retry-After") == "" {
				t.Errorf("%s = 429 without Retry-After", target)
			}
		}
	}
	from(statusURL, http.StatusOK)
	from("/nowhere", http.StatusNotFound) // requests for unknown addresses count too
	from(statusURL, http.StatusTooManyRequests)
	for range 3 {
		from(tile, http.StatusOK) // tiles have their own limit
	}
	from(tile, http.StatusTooManyRequests)

	// Per key: behind one address each key has its own, and requests without a key use neither.
	for _, key := range []string{goodKey, otherKey} {
		from("/api/v1/monitor/lakes", http.StatusOK, "X-API-Key", key)
		from("/api/v1/monitor/lakes", http.StatusOK, "X-API-Key", key)
		from("/api/v1/monitor/lakes", http.StatusTooManyRequests, "X-API-Key", key)
	}
	from("/api/v1/monitor/lakes", http.StatusUnauthorized, "X-API-Key", "guess")
	from("/api/v1/monitor/lakes", http.StatusUnauthorized)
	from("/api/v1/monitor/lakes", http.StatusTooManyRequests, "X-API-Key", "guess")

	for _, target := range []string{"/", "/page.json", "/healthz", "/readyz"} {
		for range 4 {
			get(t, s, http.StatusOK, target)
		}
	}
	for range 4 {
		from("/metrics", http.StatusOK)
	}
	from("/metrics", http.StatusTooManyRequests)
	w := httptest.NewRecorder()
	for range 6 { // the admin listener has no limit
		w = httptest.NewRecorder()
		s.AdminHandler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		if w.Code != http.StatusOK {
			t.Errorf("/metrics of the admin listener = %d, want 200", w.Code)
		}
	}
	metrics := w.Body.String()
	for limit, refused := range map[string]int{"api": 1, "tiles": 1, "keys": 2, "refused": 1, "metrics": 1} {
		if line := fmt.Sprintf("limnomap_rate_limited_total{limit=%q} %d\n", limit, refused); !strings.Contains(metrics, line) {
			t.Errorf("/metrics lacks %s", line)
		}
	}
}

func TestLimitsCountClientsBehindATrustedProxy(t *testing.T) {
	opts := testOptions(t)
	opts.APIRate = 1
	for _, test := range []struct {
		name    string
		trusted []netip.Prefix
		second  int // answer to a second client of the same proxy
	}{
		{"trusted", []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}, http.StatusOK}, // httptest's client
		{"stranger", nil, http.StatusTooManyRequests},
	} {
		t.Run(test.name, func(t *testing.T) {
			opts.TrustedProxies = test.trusted
			opts.Registry = prometheus.NewRegistry()
			s := newServer(t, opts, testSource(t))
			get(t, s, http.StatusOK, statusURL, "X-Forwarded-For", "203.0.113.1")
			get(t, s, test.second, statusURL, "X-Forwarded-For", "203.0.113.2")
			get(t, s, http.StatusTooManyRequests, statusURL, "X-Forwarded-For", "198.51.100.9, 203.0.113.1")
		})
	}
}

func TestMetricsCountByRouteName(t *testing.T) {
	opts := testOptions(t)
	opts.Registry = prometheus.NewRegistry()
	s := newServer(t, opts, testSource(t))
	get(t, s, http.StatusOK, statusURL+"?min_lat=47")
	get(t, s, http.StatusNotFound, "/no/such/place")
	get(t, s, http.StatusOK, "/")
	get(t, s, http.StatusOK, "/assets/app-1234.js")
	get(t, s, http.StatusOK, "/embed?lake=de_by_clean")
	get(t, s, http.StatusOK, "/table?q=see")
	body := get(t, s, http.StatusOK, "/metrics").Body.String()
	for route, want := range map[string]float64{"status": 1, "not_found": 1, "page": 2, "embed": 1, "table": 1} {
		code := "200"
		if route == "not_found" {
			code = "404"
		}
		if line := fmt.Sprintf(`limnomap_http_requests_total{code=%q,method="GET",route=%q} %v`, code, route, want); !strings.Contains(body, line) {
			t.Errorf("/metrics lacks %s", line)
		}
	}
	for _, name := range []string{"limnomap_http_requests_total", "limnomap_build_info", "limnomap_lakes", "go_goroutines", "process_"} {
		if !strings.Contains(body, name) {
			t.Errorf("/metrics has no %s", name)
		}
	}
	if strings.Contains(body, "such") || strings.Contains(body, "de_by") {
		t.Error("/metrics has a label from outside")
	}
	if problems, err := testutil.GatherAndLint(opts.Registry); err != nil || len(problems) > 0 {
		t.Errorf("lint of metrics: %v, %v", problems, err)
	}
}

func TestSeparateAdmin(t *testing.T) {
	opts := testOptions(t)
	opts.SeparateAdmin = true
	s := newServer(t, opts, testSource(t))
	wantProblem(t, do(s, http.MethodGet, "/metrics"), http.StatusNotFound)
	wantProblem(t, do(s, http.MethodGet, "/debug/pprof/"), http.StatusNotFound)
	admin := s.AdminHandler()
	for _, target := range []string{"/metrics", "/healthz", "/readyz", "/debug/pprof/", "/debug/pprof/cmdline"} {
		get(t, admin, http.StatusOK, target)
	}
	wantProblem(t, do(admin, http.MethodGet, statusURL), http.StatusNotFound)
}

func TestNothingIsLeftRunning(t *testing.T) {
	before := goleak.IgnoreCurrent()
	for range 2 { // two servers fit in one process
		s := testServer(t)
		for _, coding := range []string{"gzip", "br", "zstd"} {
			get(t, s, http.StatusOK, statusURL+"?min_lat=0", "Accept-Encoding", coding)
		}
	}
	goleak.VerifyNone(t, before)
}

func TestNewRefusesWrongOptions(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"Tiles":      func(o *Options) { o.Tiles = nil },
		"Styles":     func(o *Options) { o.Styles = nil },
		"Page":       func(o *Options) { o.Page = nil },
		"zoom":       func(o *Options) { o.MaxZoom = 31 },
		"base path":  func(o *Options) { o.BasePath = "lakes/" },
		"control":    func(o *Options) { o.Notice = "a\nb" },
		"basemap":    func(o *Options) { o.BasemapURL = "ftp://example.org/{z}" },
		"labels":     func(o *Options) { o.BasemapLabelsURL = "ftp://labels.example.org/{z}" },
		"Templates":  func(o *Options) { o.Templates = nil },
		"words":      func(o *Options) { o.Templates = fstest.MapFS{} },
		"colour map": func(o *Options) { o.Limits.Level2 = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			opts := testOptions(t)
			change(&opts)
			if _, err := New(opts); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("New = %v, want an error that names %q", err, name)
			}
		})
	}
}

func TestAPanicIsA500ThatShowsNothing(t *testing.T) {
	opts := testOptions(t)
	opts.Historian = panicking{}
	s := shortServer(t, opts, longSource(t))
	w := do(s, http.MethodGet, "/api/v1/bathing-lakes/history/de_by_clean")
	wantProblem(t, w, http.StatusInternalServerError)
	wantHidden(t, w)
}

// wantHidden fails if the answer contains the secret of a fault, or lacks the request's id.
func wantHidden(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	if strings.Contains(w.Body.String(), "secret") {
		t.Errorf("a 500 shows internals: %s", w.Body)
	}
	if id := w.Header().Get("X-Request-Id"); id == "" || !strings.Contains(w.Body.String(), id) {
		t.Errorf("a 500 lacks the request's id %q: %s", id, w.Body)
	}
}
