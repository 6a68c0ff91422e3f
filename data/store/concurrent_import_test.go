package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/apikey"
)

// With constant readers the log must not grow with each import.
func TestLogStaysShortWithReaders(t *testing.T) {
	const imports, rows, most = 4, 3_000, 64 << 10
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
