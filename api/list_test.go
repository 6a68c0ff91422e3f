package api

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

const geoJSONURL = "/api/v1/bathing-lakes/geojson"

// sparingServer returns a server of the usual fakes that holds no list of lakes.
func sparingServer(tb testing.TB) *Server {
	tb.Helper()
	s := newServer(tb, testOptions(tb), nil)
	s.heldLakes = 0
	if err := s.Publish(testSnapshot(tb, testSource(tb))); err != nil {
		tb.Fatal(err)
	}
	return s
}

// TestLongAnswersAreTheHeldOnes asks a server that holds its lists and one that writes them as they are read.
func TestLongAnswersAreTheHeldOnes(t *testing.T) {
	held, long := testServer(t), sparingServer(t)
	if long.current.Load().records != nil || long.current.Load().status.variants[identity].content != nil {
		t.Fatal("the records are held, want none")
	}
	for _, target := range []string{
		statusURL, geoJSONURL, statusURL + "?risk=low", statusURL + "?risk=high&min_lat=50", statusURL + "?min_lat=-90",
		statusURL + "?min_lat=80",
	} {
		for _, coding := range []string{"identity", "gzip", "br", "zstd"} {
			want := get(t, held, http.StatusOK, target, "Accept-Encoding", coding)
			got := get(t, long, http.StatusOK, target, "Accept-Encoding", coding)
			used := got.Header().Get("Content-Encoding")
			if a, b := plainOf(t, used, got.Body.Bytes()), plainOf(t, used, want.Body.Bytes()); a != b {
				t.Errorf("%s in %s = %s\nwant %s", target, coding, a, b)
			}
			for _, name := range []string{"Content-Encoding", "Content-Type", "Cache-Control", "Vary", "Accept-Ranges"} {
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

// numbers is a list of plain numbers.
func numbers() list {
	return jsonList([]byte(`{"lakes":[`), func(b []byte, lake int) []byte { return fmt.Append(b, lake) })
}

// TestATextIsReadFromAnyPlace compares texts of up to a few pieces with the same list made at once.
func TestATextIsReadFromAnyPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(pieceLakes-1, pieceLakes+1), rapid.IntRange(0, 4*pieceLakes)).Draw(t, "lakes")
		step := rapid.IntRange(0, 3).Draw(t, "step")
		var lakes []int32 // with no step: all
		var each []string
		for i := range n {
			if step > 0 {
				lakes = append(lakes, int32(i*step))
			}
			each = append(each, fmt.Sprint(i*max(step, 1)))
		}
		want := `{"lakes":[` + strings.Join(each, ",") + "]}\n"
		var written bytes.Buffer
		text, err := newText(numbers(), lakes, n, &written)
		if err != nil {
			t.Fatal(err)
		}
		if written.String() != want || text.size() != int64(len(want)) {
			t.Fatalf("newText wrote %d bytes, knows of %d, want %d", written.Len(), text.size(), len(want))
		}
		r := text.reader()
		for range 3 {
			at := rapid.IntRange(0, len(want)).Draw(t, "at")
			if _, err := r.Seek(int64(at), io.SeekStart); err != nil {
				t.Fatal(err)
			}
			length := rapid.IntRange(0, len(want)-at).Draw(t, "length")
			got := make([]byte, length)
			if _, err := io.ReadFull(r, got); err != nil || string(got) != want[at:at+length] {
				t.Fatalf("%d bytes from %d = %q, %v, want %q", length, at, got, err, want[at:at+length])
			}
			var rest bytes.Buffer
			if _, err := r.WriteTo(&rest); err != nil || rest.String() != want[at+length:] {
				t.Fatalf("the rest from %d = %d bytes, %v, want %d", at+length, rest.Len(), err, len(want)-at-length)
			}
		}
	})
}

func TestATextIsAReadSeeker(t *testing.T) {
	var written bytes.Buffer
	text, err := newText(numbers(), nil, 2*pieceLakes+1, &written)
	if err != nil {
		t.Fatal(err)
	}
	if err := iotest.TestReader(text.reader(), written.Bytes()); err != nil {
		t.Error(err)
	}
	if _, err := text.reader().Seek(-1, io.SeekStart); err == nil {
		t.Error("Seek to -1 = nil, want an error")
	}
}
