package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data"
)

// The plan has the lake that the satellite shows as high first, and says why.
func TestPlan(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	var rows strings.Builder
	rows.WriteString("lake_id,date,chl,data_type,source\n")
	today := data.DateOf(time.Now())
	for ago := 150; ago > 0; ago -= 7 {
		fmt.Fprintf(&rows, "mueggelsee,%s,90,satellite,LWQ\nstechlin,%s,3,satellite,LWQ\n", today-data.Date(ago), today-data.Date(ago))
	}
	fmt.Fprintf(&rows, "stechlin,%s,3,in_situ,lab\n", today-30)
	mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.csv", lakesCSV), "--db", db)
	mustRun(t, "import", "observations", limnomaptest.WriteFile(t, dir, "obs.csv", rows.String()), "--db", db)
	lines := strings.Split(mustRun(t, "plan", "--db", db), "\n")
	if len(lines) < 3 || !strings.HasPrefix(lines[1], "1     mueggelsee") || !strings.HasSuffix(lines[1], "There is no earlier sample in the years in memory.") ||
		!strings.HasPrefix(lines[2], "2     stechlin") || !strings.Contains(lines[2], "The last sample was 30 days ago.") {
		t.Errorf("the plan is\n%s", strings.Join(lines, "\n"))
	}
	if out := mustRun(t, "plan", "--samples", "1", "--of", "medium", "--db", db); strings.Count(out, "\n") != 2 || !strings.Contains(out, "mueggelsee") {
		t.Errorf("of medium and with one sample the plan is\n%s", out)
	}
	if out := mustRun(t, "plan", "--region", "nowhere", "--db", db); out != "No lake has a value in memory.\n" {
		t.Errorf("of no region the plan is\n%s", out)
	}
}
