//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A caller is a client of one connection, which can stop in the midst of a request.
type caller struct {
	net.Conn
	answers *bufio.Reader
}

func (p *process) call(t *testing.T) *caller {
	t.Helper()
	conn, err := net.Dial("tcp", p.address())
	if err == nil {
		t.Cleanup(func() { conn.Close() })
		err = conn.SetDeadline(time.Now().Add(time.Minute))
	}
	if err != nil {
		t.Fatal(err)
	}
	return &caller{conn, bufio.NewReader(conn)}
}

func (p *process) address() string { return strings.TrimPrefix(p.base, "http://") }

// begin sends a request but for its end, and end what is missing.
func (c *caller) begin(path string) error {
	_, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: limnomap.test\r\n", path)
	return err
}

func (c *caller) end() error {
	_, err := io.WriteString(c, "\r\n")
	return err
}

// answer reads an answer, which must come whole, and reports whether it is the last one of the connection.
func (c *caller) answer() (got answer, last bool, err error) {
	resp, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		return answer{}, false, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header.Get("ETag"), string(body)}, resp.Close, err
}

// connections counts the connections that p answers, each of which has a goroutine.
func (p *process) connections(t *testing.T) (n int) {
	t.Helper()
	_, profile := limnomaptest.Get(t, p.admin+"/debug/pprof/goroutine?debug=1")
	_, blocks, _ := bytes.Cut(profile, []byte("\n")) // each of goroutines with the same stack
	for block := range bytes.SplitSeq(blocks, []byte("\n\n")) {
		if bytes.Contains(block, []byte("net/http.(*conn).serve+")) {
			var same int
			if _, err := fmt.Fscan(bytes.NewReader(block), &same); err != nil {
				t.Fatalf("%v: %s", err, block)
			}
			n += same
		}
	}
	return n
}

// refuses reports whether nothing listens any more where p did.
func (p *process) refuses() bool {
	conn, err := net.Dial("tcp", p.address())
	if err == nil {
		conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// TestFaultSIGTERM ends servers in the usual way while they are busy. No request is lost.
func TestFaultSIGTERM(t *testing.T) {
	g := &ground{db: faultDB(t), paths: heatTiles(200, "")} // small, so that a busy machine draws them all before the first gives up
	g.want = newTruth(t, g.db, g.paths)
	t.Run("With200RequestsInFlight", g.sigtermInFlight)
	t.Run("With200ClientsUnderLoad", g.sigtermUnderLoad)
}

// sigtermInFlight ends a server that 200 clients have begun to ask for tiles that are yet to be
// drawn. Half of them end their requests only when the server has begun to stop. Each gets its tile, and each tile is
// on disk.
func (g *ground) sigtermInFlight(t *testing.T) {
	dir, paths, requests := t.TempDir(), g.paths, len(g.paths)
	p := startReady(t, faultFlags(g.db, "--cache-dir", dir, "--drain", "2s")...)
	callers := make([]*caller, requests)
	for i, path := range paths {
		c := p.call(t)
		err := c.begin(path)
		if err == nil && i < requests/2 {
			err = c.end()
		}
		if err != nil {
			t.Fatal(err)
		}
		callers[i] = c
	}
	// Nobody waits until the server has accepted them all, which it does while it drains: half a request may take no longer
	// than the ReadHeaderTimeout, whatever else the machine does.
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	limnomaptest.Within(t, 4*time.Second, "the server has begun to stop", func() bool {
		return statusOf(p.base+"/readyz") == http.StatusServiceUnavailable
	})
	for i, c := range callers[requests/2:] {
		if err := c.end(); err != nil {
			t.Errorf("%s: the end of the request: %v", paths[requests/2+i], err)
		}
	}
	limnomaptest.Within(t, 10*time.Second, "new connections are refused", p.refuses)
	for i, c := range callers {
		got, last, err := c.answer()
		if err != nil {
			t.Errorf("%s: %v, want an answer", paths[i], err)
			continue
		}
		g.want.is(t, paths[i], got)
		if i >= requests/2 && !last {
			t.Errorf("%s: the answer does not say that the connection closes", paths[i])
		}
	}
	if err := p.Wait(); err != nil {
		t.Errorf("exit: %v, want 0\n%s", err, p.log)
	}
	if got := filesIn(t, dir); len(got.entries) != requests || len(got.temps) > 0 {
		t.Errorf("%d tiles are on disk and %d files unfinished, want %d and none", len(got.entries), len(got.temps), requests)
	}
}

// sigtermUnderLoad ends a server whose 200 clients ask for one tile after the other on their connections. Each
// is told in an answer that its connection closes, and none finds it closed before.
func (g *ground) sigtermUnderLoad(t *testing.T) {
	const clients = 200
	paths := g.few()
	p := startReady(t, faultFlags(g.db, "--drain", "2s")...)
	var group errgroup.Group
	for i := range clients {
		c := p.call(t)
		group.Go(func() error { // ends with the connection
			for n := i; ; n++ {
				path := paths[n%len(paths)]
				if err := errors.Join(c.begin(path), c.end()); err != nil {
					return err
				}
				got, last, err := c.answer()
				if err != nil {
					return fmt.Errorf("%s: answer %d of a connection: %w", path, n-i+1, err)
				}
				if !g.want.is(t, path, got) || last {
					return nil
				}
			}
		})
	}
	limnomaptest.Within(t, 10*time.Second, "the server has accepted them all", func() bool { return p.connections(t) >= clients })
	p.stop(t)
	if err := group.Wait(); err != nil {
		t.Errorf("a request was lost: %v", err)
	}
}

// TestFaultGoroutinesLeftAfterShutdown runs a whole server in this process, with every listener and tier, and ends it
// while clients ask. None of its goroutines outlives it.
func TestFaultGoroutinesLeftAfterShutdown(t *testing.T) {
	db := faultDB(t)
	before := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := new(limnomaptest.Log)
	ended := make(chan error, 1)
	go func() { // ends with cancel
		ended <- run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"},
			faultFlags(db, "--cache-dir", filepath.Join(t.TempDir(), "tiles"))...), io.Discard, log)
	}()
	var base, admin string
	limnomaptest.Within(t, 20*time.Second, "serve logs its addresses", func() bool {
		open, url := openAddress.FindStringSubmatch(log.String()), adminAddress.FindStringSubmatch(log.String())
		if open == nil || url == nil {
			return false
		}
		base, admin = open[1], url[1]
		return true
	})
	client := newClient(t)
	limnomaptest.Within(t, 20*time.Second, "ready", func() bool {
		got, err := wholeAnswer(client, base+"/readyz")
		return err == nil && got.status == http.StatusOK
	})
	urls := []string{admin + "/metrics", admin + "/debug/pprof/goroutine", base + "/", base + "/api/v1/legend.png"}
	for _, path := range []string{"status", "geojson", "status?risk=high", "history/de_000"} {
		urls = append(urls, base+"/api/v1/bathing-lakes/"+path)
	}
	for _, path := range heatTiles(50, "", "@2x") {
		urls = append(urls, base+path)
	}
	var asking errgroup.Group
	var once sync.Once
	for range faultClients {
		asking.Go(func() error { // ends with the server
			for i := 0; ; i = (i + 1) % len(urls) {
				got, err := wholeAnswer(client, urls[i])
				if err != nil {
					return nil
				}
				if got.status != http.StatusOK {
					t.Errorf("%s: %v", urls[i], got)
					return nil
				}
				if i == len(urls)-1 {
					once.Do(cancel)
				}
			}
		})
	}
	if err := <-ended; err != nil {
		t.Errorf("serve = %v\n%s", err, log)
	}
	if err := asking.Wait(); err != nil {
		t.Error(err)
	}
	client.CloseIdleConnections()
	goleak.VerifyNone(t, before)
}
