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
		must(t, json.Unmarshal([]byte(output), &info))
		if len(info.Bands) != 4 || info.Bands[3].ColorInterpretation != "Alpha" || !strings.Contains(info.CoordinateSystem.WKT, `ID["EPSG",3857]`) {
			t.Errorf("%s: %d bands in %s", address, len(info.Bands), info.CoordinateSystem.WKT)
		}
		at := project.Point(s.lake, project.WGS84.ToMercator)
		upper, lower := info.CornerCoordinates.UpperLeft, info.CornerCoordinates.LowerRight
		if at[0] < upper[0] || at[0] > lower[0] || at[1] > upper[1] || at[1] < lower[1] {
			t.Errorf("%s: the map from %v to %v does not hold the lake at %v", address, upper, lower, at)
		}
		if got := info.Metadata["SUBDATASETS"]; len(got) != 8 {
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
		must(t, err)
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

// gdalWMS has GDAL read the same part of the map by both versions of WMS, which order the axes of EPSG:4326 differently.
func (s *ogcService) gdalWMS(t *testing.T) {
	limnomaptest.Need(t, "gdal_translate")
	b := s.tile.Bound()
	west, south, east, north := b.Min[0], b.Min[1], b.Max[0], b.Max[1]
	var first []byte
	for _, query := range []string{
		fmt.Sprintf("VERSION=1.3.0&CRS=EPSG:4326&BBOX=%v,%v,%v,%v", south, west, north, east),
		fmt.Sprintf("VERSION=1.1.1&SRS=EPSG:4326&BBOX=%v,%v,%v,%v", west, south, east, north),
	} {
		dir := t.TempDir()
		source := "WMS:" + s.base + "/wms?SERVICE=WMS&REQUEST=GetMap&LAYERS=chlorophyll&STYLES=&FORMAT=image/png&" + query
		command(t, "", dir, "gdal_translate", "-q", "-of", "PNG", "-outsize", "256", "256", source, "out.png")
		content, err := os.ReadFile(filepath.Join(dir, "out.png"))
		must(t, err)
		got := pixels(t, content)
		colored := 0
		for i := 0; i < len(got.Pix); i += 4 {
			if got.Pix[i] != got.Pix[i+1] || got.Pix[i] != got.Pix[i+2] {
				colored++
			}
		}
		if colored < 20 {
			t.Errorf("%s: GDAL reads %d coloured pixels of a tile with a lake", query, colored)
		}
		if first == nil {
			first = got.Pix
		} else if string(first) != string(got.Pix) {
			t.Errorf("%s: another picture than in 1.3.0", query)
		}
	}
}

// gdalFeatures has GDAL read the features: as many as the status has, and with a filter those that it asks for.
func (s *ogcService) gdalFeatures(t *testing.T) {
	limnomaptest.Need(t, "ogrinfo")
	var status limnomaptest.Status
	limnomaptest.GetJSON(t, s.base+"/api/v1/bathing-lakes/status", &status)
	dir := t.TempDir()
	source := "OAPIF:" + s.base + "/ogc"
	if out := command(t, "", dir, "ogrinfo", "-so", "-oo", "PAGE_SIZE=100", source, "lakes"); !strings.Contains(out, fmt.Sprintf("Feature Count: %d\n", len(status.Lakes))) {
		t.Errorf("%d lakes, GDAL says %s", len(status.Lakes), out)
	}
	high := 0
	for _, lake := range status.Lakes {
		if lake.Chl != nil && *lake.Chl > 50 {
			high++
		}
	}
	if out := command(t, "", dir, "ogrinfo", "-so", "-oo", "PAGE_SIZE=100", "-where", "chl > 50", source, "lakes"); high == 0 || !strings.Contains(out, fmt.Sprintf("Feature Count: %d\n", high)) {
		t.Errorf("%d lakes with more than 50 µg/l, GDAL says %s", high, out)
	}
}
