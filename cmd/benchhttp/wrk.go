package main

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A load is how wrk sends requests: with one thread, which leaves most of the machine to the server.
type load struct {
	duration    time.Duration
	connections int
}

// A request is sent by wrk.
type request struct {
	url    string
	header http.Header
}

// A result is a measurement of wrk.
type result struct {
	perSecond float64
	p50, p99  time.Duration
}

// run has wrk repeat the request.
func (l load) run(ctx context.Context, r request) (result, error) {
	args := []string{"--threads", "1", "--latency",
		"--connections", strconv.Itoa(l.connections),
		"--duration", strconv.Itoa(int(l.duration.Round(time.Second)/time.Second)) + "s"}
	for name, values := range r.header {
		args = append(args, "--header", name+": "+strings.Join(values, ", "))
	}
	out, err := exec.CommandContext(ctx, "wrk", append(args, r.url)...).CombinedOutput()
	if err != nil {
		return result{}, fmt.Errorf("wrk: %w\n%s", err, out)
	}
	return parseWrk(string(out))
}

var (
	wrkRate       = regexp.MustCompile(`(?m)^Requests/sec:\s+([0-9.]+)$`)
	wrkPercentile = regexp.MustCompile(`(?m)^\s+(50|99)%\s+([0-9.]+(?:us|ms|s|m))$`)
	wrkFailures   = regexp.MustCompile(`(?m)^\s*(?:Non-2xx or 3xx responses|Socket errors): .*$`)
)

// parseWrk parses the output of wrk. A run with errors has no result, since error answers are fast.
func parseWrk(out string) (r result, err error) {
	if failures := wrkFailures.FindString(out); failures != "" {
		return result{}, fmt.Errorf("requests failed: %s", strings.TrimSpace(failures))
	}
	rate := wrkRate.FindStringSubmatch(out)
	if rate == nil {
		return result{}, fmt.Errorf("wrk printed no rate:\n%s", out)
	}
	if r.perSecond, err = strconv.ParseFloat(rate[1], 64); err != nil {
		return result{}, fmt.Errorf("wrk's rate %q: %w", rate[1], err)
	}
	for _, m := range wrkPercentile.FindAllStringSubmatch(out, -1) {
		d, err := time.ParseDuration(m[2])
		if err != nil {
			return result{}, fmt.Errorf("wrk's percentile %q: %w", m[2], err)
		}
		if m[1] == "50" {
			r.p50 = d
		} else {
			r.p99 = d
		}
	}
	if r.p50 == 0 || r.p99 == 0 {
		return result{}, fmt.Errorf("wrk printed no latencies:\n%s", out)
	}
	return r, nil
}
