package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data"
	"limnomap/data/store"
)

// lakesGeoJSON has a lake in the shape of a horseshoe around Müggelsee, and a point.
const lakesGeoJSON = `{"type": "FeatureCollection", "name": "Seen", "features": [
{"type": "Feature", "properties": {"id": "bow", "name": "Bogensee", "region": "Berlin", "operator": "x"}, "geometry": {"type": "Polygon", "coordinates":
  [[[13.60, 52.40], [13.68, 52.40], [13.68, 52.41], [13.62, 52.41], [13.62, 52.46], [13.68, 52.46], [13.68, 52.47], [13.60, 52.47], [13.60, 52.40]]]}},
{"type": "Feature", "id": "stechlin", "properties": {"name": "Stechlinsee"}, "geometry": {"type": "Point", "coordinates": [13.025, 53.15]}}
]}
`

// storedLakes returns the lakes of a database by id.
func storedLakes(t *testing.T, db string) map[data.LakeID]data.Lake {
	t.Helper()
	s, err := store.Open(t.Context(), db, false)
	mustDo(t, err)
	defer s.Close()
	lakes := make(map[data.LakeID]data.Lake)
	_, err = s.Scan(t.Context(),
		func(l data.Lake) error { lakes[l.ID] = l; return nil },
		func(data.Observation) error { return nil })
	mustDo(t, err)
	return lakes
}

func TestImportGeoJSON(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	file := limnomaptest.WriteFile(t, dir, "lakes.geojson", lakesGeoJSON)
	table := limnomaptest.WriteFile(t, dir, "lakes.csv", lakesCSV)

	out := mustRun(t, "import", "lakes", table, "--db", db)
	if !strings.Contains(out, "2 added") {
		t.Errorf("the table:\n%s", out)
	}
	out = mustRun(t, "import", "lakes", file, "--db", db)
	if !strings.Contains(out, "1 added, 0 changed, 1 unchanged") || !strings.Contains(out, `not known: "operator"`) {
		t.Errorf("GeoJSON after the table:\n%s", out)
	}
	bow := storedLakes(t, db)["bow"]
	if lon, lat := bow.Point.Lon(), bow.Point.Lat(); bow.Outline == "" || lon > 13.62 || lat < 52.4 || lat > 52.47 {
		t.Errorf("the horseshoe is at %v, %v with an outline of %d bytes, want it in its western arm", lon, lat, len(bow.Outline))
	}
	// 0.08 by 0.07 degrees minus 0.06 by 0.05, with 67.9 by 111.3 km per degree.
	if bow.AreaKM2 < 19.4 || bow.AreaKM2 > 19.8 {
		t.Errorf("the horseshoe has %v km², want 19.6", bow.AreaKM2)
	}
	out = mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "names.csv", "id,name,lat,lon\nbow,Hufeisensee,52.43,13.61\n"), "--db", db)
	if l := storedLakes(t, db)["bow"]; !strings.Contains(out, "1 changed") || l.Name != "Hufeisensee" || l.Outline != bow.Outline || l.AreaKM2 != bow.AreaKM2 {
		t.Errorf("after a table that renames it, the horseshoe is %+v\n%s", l, out)
	}
	base, _ := startServer(t, "--db", db)
	var status limnomaptest.Status
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/status", &status)
	if status.TotalLakes != 3 {
		t.Errorf("the server shows %d lakes, want 3", status.TotalLakes)
	}
}

func TestImportGeoJSONRejects(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	bad := limnomaptest.WriteFile(t, dir, "bad.geojson", strings.Replace(lakesGeoJSON, `"Point"`, `"LineString"`, 1))
	out, _, err := runCommand(t, "import", "lakes", bad, "--db", db)
	if err == nil || !strings.Contains(err.Error(), "nothing written") ||
		!strings.Contains(out, `bad.geojson, feature 2 (stechlin): geometry "LineString": want Point, Polygon or MultiPolygon`) {
		t.Errorf("a line for a lake: %v\n%s", err, out)
	}
	if out = mustRun(t, "import", "lakes", bad, "--db", db, "--skip-bad"); !strings.Contains(out, "1 added, 0 changed, 0 unchanged, 1 rejected") {
		t.Errorf("skipping it:\n%s", out)
	}
	if _, _, err := runCommand(t, "import", "observations", bad, "--db", db); err == nil || !strings.Contains(err.Error(), "want CSV") {
		t.Errorf("GeoJSON for observations: %v, want an error about CSV", err)
	}
	cut := limnomaptest.WriteFile(t, dir, "cut.geojson", lakesGeoJSON[:len(lakesGeoJSON)-4])
	fresh := filepath.Join(dir, "fresh.db")
	if _, _, err := runCommand(t, "import", "lakes", cut, "--db", fresh, "--skip-bad"); err == nil || !strings.Contains(err.Error(), "is it complete?") {
		t.Errorf("a truncated file: %v, want an error", err)
	}
	matches, err := filepath.Glob(fresh + "*")
	if err != nil || len(matches) > 0 {
		t.Errorf("it leaves %v, %v", matches, err)
	}
}

// A dry run creates no file, changes none, and has the same error as the import.
func TestDryRunLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	table := limnomaptest.WriteFile(t, dir, "lakes.csv", lakesCSV)
	bad := limnomaptest.WriteFile(t, dir, "bad.csv", lakesCSV+"bad,Bad,,1,,\n")
	db := filepath.Join(dir, "lakes.db")
	untouched := func(what string) {
		t.Helper()
		if left, err := filepath.Glob(db + "*"); err != nil || len(left) > 0 {
			t.Errorf("%s leaves %v, %v", what, left, err)
		}
		if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
			t.Errorf("%s leaves %v, %v", what, left, err)
		}
	}
	out := mustRun(t, "import", "lakes", table, "--db", db, "--dry-run")
	if !strings.Contains(out, "2 would be added") || !strings.Contains(out, "this was a dry run") {
		t.Errorf("a dry run prints\n%s", out)
	}
	untouched("a dry run")
	_, _, dry := runCommand(t, "import", "lakes", bad, "--db", db, "--dry-run")
	untouched("a dry run of a bad file")
	_, _, real := runCommand(t, "import", "lakes", bad, "--db", db)
	untouched("a bad file")
	if dry == nil || real == nil || dry.Error() != real.Error() {
		t.Errorf("the dry run ends with %v, the import with %v", dry, real)
	}
	if _, _, err := runCommand(t, "import", "lakes", table, "--db", filepath.Join(dir, "no", "lakes.db"), "--dry-run"); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("a dry run without the folder: %v, want an error", err)
	}
	mustRun(t, "import", "lakes", table, "--db", db)
	before := snapshotVersion(t, db)
	renamed := limnomaptest.WriteFile(t, dir, "renamed.csv", strings.ReplaceAll(lakesCSV, "Stechlinsee", "Stechlinmeer"))
	out = mustRun(t, "import", "lakes", renamed, "--db", "file:"+db, "--dry-run")
	if !strings.Contains(out, "1 changed, 1 unchanged") || snapshotVersion(t, db) != before {
		t.Errorf("a dry run changes the database, or does not print what it would change:\n%s", out)
	}
}

// A number with two readings is rejected with the flags that decide it, and each flag decides it, from each place of a setting.
func TestImportNumberMarks(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	lakes := limnomaptest.WriteFile(t, dir, "lakes.csv", "id;name;lat;lon;area_km2\nx;X;50;10;1.091\n")
	observations := limnomaptest.WriteFile(t, dir, "obs.csv", "lake_id;date;chl;data_type;cell_density_cells_ml\nx;2024-01-01;1;satellite;20.000\n")
	for kind, file := range map[string]string{"lakes": lakes, "observations": observations} {
		out, _, err := runCommand(t, "import", kind, file, "--db", db)
		if err == nil || !strings.Contains(out, "set --decimal . for ") || !strings.Contains(out, "or --thousands . for ") {
			t.Errorf("%s: %v, want the flags named in\n%s", kind, err, out)
		}
	}
	for _, test := range []struct {
		args []string
		area float64
	}{
		{[]string{"--decimal", ","}, 1091},
		{[]string{"--decimal", "."}, 1.091},
		{[]string{"--thousands", "."}, 1091},
		{[]string{"--thousands", "none"}, 1.091},
		{[]string{"--thousands", " "}, 1.091},
		{[]string{"--thousands", "'"}, 1.091},
		{[]string{"--decimal", ",", "--thousands", "."}, 1091},
	} {
		mustRun(t, append([]string{"import", "lakes", lakes, "--db", db}, test.args...)...)
		if l := storedLakes(t, db)["x"]; l.AreaKM2 != test.area {
			t.Errorf("%v: area %v, want %v", test.args, l.AreaKM2, test.area)
		}
	}
	if out := mustRun(t, "import", "observations", observations, "--db", db, "--decimal", ","); !strings.Contains(out, "1 added") {
		t.Errorf("observations with --decimal ,:\n%s", out)
	}
	config := limnomaptest.WriteFile(t, dir, "limnomap.yaml", "decimal: ','\nthousands: none\n")
	if _, _, err := runCommand(t, "import", "lakes", lakes, "--db", db, "--config", config); err == nil {
		t.Error("marks of the configuration file are ignored: want the row rejected")
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--decimal", ";"}, `--decimal: decimal mark ";": want . or ,`},
		{[]string{"--thousands", "_"}, `--thousands: thousands separator "_": want`},
		{[]string{"--decimal", ".", "--thousands", "."}, `both ".": want two that differ`},
	} {
		_, _, err := runCommand(t, append([]string{"import", "lakes", lakes, "--db", db}, test.args...)...)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v, want %q", test.args, err, test.want)
		}
	}
}

func TestImportMapped(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	table := limnomaptest.WriteFile(t, dir, "lakes.csv", "See;Breite;\"Länge, Ost\"\nMüggelsee;52,44;13,65\n")
	mustRun(t, "import", "lakes", table, "--db", db, "--make-ids", "--map", "name=See,lat=Breite", "--map", `"lon=Länge, Ost"`, "--set", "region=BE")
	if l := storedLakes(t, db)["muggelsee"]; l.Name != "Müggelsee" || l.Region != "BE" || l.Point.Lon() != 13.65 {
		t.Errorf("stored %+v", l)
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--map", "name"}, "want pairs such as"},
		{[]string{"--map", "name=a", "--map", "name=b"}, "want one of the two"},
		{[]string{"--map", "title=See"}, `no column "title" to map: want one of id,`},
		{[]string{"--map", "name=Titel"}, `"Titel", which is mapped to name`},
	} {
		_, _, err := runCommand(t, append([]string{"import", "lakes", table, "--db", db}, test.args...)...)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v, want %q", test.args, err, test.want)
		}
	}
	if _, _, err := runCommand(t, "import", "lakes", "-", "-", "--db", db); err == nil || !strings.Contains(err.Error(), "named twice") {
		t.Errorf("standard input twice: %v, want an error", err)
	}
}

// Files of the Water Quality Portal, as they are.
func TestImportWQP(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	stations := limnomaptest.WriteFile(t, dir, "station.csv", "Org_Identifier,Location_Identifier,Location_Name,Location_Type,Location_LatitudeStandardized,Location_LongitudeStandardized\n"+
		"DEMO,DEMO-1,Mill Lake,\"Lake, Reservoir, Impoundment\",45.5,-89.2\nDEMO,DEMO-2,Well 7,Well,45.5,-89.3\n")
	const header = "Org_Identifier,Org_FormalName,Location_Identifier,Activity_ActivityIdentifier,Activity_TypeCode,Activity_StartDate," +
		"Result_ResultDetectionCondition,Result_Characteristic,Result_Measure,Result_MeasureUnit,DetectionLimit_MeasureA,DetectionLimit_MeasureUnitA\n"
	results := limnomaptest.WriteFile(t, dir, "narrowresult.csv", header+
		"DEMO,Department of Lakes,DEMO-1,1,Sample-Routine,2024-07-01,,Chlorophyll a,12.5,ug/l,,\n"+
		"DEMO,Department of Lakes,DEMO-1,2,Field Msr/Obs,2024-07-01,,\"Depth, Secchi disk depth\",1.5,m,,\n"+
		"DEMO,Department of Lakes,DEMO-1,3,Sample-Routine,2024-07-08,Not Detected,Chlorophyll a,,,3,ug/l\n"+
		"DEMO,Department of Lakes,DEMO-1,3,Sample-Routine,2024-07-08,,pH,7,None,,\n")
	if out := mustRun(t, "import", "lakes", stations, "--db", db); !strings.Contains(out, "1 added") || !strings.Contains(out, `1 row left out: no lake: "Well".`) {
		t.Errorf("stations:\n%s", out)
	}
	for _, want := range []string{"4 rows read: 2 added, 0 changed, 0 unchanged", "4 rows read: 0 added, 0 changed, 2 unchanged"} {
		out := mustRun(t, "import", "observations", results, "--db", db)
		for _, part := range []string{want, "1 row combined with others", `1 row left out: other characteristic: "pH".`, "1 value below a limit of detection"} {
			if !strings.Contains(out, part) {
				t.Errorf("results: want %q in\n%s", part, out)
			}
		}
	}
	exported := filepath.Join(dir, "export.csv")
	mustRun(t, "export", "observations", exported, "--db", db)
	text, err := os.ReadFile(exported)
	if err != nil || !strings.Contains(string(text), "DEMO-1,2024-07-01,12.5,in_situ") || !strings.Contains(string(text), "DEMO-1,2024-07-08,1.5,in_situ") {
		t.Errorf("exported, %v:\n%s", err, text)
	}
	if _, _, err := runCommand(t, "import", "lakes", results, "--db", db); err == nil || !strings.Contains(err.Error(), "import them as observations") {
		t.Errorf("results as lakes: %v, want an error", err)
	}
	// A refresh recognizes what each file holds.
	inbox := filepath.Join(dir, "inbox")
	mustDo(t, os.Mkdir(inbox, 0o755))
	for _, file := range []string{stations, results} {
		mustDo(t, os.Rename(file, filepath.Join(inbox, filepath.Base(file))))
	}
	fresh := filepath.Join(dir, "fresh.db")
	if out := mustRun(t, "refresh", "--db", fresh, "--from", inbox); !strings.Contains(out, "Lakes: 2 rows read: 1 added") || !strings.Contains(out, "Observations: 4 rows read: 2 added") {
		t.Errorf("refresh:\n%s", out)
	}
}
