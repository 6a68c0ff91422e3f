//go:build unix && long

package faulttest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A sample holds some metrics of a server at one time.
type sample struct {
	at     time.Time
	values [len(sampled)]float64
}

// sampled are the metrics of a sample. Those without a slack are reported and may grow: the amount of garbage is random, and
// the disk cache has its own size limit.
var sampled = [...]struct {
	name, metric string
	unit         float64
	slack        float64 // an increase that does not count as growth
}{
	{"resident MB", "process_resident_memory_bytes", 1e6, 8},
	{"heap MB", "go_memstats_heap_alloc_bytes", 1e6, 0},
	{"goroutines", "go_goroutines", 1, 10},
	{"files", "process_open_fds", 1, 10},
	{"disk MB", `limnomap_tile_cache_bytes{tier="disk"}`, 1e6, 0},
	{"tiles drawn", "limnomap_tile_renders_total", 1, 0},
}

func takeSample(t testing.TB, s *limnomaptest.Server) sample {
	taken := sample{at: time.Now()}
	for i, m := range sampled {
		taken.values[i] = s.Metric(t, m.metric) / m.unit
	}
	return taken
}

// report logs the samples as a table.
func report(t testing.TB, samples []sample) {
	var b strings.Builder
	b.WriteString("\n    time")
	for _, m := range sampled {
		fmt.Fprintf(&b, " %12s", m.name)
	}
	for _, s := range samples {
		fmt.Fprintf(&b, "\n%8.0f", s.at.Sub(samples[0].at).Seconds())
		for _, v := range s.values {
			fmt.Fprintf(&b, " %12.1f", v)
		}
	}
	t.Log(b.String())
}

// wantNoGrowth checks that the second half of the samples is not larger than the first.
func wantNoGrowth(t testing.TB, samples []sample) {
	first, second := samples[:len(samples)/2], samples[len(samples)/2:]
	for i, m := range sampled {
		before, after := median(first, i), median(second, i)
		t.Logf("%s: %.1f, then %.1f", m.name, before, after)
		if m.slack > 0 && after > max(before*soakGrowth, before+m.slack) {
			t.Errorf("%s grew from %.1f to %.1f", m.name, before, after)
		}
	}
}

func median(samples []sample, i int) float64 {
	var values []float64
	for _, s := range samples {
		values = append(values, s.values[i])
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// badAnswers leaves out requests that clients cancelled (499), as wrk does at its end, and /readyz before the first data.
var badAnswers = regexp.MustCompile(`(?m)^limnomap_(http_requests_total\{code="(4[0-8]\d|5\d\d)",method="\w+",route="([^r]|r[^e])\w*"}|snapshot_refresh_failures_total|tile_render_failures_total|tile_shed_total) [1-9].*$`)

// wantNoErrors checks that the metrics of the server count no error and no failure.
func wantNoErrors(t testing.TB, s *limnomaptest.Server) {
	_, metrics := limnomaptest.Get(t, s.Admin+"/metrics")
	for _, line := range badAnswers.FindAll(metrics, -1) {
		t.Errorf("the server counts %s", line)
	}
}
