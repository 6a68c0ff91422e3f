//go:build linux

package faulttest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

const cachedTile = "/api/v1/tiles/6/33/21.png"

// usage is what a process holds.
type usage struct {
	peak                int64 // resident memory, in bytes
	goroutines, sockets float64
}

// usageOf returns the present usage of a server, and its peak since the process began.
func usageOf(t testing.TB, s *limnomaptest.Server) usage {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	u := usage{goroutines: s.Metric(t, "go_goroutines"), sockets: s.Metric(t, "process_open_fds")}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Process.Pid))
	if err != nil {
		t.Logf("NO PEAK OF THE MEMORY: %v", err)
		return u
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			must(t, err)
			u.peak = kb << 10
		}
	}
	return u
}

// latencies asks for a cached tile for a while, and returns the p99 of the answers. All must be complete.
func latencies(t testing.TB, s *limnomaptest.Server, d time.Duration) time.Duration {
	t.Helper()
	client := http.Client{Timeout: answerTime}
	defer client.CloseIdleConnections()
	var took []time.Duration
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		began := time.Now()
		resp, err := client.Get(s.Base + cachedTile)
		if err != nil {
			t.Errorf("a cached tile: %v", err)
			return 0
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("a cached tile: %s, %v, want 200", resp.Status, err)
			return 0
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

// crowd sends requests from that many clients, whose addresses begin with 127.0.3 (on Linux these are of this machine), until the returned function is called. Half of the clients do not read their answers, or
// ask for lists with filters; the others ask for histories that only the database has, maps of old weeks and prepared lists. Each answer
// must be 200, or 503 or 429 with Retry-After; it returns how many were of each status.
func crowd(t testing.TB, s *limnomaptest.Server, clients int) (stop func() map[int]int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	counts := make(map[int]int)
	var mu sync.Mutex
	var group sync.WaitGroup
	paths := []string{oldHistoryPath, statusPath + "?max_lat=52&min_lon=%d", cachedTile + "?date=2000-01-03", statusPath, oldHistoryPath, cachedTile}
	for i := range clients {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 3, byte(1+i))}}
		if i%4 == 0 {
			group.Go(func() { // ends with ctx
				for ctx.Err() == nil {
					conn, err := dialer.DialContext(ctx, "tcp", strings.TrimPrefix(s.Base, "http://"))
					if err != nil {
						time.Sleep(20 * time.Millisecond)
						continue
					}
					_, _ = io.WriteString(conn, strings.Repeat("GET "+statusPath+" HTTP/1.1\r\nHost: lakes\r\n\r\n", 20))
					<-ctx.Done()
					conn.Close()
				}
			})
			continue
		}
		group.Go(func() { // ends with ctx
			client := http.Client{Timeout: answerTime, Transport: &http.Transport{DialContext: dialer.DialContext}}
			defer client.CloseIdleConnections()
			for n := i; ctx.Err() == nil; n++ {
				path := paths[n%len(paths)]
				if strings.Contains(path, "%d") {
					path = fmt.Sprintf(path, n%7)
				}
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Base+path, nil)
				if err != nil {
					t.Error(err)
					return
				}
				resp, err := client.Do(req)
				if err != nil {
					if ctx.Err() == nil {
						t.Errorf("%s: %v", path, err)
					}
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				switch busy := resp.StatusCode == http.StatusServiceUnavailable || resp.StatusCode == http.StatusTooManyRequests; {
				case resp.StatusCode == http.StatusOK:
				case !busy || resp.Header.Get("Retry-After") == "":
					t.Errorf("%s: %s, Retry-After %q, want 200, or 503 or 429 with it", path, resp.Status, resp.Header.Get("Retry-After"))
				}
				mu.Lock()
				counts[resp.StatusCode]++
				mu.Unlock()
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
	return func() map[int]int {
		cancel()
		group.Wait()
		return counts
	}
}
