//go:build linux

package attacktest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// probeIdleTime is how long the probe keeps a connection that it does not use: a busy server makes it open more of them, and they must not
// count as what an attack leaves.
const probeIdleTime = 500 * time.Millisecond

// A probe requests one cached tile after the other at a steady rate, whether or not earlier requests are answered.
type probe struct {
	base    string
	client  *http.Client
	digests map[string]string // of each body, by path

	mu   sync.Mutex
	seen probeReport // guarded by mu
}

// A probeReport is what the probe has seen since its last report.
type probeReport struct {
	requests int
	failed   map[string]int // requests without a 200, by status or error
	wrong    []string       // paths of answers with other bytes
}

// failures returns the number of requests without an answer of status 200.
func (r probeReport) failures() (n int) {
	for _, count := range r.failed {
		n += count
	}
	return n
}

// startProbe starts a probe that requests tiles which it has had drawn before. It ends with the test.
func startProbe(t *testing.T, s *target) *probe {
	t.Helper()
	p := &probe{base: s.Base, client: newClient("127.0.0.2", 16, probeIdleTime), digests: make(map[string]string)}
	paths := s.tiles(16, 1, 3, 9, ".png")
	for _, path := range paths {
		resp, err := p.client.Get(s.Base + path)
		must(t, err)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || !bytes.HasPrefix(body, []byte("\x89PNG")) {
			t.Fatalf("%s: %s, %v", path, resp.Status, err)
		}
		p.digests[path] = digest(body)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { p.run(ctx, paths) }) // ends with ctx
	t.Cleanup(func() {
		cancel()
		running.Wait()
		p.client.CloseIdleConnections()
	})
	return p
}

// newClient returns a client with an address of its own. It keeps unused connections for that time; 0 is without end.
func newClient(from string, connections int, idle time.Duration) *http.Client {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 10 * time.Second}
	return &http.Client{
		Timeout: patience,
		Transport: &http.Transport{
			DialContext: dialer.DialContext, MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections, IdleConnTimeout: idle,
			DisableCompression: true,
		},
	}
}

func (p *probe) run(ctx context.Context, paths []string) {
	var pending sync.WaitGroup
	defer pending.Wait()
	ticker := time.NewTicker(25 * time.Millisecond)
	defer ticker.Stop()
	for i := 0; ; i++ {
		select {
		case <-ticker.C:
			path := paths[i%len(paths)]
			pending.Go(func() { p.request(path) }) // ends with the client's timeout at the latest
		case <-ctx.Done():
			return
		}
	}
}

func (p *probe) request(path string) {
	failure, wrong := "", false
	resp, err := p.client.Get(p.base + path)
	if err == nil {
		var body []byte
		body, err = io.ReadAll(resp.Body)
		resp.Body.Close()
		if err == nil && resp.StatusCode != http.StatusOK {
			failure = resp.Status
		}
		wrong = err == nil && failure == "" && digest(body) != p.digests[path]
	}
	if err != nil {
		failure = err.Error()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen.requests++
	if wrong {
		p.seen.wrong = append(p.seen.wrong, path)
	}
	if failure != "" {
		if p.seen.failed == nil {
			p.seen.failed = make(map[string]int)
		}
		p.seen.failed[failure]++
	}
}

// report returns what the probe has seen since the last report.
func (p *probe) report() probeReport {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.seen
	p.seen = probeReport{}
	return r
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}
