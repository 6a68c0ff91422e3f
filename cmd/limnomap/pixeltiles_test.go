package main

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/ingest/satellite/satellitetest"
)

// writeHalves writes a raster in which one half of bloom of rasterLakes has a bloom: the eastern one, or the western one. Its median is the same.
func writeHalves(t testing.TB, dir, name string, east bool) string {
	t.Helper()
	const size = 50
	f := satellitetest.TIFF{Width: size, Height: size, X0: 10, Y0: 50, Step: 0.01, Unit: "mg m-3", NoData: "-9999"}
	for y := range size {
		for x := range size {
			v := float32(-9999)
			switch water := y >= 10 && y < 20 && x >= 30 && x < 40; {
			case water && (x >= 35) == east:
				v = 80
			case water:
				v = 4
			}
			f.Floats = append(f.Floats, v)
		}
	}
	return limnomaptest.WriteFile(t, dir, name, string(f.Encode()))
}

// Tiles show the pixels that are stored: those of their date, other ones after an import, none after they are removed; exports have the same.
func TestTilesOfPixels(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	limnomaptest.Run(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.geojson", rasterLakes), "--db", db)
	limnomaptest.Run(t, "import", "rasters", writeRaster(t, dir, "chl_2026-06-30.tif", 20), writeHalves(t, dir, "chl_2026-07-07.tif", true), "--db", db, "--keep-pixels", "20y")
	s := limnomaptest.Start(t, "--db", db, "--as-of", "2026-07-10")
	address := func(z maptile.Zoom, query string) string {
		tile := maptile.At(orb.Point{10.35, 49.85}, z)
		return fmt.Sprintf("%s/api/v1/tiles/%d/%d/%d.png?%s", s.Base, tile.Z, tile.X, tile.Y, query)
	}
	tile := func(z maptile.Zoom, query string) []byte {
		t.Helper()
		resp, body := limnomaptest.Get(t, address(z, query))
		if resp.StatusCode != 200 {
			t.Fatalf("%s: %s: %.200s", address(z, query), resp.Status, body)
		}
		return body
	}
	// colorAt returns the colour of a tile of zoom 11 at a place.
	colorAt := func(content []byte, lon float64) color.Color {
		t.Helper()
		picture, err := png.Decode(bytes.NewReader(content))
		mustDo(t, err)
		const world = 256 << 11
		corner := maptile.At(orb.Point{10.35, 49.85}, 11)
		x := (lon/360 + 0.5) * world
		y := (0.5 - math.Asinh(math.Tan(49.85*math.Pi/180))/(2*math.Pi)) * world
		return picture.At(int(x)-int(corner.X)*256, int(y)-int(corner.Y)*256)
	}
	red := func(c color.Color) bool { r, _, b, _ := c.RGBA(); return r > 2*b }
	shows := func(when string, content []byte, west, east bool) {
		t.Helper()
		if got := [2]bool{red(colorAt(content, 10.34)), red(colorAt(content, 10.36))}; got != [2]bool{west, east} {
			t.Errorf("%s: the west has a bloom: %t, the east: %t", when, got[0], got[1])
		}
	}
	for _, style := range []string{"pixels", "heat"} {
		shows(style, tile(11, "style="+style), false, true)
	}
	_, preview := limnomaptest.Get(t, s.Base+"/lakes/bloom/preview.png")
	picture, err := png.Decode(bytes.NewReader(preview))
	mustDo(t, err)
	const x, y, beside = 944, 248, 30 // the middle of its map, which is that of the lake
	if red(picture.At(x-beside, y)) || !red(picture.At(x+beside, y)) {
		t.Errorf("the preview has %v in the west and %v in the east", picture.At(x-beside, y), picture.At(x+beside, y))
	}
	if bytes.Equal(tile(9, "style=pixels"), tile(9, "style=lakes")) || !bytes.Equal(tile(8, "style=pixels"), tile(8, "style=lakes")) {
		t.Error("pixels are not shown from zoom 9 on")
	}
	if june := tile(11, "style=pixels&date=2026-07-01"); colorAt(june, 10.34) != colorAt(june, 10.36) {
		t.Error("the tile of June does not show its pixels")
	}
	var history struct {
		History []struct {
			Date                                          string
			N_valid                                       int
			Share_low, Share_medium, Share_high, P10, P90 *float64
		}
	}
	limnomaptest.GetJSON(t, s.Base+"/api/v1/bathing-lakes/history/bloom", &history)
	if len(history.History) != 2 {
		t.Fatalf("the history has %d entries", len(history.History))
	}
	if e := history.History[0]; e.N_valid != 36 || e.Share_low == nil || *e.Share_low != 0.5 || *e.Share_medium != 0 || *e.Share_high != 0.5 || math.Abs(*e.P10/4-1) > 0.011 || math.Abs(*e.P90/80-1) > 0.011 {
		t.Errorf("the newest entry of the history is %+v", e)
	}
	if e := history.History[1]; e.Share_medium == nil || *e.Share_medium != 1 {
		t.Errorf("the entry before is %+v", e)
	}
	status := func(query string) (lakes []map[string]any) {
		t.Helper()
		var answer struct{ Lakes []map[string]any }
		limnomaptest.GetJSON(t, s.Base+"/api/v1/bathing-lakes/status"+query, &answer)
		return answer.Lakes
	}
	for _, lake := range status("") {
		_, known := lake["share_high"]
		if known != (lake["id"] == "bloom" || lake["id"] == "clear") {
			t.Errorf("the status is %v", lake)
		}
		if lake["id"] == "bloom" && (lake["share_low"] != 0.5 || lake["share_high"] != 0.5 || lake["n_valid"] != 36.0 || lake["n_inside"] != 36.0 || math.Abs(lake["p90"].(float64)/80-1) > 0.011) {
			t.Errorf("the shares in the status are %v", lake)
		}
	}
	for path, want := range map[string]string{"status.csv": ",composite,share_high,p90\r\n", "statistics/bloom.csv": ",bloom_days,share_high,p90\r\n"} {
		if _, body := limnomaptest.Get(t, s.Base+"/api/v1/bathing-lakes/"+path); !bytes.Contains(body, []byte(want)) {
			t.Errorf("%s has no %q: %s", path, want, body)
		}
	}
	var before, after struct{ Tiles []string }
	limnomaptest.GetJSON(t, s.Base+"/api/v1/tiles.json?style=pixels", &before)

	folder := filepath.Join(dir, "tiles")
	limnomaptest.Run(t, "export", folder+"/", "--db", db, "--as-of", "2026-07-10", "--style", "pixels", "--zoom", "8-11")
	corner := maptile.At(orb.Point{10.35, 49.85}, 11)
	exported, err := os.ReadFile(filepath.Join(folder, fmt.Sprint(corner.Z), fmt.Sprint(corner.X), fmt.Sprintf("%d.png", corner.Y)))
	if err != nil || !bytes.Equal(exported, tile(11, "style=pixels")) {
		t.Errorf("the exported tile is another one, %v", err)
	}

	limnomaptest.Run(t, "import", "rasters", writeHalves(t, dir, "chl_2026-07-07.tif", false), "--db", db, "--keep-pixels", "20y")
	waters := tile(11, "style=lakes")
	limnomaptest.Within(t, time.Minute, "other pixels are shown", func() bool { return red(colorAt(tile(11, "style=pixels"), 10.34)) })
	shows("other pixels", tile(11, "style=heat"), true, false)
	limnomaptest.GetJSON(t, s.Base+"/api/v1/tiles.json?style=pixels", &after)
	if before.Tiles[0] == after.Tiles[0] {
		t.Errorf("the address of tiles is %s as before", after.Tiles[0])
	}
	if !bytes.Equal(waters, tile(11, "style=lakes")) {
		t.Error("the waters have changed")
	}

	// An import that keeps the pixels of a day, by the clock, removes all.
	// The picture of a pass is of a map that shows it, and there is none if a newer pass of its week is shown.
	pictureOf := func(day string) int {
		resp, err := http.Get(s.Base + "/api/v1/bathing-lakes/pixels/bloom?f=png&date=" + day)
		mustDo(t, err)
		resp.Body.Close()
		return resp.StatusCode
	}
	if june, july := pictureOf("2026-06-30"), pictureOf("2026-07-07"); june != http.StatusOK || july != http.StatusOK {
		t.Errorf("the pictures are %d and %d", june, july)
	}
	limnomaptest.Run(t, "import", "rasters", writeRaster(t, dir, "chl_2026-07-08.tif", 20), "--db", db)
	limnomaptest.Within(t, time.Minute, "the newer pass is shown", func() bool {
		return pictureOf("2026-07-07") == http.StatusNotFound && pictureOf("2026-07-08") == http.StatusOK
	})
	limnomaptest.Run(t, "import", "rasters", writeRaster(t, dir, "chl_2026-07-09.tif", 20), "--db", db, "--keep-pixels", "1d")
	limnomaptest.Within(t, time.Minute, "the pixels are removed", func() bool {
		for _, lake := range status("") {
			if _, known := lake["share_high"]; known {
				return false
			}
		}
		return bytes.Equal(tile(11, "style=pixels&date=2026-07-01"), tile(11, "style=lakes&date=2026-07-01"))
	})
	_, body := limnomaptest.Get(t, s.Base+"/api/v1/bathing-lakes/history/bloom.csv")
	if !bytes.Contains(body, []byte(",share_low,share_medium,share_high,p10,p90")) {
		t.Errorf("the table is %s", body)
	}
	history.History = nil // what is absent would keep its value
	limnomaptest.GetJSON(t, s.Base+"/api/v1/bathing-lakes/history/bloom", &history)
	for i, e := range history.History {
		if e.Share_high != nil {
			t.Errorf("after pixels were removed, entry %d of the history is %+v", i, e)
		}
	}
}
