//go:build unix

package faulttest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"limnomap/cmd/limnomap/limnomaptest"
)

// TestGracefulStop stops busy servers with SIGTERM. No request is lost. That no goroutine is left, and what each part of
// the stop does, is tested beside cmd/limnomap/drain.go.
func TestGracefulStop(t *testing.T) {
	// Not parallel: half a request must not take longer than the ReadHeaderTimeout.
	g := &gracefulStopTest{db: newGermanDB(t), paths: heatTiles(8, "")} // few: rendering has a low priority, and a busy machine must draw them all in time
	g.want = newExpectedTiles(t, g.db, g.paths)
	t.Run("RequestsInFlight", g.requestsInFlight)
	t.Run("ClientsKeepAsking", g.clientsKeepAsking)
}

// A gracefulStopTest holds the tiles that its tests share.
type gracefulStopTest struct {
	db    string
	paths []string
	want  expectedTiles
}

// A rawClient sends requests over one connection, in parts.
type rawClient struct {
	net.Conn
	answers *bufio.Reader
}

func connect(t *testing.T, s *limnomaptest.Server) *rawClient {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.Base, "http://"))
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	must(t, conn.SetDeadline(time.Now().Add(patience)))
	return &rawClient{conn, bufio.NewReader(conn)}
}

// begin sends a request without the empty line at its end.
func (c *rawClient) begin(path string) error {
	_, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: limnomap.test\r\n", path)
	return err
}

// end sends the empty line.
func (c *rawClient) end() error {
	_, err := io.WriteString(c, "\r\n")
	return err
}

// answer reads a complete answer, and reports whether the server closes the connection after it.
func (c *rawClient) answer() (got answer, last bool, err error) {
	resp, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		return answer{}, false, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header.Get("ETag"), string(body)}, resp.Close, err
}

// refusesConnections reports whether the server has closed its listener.
func refusesConnections(s *limnomaptest.Server) bool {
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.Base, "http://"))
	if err == nil {
		conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// requestsInFlight stops a server while 200 clients, 25 for each tile, wait for tiles that must be drawn. Half of them
// finish sending their requests only after the server has begun to stop. One more request takes longer than the listener
// stays open. All get their answers, and all tiles are on disk.
func (g *gracefulStopTest) requestsInFlight(t *testing.T) {
	const drain = 3
	dir := t.TempDir()
	const requests = 200
	var paths []string
	for i := range requests {
		paths = append(paths, g.paths[i*len(g.paths)/requests])
	}
	s := start(t, serverFlags(g.db, "--cache-dir", dir, "--drain", fmt.Sprint(drain, "s"))...)

	profile := make(chan error, 1)
	go func() { // ends with the answer
		profile <- awaitCPUProfile(s, drain+2)
	}()
	limnomaptest.Within(t, patience, "the CPU profile runs", func() bool {
		_, goroutines := limnomaptest.Get(t, s.Admin+"/debug/pprof/goroutine?debug=1")
		return bytes.Contains(goroutines, []byte("net/http/pprof.Profile"))
	})
	clients := make([]*rawClient, requests)
	for i, path := range paths {
		c := connect(t, s)
		err := c.begin(path)
		if err == nil && i < requests/2 {
			err = c.end()
		}
		must(t, err)
		clients[i] = c
	}
	// The test does not wait until the server has accepted all connections: the server does so while it drains, and half a
	// request must not take longer than the ReadHeaderTimeout.
	must(t, s.Process.Signal(syscall.SIGTERM))
	limnomaptest.Within(t, patience, "the server has begun to stop", func() bool { return s.StatusOf("/readyz") != http.StatusOK })
	if got := s.StatusOf("/readyz"); got != http.StatusServiceUnavailable {
		t.Errorf("/readyz answers %d while the server drains, want 503", got)
	}
	if got := s.StatusOf(statusPath); got != http.StatusOK {
		t.Errorf("a new request while the server drains is answered with %d, want 200", got)
	}
	for i, c := range clients[requests/2:] {
		if err := c.end(); err != nil {
			t.Errorf("%s: the end of the request: %v", paths[requests/2+i], err)
		}
	}
	limnomaptest.Within(t, patience, "new connections are refused", func() bool { return refusesConnections(s) })
	for i, c := range clients {
		got, last, err := c.answer()
		if err != nil {
			t.Errorf("%s: %v, want an answer", paths[i], err)
			continue
		}
		g.want.matches(t, paths[i], got)
		if i >= requests/2 && !last {
			t.Errorf("%s: the answer does not say that the connection closes", paths[i])
		}
	}
	if err := <-profile; err != nil {
		t.Errorf("the request that takes longer than the drain: %v", err)
	}
	s.AwaitExit(t)
	if got := filesIn(t, dir); len(got.entries) != len(g.paths) || len(got.temps) > 0 {
		t.Errorf("%d tiles are on disk and %d files unfinished, want %d and none", len(got.entries), len(got.temps), len(g.paths))
	}
}

// awaitCPUProfile sends a request that takes the given number of seconds.
func awaitCPUProfile(s *limnomaptest.Server, seconds int) error {
	resp, err := http.Get(fmt.Sprint(s.Admin, "/debug/pprof/profile?seconds=", seconds))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err == nil && (n == 0 || resp.StatusCode != http.StatusOK) {
		err = fmt.Errorf("%s with %d bytes", resp.Status, n)
	}
	return err
}

// clientsKeepAsking stops a server while 200 clients request one cached tile after the other on their connections. The last
// answer on each connection says that it closes, and no connection is closed before that.
func (g *gracefulStopTest) clientsKeepAsking(t *testing.T) {
	const clients = 200
	s := start(t, serverFlags(g.db, "--drain", "2s")...)
	for _, path := range g.paths {
		limnomaptest.Get(t, s.Base+path)
	}
	var group errgroup.Group
	for i := range clients {
		c := connect(t, s)
		group.Go(func() error { // ends with the connection
			for n := i; ; n++ {
				path := g.paths[n%len(g.paths)]
				if err := errors.Join(c.begin(path), c.end()); err != nil {
					return err
				}
				got, last, err := c.answer()
				if err != nil {
					return fmt.Errorf("%s: answer %d of a connection: %w", path, n-i+1, err)
				}
				if !g.want.matches(t, path, got) || last {
					return nil
				}
			}
		})
	}
	limnomaptest.Within(t, patience, "the server has accepted all connections", func() bool { return openConnections(t, s) >= clients })
	s.Stop(t)
	if err := group.Wait(); err != nil {
		t.Errorf("a request was lost: %v", err)
	}
}

// openConnections counts the connections that the server reads requests from. Each of them has a goroutine.
func openConnections(t *testing.T, s *limnomaptest.Server) (n int) {
	t.Helper()
	_, profile := limnomaptest.Get(t, s.Admin+"/debug/pprof/goroutine?debug=1")
	_, stacks, _ := bytes.Cut(profile, []byte("\n")) // each begins with its number of goroutines
	for stack := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		if bytes.Contains(stack, []byte("net/http.(*conn).serve+")) {
			var count int
			if _, err := fmt.Fscan(bytes.NewReader(stack), &count); err != nil {
				t.Fatalf("%v: %s", err, stack)
			}
			n += count
		}
	}
	return n
}

// TestSecondSignalStopsAtOnce sends SIGTERM until the server ends. Only a signal that comes a while after the first one
// counts as a second one.
func TestSecondSignalStopsAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, "--drain", "10m")
	deadline := time.After(patience)
	for {
		_ = s.Process.Signal(syscall.SIGTERM) // fails if the process has ended
		select {
		case <-s.Exited():
			var exit *exec.ExitError
			if err := s.ExitError(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("exit: %v, want code 1", err)
			}
			return
		case <-deadline:
			t.Fatal("a second signal did not end the server")
		case <-time.After(200 * time.Millisecond):
		}
	}
}
