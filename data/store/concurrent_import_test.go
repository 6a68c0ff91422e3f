package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/apikey"
)

const (
	// importEnv names the database for the process that imports during TestReadsDuringAnImport.
	importEnv = "LIMNOMAP_TEST_IMPORT_DB"
	// That import writes at least leastRows, and stops at mostRows.
	leastRows, mostRows = 100_000, 20_000_000
	concurrentLakes     = 60
)

// Another process imports until this one has done all its reads. So a read that waited for the end of the import would never
// return. Each read returns the state before the import.
func TestReadsDuringAnImport(t *testing.T) {
	if path := os.Getenv(importEnv); path != "" {
		importUntilInputEnds(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "lakes.db")
	s := openFile(t, path, true)
	var lakes []data.Lake
	var observations []data.Observation
	for i := range concurrentLakes {
		lakes = append(lakes, testLake(fmt.Sprintf("lake%02d", i)))
		observations = append(observations, testObservation(lakes[i].ID, -1, data.Satellite, 100))
	}
	put(t, &s.Store, lakes, observations)
	if err := s.CreateKey(t.Context(), apikey.Key{Name: "one", Scopes: apikey.ScopeMonitor, CreatedAt: time.Unix(0, 0)}); err != nil {
		t.Fatal(err)
	}
	before := revisionOf(t, &s.Store)

	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), importEnv+"="+path)
	child.Stderr = os.Stderr
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Process.Kill()
	var rows atomic.Int64 // written by the import
	var committed atomic.Bool
	outputEnded := make(chan struct{}) // closed after its last line
	go func() {                        // ends with the child
		defer close(outputEnded)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			var n int64
			if _, err := fmt.Sscanf(lines.Text(), "wrote %d", &n); err == nil {
				rows.Store(n)
			}
			if lines.Text() == "committed" {
				committed.Store(true)
			}
		}
	}()

	rounds := 0
	var alive sync.WaitGroup
	for from := int64(0); (rounds < 20 || from < leastRows) && !t.Failed(); rounds++ {
		from = rows.Load()
		for _, read := range []func() error{
			func() error { return wantUnchanged(&s.Store, before) },
			func() error {
				_, history, err := s.History(t.Context(), lakes[rounds%concurrentLakes].ID, data.Newest(10))
				if err == nil && (len(history) != 1 || history[0].Date != -1) {
					err = fmt.Errorf("History = %v, want the one row from before the import", history)
				}
				return err
			},
			func() error {
				keys, err := s.Keys(t.Context())
				if err == nil && len(keys) != 1 {
					err = fmt.Errorf("Keys = %v, want one", keys)
				}
				return err
			},
			func() error {
				rev, err := s.Revision(t.Context())
				if err == nil && rev != before {
					err = fmt.Errorf("Revision = %v, want %v", rev, before)
				}
				return err
			},
		} {
			alive.Go(func() { // ends with the read, which the loop waits for
				if err := read(); err != nil {
					t.Error(err)
				}
			})
		}
		alive.Wait()
	}
	if committed.Load() {
		t.Error("the import had ended before the reads did")
	}
	t.Logf("%d rounds of reads while %d rows were written", rounds, rows.Load())
	stdin.Close()
	<-outputEnded
	if err := child.Wait(); err != nil || !committed.Load() {
		t.Errorf("the import ended with %v, want a commit", err)
	}
	if rev := revisionOf(t, &s.Store); rev.Number != before.Number+1 {
		t.Errorf("after the import the revision is %v, want the next after %v", rev, before)
	}
}

// wantUnchanged scans a database and returns an error unless it is in the state before the import.
func wantUnchanged(s *Store, before data.Revision) error {
	lakes, observations := 0, 0
	rev, err := s.Scan(context.Background(),
		func(data.Lake) error { lakes++; return nil },
		func(data.Observation) error { observations++; return nil })
	if err == nil && (rev != before || lakes != concurrentLakes || observations != concurrentLakes) {
		err = fmt.Errorf("Scan = %v, %d lakes, %d observations, want %v and %d of each", rev, lakes, observations, before, concurrentLakes)
	}
	return err
}

// importUntilInputEnds writes batch after batch, and commits when standard input has ended.
func importUntilInputEnds(t *testing.T, path string) {
	var stop atomic.Bool
	go func() { // ends with the process
		io.Copy(io.Discard, os.Stdin)
		stop.Store(true)
	}()
	s := openFile(t, path, false)
	err := s.Import(t.Context(), func(tx Tx) error {
		for n := 0; n < leastRows || !stop.Load(); {
			if n > mostRows {
				return errors.New("the import was not stopped")
			}
			var batch []data.Observation
			for range 2000 {
				batch = append(batch, testObservation(data.LakeID(fmt.Sprintf("lake%02d", n%concurrentLakes)), data.Date(n/concurrentLakes), data.Satellite, 999))
				n++
			}
			if _, err := tx.PutObservations(t.Context(), batch, ObservationColumns{}); err != nil {
				return err
			}
			fmt.Println("wrote", n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("committed")
}

// With constant readers the log must not grow with each import.
func TestLogStaysShortWithReaders(t *testing.T) {
	const imports, rows, most = 8, 3_000, 64 << 10
	path := filepath.Join(t.TempDir(), "lakes.db")
	server := openFile(t, path, true)
	importer := openFile(t, path, false)
	importer.maxLogBytes = most
	put(t, &importer.Store, []data.Lake{testLake("a")}, someYears("a", 1)[:rows])
	oneImport := logSize(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() { // ends when the imports are done
			for ctx.Err() == nil {
				if _, _, err := server.History(ctx, "a", data.Newest(200)); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	longest := int64(0)
	for c := range data.Chlorophyll(imports) {
		put(t, &importer.Store, nil, someYears("a", c+2)[:rows])
		longest = max(longest, logSize(t, path))
	}
	cancel()
	readers.Wait()
	if longest > most+oneImport {
		t.Errorf("the log grew to %d bytes, want %d at most and one import's %d", longest, most, oneImport)
	}
	if imports*oneImport < 2*most {
		t.Errorf("%d imports of %d bytes could not show that the log is folded", imports, oneImport)
	}
}

func logSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// Creating a key waits some seconds for another process's import, and then fails with an explanation.
func TestKeysDuringAnImport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lakes.db")
	importer, patient, hasty := openFile(t, path, true), openFile(t, path, false), openFile(t, path, false)
	if _, err := hasty.writer.Exec("PRAGMA busy_timeout = 0"); err != nil { // on its only connection
		t.Fatal(err)
	}
	key := apikey.Key{Name: "one", Scopes: apikey.ScopeMonitor, CreatedAt: time.Unix(0, 0)}
	done := make(chan error, 1)
	var imported atomic.Bool
	err := importer.Import(t.Context(), func(tx Tx) error {
		// Also with the default timeout: storing the use of a key does not wait.
		began := time.Now()
		if err := patient.KeysUsed(t.Context(), []apikey.Use{{Name: "one", At: time.Now()}}); err == nil || !strings.Contains(err.Error(), "another process is writing to it") {
			t.Errorf("KeysUsed = %v, want an error that mentions the import", err)
		}
		if spent := time.Since(began); spent > 9*time.Second { // less than the wait for the lock
			t.Errorf("KeysUsed has waited for the import: %v", spent)
		}
		for doing, err := range map[string]error{
			"create an API key": hasty.CreateKey(t.Context(), key),
			"revoke an API key": hasty.RevokeKey(t.Context(), "one", time.Unix(0, 0)),
		} {
			if err == nil || !strings.Contains(err.Error(), doing+" in "+path+": another process is writing to it; try again when it is done") {
				t.Errorf("%s = %v, want an error that mentions the import", doing, err)
			}
		}
		go func() { // ends when the import has
			err := patient.CreateKey(t.Context(), key)
			if err == nil && !imported.Load() {
				err = errors.New("the key was made in the middle of an import")
			}
			done <- err
		}()
		_, err := tx.PutLakes(t.Context(), []data.Lake{testLake("a")}, LakeColumns{})
		imported.Store(true)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("CreateKey = %v, want it made once the import has ended", err)
	}
	if keys, err := hasty.Keys(t.Context()); err != nil || len(keys) != 1 || keys[0].Name != "one" {
		t.Errorf("Keys = %v, %v, want the key that waited", keys, err)
	}
}
