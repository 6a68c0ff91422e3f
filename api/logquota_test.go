package api

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestLogQuota(t *testing.T) {
	c := newClock()
	l, lines := jsonLog(t, slog.LevelInfo)
	h := logRequests(l, c.now, 2)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, _ := strconv.Atoi(r.URL.Path[1:])
		w.WriteHeader(status)
	}))
	ask := func(statuses ...int) {
		for _, status := range statuses {
			serve(t, h, httptest.NewRequest("GET", fmt.Sprintf("/%d", status), nil))
		}
	}
	ask(200, 304, 200, 200) // two too many
	ask(404, 500, 429, 503) // each kind has a quota of its own
	ask(404)                // one too many
	c.pass(time.Second)
	ask(200, 200, 404, 500)
	c.pass(time.Hour)
	ask(200)

	var got []string
	for _, line := range lines() {
		got = append(got, fmt.Sprint(line["status"], " ", line["left_out"]))
	}
	want := []string{
		"200 <nil>", "304 <nil>", "404 <nil>", "500 <nil>", "429 <nil>", "503 <nil>",
		"200 2", "200 <nil>", "404 1", "500 <nil>",
		"200 <nil>",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("status and left_out of the lines:\n%q, want\n%q", got, want)
	}
}

// Whatever comes when, no second has more lines than it may, and a line that is not written is counted in a later one.
func TestLogQuotaCountsEveryLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClock()
		q := &logQuota{start: c.now()}
		q.perSecond.Store(int64(rapid.IntRange(1, 5).Draw(t, "per second")))
		written, counted := map[int64]int64{}, int64(0)
		steps := rapid.SliceOf(rapid.IntRange(0, 900)).Draw(t, "ms between requests")
		for _, ms := range steps {
			c.pass(time.Duration(ms) * time.Millisecond)
			if ok, leftOut := q.take(c.now()); ok {
				written[int64(c.now().Sub(q.start)/time.Second)]++
				counted += 1 + leftOut
			}
		}
		for second, n := range written {
			if most := q.perSecond.Load(); n > most {
				t.Errorf("%d lines in second %d, want at most %d", n, second, most)
			}
		}
		if counted += q.leftOut.Load(); counted != int64(len(steps)) {
			t.Errorf("lines and those they say were left out are %d, want %d", counted, len(steps))
		}
	})
}

func TestLogQuotaIsSharedSafely(t *testing.T) {
	start := time.Now()
	q := &logQuota{start: start}
	q.perSecond.Store(10)
	var counted atomic.Int64
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			for i := range 1000 {
				if ok, leftOut := q.take(start.Add(time.Duration(i+g) * 10 * time.Millisecond)); ok {
					counted.Add(1 + leftOut)
				}
			}
		})
	}
	group.Wait()
	if got := counted.Load() + q.leftOut.Load(); got != 4000 {
		t.Errorf("lines and those left out are %d, want 4000", got)
	}
}

func TestLogQuotaOfZeroLeavesNothingOut(t *testing.T) {
	q := &logQuota{}
	for range 1000 {
		if ok, leftOut := q.take(time.Now()); !ok || leftOut != 0 {
			t.Fatalf("take = %t, %d, want true, 0", ok, leftOut)
		}
	}
}
