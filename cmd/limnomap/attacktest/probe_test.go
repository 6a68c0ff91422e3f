//go:build linux

package attacktest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"
	"time"
)

// probeVariable tells the binary of these tests to be the probe: a process of its own, so that the work of the attackers in
// this one does not count as time of the server.
const probeVariable = "ATTACKTEST_PROBE"

// A probeTask tells the probe what to request: the first line that it reads.
type probeTask struct {
	Base   string
	From   string            // address of the client
	Every  time.Duration     // between requests
	Digest map[string]string // SHA-256 of each body, by path
}

// askReport is the further line that the probe reads: it writes a line with a probeReport.
const askReport = "report"

// probeIdleTime is how long the probe keeps a connection that it does not use: a busy server makes it open more of them, and they must not
// count as what an attack leaves.
const probeIdleTime = 500 * time.Millisecond

// A probeReport is what the probe has seen since its last report.
type probeReport struct {
	Took          []time.Duration // of each request, the shortest first
	P50, P99, Max time.Duration
	Failed        map[string]int // requests without a 200, by status or error
	Wrong         []string       // paths of answers with other bytes
}

// failed returns the number of requests without an answer of status 200.
func (r probeReport) failed() (n int) {
	for _, count := range r.Failed {
		n += count
	}
	return n
}

// runProbe is the probe.
func runProbe(in io.Reader, out io.Writer) (exitCode int) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	var task probeTask
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &task) != nil {
		fmt.Fprintln(os.Stderr, "probe: no task")
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &probe{task: task, client: newClient(task.From, 16, probeIdleTime)}
	var running sync.WaitGroup
	running.Go(func() { p.run(ctx) }) // ends with ctx
	defer running.Wait()
	defer cancel()
	for lines.Scan() {
		text, err := json.Marshal(p.report())
		if err == nil {
			_, err = fmt.Fprintf(out, "%s\n", text)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "probe:", err)
			return 1
		}
	}
	return 0
}

// A probe requests one tile after the other at a steady rate, whether or not earlier requests are answered.
type probe struct {
	task   probeTask
	client *http.Client

	mu   sync.Mutex
	took []time.Duration // guarded by mu
	seen probeReport     // guarded by mu
}

// newClient returns a client with an address of its own. It keeps unused connections for that time; 0 is without end.
func newClient(from string, connections int, idle time.Duration) *http.Client {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 10 * time.Second}
	return &http.Client{
		Timeout: 20 * time.Second,
		Transport: &http.Transport{
			DialContext: dialer.DialContext, MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections, IdleConnTimeout: idle,
			DisableCompression: true,
		},
	}
}

func (p *probe) run(ctx context.Context) {
	var pending sync.WaitGroup
	defer pending.Wait()
	paths := make([]string, 0, len(p.task.Digest))
	for path := range p.task.Digest {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	ticker := time.NewTicker(p.task.Every)
	defer ticker.Stop()
	for i := 0; ; i++ {
		select {
		case due := <-ticker.C:
			path := paths[i%len(paths)]
			pending.Go(func() { p.request(path, due) }) // ends with the client's timeout at the latest
		case <-ctx.Done():
			return
		}
	}
}

// request requests a path. Its time counts from when it was due.
func (p *probe) request(path string, due time.Time) {
	failure, wrong := "", false
	resp, err := p.client.Get(p.task.Base + path)
	if err == nil {
		var body []byte
		body, err = io.ReadAll(resp.Body)
		resp.Body.Close()
		if err == nil && resp.StatusCode != http.StatusOK {
			failure = resp.Status
		}
		wrong = err == nil && failure == "" && digest(body) != p.task.Digest[path]
	}
	if err != nil {
		failure = err.Error()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.took = append(p.took, time.Since(due))
	if wrong {
		p.seen.Wrong = append(p.seen.Wrong, path)
	}
	if failure != "" {
		if p.seen.Failed == nil {
			p.seen.Failed = make(map[string]int)
		}
		p.seen.Failed[failure]++
	}
}

func (p *probe) report() probeReport {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.seen
	r.add(p.took)
	p.took, p.seen = nil, probeReport{}
	return r
}

// add adds the times of more requests.
func (r *probeReport) add(took []time.Duration) {
	r.Took = append(r.Took, took...)
	if slices.Sort(r.Took); len(r.Took) > 0 {
		r.P50, r.P99, r.Max = r.Took[len(r.Took)/2], r.Took[len(r.Took)*99/100], r.Took[len(r.Took)-1]
	}
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// A probeProcess is the probe as this process sees it.
type probeProcess struct {
	stdin  io.Writer
	stdout *bufio.Scanner
}

// startProbe starts the probe, which requests tiles that it has had drawn before.
func startProbe(t *testing.T, s *target) *probeProcess {
	t.Helper()
	task := probeTask{Base: s.Base, From: "127.0.0.2", Every: size(20*time.Millisecond, 25*time.Millisecond), Digest: make(map[string]string)}
	client := newClient("127.0.0.2", 1, 0)
	defer client.CloseIdleConnections()
	for _, path := range s.tiles(16, 1, 3, 9, ".png") {
		resp, err := client.Get(s.Base + path)
		must(t, err)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || !bytes.HasPrefix(body, []byte("\x89PNG")) {
			t.Fatalf("%s: %s, %v", path, resp.Status, err)
		}
		task.Digest[path] = digest(body)
	}
	in, out := startSelf(t, probeVariable)
	p := &probeProcess{stdin: in, stdout: bufio.NewScanner(out)}
	p.stdout.Buffer(nil, 1<<24)
	text, err := json.Marshal(task)
	must(t, err)
	_, err = fmt.Fprintf(in, "%s\n", text)
	must(t, err)
	return p
}

// report returns what the probe has seen since the last report.
func (p *probeProcess) report(t *testing.T) (r probeReport) {
	t.Helper()
	_, err := fmt.Fprintln(p.stdin, askReport)
	must(t, err)
	if !p.stdout.Scan() {
		t.Fatalf("the probe does not answer: %v", p.stdout.Err())
	}
	must(t, json.Unmarshal(p.stdout.Bytes(), &r))
	return r
}
