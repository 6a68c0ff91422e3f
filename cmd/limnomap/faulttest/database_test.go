//go:build unix

package faulttest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

const reloadFailures = "limnomap_snapshot_refresh_failures_total"

// TestDamagedDatabase makes the database of a running server useless. The server keeps serving the data it has, reports the
// failure, and takes over the next good database by itself.
func TestDamagedDatabase(t *testing.T) {
	t.Parallel()
	garbage := func(content []byte) []byte { return bytes.Repeat([]byte("id,name,lat,lon\n"), len(content)/16) }
	for _, test := range testsize.Cases(2, []struct {
		name string
		do   func(t *testing.T, path string, content []byte)
		log  string // must be in the log
	}{
		{"emptied", func(t *testing.T, path string, _ []byte) { overwrite(t, path, nil) }, "was emptied"},
		{"cut in half", func(t *testing.T, path string, content []byte) { must(t, os.Truncate(path, int64(len(content)/2))) }, "damaged"},
		{"overwritten with garbage", func(t *testing.T, path string, content []byte) { overwrite(t, path, garbage(content)) }, ""},
		{"replaced by garbage", func(t *testing.T, path string, content []byte) { replace(t, path, garbage(content)) }, "not an SQLite database"},
		{"replaced by an empty file", func(t *testing.T, path string, _ []byte) { replace(t, path, nil) }, "the file is empty"},
		{"removed", func(t *testing.T, path string, _ []byte) { must(t, os.Remove(path)) }, "was removed"},
		{"replaced by a folder", func(t *testing.T, path string, _ []byte) {
			must(t, os.Remove(path))
			must(t, os.Mkdir(path, 0o755))
		}, "this is a folder"},
	}) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			db, next := newUniformDB(t, uniformLakes, 5), newUniformDB(t, uniformLakes, 50)
			importOldValues(t, db)
			content, err := os.ReadFile(db.path)
			must(t, err)
			s := start(t, "--db", db.path, "--api-rate", "0", "--weeks", "1")
			wantValue(t, s, 5)
			wantMonitor(t, s, db.key, http.StatusOK)

			test.do(t, db.path, content)
			limnomaptest.Within(t, patience, "the metric counts the failed reload", func() bool { return s.Metric(t, reloadFailures) > 0 })
			if reloadFailedSince(t, s) == "" {
				t.Error("/readyz does not report the failed reload")
			}
			if log := eventLog(s); !strings.Contains(log, "level=WARN") || !strings.Contains(log, db.path) || !strings.Contains(log, test.log) {
				t.Errorf("the log has no warning about %s with %q:\n%s", db.path, test.log, log)
			}
			wantAnswers(t, s)
			wantValue(t, s, 5)
			wantHistory(t, s, 5)
			wantNoOldHistory(t, s, db.path)
			wantMonitor(t, s, db.key, http.StatusOK) // the server still accepts the keys that it knows

			_ = os.RemoveAll(db.path) // a folder; the rename replaces anything else
			must(t, os.Rename(next.path, db.path))
			awaitValue(t, s, 50)
			limnomaptest.Within(t, patience, "/readyz reports no failed reload", func() bool { return reloadFailedSince(t, s) == "" })
			limnomaptest.Within(t, patience, "the log reports the recovery", func() bool { return strings.Contains(eventLog(s), "failed_since=") })
			wantHistory(t, s, 50)
			limnomaptest.Within(t, patience, "the key of the new database is accepted", func() bool { return monitorStatus(t, s, next.key) == http.StatusOK })
			stopCleanly(t, s)
		})
	}
}

// TestReplacedDatabase replaces a database in the ways that operators do. The server takes over the new data, and nothing
// fails meanwhile.
func TestReplacedDatabase(t *testing.T) {
	t.Parallel()
	for _, test := range testsize.Cases(1, []struct {
		name string
		do   func(t *testing.T, db, next uniformDB)
	}{
		{"another database moved over it", func(t *testing.T, db, next uniformDB) { must(t, os.Rename(next.path, db.path)) }},
		{"removed and imported again", func(t *testing.T, db, next uniformDB) {
			must(t, os.Remove(db.path))
			importFile(t, "lakes", next.lakes, db.path)
			importFile(t, "observations", next.values, db.path)
		}},
		{"write-ahead log removed before an import", func(t *testing.T, db, next uniformDB) {
			must(t, os.Remove(db.path+"-wal"))
			time.Sleep(3 * time.Second) // the server checks its database every second
			importFile(t, "observations", next.values, db.path)
		}},
		{"write-ahead log and its index removed after an import", func(t *testing.T, db, next uniformDB) {
			importFile(t, "observations", next.values, db.path)
			must(t, os.Remove(db.path+"-wal"))
			must(t, os.Remove(db.path+"-shm"))
		}},
	}) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			db, next := newUniformDB(t, uniformLakes, 5), newUniformDB(t, uniformLakes, 50)
			s := start(t, "--db", db.path, "--api-rate", "0")
			wantValue(t, s, 5)
			test.do(t, db, next)
			awaitValue(t, s, 50)
			wantHistory(t, s, 50)
			stopCleanly(t, s)
			// The import is in the file, and not only in the memory of the server that has just ended.
			wantValue(t, start(t, "--db", db.path), 50)
		})
	}
}

// overwrite writes content into an existing file, as cp does.
func overwrite(t testing.TB, path string, content []byte) {
	t.Helper()
	must(t, os.WriteFile(path, content, 0o644))
}

// replace moves a new file over another one, as mv does.
func replace(t testing.TB, path string, content []byte) {
	t.Helper()
	overwrite(t, path+".new", content)
	must(t, os.Rename(path+".new", path))
}

// reloadFailedSince returns since when /readyz reports failed reloads, or "". The server must be ready.
func reloadFailedSince(t testing.TB, s *limnomaptest.Server) string {
	t.Helper()
	var ready struct {
		Status string
		Since  *string `json:"refresh_failed_since"`
	}
	limnomaptest.GetJSON(t, s.Base+"/readyz", &ready)
	switch {
	case ready.Status != "ready":
		t.Errorf("/readyz says %q, want ready", ready.Status)
	case ready.Since != nil:
		return *ready.Since
	}
	return ""
}

const (
	historyPath    = "/api/v1/bathing-lakes/history/lake_7?limit=10"      // in the memory of the server
	oldHistoryPath = "/api/v1/bathing-lakes/history/lake_7?to=2000-12-31" // only in the database
)

// importOldValues imports values that are years older than those a server holds in memory.
func importOldValues(t testing.TB, db uniformDB) {
	t.Helper()
	values := limnomaptest.WriteFile(t, t.TempDir(), "old.csv", "lake_id,date,chl,data_type\nlake_7,2000-01-03,5,satellite\nlake_7,2001-01-01,5,satellite\n")
	importFile(t, "observations", values, db.path)
}

// wantNoOldHistory checks that a history that only the database has is refused with 503, without internal details.
func wantNoOldHistory(t testing.TB, s *limnomaptest.Server, path string) {
	t.Helper()
	resp, err := requestClient.Get(s.Base + oldHistoryPath)
	if err != nil {
		t.Errorf("a history from an unusable database: %v", err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("a history from an unusable database: %s, Retry-After %q, %v, want 503 with it", resp.Status, resp.Header.Get("Retry-After"), err)
	}
	var problem struct{ Title, Detail string } // without the request id, which may have any letters
	must(t, json.Unmarshal(body, &problem))
	if text := problem.Title + problem.Detail; strings.Contains(text, path) || strings.Contains(strings.ToLower(text), "sql") {
		t.Errorf("the answer shows internal details: %s", body)
	}
}

func wantHistory(t testing.TB, s *limnomaptest.Server, want float64) {
	t.Helper()
	var answer struct {
		History []struct{ Chl *float64 }
	}
	limnomaptest.GetJSON(t, s.Base+historyPath, &answer)
	if len(answer.History) != 10 || answer.History[0].Chl == nil || *answer.History[0].Chl != want {
		t.Errorf("the history is %v, want ten times %v", answer.History, want)
	}
}

func monitorStatus(t testing.TB, s *limnomaptest.Server, key string) int {
	t.Helper()
	resp, _ := limnomaptest.Get(t, s.Base+"/api/v1/monitor/lakes", "X-API-Key", key)
	return resp.StatusCode
}

func wantMonitor(t testing.TB, s *limnomaptest.Server, key string, want int) {
	t.Helper()
	if got := monitorStatus(t, s, key); got != want {
		t.Errorf("the monitored lakes: %d, want %d", got, want)
	}
}
