package store

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/snapshot"
)

// A hangingProxy forwards connections to a PostgreSQL until it is told to hang: then it holds back all bytes that the server
// sends, and keeps the connections open.
type hangingProxy struct {
	address string
	mu      sync.Mutex
	hung    bool
	passed  int // bytes that the server sent
	hangAt  int // it hangs after that many; 0: never
	free    *sync.Cond
}

func newHangingProxy(t *testing.T, dsn string) (*hangingProxy, string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &hangingProxy{address: listener.Addr().String()}
	p.free = sync.NewCond(&p.mu)
	var group sync.WaitGroup
	to := u.Host
	group.Go(func() { // ends when the listener is closed
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			group.Go(func() { _, _ = io.Copy(out, in); out.Close() }) // both end with either connection
			group.Go(func() { _, _ = io.Copy(p.gate(in), out); in.Close() })
		}
	})
	t.Cleanup(func() {
		p.hang(false)
		listener.Close()
		group.Wait()
	})
	u.Host = p.address
	return p, u.String()
}

// gate returns a writer to w that hangs while p does.
func (p *hangingProxy) gate(w io.Writer) io.Writer { return gate{p, w} }

type gate struct {
	p *hangingProxy
	w io.Writer
}

func (g gate) Write(b []byte) (int, error) {
	g.p.mu.Lock()
	g.p.passed += len(b)
	if g.p.hangAt > 0 && g.p.passed >= g.p.hangAt {
		g.p.hung, g.p.hangAt = true, 0
	}
	for g.p.hung {
		g.p.free.Wait()
	}
	g.p.mu.Unlock()
	return g.w.Write(b)
}

func (p *hangingProxy) hang(hung bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hung = hung
	p.free.Broadcast()
}

// hangAfter makes it hang in the middle of the answers that follow.
func (p *hangingProxy) hangAfter(bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hangAt = p.passed + bytes
}

// A scan whose server stops in the middle of its answer ends with an error, and the next one succeeds.
func TestPostgresHangsDuringAScan(t *testing.T) {
	t.Parallel()
	dsn := newDatabase(t)
	var lakes []data.Lake
	for i := range 5000 {
		lakes = append(lakes, testLake(fmt.Sprintf("lake_%04d", i)))
	}
	put(t, &openURL(t, dsn, true).Store, lakes, nil)
	proxy, through := newHangingProxy(t, dsn)
	s := openURL(t, through, false)
	s.stallTimeout = 300 * time.Millisecond
	if _, err := s.Revision(t.Context()); err != nil {
		t.Fatal(err)
	}
	proxy.hangAfter(100_000)
	_, err := snapshot.Load(t.Context(), s, nil)
	if err == nil || !strings.Contains(err.Error(), "the server does not send the rest") {
		t.Errorf("Load = %v, want that the server does not send the rest", err)
	}
	proxy.hang(false)
	s.stallTimeout = time.Minute // on a busy machine nothing may come for longer than before
	snap, err := snapshot.Load(t.Context(), s, nil)
	if err != nil || len(snap.Lakes) != len(lakes) {
		t.Errorf("after that Load = %v, want all lakes", err)
	}
}

// A server that accepts connections and never answers delays the start by the connect timeout at most, and is used once it
// answers.
func TestPostgresHangsAtTheStart(t *testing.T) {
	t.Parallel()
	dsn := newDatabase(t)
	put(t, &openURL(t, dsn, true).Store, []data.Lake{testLake("a")}, nil)
	proxy, through := newHangingProxy(t, dsn)
	proxy.hang(true)
	s := openURL(t, through+"&connect_timeout=1", false)
	proxy.hang(false)
	if _, lakes, _ := scan(t, &s.Store); len(lakes) != 1 {
		t.Errorf("once the server answers it holds %v", lakes)
	}
}

// A listener whose server hangs connects again.
func TestPostgresHangsWhileListening(t *testing.T) {
	t.Parallel()
	dsn := newDatabase(t)
	importer := openURL(t, dsn, true)
	put(t, &importer.Store, []data.Lake{testLake("a")}, nil)
	proxy, through := newHangingProxy(t, dsn)
	s := openURL(t, through, false)
	s.listenPing, s.listenTimeout = 100*time.Millisecond, 200*time.Millisecond
	wake := make(chan struct{}, 1)
	var group sync.WaitGroup
	defer group.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	group.Go(func() { s.Listen(ctx, wake) })
	awaken := func(when string) {
		t.Helper()
		select {
		case <-wake:
		case <-time.After(time.Minute):
			t.Fatalf("%s: not woken in a minute", when)
		}
	}
	awaken("at the start")
	proxy.hang(true)
	time.Sleep(500 * time.Millisecond) // it notices meanwhile, or later
	proxy.hang(false)
	awaken("with a new connection")
	put(t, &importer.Store, []data.Lake{testLake("b")}, nil)
	awaken("by an import")
}
