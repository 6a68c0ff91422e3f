//go:build long

package deploy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paulmach/orb/maptile"

	"limnomap/cmd/limnomap/limnomaptest"
)

// halfWorld is half the width of the Web Mercator map in metres.
const halfWorld = 20037508.342789244

// gdalSource writes limnomap.xml for a server and returns its path. It is the example with another
// address.
func gdalSource(t *testing.T, server string) string {
	t.Helper()
	example, err := os.ReadFile("examples/limnomap.xml")
	must(t, err)
	const theirs = "<ServerUrl>http://127.0.0.1:8080/"
	if bytes.Count(example, []byte(theirs)) != 1 {
		t.Fatalf("limnomap.xml has not one %s", theirs)
	}
	text := strings.Replace(string(example), theirs, "<ServerUrl>"+server+"/", 1)
	return limnomaptest.WriteFile(t, t.TempDir(), "limnomap.xml", text)
}

// A mercatorWindow is a part of the map at a zoom, in pixels of the whole map at that zoom.
type mercatorWindow struct {
	zoom maptile.Zoom
	image.Rectangle
}

func (w mercatorWindow) metresPerPixel() float64 {
	return 2 * halfWorld / (256 * math.Exp2(float64(w.zoom)))
}

// corners returns the window's west, north, east and south in metres.
func (w mercatorWindow) corners() (west, north, east, south float64) {
	m := w.metresPerPixel()
	return float64(w.Min.X)*m - halfWorld, halfWorld - float64(w.Min.Y)*m, float64(w.Max.X)*m - halfWorld, halfWorld - float64(w.Max.Y)*m
}

// cut has GDAL write the window of a source as PNG, and returns the path.
func (w mercatorWindow) cut(t *testing.T, source string) (string, error) {
	t.Helper()
	west, north, east, south := w.corners()
	path := filepath.Join(t.TempDir(), "window.png")
	_, err := run(t, "gdal_translate", "-q", "-of", "PNG", "-co", "WORLDFILE=YES",
		"-projwin", fmt.Sprint(west), fmt.Sprint(north), fmt.Sprint(east), fmt.Sprint(south),
		"-outsize", fmt.Sprint(w.Dx()), fmt.Sprint(w.Dy()), source, path)
	return path, err
}

// A window across four tiles, read by GDAL, has exactly the pixels of the tiles.
func TestExampleForGDAL(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "gdal_translate", "gdalinfo", "ogr2ogr")
	t.Log(mustRun(t, "gdalinfo", "--version"))
	server := limnomaptest.Start(t, "--tile-rate", "0", "--api-rate", "0")
	source := gdalSource(t, server.Base)

	w := mercatorWindow{7, image.Rect(0, 0, 300, 200).Add(image.Point{68*256 + 130, 41*256 + 120})}
	path, err := w.cut(t, source)
	must(t, err)
	checkGeoreference(t, path, w)
	content, err := os.ReadFile(path)
	must(t, err)
	checkWindow(t, server.Base, decodePNG(t, content), w)

	t.Run("failing server", func(t *testing.T) { checkFailingWindow(t, server.Base, w) })
	t.Run("GeoJSON", func(t *testing.T) { checkGeoJSONByGDAL(t, server.Base) })
	t.Run("vector tiles", func(t *testing.T) { checkVectorTilesByGDAL(t, server.Base) })
}

func checkGeoreference(t *testing.T, path string, w mercatorWindow) {
	t.Helper()
	var info struct {
		Size             [2]int
		GeoTransform     [6]float64
		CoordinateSystem struct{ WKT string }
	}
	must(t, json.Unmarshal([]byte(mustRun(t, "gdalinfo", "-json", path)), &info))
	m := w.metresPerPixel()
	west, north, _, _ := w.corners()
	for i, want := range []float64{west, m, 0, north, 0, -m} {
		if math.Abs(info.GeoTransform[i]-want) > m/1000 {
			t.Errorf("the window lies at %v, want %v, %v and %v m a pixel", info.GeoTransform, west, north, m)
			break
		}
	}
	if info.Size != [2]int{w.Dx(), w.Dy()} || !strings.Contains(info.CoordinateSystem.WKT, `ID["EPSG",3857]`) {
		t.Errorf("the window is of %v in %s, want %v in EPSG:3857", info.Size, info.CoordinateSystem.WKT, w.Size())
	}
}

// checkWindow compares a picture of the window with its tiles.
func checkWindow(t *testing.T, server string, got image.Image, w mercatorWindow) {
	t.Helper()
	tiles := map[maptile.Tile]image.Image{}
	painted, wrong := 0, 0
	for y := range w.Dy() {
		for x := range w.Dx() {
			p := w.Min.Add(image.Point{x, y})
			tile := maptile.New(uint32(p.X/256), uint32(p.Y/256), w.zoom)
			if tiles[tile] == nil {
				tiles[tile] = tilePicture(t, server, tile, "")
			}
			want := color.NRGBAModel.Convert(tiles[tile].At(p.X%256, p.Y%256)).(color.NRGBA)
			if want.A > 0 {
				painted++
			}
			if is := color.NRGBAModel.Convert(got.At(x, y)).(color.NRGBA); is != want {
				if wrong++; wrong == 1 {
					t.Errorf("pixel %d, %d is %v, in its tile %v", x, y, is, want)
				}
			}
		}
	}
	if wrong > 0 || len(tiles) != 4 || painted < 1000 || painted == w.Dx()*w.Dy() {
		t.Errorf("of %d pixels of %d tiles %d are painted, and %d are wrong", w.Dx()*w.Dy(), len(tiles), painted, wrong)
	}
}

// If the server does not return a tile, GDAL fails. A hole in the picture would look like clear water.
func checkFailingWindow(t *testing.T, server string, w mercatorWindow) {
	front := startFaultyFront(t, server)
	source := gdalSource(t, front.URL)
	for _, status := range []int{http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusNotFound} {
		front.become(func(path string, _ int) int {
			if strings.HasSuffix(path, "/7/69/42.png") { // the last of the window
				return status
			}
			return 0
		})
		if path, err := w.cut(t, source); err == nil {
			t.Errorf("of a window with a tile that answers %d GDAL makes %s", status, path)
		}
	}
	front.become(nil)
	if _, err := w.cut(t, source); err != nil {
		t.Errorf("and after that: %v", err)
	}
}

// A gdalLake is a lake as GDAL reads it. A missing value is NULL, not 0.
type gdalLake struct {
	ID, Name, Color, Risk string
	Chl                   *float64
	WHOLevel              *float64 `json:"who_level"`
}

// readByGDAL returns the lakes that GDAL reads from a source, by id.
func readByGDAL(t *testing.T, arguments ...string) map[string]gdalLake {
	t.Helper()
	out := mustRun(t, append([]string{"ogr2ogr", "-f", "GeoJSON", "/vsistdout/"}, arguments...)...)
	var read struct {
		Features []struct{ Properties gdalLake }
	}
	if err := json.Unmarshal([]byte(out), &read); err != nil {
		t.Fatalf("%v\n%.500s", err, out)
	}
	lakes := map[string]gdalLake{}
	for _, f := range read.Features {
		lakes[f.Properties.ID] = f.Properties
	}
	return lakes
}

// checkGDALLakes fails the test unless each wanted lake was read with its values.
func checkGDALLakes(t *testing.T, read map[string]gdalLake, lakes []exampleLake, wanted func(exampleLake) bool) {
	t.Helper()
	known, unknown := 0, 0
	for _, lake := range lakes {
		if !wanted(lake) {
			continue
		}
		got := read[lake.ID]
		same := got.Name == lake.Name && got.Color == lake.Color
		if lake.Chl == nil {
			unknown++
			same = same && got.Chl == nil && got.WHOLevel == nil
		} else {
			known++
			same = same && got.Chl != nil && *got.Chl == *lake.Chl && got.WHOLevel != nil
		}
		if !same {
			t.Errorf("GDAL reads %+v, the status says %+v", got, lake)
		}
	}
	if known == 0 || unknown == 0 {
		t.Errorf("%d lakes with a value and %d without are compared, want some of each", known, unknown)
	}
}

func checkGeoJSONByGDAL(t *testing.T, server string) {
	lakes := readLakes(t, server)
	read := readByGDAL(t, server+"/api/v1/bathing-lakes/geojson")
	checkGDALLakes(t, read, lakes, func(exampleLake) bool { return true })
	if len(read) != len(lakes) {
		t.Errorf("GDAL reads %d lakes, want %d", len(read), len(lakes))
	}
}

// One zoom of the vector tiles is one source for GDAL. GDAL requests only the tiles of a window. It must be told to repeat
// failed requests: otherwise it treats a failed tile as one without lakes.
func checkVectorTilesByGDAL(t *testing.T, server string) {
	lakes := readLakes(t, server)
	front := startFaultyFront(t, server)
	front.become(func(path string, times int) int {
		if strings.HasSuffix(path, "/8/137/83.mvt") && times == 1 {
			return http.StatusServiceUnavailable
		}
		return 0
	})
	read := readByGDAL(t, "MVT:"+front.URL+"/api/v1/tiles/8", "-oo", "TILE_EXTENSION=mvt",
		"-oo", "METADATA_FILE="+server+"/api/v1/tiles/vector.json", "-t_srs", "EPSG:4326",
		"--config", "GDAL_HTTP_MAX_RETRY", "5", "--config", "GDAL_HTTP_RETRY_DELAY", "1",
		"-spat", "1447153", "6800125", "1558472", "6982998") // 13 to 14 degrees east, 52 to 53 north
	checkGDALLakes(t, read, lakes, func(l exampleLake) bool { return l.Lon > 13 && l.Lon < 14 && l.Lat > 52 && l.Lat < 53 })
	if most := front.most(); most != 2 {
		t.Errorf("after one 503, a tile was asked for up to %d times, want 2", most)
	}
	if n := front.tiles(); n > 12 {
		t.Errorf("GDAL asked for %d tiles", n)
	}
}
