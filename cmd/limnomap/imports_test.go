package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A wrong import is listed and undone, while a server serves the database.
func TestImportIsUndone(t *testing.T) {
	dir := t.TempDir()
	for name, db := range map[string]string{"sqlite": filepath.Join(dir, "lakes.db"), "postgres": ""} {
		t.Run(name, func(t *testing.T) {
			if db == "" {
				db = newPostgres(t)
			}
			file := func(name, content string) string { return limnomaptest.WriteFile(t, dir, name, content) }
			mustRun(t, "import", "lakes", file("lakes.csv", lakesCSV), "--db", db)
			mustRun(t, "import", "observations", file("obs.csv", obsCSV), "--db", db)
			export := func() string {
				return mustRun(t, "export", "lakes", "-", "--db", db) + mustRun(t, "export", "observations", "-", "--db", db)
			}
			before := export()
			base, _ := startServer(t, "--db", db, "--as-of", "data")
			wrong := strings.ReplaceAll(obsCSV, "62.5", "9.99") + "stechlin,2024-11-19,7,satellite\n"
			mustRun(t, "import", "observations", file("wrong.csv", wrong), "--db", db)
			history := func() string {
				resp, body := limnomaptest.Get(t, base+"/api/v1/bathing-lakes/history/mueggelsee")
				if resp.StatusCode != http.StatusOK {
					return resp.Status
				}
				return string(body)
			}
			limnomaptest.Within(t, patience, "the wrong value is shown", func() bool { return strings.Contains(history(), "9.99") })

			var imports []listedImport
			mustDo(t, json.Unmarshal([]byte(mustRun(t, "imports", "list", "--json", "--db", db)), &imports))
			if len(imports) != 3 {
				t.Fatalf("there are the imports %+v, want 3", imports)
			}
			digest := fmt.Sprintf("%x", sha256.Sum256([]byte(wrong)))
			if r := imports[0]; r.Number != 3 || r.State != "stored" || r.Added != 1 || r.Changed != 1 || r.Unchanged != 2 || r.By == "" || len(r.Files) != 1 || r.Files[0].SHA256 != digest ||
				filepath.Base(r.Files[0].Name) != "wrong.csv" || len(r.About) != 1 || r.About[0] != "observations of " {
				t.Errorf("the last import is %+v, want that of wrong.csv with the digest %s", r, digest)
			}
			if out := mustRun(t, "imports", "undo", "--dry-run", "--db", db); !strings.Contains(out, "Import 3 of") || !strings.Contains(out, "nothing was written") || export() == before {
				t.Errorf("the dry run says %q", out)
			}
			if out := mustRun(t, "imports", "undo", "--db", db); !strings.Contains(out, "1 added rows deleted, 1 changed rows restored: undone") {
				t.Errorf("undo says %q", out)
			}
			if after := export(); after != before {
				t.Errorf("after the undo there is\n%s\nwant\n%s", after, before)
			}
			limnomaptest.Within(t, patience, "the right value is shown again", func() bool { h := history(); return strings.Contains(h, "62.5") && !strings.Contains(h, "9.99") })
			if out := mustRun(t, "imports", "list", "--db", db); strings.Count(out, "undone") != 1 || !strings.Contains(out, digest[:12]) {
				t.Errorf("the list is\n%s", out)
			}
			if _, _, err := runCommand(t, "imports", "undo", "1", "--db", db); err == nil || !strings.Contains(err.Error(), "lakes that it added have observations") {
				t.Errorf("undo of the lakes = %v, want an error that names their observations", err)
			}
		})
	}
}

// A refresh is listed and undone as an import is.
func TestRefreshIsUndone(t *testing.T) {
	dir := t.TempDir()
	db, from := filepath.Join(dir, "lakes.db"), filepath.Join(dir, "from")
	mustDo(t, os.Mkdir(from, 0o755))
	limnomaptest.WriteFile(t, from, "lakes.csv", lakesCSV)
	limnomaptest.WriteFile(t, from, "obs.csv", obsCSV)
	mustRun(t, "refresh", "--from", from, "--db", db)
	if out := mustRun(t, "imports", "list", "--db", db); !strings.Contains(out, " refresh ") || !strings.Contains(out, "obs.csv") || !strings.Contains(out, "lakes, observations of") {
		t.Errorf("the list is\n%s", out)
	}
	mustRun(t, "imports", "undo", "1", "--db", db)
	if out := mustRun(t, "export", "lakes", "-", "--db", db); strings.Contains(out, "mueggelsee") {
		t.Errorf("there are still lakes:\n%s", out)
	}
}
