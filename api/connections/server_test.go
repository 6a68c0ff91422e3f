package connections

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// Errors of the listener are returned unchanged.
func TestAcceptErrors(t *testing.T) {
	w := newBench(NewBounds(10, 0, nil))
	l := w.Listener(&fakeListener{})
	if c, err := l.Accept(); c != nil || !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept = %v, %v, want net.ErrClosed", c, err)
	}
}

// Over real connections with HTTP/1 and HTTP/2: connections that wait are closed for others, and all are counted down.
func TestServer(t *testing.T) {
	limiter := New(Config{Bounds: Bounds{Total: 40, PerAddress: 8, PerNetwork: 8}, Name: "test", Registerer: prometheus.NewRegistry()})
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/wait" {
				_ = http.NewResponseController(w).Flush()
				<-release
			}
			_, _ = io.WriteString(w, "ok")
		}),
		ConnState: ConnState,
		Protocols: new(http.Protocols),
	}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	served := make(chan error, 1)
	go func() { served <- server.Serve(limiter.Listener(inner)) }() // ends with Close, below
	url := "http://" + inner.Addr().String()
	transport := func(h2 bool) *http.Transport {
		t := &http.Transport{Protocols: new(http.Protocols), DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 7, 0, 1)}}).DialContext}
		t.Protocols.SetHTTP1(!h2)
		t.Protocols.SetUnencryptedHTTP2(h2)
		return t
	}
	await := func(what string, ok func(states map[string]int) bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			states, _ := limiter.states()
			if ok(states) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s: states %v", what, states)
			}
		}
	}
	get := func(tr *http.Transport, path string) *http.Response {
		t.Helper()
		resp, err := tr.RoundTrip(must(http.NewRequestWithContext(context.Background(), http.MethodGet, url+path, nil)))
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	// Each protocol has four connections, two of them with a request.
	var busy []*http.Response
	var transports []*http.Transport
	for _, h2 := range []bool{false, true} {
		for i := range 4 {
			tr := transport(h2)
			transports = append(transports, tr)
			resp := get(tr, map[bool]string{true: "/wait", false: "/"}[i < 2])
			if i < 2 {
				busy = append(busy, resp)
				continue
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		}
	}
	await("two of each are active, two idle", func(s map[string]int) bool { return s["active"] == 4 && s["idle"] == 4 })
	var silent []net.Conn
	for range 12 { // the bound of the address is used up: these replace the idle ones, then each other
		c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 7, 0, 1)}}).Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		silent = append(silent, c)
	}
	// Once all have been accepted: an answered connection is idle, and may be closed for another of its address.
	await("the idle ones are replaced", func(s map[string]int) bool {
		replaced := testutil.ToFloat64(limiter.metrics.closedEarly.WithLabelValues(ofAddress))
		return replaced == float64(len(silent)) && s["active"] == 4 && s["idle"] == 0 && s["new"] == 4
	})
	close(release)
	for _, resp := range busy {
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "ok" {
			t.Errorf("an answer in progress: %q, %v", body, err)
		}
		resp.Body.Close()
	}
	for _, c := range silent {
		c.Close()
	}
	for _, tr := range transports {
		tr.CloseIdleConnections()
	}
	await("all are closed", func(s map[string]int) bool { return s["active"]+s["idle"]+s["new"] == 0 })
	if err := errors.Join(server.Close(), <-served); err != nil && !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
