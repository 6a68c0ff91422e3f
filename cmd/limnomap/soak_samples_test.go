//go:build unix && soak

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A sample is what a server holds at a moment.
type sample struct {
	at     time.Time
	values [len(sampled)]float64
}

// sampled are the metrics of a sample. Those without a slack are told, and may grow: what garbage there is at a moment
// is chance, and the disk cache has a bound of its own.
var sampled = [...]struct {
	name, metric string
	unit         float64
	slack        float64 // how much more is no growth, whatever the share
}{
	{"resident MB", "process_resident_memory_bytes", 1e6, 8},
	{"heap MB", "go_memstats_heap_alloc_bytes", 1e6, 0},
	{"goroutines", "go_goroutines", 1, 10},
	{"files", "process_open_fds", 1, 10},
	{"disk MB", `limnomap_tile_cache_bytes{tier="disk"}`, 1e6, 0},
	{"tiles drawn", "limnomap_tile_renders_total", 1, 0},
}

func sampleOf(t testing.TB, p *process) sample {
	s := sample{at: time.Now()}
	for i, m := range sampled {
		s.values[i] = p.metric(t, m.metric) / m.unit
	}
	return s
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

// wantFlat checks that the second half of the samples is not more than the first.
func wantFlat(t testing.TB, samples []sample) {
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

// badAnswers leaves out those that clients did not wait for (499), as wrk at its end, and the wait for the first data.
var badAnswers = regexp.MustCompile(`(?m)^limnomap_(http_requests_total\{code="(4[0-8]\d|5\d\d)",method="\w+",route="([^r]|r[^e])\w*"}|snapshot_refresh_failures_total|tile_render_failures_total|tile_shed_total) [1-9].*$`)

// wantNoErrors checks that the server itself counts no answer that is an error, and no failure.
func wantNoErrors(t testing.TB, p *process) {
	_, metrics := limnomaptest.Get(t, p.admin+"/metrics")
	for _, line := range badAnswers.FindAll(metrics, -1) {
		t.Errorf("the server counts %s", line)
	}
}
