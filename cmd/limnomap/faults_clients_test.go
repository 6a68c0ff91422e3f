//go:build unix

package main

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
)

// What clients that mean harm, or hang, may cost.
const (
	// closeTime is within what the server has closed the connections of clients that are too slow: its longest timeout
	// is that of idle ones, 2 minutes.
	closeTime = 150 * time.Second
	// connectionBytes is what a connection may cost of memory, whatever its client does: two goroutines, two buffers of
	// net/http and, by the race detector, several times as much.
	connectionBytes = 512 << 10
)

// A crowd is many connections to one server, and the server as it was before.
type crowd struct {
	p                  *process
	conns              []net.Conn
	goroutines, memory float64
}

// newCrowd opens n connections, whose receive buffers hold that many bytes or, with 0, as many as usual.
func newCrowd(t testing.TB, p *process, n, receive int) *crowd {
	t.Helper()
	wantAnswers(t, p) // so that what a first answer leaves behind counts as being there before
	http.DefaultClient.CloseIdleConnections()
	c := &crowd{p: p, goroutines: p.metric(t, "go_goroutines"), memory: p.metric(t, "process_resident_memory_bytes")}
	t.Cleanup(c.leave)
	dialer := net.Dialer{Timeout: answerTime}
	if receive > 0 {
		dialer.Control = func(_, _ string, conn syscall.RawConn) (err error) {
			controlErr := conn.Control(func(fd uintptr) {
				err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, receive)
			})
			return errors.Join(err, controlErr)
		}
	}
	for range n {
		conn, err := dialer.Dial("tcp", strings.TrimPrefix(p.base, "http://"))
		if err != nil {
			t.Fatalf("connection %d of %d: %v", len(c.conns)+1, n, err)
		}
		c.conns = append(c.conns, conn)
	}
	return c
}

// send has every connection send the text.
func (c *crowd) send(t testing.TB, text string) {
	t.Helper()
	for i, conn := range c.conns {
		mustDo(t, conn.SetWriteDeadline(time.Now().Add(answerTime)))
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
	}
}

// wantBounded checks that the crowd costs the server no more than is foreseen, and nobody else the service.
func (c *crowd) wantBounded(t testing.TB) {
	t.Helper()
	wantAnswers(t, c.p)
	grown := c.p.metric(t, "process_resident_memory_bytes") - c.memory
	if bound := float64(len(c.conns)*connectionBytes + 128<<20); grown > bound {
		t.Errorf("%d connections cost %.0f MB, want at most %.0f", len(c.conns), grown/1e6, bound/1e6)
	}
	t.Logf("%d connections cost %.1f MB and %.0f goroutines", len(c.conns), grown/1e6, c.p.metric(t, "go_goroutines")-c.goroutines)
}

// wantClosed checks that the server closes all connections by itself, what it sent before being read.
func (c *crowd) wantClosed(t testing.TB, d time.Duration) {
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

// leave closes the connections from this end.
func (c *crowd) leave() {
	for _, conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
}

// wantForgotten checks that nothing of the crowd is left in the server, and ends it.
func (c *crowd) wantForgotten(t testing.TB) {
	t.Helper()
	limnomaptest.Within(t, time.Minute, "the goroutines of the connections have ended", func() bool {
		http.DefaultClient.CloseIdleConnections()
		return c.p.metric(t, "go_goroutines") <= c.goroutines+5
	})
	wantAnswers(t, c.p)
	wantQuietEnd(t, c.p)
}

// TestFaultSlowReader has clients ask for more than all buffers between them and the server hold, and not read it.
func TestFaultSlowReader(t *testing.T) {
	t.Parallel()
	db := newUniformDB(t, 1892, 5)
	p := startReady(t, "--db", db.path, "--api-rate", "0", "--log-level", "debug")
	clients := 50
	if inFull() {
		clients = 200
	}
	c := newCrowd(t, p, clients, 4096)
	const request = "GET /api/v1/bathing-lakes/status HTTP/1.1\r\nHost: lakes\r\n\r\n"
	c.send(t, strings.Repeat(request, 50)) // 19 MB; the kernel holds up to 4 MB for a connection
	limnomaptest.Within(t, time.Minute, "the answers of all of them are stuck", func() bool {
		return p.metric(t, "limnomap_http_requests_in_flight") >= float64(clients)
	})
	c.wantBounded(t)
	if inFull() {
		for range 5 { // a byte a second does not keep a connection alive either
			for _, conn := range c.conns {
				if _, err := conn.Read(make([]byte, 1)); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Second)
		}
		limnomaptest.Within(t, closeTime, "the write timeout has ended the answers", func() bool {
			return p.metric(t, "limnomap_http_requests_in_flight") <= 1
		})
	}
	c.leave()
	c.wantForgotten(t)
}

// TestFaultSlowHeader has clients that never finish what they ask for: half a request line, a header line after
// another, a body that was announced.
func TestFaultSlowHeader(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]string{
		"nothing":               "",
		"half a request line":   "GET /api/v1/bathing-la",
		"header without end":    "GET / HTTP/1.1\r\nHost: lakes\r\n",
		"body that never comes": "POST / HTTP/1.1\r\nHost: lakes\r\nContent-Length: 1000\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startReady(t, "--api-rate", "0", "--log-level", "debug")
			c := newCrowd(t, p, 200, 0)
			c.send(t, begin)
			if strings.HasPrefix(name, "header") {
				for i := range 3 {
					time.Sleep(time.Second)
					c.send(t, fmt.Sprintf("X-Slow-%d: a\r\n", i))
				}
			}
			c.wantBounded(t)
			c.wantClosed(t, closeTime)
			c.wantForgotten(t)
		})
	}
}

// TestFaultIdleConnections has many clients that ask once and then keep their connections.
func TestFaultIdleConnections(t *testing.T) {
	n := 2000
	if inFull() {
		n = 10000
	}
	var limit syscall.Rlimit
	mustDo(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)) // Go has raised the soft limit to the hard one
	const others = 200
	if most := int(min(limit.Cur, 1<<20)) - others; n > most {
		t.Logf("ONLY %d CONNECTIONS INSTEAD OF %d: the hard limit of open files is %d here", most, n, limit.Max)
		n = most
	}
	p := startReady(t, "--api-rate", "0")
	c := newCrowd(t, p, n, 0)
	c.send(t, "GET /healthz HTTP/1.1\r\nHost: lakes\r\n\r\n")
	head := make([]byte, len("HTTP/1.1 200 "))
	for i, conn := range c.conns {
		mustDo(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
		if _, err := io.ReadFull(conn, head); err != nil || string(head) != "HTTP/1.1 200 " {
			t.Fatalf("connection %d of %d: %q, %v, want an answer", i, n, head, err)
		}
	}
	c.wantBounded(t)
	if inFull() {
		c.wantClosed(t, closeTime)
	}
	c.leave()
	c.wantForgotten(t)
}
