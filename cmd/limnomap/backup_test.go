//go:build unix

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A copy made while one server reads serves what that server serves, until the next import, and takes keys and imports
// of its own. Moved over the database, it is what the server goes back to.
func TestBackupOfARunningServer(t *testing.T) {
	t.Parallel()
	const status = "/api/v1/bathing-lakes/status"
	db := newUniformDB(t, uniformLakes, 5)
	p := startReady(t, "--db", db.path, "--api-rate", "0")
	client := newClient(t)
	before, err := wholeAnswer(client, p.base+status)
	if err != nil || before.status != http.StatusOK {
		t.Fatalf("status: %v, %v", before, err)
	}
	dir := t.TempDir()
	copied := filepath.Join(dir, "copy.db")
	out := mustRun(t, "backup", copied, "--db", db.path)
	info, err := os.Stat(copied)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out, copied+": revision 2 of 20") || !strings.HasSuffix(out, ", "+megabytes(info.Size())+"\n") {
		t.Errorf("backup says %q", out)
	}
	mustExec(t, "import", "observations", writeValues(t, t.TempDir(), uniformLakes, 50), "--db", db.path)
	awaitShown(t, p, reloadTime, 50)

	second := startReady(t, "--db", copied, "--api-rate", "0")
	if after, err := wholeAnswer(client, second.base+status); err != nil || after != before {
		t.Errorf("the copy is served as %v, %v, want what was served before: %v", after, err, before)
	}
	wantMonitor(t, second, db.key, http.StatusOK)
	second.stop(t)
	mustDo(t, os.Rename(copied, db.path))
	awaitShown(t, p, reloadTime, 5)
	wantQuietEnd(t, p)
}

func TestBackupOverwritesOnlyByForce(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	mustRun(t, "import", "lakes", writeLakes(t, dir, 1), "--db", db)
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
			t.Errorf("%v: the file holds %q, %v, want it left alone", args, content, err)
		}
	}
	for _, force := range []string{"--force", "--overwrite"} {
		mustRun(t, "backup", there, "--db", db, force)
		if lakes := storedLakes(t, there); len(lakes) != 1 {
			t.Errorf("%s: the copy has %d lakes, want 1", force, len(lakes))
		}
	}
}
