package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data"
	"limnomap/data/ingest/satellite/satellitetest"
	"limnomap/data/snapshot"
	"limnomap/data/store"
)

// rasterLakes are two lakes in the raster of writeRaster, and one outside of it.
const rasterLakes = `{"type": "FeatureCollection", "features": [
{"type": "Feature", "properties": {"id": "clear", "name": "Clear Lake"}, "geometry": {"type": "Polygon", "coordinates":
  [[[10.0999, 49.9001], [10.2001, 49.9001], [10.2001, 49.7999], [10.0999, 49.7999], [10.0999, 49.9001]]]}},
{"type": "Feature", "properties": {"id": "bloom", "name": "Bloom Lake"}, "geometry": {"type": "Polygon", "coordinates":
  [[[10.2999, 49.9001], [10.4001, 49.9001], [10.4001, 49.7999], [10.2999, 49.7999], [10.2999, 49.9001]]]}},
{"type": "Feature", "properties": {"id": "far", "name": "Far Lake"}, "geometry": {"type": "Point", "coordinates": [20, 40]}}
]}
`

// writeRaster writes a raster of chlorophyll with two lakes, one of them with a bloom.
func writeRaster(t testing.TB, dir, name string, bloom float32) string {
	t.Helper()
	const size = 50
	f := satellitetest.TIFF{Width: size, Height: size, X0: 10, Y0: 50, Step: 0.01, Unit: "mg m-3", NoData: "-9999"}
	for y := range size {
		for x := range size {
			v := float32(-9999)
			switch water := y >= 10 && y < 20; {
			case water && x >= 10 && x < 20:
				v = 2
			case water && x >= 30 && x < 40:
				v = bloom
			}
			f.Floats = append(f.Floats, v)
		}
	}
	return limnomaptest.WriteFile(t, dir, name, string(f.Encode()))
}

// observationsOf returns the observations of a lake, newest first.
func observationsOf(t testing.TB, db string, lake data.LakeID) []data.Observation {
	t.Helper()
	s, err := store.Open(t.Context(), db, false)
	mustDo(t, err)
	defer s.Close()
	_, observations, err := s.History(t.Context(), lake, data.Newest(100))
	mustDo(t, err)
	return observations
}

func TestImportRasters(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.geojson", rasterLakes), "--db", db)
	june := writeRaster(t, dir, "chl_2026-06-30.tif", 10)
	july := writeRaster(t, dir, "chl_2026-07-07.tif", 60)

	out := mustRun(t, "import", "rasters", june, july, "--db", db, "--dry-run")
	if len(observationsOf(t, db, "bloom")) != 0 || !strings.Contains(out, "4 would be added") {
		t.Errorf("a dry run wrote something, or not what it says:\n%s", out)
	}
	out = mustRun(t, "import", "rasters", june, july, "--db", db)
	for _, want := range []string{"chl (chlorophyll raster), band 1, 2026-06-30: 2 lakes with a value, 1 without (1 outside the raster); ", "4 added, 0 changed"} {
		if !strings.Contains(out, want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "not known") {
		t.Errorf("an own column is not known:\n%s", out)
	}
	if out = mustRun(t, "import", "rasters", june, july, "--db", db); !strings.Contains(out, "0 added, 0 changed, 4 unchanged") {
		t.Errorf("the same again:\n%s", out)
	}
	got := observationsOf(t, db, "bloom")
	if len(got) != 2 {
		t.Fatalf("%d observations, want 2", len(got))
	}
	newest := got[0]
	if newest.Date.String() != "2026-07-07" || newest.Chlorophyll.Float() != 60 || newest.Source != "chlorophyll raster" || newest.Details.Method != "median of pixels wholly inside the outline, 2 pixels from the shore" ||
		newest.Details.ValidPixels != data.Known[int32](36) || newest.Details.TotalPixels != data.Known[int32](36) {
		t.Errorf("the newest observation is %+v", newest)
	}
}

// A file that cannot be used rejects all, or is left out.
func TestImportBadRaster(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.geojson", rasterLakes), "--db", db)
	good := writeRaster(t, dir, "chl_2026-06-30.tif", 10)
	whole, err := os.ReadFile(good)
	mustDo(t, err)
	// Its tags are at the end.
	cut := limnomaptest.WriteFile(t, dir, "chl_2026-07-07.tif", string(whole[:len(whole)/2]))
	_, _, err = runCommand(t, "import", "rasters", good, cut, "--db", db)
	if err == nil || !strings.Contains(err.Error(), "chl_2026-07-07.tif") || len(observationsOf(t, db, "bloom")) != 0 {
		t.Errorf("the error is %v, want one that names the file, and nothing written", err)
	}
	out := mustRun(t, "import", "rasters", good, cut, "--db", db, "--skip-bad")
	if !strings.Contains(out, "left out") || len(observationsOf(t, db, "bloom")) != 1 {
		t.Errorf("with --skip-bad:\n%s", out)
	}
	if _, _, err := runCommand(t, "import", "rasters", cut, "--db", db, "--skip-bad"); err == nil {
		t.Error("only a bad file: want an error")
	}
}

// What import rasters --csv writes, import observations reads, and it is the same as what import rasters writes.
func TestRastersToCSV(t *testing.T) {
	dir := t.TempDir()
	lakes := limnomaptest.WriteFile(t, dir, "lakes.geojson", rasterLakes)
	raster := writeRaster(t, dir, "chl_2026-07-07.tif", 60)
	db, other, values := filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db"), filepath.Join(dir, "values.csv")
	mustRun(t, "import", "lakes", lakes, "--db", db)
	mustRun(t, "import", "lakes", lakes, "--db", other)
	mustRun(t, "import", "rasters", raster, "--db", db)
	for _, from := range [][]string{{"--lakes", lakes}, {"--db", db}} {
		mustRun(t, append([]string{"import", "rasters", raster, "--csv", values, "--force"}, from...)...)
		mustRun(t, "import", "observations", values, "--db", other)
		for _, lake := range []data.LakeID{"clear", "bloom"} {
			if a, b := observationsOf(t, db, lake), observationsOf(t, other, lake); len(a) != 1 || len(b) != 1 || a[0] != b[0] {
				t.Errorf("%v: lake %s is %+v, want %+v", from, lake, b, a)
			}
		}
	}
	// A GeoJSON needs only ids, and without the margin the shore counts.
	ids := limnomaptest.WriteFile(t, dir, "ids.geojson", strings.ReplaceAll(strings.ReplaceAll(rasterLakes, `, "name": "Clear Lake"`, ""), `, "name": "Bloom Lake"`, ""))
	out := mustRun(t, "import", "rasters", raster, "--lakes", ids, "--shore", "0", "--csv", "-")
	if !strings.Contains(out, "bloom,2026-07-07,60,satellite,100,100,60,60,,median of pixels wholly inside the outline,chlorophyll raster,,,") {
		t.Errorf("the table is\n%s", out)
	}
	for _, args := range [][]string{{"--csv", "-"}, {"--csv", "-", "--lakes", lakes, "--db", db}, {"--csv", values, "--lakes", lakes}, {"--csv", "-", "--lakes", raster},
		{}, {"--db", db, "--lakes", lakes}, {"--db", db, "--lakes", lakes, "--force"}, {"--csv", "-", "--db", db, "--dry-run"}, {"--csv", "-", "--db", db, "--prefer", "lwq"}} {
		if _, _, err := runCommand(t, append([]string{"import", "rasters", raster}, args...)...); err == nil {
			t.Errorf("%v: want an error", args)
		}
	}
}

// The first product of --prefer counts in a week, whatever the order of the imports.
func TestPreferProducts(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.geojson", rasterLakes), "--db", db)
	mustRun(t, "import", "rasters", writeRaster(t, dir, "chl_2026-07-07.tif", 60), "--db", db, "--source", "ACOLITE")
	for _, test := range []struct {
		prefer string
		want   float64
	}{{"ACOLITE,chl", 60}, {"chl,ACOLITE", 20}} {
		mustRun(t, "import", "rasters", writeRaster(t, dir, "chl_2026-07-07.tif", 20), "--db", db, "--prefer", test.prefer)
		s, err := store.Open(t.Context(), db, false)
		mustDo(t, err)
		snapshot, err := snapshot.Load(t.Context(), s, &snapshot.Options{AsOf: snapshot.Newest})
		mustDo(t, errors.Join(err, s.Close()))
		i, ok := snapshot.Index("bloom")
		if !ok {
			t.Fatal("no lake")
		}
		if got := snapshot.Current.States[i].Chlorophyll.Float(); got != test.want {
			t.Errorf("--prefer %s: the current value is %v, want %v", test.prefer, got, test.want)
		}
	}
	if n := len(observationsOf(t, db, "bloom")); n != 2 {
		t.Errorf("%d values are stored, want both", n)
	}
	if _, _, err := runCommand(t, "import", "rasters", writeRaster(t, dir, "chl_2026-07-07.tif", 20), "--db", db, "--prefer", "chl,chl"); err == nil {
		t.Error("a product twice: want an error")
	}
}

// Of two tiles of one day each lake gets the value of one, whatever their order. A cloud in one of them removes no value.
func TestTilesOfOneDay(t *testing.T) {
	const cloud = -9999
	for _, test := range []struct {
		name   string
		blooms []float32 // of the tiles
		want   float64   // -1: a gap
	}{
		{name: "a value before a gap", blooms: []float32{60, cloud}, want: 60},
		{name: "the larger value", blooms: []float32{20, 60}, want: 60},
		{name: "gaps", blooms: []float32{cloud, cloud}, want: -1},
		{name: "three tiles", blooms: []float32{cloud, 60, 20}, want: 60},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			lakes := limnomaptest.WriteFile(t, dir, "lakes.geojson", rasterLakes)
			var tiles []string
			for i, bloom := range test.blooms {
				tiles = append(tiles, writeRaster(t, dir, fmt.Sprintf("tile%d_chl_2026-07-07.tif", i), bloom))
			}
			tiles = append(tiles, writeRaster(t, dir, "chl_2026-06-30.tif", 7)) // of another day
			for range 2 {
				db, csvDB, values := filepath.Join(t.TempDir(), "a.db"), filepath.Join(t.TempDir(), "b.db"), filepath.Join(t.TempDir(), "values.csv")
				mustRun(t, "import", "lakes", lakes, "--db", db)
				mustRun(t, "import", "lakes", lakes, "--db", csvDB)
				want := "chlorophyll raster of 2026-07-07: 2 lakes are in several of these files: the newest version counts"
				if out := mustRun(t, append([]string{"import", "rasters", "--db", db}, tiles...)...); !strings.Contains(out, want) || !strings.Contains(out, "4 rows read: 4 added") {
					t.Errorf("import: the report lacks %q or the number of rows:\n%s", want, out)
				}
				if out := mustRun(t, append([]string{"import", "rasters", "--lakes", lakes, "--csv", values}, tiles...)...); !strings.Contains(out, want) {
					t.Errorf("--csv: the report lacks %q:\n%s", want, out)
				}
				if out := mustRun(t, "import", "observations", values, "--db", csvDB); !strings.Contains(out, "4 rows read: 4 added") {
					t.Errorf("import of the table:\n%s", out)
				}
				for _, db := range []string{db, csvDB} {
					got := observationsOf(t, db, "bloom")
					if len(got) != 2 || got[0].Chlorophyll.Valid() != (test.want >= 0) || test.want >= 0 && got[0].Chlorophyll.Float() != test.want {
						t.Errorf("%v: the observations are %+v, want %v", tiles, got, test.want)
					}
				}
				slices.Reverse(tiles)
			}
		})
	}
}

// Values that the import rejects are named by their satellite file and lake.
func TestRejectedValuesNameTheFile(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.geojson", rasterLakes), "--db", db)
	raster := writeRaster(t, dir, "chl_2026-07-07.tif", 60)
	_, _, err := runCommand(t, "import", "rasters", raster, "--db", db, "--source", "a\u202eb")
	if err == nil || !strings.Contains(err.Error(), raster+`, lake "bloom": source`) || strings.Contains(err.Error(), "line") {
		t.Errorf("the error is %v, want one that names the file and the lake", err)
	}
}

func TestInterruptedRasters(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	lakes := limnomaptest.WriteFile(t, dir, "lakes.geojson", rasterLakes)
	mustRun(t, "import", "lakes", lakes, "--db", db)
	raster := writeRaster(t, dir, "chl_2026-07-07.tif", 60)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{
		{"import", "rasters", raster, "--db", db},
		{"import", "rasters", raster, "--db", db, "--csv", filepath.Join(dir, "values.csv")},
		{"import", "rasters", raster, "--lakes", lakes, "--csv", filepath.Join(dir, "values.csv")},
		{"import", "rasters", raster, "--lakes", lakes, "--csv", "-"},
	} {
		if err := run(ctx, args, io.Discard, io.Discard); err == nil || !strings.HasPrefix(err.Error(), "interrupted: ") {
			t.Errorf("%v: %v, want that it was interrupted", args, err)
		}
	}
}

func TestShoreFlag(t *testing.T) {
	dir := t.TempDir()
	lakes := limnomaptest.WriteFile(t, dir, "lakes.geojson", rasterLakes)
	args := []string{"import", "rasters", writeRaster(t, dir, "chl_2026-07-07.tif", 60), "--lakes", lakes, "--csv", "-"}
	for _, shore := range [][]string{{"--shore", "-1"}, {"--shore=-1"}, {"--shore", "-1.5"}, {"--shore", "1001"}, {"--shore", "far"}, {"--shore="}} {
		if _, _, err := runCommand(t, append(slices.Clip(args), shore...)...); err == nil || !strings.Contains(err.Error(), "want auto, or a number of pixels from 0 to 1000") {
			t.Errorf("%v: %v", shore, err)
		}
	}
	for _, shore := range [][]string{{"--shore"}, {"--shore", "--force"}} {
		if _, _, err := runCommand(t, append(slices.Clip(args), shore...)...); err == nil || !strings.Contains(err.Error(), "expected PIXELS or auto as the value") {
			t.Errorf("%v: %v", shore, err)
		}
	}
	for _, shore := range []string{"0", "auto", "3"} {
		mustRun(t, append(slices.Clip(args), "--shore", shore)...)
	}
}

// A preferred name that stands for nothing is named, also by a dry run, and so are the products. Names of products, of these files and of stored
// values are known.
func TestPreferUnknownName(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.geojson", rasterLakes), "--db", db)
	raster := writeRaster(t, dir, "chl_2026-07-07.tif", 60)
	warning := func(args ...string) string {
		_, stderr, err := runCommand(t, append([]string{"import", "rasters", raster, "--db", db}, args...)...)
		mustDo(t, err)
		return stderr
	}
	for _, test := range []struct {
		args    []string
		unknown bool
	}{
		{[]string{"--prefer", "lwq,EPA CyAN V6,EPA,Copernicus LWQ300"}, false},
		{[]string{"--prefer", "ACOLITE", "--dry-run"}, true},
		{[]string{"--prefer", "ACOLITE", "--source", "ACOLITE V1"}, false},
		{[]string{"--prefer", "ACOLITE"}, false}, // by now it is stored
		{[]string{"--prefer", "lwq,cyann"}, true},
	} {
		got := warning(test.args...)
		if named := strings.Contains(got, "name="+test.args[1][strings.LastIndex(test.args[1], ",")+1:]) && strings.Contains(got, "products=lwq,lakes-cci"); named != test.unknown {
			t.Errorf("%v: a warning %v, want %v:\n%s", test.args, named, test.unknown, got)
		}
	}
}
