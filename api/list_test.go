package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"limnomap/api/answer"
)

const geoJSONURL = "/api/v1/bathing-lakes/geojson"

// sparingServer returns a server with the usual fakes that holds no list of lakes.
func sparingServer(tb testing.TB) *Server {
	tb.Helper()
	opts := testOptions(tb)
	opts.sending = answer.Options{PreparedItems: -1, MadeItems: -1}
	return newServer(tb, opts, testSource(tb))
}

// TestLongAnswersAreTheHeldOnes compares a server that holds its lists with one that writes them piece by piece, and that has prepared no
// list with Brotli.
func TestLongAnswersAreTheHeldOnes(t *testing.T) {
	held, long := testServer(t), sparingServer(t)
	if long.common.current.Load().records != nil {
		t.Fatal("the records are held, want none")
	}
	for _, target := range []string{
		statusURL, geoJSONURL, statusURL + "?risk=low", statusURL + "?risk=high&min_lat=50", statusURL + "?min_lat=-90",
		statusURL + "?min_lat=80",
	} {
		for _, coding := range []string{"identity", "gzip", "br", "zstd"} {
			want := get(t, held, http.StatusOK, target, "Accept-Encoding", coding)
			got := get(t, long, http.StatusOK, target, "Accept-Encoding", coding)
			used, usual := got.Header().Get("Content-Encoding"), want.Header().Get("Content-Encoding")
			if a, b := plainOf(t, used, got.Body.Bytes()), plainOf(t, usual, want.Body.Bytes()); a != b {
				t.Errorf("%s in %s = %s\nwant %s", target, coding, a, b)
			}
			if used != usual && (coding != "br" || used != "") {
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

// TestListsBeforeTheyArePrepared asks for the lists of a first snapshot while they are made: each request makes its own, with the same bytes.
func TestListsBeforeTheyArePrepared(t *testing.T) {
	s := sparingServer(t)
	p := s.common.current.Load()
	prepared := [...]*answer.Body{p.lists.status.Load(), p.lists.geojson.Load()}
	if prepared[0] == nil || prepared[1] == nil {
		t.Fatal("the lists are not prepared after Publish")
	}
	want := [...]*httptest.ResponseRecorder{get(t, s, http.StatusOK, statusURL), get(t, s, http.StatusOK, geoJSONURL)}
	p.lists.status.Store(nil)
	p.lists.geojson.Store(nil)
	for i, target := range []string{statusURL, geoJSONURL} {
		got := get(t, s, http.StatusOK, target)
		if got.Body.String() != want[i].Body.String() || got.Header().Get("ETag") != want[i].Header().Get("ETag") {
			t.Errorf("%s before it is prepared: %d bytes, %s, want %d, %s", target,
				got.Body.Len(), got.Header().Get("ETag"), want[i].Body.Len(), want[i].Header().Get("ETag"))
		}
	}
	s.common.prepareLists()
	if p.lists.status.Load() == nil || p.lists.geojson.Load() == nil {
		t.Error("the lists are not prepared")
	}
}

func TestLongAnswersKnowConditionsAndRanges(t *testing.T) {
	s := sparingServer(t)
	for _, target := range []string{statusURL, geoJSONURL, statusURL + "?min_lat=0"} {
		whole := get(t, s, http.StatusOK, target)
		etag := whole.Header().Get("ETag")
		get(t, s, http.StatusNotModified, target, "If-None-Match", etag)
		get(t, s, http.StatusOK, target, "If-Match", etag)
		wantRefusal(t, get(t, s, http.StatusPreconditionFailed, target, "If-Match", `"older"`), http.StatusPreconditionFailed)
		part := get(t, s, http.StatusPartialContent, target, "Range", "bytes=2-300", "If-Range", etag)
		if got, want := part.Body.String(), whole.Body.String()[2:301]; got != want {
			t.Errorf("bytes 2-300 of %s = %q, want %q", target, got, want)
		}
		beyond := get(t, s, http.StatusRequestedRangeNotSatisfiable, target, "Range", "bytes=9999999-")
		wantRefusal(t, beyond, http.StatusRequestedRangeNotSatisfiable)
		head := do(s, http.MethodHead, target)
		if got, want := head.Header().Get("Content-Length"), fmt.Sprint(whole.Body.Len()); head.Body.Len() > 0 || got != want {
			t.Errorf("HEAD of %s has %d bytes and Content-Length %s, want 0 and %s", target, head.Body.Len(), got, want)
		}
	}
}
