//go:build unix

package main

import (
	"bytes"
	"database/sql"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A refreshAnswer is what /readyz says of refreshes.
type refreshAnswer struct {
	Refresh *struct {
		LastSuccess *time.Time `json:"last_success"`
		LastError   *string    `json:"last_error"`
		Failures    int
		Rows        struct{ Added, Changed, Unchanged, Rejected int }
	}
}

func (p *process) refresh(t testing.TB) (a refreshAnswer) {
	t.Helper()
	limnomaptest.GetJSON(t, p.base+"/readyz", &a)
	return a
}

// totalLakes returns how many lakes the server shows.
func (p *process) totalLakes(t testing.TB) int {
	t.Helper()
	var status limnomaptest.Status
	limnomaptest.GetJSON(t, p.base+"/api/v1/bathing-lakes/status", &status)
	return status.TotalLakes
}

func TestServeRefreshesFromAFolder(t *testing.T) {
	t.Parallel()
	db, in := filepath.Join(t.TempDir(), "lakes.db"), t.TempDir()
	p := startReady(t, "--db", db, "--refresh-from", in, "--refresh-every", "1s", "--drain", "0s")
	// Another server of the same database, which refreshes nothing, tells of it as well.
	watching := startReady(t, "--db", db, "--drain", "0s")
	limnomaptest.Within(t, 20*time.Second, "both servers tell that there is no file", func() bool {
		a, b := p.refresh(t).Refresh, watching.refresh(t).Refresh
		return a != nil && a.LastError != nil && *a.LastError == "the source has no file" && a.LastSuccess == nil &&
			b != nil && b.LastError != nil && *b.LastError == "the source has no file"
	})
	if n := p.metric(t, "limnomap_refresh_consecutive_failures"); n < 1 {
		t.Errorf("%v failures, want some", n)
	}

	before := time.Now().Truncate(time.Second)
	drop(t, in, "lakes.csv", lakesCSV)
	limnomaptest.Within(t, 20*time.Second, "both servers show the lakes", func() bool { return p.totalLakes(t) == 2 && watching.totalLakes(t) == 2 })
	for _, server := range []*process{p, watching} {
		limnomaptest.Within(t, 20*time.Second, "both servers tell of a success", func() bool {
			a := server.refresh(t).Refresh
			return a.LastError == nil && a.LastSuccess != nil && !a.LastSuccess.Before(before) && a.Rows.Added == 2 && a.Failures == 0
		})
		if at := server.metric(t, "limnomap_refresh_last_success_timestamp_seconds"); at < float64(before.Unix()) {
			t.Errorf("the last success was at %v, want %v or later", at, before.Unix())
		}
		if n := server.metric(t, `limnomap_refresh_rows{outcome="added"}`); n != 2 {
			t.Errorf("%v rows added, want 2", n)
		}
	}

	drop(t, in, "obs.csv", obsCSV+"stechlin,2024-11-18,-5,satellite\n")
	limnomaptest.Within(t, 20*time.Second, "both servers tell of the rejection", func() bool {
		a, b := p.refresh(t).Refresh, watching.refresh(t).Refresh
		return a.LastError != nil && *a.LastError == "rows were rejected" && a.Rows.Rejected == 1 && a.Rows.Added == 0 && b.LastError != nil
	})
	if n := p.totalLakes(t); n != 2 {
		t.Errorf("%d lakes after a refresh that was rejected, want the 2 of before", n)
	}
	if !strings.Contains(p.log.String(), "obs.csv, line 5 (stechlin): chl") {
		t.Errorf("the log does not name the row:\n%s", p.log)
	}
	if n := p.metric(t, "limnomap_snapshot_refresh_failures_total"); n != 0 {
		t.Errorf("%v snapshots could not be loaded, want 0: that is something else", n)
	}
	p.stop(t)
	watching.stop(t)
}

// command starts limnomap as a process of its own that runs beside the test.
func command(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	said := new(bytes.Buffer)
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), "LIMNOMAP_TEST_AS_MAIN=1")
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, said
}

func TestProcessesRefreshOneAtATime(t *testing.T) {
	t.Parallel()
	var downloads atomic.Int32
	asked, answer := make(chan bool, 8), make(chan bool)
	office := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/lakes" {
			http.NotFound(w, r)
			return
		}
		downloads.Add(1)
		asked <- true
		select {
		case <-answer:
		case <-r.Context().Done():
		}
		io.WriteString(w, lakesCSV)
	}))
	defer office.Close()
	db := filepath.Join(t.TempDir(), "lakes.db")
	mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, t.TempDir(), "one.csv", "id,name,lat,lon\none,One,50,10\n"), "--db", db)
	flags := []string{"refresh", "--db", db, "--from", office.URL + "/lakes"}
	first, said := command(t, flags...)
	<-asked
	for range 3 { // while the first waits for its file
		if _, _, err := runCommand(t, flags...); err == nil || !strings.Contains(err.Error(), "another process is refreshing the database") {
			t.Errorf("beside another process: %v", err)
		}
	}
	// One with a schedule waits for its turn, which is not now.
	weekly, weeklySaid := command(t, append(flags, "--every", "7d")...)
	close(answer)
	if err := first.Wait(); err != nil || !strings.Contains(said.String(), "2 added") {
		t.Errorf("the first: %v\n%s", err, said)
	}
	if err := weekly.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = weekly.Wait() // with 1 if the signal came before it was listened to
	if n := downloads.Load(); n != 1 {
		t.Errorf("%d downloads, want 1\n%s", n, weeklySaid)
	}
	if n := len(storedLakes(t, db)); n != 3 {
		t.Errorf("%d lakes, want 3", n)
	}
}

// TestFaultKillDuringRefresh kills a refresh in the midst of its import. Nothing of it is ever seen, and the next one
// begins when the claim of the dead process has ended.
func TestFaultKillDuringRefresh(t *testing.T) {
	t.Parallel()
	db := faultDB(t)
	p := startReady(t, faultFlags(db)...)
	client := newClient(t)
	const status = "/api/v1/bathing-lakes/status"
	before, err := wholeAnswer(client, p.base+status)
	if err != nil || before.status != http.StatusOK {
		t.Fatalf("status: %v, %v", before, err)
	}
	in := t.TempDir()
	var rows bytes.Buffer
	feedObservations(nopCloser{&rows})
	drop(t, in, "obs.csv", rows.String())
	drop(t, in, "lakes.csv", "id,name,lat,lon\nnew,New,50,10\n")

	started := time.Now()
	cmd, said := command(t, "refresh", "--db", db, "--from", in)
	limnomaptest.Within(t, time.Minute, "the refresh writes to the database", func() bool {
		info, err := os.Stat(db + "-wal")
		return err == nil && info.Size() > 1<<20 && info.ModTime().After(started)
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatalf("the refresh ended well, want it killed\n%s", said)
	}
	if after, err := wholeAnswer(client, p.base+status); err != nil || after != before {
		t.Errorf("after a killed refresh: %v, %v, want the same as before", after, err)
	}
	restarted := startReady(t, faultFlags(db)...)
	if after, err := wholeAnswer(client, restarted.base+status); err != nil || after != before {
		t.Errorf("restarted after a killed refresh: %v, %v, want the same as before", after, err)
	}
	limnomaptest.Within(t, 20*time.Second, "/readyz tells of a refresh that has not succeeded", func() bool {
		a := restarted.refresh(t).Refresh
		return a != nil && a.LastSuccess == nil
	})

	if _, _, err := runCommand(t, "refresh", "--db", db, "--from", in); err == nil || !strings.Contains(err.Error(), "if that process has ended, try again after") {
		t.Errorf("at once after the kill: %v", err)
	}
	endClaim(t, db)
	if err := os.Remove(filepath.Join(in, "obs.csv")); err != nil {
		t.Fatal(err)
	}
	if out := mustRun(t, "refresh", "--db", db, "--from", in); !strings.Contains(out, "1 added") {
		t.Error(out)
	}
	limnomaptest.Within(t, 20*time.Second, "the next refresh is seen", func() bool {
		a := p.refresh(t).Refresh
		return a != nil && a.LastSuccess != nil && a.Failures == 0 && a.Rows.Added == 1
	})
}

// endClaim lets the time of a claim go by.
func endClaim(t *testing.T, db string) {
	t.Helper()
	s, err := sql.Open("sqlite", "file:"+db+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.ExecContext(t.Context(), "UPDATE refresh SET held_until = 1 WHERE holder <> ''"); err != nil {
		t.Fatal(err)
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
