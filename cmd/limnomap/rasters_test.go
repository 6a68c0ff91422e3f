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

	"pgregory.net/rapid"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data"
	"limnomap/data/ingest/satellite"
	"limnomap/data/ingest/satellite/satellitetest"
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
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, observations, err := s.History(t.Context(), lake, data.Newest(100))
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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

// What extract writes, import observations reads, and it is the same as what import rasters writes.
func TestExtractRasters(t *testing.T) {
	dir := t.TempDir()
	lakes := limnomaptest.WriteFile(t, dir, "lakes.geojson", rasterLakes)
	raster := writeRaster(t, dir, "chl_2026-07-07.tif", 60)
	db, other, values := filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db"), filepath.Join(dir, "values.csv")
	mustRun(t, "import", "lakes", lakes, "--db", db)
	mustRun(t, "import", "lakes", lakes, "--db", other)
	mustRun(t, "import", "rasters", raster, "--db", db)
	for _, from := range [][]string{{"--lakes", lakes}, {"--db", db}} {
		mustRun(t, append([]string{"extract", "rasters", raster, "--out", values, "--force"}, from...)...)
		mustRun(t, "import", "observations", values, "--db", other)
		for _, lake := range []data.LakeID{"clear", "bloom"} {
			if a, b := observationsOf(t, db, lake), observationsOf(t, other, lake); len(a) != 1 || len(b) != 1 || a[0] != b[0] {
				t.Errorf("%v: lake %s is %+v, want %+v", from, lake, b, a)
			}
		}
	}
	// A GeoJSON needs only ids, and without the margin the shore counts.
	ids := limnomaptest.WriteFile(t, dir, "ids.geojson", strings.ReplaceAll(strings.ReplaceAll(rasterLakes, `, "name": "Clear Lake"`, ""), `, "name": "Bloom Lake"`, ""))
	out := mustRun(t, "extract", "rasters", raster, "--lakes", ids, "--shore", "0", "--out", "-")
	if !strings.Contains(out, "bloom,2026-07-07,60,satellite,100,100,60,60,,median of pixels wholly inside the outline,chlorophyll raster,,,") {
		t.Errorf("the table is\n%s", out)
	}
	for _, args := range [][]string{{"--out", "-"}, {"--out", "-", "--lakes", lakes, "--db", db}, {"--out", values, "--lakes", lakes}, {"--out", "-", "--lakes", raster}} {
		if _, _, err := runCommand(t, append([]string{"extract", "rasters", raster}, args...)...); err == nil {
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
		if err != nil {
			t.Fatal(err)
		}
		snapshot, err := data.Load(t.Context(), s, nil)
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
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
				if out := mustRun(t, append([]string{"extract", "rasters", "--lakes", lakes, "--out", values}, tiles...)...); !strings.Contains(out, want) {
					t.Errorf("extract: the report lacks %q:\n%s", want, out)
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

// A file that cannot be used leaves nothing in the table between those of others, also if it fails in the middle.
func TestExtractLeavesNothingOfABadFile(t *testing.T) {
	tables, err := newValueTables()
	if err != nil {
		t.Fatal(err)
	}
	defer tables.close()
	bad := errors.New("bad")
	for i, fault := range []error{bad, nil, bad, nil, bad} {
		err := addRows(tables, fault, row(fmt.Sprint("lake", i), i+1))
		if !errors.Is(err, fault) {
			t.Errorf("table %d: %v, want %v", i, err, fault)
		}
	}
	if got := lakesIn(t, tables); !slices.Equal(got, []string{"lake1", "lake3"}) {
		t.Errorf("the rows are of %v", got)
	}
}

// row returns a row of 2026-07-07 with that many pixels.
func row(lake string, valid int) satellite.Row {
	date, err := data.ParseDate("2026-07-07")
	if err != nil {
		panic(err)
	}
	return satellite.Row{Lake: data.LakeID(lake), Date: date, Source: "chlorophyll raster", HasValue: true, Value: 1, Inside: 1000, Valid: valid, Uncertainty: -1}
}

// addRows adds a table with rows, which then fails with fault.
func addRows(tables *valueTables, fault error, rows ...satellite.Row) error {
	return tables.add("a.tif", func(w io.Writer) (s satellite.Summary, err error) {
		table, err := satellite.NewTable(w)
		for i := range rows {
			err = errors.Join(err, table.Write(&rows[i]))
			s.Date, s.Source = rows[i].Date, rows[i].Source
		}
		return s, errors.Join(err, table.Flush(), fault)
	})
}

// lakesIn returns the lakes of all rows of tables, in ascending order.
func lakesIn(t interface{ Fatal(...any) }, tables *valueTables) []string {
	var text strings.Builder
	if err := tables.writeTo(&text); err != nil {
		t.Fatal(err)
	}
	var lakes []string
	for _, line := range strings.Split(strings.TrimSpace(text.String()), "\n")[1:] {
		lakes = append(lakes, line[:strings.Index(line, ",")])
	}
	slices.Sort(lakes)
	return lakes
}

// Each lake has one row, which does not depend on the order of the files, and no other row is better.
func TestMergeProperties(t *testing.T) {
	lakes := []satellite.Lake{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	rapid.Check(t, func(t *rapid.T) {
		var files [][]satellite.Row
		for range rapid.IntRange(1, 4).Draw(t, "files") {
			var rows []satellite.Row
			for _, lake := range lakes {
				if !rapid.Bool().Draw(t, "seen") {
					continue
				}
				r := row(string(lake.ID), rapid.IntRange(1, 3).Draw(t, "valid"))
				r.HasValue = rapid.Bool().Draw(t, "has a value")
				r.Value = rapid.Float64Range(1, 3).Draw(t, "value")
				r.Value = float64(int(r.Value))
				r.Version = rapid.SampledFrom([]string{"", "V1", "V2", "v2"}).Draw(t, "version")
				if r.HasValue {
					r.Quality = rapid.SampledFrom([]data.Quality{data.Quality(0), data.Suspect, data.Poor}).Draw(t, "quality")
				}
				rows = append(rows, r)
			}
			files = append(files, rows)
		}
		first := merged(t, lakes, files)
		if again := merged(t, lakes, rapid.Permutation(files).Draw(t, "order")); !slices.Equal(first, again) {
			t.Fatalf("the rows depend on the order of the files:\n%q\n%q", first, again)
		}
		var want []string
		for _, lake := range lakes {
			if slices.ContainsFunc(files, func(rows []satellite.Row) bool {
				return slices.ContainsFunc(rows, func(r satellite.Row) bool { return r.Lake == lake.ID })
			}) {
				want = append(want, string(lake.ID))
			}
		}
		var got []string
		for _, line := range first {
			got = append(got, line[:strings.Index(line, ",")])
		}
		if !slices.Equal(got, want) {
			t.Fatalf("the rows are of %v, want one of each of %v", got, want)
		}
	})
}

// merged returns the lines of merged files in ascending order, with versions that compare as equal written alike.
func merged(t *rapid.T, lakes []satellite.Lake, files [][]satellite.Row) []string {
	tables, err := newValueTables()
	if err != nil {
		t.Fatal(err)
	}
	defer tables.close()
	for _, rows := range files {
		if err := addRows(tables, nil, rows...); err != nil {
			t.Fatal(err)
		}
		last := &tables.tables[len(tables.tables)-1].day
		last.date, last.source = row("a", 1).Date, row("a", 1).Source // also of a file without rows
	}
	if err := tables.merge(context.Background(), lakes, io.Discard); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := tables.writeTo(&text); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(text.String(), "v2", "V2")), "\n")[1:]
	slices.Sort(lines)
	return lines
}

func TestMergeOrder(t *testing.T) {
	with := func(valid int, change func(*satellite.Row)) satellite.Row {
		r := row("a", valid)
		change(&r)
		return r
	}
	best := with(3, func(r *satellite.Row) {})
	for _, test := range []struct {
		name          string
		better, worse satellite.Row
	}{
		{"a newer version with fewer pixels", with(1, func(r *satellite.Row) { r.Version = "V2.1.1" }), with(3, func(r *satellite.Row) { r.Version = "V2.1.0" })},
		{"a newer version with a gap", with(0, func(r *satellite.Row) { r.Version, r.HasValue = "V2", false }), with(3, func(r *satellite.Row) { r.Version = "V1" })},
		{"a value before a gap without a version", with(3, func(r *satellite.Row) { r.Version = "V2" }), with(9, func(r *satellite.Row) { r.HasValue = false })},
		{"a gap with a version after a value without one", best, with(9, func(r *satellite.Row) { r.Version, r.HasValue = "V2", false })},
		{"poor before a gap", with(1, func(r *satellite.Row) { r.Quality = data.Poor }), with(2, func(r *satellite.Row) { r.HasValue = false })},
		{"suspect before poor", with(1, func(r *satellite.Row) { r.Quality = data.Suspect }), with(2, func(r *satellite.Row) { r.Quality = data.Poor })},
		{"good before suspect", with(1, func(*satellite.Row) {}), with(2, func(r *satellite.Row) { r.Quality = data.Suspect })},
		{"more pixels", best, with(2, func(r *satellite.Row) { r.Value = 99 })},
		{"the larger value", with(3, func(r *satellite.Row) { r.Value = 10 }), with(3, func(r *satellite.Row) { r.Value = 9 })},
		{"a value before one below a limit", best, with(3, func(r *satellite.Row) { r.Limit = 3.07 })},
	} {
		for _, files := range [][]satellite.Row{{test.better, test.worse}, {test.worse, test.better}} {
			tables, err := newValueTables()
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range files {
				if err := addRows(tables, nil, r); err != nil {
					t.Fatal(err)
				}
			}
			var report, got, want strings.Builder
			if err := tables.merge(t.Context(), []satellite.Lake{{ID: "a"}}, &report); err != nil {
				t.Fatal(err)
			}
			table, err := satellite.NewTable(&want)
			if err := errors.Join(err, table.Write(&test.better), table.Flush(), tables.writeTo(&got)); err != nil {
				t.Fatal(err)
			}
			if got.String() != want.String() || !strings.Contains(report.String(), ": 1 lake is in several") {
				t.Errorf("%s: got\n%swant\n%sand the report is %s", test.name, &got, &want, &report)
			}
			tables.close()
		}
	}
}

// Values that the import rejects are named by their satellite file and lake, not by a line of a temporary file.
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
		{"extract", "rasters", raster, "--db", db, "--out", filepath.Join(dir, "values.csv")},
		{"extract", "rasters", raster, "--lakes", lakes, "--out", filepath.Join(dir, "values.csv")},
		{"extract", "rasters", raster, "--lakes", lakes, "--out", "-"},
	} {
		if err := run(ctx, args, io.Discard, io.Discard); err == nil || !strings.HasPrefix(err.Error(), "interrupted: ") {
			t.Errorf("%v: %v, want that it was interrupted", args, err)
		}
	}
}

func TestShoreFlag(t *testing.T) {
	dir := t.TempDir()
	lakes := limnomaptest.WriteFile(t, dir, "lakes.geojson", rasterLakes)
	args := []string{"extract", "rasters", writeRaster(t, dir, "chl_2026-07-07.tif", 60), "--lakes", lakes, "--out", "-"}
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
		if err != nil {
			t.Fatal(err)
		}
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

// BenchmarkMerge merges two tables of 1.4 million lakes, as of two products of one day for all lakes of the Earth.
func BenchmarkMerge(b *testing.B) {
	const n = 1_400_000
	lakes := make([]satellite.Lake, n)
	rows := make([]satellite.Row, n)
	for i := range lakes {
		lakes[i].ID = data.LakeID(fmt.Sprintf("hydrolakes_%07d", i))
		rows[i] = row(string(lakes[i].ID), 10+i%7)
		rows[i].Version, rows[i].Method = fmt.Sprintf("V2.1.1 %d observations", i%500), "median of pixels wholly inside the outline, 2 pixels from the shore"
	}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		tables, err := newValueTables()
		if err := errors.Join(err, addRows(tables, nil, rows...), addRows(tables, nil, rows...)); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := tables.merge(b.Context(), lakes, io.Discard); err != nil {
			b.Fatal(err)
		}
		tables.close()
	}
}
