package delivery_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"limnomap/data/events/eventfeed"
	"limnomap/data/events/hook"
	"limnomap/data/events/hook/delivery"
	"limnomap/data/fetchguard"
)

// Requests reach public addresses only, however others are written. None of these is answered, since none is asked.
func TestRefusedAddresses(t *testing.T) {
	t.Parallel()
	var reached atomic.Int64
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer target.Close()
	_, port, err := net.SplitHostPort(target.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	client := delivery.NewClient(nil)
	defer client.CloseIdleConnections()
	for _, host := range []string{
		"127.0.0.1", "localhost", "localhost.", "LOCALHOST", "127.1", "127.0.1", "0.0.0.0", "0", "2130706433", "0x7f000001", "0x7f.0.0.1", "017700000001", "0177.0.0.1", "127.0.0.2", "127.255.255.254",
		"[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[::1%25lo]",
		"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "[::ffff:10.0.0.1]", "[fc00::1]", "[fd12:3456::1]", "[fe80::1]", "[fe80::1%25lo]", "[fec0::1]", "[64:ff9b::a00:1]", "[2002:a00:1::]",
		"169.254.169.254", "169.254.170.2", "[::ffff:169.254.169.254]", "[fd00:ec2::254]", "2852039166", "0xa9fea9fe", "100.100.100.200", "100.64.0.1", "168.63.129.16", "192.0.0.192",
		"metadata.google.internal", "metadata", "198.18.0.1", "192.0.2.1", "198.51.100.1", "203.0.113.1", "[2001:db8::1]", "224.0.0.1", "255.255.255.255", "240.0.0.1", "[ff02::1]", "[100::1]",
		"127.0.0.1.nip.io.invalid",
	} {
		for _, scheme := range []string{"http", "https"} {
			h := hook.New(scheme+"://"+host+":"+port+"/", eventfeed.Filter{}, time.Now())
			result := delivery.Send(t.Context(), client, &h, "id", []byte("{}"), time.Now(), "test", true)
			if result.Status != 0 || result.Error == "" {
				t.Errorf("%s: %+v, want it refused", h.URL, result)
			}
			if strings.HasPrefix(result.Error, "dial tcp") && !strings.Contains(result.Error, fetchguard.ErrRefused.Error()) && !strings.Contains(result.Error, "lookup") && !strings.Contains(result.Error, "route") {
				t.Errorf("%s: %s", h.URL, result.Error)
			}
		}
	}
	// A redirect is not followed, wherever it leads, and a proxy in the environment is not used.
	redirect := httptest.NewServer(http.RedirectHandler(target.URL, http.StatusTemporaryRedirect))
	defer redirect.Close()
	allowed := delivery.NewClient(loopback)
	h := hook.New(redirect.URL, eventfeed.Filter{}, time.Now())
	if result := delivery.Send(t.Context(), allowed, &h, "id", []byte("{}"), time.Now(), "test", true); result.Status != 307 || !strings.Contains(result.Error, "redirect") {
		t.Errorf("a redirect: %+v", result)
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("%d requests reached this machine", n)
	}
	h = hook.New(target.URL, eventfeed.Filter{}, time.Now())
	if result := delivery.Send(t.Context(), allowed, &h, "id", []byte("{}"), time.Now(), "test", true); result.Status != 200 || reached.Load() != 1 {
		t.Errorf("an allowed address: %+v", result)
	}
	if result := delivery.Send(t.Context(), allowed, &h, "id", []byte("{}"), time.Now(), "test", false); result.Status != 0 || !strings.Contains(result.Error, "want https") {
		t.Errorf("plain HTTP: %+v", result)
	}
}

// An answer may be as long as it likes: a small part of it is read.
func TestLongAnswer(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := make([]byte, 1<<20)
		for range 1 << 10 {
			n, err := w.Write(b)
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	client := delivery.NewClient(loopback)
	h := hook.New(server.URL, eventfeed.Filter{}, time.Now())
	if result := delivery.Send(t.Context(), client, &h, "id", []byte("{}"), time.Now(), "test", true); result.Error != "" || result.Status != 200 {
		t.Errorf("%+v", result)
	}
	server.Close()
	if n := sent.Load(); n > 64<<20 {
		t.Errorf("%d bytes of the answer were sent", n)
	}
}

// An error says what is wrong without the address, which may have a secret.
func TestErrorsHaveNoSecrets(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	client := delivery.NewClient(loopback)
	for address, want := range map[string]string{
		server.URL + "/secret":                "certificate",
		"https://no-such-host.invalid/secret": "no such host",
		"http://127.0.0.1:1/secret":           "refused",
		"https://127.0.0.1:1/secret#part":     "fragment",
		"ftp://127.0.0.1:1/secret":            "want one such as",
		"https://127.0.0.1:1/secret\x7f":      "cannot be read",
	} {
		h := hook.New(address, eventfeed.Filter{}, time.Now())
		result := delivery.Send(t.Context(), client, &h, "id", []byte("{}"), time.Now(), "test", true)
		if result.Error == "" || strings.Contains(result.Error, "secret") || want != "no such host" && !strings.Contains(result.Error, want) {
			t.Errorf("%s: %q, want it to contain %q", address, result.Error, want)
		}
	}
	// A webhook that was made where plain HTTP is allowed.
	plain := hook.New("http://127.0.0.1:1/secret", eventfeed.Filter{}, time.Now())
	if result := delivery.Send(t.Context(), client, &plain, "id", []byte("{}"), time.Now(), "test", false); !strings.Contains(result.Error, "want https") || strings.Contains(result.Error, "secret") {
		t.Errorf("plain HTTP that is not allowed: %q", result.Error)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errors.New("stopped"))
	defer cancel()
	<-ctx.Done()
	h := hook.New(server.URL+"/secret", eventfeed.Filter{}, time.Now())
	if result := delivery.Send(ctx, client, &h, "id", []byte("{}"), time.Now(), "test", true); result.Error == "" || strings.Contains(result.Error, "secret") {
		t.Errorf("stopped: %q", result.Error)
	}
}

// What a receiver answers reaches a terminal and the log without its own words and without control characters.
func TestErrorsArePrintable(t *testing.T) {
	t.Parallel()
	const evil = "\x1b[2J\u202e\tfine"
	for name, tt := range map[string]struct{ answer, want string }{
		"status":        {"HTTP/1.1 500 " + evil + "\r\n\r\n", "the receiver answers 500 Internal Server Error"},
		"unknown":       {"HTTP/1.1 599 " + evil + "\r\n\r\n", "the receiver answers 599"},
		"redirect":      {"HTTP/1.1 302 " + evil + "\r\nLocation: /\r\n\r\n", "the receiver answers with a redirect (302 Found); redirects are not followed"},
		"location":      {"HTTP/1.1 302 Found\r\nLocation: http://[" + evil + "\r\n\r\n", ""},
		"no HTTP":       {evil + "\r\n\r\n", ""},
		"broken header": {"HTTP/1.1 200 OK\r\n" + evil + "\r\n\r\n", ""},
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = io.WriteString(conn, tt.answer)
			}
		}()
		client := delivery.NewClient(loopback)
		h := hook.New("http://"+listener.Addr().String()+"/", eventfeed.Filter{}, time.Now())
		result := delivery.Send(t.Context(), client, &h, "id", []byte("{}"), time.Now(), "test", true)
		if result.Error == "" || tt.want != "" && result.Error != tt.want {
			t.Errorf("%s: %q, want %q", name, result.Error, tt.want)
		}
		for _, r := range result.Error {
			if !unicode.IsPrint(r) {
				t.Errorf("%s: %q has the character %U", name, result.Error, r)
			}
		}
		_ = listener.Close()
		<-answered
		client.CloseIdleConnections()
	}
}
