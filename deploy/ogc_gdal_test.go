//go:build long

package deploy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/project"

	"limnomap/cmd/limnomap/limnomaptest"
)

func itoa[T ~int | ~uint32](n T) string { return strconv.FormatInt(int64(n), 10) }

// window returns the corners of the tile in metres for gdal_translate: upper left, then lower right.
func (s *ogcService) window() []string {
	b := s.tile.Bound()
	upper, lower := project.Point(orb.Point{b.Min[0], b.Max[1]}, project.WGS84.ToMercator), project.Point(orb.Point{b.Max[0], b.Min[1]}, project.WGS84.ToMercator)
	return []string{"-projwin", fmt.Sprint(upper[0]), fmt.Sprint(upper[1]), fmt.Sprint(lower[0]), fmt.Sprint(lower[1])}
}

// gdalWMTS gives GDAL only the address of the capabilities and reads the window of one tile. The test computes its corners
// itself: a wrong scale, corner or axis order would give other pixels.
func (s *ogcService) gdalWMTS(t *testing.T) {
	limnomaptest.Need(t, "gdalinfo", "gdal_translate")
	t.Log(strings.TrimSpace(command(t, "", "", "gdalinfo", "--version")))
	dir := t.TempDir()
	for _, address := range []string{"/wmts/1.0.0/WMTSCapabilities.xml", "/wmts?SERVICE=WMTS&REQUEST=GetCapabilities"} {
		var info struct {
			Bands             []struct{ ColorInterpretation string }
			CoordinateSystem  struct{ WKT string }
			GeoTransform      [6]float64
			CornerCoordinates struct{ UpperLeft, LowerRight [2]float64 }
			Metadata          map[string]map[string]string
		}
		output := command(t, "", dir, "gdalinfo", "-json", "WMTS:"+s.base+address)
		if err := json.Unmarshal([]byte(output), &info); err != nil {
			t.Fatal(err)
		}
		if len(info.Bands) != 4 || info.Bands[3].ColorInterpretation != "Alpha" || !strings.Contains(info.CoordinateSystem.WKT, `ID["EPSG",3857]`) {
			t.Errorf("%s: %d bands in %s", address, len(info.Bands), info.CoordinateSystem.WKT)
		}
		at := project.Point(s.lake, project.WGS84.ToMercator)
		upper, lower := info.CornerCoordinates.UpperLeft, info.CornerCoordinates.LowerRight
		if at[0] < upper[0] || at[0] > lower[0] || at[1] > upper[1] || at[1] < lower[1] {
			t.Errorf("%s: the map from %v to %v does not hold the lake at %v", address, upper, lower, at)
		}
		if got := info.Metadata["SUBDATASETS"]; len(got) != 6 {
			t.Errorf("%s: subdatasets = %v, want one for each style", address, got)
		}
	}
	for i, query := range []string{"?style=heat", "?style=dots", "?style=lakes"} {
		style := strings.TrimPrefix(query, "?style=")
		file := filepath.Join(dir, itoa(i)+".png")
		s.requests()
		args := append([]string{"-q", "-of", "PNG", "-oo", "EXTENT_METHOD=MOST_PRECISE_TILE_MATRIX"}, s.window()...)
		command(t, "", dir, "gdal_translate", append(args,
			fmt.Sprintf("WMTS:%s/wmts/1.0.0/WMTSCapabilities.xml,layer=chlorophyll,style=%s,zoom_level=%d", s.base, style, s.tile.Z), file)...)
		asked := strings.Join(s.requests(), "\n")
		if want := tilePath(s.tile) + ".png?style=" + style + "&time=current&v="; !strings.Contains(asked, want) {
			t.Errorf("GDAL asks for\n%s\nand not for %s…", asked, want)
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got := pixels(t, content)
		if _, want := s.picture(t, query); string(got.Pix) != string(want.Pix) {
			t.Errorf("%s: the window that GDAL cut of %v is not the tile", style, got.Rect)
		}
	}
}

// gdalOGCAPI gives GDAL only the landing page, from which it finds the collection. Reading its tiles needs support for tile
// matrix sets 2.0, which the GDAL of Debian 12 does not have.
func (s *ogcService) gdalOGCAPI(t *testing.T) {
	limnomaptest.Need(t, "gdalinfo")
	output := command(t, "", t.TempDir(), "gdalinfo", "OGCAPI:"+s.base+"/ogc/")
	if want := "OGCAPI:" + s.base + "/ogc/collections/chlorophyll"; !strings.Contains(output, want) {
		t.Errorf("GDAL finds no %s:\n%s", want, output)
	}
}
