package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A deleted lake is gone from all surfaces of a running server, and its value and its statement are told to be gone.
func TestDeletedLakeIsGone(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	today := time.Now().UTC().Format(time.DateOnly)
	file := func(name, content string) string { return limnomaptest.WriteFile(t, dir, name, content) }
	mustRun(t, "import", "lakes", file("lakes.csv", "id,name,lat,lon\ndoomed,Doomed Lake,52.4383,13.6461\nkept,Kept Lake,10,20\n"), "--db", db)
	mustRun(t, "import", "observations", file("obs.csv", fmt.Sprintf("lake_id,date,chl,data_type,source\ndoomed,%[1]s,62.5,satellite,P\nkept,%[1]s,12,satellite,P\nkept,%[1]s,13,in_situ,Labor\n", today)), "--db", db)
	mustRun(t, "import", "advisories", file("adv.csv", "id,lake_id,kind,cause,issuer,issued,valid_from,valid_until\nstatement,doomed,closure,cyanobacteria,Amt,2020-01-01,2020-01-01,\n"), "--db", db)
	base, _ := startServer(t, "--db", db)

	page := func(path string) (int, string) {
		resp, body := limnomaptest.Get(t, base+path)
		return resp.StatusCode, string(body)
	}
	const tile = "/api/v1/tiles/9/275/168.png" // with the lake
	lists := []string{"/api/v1/bathing-lakes/status", "/api/v1/bathing-lakes/status.csv", "/api/v1/bathing-lakes/geojson", "/api/v1/bathing-lakes/near?lat=52.4&lon=13.6",
		"/api/v1/bathing-lakes/search?q=doomed", "/api/v1/bathing-lakes/advisories", "/table", "/sitemap/1.xml"}
	for _, path := range append([]string{"/lakes/doomed"}, lists[:7]...) {
		if status, body := page(path); status != http.StatusOK || !strings.Contains(body, "doomed") {
			t.Errorf("%s: %d without the lake before it is deleted", path, status)
		}
	}
	_, blank := page("/api/v1/tiles/9/0/0.png")
	if _, picture := page(tile); picture == blank {
		t.Fatal("the tile of the lake is blank before it is deleted")
	}
	limnomaptest.Within(t, patience, "the log of events has its first moment", func() bool {
		status, _ := page("/api/v1/changes?since=0")
		return status != http.StatusServiceUnavailable
	})

	if out := mustRun(t, "delete", "lake", "doomed", "--db", db, "--dry-run"); out != "1 lakes, 1 observations, 1 official statements: would be deleted, nothing was written.\n" {
		t.Errorf("the dry run says %q", out)
	}
	if out := mustRun(t, "delete", "lake", "doomed", "--db", db); out != "1 lakes, 1 observations, 1 official statements: deleted.\n" {
		t.Errorf("delete lake says %q", out)
	}
	limnomaptest.Within(t, patience, "the history is gone", func() bool {
		status, _ := page("/api/v1/bathing-lakes/history/doomed")
		return status == http.StatusNotFound
	})
	var events struct{ Events []limnomaptest.Event }
	limnomaptest.Within(t, patience, "the events tell that value and statement are gone", func() bool {
		limnomaptest.GetJSON(t, base+"/api/v1/events?lake_id=doomed", &events)
		kinds := ""
		for _, e := range events.Events {
			kinds += e.Kind + " "
		}
		return strings.Contains(kinds, "became_stale") && strings.Contains(kinds, "advisory_withdrawn")
	})
	for _, path := range lists {
		limnomaptest.Within(t, patience, path+" is without the lake", func() bool {
			status, body := page(path)
			return status < 500 && !strings.Contains(strings.ReplaceAll(body, "q=doomed", ""), "Doomed") && !strings.Contains(strings.ReplaceAll(body, "=doomed", ""), `"doomed"`)
		})
	}
	if _, picture := page(tile); picture != blank {
		t.Error("the tile still shows the lake")
	}
	for _, path := range []string{"/lakes/doomed", "/api/v1/bathing-lakes/history/doomed.csv"} {
		if status, _ := page(path); status != http.StatusNotFound && status != http.StatusGone {
			t.Errorf("%s: %d, want 404", path, status)
		}
	}
	for _, what := range []string{"lakes", "observations", "advisories"} {
		if out := mustRun(t, "export", what, "-", "--db", db); strings.Contains(out, "doomed") {
			t.Errorf("export %s still has the lake:\n%s", what, out)
		}
	}
	archive := filepath.Join(dir, "map")
	mustRun(t, "export", "map", archive+"/", "--zoom", "9", "--db", db)
	if _, err := os.Stat(filepath.Join(archive, "9/275/168.png")); err == nil {
		t.Error("the exported map has a tile of the lake")
	}
}

func TestDeleteSelections(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.csv", lakesCSV), "--db", db)
	mustRun(t, "import", "observations", limnomaptest.WriteFile(t, dir, "obs.csv", "lake_id,date,chl,data_type,source\n"+
		"mueggelsee,2024-11-11,62.5,satellite,P\nstechlin,2024-11-11,5,satellite,P\nstechlin,2024-11-18,6,in_situ,Labor\nstechlin,2024-11-20,7,in_situ,\n"), "--db", db)
	for _, test := range []struct {
		args []string
		want string // of an error, if it ends without a full stop
	}{
		{[]string{"observations"}, "nothing is selected"},
		{[]string{"observations", "--from", "2024-11-12", "--to", "2024-11-11"}, "is after --to"},
		{[]string{"observations", "--lake", "nowhere"}, "nowhere"},
		{[]string{"source", "nobody"}, "nobody"},
		{[]string{"lake", "nowhere"}, "nowhere"},
		{[]string{"observations", "--lake", "stechlin", "--from", "2024-11-12", "--dry-run"}, "2 observations: would be deleted, nothing was written."},
		{[]string{"observations", "--source=", "--data-type", "in_situ"}, "1 observations: deleted."},
		{[]string{"observations", "--lake", "mueggelsee", "--to", "2024-11-10"}, "0 observations: deleted."},
		{[]string{"source", "P"}, "2 observations: deleted."},
	} {
		out, _, err := runCommand(t, append(append([]string{"delete"}, test.args...), "--db", db)...)
		if !strings.HasSuffix(test.want, ".") {
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("delete %q = %q, %v, want an error with %q", test.args, out, err, test.want)
			}
		} else if err != nil || out != test.want+"\n" {
			t.Errorf("delete %q = %q, %v, want %q", test.args, out, err, test.want)
		}
	}
	if out := mustRun(t, "export", "observations", "-", "--db", db); strings.Count(out, "\n") != 2 || !strings.Contains(out, "Labor") {
		t.Errorf("there are\n%s\nwant the sample of the laboratory", out)
	}
}
