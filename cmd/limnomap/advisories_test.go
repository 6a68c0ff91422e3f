package main

import (
	"path/filepath"
	"strings"
	"testing"

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
