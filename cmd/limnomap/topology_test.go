//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A stage is what is done to the topology while it is asked, and how many answers that may cut.
type stage struct {
	name   string
	do     func()
	mayCut int
}

// TestFaultTopology starts what deploy describes, asks it for everything, and imports, kills and restarts each part in
// turn. Each answer is held against that of a single server for the same state of the data.
func TestFaultTopology(t *testing.T) {
	// Not beside other tests: what is counted here are failures, and a machine that is busy makes some of its own.
	rounds, pause := 1, time.Second
	if inFull() {
		rounds, pause = 5, 5*time.Second
	}
	// So much that no client is refused, and so little that a server asks Redis about once a second.
	top := startTopology(t, "--api-rate", "60000", "--tile-rate", "60000", "--drain", "0s", "--stale-after", "70d")
	dir := t.TempDir()
	mustExec(t, "import", "lakes", writeLakes(t, dir, uniformLakes), "--db", top.postgres.url)
	mustExec(t, "import", "observations", writeValues(t, dir, uniformLakes, 5), "--db", top.postgres.url)
	for _, r := range top.servers {
		r.start(t)
	}
	trial := &trial{top: top, dir: dir, load: &load{inquiries: topologyInquiries()}}
	trial.awaitReady(t)
	trial.revisions = revisions{{answer: trial.reference(t, 5)}}
	trial.wantAlike(t)

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { // ends with cancel
		defer close(done)
		trial.load.run(ctx, t, top.front)
	}()
	defer func() {
		cancel()
		<-done
	}()
	var report strings.Builder
	total := counts{}
	for round := range rounds {
		for _, s := range trial.stages(t, round, pause) {
			s.do()
			time.Sleep(pause)
			c := trial.revisions.judge(t, s.name, trial.load.take(), s.mayCut)
			if c.requests == 0 {
				t.Errorf("%s: nothing was asked", s.name)
			}
			fmt.Fprintf(&report, "%-32s %v\n", s.name, c)
			total = counts{total.requests + c.requests, total.unmodified + c.unmodified, total.wrong + c.wrong, total.failed + c.failed, total.cut + c.cut}
			if t.Failed() {
				t.Logf("so far:\n%s", report.String())
				t.FailNow()
			}
		}
	}
	t.Logf("%d clients, 2 servers, %d revisions:\n%s%-32s %v", topologyClients, len(trial.revisions), report.String(), "all", total)
	for _, r := range top.servers {
		wantQuietEnd(t, r.process)
	}
}

// topologyInquiries are all sorts of tiles, and the lists, plain and compressed.
func topologyInquiries() (qs []inquiry) {
	add := func(paths ...string) {
		for _, path := range paths {
			for _, encoding := range []string{"identity", "gzip"} {
				qs = append(qs, inquiry{path, encoding})
			}
		}
	}
	for z := maptile.Zoom(4); z <= 8; z++ {
		for _, place := range []orb.Point{{7, 48}, {11.5, 50}, {13.4, 52.5}, {-30, 20}} {
			tile := maptile.At(place, z)
			path := fmt.Sprintf("/api/v1/tiles/%d/%d/%d", tile.Z, tile.X, tile.Y)
			add(path+".png", path+"@2x.png?style=dots", path+".png?date=2024-09-18&colormap=viridis", path+".mvt")
		}
	}
	const lakes = "/api/v1/bathing-lakes/"
	add(lakes+"status", lakes+"status?risk=low", lakes+"status?min_lat=48&max_lat=50&min_lon=6&max_lon=9", lakes+"geojson", lakes+"dates",
		lakes+"status?date=2024-09-18", lakes+"geojson?date=2024-09-18", lakes+"status.csv", lakes+"history/lake_7", lakes+"history/lake_7.csv?limit=3",
		lakes+"near?lat=50&lon=10", lakes+"search?q=see%2017", lakes+"stats?by=risk",
		"/api/v1/tiles.json", "/api/v1/tiles.json?date=2024-09-18", "/api/v1/tiles/vector.json", "/api/v1/styles", "/api/v1/legend.json")
	return qs
}

// A trial is a topology that is being asked.
type trial struct {
	top       *topology
	dir       string
	load      *load
	revisions revisions
}

// stages are what befalls the topology in one round.
func (tr *trial) stages(t testing.TB, round int, pause time.Duration) []stage {
	top := tr.top
	kill := func(r *replica) func() {
		return func() {
			r.kill(t)
			time.Sleep(pause)
			r.start(t)
			tr.awaitReady(t)
			tr.wantAlike(t)
		}
	}
	value := func(n int) float64 { return float64(10 + 10*((3*round+n)%7)) } // another each time
	return []stage{
		{"nothing happens", func() {}, 0},
		{"an import", func() { tr.importValue(t, value(0)) }, 0},
		{"another", func() { tr.importValue(t, value(1)) }, 0},
		{"a server is killed", kill(top.servers[0]), topologyClients},
		{"the other one is killed", kill(top.servers[1]), topologyClients},
		{"the database is away", func() { tr.withoutDatabase(t) }, 0},
		{"an import after that", func() { tr.importValue(t, value(2)) }, 0},
		{"Redis is away", func() { tr.withoutRedis(t) }, 0},
	}
}

// readyState is what the tests read of /readyz.
type readyState struct {
	Snapshot   string
	StaleSince *string `json:"stale_since"`
}

func (r *replica) ready() (state readyState, ok bool) {
	resp, err := impatient.Get(r.base + "/readyz")
	if err != nil {
		return state, false
	}
	defer resp.Body.Close()
	return state, resp.StatusCode == http.StatusOK && json.NewDecoder(resp.Body).Decode(&state) == nil
}

// await waits until all servers are ready in the way that is wanted.
func (tr *trial) await(t testing.TB, what string, want func(readyState) bool) {
	t.Helper()
	limnomaptest.Within(t, reloadTime, what, func() bool {
		for _, r := range tr.top.servers {
			if state, ok := r.ready(); !ok || !want(state) {
				return false
			}
		}
		return true
	})
}

func (tr *trial) awaitReady(t testing.TB) {
	t.Helper()
	tr.await(t, "all servers are ready", func(readyState) bool { return true })
}

// importValue imports another value for all lakes, and waits until all servers show it.
func (tr *trial) importValue(t testing.TB, chl float64) {
	t.Helper()
	before, ok := tr.top.servers[0].ready()
	if !ok {
		t.Fatal("a server is not ready before the import")
	}
	begun := time.Now()
	mustExec(t, "import", "observations", writeValues(t, tr.dir, uniformLakes, chl), "--db", tr.top.postgres.url)
	imported := time.Now()
	tr.await(t, "all servers show the import", func(state readyState) bool { return state.Snapshot != before.Snapshot })
	seen := time.Now()
	tr.revisions = append(tr.revisions, revision{begun: begun, seen: seen, answer: tr.reference(t, chl)})
	t.Logf("seen by both servers %v after the import of %v µg/l ended", seen.Sub(imported).Round(time.Millisecond), chl)
	tr.wantAlike(t)
}

// reference returns what a single server answers, one that has just been started and shows the value that it should.
func (tr *trial) reference(t testing.TB, chl float64) map[inquiry]seen {
	t.Helper()
	p := startReady(t, "--db", tr.top.postgres.url, "--api-rate", "0", "--tile-rate", "0", "--stale-after", "70d", "--drain", "0s")
	wantShown(t, p, chl)
	answers := tr.answers(t, p.base)
	p.kill(t)
	return answers
}

// answers asks one server all questions.
func (tr *trial) answers(t testing.TB, base string) map[inquiry]seen {
	t.Helper()
	client := plainClient(t)
	defer client.CloseIdleConnections()
	answers := make(map[inquiry]seen)
	for _, q := range tr.load.inquiries {
		s := q.look(t.Context(), client, base, "")
		if s.status != http.StatusOK || s.seen.etag == "" {
			t.Fatalf("%s%s (%s): %d, ETag %q, %v", base, q.path, q.encoding, s.status, s.seen.etag, s.err)
		}
		answers[q] = s.seen
	}
	return answers
}

// wantAlike checks that all servers give the same bytes and tags, those of a single one.
func (tr *trial) wantAlike(t testing.TB) {
	t.Helper()
	want := tr.revisions[len(tr.revisions)-1].answer
	for i, r := range tr.top.servers {
		for q, got := range tr.answers(t, r.base) {
			if got != want[q] {
				t.Errorf("server %d answers %s (%s) by other bytes than a single one: ETag %s, want %s", i+1, q.path, q.encoding, got.etag, want[q].etag)
			}
		}
	}
}

// withoutDatabase kills the database. The servers go on, and say how old their data are.
func (tr *trial) withoutDatabase(t testing.TB) {
	t.Helper()
	tr.top.postgres.kill(t)
	tr.await(t, "both servers know that nobody confirms their data", func(state readyState) bool { return state.StaleSince != nil })
	for i, r := range tr.top.servers {
		for path, want := range map[string]bool{"/api/v1/bathing-lakes/status": true, "/api/v1/tiles/6/33/21.png": true, "/api/v1/styles": false} {
			resp, _ := limnomaptest.Get(t, r.base+path)
			if age := resp.Header.Get("Age"); resp.StatusCode != http.StatusOK || (age != "") != want || resp.Header.Get("Warning") != "" {
				t.Errorf("server %d answers %s by %s, Age %q, Warning %q; want an age: %t", i+1, path, resp.Status, age, resp.Header.Get("Warning"), want)
			}
		}
		if stale := r.metric(t, "limnomap_snapshot_stale_seconds"); stale < 5 {
			t.Errorf("server %d: the metric says that nobody confirmed the data for %v s, want 5 or more", i+1, stale)
		}
	}
	tr.wantAlike(t)
	tr.top.postgres.start(t)
	tr.await(t, "both servers have found the database again", func(state readyState) bool { return state.StaleSince == nil })
	for i, r := range tr.top.servers {
		if resp, _ := limnomaptest.Get(t, r.base+"/api/v1/bathing-lakes/status"); resp.Header.Get("Age") != "" {
			t.Errorf("server %d: Age %s, though the database is there", i+1, resp.Header.Get("Age"))
		}
	}
}

const limitsFailing = "limnomap_shared_limits_failing"

// withoutRedis kills Redis. Each server goes by its own limits, says so once, and shares them again.
func (tr *trial) withoutRedis(t testing.TB) {
	t.Helper()
	said := make([]int, len(tr.top.servers))
	for i, r := range tr.top.servers {
		said[i] = strings.Count(events(r.process), "rate limits")
	}
	await := func(what string, want float64) {
		t.Helper()
		limnomaptest.Within(t, reloadTime, what, func() bool {
			for _, r := range tr.top.servers {
				if r.metric(t, limitsFailing) != want {
					return false
				}
			}
			return true
		})
	}
	tr.top.redis.Kill(t)
	await("both servers know that Redis is away", 1)
	time.Sleep(2 * time.Second) // some of the tries that come to nothing
	tr.top.redis.Start(t)
	await("both servers share their limits again", 0)
	for i, r := range tr.top.servers {
		if got := strings.Count(events(r.process), "rate limits") - said[i]; got != 2 {
			t.Errorf("server %d speaks %d times of rate limits, want once of the failure and once of its end:\n%s", i+1, got, tail(events(r.process), 30))
		}
	}
}

// TestFaultTopologyLimits has two servers share a limit, lose Redis, and share it again.
func TestFaultTopologyLimits(t *testing.T) {
	t.Parallel()
	const rate = 30 // a minute: below the number of which nothing is held in advance
	top := startTopology(t, "--api-rate", fmt.Sprint(rate), "--drain", "0s")
	dir := t.TempDir()
	mustExec(t, "import", "lakes", writeLakes(t, dir, 10), "--db", top.postgres.url)
	for _, r := range top.servers {
		r.start(t)
	}
	for _, r := range top.servers {
		limnomaptest.Within(t, 20*time.Second, "ready", func() bool { return statusOf(r.base+"/readyz") == http.StatusOK })
	}
	// wantGranted asks nginx as one client until both servers have refused it, and far beyond its limit.
	wantGranted := func(ip string, want int) {
		t.Helper()
		client := clientAt(t, ip)
		defer client.CloseIdleConnections()
		start, granted := time.Now(), 0
		for i := range 4 * rate {
			req, err := http.NewRequest(http.MethodGet, top.front+"/api/v1/styles", nil)
			mustDo(t, err)
			req.Header.Set("X-Forwarded-For", fmt.Sprintf("203.0.113.%d", i)) // what a client claims counts for nothing
			resp, err := client.Do(req)
			mustDo(t, err)
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if resp.Header.Get("RateLimit-Policy") != fmt.Sprintf(`"api";q=%d;w=60`, rate) || !strings.HasPrefix(resp.Header.Get("RateLimit"), `"api";r=`) {
				t.Errorf("RateLimit-Policy %s, RateLimit %s", resp.Header.Get("RateLimit-Policy"), resp.Header.Get("RateLimit"))
			}
			switch {
			case resp.StatusCode == http.StatusOK:
				granted++
			case resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "":
				t.Errorf("%s with Retry-After %q, want 200 or a 429 with it", resp.Status, resp.Header.Get("Retry-After"))
			}
		}
		// What comes back meanwhile, on each server that keeps a bucket of its own.
		more := (want / rate) * (1 + int(time.Since(start)*rate/time.Minute))
		if granted < want || granted > want+more {
			t.Errorf("%s is granted %d requests, want %d to %d", ip, granted, want, want+more)
		}
		t.Logf("%s: %d of %d requests granted under %d a minute", ip, granted, 4*rate, rate)
	}
	wantGranted("127.0.0.2", rate)
	for i, r := range top.servers {
		if answered := r.metric(t, `limnomap_http_requests_total{code="200",method="GET",route="styles"}`); answered < rate/4 {
			t.Errorf("server %d granted %v of the requests, want both to share them", i+1, answered)
		}
	}
	top.redis.Kill(t)
	wantGranted("127.0.0.3", 2*rate)
	top.redis.Start(t)
	// One request in a second tries; its client is another one each time, or its limit would need no question.
	next := byte(10)
	for i, r := range top.servers {
		limnomaptest.Within(t, reloadTime, "the limits are shared again", func() bool {
			next++
			resp, err := clientAt(t, fmt.Sprintf("127.0.1.%d", next)).Get(r.base + "/api/v1/styles")
			mustDo(t, err)
			resp.Body.Close()
			time.Sleep(100 * time.Millisecond)
			return r.metric(t, limitsFailing) == 0
		})
		if said := strings.Count(events(r.process), "rate limits cannot be shared"); said != 1 {
			t.Errorf("server %d says %d times that its limits cannot be shared, want once", i+1, said)
		}
	}
	wantGranted("127.0.0.4", rate)
}

// clientAt returns a client with that address of the loopback, on a connection of its own each time.
func clientAt(t testing.TB, ip string) *http.Client {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	transport := &http.Transport{DialContext: dialer.DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: answerTime}
}
