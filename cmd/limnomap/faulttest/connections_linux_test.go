//go:build long

package faulttest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// On Linux each address of 127.0.0.0/8 can be that of a client. The server listens on 127.0.0.1, which counts as the machine itself.
const (
	visitor = "127.200.0.1"
	proxy   = "127.9.0.1"
	proxies = "127.9.0.0/16"
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
		for range 20 {
			wantOK(t, clientAt(source), s.Base)
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
	wantOK(t, clientAt(visitor), s.Base)
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
