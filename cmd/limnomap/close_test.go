package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// madeAt matches what no two statements share: the time of the decision, in ids and columns.
var madeAt = regexp.MustCompile(`20\d{6}T\d{6}Z|20[0-9]\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// exportedStatements returns all official statements of a database.
func exportedStatements(t *testing.T, db string) string {
	t.Helper()
	return mustRun(t, "export", "advisories", "-", "--db", db)
}

// A lake that is closed and opened by commands has the records that imports of files make.
func TestClosedLakeIsAsImported(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string { return limnomaptest.WriteFile(t, dir, name, content) }
	lakes := file("lakes.csv", lakesCSV)
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			newDB := func(name string) string {
				if strings.HasPrefix(t.Name(), "TestClosedLakeIsAsImported/postgres") {
					return newPostgres(t)
				}
				return filepath.Join(dir, name+".db")
			}
			closed, imported := newDB("closed"), newDB("imported")
			for _, db := range []string{closed, imported} {
				mustRun(t, "import", "lakes", lakes, "--db", db)
			}
			const until = "2100-12-31"
			args := []string{"close", "Müggelsee", "--until", until, "--cause", "bacteria", "--issuer", "Amt", "--text-de", "Nicht baden,\n„heute“.", "--url", "https://example.org/1", "--db", closed}
			if out := mustRun(t, append(args, "--dry-run")...); !strings.Contains(out, "would be added, nothing was written") || strings.Count(exportedStatements(t, closed), "\n") != 1 {
				t.Errorf("the dry run says %q", out)
			}
			if out := mustRun(t, args...); !strings.Contains(out, "mueggelsee_closed_") || !strings.Contains(out, ": added.") || !strings.Contains(out, "valid until 2101-01-01T00:00:00Z") {
				t.Errorf("close says %q", out)
			}
			if out := mustRun(t, args...); !strings.Contains(out, "in force already") {
				t.Errorf("a second time close says %q", out)
			}
			byCommand := exportedStatements(t, closed)
			mustRun(t, "import", "advisories", file("closure.csv", byCommand), "--db", imported)
			const row = "mueggelsee_closed_TIME,mueggelsee,closure,bacteria,Amt,,\"Nicht baden,\n„heute“.\",https://example.org/1,TIME,TIME,2101-01-01T00:00:00Z,\n"
			if got := madeAt.ReplaceAllString(byCommand, "TIME"); !strings.HasSuffix(got, "\n"+row) || exportedStatements(t, imported) != byCommand {
				t.Errorf("stored by close:\n%swant\n%sand by import:\n%s", got, row, exportedStatements(t, imported))
			}
			mustRun(t, "close", "mueggelsee", "--until", "unknown", "--cause", "bacteria", "--db", closed) // by the same authority, with the same texts
			mustRun(t, "import", "advisories", file("longer.csv", exportedStatements(t, closed)), "--db", imported)
			if out := mustRun(t, "reopen", "mueggelsee", "--db", closed, "--dry-run"); !strings.Contains(out, "would be withdrawn") {
				t.Errorf("the dry run of reopen says %q", out)
			}
			if out := mustRun(t, "reopen", "mueggelsee", "--db", closed); !strings.Contains(out, ": withdrawn.") {
				t.Errorf("reopen says %q", out)
			}
			mustRun(t, "import", "advisories", file("withdrawn.csv", exportedStatements(t, closed)), "--db", imported)
			if a, b := exportedStatements(t, closed), exportedStatements(t, imported); a != b || !regexp.MustCompile(`,,20[^,]*Z\n$`).MatchString(a) {
				t.Errorf("after reopen:\n%swant as imported:\n%s", a, b)
			}

			// The lists of imports differ in the names of the files, and in what was decided.
			list := func(db string) (all []listedImport) {
				mustDo(t, json.Unmarshal([]byte(mustRun(t, "imports", "list", "--json", "--db", db)), &all))
				return all
			}
			a, b := list(closed), list(imported)
			for i := range a {
				if i < 3 {
					if s := a[i].Files[0].Statements; len(s) != 1 || s[0].After.LakeID != "mueggelsee" || (s[0].Before == nil) != (i == 2) || (s[0].After.Withdrawn == nil) != (i > 0) {
						t.Errorf("import %d has the decision %+v", a[i].Number, s)
					}
					a[i].Files[0].Name, a[i].Files[0].Statements, b[i].Files[0].Name = "", nil, ""
					if i == 2 && a[i].Files[0].SHA256 != b[i].Files[0].SHA256 {
						t.Error("the digests of the same rows differ")
					}
					a[i].Files, b[i].Files = nil, nil
				}
				a[i].At, b[i].At = "", ""
			}
			if !reflect.DeepEqual(a, b) {
				t.Errorf("the imports are %+v, want as by files %+v", a, b)
			}
			if out := mustRun(t, "imports", "undo", "--db", closed); !strings.Contains(out, "1 changed rows restored") || strings.Contains(exportedStatements(t, closed), ",,20") {
				t.Errorf("undo says %q, and the lake is not closed again:\n%s", out, exportedStatements(t, closed))
			}
		})
	}
}

// The errors of a decision name what was given and what is allowed.
func TestDecisionsAreRefused(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	twins := "teich1,Teich,50,10,Bayern,\nteich2,Teich,51,10,Hessen,\n"
	mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.csv", lakesCSV+twins), "--db", db)
	yesterday := time.Now().AddDate(0, 0, -2).Format(time.DateOnly)
	closing := func(lake string, more ...string) []string {
		return append([]string{"close", lake, "--cause", "other", "--until", "unknown", "--issuer", "Amt"}, more...)
	}
	refused := func(args []string, want ...string) {
		t.Helper()
		stdout, _, err := runCommand(t, append(args, "--db", db)...)
		for _, text := range want {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("limnomap %q: %v, %q, want an error with %q", args, err, stdout, text)
			}
		}
	}
	refused(closing("Mügelsee"), `"Mügelsee"`, "mueggelsee (Müggelsee, Berlin)")
	refused(closing("Teich"), "2 lakes", "teich1 (Teich, Bayern), teich2 (Teich, Hessen)")
	refused(closing("xyz"), `"xyz"`, "limnomap export lakes")
	refused(closing("stechlin", "--until", yesterday), "--until "+yesterday+" is over", "unknown")
	refused(closing("stechlin", "--until", "soon"), "--until", `"soon"`, "2026-07-01T10:00:00+02:00", "unknown")
	refused(closing("stechlin", "--until", "2026-07-01T10:00:00"), "--until", "a time with a zone")
	refused(closing("stechlin", "--cause", "algae"), "--cause", "cyanobacteria", "algae")
	refused(closing("stechlin", "--url", "ftp://x"), "url", "https://")
	refused(closing("stechlin", "--text-en", strings.Repeat("x", 4001)), "text_en", "4000")
	refused([]string{"close", "stechlin", "--until", "unknown", "--cause", "other"}, "--issuer is missing")
	refused([]string{"close", "stechlin", "--cause", "other"}, "--until")
	refused([]string{"reopen", "stechlin"}, "Stechlinsee (stechlin)", "not closed")
	if n := strings.Count(exportedStatements(t, db), "\n"); n != 1 {
		t.Fatalf("refused decisions have written %d statements", n-1)
	}
	for _, issuer := range []string{"Amt", "Other"} {
		mustRun(t, "close", "stechlin", "--until", "unknown", "--cause", "other", "--issuer", issuer, "--db", db)
	}
	refused([]string{"close", "mueggelsee", "--until", "unknown", "--cause", "other"}, "--issuer is missing", `"Amt", "Other"`)
	refused([]string{"reopen", "stechlin"}, "--issuer", `"Amt"`, `"Other"`)
	refused([]string{"reopen", "stechlin", "--issuer", "Third"}, `"Third"`, `"Amt"`)
	if out := mustRun(t, "reopen", "stechlin", "--issuer", "Amt", "--db", db); strings.Count(out, "withdrawn.") != 1 {
		t.Errorf("reopen says %q, want one withdrawn statement", out)
	}
	if out := fmt.Sprint(mustRun(t, "reopen", "Stechlinsee", "--db", db)); !strings.Contains(out, "by Other") {
		t.Errorf("reopen says %q, want the closure by Other withdrawn", out)
	}
}
