//go:build unix && soak

package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

const (
	soakLakes  = 1892
	soakImport = 20 * time.Second
	// soakGrowth is by how much the second half of a soak may use more than the first, after a quarter of it to warm
	// up: what is in use swings with imports and collections, a leak of a long run shows all the same.
	soakGrowth = 1.10
)

// TestSoak serves a mixed load from a server of its own for as long as LIMNOMAP_SOAK says, with an import every 20 s.
// Nothing may fail, and what the server holds may not grow. Run it without the race detector: make soak. The tag keeps it
// out of the tests of every change, where it would only be left out.
func TestSoak(t *testing.T) {
	text := os.Getenv("LIMNOMAP_SOAK")
	duration, err := time.ParseDuration(text)
	if err != nil || duration < 20*time.Second {
		t.Fatalf("LIMNOMAP_SOAK=%q: want a duration of 20s or more, such as 10m", text)
	}
	db := newUniformDB(t, soakLakes, 5)
	// Small caches, so that they are full, and throw out, during all of it.
	p := startQuiet(t, "--db", db.path, "--api-rate", "0", "--tile-rate", "0", "--key-rate", "0",
		"--cache-dir", t.TempDir(), "--cache-disk", "16MiB", "--cache-memory", "4MiB")
	limnomaptest.Within(t, time.Minute, "ready", func() bool { return statusOf(p.base+"/readyz") == http.StatusOK })

	beforeReady := len(p.log.String()) // it warns of whoever asks before that

	end := time.Now().Add(duration)
	var load sync.WaitGroup
	clients := 1
	if wrk, err := exec.LookPath("wrk"); err == nil {
		load.Go(func() { soakWithWrk(t, wrk, p, db.key, duration) }) // ends when wrk does, after duration
	} else {
		t.Log("THERE IS NO wrk: clients of this test make the load alone")
		clients = 8
	}
	for i := range clients {
		load.Go(func() { soakClient(t, p, db.key, uint64(i), end) }) // ends at the end
	}
	load.Go(func() { soakImports(t, p, db, min(soakImport, duration/15), end) }) // ends at the end

	samples := []sample{sampleOf(t, p)}
	for interval := min(10*time.Second, duration/40); time.Now().Before(end); {
		time.Sleep(interval)
		samples = append(samples, sampleOf(t, p))
	}
	load.Wait()
	report(t, samples)
	wantFlat(t, samples[len(samples)/4:])
	wantNoErrors(t, p)
	wantQuietEnd(t, p)
	if log := p.log.String()[beforeReady:]; log != "" {
		t.Errorf("the server had something to warn of:\n%s", log)
	}
}

// startQuiet is [startProcess] of a server that logs warnings only, and so no addresses: there are too many requests
// to keep a log of them.
func startQuiet(t testing.TB, args ...string) *process {
	t.Helper()
	var addresses [2]string
	for i := range addresses {
		l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free now
		mustDo(t, err)
		addresses[i] = l.Addr().String()
		mustDo(t, l.Close())
	}
	p := &process{base: "http://" + addresses[0], admin: "http://" + addresses[1], log: new(limnomaptest.Log)}
	p.Cmd = limnomap(append([]string{"serve", "--listen", addresses[0], "--admin-listen", addresses[1], "--log-level", "warn"}, args...)...)
	p.Stderr = p.log
	mustDo(t, p.Start())
	t.Cleanup(func() { p.Process.Kill() })
	return p
}

var soakResult = regexp.MustCompile(`SOAK requests=(\d+) (status=0 connect=0 read=0 write=0 timeout=0 )?.*`)

// soakWithWrk has wrk make the load of testdata/soak.lua.
func soakWithWrk(t *testing.T, wrk string, p *process, key string, d time.Duration) {
	out, err := exec.Command(wrk, "-t", "1", "-c", "16", "-d", strconv.Itoa(int(d.Seconds()))+"s", "--timeout", "10s",
		"-s", "testdata/soak.lua", p.base, "--", key).CombinedOutput()
	m := soakResult.FindSubmatch(out)
	if err != nil || m == nil || len(m[2]) == 0 || string(m[1]) == "0" {
		t.Errorf("wrk: %v, want requests without errors\n%s", err, out)
		return
	}
	t.Logf("wrk: %s", m[0])
}

// soakClient asks for all kinds of answers until the end, and reads each to its last byte.
func soakClient(t *testing.T, p *process, key string, seed uint64, end time.Time) {
	random := rand.New(rand.NewPCG(seed, 600))
	client := newImportClient(t, p, key)
	n := 0
	for ; time.Now().Before(end); n++ {
		paths := []string{
			"/api/v1/bathing-lakes/status", "/api/v1/bathing-lakes/geojson", "/api/v1/tiles.json", "/api/v1/legend.svg", "/", loadTile,
			"/api/v1/bathing-lakes/history/lake_" + strconv.Itoa(random.IntN(soakLakes)),
			"/api/v1/bathing-lakes/status?risk=low&max_lat=" + strconv.Itoa(48+random.IntN(6)),
			fmt.Sprintf("/api/v1/tiles/9/%d/%d.png", 265+random.IntN(12), 165+random.IntN(15)),
			fmt.Sprintf("/api/v1/monitor/lakes?offset=%d", random.IntN(soakLakes)),
		}
		path := paths[random.IntN(len(paths))]
		if _, err := client.fetch(path); err != nil {
			t.Error(err)
			return
		}
		if len(client.etags) > 10000 {
			clear(client.etags) // of answers that no longer come
		}
	}
	t.Logf("client %d: %d whole answers", seed, n)
}

// soakImports changes the newest value of some lakes again and again, and waits for each import to be shown.
func soakImports(t *testing.T, p *process, db uniformDB, every time.Duration, end time.Time) {
	client := http.Client{Timeout: reloadTime}
	n := 0
	for ; time.Now().Add(every).Before(end); n++ {
		time.Sleep(every)
		chl := 6 + n%90
		rows := fmt.Sprintf("lake_id,date,chl,data_type\nlake_0,2024-11-04,%d,satellite\n", chl)
		for i := range 20 {
			rows += fmt.Sprintf("lake_%d,2024-11-04,%d,satellite\n", 1+(20*n+i)%(soakLakes-1), chl)
		}
		file := db.path + ".csv"
		out, err := []byte(nil), os.WriteFile(file, []byte(rows), 0o600)
		if err == nil {
			out, err = limnomap("import", "observations", file, "--db", db.path).CombinedOutput()
		}
		if err != nil {
			t.Errorf("import %d: %v\n%s", n, err, out)
			return
		}
		want := fmt.Sprintf(`"id":"lake_0","name":"See 0","lat":47.5,"lon":6,"chl":%d,`, chl)
		for deadline := time.Now().Add(reloadTime); ; time.Sleep(100 * time.Millisecond) {
			a, err := wholeAnswer(&client, p.base+"/api/v1/bathing-lakes/status")
			if err == nil && strings.Contains(a.body, want) {
				break
			}
			if time.Now().After(deadline) {
				t.Errorf("import %d is not shown within %v: %v", n, reloadTime, err)
				return
			}
		}
	}
	t.Logf("%d imports", n)
}
