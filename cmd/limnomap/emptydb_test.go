package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// Every command with a database refuses an empty file and leaves it as it is.
func TestEmptyDatabaseIsRefused(t *testing.T) {
	t.Parallel() // each command waits for another process that may be creating the database
	dir := t.TempDir()
	lakes := limnomaptest.WriteFile(t, dir, "lakes.csv", lakesCSV)
	observations := limnomaptest.WriteFile(t, dir, "obs.csv", obsCSV)
	for _, args := range [][]string{
		{"serve", "--listen", "127.0.0.1:0", "--cache-dir", t.TempDir()},
		{"serve", "--listen", "127.0.0.1:0", "--cache-dir", t.TempDir(), "--refresh-from", dir},
		{"import", "lakes", lakes},
		{"import", "lakes", "--dry-run", lakes},
		{"import", "observations", observations},
		{"import", "advisories", limnomaptest.WriteFile(t, dir, "advisories.csv", advisoriesCSV)},
		{"import", "advisories", limnomaptest.WriteFile(t, dir, "beaches.json", swimGuideDocument())},
		{"refresh", "--from", dir},
		{"warm", "--cache-dir", t.TempDir()},
		{"export", filepath.Join(dir, "lakes.pmtiles")},
		{"export", "lakes", filepath.Join(dir, "copy.csv")},
		{"export", "observations", filepath.Join(dir, "copy.csv")},
		{"export", "advisories", filepath.Join(dir, "copy.csv")},
		{"backup", filepath.Join(dir, "copy.db")},
		{"keys", "create", "--name", "a"},
		{"keys", "list"},
		{"keys", "rotate", "a"},
		{"keys", "revoke", "a"},
	} {
		t.Run(args[0]+" "+filepath.Base(args[1]), func(t *testing.T) {
			t.Parallel()
			db := limnomaptest.WriteFile(t, t.TempDir(), "lakes.db", "")
			_, stderr, err := runCommand(t, append(args, "--db", db)...)
			if err == nil || !strings.Contains(err.Error(), "empt") || !strings.Contains(err.Error(), db) {
				t.Errorf("limnomap %s = %v, want an error that says that %s is empty\n%s", strings.Join(args, " "), err, db, stderr)
			}
			if info, err := os.Stat(db); err != nil || info.Size() != 0 {
				t.Errorf("the empty file has changed: %v, %v", info, err)
			}
		})
	}
}
