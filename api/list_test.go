package api

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"
	"weak"

	"limnomap/api/answer"
)

const geoJSONURL = "/api/v1/bathing-lakes/geojson"

// sparingServer returns a server with the usual fakes that holds no list of lakes.
func sparingServer(tb testing.TB) *Server {
	tb.Helper()
	opts := testOptions(tb)
	opts.sending = answer.Options{HeldItems: -1}
	return newServer(tb, opts, testSource(tb))
}

// TestLongAnswersAreTheHeldOnes compares a server that holds its lists with one that writes them piece by piece, without Brotli.
func TestLongAnswersAreTheHeldOnes(t *testing.T) {
	held, long := testServer(t), sparingServer(t)
	const none = statusURL + "?min_lat=80" // an empty list is not long
	targets := []string{statusURL, geoJSONURL, statusURL + "?risk=low", statusURL + "?risk=high&min_lat=50", statusURL + "?min_lat=-90", none}
	for i, target := range append(targets, targets...) {
		if i == len(targets) { // as if a newer snapshot had been published
			long.common.current.Load().lists.records.Store(nil)
		}
		for _, coding := range []string{"identity", "gzip", "br", "zstd"} {
			want := get(t, held, http.StatusOK, target, "Accept-Encoding", coding)
			got := get(t, long, http.StatusOK, target, "Accept-Encoding", coding)
			used, usual := got.Header().Get("Content-Encoding"), want.Header().Get("Content-Encoding")
			if a, b := plainOf(t, used, got.Body.Bytes()), plainOf(t, usual, want.Body.Bytes()); a != b {
				t.Errorf("%s in %s = %s\nwant %s", target, coding, a, b)
			}
			if coding == "br" && target != none {
				usual = ""
			}
			if used != usual {
				t.Errorf("Content-Encoding of %s in %s = %q, want %q", target, coding, used, usual)
			}
			for _, name := range []string{"Content-Type", "Cache-Control", "Vary", "Accept-Ranges"} {
				if a, b := got.Header().Get(name), want.Header().Get(name); a != b {
					t.Errorf("%s of %s in %s = %q, want %q", name, target, coding, a, b)
				}
			}
			if coding == "identity" && got.Header().Get("ETag") != want.Header().Get("ETag") {
				t.Errorf("ETag of %s = %s, held %s", target, got.Header().Get("ETag"), want.Header().Get("ETag"))
			}
			if a, b := got.Header().Get("Content-Length"), fmt.Sprint(got.Body.Len()); a != b {
				t.Errorf("Content-Length of %s in %s = %s, want %s", target, coding, a, b)
			}
		}
	}
}

// TestListsBeforeTheyArePrepared asks for the lists of a first snapshot while they are made: the requests wait, and get the same bytes. If
// the lists cannot be made, each request makes its own. If a newer snapshot is published, they get its lists.
func TestListsBeforeTheyArePrepared(t *testing.T) {
	s := sparingServer(t)
	want := map[string]*httptest.ResponseRecorder{statusURL: get(t, s, http.StatusOK, statusURL), geoJSONURL: get(t, s, http.StatusOK, geoJSONURL)}
	for _, finish := range []func(p *published){
		func(*published) { s.common.finishLists() },
		func(p *published) { p.lists.finish(nil) },
		func(p *published) {
			next := *p
			next.lists = newLists(p.lists)
			s.common.current.Store(&next)
			p.lists.finish(errPassedOver)
			s.common.finishLists()
		},
	} {
		p := *s.common.current.Load()
		p.lists = newLists(nil)
		s.common.current.Store(&p)
		var waiting sync.WaitGroup
		for target, want := range want {
			waiting.Go(func() {
				got := do(s, http.MethodGet, target)
				if got.Code != http.StatusOK || got.Body.String() != want.Body.String() || got.Header().Get("ETag") != want.Header().Get("ETag") {
					t.Errorf("%s while it is prepared: %d, %d bytes, %s, want %d, %s", target,
						got.Code, got.Body.Len(), got.Header().Get("ETag"), want.Body.Len(), want.Header().Get("ETag"))
				}
			})
			ctx, leave := context.WithCancel(t.Context())
			leave()
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, target, nil)) // who leaves does not wait
			if w.Body.Len() > 0 && w.Code == http.StatusOK {
				t.Errorf("%s for a client that has left, before it is prepared: %d, %d bytes", target, w.Code, w.Body.Len())
			}
		}
		finish(&p)
		waiting.Wait()
	}
}

// TestSlowReaderKeepsNoRecords publishes other statements while a client reads a long list slowly. It gets all of the list, and keeps no more than a piece
// in memory.
func TestSlowReaderKeepsNoRecords(t *testing.T) {
	opts := testOptions(t)
	opts.sending = answer.Options{HeldItems: -1}
	source := testSource(t)
	s := newServer(t, opts, source)
	s.FinishLists()
	want := get(t, s, http.StatusOK, statusURL)
	records := weak.Make(s.common.current.Load().lists.records.Load())
	if records.Value() == nil {
		t.Fatal("no records are held")
	}
	slow := slowWriter{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	var reading sync.WaitGroup
	reading.Go(func() { s.ServeHTTP(slow, httptest.NewRequestWithContext(t.Context(), http.MethodGet, statusURL, nil)) })
	<-slow.began
	source.advisories = testAdvisories()
	source.revision.Number++
	if err := s.Publish(testSnapshot(t, source)); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		runtime.GC()
	}
	if records.Value() != nil {
		t.Error("the client keeps the records of a former snapshot")
	}
	close(slow.goOn)
	reading.Wait()
	if slow.Body.String() != want.Body.String() {
		t.Errorf("the list is %s\nwant %s", slow.Body, want.Body)
	}
}

// A slowWriter waits before it writes.
type slowWriter struct {
	*httptest.ResponseRecorder
	began, goOn chan struct{}
}

func (w slowWriter) Write(b []byte) (int, error) {
	close(w.began) // a second piece would panic
	<-w.goOn
	return w.ResponseRecorder.Write(b)
}
