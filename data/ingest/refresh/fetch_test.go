package refresh

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"limnomap/data"
	"limnomap/data/store/storetest"
)

// An office is a health authority's web server, with its files by path.
type office struct {
	*httptest.Server
	mu    sync.Mutex
	files map[string]http.HandlerFunc
	asked []string // "GET /path" of each request, with its conditional headers
}

func newOffice(t *testing.T) *office {
	o := &office{files: make(map[string]http.HandlerFunc)}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		asked := r.URL.RequestURI()
		if r.Header.Get("If-None-Match")+r.Header.Get("If-Modified-Since") != "" {
			asked += " if changed"
		}
		o.asked = append(o.asked, asked)
		handler := o.files[r.URL.Path]
		o.mu.Unlock()
		if handler == nil {
			http.NotFound(w, r)
			return
		}
		handler(w, r)
	}))
	t.Cleanup(o.Close)
	return o
}

// serve sets the handler of a path.
func (o *office) serve(path string, h http.HandlerFunc) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.files[path] = h
}

// publish sets the text of a path, with an ETag and Last-Modified, as web servers do.
func (o *office) publish(path, text string) {
	o.serve(path, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(text))))
		http.ServeContent(w, r, path, time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC), strings.NewReader(text))
	})
}

// plain answers with a text and no header fields for conditional requests.
func plain(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }
}

// requests returns the requests since the last call.
func (o *office) requests() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	asked := o.asked
	o.asked = nil
	return asked
}

func wantRequests(t *testing.T, o *office, want ...string) {
	t.Helper()
	if got := o.requests(); !slices.Equal(got, want) {
		t.Errorf("asked %q, want %q", got, want)
	}
}

func TestURLs(t *testing.T) {
	s, o := storetest.New(t), newOffice(t)
	o.publish("/lakes.csv", lakes)
	o.publish("/obs.csv", observations)
	from := []string{o.URL + "/obs.csv?week=1", o.URL + "/lakes.csv"}
	g := newRig(t, s, from, Options{})

	g.once(t, "")
	holds(t, s, 1, 2, "5")
	wantRequests(t, o, "/obs.csv?week=1", "/obs.csv.sha256?week=1", "/lakes.csv", "/lakes.csv.sha256")

	// The server's header fields are in the database, so another process uses them too.
	g = newRig(t, s, from, Options{})
	if result, state, _ := g.once(t, ""); !result.Unchanged || state.Rows.Added != 3 {
		t.Errorf("unchanged: %+v, %+v", result, state)
	}
	wantRequests(t, o, "/obs.csv?week=1 if changed", "/lakes.csv if changed")

	// If one file has changed, the other one is imported too.
	o.publish("/obs.csv", more)
	if _, state, _ := g.once(t, ""); state.Rows != (data.RefreshRows{Added: 1, Changed: 1, Unchanged: 2}) {
		t.Errorf("changed: %+v", state)
	}
	holds(t, s, 2, 2, "6", "7")
	wantRequests(t, o, "/obs.csv?week=1 if changed", "/obs.csv.sha256?week=1", "/lakes.csv if changed", "/lakes.csv", "/lakes.csv.sha256")

	// Other header fields with the same content are not a change, and are used for the next request.
	o.serve("/obs.csv", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `W/"new"`)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(more))
	})
	o.serve("/lakes.csv", plain(lakes))
	if result, _, _ := g.once(t, ""); !result.Unchanged {
		t.Errorf("the same bytes: %+v", result)
	}
	o.requests()
	if result, _, _ := g.once(t, ""); !result.Unchanged {
		t.Errorf("the same bytes again: %+v", result)
	}
	wantRequests(t, o, "/obs.csv?week=1 if changed", "/lakes.csv", "/lakes.csv.sha256")
}

// An ETag may have bytes that are not UTF-8 (RFC 9110, section 8.8.3), which PostgreSQL cannot store: it is ignored.
func TestETagThatIsNotUTF8(t *testing.T) {
	s, o := storetest.New(t), newOffice(t)
	o.publish("/obs.csv", observations)
	o.serve("/lakes.csv", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", "\"\xfc\"")
		io.WriteString(w, lakes)
	})
	g := newRig(t, s, []string{o.URL + "/lakes.csv", o.URL + "/obs.csv"}, Options{})
	g.once(t, "")
	files, err := s.RefreshFiles(t.Context())
	if err != nil || len(files) != 2 {
		t.Fatalf("files %q, %v, want 2", files, err)
	}
	for _, f := range files {
		if !utf8.ValidString(f.ETag) {
			t.Errorf("ETag %q is remembered", f.ETag)
		}
	}
	if result, _, _ := g.once(t, ""); !result.Unchanged {
		t.Errorf("again: %+v, want it unchanged", result)
	}
}

// After a failed refresh all files are requested without conditions, because nothing was imported.
func TestConditionsAreThoseOfTheLastImport(t *testing.T) {
	s, o := storetest.New(t), newOffice(t)
	o.publish("/lakes.csv", lakes)
	o.publish("/obs.csv", observations+"a,2024-07-02,-1,satellite\n")
	g := newRig(t, s, []string{o.URL + "/lakes.csv", o.URL + "/obs.csv"}, Options{})
	g.once(t, rowsReason)
	holds(t, s, 0, 0)
	o.publish("/obs.csv", observations)
	o.requests()
	g.once(t, "")
	holds(t, s, 1, 2, "5")
	wantRequests(t, o, "/lakes.csv", "/lakes.csv.sha256", "/obs.csv", "/obs.csv.sha256")
}

// A folder and a URL are one source: if one has changed, both are imported.
func TestFolderAndURL(t *testing.T) {
	s, o, dir := storetest.New(t), newOffice(t), t.TempDir()
	write(t, dir, "lakes.csv", lakes)
	o.publish("/obs.csv", observations)
	g := newRig(t, s, []string{dir, o.URL + "/obs.csv"}, Options{})
	g.once(t, "")
	o.requests()
	if result, _, _ := g.once(t, ""); !result.Unchanged {
		t.Errorf("unchanged: %+v", result)
	}
	wantRequests(t, o, "/obs.csv if changed")
	write(t, dir, "lakes.csv", lakes+"c,See C,52,12\n")
	if result, _, _ := g.once(t, ""); result.Unchanged || result.Reports.Lakes.Added != 1 {
		t.Errorf("a lake was added: %+v", result)
	}
	holds(t, s, 2, 3, "5")
	wantRequests(t, o, "/obs.csv if changed", "/obs.csv", "/obs.csv.sha256")
}

// failing answers with that many errors, and then like next.
func failing(times int, fail, next http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		times--
		bad := times >= 0
		mu.Unlock()
		if bad {
			fail(w, r)
			return
		}
		next(w, r)
	}
}

func code(status int, fields ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(fields); i += 2 {
			w.Header().Set(fields[i], fields[i+1])
		}
		w.WriteHeader(status)
	}
}

// cutShort announces more than it sends.
func cutShort(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	io.WriteString(w, lakes)
}

func abort(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func TestRetries(t *testing.T) {
	second, minute := time.Second, time.Minute
	tests := []struct {
		name   string
		handle http.HandlerFunc
		waits  []time.Duration // at most these; at least a half of each
		reason string
	}{
		{"at once", plain(lakes), nil, ""},
		{"503 twice", failing(2, code(503), plain(lakes)), []time.Duration{second, 2 * second}, ""},
		{"502 for ever", code(502), []time.Duration{second, 2 * second, 4 * second, 8 * second}, answerReason},
		{"429 with seconds", failing(1, code(429, "Retry-After", "60"), plain(lakes)), []time.Duration{minute}, ""},
		{"503 for a day", code(503, "Retry-After", "86400"), nil, answerReason},
		{"a broken connection", failing(1, abort, plain(lakes)), []time.Duration{second}, ""},
		{"cut short", failing(1, cutShort, plain(lakes)), []time.Duration{second}, ""},
		{"cut for ever", cutShort, []time.Duration{second, 2 * second, 4 * second, 8 * second}, cutReason},
		{"404", code(404), nil, answerReason},
		{"204", code(204), nil, answerReason},
		{"304 without a condition", code(304), nil, answerReason},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, o := storetest.New(t), newOffice(t)
			o.serve("/lakes.csv", test.handle)
			g := newRig(t, s, []string{o.URL + "/lakes.csv?token=secret"}, Options{})
			_, state, err := g.once(t, test.reason)
			if len(g.waited) != len(test.waits) {
				t.Fatalf("waits %v, want %v", g.waited, test.waits)
			}
			for i, want := range test.waits {
				if got := g.waited[i]; got > want || got < want/2 {
					t.Errorf("wait %d of %v, want from %v to %v", i, got, want/2, want)
				}
			}
			if strings.Contains(fmt.Sprint(err, g.log, state.LastError), "secret") {
				t.Errorf("the error or the log has the query: %v\n%s", err, g.log)
			}
			if test.reason == "" {
				holds(t, s, 1, 2)
			} else {
				holds(t, s, 0, 0)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	s, o := storetest.New(t), newOffice(t)
	o.Close()
	g := newRig(t, s, []string{strings.Replace(o.URL, "http://", "http://me:secret@", 1) + "/lakes.csv?token=secret"}, Options{})
	_, state, err := g.once(t, awayReason)
	if len(g.waited) != attempts-1 || strings.Contains(fmt.Sprint(err, g.log, state), "secret") {
		t.Errorf("waits %v, error %v\n%s", g.waited, err, g.log)
	}
}

func TestSizes(t *testing.T) {
	body := lakes + strings.Repeat("\n", 1000-len(lakes))
	for name, handle := range map[string]http.HandlerFunc{
		"by Content-Length": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			io.WriteString(w, body)
		},
		"without Content-Length": func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			io.WriteString(w, body)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for limit, reason := range map[int64]string{1000: "", 999: sizeReason} {
				s, o := storetest.New(t), newOffice(t)
				o.serve("/lakes.csv", handle)
				g := newRig(t, s, []string{o.URL + "/lakes.csv"}, Options{MaxBytes: limit})
				if g.once(t, reason); len(g.waited) > 0 {
					t.Errorf("of %d bytes allowed: waits %v, want none: it will not get smaller", limit, g.waited)
				}
			}
		})
	}
}

// A server that stops sending, before or during its response, does not block a refresh.
func TestSilentServer(t *testing.T) {
	for name, begin := range map[string]func(http.ResponseWriter){
		"before the answer": func(http.ResponseWriter) {},
		"after the header":  func(w http.ResponseWriter) { w.(http.Flusher).Flush() },
		"in the body": func(w http.ResponseWriter) {
			io.WriteString(w, lakes)
			w.(http.Flusher).Flush()
		},
	} {
		for which, opts := range map[string]Options{"stalled": {Stall: 30 * time.Millisecond}, "too slow": {Timeout: 20 * time.Millisecond}} {
			t.Run(name+", "+which, func(t *testing.T) {
				s, o := storetest.New(t), newOffice(t)
				o.serve("/lakes.csv", func(w http.ResponseWriter, r *http.Request) {
					begin(w)
					<-r.Context().Done() // until the client gives up
				})
				g := newRig(t, s, []string{o.URL + "/lakes.csv"}, opts)
				least := attempts - 1
				if which == "too slow" { // all attempts together
					least = 0
				}
				if g.once(t, timeoutReason); len(g.waited) < least || len(g.waited) > least+1 {
					t.Errorf("waits %v, want %d", g.waited, least)
				}
				holds(t, s, 0, 0)
			})
		}
	}
}

func TestRedirects(t *testing.T) {
	s, o := storetest.New(t), newOffice(t)
	other := newOffice(t)
	var referers []string
	other.serve("/lakes.csv", func(w http.ResponseWriter, r *http.Request) {
		referers = append(referers, r.Referer(), r.Header.Get("Authorization"))
		io.WriteString(w, lakes)
	})
	hops := 0
	o.serve("/lakes.csv", func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); !ok || user != "me" || password != "secret" {
			t.Errorf("the first host is asked by %q, %q, %v", user, password, ok)
		}
		http.Redirect(w, r, other.URL+"/lakes.csv", http.StatusFound)
	})
	o.serve("/loop.csv", func(w http.ResponseWriter, r *http.Request) {
		hops++
		http.Redirect(w, r, fmt.Sprintf("/loop.csv?%d", hops), http.StatusFound)
	})
	newRig(t, s, []string{strings.Replace(o.URL, "http://", "http://me:secret@", 1) + "/lakes.csv?token=secret"}, Options{}).once(t, "")
	holds(t, s, 1, 2)
	if strings.Contains(strings.Join(referers, " "), "secret") || len(referers) != 2 || referers[1] != "" {
		t.Errorf("another host received the Referer %q", referers)
	}
	g := newRig(t, s, []string{o.URL + "/loop.csv"}, Options{})
	if _, _, err := g.once(t, redirectReason); len(g.waited) > 0 || hops != maxRedirects+1 {
		t.Errorf("a loop of redirects: %v, %d hops, waits %v; want %d and none", err, hops, g.waited, maxRedirects+1)
	}
}

func TestNoRedirectFromHTTPS(t *testing.T) {
	s, o := storetest.New(t), newOffice(t)
	o.publish("/lakes.csv", lakes)
	safe := httptest.NewTLSServer(http.RedirectHandler(o.URL+"/lakes.csv", http.StatusFound))
	defer safe.Close()
	g := newRig(t, s, []string{safe.URL + "/lakes.csv"}, Options{Transport: safe.Client().Transport})
	g.once(t, redirectReason)
	holds(t, s, 0, 0)
}
