package main

import (
	"bufio"
	"bytes"
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

	framing "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"golang.org/x/sync/errgroup"

	"limnomap/api"
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
	mustDo(t, err)
	defer conn.Close()
	const upgrade = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n" +
		"HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n"
	// After an upgrade a client would send the preface, which is not a valid HTTP/1 request.
	if _, err := io.WriteString(conn, upgrade+"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(conn)
	resp, err := http.ReadResponse(answers, nil)
	mustDo(t, err)
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK || resp.Proto != "HTTP/1.1" {
		t.Errorf("a request for an upgrade gets %s %s, %v, want HTTP/1.1 200", resp.Proto, resp.Status, err)
	}
	rest, err := io.ReadAll(answers)
	if err != nil || !strings.HasPrefix(string(rest), "HTTP/1.1 4") && !strings.HasPrefix(string(rest), "HTTP/1.1 505") {
		t.Errorf("a preface after a request gets %.40q, %v, want an HTTP/1 error and the end of the connection", rest, err)
	}
}

// What net/http itself answers, before any handler of limnomap sees the request: without nosniff and the other fields, as docs/security.md
// says. It is a constant text without a part of the request, so that it does not matter what a browser takes it for.
func TestAnswersOfNetHTTP(t *testing.T) {
	const marker = "<script>alert(1)</script>"
	base, _ := startServer(t)
	cert, key := newPair(t, 1, nextYear())
	pair, err := tls.X509KeyPair(cert, key)
	mustDo(t, err)
	_, tlsBase := serveFor(t, http.NotFoundHandler(), &tls.Config{Certificates: []tls.Certificate{pair}})
	for _, test := range []struct{ name, request, status, want string }{
		{"malformed", "GET /" + marker + " HTTP/1.1 " + marker + "\r\n\r\n", "400", "400 Bad Request"},
		{"malformed header", "GET / HTTP/1.1\r\nHost: localhost\r\n" + marker + "\r\n\r\n", "400", "400 Bad Request"},
		{"malformed host", "GET / HTTP/1.1\r\nHost: " + marker + "\r\n\r\n", "400", "400 Bad Request: malformed Host header"},
		{"no host", "GET /" + marker + " HTTP/1.1\r\n\r\n", "400", "400 Bad Request: missing required Host header"},
		{"large header", "GET / HTTP/1.1\r\nHost: localhost\r\nX-A: " + marker + strings.Repeat("a", 32<<10) + "\r\n\r\n", "431", "431 Request Header Fields Too Large"},
		{"future version", "GET /" + marker + " HTTP/3.1\r\nHost: localhost\r\n\r\n", "505", "505 HTTP Version Not Supported: unsupported protocol version"},
		{"transfer coding", "GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: " + marker + "\r\n\r\n", "501", "Unsupported transfer encoding"},
		{"no TLS", "GET /" + marker + " HTTP/1.1\r\nHost: localhost\r\n\r\n", "400", "Client sent an HTTP request to an HTTPS server.\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			address := strings.TrimPrefix(base, "http://")
			if test.name == "no TLS" {
				address = strings.TrimPrefix(tlsBase, "https://")
			}
			conn, err := net.Dial("tcp", address)
			mustDo(t, err)
			defer conn.Close()
			mustDo(t, conn.SetDeadline(time.Now().Add(patience)))
			_, err = io.WriteString(conn, test.request)
			mustDo(t, err)
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			mustDo(t, err)
			body, err := io.ReadAll(resp.Body)
			mustDo(t, err)
			resp.Body.Close()
			if string(body) != test.want || !strings.HasPrefix(resp.Status, test.status) {
				t.Errorf("%s with %q, want %q", resp.Status, body, test.want)
			}
			if strings.Contains(resp.Status, "script") {
				t.Errorf("the status line %q has a part of the request", resp.Status)
			}
			contentType := "text/plain; charset=utf-8"
			if test.name == "no TLS" {
				contentType = ""
			}
			if got := resp.Header.Get("Content-Type"); got != contentType || !resp.Close {
				t.Errorf("Content-Type %q, the connection is closed: %v, want %q and the end of the connection", got, resp.Close, contentType)
			}
			if got := resp.Header.Get("X-Content-Type-Options"); got != "" {
				t.Errorf("X-Content-Type-Options is %q: correct docs/security.md", got)
			}
		})
	}
	t.Run("large header of HTTP/2", func(t *testing.T) {
		conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
		mustDo(t, err)
		defer conn.Close()
		mustDo(t, conn.SetDeadline(time.Now().Add(patience)))
		_, err = io.WriteString(conn, framing.ClientPreface)
		mustDo(t, err)
		frames := framing.NewFramer(conn, conn)
		frames.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		var block bytes.Buffer
		fields := hpack.NewEncoder(&block)
		list := []hpack.HeaderField{{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "http"}, {Name: ":authority", Value: "localhost"}, {Name: ":path", Value: "/"}}
		for i := range 200 {
			list = append(list, hpack.HeaderField{Name: fmt.Sprint("x-", i), Value: marker + strings.Repeat("a", 50)})
		}
		for _, f := range list {
			mustDo(t, fields.WriteField(f))
		}
		mustDo(t, frames.WriteSettings())
		first := min(block.Len(), 16<<10)
		mustDo(t, frames.WriteHeaders(framing.HeadersFrameParam{StreamID: 1, BlockFragment: block.Next(first), EndStream: true, EndHeaders: block.Len() == 0}))
		if block.Len() > 0 {
			mustDo(t, frames.WriteContinuation(1, true, block.Bytes()))
		}
		var header map[string]string
		for {
			f, err := frames.ReadFrame()
			mustDo(t, err)
			switch f := f.(type) {
			case *framing.MetaHeadersFrame:
				header = map[string]string{}
				for _, field := range f.Fields {
					header[field.Name] = field.Value
				}
			case *framing.DataFrame:
				if header[":status"] != "431" || header["x-content-type-options"] != "" || !strings.HasPrefix(header["content-type"], "text/html") {
					t.Errorf("the header is %v, want 431 with a page and no nosniff: correct docs/security.md", header)
				}
				if got := string(f.Data()); got != "<h1>HTTP Error 431</h1><p>Request Header Field(s) Too Large</p>" {
					t.Errorf("the body is %q, want a text without a part of the request", got)
				}
				return
			}
		}
	})
}

// serveFor runs a server on a free port until the test ends.
func serveFor(t *testing.T, h http.Handler, config *tls.Config) (s *http.Server, base string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	mustDo(t, err)
	s = newHTTPServer(h, slog.New(slog.DiscardHandler), noAddresses)
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
			mustDo(t, err)
			resp, err := clientOf(t, set).Do(r)
			mustDo(t, err)
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
	s := newHTTPServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler), noAddresses)
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

// noAddresses is --log-addresses none.
func noAddresses() api.LogAddresses { return "none" }

// Messages of net/http have the addresses of clients as the lines of requests.
func TestErrorLogHasTheAddressesOfRequests(t *testing.T) {
	for addresses, want := range map[api.LogAddresses]string{
		"full":  "http: TLS handshake error from 203.0.113.7:4711: read tcp [2001:db8::1]:443->[2001:db8:7:8::9]:80: EOF at 12:30:00",
		"short": "http: TLS handshake error from 203.0.113.0/24: read tcp 2001:db8::/48->2001:db8:7::/48: EOF at 12:30:00",
		"none":  "http: TLS handshake error from -: read tcp -->-: EOF at 12:30:00",
	} {
		var out bytes.Buffer
		newErrorLog(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})), func() api.LogAddresses { return addresses }).
			Print("http: TLS handshake error from 203.0.113.7:4711: read tcp [2001:db8::1]:443->[2001:db8:7:8::9]:80: EOF at 12:30:00")
		if got := out.String(); !strings.Contains(got, want) || !strings.Contains(got, "level=DEBUG") {
			t.Errorf("%s: %s, want %s", addresses, got, want)
		}
	}
}
