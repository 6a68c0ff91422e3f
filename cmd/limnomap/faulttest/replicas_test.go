//go:build unix && long

package faulttest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

// A stage is what happens to the deployment while it is under load.
type stage struct {
	name   string
	do     func()
	mayCut int // how many answers may be cut off
}

// TestReplicas starts the replicated deployment, sends it requests of all kinds, and imports, kills and restarts each part
// in turn. Each answer is compared with that of a single server for the same state of the data.
func TestReplicas(t *testing.T) {
	// Not parallel: a busy machine would cause failures of its own.
	rounds, pause := testsize.Of(1, 5), testsize.Of(time.Second, 5*time.Second)
	// The limits are so high that no client is refused, and so low that a server contacts Redis about once a second.
	d := startDeployment(t, "--api-rate", "60000", "--tile-rate", "60000", "--stale-after", "70d")
	dir := t.TempDir()
	importFile(t, "lakes", writeLakes(t, dir, uniformLakes), d.postgres.url)
	importValue(t, d.postgres.url, 5)
	for _, r := range d.servers {
		r.start(t)
	}
	rt := &replicaTest{deployment: d, load: &replicaLoad{queries: replicaQueries()}}
	rt.awaitReady(t)
	rt.revisions = revisions{{answers: rt.expected(t, 5)}}
	rt.wantSameAnswers(t)

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { // ends with cancel
		defer close(done)
		rt.load.run(ctx, t, d.front)
	}()
	defer func() {
		cancel()
		<-done
	}()
	var report strings.Builder
	total := counts{}
	for round := range rounds {
		for _, s := range rt.stages(t, round, pause) {
			s.do()
			time.Sleep(pause) // under load
			c := rt.revisions.judge(t, s.name, rt.load.take(), s.mayCut)
			if c.requests == 0 {
				t.Errorf("%s: no request was sent", s.name)
			}
			fmt.Fprintf(&report, "%-32s %v\n", s.name, c)
			total = counts{total.requests + c.requests, total.notModified + c.notModified, total.wrong + c.wrong, total.failed + c.failed, total.cut + c.cut}
			if t.Failed() {
				t.Logf("so far:\n%s", report.String())
				t.FailNow()
			}
		}
	}
	t.Logf("%d clients, 2 servers, %d revisions:\n%s%-32s %v", replicaClients, len(rt.revisions), report.String(), "all", total)
	for _, r := range d.servers {
		stopCleanly(t, r.Server)
	}
}

// replicaQueries are tiles of all kinds and lists, plain and compressed.
func replicaQueries() (qs []query) {
	add := func(paths ...string) {
		for _, path := range paths {
			for _, encoding := range []string{"identity", "gzip"} {
				qs = append(qs, query{path, encoding})
			}
		}
	}
	zooms, points := []maptile.Zoom{4, 6, 8}, []orb.Point{{7, 48}, {11.5, 50}, {-30, 20}} // of lakes and of the sea
	if testsize.Long {
		zooms, points = append(zooms, 5, 7), append(points, orb.Point{13.4, 52.5})
	}
	for _, z := range zooms {
		for _, point := range points {
			tile := maptile.At(point, z)
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

// A replicaTest is a deployment under load.
type replicaTest struct {
	*deployment
	load      *replicaLoad
	revisions revisions
}

// stages returns the stages of one round.
func (rt *replicaTest) stages(t testing.TB, round int, pause time.Duration) []stage {
	kill := func(r *replica) func() {
		return func() {
			r.Kill()
			time.Sleep(pause) // under load
			r.start(t)
			rt.awaitReady(t)
			rt.wantSameAnswers(t)
		}
	}
	value := func(n int) float64 { return float64(10 + 10*((3*round+n)%7)) } // another value each time
	return []stage{
		{"nothing happens", func() {}, 0},
		{"import", func() { rt.importValue(t, value(0)) }, 0},
		{"second import", func() { rt.importValue(t, value(1)) }, 0},
		{"first server killed", kill(rt.servers[0]), replicaClients},
		{"second server killed", kill(rt.servers[1]), replicaClients},
		{"database down", func() { rt.withoutDatabase(t) }, 0},
		{"import after that", func() { rt.importValue(t, value(2)) }, 0},
		{"Redis down", func() { rt.withoutRedis(t) }, 0},
	}
}

// readyState is the part of /readyz that these tests read.
type readyState struct {
	Snapshot   string
	StaleSince *string `json:"stale_since"`
}

// ready returns what /readyz reports, and whether the server is ready.
func (r *replica) ready() (state readyState, ok bool) {
	resp, err := requestClient.Get(r.Base + "/readyz")
	if err != nil {
		return state, false
	}
	defer resp.Body.Close()
	return state, resp.StatusCode == http.StatusOK && json.NewDecoder(resp.Body).Decode(&state) == nil
}

// await waits until all servers are ready and report the wanted state.
func (rt *replicaTest) await(t testing.TB, what string, want func(readyState) bool) {
	t.Helper()
	limnomaptest.Within(t, patience, what, func() bool {
		for _, r := range rt.servers {
			if state, ok := r.ready(); !ok || !want(state) {
				return false
			}
		}
		return true
	})
}

func (rt *replicaTest) awaitReady(t testing.TB) {
	t.Helper()
	rt.await(t, "all servers are ready", func(readyState) bool { return true })
}

// importValue imports another value for all lakes, and waits until all servers show it.
func (rt *replicaTest) importValue(t testing.TB, chl float64) {
	t.Helper()
	before, ok := rt.servers[0].ready()
	if !ok {
		t.Fatal("a server is not ready before the import")
	}
	started := time.Now()
	importValue(t, rt.postgres.url, chl)
	imported := time.Now()
	rt.await(t, "all servers show the import", func(state readyState) bool { return state.Snapshot != before.Snapshot })
	shown := time.Now()
	rt.revisions = append(rt.revisions, revision{importStarted: started, shownByAll: shown, answers: rt.expected(t, chl)})
	t.Logf("both servers show %v µg/l %v after the import", chl, shown.Sub(imported).Round(time.Millisecond))
	rt.wantSameAnswers(t)
}

// expected returns the answers of a single server that was just started and shows the given value.
func (rt *replicaTest) expected(t testing.TB, chl float64) map[query]content {
	t.Helper()
	// The clients are trusted proxies to all servers, or TileJSON would contain the address of this server.
	s := start(t, "--db", rt.postgres.url, "--api-rate", "0", "--tile-rate", "0", "--stale-after", "70d", "--trusted-proxies", "127.0.0.1/32")
	wantValue(t, s, chl)
	answers := rt.answers(t, s.Base)
	s.Kill()
	return answers
}

// answers sends all queries to one server.
func (rt *replicaTest) answers(t testing.TB, base string) map[query]content {
	t.Helper()
	client := rawBodyClient(t)
	defer client.CloseIdleConnections()
	answers := make(map[query]content)
	for _, q := range rt.load.queries {
		r := q.send(t.Context(), client, base, "")
		if r.status != http.StatusOK || r.content.etag == "" {
			t.Fatalf("%s%s (%s): %d, ETag %q, %v", base, q.path, q.encoding, r.status, r.content.etag, r.err)
		}
		answers[q] = r.content
	}
	return answers
}

// wantSameAnswers checks that all servers give the same bytes and ETags as a single server.
func (rt *replicaTest) wantSameAnswers(t testing.TB) {
	t.Helper()
	want := rt.revisions[len(rt.revisions)-1].answers
	for i, r := range rt.servers {
		for q, got := range rt.answers(t, r.Base) {
			if got != want[q] {
				t.Errorf("server %d answers %s (%s) with other bytes than a single server: ETag %s, want %s", i+1, q.path, q.encoding, got.etag, want[q].etag)
			}
		}
	}
}

// withoutDatabase kills the database and starts it again. Meanwhile the servers answer, and report the age of their data.
func (rt *replicaTest) withoutDatabase(t testing.TB) {
	t.Helper()
	rt.postgres.kill(t)
	rt.await(t, "both servers report that their data may be stale", func(state readyState) bool { return state.StaleSince != nil })
	for i, r := range rt.servers {
		for path, want := range map[string]bool{statusPath: true, "/api/v1/tiles/6/33/21.png": true, "/api/v1/styles": false} {
			resp, _ := limnomaptest.Get(t, r.Base+path)
			if age := resp.Header.Get("Age"); resp.StatusCode != http.StatusOK || (age != "") != want || resp.Header.Get("Warning") != "" {
				t.Errorf("server %d answers %s with %s, Age %q, Warning %q; want an age: %t", i+1, path, resp.Status, age, resp.Header.Get("Warning"), want)
			}
		}
		if stale := r.Metric(t, "limnomap_snapshot_stale_seconds"); stale < 5 {
			t.Errorf("server %d: the metric says that the data have been stale for %v s, want 5 or more", i+1, stale)
		}
	}
	rt.wantSameAnswers(t)
	rt.postgres.start(t)
	rt.await(t, "both servers have found the database again", func(state readyState) bool { return state.StaleSince == nil })
	for i, r := range rt.servers {
		if resp, _ := limnomaptest.Get(t, r.Base+statusPath); resp.Header.Get("Age") != "" {
			t.Errorf("server %d: Age %s, want none: the database is back", i+1, resp.Header.Get("Age"))
		}
	}
}

const limitsMessage = `msg="rate limits` // begins the messages about the failure and about its end

// withoutRedis kills Redis and starts it again. Each server uses local limits, logs that once, and then shares them again.
func (rt *replicaTest) withoutRedis(t testing.TB) {
	t.Helper()
	before := make([]int, len(rt.servers))
	for i, r := range rt.servers {
		before[i] = strings.Count(eventLog(r.Server), limitsMessage)
	}
	await := func(what string, want float64) {
		t.Helper()
		limnomaptest.Within(t, patience, what, func() bool {
			for _, r := range rt.servers {
				if r.Metric(t, limitsFailing) != want {
					return false
				}
			}
			return true
		})
	}
	rt.redis.Kill(t)
	await("both servers report that Redis is down", 1)
	time.Sleep(2 * time.Second) // for some failing attempts
	rt.redis.Start(t)
	await("both servers share their limits again", 0)
	for i, r := range rt.servers {
		if got := strings.Count(eventLog(r.Server), limitsMessage) - before[i]; got != 2 {
			t.Errorf("server %d has %d log lines about rate limits, want one about the failure and one about its end:\n%s", i+1, got, lastLines(eventLog(r.Server), 30))
		}
	}
}

// TestReplicasShareLimits has two servers share a limit, lose Redis, and share the limit again.
func TestReplicasShareLimits(t *testing.T) {
	t.Parallel()
	const rate = 30 // a minute: so few that no server reserves some in advance
	d := startDeployment(t, "--api-rate", fmt.Sprint(rate))
	dir := t.TempDir()
	importFile(t, "lakes", writeLakes(t, dir, 10), d.postgres.url)
	for _, r := range d.servers {
		r.start(t)
	}
	for _, r := range d.servers {
		r.AwaitReady(t)
	}
	// wantGranted sends requests as one client until far beyond its limit.
	wantGranted := func(ip string, want int) {
		t.Helper()
		client := clientAt(ip)
		start, granted := time.Now(), 0
		for i := range 4 * rate {
			req, err := http.NewRequest(http.MethodGet, d.front+"/api/v1/styles", nil)
			must(t, err)
			req.Header.Set("X-Forwarded-For", fmt.Sprintf("203.0.113.%d", i)) // the servers must ignore it
			resp, err := client.Do(req)
			must(t, err)
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
		// Requests that become available meanwhile, on each server that has local limits.
		more := (want / rate) * (1 + int(time.Since(start)*rate/time.Minute))
		if granted < want || granted > want+more {
			t.Errorf("%s is granted %d requests, want %d to %d", ip, granted, want, want+more)
		}
		t.Logf("%s: %d of %d requests granted with a limit of %d a minute", ip, granted, 4*rate, rate)
	}
	wantGranted("127.0.0.2", rate)
	for i, r := range d.servers {
		if answered := r.Metric(t, `limnomap_http_requests_total{code="200",method="GET",route="styles"}`); answered < rate/4 {
			t.Errorf("server %d granted %v of the requests, want both servers to share them", i+1, answered)
		}
	}
	d.redis.Kill(t)
	wantGranted("127.0.0.3", 2*rate)
	d.redis.Start(t)
	// One request a second tries Redis again. Each comes from a new client, whose limit the server does not know yet.
	next := byte(10)
	for i, r := range d.servers {
		limnomaptest.Within(t, patience, "the limits are shared again", func() bool {
			next++
			resp, err := clientAt(fmt.Sprintf("127.0.1.%d", next)).Get(r.Base + "/api/v1/styles")
			must(t, err)
			resp.Body.Close()
			time.Sleep(100 * time.Millisecond)
			return r.Metric(t, limitsFailing) == 0
		})
		if got := len(limitsWarning.FindAllString(eventLog(r.Server), -1)); got != 1 {
			t.Errorf("server %d warns %d times about its rate limits, want once", i+1, got)
		}
	}
	wantGranted("127.0.0.4", rate)
}
