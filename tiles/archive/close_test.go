package archive

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/orb/maptile"
)

var root = maptile.New(0, 0, 0)

func begin(t *testing.T, path string) Writer {
	t.Helper()
	w, err := Create(path, testMetadata())
	must(t, err)
	t.Cleanup(w.Abort)
	must(t, w.Add(root, []byte("new")))
	return w
}

// visible returns list without temporary names.
func visible(t *testing.T, dir string) []string {
	return slices.DeleteFunc(list(t, dir), func(name string) bool { return strings.HasPrefix(name, ".") })
}

func TestArchiveAppearsOnClose(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			w := begin(t, dir+"/"+kind)
			if seen := visible(t, dir); len(seen) > 0 {
				t.Errorf("visible before Close: %v", seen)
			}
			must(t, w.Close())
			if all, seen := list(t, dir), visible(t, dir); len(seen) == 0 || len(all) != len(seen) {
				t.Errorf("after Close: %v", all)
			}
			if err := w.Add(maptile.New(0, 0, 1), []byte("late")); !errors.Is(err, ErrClosed) {
				t.Errorf("Add after Close = %v, want %v", err, ErrClosed)
			}
			if err := w.Close(); !errors.Is(err, ErrClosed) {
				t.Errorf("Close after Close = %v, want %v", err, ErrClosed)
			}
			before := contents(t, dir)
			w.Abort()
			if !maps.Equal(contents(t, dir), before) {
				t.Error("Abort after Close changed the archive")
			}
		})
	}
}

func TestAbortKeepsAnOlderArchive(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			if !strings.HasSuffix(kind, "/") {
				write(t, dir+"/"+kind, testMetadata(), []pair{{root, "old"}})
			}
			before := contents(t, dir)
			w := begin(t, dir+"/"+kind)
			w.Abort()
			w.Abort()
			if after := contents(t, dir); !maps.Equal(after, before) || len(list(t, dir)) != len(before) {
				t.Errorf("after Abort: %v", list(t, dir))
			}
			if err := w.Close(); !errors.Is(err, ErrClosed) {
				t.Errorf("Close after Abort = %v, want %v", err, ErrClosed)
			}
		})
	}
}

func TestCloseReplacesAnOlderArchive(t *testing.T) {
	pairs := []pair{{root, "new"}}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			dir, fresh := t.TempDir(), t.TempDir()
			if strings.HasSuffix(kind, "/") { // only an empty folder can be replaced
				must(t, os.Mkdir(dir+"/"+kind, 0o777))
			} else {
				write(t, dir+"/"+kind, testMetadata(), manyPairs(500, 7, distinct))
			}
			write(t, dir+"/"+kind, testMetadata(), pairs)
			write(t, fresh+"/"+kind, testMetadata(), pairs)
			if !maps.Equal(contents(t, dir), contents(t, fresh)) {
				t.Error("an archive that replaces another has other bytes")
			}
		})
	}
}

// TestCloseFails makes Close fail by files that appear between Create and Close. They must not be changed.
func TestCloseFails(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind+" with a folder of that name", func(t *testing.T) {
			dir := t.TempDir()
			w := begin(t, dir+"/"+kind)
			foreign := filepath.Join(dir, kind, "theirs")
			must(t, os.MkdirAll(foreign, 0o777))
			before := visible(t, dir)
			if err := w.Close(); err == nil || !strings.HasPrefix(err.Error(), "archive "+dir+"/"+kind+": ") {
				t.Errorf("Close = %v, want an error that names the archive", err)
			}
			if after := list(t, dir); !slices.Equal(after, before) {
				t.Errorf("Close left %v, want only %v", after, before)
			}
		})
		t.Run(kind+" with a removed folder", func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "gone")
			must(t, os.Mkdir(dir, 0o777))
			w := begin(t, dir+"/"+kind)
			must(t, os.RemoveAll(dir))
			if err := w.Close(); err == nil {
				t.Error("Close succeeded in a folder that was removed")
			}
			if _, err := os.Stat(dir); err == nil {
				t.Error("Close created the folder again")
			}
		})
	}
	t.Run("a database in use", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "lakes.mbtiles")
		w := begin(t, path)
		must(t, os.WriteFile(path+"-journal", nil, 0o666))
		if err := w.Close(); err == nil || !strings.Contains(err.Error(), "lakes.mbtiles-journal exists") {
			t.Errorf("Close = %v, want an error that names the journal", err)
		}
	})
}
