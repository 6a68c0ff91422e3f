package store

import (
	"context"
	"database/sql"
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

// The first page that makeFile writes is what SQLite itself would write for a database with nothing but the application id.
func TestNewPage(t *testing.T) {
	dir := t.TempDir()
	made, written := filepath.Join(dir, "made.db"), filepath.Join(dir, "written.db")
	if err := makeFile(made); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{made, written} {
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if path == written {
			if _, err := db.Exec("PRAGMA application_id = 0x6c696d6e"); err != nil {
				t.Fatal(err)
			}
		}
		var sound string
		if err := db.QueryRow("PRAGMA integrity_check").Scan(&sound); err != nil || sound != "ok" {
			t.Errorf("%s: integrity_check = %q, %v", path, sound, err)
		}
		for _, pragma := range []string{"page_size", "encoding", "auto_vacuum", "application_id", "page_count", "freelist_count", "user_version", "journal_mode"} {
			var got, want string
			if err := db.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil {
				t.Fatal(err)
			}
			switch pragma {
			case "page_size":
				want = "4096"
			case "encoding":
				want = "UTF-8"
			case "application_id":
				want = "1818848622"
			case "page_count":
				want = "1"
			case "journal_mode":
				want = "delete"
			default:
				want = "0"
			}
			if got != want {
				t.Errorf("%s: %s = %s, want %s", path, pragma, got, want)
			}
		}
	}
	// All bytes are the same but for the version of SQLite that wrote them.
	ours, theirs := readFile(t, made), readFile(t, written)
	copy(ours[96:100], theirs[96:100])
	if string(ours) != string(theirs) {
		for i := range ours {
			if ours[i] != theirs[i] {
				t.Errorf("byte %d is %#x, SQLite writes %#x", i, ours[i], theirs[i])
			}
		}
	}
}

// An empty file is what is left of a database. It is refused, and not changed, also by commands that create databases.
func TestEmptyFile(t *testing.T) {
	t.Parallel()
	for _, create := range []bool{false, true} {
		t.Run(fmt.Sprintf("create %v", create), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "lakes.db")
			writeOver(t, path, nil)
			s, err := openSQLite(t.Context(), location{path: path}, create)
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
	if _, err := openSQLite(ctx, location{path: path}, true); !errors.Is(err, context.Canceled) {
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
		writeOver(t, path, newPage())
	})
	s, err := openSQLite(t.Context(), location{path: path}, false)
	if err != nil {
		t.Fatal(err)
	}
	put(t, &s.Store, []data.Lake{testLake("a")}, nil)
	writer.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
