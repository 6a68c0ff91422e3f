//go:build linux

package attacktest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// An assault is one attack while it runs.
type assault struct {
	*target
	network byte          // of the attackers' addresses, 127.network.0.0/16
	first   int           // number of the first address
	hold    time.Duration // how long attackers that wait do so

	mu       sync.Mutex
	outcomes map[string]int // guarded by mu; of requests or connections, by what happened
	notes    []string       // guarded by mu
	wrong    []string       // guarded by mu: what the attack must not achieve
}

// discarded is the log of servers whose clients leave early.
var discarded = log.New(io.Discard, "", 0)

// count notes an outcome.
func (a *assault) count(outcome string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.outcomes == nil {
		a.outcomes = make(map[string]int)
	}
	a.outcomes[outcome]++
}

// note adds to what the table says about the attack.
func (a *assault) note(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.notes = append(a.notes, fmt.Sprintf(format, args...))
}

// fail notes something that the attack must not achieve.
func (a *assault) fail(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wrong = append(a.wrong, fmt.Sprintf(format, args...))
}

// summary describes the outcomes.
func (a *assault) summary() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	parts := slices.Clone(a.notes)
	for _, outcome := range slices.Sorted(maps.Keys(a.outcomes)) {
		parts = append(parts, fmt.Sprintf("%d× %s", a.outcomes[outcome], outcome))
	}
	return strings.Join(parts, ", ")
}

// from returns the address of attacker i.
func (a *assault) from(i int) string {
	i += a.first
	return fmt.Sprintf("127.%d.%d.%d", a.network, 1+i/250, 1+i%250)
}

// each calls do for 0 to n-1, some at a time, and waits.
func each(n, atOnce int, do func(i int)) {
	slots := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	all.Wait()
}

// dial connects from an address. With small, the receive buffer is as small as the kernel allows.
func (a *assault) dial(from string, small bool) (net.Conn, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 10 * time.Second}
	if small {
		dialer.Control = func(_, _ string, conn syscall.RawConn) (err error) {
			controlErr := conn.Control(func(fd uintptr) {
				err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096)
			})
			return errors.Join(err, controlErr)
		}
	}
	conn, err := dialer.Dial("tcp", a.HostPort())
	if err != nil {
		return nil, err
	}
	return conn, nil
}

// connect is dial for attacks that count a failure and go on: then it returns nil.
func (a *assault) connect(from string, small bool) net.Conn {
	conn, err := a.dial(from, small)
	if err != nil {
		a.count(failureOf(err))
		return nil
	}
	return conn
}

// failureOf names an error of a connection.
func failureOf(err error) string {
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, os.ErrDeadlineExceeded):
		return "no answer yet"
	case errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return "closed"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	default:
		return err.Error()
	}
}

// statusLine reads the status of an answer that has arrived, or says why there is none.
func statusLine(conn net.Conn, wait time.Duration) string {
	_ = conn.SetReadDeadline(time.Now().Add(wait)) // fails if it is closed, and so does the next call
	line := make([]byte, len("HTTP/1.1 200"))
	if _, err := io.ReadFull(conn, line); err != nil {
		return failureOf(err)
	}
	return string(line[len("HTTP/1.1 "):])
}

// slowReaders sends a request on each of n connections, and reads no answer. pathOf returns the requests of a connection,
// which are sent at once.
func slowReaders(n int, oneAddress bool, pathsOf func(a *assault, i int) []string, header ...string) func(*assault) {
	return func(a *assault) {
		conns := make([]net.Conn, n)
		each(n, 64, func(i int) {
			from := a.from(i)
			if oneAddress {
				from = a.from(0)
			}
			conn := a.connect(from, true)
			if conn == nil {
				return
			}
			var text strings.Builder
			for _, path := range pathsOf(a, i) {
				fmt.Fprintf(&text, "GET %s HTTP/1.1\r\nHost: lakes\r\n%s\r\n", path, strings.Join(append(header, ""), "\r\n"))
			}
			_ = conn.SetWriteDeadline(time.Now().Add(5 * time.Second))
			_, _ = io.WriteString(conn, text.String()) // fails if the server has closed it: the status line is missing then
			conns[i] = conn
		})
		time.Sleep(a.hold)
		each(n, n, func(i int) {
			if conn := conns[i]; conn != nil {
				a.count(statusLine(conn, time.Second))
				conn.Close()
			}
		})
	}
}

// one returns paths with the number of the connection for %d.
func one(format string) func(*assault, int) []string {
	return func(_ *assault, i int) []string { return []string{fmt.Sprintf(format, i)} }
}

// sippers are slow readers that read one byte now and then.
func sippers(n int, format string) func(*assault) {
	return func(a *assault) {
		each(n, n, func(i int) {
			conn := a.connect(a.from(i), true)
			if conn == nil {
				return
			}
			defer conn.Close()
			_, _ = fmt.Fprintf(conn, "GET "+format+" HTTP/1.1\r\nHost: lakes\r\n\r\n", i)
			outcome := statusLine(conn, a.hold/2)
			for end := time.Now().Add(a.hold); time.Now().Before(end); time.Sleep(a.hold / 20) {
				_ = conn.SetReadDeadline(time.Now().Add(a.hold / 20))
				if _, err := conn.Read(make([]byte, 1)); err != nil && failureOf(err) != "no answer yet" {
					outcome += ", " + failureOf(err)
					break
				}
			}
			a.count(outcome)
		})
	}
}

// requests sends n requests, some at a time, and reads the answers. pathOf returns the path, and fromOf the client.
func requests(n, atOnce int, pathOf func(a *assault, i int) string, fromOf func(i int) int, header ...string) func(*assault) {
	return func(a *assault) {
		clients := make(map[int]*http.Client)
		for i := range n {
			if f := fromOf(i); clients[f] == nil {
				clients[f] = newClient(a.from(f), atOnce, 0)
			}
		}
		var slowest time.Duration
		var mu sync.Mutex
		each(n, atOnce, func(i int) {
			started := time.Now()
			a.count(a.request(clients[fromOf(i)], pathOf(a, i), header...))
			mu.Lock()
			slowest = max(slowest, time.Since(started))
			mu.Unlock()
		})
		for _, c := range clients {
			c.CloseIdleConnections()
		}
		a.note("slowest %.1f s", slowest.Seconds())
	}
}

// request sends one request, reads the answer and returns its status, or why there is none.
func (a *assault) request(client *http.Client, path string, header ...string) string {
	req, err := http.NewRequest(http.MethodGet, a.Base+path, nil)
	if err != nil {
		return err.Error()
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		return failureOf(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return fmt.Sprintf("%d, body %s", resp.StatusCode, failureOf(err))
	}
	return fmt.Sprint(resp.StatusCode)
}

// ownAddress and oneAddress say which attacker sends request i.
func ownAddress(i int) int { return i }
func oneAddress(int) int   { return 0 }

// connections opens n connections from that many addresses, sends text on each, and keeps them. With again, that is sent
// on each of them from time to time.
func connections(n, addresses int, text, again string) func(*assault) {
	return func(a *assault) {
		conns := make([]net.Conn, n)
		each(n, 64, func(i int) {
			conn := a.connect(a.from(i%addresses), false)
			if conn == nil {
				return
			}
			_, _ = io.WriteString(conn, text) // fails if the server has closed it, as is found later
			conns[i] = conn
		})
		for end := time.Now().Add(a.hold); time.Now().Before(end); time.Sleep(min(time.Second, a.hold/4)) {
			if again == "" {
				continue
			}
			for _, conn := range conns {
				if conn != nil {
					_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
					_, _ = io.WriteString(conn, again)
				}
			}
		}
		each(n, 64, func(i int) {
			conn := conns[i]
			if conn == nil {
				return
			}
			// All that has arrived is read: an open connection has nothing more to read.
			_ = conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
			_, err := io.Copy(io.Discard, conn)
			if err == nil {
				err = io.EOF
			}
			outcome := failureOf(err)
			if outcome == "no answer yet" {
				outcome = "open"
			}
			a.count(outcome)
			conn.Close()
		})
	}
}

// churn opens and closes n connections as fast as possible. With text, that is sent before.
func churn(n int, textOf func(a *assault, i int) string) func(*assault) {
	return func(a *assault) {
		each(n, 32, func(i int) {
			conn := a.connect(a.from(i%250), false)
			if conn == nil {
				return
			}
			_, _ = io.WriteString(conn, textOf(a, i))
			_ = conn.(*net.TCPConn).SetLinger(0) // a reset, as of a client that crashed
			conn.Close()
			a.count("reset by the client")
		})
	}
}

// endless sends a start and then the same text for as long as the server accepts it, on n connections, up to a bound.
func endless(n int, start, text string, bound int) func(*assault) {
	return func(a *assault) {
		each(n, n, func(i int) {
			conn := a.connect(a.from(i), false)
			if conn == nil {
				return
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(patience))
			sent, err := io.WriteString(conn, start)
			piece := strings.Repeat(text, 1+4096/len(text))
			for err == nil && sent < bound {
				var k int
				k, err = io.WriteString(conn, piece)
				sent += k
			}
			if err == nil {
				a.fail("the server accepted %d bytes after %.40q", sent, start)
				a.count("accepted")
				return
			}
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				a.count(failureOf(err))
				return
			}
			resp.Body.Close()
			a.count(fmt.Sprint(resp.StatusCode))
		})
	}
}

// pipelined sends many requests on each of n connections without reading any answer.
func pipelined(n, requests int, path string) func(*assault) {
	return func(a *assault) {
		each(n, n, func(i int) {
			conn := a.connect(a.from(i), true)
			if conn == nil {
				return
			}
			defer conn.Close()
			_ = conn.SetWriteDeadline(time.Now().Add(a.hold))
			_, _ = io.WriteString(conn, strings.Repeat("GET "+path+" HTTP/1.1\r\nHost: lakes\r\n\r\n", requests))
			a.count(statusLine(conn, time.Second))
		})
	}
}
