//go:build long

package crs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"limnomap/data/raster/tiff"
)

// fileSystems are systems as they are in files, with an area to compare.
var fileSystems = []struct {
	definition string
	area       box
}{
	{"EPSG:4326", box{-180, -90, 180, 90}},
	{"EPSG:4617", box{-140, 40, -50, 80}},
	{"+proj=longlat +ellps=GRS80", box{-180, -90, 180, 90}},
	{"EPSG:3857", box{-180, -85, 180, 85}},
	{"EPSG:32632", box{3, 0, 15, 84}},
	{"EPSG:32733", box{12, -80, 18, 0}},
	{"EPSG:25832", box{3, 30, 15, 84}},
	{"EPSG:26917", box{-87, 0, -78, 84}},
	{"EPSG:3035", box{-35, 24, 45, 85}},
	{"EPSG:6931", box{-180, 0, 180, 90}},
	{"EPSG:6932", box{-180, -90, 180, 0}},
	{"EPSG:5070", box{-130, 20, -60, 55}},
	{"EPSG:3577", box{105, -50, 160, -5}},
	{"EPSG:2193", box{165, -48, 180, -33}},
	{"EPSG:28355", box{144, -45, 150, -10}}, // GDA94 / MGA zone 55
	{"EPSG:31983", box{-50, -35, -40, 0}},   // SIRGAS 2000 / UTM zone 23S
	{"EPSG:2949", box{-75, 45, -67, 60}},    // NAD83(CSRS) / MTM zone 7
	{"EPSG:2180", box{14, 49, 25, 55}},      // ETRS89 / Poland CS92
	{"EPSG:25884", box{20, 53, 29, 60}},     // ETRS89 / TM Baltic93
	{"EPSG:5343", box{-74, -56, -70, -20}},  // POSGAR 2007 / Argentina 1: an origin at the pole
	{"ESRI:102001", box{-145, 40, -50, 83}}, // Canada Albers
	{"ESRI:102022", box{-20, -35, 52, 38}},  // Africa Albers, with parallels on both sides of the equator
	{"ESRI:102008", box{-170, 15, -50, 83}}, // North America Albers
	{"+proj=aea +lat_1=29.5 +lat_2=45.5 +lat_0=23 +lon_0=-96 +datum=WGS84 +units=m", box{-130, 20, -60, 55}},
	{"+proj=aea +lat_1=-20 +lat_2=-20 +lat_0=0 +lon_0=150 +x_0=1000000 +y_0=2000000 +ellps=GRS80 +units=m", box{120, -60, 179, 20}},
	{"+proj=laea +lat_0=0 +lon_0=30 +datum=WGS84 +units=m", box{-50, -80, 110, 80}},
	{"+proj=laea +lat_0=-45 +lon_0=179 +datum=WGS84 +units=m", box{-180, -89, 180, 0}},
	{"+proj=tmerc +lat_0=49 +lon_0=-2 +k=0.9996012717 +x_0=400000 +y_0=-100000 +datum=WGS84 +units=m", box{-12, 45, 8, 65}},
	{"+proj=tmerc +lat_0=0 +lon_0=20 +k=1 +x_0=0 +y_0=0 +ellps=GRS80 +units=m", box{-10, -80, 50, 80}},
}

// refusedSystems are systems that must be refused, with a part of the message.
var refusedSystems = map[string]string{
	"EPSG:2056":                          "",
	"EPSG:3034":                          "ambert",
	"EPSG:3395":                          "ercator",
	"EPSG:3413":                          "tereographic",
	"ESRI:102021":                        "tereographic",
	"EPSG:4267":                          "",
	"EPSG:26717":                         "",
	"EPSG:27700":                         "",
	"EPSG:28992":                         "",
	"EPSG:31467":                         "",
	"EPSG:5514":                          "",
	"EPSG:6933":                          "",
	"EPSG:9311":                          "",
	"+proj=sinu +R=6371007.181 +units=m": "",
	"+proj=geos +h=35785831 +datum=WGS84 +units=m":                "",
	"+proj=ob_tran +o_proj=longlat +o_lon_p=0 +o_lat_p=40":        "",
	"+proj=longlat +ellps=GRS80 +pm=paris":                        "",
	"+proj=laea +lat_0=52 +lon_0=10 +a=6371228 +b=6371228":        "",
	"+proj=tmerc +lat_0=0 +lon_0=9 +datum=WGS84 +units=us-ft":     "unit",
	"+proj=utm +zone=32 +datum=WGS84 +units=km":                   "unit",
	"+proj=aea +lat_1=10 +lat_2=20 +lat_0=0 +lon_0=0 +ellps=intl": "",
}

type systemOfFile struct {
	Definition string
	WKT        map[string]string
	CF         map[string]any
}

// readFiles lets GDAL write files with definitions, and returns a function for each definition and each way to read it.
func readFiles(t *testing.T, definitions []string) []map[string]func() (*System, error) {
	t.Helper()
	dir := t.TempDir()
	out := runPROJ(t, strings.NewReader(strings.Join(definitions, "\n")), "files", dir)
	var files []systemOfFile
	if err := json.Unmarshal(out, &files); err != nil {
		t.Fatal(err)
	}
	ways := make([]map[string]func() (*System, error), len(files))
	for i, file := range files {
		ways[i] = map[string]func() (*System, error){}
		for dialect, text := range file.WKT {
			ways[i][dialect] = func() (*System, error) { return FromWKT(text) }
		}
		ways[i]["GeoKeys"] = func() (*System, error) {
			raw, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%d.tif", i)))
			if err != nil {
				return nil, err
			}
			f, err := tiff.Open(bytes.NewReader(raw), int64(len(raw)), nil)
			if err != nil {
				return nil, err
			}
			return FromGeoKeys(f.Images()[0].GeoKeys())
		}
		for name, value := range file.CF {
			if list, ok := value.([]any); ok {
				numbers := make([]float64, len(list))
				for j := range list {
					numbers[j] = list[j].(float64)
				}
				file.CF[name] = numbers
			}
		}
		if len(file.CF) == 0 {
			continue
		}
		ways[i]["CF with WKT"] = func() (*System, error) { return FromCF(file.CF) }
		if file.CF["grid_mapping_name"] != nil {
			plain := maps.Clone(file.CF)
			delete(plain, "crs_wkt")
			delete(plain, "spatial_ref")
			ways[i]["CF"] = func() (*System, error) { return FromCF(plain) }
		}
	}
	return ways
}

// TestFiles compares systems in the forms that GDAL writes with PROJ. Only well-known text has their EPSG codes.
func TestFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var definitions []string
	var points [][]point
	for _, s := range fileSystems {
		definitions = append(definitions, s.definition)
		points = append(points, s.area.random(rng, 100))
	}
	want := projectByPROJ(t, definitions, points)
	equal := map[string]int{}
	for i, ways := range readFiles(t, definitions) {
		for _, way := range slices.Sorted(maps.Keys(ways)) {
			s, err := ways[way]()
			if definitions[i] == "EPSG:3857" && way == "CF" && errors.Is(err, ErrUnsupported) {
				continue // CF has no pseudo-Mercator on an ellipsoid
			}
			if code, _ := strconv.Atoi(strings.TrimPrefix(definitions[i], "EPSG:")); strings.HasPrefix(way, "WKT") && errors.Is(err, ErrUnsupported) {
				if _, known := definitionOf(code); !known || way == "WKT1_ESRI" { // which has no codes
					continue
				}
			}
			if err != nil {
				t.Errorf("%s as %s: %v", definitions[i], way, err)
				continue
			}
			worst := 0.
			for j, p := range points[i] {
				x, y, ok := s.Project(p.x, p.y)
				if d := math.Hypot(x-want[i][j].x, y-want[i][j].y); !ok || !(d <= worst) {
					worst = d
				}
			}
			if !(worst <= 1e-4) {
				t.Errorf("%s as %s is %g m off", definitions[i], way, worst)
				continue
			}
			equal[way]++
		}
	}
	t.Log(equal)
}

// TestFilesRefused reads systems that are not supported, in the forms that GDAL writes.
func TestFilesRefused(t *testing.T) {
	definitions := slices.Sorted(maps.Keys(refusedSystems))
	for i, ways := range readFiles(t, definitions) {
		for way, read := range ways {
			s, err := read()
			if strings.Contains(definitions[i], "+units") && strings.HasPrefix(way, "CF") {
				continue // units are those of the coordinates there
			}
			if strings.Contains(definitions[i], "ob_tran") && way == "GeoKeys" && errors.Is(err, ErrFormat) {
				continue // GDAL does not write it
			}
			if err == nil {
				t.Errorf("%s as %s is %+v, want an error", definitions[i], way, s)
				continue
			}
			named := strings.HasPrefix(way, "WKT") || strings.Contains(err.Error(), refusedSystems[definitions[i]])
			if !errors.Is(err, ErrUnsupported) || !named || !strings.Contains(err.Error(), "gdalwarp") {
				t.Errorf("%s as %s: %v, want an ErrUnsupported with %q", definitions[i], way, err, refusedSystems[definitions[i]])
			}
		}
	}
}
