//go:build unix && long

package faulttest

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
	// replicaClients send requests at once, with a pause after each: often enough to meet every step of what is done to the
	// servers, and seldom enough for a machine that also runs the servers.
	replicaClients = 4
	replicaPause   = 4 * time.Millisecond
	// maxResults limits how many results are kept until they are judged.
	maxResults = 1 << 20
)

// A query is a request that the load repeats.
type query struct{ path, encoding string }

// A result is what came of one query.
type result struct {
	query
	sent, received time.Time
	status         int // 0: no complete answer
	content        content
	err            error
}

// content identifies the content of an answer.
type content struct {
	etag string
	body [sha256.Size]byte // zero for a 304, whose body the client already has
}

// send sends the query. With an ETag the request is conditional.
func (q query) send(ctx context.Context, client *http.Client, base, etag string) (r result) {
	r.query, r.sent = q, time.Now()
	defer func() { r.received = time.Now() }()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+q.path, nil)
	if err != nil {
		r.err = err
		return r
	}
	req.Header.Set("Accept-Encoding", q.encoding)
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	resp, err := client.Do(req)
	if err != nil {
		r.err = err
		return r
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		r.err = err
		return r
	}
	r.status, r.content.etag = resp.StatusCode, resp.Header.Get("ETag")
	if r.status == http.StatusOK {
		r.content.body = sha256.Sum256(body)
	} else if r.status != http.StatusNotModified {
		r.err = fmt.Errorf("%.200s", body)
	}
	return r
}

// rawBodyClient returns a client that does not decompress answers.
func rawBodyClient(t testing.TB) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: replicaClients, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// replicaLoad sends queries to one address until it is stopped.
type replicaLoad struct {
	queries []query

	mu      sync.Mutex
	results []result // guarded by mu
}

// run sends queries until ctx ends, some of them with the ETag of the last answer.
func (l *replicaLoad) run(ctx context.Context, t testing.TB, base string) {
	var clients sync.WaitGroup
	for i := range replicaClients {
		client, random := rawBodyClient(t), rand.New(rand.NewPCG(uint64(i), 9220))
		clients.Go(func() {
			etags := make(map[query]string)
			for ctx.Err() == nil {
				q, etag := l.queries[random.IntN(len(l.queries))], ""
				if random.IntN(3) == 0 {
					etag = etags[q]
				}
				r := q.send(ctx, client, base, etag)
				if ctx.Err() != nil {
					return // the end of ctx may have cut off the answer
				}
				if r.status == http.StatusOK {
					etags[q] = r.content.etag
				}
				l.mu.Lock()
				if len(l.results) < maxResults {
					l.results = append(l.results, r)
				}
				l.mu.Unlock()
				time.Sleep(replicaPause)
			}
		})
	}
	clients.Wait()
}

// take returns the results since the last call.
func (l *replicaLoad) take() []result {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.results
	l.results = nil
	return taken
}

// A revision is one state of the data, with the answers of a single server.
type revision struct {
	importStarted time.Time // no answer received before can be of this revision
	shownByAll    time.Time // no query sent later may have an answer of the previous revision
	answers       map[query]content
}

// revisions are all states of the data so far. They tell which answers are right at which time.
type revisions []revision

// right reports whether r is an answer of a revision that it may belong to.
func (rs revisions) right(r result) bool {
	for i, revision := range rs {
		if r.received.Before(revision.importStarted) || i+1 < len(rs) && r.sent.After(rs[i+1].shownByAll) {
			continue
		}
		want, known := revision.answers[r.query]
		if !known {
			continue
		}
		if r.status == http.StatusNotModified && r.content.etag == want.etag || r.status == http.StatusOK && r.content == want {
			return true
		}
	}
	return false
}

// counts are the numbers of results of one stage.
type counts struct {
	requests, notModified, wrong int
	failed                       int // answered with a status other than 200 and 304
	cut                          int // without a complete answer
}

// judge counts the results. It fails the test for each wrong or failed answer, and if more than mayCut answers were cut.
func (rs revisions) judge(t testing.TB, stage string, results []result, mayCut int) (c counts) {
	t.Helper()
	complain := func(r result, what string) {
		if c.wrong+c.failed+c.cut <= 5 { // a few messages are enough
			t.Errorf("%s: %s %s (%s), sent %s, received %s: %d, ETag %s, %v", stage, what, r.path, r.encoding,
				r.sent.Format("05.000"), r.received.Format("05.000"), r.status, r.content.etag, r.err)
		}
	}
	for _, r := range results {
		c.requests++
		switch {
		case r.status == 0:
			if c.cut++; c.cut > mayCut {
				complain(r, "cut:")
			}
		case r.status != http.StatusOK && r.status != http.StatusNotModified:
			c.failed++
			complain(r, "failed:")
		case !rs.right(r):
			c.wrong++
			complain(r, "wrong:")
		case r.status == http.StatusNotModified:
			c.notModified++
		}
	}
	return c
}

func (c counts) String() string {
	return strings.Join([]string{
		fmt.Sprintf("%7d requests", c.requests), fmt.Sprintf("%6d of them 304", c.notModified),
		fmt.Sprintf("%d wrong", c.wrong), fmt.Sprintf("%d failed", c.failed), fmt.Sprintf("%d cut by a kill", c.cut),
	}, ", ")
}
