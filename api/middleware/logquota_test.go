package middleware

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"limnomap/api/apitest"
)

func TestLogQuota(t *testing.T) {
	c := apitest.NewClock()
	l, lines := apitest.JSONLog(t, slog.LevelInfo)
	h := AccessLog(l, NewLogQuota(2, c.Now()), c.Now, func() LogAddresses { return "" }, func(*http.Request) bool { return false })(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, _ := strconv.Atoi(r.URL.Path[1:])
		w.WriteHeader(status)
	}))
	ask := func(statuses ...int) {
		for _, status := range statuses {
			apitest.Serve(t, h, httptest.NewRequest("GET", fmt.Sprintf("/%d", status), nil))
		}
	}
	ask(200, 304, 200, 200) // two too many
	ask(404, 500, 429, 503) // each kind has a quota of its own
	ask(404)                // one too many
	c.Advance(time.Second)
	ask(200, 200, 404, 500)
	c.Advance(time.Hour)
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

// At any rhythm of requests, no second has too many lines, and each line that is left out is counted in a later one.
func TestLogQuotaCountsEveryLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := apitest.NewClock()
		q := NewLogQuota(rapid.IntRange(1, 5).Draw(t, "per second"), c.Now())
		written, counted := map[int64]int64{}, int64(0)
		steps := rapid.SliceOf(rapid.IntRange(0, 900)).Draw(t, "ms between requests")
		for _, ms := range steps {
			c.Advance(time.Duration(ms) * time.Millisecond)
			if ok, leftOut := q.take(200, c.Now()); ok {
				written[int64(c.Now().Sub(q.start)/time.Second)]++
				counted += 1 + leftOut
			}
		}
		for second, n := range written {
			if most := q.perSecond.Load(); n > most {
				t.Errorf("%d lines in second %d, want at most %d", n, second, most)
			}
		}
		if counted += q.answered.leftOut.Load(); counted != int64(len(steps)) {
			t.Errorf("%d lines were written or counted as left out, want %d", counted, len(steps))
		}
	})
}

func TestLogQuotaOfZeroLeavesNothingOut(t *testing.T) {
	q := NewLogQuota(0, time.Now())
	for range 1000 {
		if ok, leftOut := q.take(200, time.Now()); !ok || leftOut != 0 {
			t.Fatalf("take = %t, %d, want true, 0", ok, leftOut)
		}
	}
}
