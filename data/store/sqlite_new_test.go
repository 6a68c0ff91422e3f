package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"limnomap/data"
)

// An empty file is what is left of a database. It is refused, and not changed, also by commands that create databases.
func TestEmptyFile(t *testing.T) {
	t.Parallel()
	for _, create := range []bool{false, true} {
		t.Run(fmt.Sprintf("create %v", create), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "lakes.db")
			writeOver(t, path, nil)
			s, err := openSQLite(t.Context(), location{path: path}, create, permitUpgrade)
			if !errors.Is(err, errEmpty) || !strings.Contains(err.Error(), "lakes.db") {
				t.Errorf("the store opens with %v, want %v", err, errEmpty)
			}
			if err == nil {
				s.Close()
			}
			if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
				t.Errorf("there is %v, %v, want only the file", files, err)
			}
			if info, err := os.Stat(path); err != nil || info.Size() != 0 {
				t.Errorf("the empty file has changed: %v, %v", info, err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "lakes.db")
	writeOver(t, path, nil)
	if _, err := openSQLite(ctx, location{path: path}, true, permitUpgrade); !errors.Is(err, context.Canceled) {
		t.Errorf("the store opens with %v, want it not to wait after %v", err, context.Canceled)
	}
}

// A file that another process has just created is not refused: it gets its first page within moments.
func TestEmptyFileThatIsBeingMade(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lakes.db")
	writeOver(t, path, nil)
	var writer sync.WaitGroup
	writer.Go(func() {
		time.Sleep(5 * creationPoll)
		page, err := newPage()
		if err != nil {
			t.Error(err)
		}
		writeOver(t, path, page)
	})
	s, err := openSQLite(t.Context(), location{path: path}, false, permitUpgrade)
	if err != nil {
		t.Fatal(err)
	}
	put(t, &s.Store, []data.Lake{testLake("a")}, nil)
	writer.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
