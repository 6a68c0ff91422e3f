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

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/ingest/satellite/satellitetest"
	"limnomap/data/testsize"
)

// TestRasterImportKilled kills an import of satellite files at many moments between its start and its end. Each time all values in the database
// have their pixels, all pixels have their value, and the next import completes both.
func TestRasterImportKilled(t *testing.T) {
	t.Parallel()
	const side, files = 20, 4 // lakes in a row, and passes
	dir := t.TempDir()
	var lakes strings.Builder
	for i := range side * side {
		x, y := 10+0.1*float64(i%side), 50-0.1*float64(i/side)
		fmt.Fprintf(&lakes, `,{"type":"Feature","properties":{"id":"lake%d","name":"Lake"},"geometry":{"type":"Polygon","coordinates":[[[%[2]f,%[3]f],[%[4]f,%[3]f],[%[4]f,%[5]f],[%[2]f,%[5]f],[%[2]f,%[3]f]]]}}`,
			i, x+0.005, y-0.005, x+0.095, y-0.095)
	}
	empty := filepath.Join(dir, "empty.db")
	limnomaptest.Run(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.geojson", `{"type":"FeatureCollection","features":[`+lakes.String()[1:]+`]}`), "--db", empty)
	var names []string
	for n := range files {
		f := satellitetest.TIFF{Width: 10 * side, Height: 10 * side, X0: 10, Y0: 50, Step: 0.01, Unit: "mg m-3", NoData: "-9999"}
		for k := range f.Width * f.Height {
			f.Floats = append(f.Floats, float32(1+(k*7+n)%90))
		}
		names = append(names, limnomaptest.WriteFile(t, dir, fmt.Sprintf("chl_2026-07-%02d.tif", 1+7*n), string(f.Encode())))
	}
	importInto := func(db string) []string {
		return append([]string{"import", "rasters", "--db", db, "--keep-pixels", "20y"}, names...)
	}
	content, err := os.ReadFile(empty)
	must(t, err)
	fresh := func(name string) string {
		t.Helper()
		db := filepath.Join(dir, name)
		must(t, os.WriteFile(db, content, 0o600))
		return db
	}
	whole := fresh("whole.db")
	start := time.Now()
	limnomaptest.Run(t, importInto(whole)...)
	took := time.Since(start)
	if values, pixels := valuesAndPixels(t, whole); values != files*side*side || pixels != values {
		t.Fatalf("%d values and the pixels of %d, want %d of both", values, pixels, files*side*side)
	}
	kills, parts := testsize.Of(6, 60), 0
	for i := range kills {
		db := fresh(fmt.Sprintf("killed%d.db", i))
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
			if values, pixels := valuesAndPixels(t, db); values != files*side*side || pixels != values {
				t.Errorf("after kill %d and another import there are %d values and the pixels of %d", i, values, pixels)
			}
		}
		must(t, os.Remove(db))
	}
	t.Logf("an import takes %v; %d of %d kills came after a commit", took, parts, kills)
}

// valuesAndPixels returns how many values of satellites a database has, and how many of them have pixels with a mask. Pixels without a value are an error.
func valuesAndPixels(t *testing.T, path string) (values, pixels int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	orphans := 0
	must(t, db.QueryRow(`SELECT (SELECT count(*) FROM observations WHERE type = 0),
		(SELECT count(*) FROM observations AS o JOIN pixels AS p ON p.lake = o.lake AND p.date = o.date AND p.source = o.source
			JOIN pixel_masks AS m ON m.lake = p.lake AND m.digest = p.mask WHERE o.type = 0 AND p.spread IS NOT NULL),
		(SELECT count(*) FROM pixels)`).Scan(&values, &pixels, &orphans))
	if orphans != pixels {
		t.Errorf("%d rows of pixels, of which %d have a value", orphans, pixels)
	}
	return values, pixels
}
