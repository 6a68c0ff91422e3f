//go:build unix

package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// reloadTime is within what a server shows other data: the longest wait between two tries to read a damaged database,
// and as long again on a busy machine.
const reloadTime = time.Minute

const refreshFailures = "limnomap_snapshot_refresh_failures_total"

// TestFaultDatabase does to the database of a running server what makes it useless. The server keeps serving what it
// has, says so, and takes up the next good one by itself.
func TestFaultDatabase(t *testing.T) {
	t.Parallel()
	garbage := func(content []byte) []byte { return bytes.Repeat([]byte("id,name,lat,lon\n"), len(content)/16) }
	nothing := func([]byte) []byte { return nil }
	for _, test := range []struct {
		name string
		do   func(t *testing.T, path string, content []byte)
		says string // the log
	}{
		{"emptied", func(t *testing.T, path string, content []byte) { writeOver(t, path, nothing(content)) }, "was emptied"},
		{"cut in half", func(t *testing.T, path string, content []byte) { writeOver(t, path, content[:len(content)/2]) }, "damaged"},
		{"written over by garbage", func(t *testing.T, path string, content []byte) { writeOver(t, path, garbage(content)) }, ""},
		{"replaced by garbage", func(t *testing.T, path string, content []byte) { moveOver(t, path, garbage(content)) }, "not an SQLite database"},
		{"replaced by an empty file", func(t *testing.T, path string, content []byte) { moveOver(t, path, nothing(content)) }, "nothing has been imported"},
		{"removed", func(t *testing.T, path string, _ []byte) { mustDo(t, os.Remove(path)) }, "was removed"},
		{"replaced by a folder", func(t *testing.T, path string, _ []byte) {
			mustDo(t, os.Remove(path))
			mustDo(t, os.Mkdir(path, 0o755))
		}, "this is a folder"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			db, next := newUniformDB(t, uniformLakes, 5), newUniformDB(t, uniformLakes, 50)
			addOldValues(t, db)
			content, err := os.ReadFile(db.path)
			mustDo(t, err)
			p := startReady(t, "--db", db.path, "--api-rate", "0", "--weeks", "1")
			wantShown(t, p, 5)
			wantMonitor(t, p, db.key, http.StatusOK)

			test.do(t, db.path, content)
			limnomaptest.Within(t, reloadTime, "the metric tells of the failed refresh", func() bool { return p.metric(t, refreshFailures) > 0 })
			if refreshFailedSince(t, p) == "" {
				t.Error("/readyz does not tell of the failed refresh")
			}
			if log := events(p); !strings.Contains(log, "refresh failed") || !strings.Contains(log, db.path) || !strings.Contains(log, test.says) {
				t.Errorf("the log does not say that %s %s:\n%s", db.path, test.says, log)
			}
			wantAnswers(t, p)
			wantShown(t, p, 5)
			wantHistory(t, p, 5)
			wantNoOldHistory(t, p, db.path)
			wantMonitor(t, p, db.key, http.StatusOK) // as long as the keyring trusts what it knows

			_ = os.RemoveAll(db.path) // a folder; anything else the rename below replaces
			mustDo(t, os.Rename(next.path, db.path))
			awaitShown(t, p, reloadTime, 50)
			limnomaptest.Within(t, reloadTime, "/readyz tells that refreshing works again", func() bool { return refreshFailedSince(t, p) == "" })
			limnomaptest.Within(t, reloadTime, "the log says so too", func() bool { return strings.Contains(events(p), "refresh works again") })
			wantHistory(t, p, 50)
			limnomaptest.Within(t, reloadTime, "the new database's key is accepted", func() bool { return monitorStatus(t, p, next.key) == http.StatusOK })
			wantQuietEnd(t, p)
		})
	}
}

// TestFaultDatabaseChangedByHand is what operators do to a database that has another good one in its place, or itself,
// afterwards. The server notices, and nothing fails meanwhile.
func TestFaultDatabaseChangedByHand(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		do   func(t *testing.T, db, next uniformDB)
	}{
		{"another moved over it", func(t *testing.T, db, next uniformDB) { mustDo(t, os.Rename(next.path, db.path)) }},
		{"another copied over it", func(t *testing.T, db, next uniformDB) {
			content, err := os.ReadFile(next.path)
			mustDo(t, err)
			writeOver(t, db.path, content)
		}},
		{"removed and imported anew", func(t *testing.T, db, next uniformDB) {
			mustDo(t, os.Remove(db.path))
			mustExec(t, "import", "lakes", next.lakes, "--db", db.path)
			mustExec(t, "import", "observations", next.values, "--db", db.path)
		}},
		{"its log removed before an import", func(t *testing.T, db, next uniformDB) {
			mustDo(t, os.Remove(db.path+"-wal"))
			time.Sleep(3 * time.Second) // the server looks each second
			mustExec(t, "import", "observations", next.values, "--db", db.path)
		}},
		{"its log and the log's index removed after an import", func(t *testing.T, db, next uniformDB) {
			mustExec(t, "import", "observations", next.values, "--db", db.path)
			mustDo(t, os.Remove(db.path+"-wal"))
			mustDo(t, os.Remove(db.path+"-shm"))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			db, next := newUniformDB(t, uniformLakes, 5), newUniformDB(t, uniformLakes, 50)
			p := startReady(t, "--db", db.path, "--api-rate", "0")
			wantShown(t, p, 5)
			test.do(t, db, next)
			awaitShown(t, p, reloadTime, 50)
			wantHistory(t, p, 50)
			wantQuietEnd(t, p)
			// What was imported is in the file, and not only in the hands of the server that has just ended.
			wantShown(t, startReady(t, "--db", db.path), 50)
		})
	}
}

// TestFaultDatabaseMadeAnewAgainAndAgain is the quickest that a script can do it: nothing that an import said was
// written may be lost, whenever the server looks.
func TestFaultDatabaseMadeAnewAgainAndAgain(t *testing.T) {
	t.Parallel()
	rounds := 2 // one for each value
	if inFull() {
		rounds = 30
	}
	db, next := newUniformDB(t, uniformLakes, 5), newUniformDB(t, uniformLakes, 50)
	p := startReady(t, "--db", db.path, "--api-rate", "0")
	for round := range rounds {
		values, want := next.values, 50.0
		if round%2 == 1 {
			values, want = db.values, 5
		}
		mustDo(t, os.Remove(db.path))
		mustExec(t, "import", "lakes", db.lakes, "--db", db.path)
		mustExec(t, "import", "observations", values, "--db", db.path)
		awaitShown(t, p, reloadTime, want)
	}
	wantQuietEnd(t, p)
}

// writeOver writes content into a file as cp does: the file stays the same one.
func writeOver(t testing.TB, path string, content []byte) {
	t.Helper()
	mustDo(t, os.WriteFile(path, content, 0o644))
}

// moveOver puts a file with that content in the place of another.
func moveOver(t testing.TB, path string, content []byte) {
	t.Helper()
	writeOver(t, path+".new", content)
	mustDo(t, os.Rename(path+".new", path))
}

func mustDo(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refreshFailedSince returns what /readyz says of it, "" for never. The server is ready whatever it says.
func refreshFailedSince(t testing.TB, p *process) string {
	t.Helper()
	var ready struct {
		Status string
		Since  *string `json:"refresh_failed_since"`
	}
	limnomaptest.GetJSON(t, p.base+"/readyz", &ready)
	switch {
	case ready.Status != "ready":
		t.Errorf("/readyz says %q, want ready", ready.Status)
	case ready.Since != nil:
		return *ready.Since
	}
	return ""
}

const (
	historyPath    = "/api/v1/bathing-lakes/history/lake_7?limit=10"      // which the server holds in memory
	oldHistoryPath = "/api/v1/bathing-lakes/history/lake_7?to=2000-12-31" // which it does not
)

// addOldValues imports values of a lake that are years older than those that a server holds in memory.
func addOldValues(t testing.TB, db uniformDB) {
	t.Helper()
	values := limnomaptest.WriteFile(t, t.TempDir(), "old.csv", "lake_id,date,chl,data_type\nlake_7,2000-01-03,5,satellite\nlake_7,2001-01-01,5,satellite\n")
	mustRun(t, "import", "observations", values, "--db", db.path)
}

// wantNoOldHistory checks that a history, which only the database knows, is refused in time and without internals.
func wantNoOldHistory(t testing.TB, p *process, path string) {
	t.Helper()
	resp, err := (&http.Client{Timeout: 30 * time.Second}).Get(p.base + oldHistoryPath)
	if err != nil {
		t.Errorf("a history from a database that is not there: %v", err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("a history from a database that is not there: %s, Retry-After %q, %v, want 503 with it", resp.Status, resp.Header.Get("Retry-After"), err)
	}
	if text := strings.ToLower(string(body)); strings.Contains(text, path) || strings.Contains(text, "sql") {
		t.Errorf("the answer shows internals: %s", body)
	}
}

func wantHistory(t testing.TB, p *process, want float64) {
	t.Helper()
	var answer struct {
		History []struct{ Chl *float64 }
	}
	limnomaptest.GetJSON(t, p.base+historyPath, &answer)
	if len(answer.History) != 10 || answer.History[0].Chl == nil || *answer.History[0].Chl != want {
		t.Errorf("the history is %v, want ten times %v", answer.History, want)
	}
}

func monitorStatus(t testing.TB, p *process, key string) int {
	t.Helper()
	resp, _ := limnomaptest.Get(t, p.base+"/api/v1/monitor/lakes", "X-API-Key", key)
	return resp.StatusCode
}

func wantMonitor(t testing.TB, p *process, key string, want int) {
	t.Helper()
	if got := monitorStatus(t, p, key); got != want {
		t.Errorf("the monitored lakes: %d, want %d", got, want)
	}
}

// wantQuietEnd ends the server as an operator does, and fails if it has panicked or seen a race.
func wantQuietEnd(t testing.TB, p *process) {
	t.Helper()
	p.stop(t)
	for _, sign := range []string{"panic", "DATA RACE", "goroutine "} {
		if strings.Contains(p.log.String(), sign) {
			t.Errorf("%q in the log:\n%s", sign, p.log)
		}
	}
}
