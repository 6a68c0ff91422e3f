//go:build unix && long

package faulttest

import (
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// slowClients are many connections to one server.
type slowClients struct {
	server     *limnomaptest.Server
	conns      []net.Conn
	goroutines float64 // of the server before the clients connected
}

// connectClients opens n connections, and sends text on each at once, because the server waits for a header for a few seconds.
func connectClients(t testing.TB, s *limnomaptest.Server, n int, text string) *slowClients {
	t.Helper()
	wantAnswers(t, s) // so that what the server allocates for its first answers is not counted
	http.DefaultClient.CloseIdleConnections()
	c := &slowClients{server: s, goroutines: s.Metric(t, "go_goroutines")}
	t.Cleanup(c.close)
	for range n {
		conn, err := net.DialTimeout("tcp", s.HostPort(), answerTime)
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
