//go:build unix

package faulttest

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

// TestImportKilled kills an import before it has read all of its input. Neither the running server, nor the next one, nor
// the next import sees any of its rows.
func TestImportKilled(t *testing.T) {
	t.Parallel()
	kills := testsize.Of(1, 10)
	db := newGermanDB(t)
	s := start(t, serverFlags(db)...)
	client := newClient(t)
	before, err := get(client, s.Base+statusPath)
	if err != nil || before.status != http.StatusOK {
		t.Fatalf("status: %v, %v", before, err)
	}
	for range kills {
		killImport(t, db)
		if after, err := get(client, s.Base+statusPath); err != nil || after != before {
			t.Errorf("after a killed import: %v, %v, want the same as before: %v", after, err, before)
		}
	}
	restarted := start(t, serverFlags(db)...)
	if after, err := get(client, restarted.Base+statusPath); err != nil || after != before {
		t.Errorf("restarted after killed imports: %v, %v, want the same as before: %v", after, err, before)
	}
	importFile(t, "observations", limnomaptest.WriteFile(t, t.TempDir(), "obs.csv", "lake_id,date,chl,data_type\nde_000,2024-11-18,1,satellite\n"), db)
	limnomaptest.Within(t, patience, "the server shows the next import", func() bool {
		after, err := get(client, s.Base+statusPath)
		return err == nil && after.status == http.StatusOK && after != before
	})
}

// killImport starts an import with endless input, waits until it has written uncommitted rows, and kills it.
func killImport(t *testing.T, db string) {
	t.Helper()
	input, feed, err := os.Pipe()
	must(t, err)
	started := time.Now()
	imp := limnomaptest.Command(t, "import", "observations", "/dev/stdin", "--db", db, "--force")
	log := new(limnomaptest.Log)
	imp.Stdin, imp.Stderr = input, log
	must(t, imp.Start())
	t.Cleanup(func() { _ = imp.Process.Kill() })
	input.Close()
	written := make(chan int64)
	go func() { // ends when the import is dead and the pipe is broken
		written <- writeEndlessObservations(feed)
	}()
	awaitWrites(t, db, started, 1)
	time.Sleep(time.Duration(rand.Int64N(int64(100 * time.Millisecond)))) // so that each kill meets another step
	must(t, imp.Process.Kill())
	if err := imp.Wait(); err == nil {
		t.Error("the import succeeded, want it killed")
	}
	t.Logf("killed after %d bytes", <-written)
	if log.String() != "" {
		t.Errorf("the import printed %s", log)
	}
}

// awaitWrites waits until the write-ahead log of a database was written to after started and has at least size bytes.
func awaitWrites(t *testing.T, db string, started time.Time, size int64) {
	t.Helper()
	limnomaptest.Within(t, patience, "rows are written to the database", func() bool {
		info, err := os.Stat(db + "-wal")
		return err == nil && info.Size() >= size && info.ModTime().After(started)
	})
}

// writeEndlessObservations writes more observations than an import reads before it is killed. It returns how many bytes it
// wrote until w failed, and closes w.
func writeEndlessObservations(w io.WriteCloser) (written int64) {
	defer w.Close()
	lines := bytes.NewBufferString("lake_id,date,chl,data_type\n")
	for day := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2024; day = day.AddDate(0, 0, 1) {
		for i := range germanLakes() {
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
