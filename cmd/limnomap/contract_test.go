package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
)

// tileAt returns the tile of a point, and the pixel of the point in it.
func tileAt(t *testing.T, base string, zoom int, lat, lon float64) (img image.Image, x, y int) {
	t.Helper()
	// Web Mercator, in pixels of that zoom: 2⁸ a tile.
	size := math.Exp2(float64(8 + zoom))
	sin := math.Sin(lat * math.Pi / 180)
	px := int((lon + 180) / 360 * size)
	py := int((0.5 - math.Log((1+sin)/(1-sin))/(4*math.Pi)) * size)
	url := fmt.Sprintf("%s/api/v1/tiles/%d/%d/%d.png", base, zoom, px/256, py/256)
	resp, body := limnomaptest.Get(t, url)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", url, resp.Status)
	}
	img, err := png.Decode(bytes.NewReader(body))
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return img, px % 256, py % 256
}

// isNoData reports whether c is the grey of lakes without a value, at any opacity but none.
func isNoData(c color.NRGBA) bool {
	grey := colormap.NoData()
	return c.A > 0 && c.R == grey.R && c.G == grey.G && c.B == grey.B
}

// At this zoom the lakes of the demo do not overlap.
const loneZoom = 14

// TestPixelOfALakeHasItsColor also checks that an old value is translucent and others are not.
func TestPixelOfALakeHasItsColor(t *testing.T) {
	base, _ := startServer(t)
	var status limnomaptest.Status
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/status", &status)
	today := data.DateOf(time.Now())
	with, without, aged := 0, 0, 0
	for _, lake := range status.Lakes {
		img, x, y := tileAt(t, base, loneZoom, lake.Lat, lake.Lon)
		pixel := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
		if lake.Chl == nil {
			without++
			if !isNoData(pixel) {
				t.Errorf("%s has no value, but its pixel is %v, want the grey of no data", lake.ID, pixel)
			}
			continue
		}
		with++
		old := today-data.DateOf(lake.MeasuredAt) > snapshot.OldAfter
		if old {
			aged++
		}
		if got := colormap.Hex(pixel); got != lake.Color || pixel.A < 100 || (pixel.A < 128) != old {
			t.Errorf("%s has %v µg/l of %v and color %s, but its pixel is %s at opacity %d",
				lake.ID, *lake.Chl, lake.MeasuredAt, lake.Color, got, pixel.A)
		}
	}
	if with == aged || aged == 0 || without == 0 {
		t.Errorf("checked %d lakes with a value, %d of them old, and %d without, want some of each", with, aged, without)
	}
}

func TestTileWithoutLakesIsBlank(t *testing.T) {
	base, _ := startServer(t)
	first, blank := limnomaptest.Get(t, base+"/api/v1/tiles/6/0/0.png")
	img, err := png.Decode(bytes.NewReader(blank))
	if err != nil || first.StatusCode != http.StatusOK {
		t.Fatalf("tile over the sea: %s, %v", first.Status, err)
	}
	if _, _, _, alpha := img.At(128, 128).RGBA(); alpha != 0 || img.Bounds().Dx() != 256 || len(blank) >= 150 {
		t.Errorf("blank tile: alpha %d, %v, %d bytes, want a transparent one of 256 pixels in less than 150 bytes",
			alpha, img.Bounds(), len(blank))
	}
	for _, path := range []string{"/api/v1/tiles/18/0/0.png", "/api/v1/tiles/6/10/50.png?style=dots&colormap=viridis"} {
		resp, body := limnomaptest.Get(t, base+path)
		if !bytes.Equal(body, blank) || resp.Header.Get("ETag") != first.Header.Get("ETag") {
			t.Errorf("%s: %s, %d bytes, ETag %s, want the shared blank tile", path, resp.Status, len(body), resp.Header.Get("ETag"))
		}
	}
}

// The page without JavaScript shows for each lake the same as the API: its value, or that it has none.
func TestTableEqualsStatus(t *testing.T) {
	base, _ := startServer(t)
	var status limnomaptest.Status
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/status", &status)
	row := regexp.MustCompile(`(?s)<tr role="row".*?<a href="lakes/([^"?]+)\?lang=en">.*?</svg> ([^<]+)</td>.*?class="value"[^>]*>([0-9.,]*)`)
	type shown struct{ risk, value string }
	rows := make(map[string]shown)
	for page := 1; ; page++ {
		_, body := limnomaptest.Get(t, fmt.Sprintf("%s/table?lang=en&page=%d", base, page))
		found := row.FindAllStringSubmatch(string(body), -1)
		if len(found) == 0 {
			break
		}
		for _, m := range found {
			rows[m[1]] = shown{m[2], m[3]}
		}
	}
	if len(rows) != status.TotalLakes {
		t.Fatalf("the table has %d lakes, the status %d", len(rows), status.TotalLakes)
	}
	for _, lake := range status.Lakes {
		got := rows[lake.ID]
		if lake.Chl == nil {
			if got.value != "" || !strings.HasPrefix(got.risk, "No current value") {
				t.Errorf("%s has no value, but the table has %+v", lake.ID, got)
			}
			continue
		}
		if value, err := strconv.ParseFloat(strings.ReplaceAll(got.value, ",", ""), 64); err != nil || value != rounded(t, *lake.Chl) {
			t.Errorf("%s has %v µg/l, but the table has %q", lake.ID, *lake.Chl, got.value)
		}
		if !strings.EqualFold(got.risk, lake.Risk+" risk") {
			t.Errorf("%s has the risk %v, but the table has %q", lake.ID, lake.Risk, got.risk)
		}
	}
}

// rounded returns a value as pages show it.
func rounded(t *testing.T, chl float64) float64 {
	t.Helper()
	c, err := data.ChlorophyllOf(chl)
	mustDo(t, err)
	return data.Profiles()[0].Rounded(c).Float()
}

func TestPublicURLWithAPathReplacesTheBasePath(t *testing.T) {
	base, _ := startServer(t, "--public-url", "https://example.org/water/")
	var tileJSON struct{ Tiles []string }
	limnomaptest.GetJSON(t, base+"/api/v1/tiles.json", &tileJSON)
	const want = "https://example.org/water/api/v1/tiles/{z}/{x}/{y}.png"
	if len(tileJSON.Tiles) != 1 || !strings.HasPrefix(tileJSON.Tiles[0], want) {
		t.Errorf("tiles = %q, want one that starts with %s", tileJSON.Tiles, want)
	}
}
