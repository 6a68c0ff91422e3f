package faulttest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// On Linux each address of 127.0.0.0/8 can be that of a client. The server listens on 127.0.0.1, which counts as the machine itself.
const (
	visitor   = "127.200.0.1"
	neighbour = "127.200.0.2"
	proxy     = "127.9.0.1"
	proxies   = "127.9.0.0/16"
)

// dialFrom opens a connection from that address. With receiveBuffer > 0 the client can receive only little before it reads.
func dialFrom(t testing.TB, s *limnomaptest.Server, source string, receiveBuffer int) net.Conn {
	t.Helper()
	dialer := net.Dialer{Timeout: answerTime, LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}
	if receiveBuffer > 0 {
		dialer.Control = func(_, _ string, conn syscall.RawConn) (err error) {
			controlErr := conn.Control(func(fd uintptr) {
				err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, receiveBuffer)
			})
			return errors.Join(err, controlErr)
		}
	}
	_, address, _ := strings.Cut(s.Base, "://")
	conn, err := dialer.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// clientFrom returns a client with that address, and the number of connections that it has opened.
func clientFrom(t testing.TB, source string, keepAlive bool) (*http.Client, *atomic.Int32) {
	t.Helper()
	dials := new(atomic.Int32)
	dialer := net.Dialer{Timeout: answerTime, LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}
	transport := &http.Transport{
		DisableKeepAlives: !keepAlive,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials.Add(1)
			return dialer.DialContext(ctx, network, addr)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}, dials
}

// wantOK checks that a client gets the health and a tile.
func wantOK(t testing.TB, client *http.Client, base string) {
	t.Helper()
	for _, path := range []string{"/healthz", "/api/v1/tiles/6/33/21.png"} {
		resp, err := client.Get(base + path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s, %v", path, resp.Status, err)
		}
	}
}

// publicConnections returns how many connections the server has on its public listener. They are counted at one time, since one that
// changes its state would count twice.
func publicConnections(t testing.TB, s *limnomaptest.Server) float64 {
	t.Helper()
	var names []string
	for _, state := range []string{"new", "idle", "active"} {
		names = append(names, `limnomap_connections{listener="public",state="`+state+`"}`)
	}
	return s.Sum(t, names...)
}

// wantNoConnections checks that all connections are counted down once their clients are gone.
func wantNoConnections(t testing.TB, s *limnomaptest.Server) {
	t.Helper()
	limnomaptest.Within(t, patience, "no connection is counted", func() bool { return publicConnections(t, s) == 0 })
}

// TestConnectionFloods opens thousands of connections that are half open or idle, from one address and from many, while others use
// the server.
func TestConnectionFloods(t *testing.T) {
	t.Parallel()
	const total = 600
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("tls=%t", secure), func(t *testing.T) {
			t.Parallel()
			args := []string{"--max-connections", fmt.Sprint(total), "--api-rate", "0"}
			if secure {
				cert, key := limnomaptest.Certificate(t)
				args = append(args, "--tls-cert", cert, "--tls-key", key)
			}
			s := start(t, args...)
			goroutines := s.Metric(t, "go_goroutines")
			regular, dials := clientFrom(t, neighbour, true)
			regular.Transport.(*http.Transport).ForceAttemptHTTP2 = secure
			wantOK(t, regular, s.Base)
			newcomer, _ := clientFrom(t, visitor, false)

			var flood []net.Conn
			for i := range 1000 { // an address may have 150
				flood = append(flood, attack(t, s, "127.3.0.1", i, secure))
				if i%100 == 99 {
					wantOK(t, newcomer, s.Base)
				}
			}
			wantOK(t, regular, s.Base)
			if got := dials.Load(); got != 1 {
				t.Errorf("a client that has one connection needed %d, want none of them closed for another address", got)
			}
			if n := publicConnections(t, s); n > total/4+3 {
				t.Errorf("%v connections, want at most a quarter of the total, and a few", n)
			}

			for i := range 2000 {
				flood = append(flood, attack(t, s, fmt.Sprintf("127.4.%d.%d", i%2, 1+i/2%200), i, secure))
				if i%100 == 99 {
					wantOK(t, newcomer, s.Base)
				}
			}
			if n := publicConnections(t, s); n > total {
				t.Errorf("%v connections, want at most %d", n, total)
			}
			closed := 0.0
			for _, reason := range []string{"address", "total"} {
				closed += s.Metric(t, `limnomap_connections_closed_early_total{listener="public",reason="`+reason+`"}`)
			}
			if want := float64(len(flood) - total); closed < want/2 { // timeouts close others
				t.Errorf("%v connections were closed early, want most of %v", closed, want)
			}
			for _, c := range flood {
				c.Close()
			}
			regular.CloseIdleConnections()
			wantNoConnections(t, s)
			limnomaptest.Within(t, patience, "the goroutines have ended", func() bool {
				http.DefaultClient.CloseIdleConnections()
				return s.Metric(t, "go_goroutines") <= goroutines+5
			})
			stopCleanly(t, s)
		})
	}
}

// attack opens a connection that stays half open or idle.
func attack(t testing.TB, s *limnomaptest.Server, source string, i int, secure bool) net.Conn {
	t.Helper()
	conn := dialFrom(t, s, source, 0)
	text := []string{"", "GET / HT", "GET /healthz HTTP/1.1\r\nHost: lakes\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"}[i%4]
	if secure && i%4 > 1 {
		text = "\x16\x03\x01\x02\x00\x01" // the start of a handshake
	}
	_, _ = io.WriteString(conn, text) // fails if the connection is closed already
	return conn
}

// readSlowly reads what c receives, so slowly that answers stay unsent, and so often that c never counts as stalled: a newcomer may have
// the connection of a client that takes no data for two seconds. It returns when c is closed.
func readSlowly(c net.Conn) {
	buffer := make([]byte, 2048)
	for {
		if _, err := c.Read(buffer); err != nil {
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// TestReservedConnections uses all connections that others may have for requests, whose answers are read slowly.
func TestReservedConnections(t *testing.T) {
	t.Parallel()
	const total, reserved = 48, 8
	s := start(t, "--max-connections", fmt.Sprint(total), "--trusted-proxies", proxies, "--api-rate", "0")
	const request = "GET /api/v1/bathing-lakes/status HTTP/1.1\r\nHost: lakes\r\nX-Forwarded-For: 127.0.0.1\r\n\r\n"
	http.DefaultClient.CloseIdleConnections()
	wantNoConnections(t, s) // the one that asked whether the server is ready counts too
	var readers []net.Conn  // and others
	for i := range total - reserved {
		conn := dialFrom(t, s, fmt.Sprintf("127.5.0.%d", 1+i/3), 4096)
		readers = append(readers, conn)
		must(t, conn.SetWriteDeadline(time.Now().Add(answerTime)))
		if _, err := io.WriteString(conn, strings.Repeat(request, 200)); err != nil {
			t.Fatal(err)
		}
		go readSlowly(conn)
	}
	limnomaptest.Within(t, patience, "the server waits for all of them", func() bool {
		return s.Metric(t, `limnomap_connections{listener="public",state="active"}`) == total-reserved
	})
	time.Sleep(100 * time.Millisecond) // the answers that fit into buffers are sent
	limnomaptest.Within(t, patience, "the server waits for all of them", func() bool {
		return s.Metric(t, `limnomap_connections{listener="public",state="active"}`) == total-reserved
	})

	stranger := dialFrom(t, s, visitor, 0)
	must(t, stranger.SetDeadline(time.Now().Add(patience)))
	if n, err := stranger.Read(make([]byte, 1)); n != 0 || err == nil || errors.Is(err, syscall.ETIMEDOUT) {
		t.Errorf("an address beyond the total reads %d bytes, %v, want a closed connection", n, err)
	}
	if got := s.Metric(t, `limnomap_connections_refused_total{listener="public",reason="total"}`); got != 1 {
		t.Errorf("%v connections were refused, want 1", got)
	}
	for _, source := range []string{proxy, "127.0.0.1"} { // a load balancer; limnomap healthcheck
		client, _ := clientFrom(t, source, false)
		for range 20 {
			wantOK(t, client, s.Base)
		}
	}
	_, address, _ := strings.Cut(s.Base, "://")
	if out, err := runCommand(t, "healthcheck", "--listen", address); err != nil {
		t.Errorf("healthcheck: %v, %s", err, out)
	}
	wantAdmin := func() {
		t.Helper()
		if resp, _ := limnomaptest.Get(t, s.Admin+"/healthz"); resp.StatusCode != http.StatusOK {
			t.Errorf("/healthz of the admin listener: %s", resp.Status)
		}
	}
	wantAdmin()
	for i := range 200 { // the admin listener has 64
		_, host, _ := strings.Cut(s.Admin, "://")
		conn, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, conn)
		if i%50 == 49 {
			wantAdmin()
		}
	}
	for _, c := range readers {
		c.Close()
	}
	wantNoConnections(t, s)
	client, _ := clientFrom(t, visitor, false)
	wantOK(t, client, s.Base)
	stopCleanly(t, s)
}

// TestConnectionBoundsAreReloaded changes the bounds of a running server.
func TestConnectionBoundsAreReloaded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := limnomaptest.WriteFile(t, dir, "limnomap.yaml", "serve:\n  max-connections: 100\n")
	s := start(t, "--config", file)
	limnomaptest.WriteFile(t, dir, "limnomap.yaml", "serve:\n  max-connections: 40\n  max-connections-per-address: 5\n")
	must(t, s.Process.Signal(syscall.SIGHUP))
	limnomaptest.Within(t, patience, "the total has changed", func() bool {
		return s.Metric(t, `limnomap_connections_max{listener="public"}`) == 40
	})
	for range 20 {
		defer dialFrom(t, s, visitor, 0).Close()
	}
	limnomaptest.Within(t, patience, "each connection beyond the fifth closes another", func() bool {
		return s.Metric(t, `limnomap_connections_closed_early_total{listener="public",reason="address"}`) == 15
	})
}
