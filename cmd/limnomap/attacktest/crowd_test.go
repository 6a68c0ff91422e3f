//go:build linux

package attacktest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// mayWait is the longest time that a client of the crowd may be without a complete right answer although it asks.
const mayWait = 30 * time.Second

// crowdTime returns how long the crowd stays: LIMNOMAP_TEST_DURATION, by default ten minutes with the long tests.
func crowdTime(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("LIMNOMAP_TEST_DURATION")
	if text == "" {
		return size(10*time.Minute, 3*time.Second)
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		t.Fatalf("LIMNOMAP_TEST_DURATION=%q: want a duration such as 10m", text)
	}
	return d
}

// An expectation holds the digest of each answer by its path, from a server without attacks.
type expectation struct {
	tiles, lists []string // the paths
	digests      map[string]string
}

// crowdURL is the public address of both servers: TileJSON would contain their own addresses, which differ.
const crowdURL = "https://lakes.example.org"

// expect asks another server with the same data.
func (s *target) expect(t *testing.T) *expectation {
	t.Helper()
	calm := limnomaptest.Launch(t, "--db", s.db, "--api-rate", "0", "--tile-rate", "0", "--public-url", crowdURL)
	calm.AwaitReady(t)
	defer calm.Stop(t)
	want := &expectation{digests: make(map[string]string)}
	want.tiles = append(s.tiles(size(2000, 100), 50, 4, 10, ".png"), s.tiles(size(400, 20), 51, 4, 10, ".mvt")...)
	want.tiles = append(want.tiles, s.tiles(size(400, 20), 52, 4, 9, "@2x.png")...)
	random := rand.New(rand.NewPCG(7, 7))
	for i := range size(400, 40) {
		lake := random.IntN(len(s.lakes))
		at := s.at[lake]
		want.lists = append(want.lists, "/api/v1/bathing-lakes/history/"+s.lakes[lake],
			fmt.Sprintf("/api/v1/bathing-lakes/near?lat=%.3f&lon=%.3f", at.Lat(), at.Lon()),
			fmt.Sprintf("/api/v1/bathing-lakes/search?q=lake%%20%d", i),
			fmt.Sprintf(statusPath+"?min_lat=%.2f&max_lat=%.2f&min_lon=%.2f&max_lon=%.2f", at.Lat()-0.3, at.Lat()+0.3, max(at.Lon()-0.3, -180), min(at.Lon()+0.3, 180)))
	}
	want.lists = append(want.lists, statsPath, "/api/v1/tiles.json", "/api/v1/bathing-lakes/dates")
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableCompression: true, MaxConnsPerHost: 8}}
	defer client.CloseIdleConnections()
	var mu sync.Mutex
	paths := slices.Concat(want.tiles, want.lists)
	each(len(paths), 8, func(i int) {
		resp, err := client.Get(calm.Base + paths[i])
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s, %v", paths[i], resp.Status, err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		want.digests[paths[i]] = lasting(body)
	})
	return want
}

// An honest client looks at maps, and at lists and lakes, and waits between them as a person does.
type honest struct {
	client      *http.Client
	random      *rand.Rand
	right       int
	wrong       []string
	failed      map[string]int
	times       []time.Duration // of right answers
	lastRight   time.Time       // or the start of a view, if that is later
	longestWait time.Duration
}

// run looks at maps until the end, and then until it has had an answer, but not longer than patience.
func (h *honest) run(base string, want *expectation, end time.Time) {
	defer h.client.CloseIdleConnections()
	for time.Now().Before(end) || h.right == 0 && time.Since(end) < patience {
		h.lastRight = time.Now()
		first := h.random.IntN(len(want.tiles))
		for i := range 12 { // neighbours in the list of tiles are seen by different clients
			h.ask(base, want.tiles[(first+i)%len(want.tiles)], want)
		}
		h.ask(base, want.lists[h.random.IntN(len(want.lists))], want)
		time.Sleep(size(2*time.Second, 100*time.Millisecond) + time.Duration(h.random.Int64N(int64(size(4*time.Second, 200*time.Millisecond)))))
	}
}

// ask requests a path, and once more after a second if the server is busy, as browsers and libraries do.
func (h *honest) ask(base, path string, want *expectation) {
	for range 2 {
		started := time.Now()
		failure := ""
		resp, err := h.client.Get(base + path)
		if err == nil {
			var body []byte
			body, err = io.ReadAll(resp.Body)
			resp.Body.Close()
			switch {
			case err != nil:
			case resp.StatusCode != http.StatusOK:
				var problem struct{ Detail string }
				_ = json.Unmarshal(body, &problem) // the status says enough
				failure = fmt.Sprintf("%s (%s)", resp.Status, problem.Detail)
			case lasting(body) != want.digests[path]:
				h.wrong = append(h.wrong, path)
				return
			}
		}
		if err != nil {
			failure = failureOf(err)
		}
		if failure != "" {
			failure = kindOf(path) + ": " + failure
		}
		now := time.Now()
		h.longestWait = max(h.longestWait, now.Sub(h.lastRight))
		if failure == "" {
			h.right, h.times, h.lastRight = h.right+1, append(h.times, now.Sub(started)), now
			return
		}
		h.failed[failure]++
		time.Sleep(time.Second)
	}
}

// kindOf returns the kind of an answer: tiles, or the name of a list.
func kindOf(path string) string {
	path, _, _ = strings.Cut(strings.TrimPrefix(path, "/api/v1/"), "?")
	first, rest, _ := strings.Cut(path, "/")
	if first == "bathing-lakes" {
		first, _, _ = strings.Cut(rest, "/")
	}
	return first
}

// TestCrowd has hundreds of clients, half of them hostile. The others get the right bytes, and none of them is starved.
func TestCrowd(t *testing.T) {
	s := newTarget(t, size(100_000, 2000), "--public-url", crowdURL)
	want := s.expect(t)
	s.warmUp(t)
	before, err := s.usage()
	must(t, err)
	clients := size(250, 15)
	watched := s.watch()
	started := time.Now()
	end := started.Add(crowdTime(t))
	var all sync.WaitGroup
	attacks := 0
	all.Go(func() { attacks = s.runHostileProcess(t, clients, time.Until(end)) }) // ends soon after the end
	visitors := make([]*honest, clients)
	for i := range clients {
		visitors[i] = &honest{client: newClient(fmt.Sprintf("127.221.%d.%d", 1+i/250, 1+i%250), 6, 0), random: rand.New(rand.NewPCG(uint64(i), 1)), failed: make(map[string]int)}
		all.Go(func() { visitors[i].run(s.Base, want, end) }) // ends soon after the end
	}
	s.closures.begin(t)
	all.Wait()
	told := s.closures.end(t)
	took := time.Since(started)
	most, err := watched.stop()
	must(t, err)
	http.DefaultClient.CloseIdleConnections()
	after, excess, err := s.settle(before, settleTime)
	must(t, err)

	right, fewest, failed := 0, visitors[0].right, make(map[string]int)
	var wrong []string
	var longest time.Duration
	var times []time.Duration
	for _, h := range visitors {
		right, fewest, longest = right+h.right, min(fewest, h.right), max(longest, h.longestWait)
		wrong = append(wrong, h.wrong...)
		times = append(times, h.times...)
		for failure, n := range h.failed {
			failed[failure] += n
		}
	}
	slices.Sort(times)
	var faults []error
	if len(wrong) > 0 {
		faults = append(faults, fmt.Errorf("%d answers with wrong bytes, such as %s", len(wrong), wrong[0]))
	}
	if fewest == 0 {
		faults = append(faults, errors.New("a client had no answer at all"))
	}
	if most.resident > mayPeak {
		faults = append(faults, fmt.Errorf("peak %.0f MB", most.resident/1e6))
	}
	if excess != "" {
		faults = append(faults, fmt.Errorf("not returned: %s", excess))
	}
	for _, fault := range faults {
		t.Error(fault)
	}
	verdict := "held"
	if longest > mayWait { // the machine may be busy, so this fails no test
		faults = append(faults, fmt.Errorf("a client had no answer for %.0f s", longest.Seconds()))
	}
	if err := errors.Join(faults...); err != nil {
		verdict = fmt.Sprintf("%q", err)
	}
	text := fmt.Sprintf("\n%d clients for %.0f s, half of them hostile, %d lakes: %d right answers (p50 %.1f ms, p99 %.1f ms, the fewest of a client %d), %d wrong; longest time without an answer %.1f s; "+
		"without a 200: %s; %d attacks; memory before, peak, after %.0f, %.0f, %.0f MB; goroutines %d, %d, %d; descriptors %d, %d, %d; %s: %s\n",
		2*clients, took.Seconds(), len(s.lakes), right, milliseconds(quantile(times, 50)), milliseconds(quantile(times, 99)), fewest, len(wrong), longest.Seconds(), countsOf(failed), attacks,
		before.resident/1e6, most.resident/1e6, after.resident/1e6, before.goroutines, most.goroutines, after.goroutines, before.descriptors, most.descriptors, after.descriptors, told, verdict)
	t.Log(text)
	results.addText(text)
	stopCleanly(t, s)
}

// quantile returns a percentile of sorted times.
func quantile(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, len(sorted)*percent/100)]
}

// countsOf describes how often each thing happened.
func countsOf(counts map[string]int) string {
	text := ""
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		text += fmt.Sprintf("%d× %s, ", counts[what], what)
	}
	if text == "" {
		return "none"
	}
	return text[:len(text)-2]
}
