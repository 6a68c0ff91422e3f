//go:build linux

package attacktest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

// An attack is one row of the table.
type attack struct {
	class, name string
	hold        time.Duration // how long attackers that wait do so; 0 is the usual time
	run         func(*assault)
}

// attacks returns all attacks whose cost for the server is measured.
func attacks() []attack {
	const (
		slow  = "slow readers"
		weeks = "weeks"
		drawn = "tiles"
		conns = "connections"
	)
	repeat := func(n int, format string) func(*assault, int) []string {
		return func(_ *assault, i int) []string {
			paths := make([]string, n)
			for k := range paths {
				paths[k] = format
				if strings.Contains(format, "%d") {
					paths[k] = fmt.Sprintf(format, i*n+k)
				}
			}
			return paths
		}
	}
	dated := func(format string) func(*assault, int) string {
		return func(_ *assault, i int) string { return fmt.Sprintf(format, weekBefore(i%(targetWeeks+floodWeeks))) }
	}
	recent := func(format string) func(*assault, int) []string {
		return func(_ *assault, i int) []string { return []string{fmt.Sprintf(format, weekBefore(i%targetWeeks), i)} }
	}
	monitor := func(a *assault, i int) []string {
		return []string{fmt.Sprintf("%s?limit=5000&offset=%d", monitorPath, i%100)}
	}
	withKey := func(a *assault) {
		slowReaders(size(100, 10), false, monitor, "X-API-Key: "+a.key)(a)
	}
	coldTiles := func(suffix string, seed uint64) func(*assault) {
		return func(a *assault) {
			paths := a.tiles(size(10_000, 150), seed, 4, 11, suffix)
			requests(len(paths), size(500, 50), func(_ *assault, i int) string { return paths[i] }, func(i int) int { return i % size(500, 50) })(a)
		}
	}
	list := []attack{
		{slow, "filtered lists", 0, slowReaders(size(300, 50), false, one(statusPath+"?max_lat=67&x=%d"))},
		{slow, "filtered lists, one address", 0, slowReaders(size(300, 50), true, one(statusPath+"?max_lat=67&x=%d"))},
		{slow, "filtered lists, compressed", 0, slowReaders(size(300, 50), false, one(statusPath+"?max_lat=67&x=%d"), "Accept-Encoding: zstd, br, gzip")},
		{slow, "a byte now and then", 0, sippers(size(300, 50), statusPath+"?max_lat=67&x=%d")},
		{slow, "HTTP/2, 40 streams of a connection", 0, slowStreams(1, false, 40, 0, func(i int) string { return fmt.Sprintf(statusPath+"?max_lat=67&x=%d", i) })},
		{slow, "HTTP/2, 128 streams of a connection", 0, slowStreams(1, false, 128, 0, func(i int) string { return fmt.Sprintf(statusPath+"?max_lat=67&x=%d", i) })},
		{slow, "HTTP/2, 10 streams of many connections, small window", 0, slowStreams(size(30, 6), false, 10, 1000, func(i int) string { return fmt.Sprintf(statusPath+"?max_lat=67&x=%d", i) })},
		{slow, "HTTP/2, small answers, one address", 0, slowStreams(size(450, 10), true, 125, 0, func(i int) string { return fmt.Sprintf("/page.json?x=%d", i) })},
		{slow, "HTTP/2, tiles", 0, slowStreams(size(20, 4), false, 100, 1, func(i int) string { return fmt.Sprintf("/api/v1/tiles/5/16/10.png?x=%d", i) })},
		{slow, "dated geojson", 0, slowReaders(size(50, 20), false, recent(geojsonPath+"?date=%s&x=%d"))},
		{slow, "dated status", 0, slowReaders(size(50, 20), false, recent(statusPath+"?date=%s&x=%d"))},
		{slow, "CSV", 0, slowReaders(size(100, 20), false, one(statusPath+".csv?max_lat=67&x=%d"))},
		{slow, "pages of the table", 0, slowReaders(size(100, 20), false, one("/table?limit=1000&x=%d"))},
		{slow, "monitor pages", 0, withKey},
		{slow, "prepared lists", 0, slowReaders(size(300, 50), false, repeat(3, statusPath))},
		{slow, "prepared lists, compressed", 0, slowReaders(size(300, 50), false, repeat(10, geojsonPath), "Accept-Encoding: gzip")},
		{slow, "tiles, pipelined", 0, slowReaders(size(300, 50), false, repeat(100, "/api/v1/tiles/5/16/10.png?x=%d"))},
		{slow, "vector tiles, pipelined", 0, slowReaders(size(300, 50), false, func(a *assault, i int) []string { return a.tiles(20, uint64(i), 3, 8, ".mvt") })},
		{slow, "searches, pipelined", 0, slowReaders(size(300, 50), false, repeat(50, "/api/v1/bathing-lakes/search?q=lake&limit=50&x=%d"))},

		{weeks, "stats", 0, requests(280, 280, dated(statsPath+"?date=%s"), ownAddress)},
		{weeks, "stats, one address", 0, requests(size(280, 100), size(280, 100), dated(statsPath+"?date=%s"), oneAddress)},
		{weeks, "geojson", 0, requests(size(280, 100), size(280, 100), dated(geojsonPath+"?date=%s"), ownAddress)},
		{weeks, "status", 0, requests(size(280, 100), size(280, 100), dated(statusPath+"?date=%s"), ownAddress)},
		{weeks, "slow readers", 0, slowReaders(size(280, 100), false, func(_ *assault, i int) []string {
			return []string{statusPath + "?date=" + weekBefore(i)}
		})},
		{weeks, "tiles", 0, requests(280, 100, dated("/api/v1/tiles/3/2/2.png?date=%s"), ownAddress)},
		{weeks, "vector tiles", 0, requests(280, 100, dated("/api/v1/tiles/3/2/2.mvt?date=%s"), ownAddress)},
		{weeks, "years without data", 0, requests(280, 280, func(_ *assault, i int) string {
			return fmt.Sprintf(statsPath+"?date=%d-07-01", 1000+i*10)
		}, ownAddress)},

		{drawn, "cold tiles", 0, coldTiles(".png", 100)},
		{drawn, "cold tiles of 512 pixels", 0, coldTiles("@2x.png", 101)},
		{drawn, "cold vector tiles", 0, coldTiles(".mvt", 102)},
		{drawn, "abandoned cold tiles", 0, func(a *assault) {
			paths := a.tiles(size(5000, 200), 103, 4, 11, ".png")
			churn(len(paths), func(_ *assault, i int) string { return get(paths[i] + "?style=dots") })(a)
		}},
		{drawn, "abandoned filtered lists", 0, churn(size(2000, 100), func(_ *assault, i int) string {
			return get(fmt.Sprintf(statusPath+"?max_lat=67&gone=%d", i))
		})},

		{conns, "idle", 0, connections(size(15_000, 300), 250, get("/healthz"), "")},
		{conns, "idle, one address", 0, connections(size(15_000, 300), 1, get("/healthz"), "")},
		{conns, "silent", 0, connections(size(15_000, 300), 2500, "", "")},
		{conns, "half requests", 0, connections(size(15_000, 300), 2500, "GET /api/v1/bathing-la", "")},
		{conns, "a byte a second", 0, connections(size(5000, 200), 2500, "GET / HTTP/1.1\r\nHost: lakes\r\nX-Slow: ", "a")},
		{conns, "a body that does not come", 0, connections(size(5000, 200), 2500, "POST / HTTP/1.1\r\nHost: lakes\r\nContent-Length: 1000\r\n\r\n", "")},
		{conns, "idle by HTTP/2", 0, connections(size(5000, 200), 2500, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", "")},
		{conns, "TLS that is not spoken", 0, connections(size(5000, 200), 2500, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "")},
		{conns, "answers that are not read", 0, slowReaders(size(5000, 200), false, repeat(size(300, 30), "/api/v1/tiles/5/16/10.png?x=%d"))},
		{conns, "opened and reset", 0, churn(size(20_000, 1000), func(*assault, int) string { return "" })},
		{conns, "reset after a request", 0, churn(size(10_000, 500), func(*assault, int) string { return get("/healthz") })},

		{"HTTP/1", "endless header fields", 0, endless(size(20, 5), "GET / HTTP/1.1\r\nHost: lakes\r\n", "X-Endless: a\r\n", 16<<20)},
		{"HTTP/1", "endless header field", 0, endless(size(20, 5), "GET / HTTP/1.1\r\nHost: lakes\r\nX-Endless: ", "aaaaaaaaaaaaaaaa", 16<<20)},
		{"HTTP/1", "endless address", 0, endless(size(20, 5), "GET /", "aaaaaaaaaaaaaaaa", 16<<20)},
		{"HTTP/1", "endless method", 0, endless(size(20, 5), "", "GGGGGGGGGGGGGGGG", 16<<20)},
		{"HTTP/1", "endless body", 0, endless(size(20, 5), "GET "+statusPath+" HTTP/1.1\r\nHost: lakes\r\nContent-Length: 1000000000000\r\n\r\n", "aaaaaaaaaaaaaaaa", 16<<20)},
		{"HTTP/1", "endless chunks", 0, endless(size(20, 5), "GET "+statusPath+" HTTP/1.1\r\nHost: lakes\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n", 16<<20)},
		{"HTTP/1", "endless chunk extension", 0, endless(size(20, 5), "POST / HTTP/1.1\r\nHost: lakes\r\nTransfer-Encoding: chunked\r\n\r\n1;", "aaaaaaaaaaaaaaaa", 16<<20)},
		{"HTTP/1", "endless trailers", 0, endless(size(20, 5), "POST / HTTP/1.1\r\nHost: lakes\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X-Trailer: a\r\n", 16<<20)},
		{"HTTP/1", "empty lines before a request", 0, endless(size(20, 5), "", "\r\n", 16<<20)},
		{"HTTP/1", "pipelined requests, unread", 0, pipelined(size(20, 5), size(100_000, 5000), "/healthz")},
		{"HTTP/1", "keys guessed", 0, func(a *assault) {
			header := func(i int) []string { return []string{"X-API-Key", fmt.Sprintf("lm_%026d", i)} }
			client := newClient(a.from(0), 50, 0)
			defer client.CloseIdleConnections()
			each(size(10_000, 500), 50, func(i int) { a.count(a.request(client, monitorPath, header(i)...)) })
		}},
	}
	for _, test := range http2Attacks {
		list = append(list, attack{"HTTP/2", test.name, size(2*time.Second, 200*time.Millisecond), frames(size(20, 3), test.read, test.send)})
	}
	list = append(list, surfaceAttacks()...)
	if !testsize.Long {
		for _, class := range []string{slow, weeks, drawn, conns, "HTTP/1", "HTTP/2", "pages", "events", "subscriptions"} {
			list = together(list, class)
		}
	}
	// Last, because an import empties caches.
	return append(list, attack{"files", "bombs for an import beside the server", 0, importBombs}, attack{"files", "imports killed beside the server", 0, killedImports})
}

// together replaces all attacks of a class by a single attack that runs them at the same time, which takes less time.
func together(all []attack, class string) []attack {
	var others, these []attack
	for _, one := range all {
		if one.class == class {
			these = append(these, one)
		} else {
			others = append(others, one)
		}
	}
	return append(others, attack{class, fmt.Sprintf("%d attacks at once", len(these)), these[0].hold, func(a *assault) {
		each(len(these), len(these), func(i int) { these[i].run(a) })
	}})
}

// A row is the result of one attack.
type row struct {
	class, name         string
	before, peak, after usage
	probe               probeReport
	idle                time.Duration // p99 of the probe before the attacks
	outcome, verdict    string
	took, settled       time.Duration
}

// A table collects rows. It is safe for concurrent use.
type table struct {
	mu   sync.Mutex
	rows []row  // guarded by mu
	more string // guarded by mu
}

// results is printed when the tests of the package have run.
var results table

func (r *table) add(one row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = append(r.rows, one)
}

func (r *table) addText(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.more += text
}

// String returns the table as Markdown.
func (r *table) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	if len(r.rows) > 0 {
		b.WriteString("| attack | memory before, peak, after (MB) | live heap (MB) | goroutines | descriptors | tile p50, p99 (ms), × idle p99 | failed, wrong | outcome | verdict |\n|---|---|---|---|---|---|---|---|---|\n")
	}
	for _, w := range r.rows {
		fmt.Fprintf(&b, "| %s: %s | %.0f, %.0f, %.0f | %.0f, %.0f | %d, %d, %d | %d, %d, %d | %.1f, %.1f, %.1f | %d, %d | %s | %s |\n",
			w.class, w.name, w.before.resident/1e6, w.peak.resident/1e6, w.after.resident/1e6, w.before.live/1e6, w.after.live/1e6,
			w.before.goroutines, w.peak.goroutines, w.after.goroutines, w.before.descriptors, w.peak.descriptors, w.after.descriptors,
			milliseconds(w.probe.P50), milliseconds(w.probe.P99), w.ratio(), w.probe.failed(), len(w.probe.Wrong), w.outcome, w.verdict)
	}
	return b.String() + r.more
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// ratio returns the p99 of the probe during the attack as a multiple of that before the attacks.
func (w row) ratio() float64 { return float64(w.probe.P99) / float64(max(w.idle, time.Microsecond)) }

// mayRatio is how many times the usual time a cached tile may take during an attack, at p99.
const mayRatio = 5

// TestAttacks runs all attacks on one server.
func TestAttacks(t *testing.T) {
	hanging := startHanging(t, size(20, 4))
	s := newTarget(t, size(100_000, 2000), "--push-services", strings.Join(hanging, ","))
	s.hanging = hanging
	s.makeEvents(t, size(20_000, 500))
	probe := startProbe(t, s)
	must(t, yieldProcessor()) // for all later tests of this process, too
	s.warmUp(t)
	probe.report(t)
	time.Sleep(size(10*time.Second, 300*time.Millisecond))
	idle := probe.report(t)
	t.Logf("idle: %d requests, p50 %v, p99 %v, max %v", len(idle.Took), idle.P50, idle.P99, idle.Max)
	first, err := s.usage()
	must(t, err)
	var during probeReport // all attacks
	for i, attack := range attacks() {
		t.Run(attack.class+"/"+attack.name, func(t *testing.T) {
			before, err := s.usage()
			must(t, err)
			a := &assault{target: s, network: byte(10 + i), hold: attack.hold}
			if a.hold == 0 {
				a.hold = size(10*time.Second, 150*time.Millisecond)
			}
			probe.report(t)
			watched := s.watch()
			started := time.Now()
			s.closures.begin(t)
			attack.run(a)
			took := time.Since(started)
			a.note("%s", s.closures.end(t))
			most, err := watched.stop()
			seen := probe.report(t)
			must(t, err)
			during.add(seen.Took)
			started = time.Now()
			after, excess, err := s.settle(before, settleTime)
			must(t, err)
			w := row{
				class: attack.class, name: attack.name, before: before, peak: most, after: after, probe: seen, idle: idle.P99,
				outcome: a.summary(), took: took, settled: time.Since(started),
			}
			var faults []string
			if excess != "" {
				faults = append(faults, "not returned: "+excess)
			}
			if most.resident > mayPeak {
				faults = append(faults, fmt.Sprintf("peak %.0f MB", most.resident/1e6))
			}
			faults = append(faults, a.wrong...)
			if len(seen.Wrong) > 0 {
				faults = append(faults, fmt.Sprintf("%d wrong tiles", len(seen.Wrong)))
			}
			if n := seen.failed(); n > 0 {
				faults = append(faults, fmt.Sprintf("%d of %d cached tiles failed: %v", n, len(seen.Took), seen.Failed))
			}
			for _, fault := range faults {
				t.Error(fault)
			}
			// The machine may be busy, so this fails no test.
			if w.ratio() >= mayRatio {
				faults = append(faults, fmt.Sprintf("p99 × %.0f", w.ratio()))
			}
			w.verdict = "held"
			if len(faults) > 0 {
				w.verdict = strings.Join(faults, "; ")
			}
			results.add(w)
			t.Logf("%.1f s, settled in %.1f s: memory %.0f, %.0f, %.0f MB, tiles p99 %v (× %.1f), %s", took.Seconds(), w.settled.Seconds(),
				before.resident/1e6, most.resident/1e6, after.resident/1e6, seen.P99, w.ratio(), w.outcome)
		})
		select {
		case <-s.Exited():
			t.Fatalf("the server has ended: %v\n%s", s.ExitError(), s.Log)
		default:
		}
	}
	results.addText(fmt.Sprintf("\n%d cached tiles during all attacks: p50 %v, p99 %v (× %.1f), max %v\n", len(during.Took), during.P50, during.P99,
		row{probe: during, idle: idle.P99}.ratio(), during.Max))
	results.addText("\nduring all attacks: " + timesOf(s.closures.all) + "\n")
	if testsize.Long {
		s.wantAllReturned(t, first, idle.P99, probe)
	}
	stopCleanly(t, s)
}

// wantAllReturned checks that after all attacks the server holds no more than before the first one, except for cached tiles.
func (s *target) wantAllReturned(t *testing.T, first usage, idle time.Duration, probe *probeProcess) {
	t.Helper()
	probe.report(t)
	time.Sleep(4 * quietTime)
	after, err := s.usage()
	must(t, err)
	w := row{class: "after all", name: "28 quiet seconds", before: first, peak: after, after: after, probe: probe.report(t), idle: idle, verdict: "held"}
	if excess := after.excess(first, 0); excess != "" {
		t.Errorf("not returned: %s", excess)
		w.verdict = "not returned: " + excess
	}
	results.add(w)
}

// stopCleanly stops the server, and fails the test if it has panicked.
func stopCleanly(t *testing.T, s *target) {
	t.Helper()
	s.Stop(t)
	limnomaptest.NoCrash(t, s.Log.String())
}

// yieldProcessor lets the server and other processes that run already go before this one: attackers usually are on other
// machines. It still gets a third of what another process gets (sched(7)), so that a busy machine does not stop it.
func yieldProcessor() error {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, task := range tasks {
		id, err := strconv.Atoi(task.Name())
		if err != nil {
			return err
		}
		if err := unix.Setpriority(unix.PRIO_PROCESS, id, 5); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}

// warmUp requests answers of all kinds, so that what the server allocates once, and keeps in caches with a bound, does not
// count as the cost of an attack.
func (s *target) warmUp(t *testing.T) {
	t.Helper()
	a := &assault{target: s, network: 3, hold: 100 * time.Millisecond}
	random := rand.New(rand.NewPCG(1, 1))
	paths := []string{"/", "/table", "/embed", "/docs", "/openapi.json", "/page.json", "/metrics", "/api/v1/tiles.json", "/api/v1/legend.png", statusPath, geojsonPath,
		statusPath + "?max_lat=67", statusPath + ".csv", statsPath, "/api/v1/bathing-lakes/search?q=lake", "/api/v1/bathing-lakes/near?lat=50&lon=10"}
	for week := range targetWeeks + floodWeeks { // more than a server keeps
		if paths = append(paths, statsPath+"?date="+weekBefore(week)); week < size(targetWeeks+floodWeeks, 10) {
			paths = append(paths, "/api/v1/tiles/3/2/2.png?date="+weekBefore(week))
		}
	}
	for range 20 {
		paths = append(paths, "/api/v1/bathing-lakes/history/"+s.lakes[random.IntN(len(s.lakes))])
	}
	paths = append(paths, s.tiles(size(2000, 100), 2, 3, 12, ".png")...)
	paths = append(paths, s.tiles(size(200, 20), 3, 3, 12, "@2x.png")...)
	paths = append(paths, s.tiles(size(200, 20), 3, 3, 12, ".mvt")...)
	requests(len(paths), 4, func(_ *assault, i int) string { return paths[i] }, func(i int) int { return i % 16 }, "Accept-Encoding", "gzip")(a)
	t.Logf("warmed up: %s", a.summary())
	time.Sleep(size(5*time.Second, 200*time.Millisecond))
}
