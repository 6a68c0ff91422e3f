package middleware

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"limnomap/api/answer"
)

// TestInFlight has one client fill a bound of sixteen: two requests are let in without asking, and six more are half of the rest
// without its reserve of three.
func TestInFlight(t *testing.T) {
	exempt := func(r *http.Request) bool { return r.URL.Path == "/healthz" && answer.PeerAddr(r).IsLoopback() }
	f := NewInFlight(16, exempt, prometheus.NewRegistry())
	leave := make(chan struct{})
	var entered, served sync.WaitGroup
	h := f.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			entered.Done()
			<-leave
		}
	}))
	ask := func(addr, path string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest(http.MethodGet, path, nil), httptest.NewRecorder()
		r.RemoteAddr = addr + ":1234"
		h.ServeHTTP(w, r)
		return w
	}
	slow := func(addr string) {
		entered.Add(1)
		served.Go(func() { // until leave is closed, below
			if w := ask(addr, "/slow"); w.Code != http.StatusOK {
				t.Errorf("a request of %s that was let in = %d", addr, w.Code)
			}
		})
		entered.Wait()
	}
	for range 7 {
		slow("192.0.2.1")
	}
	w := ask("192.0.2.1", "/")
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" || testutil.ToFloat64(f.refused) != 1 {
		t.Errorf("the eighth of a client = %d with Retry-After %q, want 503 and 1; %v were counted", w.Code, w.Header().Get("Retry-After"), testutil.ToFloat64(f.refused))
	}
	for _, test := range []struct {
		name, client string
		before       int    // requests of the client that are let in
		want         string // Connection, which ends one of HTTP/2
	}{
		{"a client", "192.0.2.1", 0, "close"},
		{"a client of a proxy", "192.0.2.9", 3, ""},
	} {
		r, info := answer.WithInfo(httptest.NewRequest(http.MethodGet, "/", nil))
		r.ProtoMajor, r.RemoteAddr, info.Addr = 2, "192.0.2.1:1234", netip.MustParseAddr(test.client)
		for range test.before {
			slow(test.client)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Header().Get("Connection"); w.Code != http.StatusServiceUnavailable || got != test.want {
			t.Errorf("%s by HTTP/2 = %d with Connection %q, want 503 and %q", test.name, w.Code, got, test.want)
		}
		r.Header.Set("Accept", "text/event-stream")
		r.URL.Path = answer.PathEventStream
		w = httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/event-stream" || w.Body.Len() != 0 {
			t.Errorf("%s that connects again to a stream by HTTP/2 = %d %s, want an empty stream", test.name, w.Code, w.Body)
		}
	}
	for i := range 6 { // the last three of them from the reserve
		addr := fmt.Sprintf("192.0.2.%d", 10+i)
		slow(addr)
		if w := ask(addr, "/"); w.Code != http.StatusServiceUnavailable {
			t.Errorf("a second request of %s = %d, want 503", addr, w.Code)
		}
	}
	if w := ask("192.0.2.3", "/"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("with no place left, another client = %d, want 503", w.Code)
	}
	if w := ask("192.0.2.3", "/healthz"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("/healthz for a stranger = %d, want 503", w.Code)
	}
	if w := ask("127.0.0.1", "/healthz"); w.Code != http.StatusOK {
		t.Errorf("/healthz for the load balancer = %d, want 200", w.Code)
	}
	close(leave)
	served.Wait()
	if f.now.Load() != 0 || f.crowd.Used() != 0 {
		t.Errorf("afterwards %d requests are counted and %d places taken", f.now.Load(), f.crowd.Used())
	}
	if w := ask("192.0.2.1", "/"); w.Code != http.StatusOK {
		t.Errorf("afterwards a request = %d, want 200", w.Code)
	}
}

// TestSmallAnswersOfHTTP2AreInFlight has a client of HTTP/2 that lets the server send nothing: its requests must count until it
// does.
func TestSmallAnswersOfHTTP2AreInFlight(t *testing.T) {
	const bound = 40
	f := NewInFlight(bound, func(*http.Request) bool { return false }, prometheus.NewRegistry())
	server := httptest.NewUnstartedServer(f.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("small"))
	})))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var headers bytes.Buffer
	e := hpack.NewEncoder(&headers)
	for _, field := range [][2]string{{":method", "GET"}, {":scheme", "http"}, {":authority", "lakes"}, {":path", "/"}} {
		if err := e.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	framer := http2.NewFramer(conn, conn)
	if err := framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}, http2.Setting{ID: http2.SettingHeaderTableSize, Val: 0}); err != nil {
		t.Fatal(err)
	}
	for i := range uint32(bound) {
		if err := framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*i + 1, BlockFragment: headers.Bytes()[:headers.Len()], EndHeaders: true, EndStream: true}); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	// The client may have an eighth of the bound, and half of the rest without its reserve. Then one or more are refused, and the
	// connection serves no others.
	const crowd = bound - bound/8
	const most = bound/8 + (crowd-crowd/4)/2
	statuses, ending := make(map[string]int), false
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	for statuses["200"] < most || statuses["503"] == 0 || !ending {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatalf("after the answers %v, GOAWAY: %t: %v", statuses, ending, err)
		}
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			statuses[frame.PseudoValue("status")]++
		case *http2.GoAwayFrame:
			ending = true
		}
	}
	if got := testutil.ToFloat64(f.refused); got < 1 || got > bound-most || f.crowd.Used() > most-bound/8 {
		t.Errorf("%v of %d requests were refused and %d have a place beyond the first eighth, want 1 to %d and at most %d", got, bound, f.crowd.Used(), bound-most, most-bound/8)
	}
}
