//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

const (
	// uniformLakes is how many lakes a uniform database holds unless a test wants more.
	uniformLakes = 200
	// answerTime is within what a server answers everybody else, whatever one client does to it. It is no measure of
	// speed: only a server that waits for that client takes longer.
	answerTime = 10 * time.Second
)

// impatient asks a server that somebody else keeps busy, on a connection of its own each time.
var impatient = http.Client{Timeout: answerTime, Transport: &http.Transport{DisableKeepAlives: true}}

// A uniformDB is a closed database whose lakes all have one value, so that an answer from two of them shows.
type uniformDB struct {
	path          string
	lakes, values string // the tables that it was imported from
	key           string // that it accepts
}

func newUniformDB(t testing.TB, lakes int, chl float64) uniformDB {
	t.Helper()
	dir := t.TempDir()
	db := uniformDB{
		path:   filepath.Join(dir, "lakes.db"),
		lakes:  writeLakes(t, dir, lakes),
		values: writeValues(t, dir, lakes, chl),
	}
	mustRun(t, "import", "lakes", db.lakes, "--db", db.path)
	mustRun(t, "import", "observations", db.values, "--db", db.path)
	db.key = strings.TrimSpace(mustRun(t, "keys", "create", "--name", "test", "--db", db.path))
	return db
}

// writeLakes writes a table of n lakes all over Germany, and returns its name.
func writeLakes(t testing.TB, dir string, n int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,name,lat,lon\n")
	for i := range n {
		fmt.Fprintf(&b, "lake_%d,See %d,%.4f,%.4f\n", i, i, 47.5+float64(i%50)*0.14, 6+float64(i/50)*8/float64(1+n/50))
	}
	return limnomaptest.WriteFile(t, dir, "lakes.csv", b.String())
}

// writeValues writes a table of ten weeks' observations of n lakes, all of the one value, and returns its name.
func writeValues(t testing.TB, dir string, n int, chl float64) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("lake_id,date,chl,data_type\n")
	for i := range n {
		for week := range 10 {
			date := time.Date(2024, 9, 2+7*week, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
			fmt.Fprintf(&b, "lake_%d,%s,%v,satellite\n", i, date, chl)
		}
	}
	return limnomaptest.WriteFile(t, dir, fmt.Sprintf("values-%v.csv", chl), b.String())
}

// mustExec runs limnomap to its end as a process of its own, as an operator does beside a server.
func mustExec(t testing.TB, args ...string) {
	t.Helper()
	if out, err := limnomap(args...).CombinedOutput(); err != nil {
		t.Fatalf("limnomap %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// limnomap returns the process of a command, which is not yet started.
func limnomap(args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), "LIMNOMAP_TEST_AS_MAIN=1")
	return c
}

// oneValue returns the value that all lakes of a status have, or an error that says what else there is.
func oneValue(body []byte) (float64, error) {
	var status limnomaptest.Status
	if err := json.Unmarshal(body, &status); err != nil {
		return 0, err
	}
	if n := len(status.Lakes); n == 0 || n != status.TotalLakes || n != status.LakesWithData {
		return 0, fmt.Errorf("%d records of %d lakes, %d with data, want as many of each", n, status.TotalLakes, status.LakesWithData)
	}
	first := status.Lakes[0].Chl
	for _, l := range status.Lakes {
		if l.Chl == nil || *l.Chl != *first {
			return 0, fmt.Errorf("lake %s has %v, the first %v", l.ID, l.Chl, *first)
		}
	}
	return *first, nil
}

// shownValue returns the value that all lakes of a server have.
func shownValue(p *process) (float64, error) {
	resp, err := impatient.Get(p.base + "/api/v1/bathing-lakes/status")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	return oneValue(body)
}

func wantShown(t testing.TB, p *process, want float64) {
	t.Helper()
	if got, err := shownValue(p); err != nil || got != want {
		t.Errorf("the server shows %v, %v, want %v", got, err, want)
	}
}

func awaitShown(t testing.TB, p *process, d time.Duration, want float64) {
	t.Helper()
	limnomaptest.Within(t, d, fmt.Sprintf("the server shows %v", want), func() bool {
		got, err := shownValue(p)
		return err == nil && got == want
	})
}

// wantAnswers checks that the server still answers whoever asks it for anything.
func wantAnswers(t testing.TB, p *process) {
	t.Helper()
	for _, path := range []string{"/api/v1/bathing-lakes/status", "/api/v1/bathing-lakes/geojson", "/api/v1/tiles/6/33/21.png", "/readyz", "/"} {
		resp, err := impatient.Get(p.base + path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s, %v, want a whole 200", path, resp.Status, err)
		}
		resp.Body.Close()
	}
}

// events returns a server's log without the requests, of which there are too many to read.
func events(p *process) string {
	var b strings.Builder
	for line := range strings.Lines(p.log.String()) {
		if !strings.Contains(line, "msg=request ") {
			b.WriteString(line)
		}
	}
	return b.String()
}
