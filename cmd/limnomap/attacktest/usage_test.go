//go:build linux

package attacktest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A usage is what a server holds.
type usage struct {
	resident    float64 // bytes of memory, as the kernel counts them
	live        float64 // bytes of the Go heap after a collection, without the tiles in the memory cache, which has its own limit
	cached      float64 // bytes of the tiles in the memory cache
	mayKeep     float64 // bytes of views of weeks, which the server keeps up to a bound
	goroutines  int
	descriptors int
}

// adminClient requests metrics. It keeps no connection, which would be a goroutine and a descriptor of the server.
var adminClient = http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}

// usage measures the server after a garbage collection.
func (s *target) usage() (usage, error) {
	if _, err := s.admin("/debug/pprof/heap?gc=1"); err != nil {
		return usage{}, err
	}
	text, err := s.admin("/metrics")
	if err != nil {
		return usage{}, err
	}
	values := metricsOf(text)
	u := usage{
		live:        values["go_memstats_heap_alloc_bytes"] - values[`limnomap_tile_cache_bytes{tier="memory"}`],
		cached:      values[`limnomap_tile_cache_bytes{tier="memory"}`],
		mayKeep:     keptViews * viewBytes * float64(len(s.lakes)),
		goroutines:  int(values["go_goroutines"]),
		descriptors: int(values["process_open_fds"]),
	}
	u.resident, err = s.processStatus("VmRSS")
	return u, err
}

// admin requests a path of the admin listener.
func (s *target) admin(path string) (string, error) {
	resp, err := adminClient.Get(s.Admin + path)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, resp.Status)
	}
	return string(body), err
}

// metricsOf returns the values of metrics by name and labels.
func metricsOf(text string) map[string]float64 {
	values := make(map[string]float64)
	for line := range strings.Lines(text) {
		if at := strings.LastIndexByte(line, ' '); at > 0 && line[0] != '#' {
			values[line[:at]], _ = strconv.ParseFloat(strings.TrimSpace(line[at+1:]), 64) // 0 if it is no number
		}
	}
	return values
}

// processStatus returns a field of /proc/PID/status in bytes.
func (s *target) processStatus(field string) (float64, error) {
	return statusOfProcess(s.Process.Pid, field)
}

func statusOfProcess(pid int, field string) (float64, error) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), field+":"); ok {
			kB, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
			return kB * 1024, err
		}
	}
	return 0, fmt.Errorf("%s has no %s: %w", file.Name(), field, lines.Err())
}

// A peak watches a server during an attack.
type peak struct {
	server *target
	cancel context.CancelFunc
	done   sync.WaitGroup
	most   usage // complete when done
	reset  bool  // whether VmHWM counts from the start of the attack
}

// watch starts to measure the most that the server holds, until stop is called.
func (s *target) watch() *peak {
	ctx, cancel := context.WithCancel(context.Background())
	p := &peak{server: s, cancel: cancel}
	// 5 resets VmHWM to the present size: proc(5). Some containers do not allow that: then the peak is the largest sample.
	p.reset = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.Process.Pid), []byte("5"), 0) == nil
	p.done.Go(func() { // ends with ctx
		ticker := time.NewTicker(50 * time.Millisecond)
		defer ticker.Stop()
		for i := 0; ; i++ {
			if files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.Process.Pid)); err == nil {
				p.most.descriptors = max(p.most.descriptors, len(files))
			}
			if resident, err := s.processStatus("VmRSS"); err == nil {
				p.most.resident = max(p.most.resident, resident)
			}
			if i%10 == 0 {
				if text, err := s.admin("/metrics"); err == nil {
					p.most.goroutines = max(p.most.goroutines, int(metricsOf(text)["go_goroutines"]))
				}
			}
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
		}
	})
	return p
}

// stop returns the most that the server has held.
func (p *peak) stop() (usage, error) {
	p.cancel()
	p.done.Wait()
	highest, err := p.server.processStatus("VmHWM")
	if p.reset {
		p.most.resident = max(p.most.resident, highest)
	}
	return p.most, err
}

const (
	returned = 1.1 // "all returns to within a tenth"
	// What may remain besides: the runtime frees buffers of pools after the second collection, the kernel closes sockets
	// later, and an idle connection of the probe has two goroutines.
	liveSlack, countSlack = 8e6, 12
	// The views of weeks that package data keeps, and the bytes of one for each lake.
	keptViews, viewBytes = 32, 24
	// residentSlack is the garbage that the server lets gather (maxGarbage): the runtime keeps this memory.
	residentSlack = 128 << 20
)

// excess describes what a server holds more than before an attack, or is empty. It may hold residentSlack bytes more besides.
func (u usage) excess(before usage, residentSlack float64) string {
	var b strings.Builder
	if u.live > before.live*returned+liveSlack+u.mayKeep {
		fmt.Fprintf(&b, " live heap %.0f MB, was %.0f;", u.live/1e6, before.live/1e6)
	}
	if u.resident > before.resident*returned+residentSlack+u.mayKeep+max(0, u.cached-before.cached) {
		fmt.Fprintf(&b, " resident memory %.0f MB, was %.0f;", u.resident/1e6, before.resident/1e6)
	}
	if float64(u.goroutines) > float64(before.goroutines)*returned+countSlack {
		fmt.Fprintf(&b, " %d goroutines, were %d;", u.goroutines, before.goroutines)
	}
	if float64(u.descriptors) > float64(before.descriptors)*returned+countSlack {
		fmt.Fprintf(&b, " %d descriptors, were %d;", u.descriptors, before.descriptors)
	}
	return strings.TrimSuffix(b.String(), ";")
}

// settleTime is how long a server may take to give back what an attack cost. The runtime returns memory to the kernel slowly,
// and an idle HTTP/2 connection ends after a ping that is not answered.
const settleTime = 2 * time.Minute

// settle waits until the server holds no more than before, for at most d. It returns its usage then, and the excess.
func (s *target) settle(before usage, d time.Duration) (after usage, excess string, err error) {
	const soon = 10 // times until goroutines and connections have ended
	for n, end := 0, time.Now().Add(d); ; n++ {
		after, err = s.usage()
		if err != nil {
			return after, "", err
		}
		if excess = after.excess(before, residentSlack); excess == "" || time.Now().After(end) {
			return after, excess, nil
		}
		if n < soon {
			time.Sleep(200 * time.Millisecond)
			continue
		}
		// A heap profile is work: while one is asked for every second, the server is not quiet, and returns no memory.
		time.Sleep(min(quietTime, time.Until(end)))
	}
}

// quietTime is longer than a server waits before it returns unused memory.
const quietTime = 7 * time.Second
