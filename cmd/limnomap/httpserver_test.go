package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A server without TLS accepts HTTP/2 and HTTP/1 on the same port.
func TestHTTP2WithoutTLS(t *testing.T) {
	base, _ := startServer(t)
	if resp := fetch(t, clientOf(t, h2c), base); resp.Proto != "HTTP/2.0" {
		t.Errorf("an HTTP/2 client gets %s", resp.Proto)
	}
	if resp := fetch(t, clientOf(t, http1), base); resp.Proto != "HTTP/1.1" {
		t.Errorf("an HTTP/1 client gets %s", resp.Proto)
	}
}

// Many requests can share one HTTP/2 connection, and each gets its complete answer.
func TestStreamsShareAConnection(t *testing.T) {
	base, _ := startServer(t, "--tile-rate", "0", "--api-rate", "0")
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	var dials atomic.Int32
	transport := &http.Transport{
		Protocols:          &protocols,
		DisableCompression: true,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials.Add(1)
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
	}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: patience}
	ask := func(path string) (string, error) {
		resp, err := client.Get(base + path)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return resp.Status + string(body), err
	}
	paths := []string{"/api/v1/tiles/6/33/21.png", "/api/v1/tiles/6/0/0.png", "/api/v1/bathing-lakes/status", "/api/v1/legend.json"}
	want := map[string]string{}
	for _, path := range paths {
		_, body := limnomaptest.Get(t, base+path, "Accept-Encoding", "identity")
		want[path] = "200 OK" + string(body)
		if got, err := ask(path); err != nil || got != want[path] {
			t.Fatalf("%s over HTTP/2: %.40q, %v, want the same as over HTTP/1", path, got, err)
		}
	}
	var group errgroup.Group // its goroutines end with their answers
	for i := range 32 {
		group.Go(func() error {
			for k := range 25 {
				path := paths[(i+k)%len(paths)]
				if got, err := ask(path); err != nil || got != want[path] {
					return fmt.Errorf("%s: %.40q, %w", path, got, err)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	if got := dials.Load(); got != 1 {
		t.Errorf("%d connections, want one", got)
	}
}

// A proxy that forwards an upgrade request no longer checks what follows on the connection. So no request may turn its
// connection into an HTTP/2 connection.
func TestNoUpgradeToHTTP2(t *testing.T) {
	base, _ := startServer(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const upgrade = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n" +
		"HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n"
	// After an upgrade a client would send the preface, which is not a valid HTTP/1 request.
	if _, err := io.WriteString(conn, upgrade+"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(conn)
	resp, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK || resp.Proto != "HTTP/1.1" {
		t.Errorf("a request for an upgrade gets %s %s, %v, want HTTP/1.1 200", resp.Proto, resp.Status, err)
	}
	rest, err := io.ReadAll(answers)
	if err != nil || !strings.HasPrefix(string(rest), "HTTP/1.1 4") && !strings.HasPrefix(string(rest), "HTTP/1.1 505") {
		t.Errorf("a preface after a request gets %.40q, %v, want an HTTP/1 error and the end of the connection", rest, err)
	}
}

// serveFor runs a server on a free port until the test ends.
func serveFor(t *testing.T, h http.Handler, config *tls.Config) (s *http.Server, base string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s = newHTTPServer(h, slog.New(slog.DiscardHandler))
	s.TLSConfig = config
	base = addressOf(s, l)
	served := make(chan error, 1)
	go func() { served <- serveOn(s, l) }() // ends with Close, below
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), <-served); err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	return s, base
}

// No operation has a request body. The server refuses a body before it fills a buffer.
func TestBodiesAreRefused(t *testing.T) {
	base, _ := startServer(t)
	for name, set := range map[string]func(*http.Protocols){"HTTP/1": http1, "HTTP/2": h2c} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequest(http.MethodGet, base+"/healthz", io.LimitReader(neverEnding{}, 2*receiveBuffer))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := clientOf(t, set).Do(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusRequestEntityTooLarge {
				t.Errorf("a request with a body gets %s, want 413", resp.Status)
			}
			fetch(t, clientOf(t, set), base)
		})
	}
}

// A neverEnding reader has no end.
type neverEnding struct{}

func (neverEnding) Read(p []byte) (int, error) { return len(p), nil }

// A pipeListener accepts pipes instead of network connections, so that a test can use fake time.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	close(l.closed)
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

const (
	preface       = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	emptySettings = "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	// beginHeaders opens stream 1 with one byte of an unfinished header (RFC 9113, section 6.2, without END_HEADERS).
	beginHeaders = "\x00\x00\x01\x01\x00\x00\x00\x00\x01\x82"
	// longFrame announces 16,385 bytes for stream 1.
	longFrame = "\x00\x40\x01\x00\x00\x00\x00\x00\x01"
	// widenWindow lets the server send one more byte (section 6.9).
	widenWindow = "\x00\x00\x04\x08\x00\x00\x00\x00\x00\x00\x00\x00\x01"
)

// onPipe serves one connection, and calls fn with the other end.
func onPipe(t *testing.T, fn func(conn net.Conn)) {
	t.Helper()
	l := &pipeListener{make(chan net.Conn), make(chan struct{})}
	s := newHTTPServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	served := make(chan error, 1)
	go func() { served <- serveOn(s, l) }() // ends with Close
	ours, theirs := net.Pipe()
	l.conns <- theirs
	fn(ours)
	if err := errors.Join(ours.Close(), s.Close(), <-served); err != nil {
		t.Error(err)
	}
}

// The server closes the connections of clients that send nothing, or stop sending.
func TestSilentClientsAreDropped(t *testing.T) {
	for _, tt := range []struct {
		name, sent string
		within     time.Duration
	}{
		{"nothing", "", 5 * time.Second},
		{"half a header", "GET / HTTP/1.1\r\nHost:", 5 * time.Second},
		{"half a preface", preface[:10], 5 * time.Second},
		{"only a preface", preface, pingAfter},
		{"the head of a long frame", preface + emptySettings + longFrame, 2 * time.Second},
		{"only settings", preface + emptySettings, 2 * pingAfter},
		{"half of an HTTP/2 header", preface + emptySettings + beginHeaders, 2 * pingAfter},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				onPipe(t, func(conn net.Conn) {
					start := time.Now()
					go func() { _, _ = io.WriteString(conn, tt.sent) }() // ends when it is read, or the connection is closed
					_, _ = io.Copy(io.Discard, conn)                     // only the end of the connection matters
					if took := time.Since(start); took > tt.within {
						t.Errorf("the connection ended after %v, want %v at most", took, tt.within)
					}
				})
			})
		})
	}
}

// The server also closes the connection of a client that keeps sending and reads no answers.
func TestClientThatReadsNothingIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		onPipe(t, func(conn net.Conn) {
			_, err := io.WriteString(conn, preface+emptySettings)
			start := time.Now()
			for ; err == nil && time.Since(start) < time.Hour; time.Sleep(time.Second) {
				_, err = io.WriteString(conn, widenWindow)
			}
			if took := time.Since(start); took > 2*writeStall {
				t.Errorf("the connection ended after %v, want %v at most", took, 2*writeStall)
			}
		})
	})
}
