//go:build long

package deploy

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
	"github.com/paulmach/orb/project"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/raster/crs"
)

// debianPython is the Python that has Debian's packages.
const debianPython = "/usr/bin/python3"

// script runs a script of testdata with the Python of Debian and returns its last line.
func script(t *testing.T, module, name string, args ...string) string {
	t.Helper()
	limnomaptest.NeedFolder(t, "/usr/lib/python3/dist-packages/"+module)
	output := command(t, "", "", debianPython, append([]string{"testdata/" + name}, args...)...)
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return lines[len(lines)-1]
}

// fromHex returns the picture that a script has printed.
func fromHex(t *testing.T, text string) *image.NRGBA {
	t.Helper()
	content, err := hex.DecodeString(text)
	if err != nil {
		t.Fatalf("%v: %.200s", err, text)
	}
	return pixels(t, content)
}

// samePicture reports whether two pictures have the same visible pixels.
func samePicture(a, b *image.NRGBA) bool {
	return a.Rect.Size() == b.Rect.Size() && slices.Equal(visible(a), visible(b))
}

// visible returns the pixels of a picture; those that are transparent have no colour.
func visible(m *image.NRGBA) []byte {
	pix := slices.Clone(m.Pix)
	for i := 0; i < len(pix); i += 4 {
		if pix[i+3] == 0 {
			clear(pix[i : i+4])
		}
	}
	return pix
}

// counts returns how many lakes there are, and how many have more than 50 µg/l.
func (s *ogcService) counts(t *testing.T) (lakes, high int) {
	t.Helper()
	var status limnomaptest.Status
	limnomaptest.GetJSON(t, s.base+"/api/v1/bathing-lakes/status", &status)
	for _, lake := range status.Lakes {
		if lake.Chl != nil && *lake.Chl > 50 {
			high++
		}
	}
	return len(status.Lakes), high
}

// owsLib has OWSLib read features, maps in both orders of axes, what is at a pixel, and tiles.
func (s *ogcService) owsLib(t *testing.T) {
	var found struct {
		Collections, Queryables, Styles, Infoformats, Operations []string
		Lakes, High                                              int
		WMS                                                      map[string]json.RawMessage
		Tile                                                     string
	}
	const side = 0.2
	output := script(t, "owslib", "owslibclient.py", s.base, fmt.Sprint(s.lake[0]-side), fmt.Sprint(s.lake[1]-side), fmt.Sprint(s.lake[0]+side), fmt.Sprint(s.lake[1]+side),
		itoa(s.tile.Z), itoa(s.tile.X), itoa(s.tile.Y))
	must(t, json.Unmarshal([]byte(output), &found))
	lakes, high := s.counts(t)
	if strings.Join(found.Collections, " ") != "lakes observations advisories events" || found.Lakes != lakes || found.High != high || len(found.Queryables) != 2 {
		t.Errorf("collections %v, %d lakes of %d, %d of %d above 50 µg/l, queryables %v", found.Collections, found.Lakes, lakes, found.High, high, found.Queryables)
	}
	if strings.Join(found.Styles, " ") != "heat dots lakes pixels" || len(found.Infoformats) != 3 || !slices.Contains(found.Operations, "GetFeatureInfo") {
		t.Errorf("styles %v, formats %v, operations %v", found.Styles, found.Infoformats, found.Operations)
	}
	if _, want := s.picture(t, ""); !samePicture(fromHex(t, found.Tile), want) {
		t.Error("the tile by WMTS is another one")
	}
	var first *image.NRGBA
	for name, raw := range found.WMS {
		var answer [2]json.RawMessage
		var picture string
		var ids []string
		must(t, json.Unmarshal(raw, &answer))
		if json.Unmarshal(answer[0], &picture) != nil || json.Unmarshal(answer[1], &ids) != nil || len(ids) != 1 {
			t.Errorf("%s: the middle has %s, want the lake", name, answer[1])
		}
		decoded := fromHex(t, picture)
		if first == nil {
			first = decoded
		}
		if !samePicture(decoded, first) || bytes.Count(decoded.Pix, []byte{0}) == len(decoded.Pix) {
			t.Errorf("%s: another picture, or a blank one", name)
		}
	}
	if len(found.WMS) != 3 {
		t.Errorf("%d pictures", len(found.WMS))
	}
}

// mapProxy has MapProxy make a tile of its own from the WMS: it is ours.
func (s *ogcService) mapProxy(t *testing.T) {
	output := script(t, "mapproxy", "mapproxyclient.py", s.base, itoa(s.tile.Z), itoa(s.tile.X), itoa(s.tile.Y))
	if _, want := s.picture(t, ""); !samePicture(fromHex(t, output), want) {
		t.Error("MapProxy's tile is another one")
	}
}

// qgis has QGIS, without a window, count features, draw the window of a tile by WMS and by WMTS, and ask what is at the lake.
func (s *ogcService) qgis(t *testing.T) {
	type layer struct {
		Valid bool
		Info  []string
	}
	var found struct {
		Valid       bool
		Lakes, High int
		WMS, WMTS   layer
	}
	file := filepath.Join(t.TempDir(), "map")
	at := project.Point(s.lake, project.WGS84.ToMercator)
	output := script(t, "qgis", "qgisclient.py", s.base, fmt.Sprint(at[0]), fmt.Sprint(at[1]), "20000", file)
	if err := json.Unmarshal([]byte(output), &found); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	if lakes, high := s.counts(t); !found.Valid || found.Lakes != lakes || found.High != high {
		t.Errorf("%t, %d lakes, want %d, and %d above 50 µg/l, want %d", found.Valid, found.Lakes, lakes, found.High, high)
	}
	for name, l := range map[string]layer{"wms": found.WMS, "wmts": found.WMTS} {
		if !l.Valid || len(l.Info) != 1 || !strings.Contains(l.Info[0], "chl_level") {
			t.Errorf("%s: %+v", name, l)
		}
		content, err := os.ReadFile(file + "-" + name + ".png")
		must(t, err)
		if m := pixels(t, content); m.NRGBAAt(128, 128).A == 0 {
			t.Errorf("%s: nothing is drawn at the lake", name)
		}
	}
}

// mapServer compares the place of a lake in the same request with that of MapServer, for each system and both versions of WMS.
func (s *ogcService) mapServer(t *testing.T) {
	const program = "/usr/lib/cgi-bin/mapserv"
	limnomaptest.NeedFolder(t, program)
	dir := t.TempDir()
	_, lakes := limnomaptest.Get(t, s.base+"/ogc/collections/lakes/items?limit=10000&properties=id")
	limnomaptest.WriteFile(t, dir, "lakes.geojson", string(lakes))
	content, err := os.ReadFile("testdata/lakes.map")
	must(t, err)
	mapFile := limnomaptest.WriteFile(t, dir, "lakes.map", string(content))
	configuration := limnomaptest.WriteFile(t, dir, "mapserver.conf", "CONFIG\n  ENV\n    MS_MAP_PATTERN \".\"\n  END\nEND\n")
	lake := s.loneLake(t)
	const size = 200
	for _, tt := range []struct {
		system   string
		code     int
		north    bool // first in 1.3.0
		half     float64
		versions string
	}{
		{"EPSG:4326", 4326, true, 0.2, "1.3.0 1.1.1"}, {"CRS:84", 4326, false, 0.2, "1.3.0"}, {"EPSG:3857", 3857, false, 30_000, "1.3.0 1.1.1"},
		{"EPSG:25832", 25832, false, 20_000, "1.3.0 1.1.1"}, {"EPSG:25833", 25833, false, 20_000, "1.3.0 1.1.1"}, {"EPSG:3035", 3035, true, 20_000, "1.3.0 1.1.1"},
	} {
		system, err := crs.FromEPSG(tt.code)
		must(t, err)
		x, y, ok := system.Project(lake[0], lake[1])
		if !ok {
			t.Fatalf("%v is outside of %s", lake, tt.system)
		}
		// The lake is at a quarter of the width and a third of the height: axes that are swapped would show.
		west, south := x-tt.half/2, y-tt.half*4/3
		for _, version := range strings.Fields(tt.versions) {
			box, name := []float64{west, south, west + 2*tt.half, south + 2*tt.half}, "CRS"
			if version == "1.1.1" {
				name = "SRS"
			} else if tt.north {
				box = []float64{south, west, south + 2*tt.half, west + 2*tt.half}
			}
			query := fmt.Sprintf("SERVICE=WMS&VERSION=%s&REQUEST=GetMap&LAYERS=chlorophyll&FORMAT=image/png&TRANSPARENT=TRUE&WIDTH=%d&HEIGHT=%d&%s=%s&BBOX=%f,%f,%f,%f", version, size, size, name, tt.system, box[0], box[1], box[2], box[3])
			_, ours := limnomaptest.Get(t, s.base+"/wms?STYLES=dots&"+query)
			cmd := exec.Command(program)
			cmd.Env = append(os.Environ(), "MAPSERVER_CONFIG_FILE="+configuration, "REQUEST_METHOD=GET", "QUERY_STRING=map="+url.QueryEscape(mapFile)+"&STYLES=&"+query)
			answer, err := cmd.Output()
			must(t, err)
			_, theirs, ok := bytes.Cut(answer, []byte("\r\n\r\n"))
			if !ok || !bytes.Contains(answer, []byte("image/png")) {
				t.Fatalf("%s: MapServer answers %.500s", query, answer)
			}
			got, want := middle(pixels(t, ours)), middle(pixels(t, theirs))
			if at := (orb.Point{size / 4, size / 3}); !(planar.Distance(got, want) < 2) || !(planar.Distance(want, at) < 2) {
				t.Errorf("%s: the lake is at %v, of MapServer at %v, want %v", query, got, want, at)
			}
		}
	}
}

// loneLake returns a lake whose next one is farther away than those of all others.
func (s *ogcService) loneLake(t *testing.T) (lone orb.Point) {
	t.Helper()
	var status limnomaptest.Status
	limnomaptest.GetJSON(t, s.base+"/api/v1/bathing-lakes/status", &status)
	most := 0.
	for _, l := range status.Lakes {
		at, nearest := orb.Point{l.Lon, l.Lat}, math.Inf(1)
		for _, other := range status.Lakes {
			if p := (orb.Point{other.Lon, other.Lat}); p != at {
				nearest = min(nearest, planar.Distance(at, p))
			}
		}
		if nearest > most && l.Chl != nil {
			lone, most = at, nearest
		}
	}
	return lone
}

// middle returns the mean place of what is drawn, in pixels.
func middle(m *image.NRGBA) orb.Point {
	var sum orb.Point
	n := 0.
	for y := range m.Rect.Dy() {
		for x := range m.Rect.Dx() {
			if m.NRGBAAt(x, y).A > 0 {
				sum, n = orb.Point{sum[0] + float64(x) + .5, sum[1] + float64(y) + .5}, n+1
			}
		}
	}
	return orb.Point{sum[0] / n, sum[1] / n}
}

// featureClients has three libraries in JavaScript read features and series.
func (s *ogcService) featureClients(t *testing.T) {
	limnomaptest.Need(t, "node")
	limnomaptest.NeedFolder(t, "examples/node_modules/covjson-reader")
	source, err := os.ReadFile("testdata/featureclients.mjs")
	must(t, err)
	var found struct {
		OGCClient, OGCAPIJS struct {
			Collections []string
			Lakes       int
		}
		Series struct {
			Coverages, Values int
			Type, Unit        string
			Sum               float64
		}
	}
	output := command(t, string(source), "examples", "node", "--input-type=module", "-", s.base)
	if err := json.Unmarshal([]byte(output), &found); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	lakes, _ := s.counts(t)
	for name, client := range map[string]struct {
		Collections []string
		Lakes       int
	}{"@camptocamp/ogc-client": found.OGCClient, "@ogcapi-js/features": found.OGCAPIJS} {
		if !strings.Contains(strings.Join(client.Collections, " "), "lakes observations advisories events") || client.Lakes != lakes {
			t.Errorf("%s: collections %v, %d lakes, want %d", name, client.Collections, client.Lakes, lakes)
		}
	}
	_, table := limnomaptest.Get(t, s.base+"/ogc/collections/observations/cube?bbox=13,52,14,53&datetime=2026-06-01/..&parameter-name=chl&f=CSV")
	lines := strings.Count(string(table), "\n") - 1
	if found.Series.Type != "CoverageCollection" || found.Series.Values != lines || lines < 100 || found.Series.Coverages < 2 || found.Series.Unit != "ug/L" || !(found.Series.Sum > 0) {
		t.Errorf("covjson-reader: %+v, want %d values", found.Series, lines)
	}
}
