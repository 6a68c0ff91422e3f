//go:build unix

package faulttest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/internal/testsize"
)

const (
	// closeTime is how soon the server closes the connections of clients that are too slow. Its longest timeout is that of
	// idle connections: two minutes.
	closeTime = 150 * time.Second
	// connectionBytes is how much memory a connection may cost, whatever the client does: two goroutines, two buffers of
	// net/http and, with the race detector, several times as much.
	connectionBytes = 512 << 10
)

// slowClients are many connections to one server.
type slowClients struct {
	server             *limnomaptest.Server
	conns              []net.Conn
	goroutines, memory float64 // of the server before the clients connected
}

// connectClients opens n connections, and sends text on each at once, because the server waits for a header for a few seconds.
// Their receive buffers hold that many bytes or, with 0, the default.
func connectClients(t testing.TB, s *limnomaptest.Server, n, receiveBuffer int, text string) *slowClients {
	t.Helper()
	wantAnswers(t, s) // so that what the server allocates for its first answers is not counted
	http.DefaultClient.CloseIdleConnections()
	c := &slowClients{server: s, goroutines: s.Metric(t, "go_goroutines"), memory: s.Metric(t, "process_resident_memory_bytes")}
	t.Cleanup(c.close)
	dialer := net.Dialer{Timeout: answerTime}
	if receiveBuffer > 0 {
		dialer.Control = func(_, _ string, conn syscall.RawConn) (err error) {
			controlErr := conn.Control(func(fd uintptr) {
				err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, receiveBuffer)
			})
			return errors.Join(err, controlErr)
		}
	}
	for range n {
		conn, err := dialer.Dial("tcp", strings.TrimPrefix(s.Base, "http://"))
		if err != nil {
			t.Fatalf("connection %d of %d: %v", len(c.conns)+1, n, err)
		}
		c.conns = append(c.conns, conn)
		must(t, conn.SetWriteDeadline(time.Now().Add(answerTime)))
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatalf("connection %d of %d: %v", len(c.conns), n, err)
		}
	}
	return c
}

// send sends the text on every connection.
func (c *slowClients) send(t testing.TB, text string) {
	t.Helper()
	for i, conn := range c.conns {
		must(t, conn.SetWriteDeadline(time.Now().Add(answerTime)))
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
	}
}

// wantLittleCost checks that the server answers other clients, and that its memory is within bounds.
func (c *slowClients) wantLittleCost(t testing.TB) {
	t.Helper()
	wantAnswers(t, c.server)
	grown := c.server.Metric(t, "process_resident_memory_bytes") - c.memory
	if bound := float64(len(c.conns)*connectionBytes + 128<<20); grown > bound {
		t.Errorf("%d connections cost %.0f MB, want at most %.0f", len(c.conns), grown/1e6, bound/1e6)
	}
	t.Logf("%d connections cost %.1f MB and %.0f goroutines", len(c.conns), grown/1e6, c.server.Metric(t, "go_goroutines")-c.goroutines)
}

// wantClosed checks that the server closes all connections.
func (c *slowClients) wantClosed(t testing.TB, d time.Duration) {
	t.Helper()
	deadline := time.Now().Add(d)
	var open sync.WaitGroup
	for i, conn := range c.conns {
		open.Go(func() { // ends at the deadline at the latest
			err := conn.SetReadDeadline(deadline)
			if err == nil {
				_, err = io.Copy(io.Discard, conn)
			}
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("connection %d is still open after %v", i, d)
			}
		})
	}
	open.Wait()
}

// close closes the connections on the client's side.
func (c *slowClients) close() {
	for _, conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
}

// wantNothingLeft checks that the server has ended the goroutines of the connections, and stops the server.
func (c *slowClients) wantNothingLeft(t testing.TB) {
	t.Helper()
	limnomaptest.Within(t, patience, "the goroutines of the connections have ended", func() bool {
		http.DefaultClient.CloseIdleConnections()
		return c.server.Metric(t, "go_goroutines") <= c.goroutines+5
	})
	wantAnswers(t, c.server)
	stopCleanly(t, c.server)
}

// TestSlowReaders has clients request more than all buffers between them and the server hold, and not read it.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	db := newUniformDB(t, 1892, 5)
	s := start(t, "--db", db.path, "--api-rate", "0", "--log-level", "debug")
	clients := testsize.Of(50, 200)
	const request = "GET /api/v1/bathing-lakes/status HTTP/1.1\r\nHost: lakes\r\n\r\n"
	c := connectClients(t, s, clients, 4096, strings.Repeat(request, 50)) // the answers have 19 MB; the kernel holds up to 4 MB for a connection
	limnomaptest.Within(t, patience, "the server waits for all of them", func() bool {
		return s.Metric(t, "limnomap_http_requests_in_flight") >= float64(clients)
	})
	c.wantLittleCost(t)
	if testsize.Long {
		for range 5 { // reading one byte a second does not keep a connection open
			for _, conn := range c.conns {
				if _, err := conn.Read(make([]byte, 1)); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Second)
		}
		limnomaptest.Within(t, closeTime, "the write timeout has ended the answers", func() bool {
			return s.Metric(t, "limnomap_http_requests_in_flight") <= 1
		})
	}
	c.close()
	c.wantNothingLeft(t)
}

// TestUnfinishedRequests has clients that never finish a request.
func TestUnfinishedRequests(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		slowHeader bool // more header lines follow, one a second
	}{
		{"nothing", "", false},
		{"half a request line", "GET /api/v1/bathing-la", false},
		{"header without end", "GET / HTTP/1.1\r\nHost: lakes\r\n", true},
		{"announced body", "POST / HTTP/1.1\r\nHost: lakes\r\nContent-Length: 1000\r\n\r\n", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "--api-rate", "0", "--log-level", "debug")
			c := connectClients(t, s, 200, 0, test.text)
			if test.slowHeader {
				for i := range 3 {
					time.Sleep(time.Second)
					c.send(t, fmt.Sprintf("X-Slow-%d: a\r\n", i))
				}
			}
			c.wantLittleCost(t)
			c.wantClosed(t, closeTime)
			c.wantNothingLeft(t)
		})
	}
}

// TestIdleConnections has many clients that send one request and then keep their connections.
func TestIdleConnections(t *testing.T) {
	n := testsize.Of(2000, 10000)
	var limit syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)) // Go has raised the soft limit to the hard one
	const others = 200
	if most := int(min(limit.Cur, 1<<20)) - others; n > most {
		t.Logf("ONLY %d CONNECTIONS INSTEAD OF %d: the hard limit of open files is %d", most, n, limit.Max)
		n = most
	}
	bound := fmt.Sprint(2 * n) // of which a sixteenth is reserved
	s := start(t, "--api-rate", "0", "--max-connections", bound, "--max-connections-per-address", bound)
	c := connectClients(t, s, n, 0, "GET /healthz HTTP/1.1\r\nHost: lakes\r\n\r\n")
	head := make([]byte, len("HTTP/1.1 200 "))
	for i, conn := range c.conns {
		must(t, conn.SetReadDeadline(time.Now().Add(patience)))
		if _, err := io.ReadFull(conn, head); err != nil || string(head) != "HTTP/1.1 200 " {
			t.Fatalf("connection %d of %d: %q, %v, want an answer", i, n, head, err)
		}
	}
	c.wantLittleCost(t)
	if testsize.Long {
		c.wantClosed(t, closeTime)
	}
	c.close()
	c.wantNothingLeft(t)
}
