package main

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// The server's answer with all official statements can be imported unchanged, and a running server shows a withdrawal.
func TestAdvisoriesFromFileToServerAndBack(t *testing.T) {
	db, dir := filledDB(t), t.TempDir()
	base, _ := startServer(t, "--db", db)
	const path = "/api/v1/bathing-lakes/advisories"
	resp, body := limnomaptest.Get(t, base+path+"?active_at=any")
	if resp.StatusCode != 200 || strings.Count(string(body), `"lake_id"`) != 2 {
		t.Fatalf("the server answers %s: %s", resp.Status, body)
	}
	lakes, copied := filepath.Join(dir, "lakes.geojson"), filepath.Join(dir, "copy.db")
	mustRun(t, "export", "lakes", lakes, "--db", db)
	mustRun(t, "import", "lakes", lakes, "--db", copied)
	out := mustRun(t, "import", "advisories", limnomaptest.WriteFile(t, dir, "answer.json", string(body)), "--db", copied)
	if !strings.Contains(out, "2 rows read: 2 added") || !strings.Contains(out, `not known: "lake_name", "lat", "lon", "active"`) {
		t.Errorf("the import of the answer prints\n%s", out)
	}
	if got, want := mustRun(t, "export", "advisories", "-", "--db", copied), mustRun(t, "export", "advisories", "-", "--db", db); got != want {
		t.Errorf("the copy's statements are\n%swant\n%s", got, want)
	}
	if _, body := limnomaptest.Get(t, base+path+"?active_at=2026-06-15"); !strings.Contains(string(body), `"id":"amt-1"`) || strings.Contains(string(body), "amt-2") {
		t.Errorf("in June the server shows %s, want the closure only", body)
	}
	withdrawn := strings.Replace(advisoriesCSV, ",2026-06-30,\n", ",2026-06-30,2026-06-10\n", 1)
	mustRun(t, "import", "advisories", limnomaptest.WriteFile(t, dir, "withdrawn.csv", withdrawn), "--db", db)
	limnomaptest.Within(t, patience, "the withdrawal is shown", func() bool {
		_, body := limnomaptest.Get(t, base+path+"?active_at=2026-06-15")
		return strings.HasSuffix(string(body), `"advisories":[]}`+"\n")
	})
}

// A clock that is a year behind keeps no closure away if the database knows a later time.
func TestStatementsByAClockThatIsBehind(t *testing.T) {
	db := filledDB(t)
	next := time.Now().AddDate(1, 0, 0).UTC().Format(time.RFC3339)
	closure := limnomaptest.WriteFile(t, t.TempDir(), "closure.csv", "id,lake_id,kind,cause,issuer,issued,valid_from,valid_until\n"+
		"next,bow,closure,cyanobacteria,Amt,"+next+","+next+",\n")
	if out, _, err := runCommand(t, "import", "advisories", closure, "--db", db); err == nil || !strings.Contains(out, "is in the future: want a time up to") {
		t.Errorf("the import prints\n%s%v, want a refusal", out, err)
	}
	changed, err := sql.Open("sqlite", db)
	mustDo(t, err)
	_, err = changed.Exec("UPDATE revision SET changed_at = unixepoch('now', '+1 year', '-1 hour')")
	mustDo(t, errors.Join(err, changed.Close()))
	base, _ := startServer(t, "--db", db)
	mustRun(t, "import", "advisories", closure, "--db", db)
	limnomaptest.Within(t, patience, "the closure is shown", func() bool {
		_, body := limnomaptest.Get(t, base+"/api/v1/bathing-lakes/advisories")
		return strings.Contains(string(body), `"id":"next"`)
	})
}
