package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/apikey"
	"limnomap/data/snapshot"
)

// newFile creates a closed database of one lake. The time of its one import is always the same.
func newFile(t *testing.T, path string, lake string) {
	t.Helper()
	s, err := openSQLite(t.Context(), location{path: path}, true, permitUpgrade)
	if err != nil {
		t.Fatal(err)
	}
	s.now = func() time.Time { return time.Unix(43200, 0) }
	put(t, &s.Store, []data.Lake{testLake(lake)}, []data.Observation{testObservation(data.LakeID(lake), 20000, data.Satellite, 7)})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// wantLake checks that all results of a store come from the file of that one lake.
func wantLake(t *testing.T, s *Store, id data.LakeID) data.Revision {
	t.Helper()
	rev, lakes, observations := scan(t, s)
	if len(lakes) != 1 || lakes[0].ID != id || len(observations) != 1 || observations[0].LakeID != id {
		t.Errorf("Scan passed %v, %v, want lake %s and its observation", lakes, observations, id)
	}
	if lake, history, err := s.History(t.Context(), id, data.Newest(9)); err != nil || lake.ID != id || len(history) != 1 {
		t.Errorf("History = %v, %v, %v, want lake %s", lake, history, err, id)
	}
	if got := revisionOf(t, s); !got.Equal(rev) {
		t.Errorf("Revision = %v after a Scan of %v", got, rev)
	}
	if _, err := s.Keys(t.Context()); err != nil {
		t.Errorf("Keys = %v", err)
	}
	return rev
}

// wantRefused checks that all methods of a store return an error with an explanation.
func wantRefused(t *testing.T, s *Store, is error, want string) {
	t.Helper()
	ctx := t.Context()
	for name, use := range map[string]func() error{
		"Revision": func() error { _, err := s.Revision(ctx); return err },
		"Scan": func() error {
			_, err := s.Scan(ctx, func(data.Lake) error { return nil }, func(data.Observation) error { return nil })
			return err
		},
		"History":   func() error { _, _, err := s.History(ctx, "old", data.Newest(1)); return err },
		"Keys":      func() error { _, err := s.Keys(ctx); return err },
		"CreateKey": func() error { return s.CreateKey(ctx, apikey.Key{Name: "k", Scopes: apikey.ScopeMonitor}) },
		"RevokeKey": func() error { return s.RevokeKey(ctx, "k", time.Now()) },
		"RotateKey": func() error {
			return s.RotateKey(ctx, "k", time.Now(), func(k apikey.Key) apikey.Key { return k })
		},
		"KeysUsed": func() error { return s.KeysUsed(ctx, []apikey.Use{{Name: "k", At: time.Now()}}) },
		"Import":   func() error { return s.Import(ctx, func(Tx) error { return nil }) },
	} {
		err := use()
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "lakes.db") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s = %v, want one line with lakes.db and %q", name, err, want)
		}
		if is != nil && !errors.Is(err, is) {
			t.Errorf("%s = %v, want %v", name, err, is)
		}
	}
}

// Both files have the same revision number and time, and the log of the old one is not empty.
func TestReplacedByAnother(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "lakes.db"), filepath.Join(dir, "new.db")
	newFile(t, other, "new")
	server := openFile(t, path, true)
	server.now = func() time.Time { return time.Unix(43200, 0) }
	put(t, &server.Store, []data.Lake{testLake("old")}, []data.Observation{testObservation("old", 20000, data.Satellite, 5)})
	before := wantLake(t, &server.Store, "old")
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() == 0 {
		t.Fatalf("the log is %v, %v, want one with content", info, err)
	}
	rename(t, path, filepath.Join(dir, "kept.db"))
	rename(t, other, path)

	after := wantLake(t, &server.Store, "new")
	if after.Number != before.Number || !after.ChangedAt.Equal(before.ChangedAt) {
		t.Fatalf("revisions %v and %v, want the same number and time", before, after)
	}
	if after.Equal(before) {
		t.Errorf("the new file's revision %v equals the old one's %v", after, before)
	}
	if _, _, err := server.History(t.Context(), "old", data.Newest(1)); !errors.Is(err, data.ErrNoLake) {
		t.Errorf("History of the old file's lake = %v, want %v", err, data.ErrNoLake)
	}
	wantLake(t, &openFile(t, filepath.Join(dir, "kept.db"), false).Store, "old") // the content of the log was kept
}

// A Watcher publishes the new file's data, and the replacement is not a failure.
func TestReplacedUnderAWatcher(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "lakes.db"), filepath.Join(dir, "new.db")
	newFile(t, path, "old")
	newFile(t, other, "new")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var published []data.LakeID
	watcher := &snapshot.Watcher{
		Source:   openFile(t, path, false),
		Interval: time.Millisecond,
		Failed:   func(err error) { t.Errorf("Watcher failed: %v", err) },
		Publish: func(s *snapshot.Snapshot) {
			published = append(published, s.Lakes[0].ID)
			if len(published) == 2 {
				cancel()
				return
			}
			rename(t, other, path)
		},
	}
	watcher.Run(ctx)
	if len(published) != 2 || published[0] != "old" || published[1] != "new" {
		t.Errorf("published the lakes %v, want old, then new", published)
	}
}

func TestRemoved(t *testing.T) {
	for name, companions := range map[string]bool{"without its log": false, "with its log": true} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lakes.db")
			server := openFile(t, path, true)
			put(t, &server.Store, []data.Lake{testLake("old")}, []data.Observation{testObservation("old", 20000, data.Satellite, 5)})
			before := wantLake(t, &server.Store, "old")
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if companions {
				for _, end := range []string{"-wal", "-shm"} {
					if err := os.Remove(path + end); err != nil {
						t.Fatal(err)
					}
				}
			}
			for range 2 {
				wantRefused(t, &server.Store, fs.ErrNotExist, "the file was removed under the running program")
			}
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the server made a file: %v", err)
			}
			newFile(t, path, "new")
			if after := wantLake(t, &server.Store, "new"); after.Equal(before) {
				t.Errorf("the new file's revision %v equals the old one's %v", after, before)
			}
		})
	}
}

// The server was not used while there was no file.
func TestRemovedAndCreatedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lakes.db")
	server := openFile(t, path, true)
	put(t, &server.Store, []data.Lake{testLake("old")}, []data.Observation{testObservation("old", 20000, data.Satellite, 5)})
	before := wantLake(t, &server.Store, "old")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	newFile(t, path, "new")
	if after := wantLake(t, &server.Store, "new"); after.Equal(before) {
		t.Errorf("the new file's revision %v equals the old one's %v", after, before)
	}
}

func TestReplacedByGarbage(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "lakes.db"), filepath.Join(dir, "new.csv")
	newFile(t, path, "old")
	server := openFile(t, path, false)
	if err := os.WriteFile(other, []byte(strings.Repeat("id,name,lat,lon\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	rename(t, other, path)
	wantRefused(t, &server.Store, nil, "the file was replaced under the running program, and the new file cannot be used: the file is not an SQLite database")
	newFile(t, other, "new")
	rename(t, other, path)
	wantLake(t, &server.Store, "new")
}

// A scan of the old file reads it to its end, returns an error because it was replaced, and does not block the new one
// afterwards.
func TestReplacedDuringAScan(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "lakes.db"), filepath.Join(dir, "new.db")
	newFile(t, path, "old")
	newFile(t, other, "new")
	server := openFile(t, path, false)
	_, err := server.Scan(t.Context(), func(l data.Lake) error {
		if l.ID != "old" {
			t.Errorf("Scan passed lake %s, want old", l.ID)
		}
		rename(t, other, path)
		_, err := server.Revision(t.Context())
		if !errors.Is(err, errReplaced) || !strings.Contains(err.Error(), "when the reads of the old file have ended") {
			t.Errorf("Revision during the scan = %v, want %v", err, errReplaced)
		}
		return nil
	}, func(data.Observation) error { return nil })
	if !errors.Is(err, errReplaced) {
		t.Errorf("Scan = %v, want %v", err, errReplaced)
	}
	wantLake(t, &server.Store, "new")
}

// An import into a file that has been replaced must not succeed, because it would be lost.
func TestReplacedDuringAnImport(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "lakes.db"), filepath.Join(dir, "new.db")
	newFile(t, other, "new")
	server := openFile(t, path, true)
	err := server.Import(t.Context(), func(tx Tx) error {
		rename(t, other, path)
		_, err := tx.PutLakes(t.Context(), []data.Lake{testLake("lost")}, LakeColumns{})
		return err
	})
	if !errors.Is(err, errReplaced) || !strings.Contains(err.Error(), "nothing was imported") {
		t.Errorf("Import = %v, want %v", err, errReplaced)
	}
	wantLake(t, &server.Store, "new")
}

func TestClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lakes.db")
	s, err := Open(t.Context(), path, true)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	}
	wantRefused(t, s, errClosed, "it is closed")
}
