//go:build unix

package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// topologyClients ask at once, each so often at most: enough to meet every moment of what is done to the servers, and
	// little enough for a machine that does all of it.
	topologyClients = 4
	topologyPause   = 4 * time.Millisecond
	// maxOutcomes bounds what is kept until it can be judged.
	maxOutcomes = 1 << 20
)

// An inquiry is what the load asks for, again and again.
type inquiry struct{ path, encoding string }

// An outcome is what came of one inquiry.
type outcome struct {
	inquiry
	sent, came time.Time
	status     int // 0: no whole answer
	seen       seen
	err        error
}

// seen is what tells an answer from another one.
type seen struct {
	etag string
	body [sha256.Size]byte // zero for a 304, whose body the client had
}

// look asks once. A tag asks whether that version is still the right one.
func (q inquiry) look(ctx context.Context, client *http.Client, base, tag string) (s outcome) {
	s.inquiry, s.sent = q, time.Now()
	defer func() { s.came = time.Now() }()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+q.path, nil)
	if err != nil {
		s.err = err
		return s
	}
	req.Header.Set("Accept-Encoding", q.encoding)
	if tag != "" {
		req.Header.Set("If-None-Match", tag)
	}
	resp, err := client.Do(req)
	if err != nil {
		s.err = err
		return s
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.err = err
		return s
	}
	s.status, s.seen.etag = resp.StatusCode, resp.Header.Get("ETag")
	if s.status == http.StatusOK {
		s.seen.body = sha256.Sum256(body)
	} else if s.status != http.StatusNotModified {
		s.err = fmt.Errorf("%.200s", body)
	}
	return s
}

// plainClient returns a client that takes answers as they come, compressed or not.
func plainClient(t testing.TB) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: topologyClients, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: time.Minute}
}

// A load asks questions of one address until it is stopped.
type load struct {
	inquiries []inquiry

	mu       sync.Mutex
	outcomes []outcome // guarded by mu
}

// run asks until ctx ends, some questions with the tag that was seen last.
func (l *load) run(ctx context.Context, t testing.TB, base string) {
	var clients sync.WaitGroup
	for i := range topologyClients {
		client, random := plainClient(t), rand.New(rand.NewPCG(uint64(i), 9220))
		clients.Go(func() {
			tags := make(map[inquiry]string)
			for ctx.Err() == nil {
				q, tag := l.inquiries[random.IntN(len(l.inquiries))], ""
				if random.IntN(3) == 0 {
					tag = tags[q]
				}
				s := q.look(ctx, client, base, tag)
				if ctx.Err() != nil {
					return // it was this that ended it
				}
				if s.status == http.StatusOK {
					tags[q] = s.seen.etag
				}
				l.mu.Lock()
				if len(l.outcomes) < maxOutcomes {
					l.outcomes = append(l.outcomes, s)
				}
				l.mu.Unlock()
				time.Sleep(topologyPause)
			}
		})
	}
	clients.Wait()
}

// take returns what was seen since the last call.
func (l *load) take() []outcome {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.outcomes
	l.outcomes = nil
	return taken
}

// A revision is one state of the data, with what a single server answers for it.
type revision struct {
	begun  time.Time // the import; no answer from before can be of it
	seen   time.Time // by all servers; no answer to a question sent later may be of the one before
	answer map[inquiry]seen
}

// A history of revisions tells which answers were right when.
type revisions []revision

// right reports whether s is an answer of a revision that it may be of.
func (rs revisions) right(s outcome) bool {
	for i, r := range rs {
		if s.came.Before(r.begun) || i+1 < len(rs) && s.sent.After(rs[i+1].seen) {
			continue
		}
		want, known := r.answer[s.inquiry]
		if !known {
			continue
		}
		if s.status == http.StatusNotModified && s.seen.etag == want.etag || s.status == http.StatusOK && s.seen == want {
			return true
		}
	}
	return false
}

// counts are those of one stage.
type counts struct {
	requests, unmodified, wrong int
	failed                      int // answered by a status that is none of success
	cut                         int // not answered, or not to the end
}

// judge counts what was seen, and fails for each answer that is wrong or failed, and for each that was cut beyond so
// many that the stage may cut.
func (rs revisions) judge(t testing.TB, stage string, outcomes []outcome, mayCut int) (c counts) {
	t.Helper()
	complain := func(s outcome, what string) {
		if c.wrong+c.failed+c.cut <= 5 { // more would say no more
			t.Errorf("%s: %s %s (%s), sent %s, came %s: %d, ETag %s, %v", stage, what, s.path, s.encoding,
				s.sent.Format("05.000"), s.came.Format("05.000"), s.status, s.seen.etag, s.err)
		}
	}
	for _, s := range outcomes {
		c.requests++
		switch {
		case s.status == 0:
			if c.cut++; c.cut > mayCut {
				complain(s, "cut:")
			}
		case s.status != http.StatusOK && s.status != http.StatusNotModified:
			c.failed++
			complain(s, "failed:")
		case !rs.right(s):
			c.wrong++
			complain(s, "wrong:")
		case s.status == http.StatusNotModified:
			c.unmodified++
		}
	}
	return c
}

func (c counts) String() string {
	return strings.Join([]string{
		fmt.Sprintf("%7d requests", c.requests), fmt.Sprintf("%6d of them 304", c.unmodified),
		fmt.Sprintf("%d wrong", c.wrong), fmt.Sprintf("%d failed", c.failed), fmt.Sprintf("%d cut by a kill", c.cut),
	}, ", ")
}

// What the load is judged by: an answer is right while its revision may be shown, and no longer.
func TestRevisionsRight(t *testing.T) {
	start := time.Now()
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	q := inquiry{path: "/a"}
	old, fresh, other := seen{etag: `"1"`, body: [32]byte{1}}, seen{etag: `"2"`, body: [32]byte{2}}, seen{etag: `"1"`, body: [32]byte{3}}
	rs := revisions{{answer: map[inquiry]seen{q: old}}, {begun: at(10), seen: at(12), answer: map[inquiry]seen{q: fresh}}}
	for _, tt := range []struct {
		name       string
		sent, came int
		status     int
		seen       seen
		want       bool
	}{
		{"the first", 1, 2, 200, old, true},
		{"the next, before its import", 1, 2, 200, fresh, false},
		{"the first, during the import", 11, 11, 200, old, true},
		{"the next, during the import", 9, 11, 200, fresh, true},
		{"the first, asked for before all had seen the next", 12, 14, 200, old, true},
		{"the first, asked for later", 13, 14, 200, old, false},
		{"the next", 13, 14, 200, fresh, true},
		{"other bytes under the same tag", 1, 2, 200, other, false},
		{"not modified", 13, 14, 304, seen{etag: fresh.etag}, true},
		{"not modified, but it is", 13, 14, 304, seen{etag: old.etag}, false},
		{"an error", 13, 14, 503, fresh, false},
	} {
		s := outcome{inquiry: q, sent: at(tt.sent), came: at(tt.came), status: tt.status, seen: tt.seen}
		if got := rs.right(s); got != tt.want {
			t.Errorf("%s is right: %t, want %t", tt.name, got, tt.want)
		}
	}
	if (revisions{rs[0]}).right(outcome{inquiry: inquiry{path: "/b"}, status: http.StatusOK}) {
		t.Error("an answer to what nobody knows the answer of is right")
	}
}
