package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

func TestBackupOverwritesOnlyByForce(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.csv", "id,name,lat,lon\none,One,50,10\n"), "--db", db)
	there := limnomaptest.WriteFile(t, dir, "copy.db", "precious")
	for _, args := range [][]string{
		{"backup", there, "--db", db},
		{"backup", there, "--db", filepath.Join(dir, "missing.db"), "--force"},
		{"backup", there, "--db", "postgres://me:secret@localhost/lakes", "--force"},
	} {
		out, _, err := runCommand(t, args...)
		if err == nil || out != "" || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v: %q, %v, want an error without a password", args, out, err)
		}
		if content, err := os.ReadFile(there); err != nil || string(content) != "precious" {
			t.Errorf("%v: the file holds %q, %v, want the same as before", args, content, err)
		}
	}
	for _, force := range []string{"--force", "--overwrite"} {
		mustRun(t, "backup", there, "--db", db, force)
		if lakes := storedLakes(t, there); len(lakes) != 1 {
			t.Errorf("%s: the copy has %d lakes, want 1", force, len(lakes))
		}
	}
}
