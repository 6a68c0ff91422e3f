//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// killDuringWrites kills a server again and again while it writes tiles and, since its budget is small, trims
// its folder. What it leaves there is never a wrong tile.
func (g *ground) killDuringWrites(t *testing.T) {
	kills := 3
	if inFull() {
		kills = 50
	}
	dir := t.TempDir()
	flags := faultFlags(g.db, "--cache-dir", dir, "--cache-disk", "1MiB")

	var right int64
	for range kills {
		p := startReady(t, flags...)
		timer := time.AfterFunc(time.Duration(rand.Int64N(int64(400*time.Millisecond))), func() { p.Process.Kill() })
		n, err := g.want.hammer(t.Context(), t, p)
		if err == nil {
			t.Error("the server answered to the end, want it killed")
		}
		timer.Stop()
		p.kill(t)
		right += n
	}
	left := filesIn(t, dir)
	t.Logf("%d kills, %d answers, %d entries and %d unfinished files left", kills, right, len(left.entries), len(left.temps))
	if right == 0 || len(left.entries) == 0 {
		t.Fatalf("%d answers and %d entries, want some of each", right, len(left.entries))
	}

	for _, temp := range left.temps {
		yesterday := time.Now().AddDate(0, 0, -1)
		if err := os.Chtimes(temp, yesterday, yesterday); err != nil {
			t.Fatal(err)
		}
	}
	p := startReady(t, flags...)
	g.want.check(t, p, g.paths)
	if got := p.metric(t, "limnomap_tile_disk_damaged_total"); got != 0 {
		t.Errorf("%v entries are damaged, want none: they are renamed when they are whole", got)
	}
	if got := p.metric(t, `limnomap_tile_cache_hits_total{tier="disk"}`); got == 0 {
		t.Error("no tile came from disk, want those that were written before the kills")
	}
	limnomaptest.Within(t, 10*time.Second, "yesterday's unfinished files are gone", func() bool {
		for _, temp := range left.temps {
			if _, err := os.Lstat(temp); err == nil {
				return false
			}
		}
		return true
	})
}

// files are those of a cache's folder.
type files struct {
	entries []string
	temps   []string // not finished, whether somebody still writes them or not
	bytes   int64    // of both
}

// filesIn lists dir. Files may come and go meanwhile.
func filesIn(t testing.TB, dir string) (found files) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		found.bytes += info.Size()
		if strings.HasSuffix(path, ".tmp") {
			found.temps = append(found.temps, path)
		} else {
			found.entries = append(found.entries, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestFaultKillDuringImport kills an import that has not read its file to the end. Nothing of it is ever seen: not by
// the server that runs, not by the next one, not by the next import.
func TestFaultKillDuringImport(t *testing.T) {
	t.Parallel()
	kills := 1
	if inFull() {
		kills = 10
	}
	db := faultDB(t)
	p := startReady(t, faultFlags(db)...)
	client := newClient(t)
	const status = "/api/v1/bathing-lakes/status"
	before, err := wholeAnswer(client, p.base+status)
	if err != nil || before.status != http.StatusOK {
		t.Fatalf("status: %v, %v", before, err)
	}
	for range kills {
		killImport(t, db)
		if after, err := wholeAnswer(client, p.base+status); err != nil || after != before {
			t.Errorf("after a killed import: %v, %v, want the same as before: %v", after, err, before)
		}
	}
	restarted := startReady(t, faultFlags(db)...)
	if after, err := wholeAnswer(client, restarted.base+status); err != nil || after != before {
		t.Errorf("restarted after killed imports: %v, %v, want the same as before: %v", after, err, before)
	}
	mustRun(t, "import", "observations", limnomaptest.WriteFile(t, t.TempDir(), "obs.csv", "lake_id,date,chl,data_type\nde_000,2024-11-18,1,satellite\n"), "--db", db)
	limnomaptest.Within(t, 20*time.Second, "the next import is seen", func() bool {
		after, err := wholeAnswer(client, p.base+status)
		return err == nil && after.status == http.StatusOK && after != before
	})
}

// killImport starts an import of db, feeds it without end until it has written what it has not committed, and kills it.
func killImport(t *testing.T, db string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	input, feed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	imp := exec.CommandContext(t.Context(), exe, "import", "observations", "/dev/stdin", "--db", db)
	imp.Env = append(os.Environ(), "LIMNOMAP_TEST_AS_MAIN=1")
	log := new(limnomaptest.Log)
	imp.Stdin, imp.Stderr = input, log
	if err := imp.Start(); err != nil {
		t.Fatal(err)
	}
	input.Close()
	fed := make(chan int64)
	go func() { // ends when the import is dead and the pipe broken
		fed <- feedObservations(feed)
	}()
	limnomaptest.Within(t, time.Minute, "the import writes to the database", func() bool {
		info, err := os.Stat(db + "-wal")
		return err == nil && info.Size() > 0 && info.ModTime().After(started)
	})
	time.Sleep(time.Duration(rand.Int64N(int64(100 * time.Millisecond)))) // so that each kill finds another moment
	if err := imp.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := imp.Wait(); err == nil {
		t.Error("the import ended well, want it killed")
	}
	t.Logf("killed after %d bytes", <-fed)
	if log.String() != "" {
		t.Errorf("the import said %s", log)
	}
}

// feedObservations writes more observations than anybody reads, until w fails. It returns how many bytes it wrote, and
// closes w.
func feedObservations(w io.WriteCloser) (written int64) {
	defer w.Close()
	lines := bytes.NewBufferString("lake_id,date,chl,data_type\n")
	for day := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2024; day = day.AddDate(0, 0, 1) {
		for i := range faultLakes() {
			fmt.Fprintf(lines, "de_%03d,%s,99,satellite\n", i, day.Format(time.DateOnly))
		}
		n, err := lines.WriteTo(w)
		written += n
		if err != nil {
			break
		}
	}
	return written
}
