//go:build long

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"testing"

	"limnomap/data/testsize"
)

// GDAL, which QGIS and R use to read vector tiles, reads the same.
func TestVectorTilesReadByGDALEqualTheGeoJSON(t *testing.T) {
	if _, err := exec.LookPath("ogr2ogr"); err != nil {
		testsize.LeaveOut(t, "no GDAL is installed (make setup)")
	}
	base, _ := startServer(t, "--tile-rate", "0")
	lakes := wantedLakes(t, base, "")
	const z = 6
	dir := t.TempDir()
	tiles := nearTiles(lakes, z)
	saveTiles(t, base, "", dir, tiles)
	seen := 0
	for tile := range tiles {
		path := filepath.Join(dir, fmt.Sprint(tile.Z), fmt.Sprint(tile.X), fmt.Sprintf("%d.mvt", tile.Y))
		// GDAL takes the tile from the path; without CLIP=NO it removes the buffer.
		out := readerOutput(t, "", "ogr2ogr", "-f", "GeoJSON", "/vsistdout/", path, "-oo", "CLIP=NO", "-t_srs", "EPSG:4326")
		var read struct{ Features []geoFeature }
		if err := json.Unmarshal(out, &read); err != nil {
			t.Fatalf("%v\n%.500s", err, out)
		}
		for _, f := range read.Features {
			// GDAL adds a number, and null where other lakes have a value.
			maps.DeleteFunc(f.Properties, func(name string, v any) bool { return v == nil || name == "mvt_id" })
		}
		seen += checkTileLakes(t, tile, read.Features, lakes)
	}
	if seen < len(lakes) {
		t.Errorf("%d lakes are in the tiles, of %d", seen, len(lakes))
	}
}
