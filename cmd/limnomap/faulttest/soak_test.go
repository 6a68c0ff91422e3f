//go:build unix && long

package faulttest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
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
	// soakGrowth is how much more the second half of a soak may use than the first, not counting the first quarter of the
	// soak. Memory in use changes with imports and garbage collections; a leak in a long run is larger than that.
	soakGrowth = 1.10
)

// TestSoak sends a mixed load to a server for two minutes, or as long as LIMNOMAP_TEST_DURATION says, with an import every 20 s. No request
// may fail, and what the server holds may not grow. make soak runs only this test, without the race detector.
func TestSoak(t *testing.T) {
	text := cmp.Or(os.Getenv("LIMNOMAP_TEST_DURATION"), "2m")
	duration, err := time.ParseDuration(text)
	if err != nil || duration < 20*time.Second {
		t.Fatalf("LIMNOMAP_TEST_DURATION=%q: want a duration of 20s or more, such as 10m", text)
	}
	db := newUniformDB(t, soakLakes, 5)
	// Small caches, which are full and remove entries all the time.
	s := startQuiet(t, "--db", db.path, "--api-rate", "0", "--tile-rate", "0", "--key-rate", "0",
		"--cache-dir", t.TempDir(), "--cache-disk", "16MiB", "--cache-memory", "4MiB")

	beforeReady := len(s.Log.String()) // requests before that are answered with errors

	end := time.Now().Add(duration)
	var load sync.WaitGroup
	clients := 1
	if wrk, err := exec.LookPath("wrk"); err == nil {
		load.Go(func() { soakWithWrk(t, wrk, s, db.key, duration) }) // ends when wrk does, after duration
	} else {
		t.Log("wrk IS NOT INSTALLED: only clients of this test make the load")
		clients = 8
	}
	for i := range clients {
		load.Go(func() { soakClient(t, s, db.key, uint64(i), end) }) // ends at the end
	}
	load.Go(func() { soakImports(t, s, db, min(soakImport, duration/15), end) }) // ends at the end

	samples := []sample{takeSample(t, s)}
	for interval := min(10*time.Second, duration/40); time.Now().Before(end); {
		time.Sleep(interval)
		samples = append(samples, takeSample(t, s))
	}
	load.Wait()
	report(t, samples)
	wantNoGrowth(t, samples[len(samples)/4:])
	wantNoErrors(t, s)
	stopCleanly(t, s)
	if log := s.Log.String()[beforeReady:]; log != "" {
		t.Errorf("the server has logged warnings:\n%s", log)
	}
}

// startQuiet starts a server that only logs warnings, and so no addresses: a log of all requests would be too large.
func startQuiet(t testing.TB, args ...string) *limnomaptest.Server {
	t.Helper()
	public, admin := limnomaptest.FreeAddress(t), limnomaptest.FreeAddress(t)
	s := limnomaptest.LaunchAt(t, public, admin, append([]string{"--log-level", "warn"}, args...)...)
	s.AwaitReady(t)
	return s
}

var soakResult = regexp.MustCompile(`SOAK requests=(\d+) (status=0 connect=0 read=0 write=0 timeout=0 )?.*`)

// soakWithWrk has wrk send the requests of testdata/soak.lua.
func soakWithWrk(t *testing.T, wrk string, s *limnomaptest.Server, key string, d time.Duration) {
	out, err := exec.Command(wrk, "-t", "1", "-c", "16", "-d", strconv.Itoa(int(d.Seconds()))+"s", "--timeout", "10s",
		"-s", "testdata/soak.lua", s.Base, "--", key).CombinedOutput()
	m := soakResult.FindSubmatch(out)
	if err != nil || m == nil || len(m[2]) == 0 || string(m[1]) == "0" {
		t.Errorf("wrk: %v, want requests without errors\n%s", err, out)
		return
	}
	t.Logf("wrk: %s", m[0])
}

// soakClient requests all kinds of answers until the end, and reads each completely.
func soakClient(t *testing.T, s *limnomaptest.Server, key string, seed uint64, end time.Time) {
	random := rand.New(rand.NewPCG(seed, 600))
	client := newLoadClient(t, s, key)
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
			clear(client.etags) // most of them are of old answers
		}
	}
	t.Logf("client %d: %d complete answers", seed, n)
}

// soakImports changes the newest value of some lakes again and again, and waits until the server shows each import.
func soakImports(t *testing.T, s *limnomaptest.Server, db uniformDB, every time.Duration, end time.Time) {
	client := http.Client{Timeout: patience}
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
			out, err = limnomaptest.Command(t, "import", "observations", file, "--db", db.path, "--force").CombinedOutput()
		}
		if err != nil {
			t.Errorf("import %d: %v\n%s", n, err, out)
			return
		}
		want := fmt.Sprintf(`"id":"lake_0","name":"See 0","lat":47.5,"lon":6,"chl":%d,`, chl)
		for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
			a, err := get(&client, s.Base+statusPath)
			if err == nil && strings.Contains(a.body, want) {
				break
			}
			if time.Now().After(deadline) {
				t.Errorf("import %d is not shown within %v: %v", n, patience, err)
				return
			}
		}
	}
	t.Logf("%d imports", n)
}
