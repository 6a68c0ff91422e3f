package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/snapshot"
	"limnomap/data/store"
)

// advisoriesCSV has a statement of each end, of which one is withdrawn.
const advisoriesCSV = `id,lake_id,kind,cause,issuer,text_en,text_de,url,issued,valid_from,valid_until,withdrawn
amt-1,bow,closure,cyanobacteria,Gesundheitsamt,"No bathing.
Keep dogs away.",„Badeverbot“,https://example.org/1,2026-06-01T10:00:00+02:00,2026-06-01,2026-06-30,
amt-2,stechlin,warning,bacteria,Gesundheitsamt,,,,2026-06-01,2026-06-01,,2026-06-05
`

// filledDB returns a database with an outline, a WHO level, a cell count, a gap, a forecast and official statements.
func filledDB(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.geojson", lakesGeoJSON), "--db", db)
	mustRun(t, "import", "observations", limnomaptest.WriteFile(t, dir, "obs.csv", "lake_id,date,chl,data_type,who_level,cell_density_cells_ml,measured_at\n"+
		"bow,2026-06-01,12.3,satellite,3,,2026-06-01T10:30:00Z\nbow,2026-06-08,,satellite,,,\nbow,2026-06-15,20,ai_forecast,,,\nstechlin,2026-06-01,1.5,satellite,,2500.5,\n"), "--db", db)
	mustRun(t, "import", "advisories", limnomaptest.WriteFile(t, dir, "advisories.csv", advisoriesCSV), "--db", db)
	return db
}

// snapshotVersion returns the version of a database's snapshot.
func snapshotVersion(t *testing.T, db string) string {
	t.Helper()
	s, err := store.Open(t.Context(), db, false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	snapshot, err := snapshot.Load(t.Context(), s, &snapshot.Options{AsOf: snapshot.Newest})
	if err != nil {
		t.Fatal(err)
	}
	return snapshot.Version
}

func TestExportedDataImport(t *testing.T) {
	db := filledDB(t)
	for _, names := range [][2]string{{"l.geojson", "o.csv"}, {"l.json.gz", "o.csv.gz"}, {"l.geojson.zst", "o.csv.zst"}} {
		dir := t.TempDir()
		lakes, observations := filepath.Join(dir, names[0]), filepath.Join(dir, names[1])
		if out := mustRun(t, "export", "lakes", lakes, "--db", db); out != lakes+": 2 lakes\n" {
			t.Errorf("export lakes printed %q", out)
		}
		if out := mustRun(t, "export", "observations", observations, "--db", db); out != observations+": 4 observations\n" {
			t.Errorf("export observations printed %q", out)
		}
		statements := filepath.Join(dir, strings.Replace(names[1], "o", "s", 1))
		if out := mustRun(t, "export", "advisories", statements, "--db", db); out != statements+": 2 official statements\n" {
			t.Errorf("export advisories printed %q", out)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 3 {
			t.Errorf("the folder has %v, %v, want the three files", left, err)
		}
		copied := filepath.Join(dir, "copy.db")
		mustRun(t, "import", "lakes", lakes, "--db", copied)
		mustRun(t, "import", "observations", observations, "--db", copied)
		if out := mustRun(t, "import", "advisories", statements, "--db", copied); !strings.Contains(out, "2 rows read: 2 added") {
			t.Errorf("%v: import advisories prints %q", names, out)
		}
		if got, want := mustRun(t, "export", "advisories", "-", "--db", copied), mustRun(t, "export", "advisories", "-", "--db", db); got != want || !strings.Contains(got, ",2026-07-01T00:00:00Z,\n") {
			t.Errorf("%v: the copy's statements are\n%swant\n%s", names, got, want)
		}
		if got, want := snapshotVersion(t, copied), snapshotVersion(t, db); got != want {
			t.Errorf("%v: the copy's snapshot is %s, want %s", names, got, want)
		}
		if got, want := mustRun(t, "export", "observations", "-", "--db", copied), mustRun(t, "export", "observations", "-", "--db", db); got != want || strings.Count(got, "\n") != 5 {
			t.Errorf("%v: the copy's observations are\n%swant\n%s", names, got, want)
		}
	}
}

func TestExportLakesAsCSVWarnsOfOutlines(t *testing.T) {
	db, dir := filledDB(t), t.TempDir()
	_, errOut, err := runCommand(t, "export", "lakes", filepath.Join(dir, "l.csv"), "--db", db)
	if err != nil || !strings.Contains(errOut, "outlines are left out") || !strings.Contains(errOut, "lakes_with_outlines=1") {
		t.Errorf("stderr %q, %v, want a warning about the outline", errOut, err)
	}
	out := mustRun(t, "export", "lakes", "-", "--format", "csv", "--db", db)
	if !strings.HasPrefix(out, "id,external_id,name,lat,lon,region,area_km2,water_id\nbow,bow,Bogensee,") {
		t.Errorf("as CSV: %s", out)
	}
	if out := mustRun(t, "export", "lakes", "-", "--db", db); !strings.HasPrefix(out, `{"type":"FeatureCollection"`) {
		t.Errorf("standard output: %s", out)
	}
}

func TestExportDataErrors(t *testing.T) {
	db, dir := filledDB(t), t.TempDir()
	taken := limnomaptest.WriteFile(t, dir, "taken.csv", "mine")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"lakes", taken, "--db", db}, "exists already"},
		{[]string{"observations", taken, "--db", db}, "exists already"},
		{[]string{"advisories", taken, "--db", db}, "exists already"},
		{[]string{"lakes", filepath.Join(dir, "lakes.tsv"), "--db", db}, "ends in .geojson or .csv"},
		{[]string{"lakes", filepath.Join(dir, "csv"), "--db", db}, "ends in .geojson or .csv"},
		{[]string{"lakes", filepath.Join(dir, "no", "l.csv"), "--db", db}, "does not exist"},
		{[]string{"observations", filepath.Join(dir, "o.csv"), "--db", filepath.Join(dir, "no.db")}, "--db"},
	} {
		if _, _, err := runCommand(t, append([]string{"export"}, test.args...)...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("export %v: %v, want %q", test.args, err, test.want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v is left behind, %v", left, err)
	}
	if text, err := os.ReadFile(taken); err != nil || string(text) != "mine" {
		t.Errorf("the existing file has %q, %v", text, err)
	}
	mustRun(t, "export", "observations", taken, "--force", "--db", db)
	if text, err := os.ReadFile(taken); err != nil || !strings.HasPrefix(string(text), "lake_id,") {
		t.Errorf("with --force it has %q, %v", text, err)
	}
}

// Without a word after export, it writes the map.
func TestExportMapByName(t *testing.T) {
	db, dir := filledDB(t), t.TempDir()
	byDefault, byName := filepath.Join(dir, "a.mbtiles"), filepath.Join(dir, "b.mbtiles")
	mustRun(t, "export", byDefault, "--zoom", "0-2", "--db", db)
	mustRun(t, "export", "map", byName, "--zoom", "0-2", "--db", db)
	a, errA := os.ReadFile(byDefault)
	b, errB := os.ReadFile(byName)
	if errA != nil || errB != nil || string(a) != string(b) || len(a) == 0 {
		t.Errorf("%d bytes, %v, and %d bytes, %v: want the same", len(a), errA, len(b), errB)
	}
}
