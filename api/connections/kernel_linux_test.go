package connections

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func TestUnread(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	client, err := net.Dial("tcp", inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	accepted, err := inner.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c := &conn{Conn: accepted}
	if unread(c) {
		t.Error("something is unread before the client sends")
	}
	if _, err := io.WriteString(client, "G"); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); !unread(c); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the byte that the client sent does not count as unread for a minute")
		}
	}
	if _, err := io.ReadFull(accepted, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if unread(c) {
		t.Error("something is unread after it was read")
	}
	accepted.Close()
	if unread(c) {
		t.Error("something is unread on a closed connection")
	}
}

// Clients that read nothing take all connections. Another client that reads gets one as soon as they count as stalled.
func TestClientsThatDoNotRead(t *testing.T) {
	t.Parallel()
	limiter := New(Config{Bounds: Bounds{Total: 20, PerAddress: 20, PerNetwork: 20}, Name: "test", Registerer: prometheus.NewRegistry()})
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("a", 16<<20) // more than all buffers hold
	server := &http.Server{ConnState: ConnState, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/large" {
			_, _ = io.WriteString(w, large)
		}
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(limiter.Listener(inner)) }() // ends with Close, below
	defer func() {
		server.Close()
		<-served
	}()
	request := func(path string) (net.Conn, error) {
		// Another address than the server's: programs on the same machine have connections reserved for them.
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 7, 0, 2)}}
		conn, err := dialer.Dial("tcp", inner.Addr().String())
		if err == nil {
			_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: lakes\r\n\r\n", path)
		}
		return conn, err
	}
	end := time.Now().Add(time.Minute)
	for taken := 0; taken < limiter.bounds.of(ordinary); {
		conn, err := request("/large")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for taken++; ; time.Sleep(time.Millisecond) {
			if states, _ := limiter.states(); states["active"] == taken {
				break
			}
			if time.Now().After(end) {
				t.Fatal("the clients do not get all connections")
			}
		}
	}
	for ; ; time.Sleep(50 * time.Millisecond) {
		conn, err := request("/")
		if err == nil {
			_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			var resp *http.Response
			if resp, err = http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
				resp.Body.Close()
			}
			conn.Close()
		}
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no connection for a minute: %v", err)
		}
	}
}
