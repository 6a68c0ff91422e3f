//go:build unix

package faulttest

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

const (
	twoLakes        = "id,name,lat,lon,region,area_km2\nmueggelsee,Müggelsee,52.4383,13.6461,Berlin,7.4\nstechlin,Stechlinsee,53.1500,13.0250,Brandenburg,4.25\n"
	twoObservations = "lake_id,date,chl,data_type\nmueggelsee,2024-11-11,62.5,satellite\nstechlin,2024-11-11,,satellite\nstechlin,2024-11-18,2.126,ai_forecast\n"
)

// refreshState is what /readyz reports about refreshes. Refresh is nil before the first one.
type refreshState struct {
	Refresh *struct {
		LastSuccess *time.Time `json:"last_success"`
		LastError   *string    `json:"last_error"`
		Failures    int
		Rows        struct{ Added, Changed, Unchanged, Rejected int }
	}
}

// failed reports whether the last refresh has failed with that error.
func (r refreshState) failed(message string) bool {
	return r.Refresh != nil && r.Refresh.LastError != nil && *r.Refresh.LastError == message
}

func refreshStateOf(t testing.TB, s *limnomaptest.Server) (state refreshState) {
	t.Helper()
	limnomaptest.GetJSON(t, s.Base+"/readyz", &state)
	return state
}

// totalLakes returns how many lakes the server shows.
func totalLakes(t testing.TB, s *limnomaptest.Server) int {
	t.Helper()
	var status limnomaptest.Status
	limnomaptest.GetJSON(t, s.Base+statusPath, &status)
	return status.TotalLakes
}

// putFile moves a complete file into a folder, with a modification time of an hour ago.
func putFile(t testing.TB, dir, name, text string) {
	t.Helper()
	path := limnomaptest.WriteFile(t, t.TempDir(), name, text)
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(path, old, old))
	must(t, os.Rename(path, filepath.Join(dir, name)))
}

// TestRefreshFromAFolder has one server refresh the database every second. It and another server of the same database show
// the new data, and report failures.
func TestRefreshFromAFolder(t *testing.T) {
	t.Parallel()
	db, in := filepath.Join(t.TempDir(), "lakes.db"), t.TempDir()
	refreshing := start(t, "--db", db, "--refresh-from", in, "--refresh-every", "1s")
	other := start(t, "--db", db)
	limnomaptest.Within(t, patience, "both servers report that there is no file", func() bool {
		a, b := refreshStateOf(t, refreshing), refreshStateOf(t, other)
		return a.failed("the source has no file") && a.Refresh.LastSuccess == nil && b.failed("the source has no file")
	})
	if n := refreshing.Metric(t, "limnomap_refresh_consecutive_failures"); n < 1 {
		t.Errorf("%v failures, want some", n)
	}

	before := time.Now().Truncate(time.Second)
	putFile(t, in, "lakes.csv", twoLakes)
	limnomaptest.Within(t, patience, "both servers show the lakes", func() bool {
		return totalLakes(t, refreshing) == 2 && totalLakes(t, other) == 2
	})
	for _, s := range []*limnomaptest.Server{refreshing, other} {
		limnomaptest.Within(t, patience, "the server reports a success", func() bool {
			r := refreshStateOf(t, s).Refresh
			return r.LastError == nil && r.LastSuccess != nil && !r.LastSuccess.Before(before) && r.Rows.Added == 2 && r.Failures == 0
		})
		if at := s.Metric(t, "limnomap_refresh_last_success_timestamp_seconds"); at < float64(before.Unix()) {
			t.Errorf("the last success was at %v, want %v or later", at, before.Unix())
		}
		if n := s.Metric(t, `limnomap_refresh_rows{outcome="added"}`); n != 2 {
			t.Errorf("%v rows added, want 2", n)
		}
	}

	putFile(t, in, "obs.csv", twoObservations+"stechlin,2024-11-18,-5,satellite\n")
	limnomaptest.Within(t, patience, "both servers report the rejected row", func() bool {
		a, b := refreshStateOf(t, refreshing), refreshStateOf(t, other)
		return a.failed("rows were rejected") && a.Refresh.Rows.Rejected == 1 && a.Refresh.Rows.Added == 0 && b.Refresh.LastError != nil
	})
	if n := totalLakes(t, refreshing); n != 2 {
		t.Errorf("%d lakes after a rejected refresh, want the 2 from before", n)
	}
	if !strings.Contains(refreshing.Log.String(), "obs.csv, line 5 (stechlin): chl") {
		t.Errorf("the log does not name the row:\n%s", refreshing.Log)
	}
	if n := refreshing.Metric(t, reloadFailures); n != 0 {
		t.Errorf("%v snapshots could not be loaded, want 0: only refreshes have failed", n)
	}
	refreshing.Stop(t)
	other.Stop(t)
}

// TestOneRefreshAtATime starts further refreshes while the first one waits for its file.
func TestOneRefreshAtATime(t *testing.T) {
	t.Parallel()
	var downloads atomic.Int32
	requested, proceed := make(chan bool, 8), make(chan bool)
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/lakes" {
			http.NotFound(w, r)
			return
		}
		downloads.Add(1)
		requested <- true
		select {
		case <-proceed:
		case <-r.Context().Done():
		}
		_, _ = io.WriteString(w, twoLakes)
	}))
	defer source.Close()
	db := filepath.Join(t.TempDir(), "lakes.db")
	importFile(t, "lakes", limnomaptest.WriteFile(t, t.TempDir(), "one.csv", "id,name,lat,lon\none,One,50,10\n"), db)
	flags := []string{"refresh", "--db", db, "--from", source.URL + "/lakes"}
	first, output := startCommand(t, flags...)
	<-requested
	for range 3 {
		if out, err := runCommand(t, flags...); err == nil || !strings.Contains(out, "another process is refreshing the database") {
			t.Errorf("a second refresh at the same time: %v\n%s", err, out)
		}
	}
	// A refresh with a schedule waits until its time has come.
	weekly, weeklyOutput := startCommand(t, append(flags, "--every", "7d")...)
	close(proceed)
	if err := first.Wait(); err != nil || !strings.Contains(output.String(), "2 added") {
		t.Errorf("the first refresh: %v\n%s", err, output)
	}
	must(t, weekly.Process.Signal(os.Interrupt))
	_ = weekly.Wait() // exit code 1 if the signal came before the process handles signals
	if n := downloads.Load(); n != 1 {
		t.Errorf("%d downloads, want 1\n%s", n, weeklyOutput)
	}
	if n := storedLakes(t, db); n != 3 {
		t.Errorf("%d lakes, want 3", n)
	}
}

// storedLakes returns how many lakes a database has.
func storedLakes(t testing.TB, db string) int {
	t.Helper()
	var collection struct{ Features []json.RawMessage }
	must(t, json.Unmarshal([]byte(limnomaptest.Run(t, "export", "lakes", "-", "--db", db)), &collection))
	return len(collection.Features)
}

// TestRefreshKilled kills a refresh during its import. No server ever shows any of its rows, and the next refresh starts
// when the claim of the dead process has expired.
func TestRefreshKilled(t *testing.T) {
	t.Parallel()
	db := newGermanDB(t)
	s := start(t, serverFlags(db)...)
	client := newClient(t)
	before, err := get(client, s.Base+statusPath)
	if err != nil || before.status != http.StatusOK {
		t.Fatalf("status: %v, %v", before, err)
	}
	in := t.TempDir()
	var rows bytes.Buffer
	writeEndlessObservations(nopCloser{&rows})
	putFile(t, in, "obs.csv", rows.String())
	putFile(t, in, "lakes.csv", "id,name,lat,lon\nnew,New,50,10\n")

	started := time.Now()
	cmd, output := startCommand(t, "refresh", "--db", db, "--from", in)
	awaitWrites(t, db, started, 1<<20)
	must(t, cmd.Process.Kill())
	if err := cmd.Wait(); err == nil {
		t.Fatalf("the refresh succeeded, want it killed\n%s", output)
	}
	if after, err := get(client, s.Base+statusPath); err != nil || after != before {
		t.Errorf("after a killed refresh: %v, %v, want the same as before", after, err)
	}
	restarted := start(t, serverFlags(db)...)
	if after, err := get(client, restarted.Base+statusPath); err != nil || after != before {
		t.Errorf("restarted after a killed refresh: %v, %v, want the same as before", after, err)
	}
	limnomaptest.Within(t, patience, "/readyz reports a refresh without success", func() bool {
		r := refreshStateOf(t, restarted).Refresh
		return r != nil && r.LastSuccess == nil
	})

	if out, err := runCommand(t, "refresh", "--db", db, "--from", in); err == nil || !strings.Contains(out, "if that process has ended, try again after") {
		t.Errorf("right after the kill: %v\n%s", err, out)
	}
	expireClaim(t, db)
	must(t, os.Remove(filepath.Join(in, "obs.csv")))
	if out := limnomaptest.Run(t, "refresh", "--db", db, "--from", in); !strings.Contains(out, "1 added") {
		t.Error(out)
	}
	limnomaptest.Within(t, patience, "the server reports the next refresh", func() bool {
		r := refreshStateOf(t, s).Refresh
		return r != nil && r.LastSuccess != nil && r.Failures == 0 && r.Rows.Added == 1
	})
}

// expireClaim makes the claim of a refresh expire now.
func expireClaim(t *testing.T, db string) {
	t.Helper()
	s, err := sql.Open("sqlite", "file:"+db+"?_pragma=busy_timeout(10000)")
	must(t, err)
	defer s.Close()
	_, err = s.ExecContext(t.Context(), "UPDATE refresh SET held_until = 1 WHERE holder <> ''")
	must(t, err)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
