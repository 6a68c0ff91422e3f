package main

import (
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// Data exported from SQLite and imported into PostgreSQL are the same, and a dry run changes nothing.
func TestDataMoveToPostgresAndBack(t *testing.T) {
	db, dir := filledDB(t), t.TempDir()
	pg := newPostgres(t)
	lakes, observations := filepath.Join(dir, "lakes.geojson.gz"), filepath.Join(dir, "obs.csv.zst")
	mustRun(t, "export", "lakes", lakes, "--db", db)
	mustRun(t, "export", "observations", observations, "--db", db)
	if out := mustRun(t, "import", "lakes", lakes, "--db", pg, "--dry-run"); !strings.Contains(out, "2 would be added") {
		t.Errorf("a dry run prints\n%s", out)
	}
	if out := mustRun(t, "import", "lakes", lakes, "--db", pg); !strings.Contains(out, "2 added, 0 changed") {
		t.Errorf("the import after the dry run prints\n%s", out)
	}
	mustRun(t, "import", "observations", observations, "--db", pg)
	if out := mustRun(t, "import", "observations", observations, "--db", pg, "--dry-run"); !strings.Contains(out, "0 changed, 4 unchanged") {
		t.Errorf("a second dry run prints\n%s", out)
	}
	statements := filepath.Join(dir, "advisories.csv")
	mustRun(t, "export", "advisories", statements, "--db", db)
	mustRun(t, "import", "advisories", statements, "--db", pg)
	if got, want := snapshotVersion(t, pg), snapshotVersion(t, db); got != want {
		t.Errorf("PostgreSQL's snapshot is %s, want %s", got, want)
	}
	for _, what := range []string{"lakes", "observations", "advisories"} {
		if got, want := mustRun(t, "export", what, "-", "--db", pg), mustRun(t, "export", what, "-", "--db", db); got != want {
			t.Errorf("PostgreSQL's %s are\n%swant\n%s", what, got, want)
		}
	}
	bad := limnomaptest.WriteFile(t, dir, "bad.csv", "id,name,lat,lon\nx,X,,1\n")
	if _, _, err := runCommand(t, "import", "lakes", bad, "--db", pg); err == nil || strings.Contains(err.Error(), "postgres://") {
		t.Errorf("an invalid file: %v, want an error without the database's URL", err)
	}
}
