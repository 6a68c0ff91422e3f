package main

import (
	"bytes"
	"context"
	"encoding/json"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

// patience is how long a test waits for something that takes a second or two on an idle machine.
const patience = 2 * time.Minute

var (
	openAddress  = regexp.MustCompile(`"?open"?[=:]"?(http[^\s"]+)/`)
	adminAddress = regexp.MustCompile(`url=(\S+)/metrics`)
)

func TestMain(m *testing.M) {
	testsize.FewerChecks("25")
	os.Exit(m.Run())
}

// By default the page asks no other server for anything.
func TestNoThirdPartyByDefault(t *testing.T) {
	base, _ := startServer(t)
	var settings map[string]any
	limnomaptest.GetJSON(t, base+"/page.json", &settings)
	if basemap, ok := settings["basemap"]; !ok || basemap != nil {
		t.Errorf("the basemap is %v, want none", basemap)
	}
	resp, _ := limnomaptest.Get(t, base+"/")
	if policy := resp.Header.Get("Content-Security-Policy"); policy == "" || strings.Contains(policy, "http") {
		t.Errorf("the page may reach other servers: %s", policy)
	}
}

// startServer runs serve until the test ends and returns its address without the slash at the end, once it is ready.
func startServer(t testing.TB, args ...string) (base string, log *limnomaptest.Log) {
	t.Helper()
	return startServerFor(t, http.DefaultClient, args...)
}

// startServerFor is startServer of a server that answers such a client.
func startServerFor(t testing.TB, client *http.Client, args ...string) (base string, log *limnomaptest.Log) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	log = new(limnomaptest.Log)
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--drain", "0s", "--cache-dir", t.TempDir()}, args...)
	done := make(chan error, 1)
	go func() { // ends with cancel, below
		done <- run(ctx, args, io.Discard, log)
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve = %v\n%s", err, log)
		}
	})
	limnomaptest.Within(t, patience, "serve logs its address", func() bool {
		if m := openAddress.FindStringSubmatch(log.String()); m != nil {
			base = m[1]
		}
		select {
		case err := <-done:
			done <- err
			t.Fatalf("serve = %v\n%s", err, log)
		default:
		}
		return base != ""
	})
	limnomaptest.Within(t, patience, "/readyz says 200", func() bool {
		resp, err := client.Get(base + "/readyz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return base, log
}

// mustDo fails the test if err is not nil.
func mustDo(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestServeDemo(t *testing.T) {
	base, log := startServer(t)
	if !strings.Contains(log.String(), "imulated") {
		t.Errorf("the log does not say that the demo is simulated:\n%s", log)
	}
	var status limnomaptest.Status
	resp := limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/status", &status)
	if status.TotalLakes < 300 || len(status.Lakes) != status.TotalLakes {
		t.Errorf("total_lakes = %d with %d records, want at least 300", status.TotalLakes, len(status.Lakes))
	}
	if notice := resp.Header.Get("X-Data-Notice"); !strings.Contains(notice, "imulated") {
		t.Errorf("X-Data-Notice = %q, want it to say that the values are simulated", notice)
	}
	risks := map[string]int{}
	for _, l := range status.Lakes {
		risks[l.Risk]++
	}
	for _, risk := range []string{"low", "medium", "high"} {
		if risks[risk] == 0 {
			t.Errorf("no lake of the demo has risk %s: %v", risk, risks)
		}
	}
	for _, url := range []string{"/api/v1/tiles/6/33/21.png", "/api/v1/tiles/6/33/21@2x.png", "/api/v1/tiles/6/33/21.png?style=dots"} {
		resp, body := limnomaptest.Get(t, base+url)
		img, err := png.Decode(bytes.NewReader(body))
		if err != nil {
			t.Fatalf("%s: %s, %v", url, resp.Status, err)
		}
		want := 256
		if strings.Contains(url, "@2x") {
			want = 512
		}
		if img.Bounds().Dx() != want || img.Bounds().Dy() != want {
			t.Errorf("%s is %v, want %d pixels square", url, img.Bounds(), want)
		}
	}
	for url, want := range map[string]string{"/api/v1/legend.png": "\x89PNG", "/api/v1/legend.svg": "<svg"} {
		if resp, body := limnomaptest.Get(t, base+url); resp.StatusCode != http.StatusOK || !bytes.HasPrefix(body, []byte(want)) {
			t.Errorf("%s: %s, %.20q, want %q", url, resp.Status, body, want)
		}
	}
	if resp, body := limnomaptest.Get(t, base+"/"); resp.StatusCode != http.StatusOK || !bytes.Contains(body, []byte("<html")) {
		t.Errorf("the page: %s", resp.Status)
	}
	if resp, body := limnomaptest.Get(t, base+"/metrics"); resp.StatusCode != http.StatusOK || !bytes.Contains(body, []byte("limnomap_lakes")) {
		t.Errorf("/metrics: %s, limnomap_lakes among it: %v", resp.Status, bytes.Contains(body, []byte("limnomap_lakes")))
	}
}

func TestServeUnderBasePath(t *testing.T) {
	base, _ := startServer(t, "--base-path", "/lakes", "--public-url", "https://maps.example.org")
	if !strings.HasSuffix(base, "/lakes") {
		t.Fatalf("open address = %s, want it under /lakes", base)
	}
	var tileJSON struct{ Tiles []string }
	limnomaptest.GetJSON(t, base+"/api/v1/tiles.json", &tileJSON)
	if len(tileJSON.Tiles) != 1 || !strings.HasPrefix(tileJSON.Tiles[0], "https://maps.example.org/lakes/api/v1/tiles/{z}/{x}/{y}.png") {
		t.Errorf("tiles = %q", tileJSON.Tiles)
	}
}

func TestJSONLog(t *testing.T) {
	_, log := startServer(t, "--log-format", "json", "--log-level", "info")
	for line := range strings.Lines(log.String()) {
		var entry struct{ Level, Msg string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Level == "" || entry.Msg == "" {
			t.Errorf("log line %q: %v, want an object with level and msg", line, err)
		}
	}
}

func TestAdminListener(t *testing.T) {
	base, log := startServer(t, "--admin-listen", "127.0.0.1:0", "--admin-host", "metrics.example.org")
	m := adminAddress.FindStringSubmatch(log.String())
	if m == nil {
		t.Fatalf("no admin address in the log:\n%s", log)
	}
	if resp, _ := limnomaptest.Get(t, base+"/metrics"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("/metrics on the public listener: %s, want 404", resp.Status)
	}
	for _, path := range []string{"/metrics", "/debug/pprof/cmdline", "/readyz"} {
		if resp, _ := limnomaptest.Get(t, m[1]+path); resp.StatusCode != http.StatusOK {
			t.Errorf("%s on the admin listener: %s", path, resp.Status)
		}
	}
	if _, words := limnomaptest.Get(t, m[1]+"/debug/pprof/cmdline"); !strings.Contains(string(words), "limnomap\x00serve\x00") {
		t.Errorf("the command line is %q", words)
	}
	// A page under a name that its owner lets point here (DNS rebinding) reads nothing of the process.
	for _, test := range []struct {
		host, path string
		status     int
	}{
		{"attacker.example", "/metrics", http.StatusMisdirectedRequest},
		{"attacker.example:9091", "/debug/pprof/heap", http.StatusMisdirectedRequest},
		{"attacker.example", "/debug/pprof/cmdline", http.StatusMisdirectedRequest},
		{"attacker.example", "/readyz", http.StatusOK}, // for load balancers; public elsewhere
		{"attacker.example", "/healthz", http.StatusOK},
		{"limnomap:9090", "/metrics", http.StatusOK},
		{"metrics.example.org:9090", "/metrics", http.StatusOK},
	} {
		r, err := http.NewRequest(http.MethodGet, m[1]+test.path, nil)
		mustDo(t, err)
		r.Host = test.host
		resp, err := http.DefaultClient.Do(r)
		mustDo(t, err)
		resp.Body.Close()
		if resp.StatusCode != test.status {
			t.Errorf("%s with the Host %s on the admin listener: %s, want %d", test.path, test.host, resp.Status, test.status)
		}
	}
}

const (
	lakesCSV = "id,name,lat,lon,region,area_km2\nmueggelsee,Müggelsee,52.4383,13.6461,Berlin,7.4\nstechlin,Stechlinsee,53.1500,13.0250,Brandenburg,4.25\n"
	obsCSV   = "lake_id,date,chl,data_type\nmueggelsee,2024-11-11,62.5,satellite\nstechlin,2024-11-11,,satellite\nstechlin,2024-11-18,2.126,ai_forecast\n"
)

// runCommand runs a limnomap command in this process and returns its output.
func runCommand(t testing.TB, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errOut bytes.Buffer
	err = run(t.Context(), args, &out, &errOut)
	return out.String(), errOut.String(), err
}

func mustRun(t testing.TB, args ...string) string {
	t.Helper()
	stdout, stderr, err := runCommand(t, args...)
	if err != nil {
		t.Fatalf("limnomap %s: %v\n%s%s", strings.Join(args, " "), err, stdout, stderr)
	}
	return stdout
}

func TestImportThenServe(t *testing.T) {
	t.Parallel() // it waits for the list of keys to grow old
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.csv", lakesCSV), "--db", db)
	mustRun(t, "import", "observations", limnomaptest.WriteFile(t, dir, "obs.csv", obsCSV), "--db", db)
	base, _ := startServer(t, "--db", db, "--as-of", "data")

	statusURL := base + "/api/v1/bathing-lakes/status"
	var status limnomaptest.Status
	resp := limnomaptest.GetJSON(t, statusURL, &status)
	if status.TotalLakes != 2 || status.LakesWithData != 1 {
		t.Fatalf("status holds %d lakes, %d with data, want 2 and 1", status.TotalLakes, status.LakesWithData)
	}
	if notice := resp.Header.Get("X-Data-Notice"); notice != "" {
		t.Errorf("X-Data-Notice = %q on real data", notice)
	}
	if l := status.Lakes[0]; l.ID != "mueggelsee" || l.Chl == nil || *l.Chl != 62.5 || l.Risk != "high" {
		t.Errorf("first lake = %+v", l)
	}
	if l := status.Lakes[1]; l.Chl != nil || l.Risk != "" || l.Color != "#9aa0a6" {
		t.Errorf("a lake that has only a forecast = %+v, want no value", l)
	}

	t.Run("an import shows within seconds", func(t *testing.T) {
		more := limnomaptest.WriteFile(t, dir, "more.csv", "lake_id,date,chl,data_type\nstechlin,2024-11-18,9.996,satellite\n")
		mustRun(t, "import", "observations", more, "--db", db)
		limnomaptest.Within(t, patience, "the server shows the import", func() bool {
			limnomaptest.GetJSON(t, statusURL, &status)
			return status.LakesWithData == 2
		})
		if l := status.Lakes[1]; *l.Chl != 10 || l.Risk != "medium" {
			t.Errorf("9.996 µg/l is served as %v, risk %s; want 10, medium", *l.Chl, l.Risk)
		}
	})

	t.Run("keys", func(t *testing.T) {
		url := base + "/api/v1/monitor/lakes"
		if resp, _ := limnomaptest.Get(t, url); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("without a key: %s", resp.Status)
		}
		out := mustRun(t, "keys", "create", "--name", "test", "--db", db)
		key := strings.TrimSuffix(out, "\n")
		if strings.ContainsAny(key, " \n") || len(key) < 20 {
			t.Fatalf("stdout = %q, want only the key", out)
		}
		if _, _, err := runCommand(t, "keys", "create", "--name", "test", "--db", db); err == nil {
			t.Error("a second key of the same name was made")
		}
		limnomaptest.Within(t, patience, "the new key is accepted", func() bool {
			resp, _ := limnomaptest.Get(t, url, "X-API-Key", key)
			return resp.StatusCode == http.StatusOK
		})
		if list := mustRun(t, "keys", "list", "--db", db); !strings.Contains(list, "test") || strings.Contains(list, key) {
			t.Errorf("keys list = %q", list)
		}
		mustRun(t, "keys", "revoke", "test", "--db", db)
		limnomaptest.Within(t, patience, "the revoked key is refused", func() bool {
			resp, _ := limnomaptest.Get(t, url, "X-API-Key", key)
			return resp.StatusCode == http.StatusUnauthorized
		})
	})
}

func TestImportRejects(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	bad := limnomaptest.WriteFile(t, dir, "bad.csv", lakesCSV+"nowhere,Nowhere,,,Berlin,1\n")
	stdout, _, err := runCommand(t, "import", "lakes", bad, "--db", db)
	if err == nil || !strings.Contains(err.Error(), "nothing written") {
		t.Errorf("a file with a bad row: %v, want an error", err)
	}
	if !strings.Contains(stdout, "bad.csv:4") && !strings.Contains(stdout, "line 4") {
		t.Errorf("the report does not name line 4:\n%s", stdout)
	}
	mustRun(t, "import", "lakes", bad, "--db", db, "--skip-bad")
	fresh := filepath.Join(dir, "fresh.db")
	unknown := limnomaptest.WriteFile(t, dir, "unknown.csv", obsCSV)
	for _, skip := range []string{"--skip-bad=false", "--skip-bad"} {
		if _, _, err := runCommand(t, "import", "observations", unknown, "--db", fresh, skip); err == nil {
			t.Errorf("an import that wrote nothing (%s) succeeded", skip)
		}
		if _, err := os.Stat(fresh); err == nil {
			t.Errorf("an import that wrote nothing (%s) left a new database behind", skip)
		}
	}
	again := mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.csv", lakesCSV), "--db", db)
	if !strings.Contains(again, "2") || !strings.Contains(again, "unchanged") {
		t.Errorf("the same lakes again:\n%s", again)
	}
}

func TestHealthcheck(t *testing.T) {
	base, _ := startServer(t, "--base-path", "/lakes")
	address := strings.TrimSuffix(strings.TrimPrefix(base, "http://"), "/lakes")
	if out := mustRun(t, "healthcheck", "--listen", address, "--base-path", "/lakes", "--ready"); out != "ok\n" {
		t.Errorf("healthcheck = %q", out)
	}
	if _, _, err := runCommand(t, "healthcheck", "--listen", address); err == nil {
		t.Error("healthcheck outside of the base path succeeded")
	}
}
