//go:build unix

package faulttest

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx of database/sql

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/ingest/satellite/satellitetest"
	"limnomap/data/testsize"
)

// TestRasterImportKilled kills an import of satellite files at many moments between its start and its end. Each time all values in the database
// have their pixels, all pixels have their value, and the next import completes both.
func TestRasterImportKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lakes, names := killedRasters(t, dir)
	empty := filepath.Join(dir, "empty.db")
	limnomaptest.Run(t, "import", "lakes", lakes, "--db", empty)
	content, err := os.ReadFile(empty)
	must(t, err)
	importsAreWhole(t, testsize.Of(6, 60), names, func(name string) (db string, remove func()) {
		db = filepath.Join(dir, name+".db")
		must(t, os.WriteFile(db, content, 0o600))
		return db, func() { must(t, os.Remove(db)) }
	}, func(db string) (*sql.DB, string) {
		open, err := sql.Open("sqlite", db)
		must(t, err)
		return open, ""
	})
}

// TestRasterImportKilledPostgres is the same with PostgreSQL, whose server goes on while its client is killed.
func TestRasterImportKilledPostgres(t *testing.T) {
	t.Parallel()
	base := startPostgres(t).url
	admin := withDatabase(t, base, "postgres")
	execPostgres(t, admin, "CREATE DATABASE killed")
	dir := t.TempDir()
	lakes, names := killedRasters(t, dir)
	limnomaptest.Run(t, "import", "lakes", lakes, "--db", withDatabase(t, base, "killed"))
	importsAreWhole(t, testsize.Of(3, 12), names, func(name string) (db string, remove func()) {
		execPostgres(t, admin, "CREATE DATABASE "+name+" TEMPLATE killed")
		return withDatabase(t, base, name), func() { execPostgres(t, admin, "DROP DATABASE "+name+" WITH (FORCE)") }
	}, func(db string) (*sql.DB, string) {
		open, err := sql.Open("pgx", db)
		must(t, err)
		return open, "limnomap."
	})
}

const (
	killedSide  = 20 // lakes in a row
	killedFiles = 4  // passes
)

// killedRasters writes the lakes and the satellite files of an import that is killed.
func killedRasters(t *testing.T, dir string) (lakesFile string, names []string) {
	t.Helper()
	const side = killedSide
	var lakes strings.Builder
	for i := range side * side {
		x, y := 10+0.1*float64(i%side), 50-0.1*float64(i/side)
		fmt.Fprintf(&lakes, `,{"type":"Feature","properties":{"id":"lake%d","name":"Lake"},"geometry":{"type":"Polygon","coordinates":[[[%[2]f,%[3]f],[%[4]f,%[3]f],[%[4]f,%[5]f],[%[2]f,%[5]f],[%[2]f,%[3]f]]]}}`,
			i, x+0.005, y-0.005, x+0.095, y-0.095)
	}
	for n := range killedFiles {
		f := satellitetest.TIFF{Width: 10 * side, Height: 10 * side, X0: 10, Y0: 50, Step: 0.01, Unit: "mg m-3", NoData: "-9999"}
		for k := range f.Width * f.Height {
			f.Floats = append(f.Floats, float32(1+(k*7+n)%90))
		}
		names = append(names, limnomaptest.WriteFile(t, dir, fmt.Sprintf("chl_2026-07-%02d.tif", 1+7*n), string(f.Encode())))
	}
	return limnomaptest.WriteFile(t, dir, "lakes.geojson", `{"type":"FeatureCollection","features":[`+lakes.String()[1:]+`]}`), names
}

// importsAreWhole kills that many imports of files, each into a database that fresh returns. open opens it, and returns what stands before the names of its tables.
func importsAreWhole(t *testing.T, kills int, names []string, fresh func(name string) (db string, remove func()), open func(db string) (*sql.DB, string)) {
	t.Helper()
	const all = killedFiles * killedSide * killedSide
	importInto := func(db string) []string {
		return append([]string{"import", "rasters", "--db", db, "--keep-pixels", "20y"}, names...)
	}
	valuesAndPixels := func(t *testing.T, path string) (values, pixels int) {
		t.Helper()
		db, schema := open(path)
		defer db.Close()
		return valuesAndPixels(t, db, schema)
	}
	whole, _ := fresh("whole")
	start := time.Now()
	limnomaptest.Run(t, importInto(whole)...)
	took := time.Since(start)
	if values, pixels := valuesAndPixels(t, whole); values != all || pixels != values {
		t.Fatalf("%d values and the pixels of %d, want %d of both", values, pixels, all)
	}
	parts := 0
	for i := range kills {
		db, remove := fresh(fmt.Sprintf("killed%d", i))
		cmd := limnomaptest.Command(t, importInto(db)...)
		must(t, cmd.Start())
		time.Sleep(3 * took * time.Duration(i+1) / time.Duration(kills)) // a busy machine may take longer than the first time
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		values, pixels := valuesAndPixels(t, db)
		if values != pixels {
			t.Errorf("after kill %d there are %d values, and the pixels of %d", i, values, pixels)
		}
		if values > 0 {
			parts++
		}
		if i%3 == 0 {
			limnomaptest.Run(t, importInto(db)...)
			if values, pixels := valuesAndPixels(t, db); values != all || pixels != values {
				t.Errorf("after kill %d and another import there are %d values and the pixels of %d", i, values, pixels)
			}
		}
		remove()
	}
	t.Logf("an import takes %v; %d of %d kills came after a commit", took, parts, kills)
}

// valuesAndPixels returns how many values of satellites a database has, and how many of them have pixels with a mask. Pixels without a value are an error.
func valuesAndPixels(t *testing.T, db *sql.DB, schema string) (values, pixels int) {
	t.Helper()
	rows, counted := 0, 0
	must(t, db.QueryRow(strings.ReplaceAll(`SELECT (SELECT count(*) FROM .observations WHERE type = 0),
		(SELECT count(*) FROM .observations AS o JOIN .pixels AS p ON p.lake = o.lake AND p.date = o.date AND p.source = o.source
			JOIN .pixel_masks AS m ON m.lake = p.lake AND m.digest = p.mask WHERE o.type = 0 AND p.spread IS NOT NULL),
		(SELECT count(*) FROM .pixels), (SELECT count FROM .pixel_state)`, " .", " "+schema)).Scan(&values, &pixels, &rows, &counted))
	if rows != pixels || counted != rows {
		t.Errorf("%d rows of pixels, of which %d have a value and %d are counted", rows, pixels, counted)
	}
	return values, pixels
}
