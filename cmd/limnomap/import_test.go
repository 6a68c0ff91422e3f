package main

import (
	"path/filepath"
	"strings"
	"testing"

	"limnomap/data"
	"limnomap/data/store"
)

// lakesGeoJSON is a lake shaped like a horseshoe around Müggelsee's place, and a point.
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
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	lakes := make(map[data.LakeID]data.Lake)
	_, err = s.Scan(t.Context(),
		func(l data.Lake) error { lakes[l.ID] = l; return nil },
		func(data.Observation) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return lakes
}

func TestImportGeoJSON(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	file := writeFile(t, dir, "lakes.geojson", lakesGeoJSON)
	table := writeFile(t, dir, "lakes.csv", lakesCSV)

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
		t.Errorf("the horseshoe lies at %v, %v with an outline of %d bytes, want it in its western arm", lon, lat, len(bow.Outline))
	}
	// 0.08 by 0.07 degrees less 0.06 by 0.05, at 67.9 by 111.3 km to a degree.
	if bow.AreaKM2 < 19.4 || bow.AreaKM2 > 19.8 {
		t.Errorf("the horseshoe has %v km², want 19.6", bow.AreaKM2)
	}
	out = mustRun(t, "import", "lakes", writeFile(t, dir, "names.csv", "id,name,lat,lon\nbow,Hufeisensee,52.43,13.61\n"), "--db", db)
	if l := storedLakes(t, db)["bow"]; !strings.Contains(out, "1 changed") || l.Name != "Hufeisensee" || l.Outline != bow.Outline || l.AreaKM2 != bow.AreaKM2 {
		t.Errorf("a table that renames the horseshoe left %+v\n%s", l, out)
	}
	base, _ := startServer(t, "--db", db)
	var status statusAnswer
	getJSON(t, base+"/api/v1/bathing-lakes/status", &status)
	if status.TotalLakes != 3 {
		t.Errorf("the server shows %d lakes, want 3", status.TotalLakes)
	}
}

func TestImportGeoJSONRejects(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	bad := writeFile(t, dir, "bad.geojson", strings.Replace(lakesGeoJSON, `"Point"`, `"LineString"`, 1))
	out, _, err := runCommand(t, "import", "lakes", bad, "--db", db)
	if err == nil || !strings.Contains(err.Error(), "nothing written") ||
		!strings.Contains(out, `bad.geojson, feature 2 (stechlin): geometry "LineString": want Point, Polygon or MultiPolygon`) {
		t.Errorf("a line for a lake: %v\n%s", err, out)
	}
	if out = mustRun(t, "import", "lakes", bad, "--db", db, "--skip-bad"); !strings.Contains(out, "1 added, 0 changed, 0 unchanged, 1 rejected") {
		t.Errorf("skipping it:\n%s", out)
	}
	if _, _, err := runCommand(t, "import", "observations", bad, "--db", db); err == nil || !strings.Contains(err.Error(), "want CSV") {
		t.Errorf("GeoJSON for observations: %v, want a word on CSV", err)
	}
	cut := writeFile(t, dir, "cut.geojson", lakesGeoJSON[:len(lakesGeoJSON)-4])
	fresh := filepath.Join(dir, "fresh.db")
	if _, _, err := runCommand(t, "import", "lakes", cut, "--db", fresh, "--skip-bad"); err == nil || !strings.Contains(err.Error(), "is it whole?") {
		t.Errorf("a file that is cut short: %v, want an error", err)
	}
	matches, err := filepath.Glob(fresh + "*")
	if err != nil || len(matches) > 0 {
		t.Errorf("it left %v behind, %v", matches, err)
	}
}
