package main

import (
	"strings"
	"testing"
	"time"
)

const wrkOutput = `Running 2s test @ http://127.0.0.1:9140/tile.png
  1 threads and 32 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.05ms    1.17ms  11.48ms   89.03%
    Req/Sec    36.14k     2.43k   39.66k    80.00%
  Latency Distribution
     50%  688.00us
     75%    1.12ms
     90%    2.40ms
     99%    5.66ms
  287619 requests in 8.00s, 4.24GB read
Requests/sec:  35948.96
Transfer/sec:    542.56MB
`

func TestParseWrk(t *testing.T) {
	want := result{perSecond: 35948.96, p50: 688 * time.Microsecond, p99: 5660 * time.Microsecond}
	if got, err := parseWrk(wrkOutput); err != nil || got != want {
		t.Errorf("parseWrk = %+v, %v, want %+v", got, err, want)
	}
	slow := strings.Replace(wrkOutput, "99%    5.66ms", "99%    1.02s", 1)
	if got, err := parseWrk(slow); err != nil || got.p99 != 1020*time.Millisecond {
		t.Errorf("parseWrk of a slow run = %+v, %v, want a p99 of 1.02 s", got, err)
	}
	for name, out := range map[string]string{
		"refused":      wrkOutput + "  Non-2xx or 3xx responses: 287619\n",
		"cut":          wrkOutput + "  Socket errors: connect 0, read 3, write 0, timeout 0\n",
		"no rate":      strings.Replace(wrkOutput, "Requests/sec", "Answers/sec", 1),
		"no latencies": strings.ReplaceAll(wrkOutput, "%  ", "  "),
		"nothing":      "",
	} {
		if r, err := parseWrk(out); err == nil {
			t.Errorf("%s: parseWrk = %+v, want an error", name, r)
		}
	}
}
