package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

const (
	vectorExtent = 4096
	vectorBuffer = 64
)

// readerOutput runs a reader and returns its output.
func readerOutput(t *testing.T, input string, command ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Stdin = strings.NewReader(input)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil || complaint.Len() > 0 {
		t.Fatalf("%v: %v\n%s", command, err, &complaint)
	}
	return out
}

// A vectorLayer is a layer as testdata/mvtreader/read.mjs prints it.
type vectorLayer struct {
	Version, Extent int
	Features        []struct {
		X, Y     int
		Numbered bool
		GeoJSON  geoFeature
	}
}

type geoFeature struct {
	Geometry struct {
		Type        string
		Coordinates orb.Point
	}
	Properties map[string]any
}

// wantedLakes returns the properties of each lake by id: those of the GeoJSON without the age, and those of the status that vector tiles
// have too. Properties that are null are left out.
func wantedLakes(t *testing.T, base, query string) map[string]geoFeature {
	t.Helper()
	var collection struct{ Features []geoFeature }
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/geojson"+query, &collection)
	var status struct{ Lakes []map[string]any }
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/status"+query, &status)
	lakes := map[string]geoFeature{}
	for _, f := range collection.Features {
		lakes[f.Properties["id"].(string)] = f
	}
	for _, record := range status.Lakes {
		properties := lakes[record["id"].(string)].Properties
		for _, name := range []string{"risk", "trophic", "measured_at", "measured_by"} {
			properties[name] = record[name]
		}
		delete(properties, "age_days")
		if properties["below_limit"] == false { // a tile leaves it out
			delete(properties, "below_limit")
		}
		maps.DeleteFunc(properties, func(_ string, v any) bool { return v == nil })
	}
	return lakes
}

// nearTiles returns the tiles of a zoom with a lake, and their neighbours.
func nearTiles(lakes map[string]geoFeature, z maptile.Zoom) map[maptile.Tile]bool {
	tiles := map[maptile.Tile]bool{}
	side := int64(1) << z
	for _, lake := range lakes {
		own := maptile.At(lake.Geometry.Coordinates, z)
		for dx := int64(-1); dx <= 1; dx++ {
			for dy := int64(-1); dy <= 1; dy++ {
				t := maptile.New(uint32((int64(own.X)+dx+side)%side), uint32(int64(own.Y)+dy), z)
				tiles[t] = t.Valid()
			}
		}
	}
	maps.DeleteFunc(tiles, func(_ maptile.Tile, valid bool) bool { return !valid })
	return tiles
}

// saveTiles fetches tiles and saves each as z/x/y.mvt, uncompressed.
func saveTiles(t *testing.T, base, query, dir string, tiles map[maptile.Tile]bool) {
	t.Helper()
	for tile := range tiles {
		address := fmt.Sprintf("%d/%d/%d", tile.Z, tile.X, tile.Y)
		resp, body := limnomaptest.Get(t, base+"/api/v1/tiles/"+address+".mvt"+query)
		if resp.StatusCode != http.StatusOK || !resp.Uncompressed || len(body) == 0 {
			t.Fatalf("%s: %s, compressed: %t, %d bytes, want a compressed tile", address, resp.Status, resp.Uncompressed, len(body))
		}
		path := filepath.Join(dir, address+".mvt")
		mustDo(t, os.MkdirAll(filepath.Dir(path), 0o755))
		mustDo(t, os.WriteFile(path, body, 0o644))
	}
}

// unitsIn returns the position of a point in a tile, in units and by the projection of orb, and whether the tile has it. For a
// point at the edge of a unit it reports that it is not sure.
func unitsIn(p orb.Point, tile maptile.Tile) (at orb.Point, has, sure bool) {
	f := maptile.Fraction(p, tile.Z)
	has, sure = true, true
	for i, corner := range [...]float64{float64(tile.X), float64(tile.Y)} {
		at[i] = (f[i] - corner) * vectorExtent
		has = has && at[i] >= -vectorBuffer && at[i] < vectorExtent+vectorBuffer
		if tile.Z == 0 { // its neighbours are itself
			has = at[i] >= 0 && at[i] < vectorExtent
		}
		sure = sure && math.Abs(at[i]-math.Round(at[i])) > 1e-4
	}
	return at, has, sure
}

// The libraries of MapLibre and OpenLayers read every lake of the demo in its tiles and in no other, with the properties that
// the GeoJSON has.
func TestVectorTilesReadByNPMEqualTheGeoJSON(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		testsize.LeaveOut(t, "no node is installed")
	}
	if _, err := os.Stat("testdata/mvtreader/node_modules/@mapbox/vector-tile"); err != nil {
		testsize.LeaveOut(t, "the npm packages @mapbox/vector-tile and pbf are not installed (make setup)")
	}
	base, _ := startServer(t, "--tile-rate", "0")
	lakes := wantedLakes(t, base, "")
	withoutValue := 0
	for _, lake := range lakes {
		if _, ok := lake.Properties["chl"]; !ok {
			withoutValue++
		}
	}
	if len(lakes) < 300 || withoutValue == 0 {
		t.Fatalf("the demo has %d lakes, %d without a value: want many, and some", len(lakes), withoutValue)
	}
	for _, z := range []maptile.Zoom{0, 1, 4, 6, 8, 10, 14} {
		t.Run(fmt.Sprintf("zoom %d", z), func(t *testing.T) {
			dir := t.TempDir()
			tiles := nearTiles(lakes, z)
			saveTiles(t, base, "", dir, tiles)
			var input strings.Builder
			for tile := range tiles {
				address := fmt.Sprintf("%d/%d/%d", tile.Z, tile.X, tile.Y)
				fmt.Fprintf(&input, "%s %s.mvt\n", address, filepath.Join(dir, address))
			}
			var read map[string]map[string]vectorLayer
			mustDo(t, json.Unmarshal(readerOutput(t, input.String(), "node", "testdata/mvtreader/read.mjs"), &read))
			seen := 0
			for tile := range tiles {
				seen += checkVectorTile(t, tile, read[fmt.Sprintf("%d/%d/%d", tile.Z, tile.X, tile.Y)], lakes)
			}
			if seen < len(lakes) {
				t.Errorf("%d lakes are in the tiles, of %d", seen, len(lakes))
			}
			t.Logf("%d tiles, %d lakes in them", len(tiles), seen)
		})
	}
}

// checkVectorTile compares a tile, as the npm packages read it, with the lakes that it must have. It returns their number.
func checkVectorTile(t *testing.T, tile maptile.Tile, layers map[string]vectorLayer, lakes map[string]geoFeature) int {
	t.Helper()
	// The library leaves out layers without features.
	layer, ok := layers["lakes"]
	if len(layers) > 1 || ok && (layer.Version != 2 || layer.Extent != vectorExtent) || !ok && len(layers) > 0 {
		t.Fatalf("tile %v has the layers %+v, want lakes", tile, layers)
	}
	var features []geoFeature
	before := ""
	for _, f := range layer.Features {
		id, _ := f.GeoJSON.Properties["id"].(string)
		if id <= before {
			t.Errorf("tile %v: %q comes after %q", tile, id, before)
		}
		before = id
		if f.Numbered {
			t.Errorf("tile %v: %s has a number", tile, id)
		}
		at, _, sure := unitsIn(lakes[id].Geometry.Coordinates, tile)
		if sure && (f.X != int(math.Floor(at[0])) || f.Y != int(math.Floor(at[1]))) {
			t.Errorf("tile %v: %s is at %d, %d, want %v", tile, id, f.X, f.Y, at)
		}
		features = append(features, f.GeoJSON)
	}
	return checkTileLakes(t, tile, features, lakes)
}

// checkTileLakes checks that the tile has exactly the lakes in it and in its buffer, each within a unit of its point and with
// its properties. It returns their number.
func checkTileLakes(t *testing.T, tile maptile.Tile, features []geoFeature, lakes map[string]geoFeature) int {
	t.Helper()
	found := map[string]bool{}
	unit := 360 / float64(uint64(vectorExtent)<<tile.Z) // degrees
	for _, f := range features {
		id, _ := f.Properties["id"].(string)
		want, known := lakes[id]
		if !known || found[id] || !maps.Equal(f.Properties, want.Properties) {
			t.Errorf("tile %v has\n%v, the GeoJSON\n%v", tile, f.Properties, want.Properties)
			continue
		}
		found[id] = true
		got, point := f.Geometry.Coordinates, want.Geometry.Coordinates
		if f.Geometry.Type != "Point" || math.Abs(got[0]-point[0]) > unit || math.Abs(got[1]-point[1]) > unit {
			t.Errorf("tile %v: %s is a %s at %v, want %v", tile, id, f.Geometry.Type, got, point)
		}
	}
	for id, lake := range lakes {
		if _, has, sure := unitsIn(lake.Geometry.Coordinates, tile); sure && has != found[id] {
			t.Errorf("tile %v has %s: %t, want %t", tile, id, found[id], has)
		}
	}
	return len(found)
}
