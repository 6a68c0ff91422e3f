package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/raster/tiff"
)

// The pixels of a satellite file are answered as they were read, in each format, and go when a later import says so.
func TestPixelsFromFileToClient(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	limnomaptest.Run(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.geojson", rasterLakes), "--db", db)
	limnomaptest.Run(t, "import", "rasters", writeRaster(t, dir, "chl_2026-06-30.tif", 10), writeRaster(t, dir, "chl_2026-07-07.tif", 60), "--db", db, "--keep-pixels", "20y")
	s := limnomaptest.Start(t, "--db", db, "--as-of", "2026-07-10")
	address := s.Base + "/api/v1/bathing-lakes/pixels/"
	var features struct {
		Date     string
		Features []struct {
			Geometry   struct{ Coordinates [][][2]float64 }
			Properties struct {
				Column, Row, Who_level int
				Chl                    float64
				State                  string
			}
		}
	}
	limnomaptest.GetJSON(t, address+"bloom", &features)
	if len(features.Features) != 36 || features.Date != "2026-07-07" {
		t.Fatalf("%d pixels of %s, want 36 of 2026-07-07", len(features.Features), features.Date)
	}
	for _, f := range features.Features {
		p := f.Properties
		corner := f.Geometry.Coordinates[0][0] // the lower left one
		if p.State != "value" || p.Who_level != 2 || p.Chl < 59.4 || p.Chl > 60.6 || corner != [2]float64{degreesOf(10, p.Column, 0.01), degreesOf(50, p.Row+1, -0.01)} {
			t.Errorf("a pixel is %+v at %v", p, corner)
		}
	}
	limnomaptest.GetJSON(t, address+"bloom?date=2026-07-06", &features)
	if features.Date != "2026-06-30" {
		t.Errorf("the pixels up to 6 July are of %s", features.Date)
	}
	_, body := limnomaptest.Get(t, address+"clear?f=csv")
	rows, err := csv.NewReader(bytes.NewReader(body)).ReadAll()
	if err != nil || len(rows) != 37 || rows[1][0] != "clear" || rows[1][1] != "2026-07-07" {
		t.Errorf("the table has %d rows, %v: %.300s", len(rows), err, body)
	}
	resp, body := limnomaptest.Get(t, address+"bloom?f=tif")
	f, err := tiff.Open(bytes.NewReader(body), int64(len(body)), nil)
	if err != nil || f.Images()[0].Width() != 6 || resp.Header.Get("Content-Type") != "image/tiff; application=geotiff" {
		t.Errorf("the GeoTIFF of %s: %v", resp.Header.Get("Content-Type"), err)
	}
	_, body = limnomaptest.Get(t, address+"bloom?f=png&date=2026-07-08")
	picture, err := png.Decode(bytes.NewReader(body))
	if err != nil || picture.Bounds().Size() != (image.Point{X: 640, Y: 400}) {
		t.Fatalf("the picture: %v: %.100q", err, body)
	}
	if r, _, b, _ := picture.At(280, 160).RGBA(); r < 2*b {
		t.Errorf("the bloom is %v in the picture", picture.At(280, 160))
	}
	if _, body := limnomaptest.Get(t, s.Base+"/lakes/bloom?lang=en"); !bytes.Contains(body, []byte(`pixels/bloom?f=png&amp;date=2026-07-07" alt="Inside of the lake, 7`)) ||
		!bytes.Contains(body, []byte("0 % has low, 0 % medium and 100 % high risk. Each square is 1100 m")) {
		t.Errorf("the page has no picture of the inside: %s", body)
	}
	if _, body := limnomaptest.Get(t, s.Base+"/lakes/far?lang=en"); bytes.Contains(body, []byte("f=png")) {
		t.Error("the page of a lake without pixels has a picture of them")
	}
	for path, want := range map[string]int{"far": http.StatusNotFound, "nobody": http.StatusNotFound, "bloom?date=2026-06-29": http.StatusNotFound,
		"bloom?date=x": http.StatusBadRequest, "bloom?f=gif": http.StatusBadRequest, "far?f=png": http.StatusNotFound} {
		resp, body := limnomaptest.Get(t, address+path)
		var problem struct{ Detail string }
		if err := json.Unmarshal(body, &problem); err != nil || resp.StatusCode != want || problem.Detail == "" {
			t.Errorf("%s: status %d, want %d: %s", path, resp.StatusCode, want, body)
		}
	}

	for place, want := range map[string]string{
		"lat=49.85&lon=10.35":                 "bloom 2026-07-07 60 value",
		"lat=49.85&lon=10.35&date=2026-07-01": "bloom 2026-06-30 10 value",
		"lat=49.895&lon=10.305":               "bloom none", // near the shore
		"lat=49.95&lon=10.25":                 "none none",
		"lat=49.85&lon=370.35":                "",
		"lat=49.85&lon=10.35&date=1999-01-01": "",
	} {
		resp, body := limnomaptest.Get(t, s.Base+"/api/v1/value?"+place)
		var answer struct {
			Lake  *struct{ ID string }
			Pixel *struct {
				Date, State string
				Chl         float64
			}
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			t.Fatalf("%s: %v: %s", place, err, body)
		}
		got := ""
		if resp.StatusCode == http.StatusOK {
			got = "none"
			if answer.Lake != nil {
				got = answer.Lake.ID
			}
			if got += " none"; answer.Pixel != nil {
				got = fmt.Sprintf("%s %s %.0f %s", answer.Lake.ID, answer.Pixel.Date, answer.Pixel.Chl, answer.Pixel.State)
			}
		}
		if got != want {
			t.Errorf("%s is %q, want %q: %s", place, got, want, body)
		}
	}

	// A value of a table takes the place of that of the pixels; old ones are removed.
	limnomaptest.Run(t, "import", "rasters", writeRaster(t, dir, "chl_2026-07-08.tif", 30), "--db", db, "--pixels", "off")
	limnomaptest.GetJSON(t, address+"bloom", &features)
	if features.Date != "2026-07-07" {
		t.Errorf("after an import without pixels those of %s are shown", features.Date)
	}
	limnomaptest.Run(t, "import", "rasters", writeRaster(t, dir, "chl_2026-07-09.tif", 30), "--db", db, "--keep-pixels", "1d")
	if status := s.StatusOf("/api/v1/bathing-lakes/pixels/bloom"); status != http.StatusNotFound {
		t.Errorf("after an import that keeps the pixels of a day the status is %d", status)
	}
}

// degreesOf returns the coordinate of the corner of a pixel, rounded as answers are.
func degreesOf(origin float64, pixel int, step float64) float64 {
	f, _ := strconv.ParseFloat(strconv.FormatFloat(origin+float64(pixel)*step, 'f', 6, 64), 64)
	return f
}

// An undo says of which restored values it has no pixels. The file has them again.
func TestUndoTellsOfPixels(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.geojson", rasterLakes), "--db", db)
	first := writeRaster(t, dir, "chl_2026-07-07.tif", 10)
	mustRun(t, "import", "rasters", first, "--db", db, "--keep-pixels", "20y")
	second := writeRaster(t, t.TempDir(), "chl_2026-07-07.tif", 11)
	mustRun(t, "import", "rasters", second, "--db", db, "--keep-pixels", "20y")
	const told = "1 of them are values of satellites, without their pixels"
	for _, args := range [][]string{{"--dry-run"}, nil} {
		if out := mustRun(t, append([]string{"imports", "undo", "--db", db}, args...)...); !strings.Contains(out, "1 changed rows restored") || !strings.Contains(out, told) {
			t.Errorf("undo %v says %q, want %q", args, out, told)
		}
	}
	s := limnomaptest.Start(t, "--db", db, "--as-of", "2026-07-10")
	pixels := func() int { return s.StatusOf("/api/v1/bathing-lakes/pixels/bloom") }
	if got := pixels(); got != http.StatusNotFound {
		t.Errorf("after the undo the pixels are answered with %d", got)
	}
	mustRun(t, "import", "rasters", first, "--db", db, "--keep-pixels", "20y")
	limnomaptest.Within(t, patience, "the pixels are there again", func() bool { return pixels() == http.StatusOK })
}
