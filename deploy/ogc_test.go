//go:build long

package deploy

import (
	"bytes"
	"encoding/json"
	"image"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/cmd/limnomap/limnomaptest"
)

// ogcSchemas is the folder with the official OGC schemas in Debian's python3-mapproxy.
const ogcSchemas = "/usr/share/python3-mapproxy/test/schemas"

// An ogcService is limnomap behind a trusted proxy, which sends the public address: clients such as GDAL need absolute
// addresses. The proxy records the requests.
type ogcService struct {
	base string // of the proxy
	lake orb.Point
	tile maptile.Tile // that the lake is on

	mu    sync.Mutex
	asked []string
}

func startOGC(t *testing.T) *ogcService {
	t.Helper()
	server := limnomaptest.Start(t, "--trusted-proxies", "127.0.0.1/32")
	s := new(ogcService)
	s.base = limnomaptest.Front(t, server.Base, func(_ http.ResponseWriter, r *http.Request) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = append(s.asked, r.RequestURI)
		return false
	}, nil)

	var status limnomaptest.Status
	limnomaptest.GetJSON(t, s.base+"/api/v1/bathing-lakes/status?risk=high", &status)
	for _, lake := range status.Lakes {
		if lake.Chl != nil {
			s.lake = orb.Point{lake.Lon, lake.Lat}
			s.tile = maptile.At(s.lake, 8)
			return s
		}
	}
	t.Fatal("no lake has a value")
	return nil
}

// requests returns the requests since the last call.
func (s *ogcService) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

// picture returns the tile at the XYZ address, which must not be blank.
func (s *ogcService) picture(t *testing.T, query string) (encoded []byte, decoded *image.NRGBA) {
	t.Helper()
	resp, body := limnomaptest.Get(t, s.base+tilePath(s.tile)+".png"+query)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("tile: %s %s", resp.Status, body)
	}
	decoded = pixels(t, body)
	for i := 3; i < len(decoded.Pix); i += 4 {
		if decoded.Pix[i] != 0 {
			return body, decoded
		}
	}
	t.Fatalf("the tile %v%s is blank, and equal to whatever is blank", s.tile, query)
	return nil, nil
}

func tilePath(tile maptile.Tile) string {
	return "/api/v1/tiles/" + strings.Join([]string{itoa(tile.Z), itoa(tile.X), itoa(tile.Y)}, "/")
}

// pixels returns the pixels of a PNG with unchanged colours.
func pixels(t *testing.T, content []byte) *image.NRGBA {
	t.Helper()
	img := decodePNG(t, content)
	b := img.Bounds()
	out := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	for y := range b.Dy() {
		for x := range b.Dx() {
			out.Set(x, y, img.At(b.Min.X+x, b.Min.Y+y))
		}
	}
	return out
}

// command runs a program in a temporary folder and returns its output.
func command(t *testing.T, stdin, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GDAL_DEFAULT_WMS_CACHE_PATH="+t.TempDir(), "GDAL_PAM_ENABLED=NO")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, &stderr)
	}
	return string(out)
}

// TestOGC runs OGC clients against the real server.
func TestOGC(t *testing.T) {
	t.Parallel()
	s := startOGC(t)
	t.Run("schemas", s.schemas)
	t.Run("GDAL by WMTS", s.gdalWMTS)
	t.Run("GDAL by OGC API", s.gdalOGCAPI)
	t.Run("GDAL by WMS", s.gdalWMS)
	t.Run("GDAL by features", s.gdalFeatures)
	t.Run("ogc-client", s.ogcClient)
	t.Run("OpenLayers", s.openLayers)
	t.Run("feature clients", s.featureClients)
	t.Run("OWSLib", s.owsLib)
	t.Run("MapProxy", s.mapProxy)
	t.Run("QGIS", s.qgis)
	t.Run("MapServer", s.mapServer)
}

// schemas validates the WMTS documents with the schemas of WMTS 1.0.0 and OWS 1.1.0. No Debian or npm package has the schemas
// of the OGC API documents, which the tests of package api compare with their OpenAPI description.
func (s *ogcService) schemas(t *testing.T) {
	limnomaptest.Need(t, "xmllint")
	limnomaptest.NeedFolder(t, ogcSchemas)
	dir := t.TempDir()
	for i, document := range []struct{ path, schema string }{
		{"/wmts", "wmts/1.0/wmtsGetCapabilities_response.xsd"},
		{"/wmts/1.0.0/WMTSCapabilities.xml", "wmts/1.0/wmtsGetCapabilities_response.xsd"},
		{"/wmts?SERVICE=WMS&REQUEST=GetCapabilities", "wmts/1.0/wmtsGetCapabilities_response.xsd"},
		{"/wmts?service=WMTS&request=GetTile&layer=<", "ows/1.1.0/owsExceptionReport.xsd"},
		{"/wmts?service=WMTS&request=GetMap", "ows/1.1.0/owsExceptionReport.xsd"},
		{"/wms", "wms/1.3.0/capabilities_1_3_0.xsd"},
		{"/wms?service=WMS&version=1.3.0&request=GetMap&layers=roads", "wms/1.3.0/exceptions_1_3_0.xsd"},
	} {
		_, body := limnomaptest.Get(t, s.base+strings.ReplaceAll(document.path, "<", "%3C"))
		name := limnomaptest.WriteFile(t, dir, itoa(i)+".xml", string(body))
		command(t, "", dir, "xmllint", "--nonet", "--noout", "--schema", filepath.Join(ogcSchemas, document.schema), name)
	}
	const dtd = "wms/1.1.1/capabilities_1_1_1.dtd"
	_, old := limnomaptest.Get(t, s.base+"/wms?service=WMS&version=1.1.1&request=GetCapabilities")
	local := limnomaptest.WriteFile(t, dir, "old.xml", strings.Replace(string(old), "http://schemas.opengis.net/"+dtd, filepath.Join(ogcSchemas, dtd), 1))
	command(t, "", dir, "xmllint", "--nonet", "--noout", "--valid", local)
	// The schema must not accept everything.
	_, body := limnomaptest.Get(t, s.base+"/wmts")
	lacking := limnomaptest.WriteFile(t, dir, "lacking.xml", strings.Replace(string(body), "<Format>image/png</Format>", "", 1))
	if exec.Command("xmllint", "--nonet", "--noout", "--schema", filepath.Join(ogcSchemas, "wmts/1.0/wmtsGetCapabilities_response.xsd"), lacking).Run() == nil {
		t.Error("a layer without its format is valid")
	}
}

// ogcClient has the client library of @camptocamp read both services, given one address each, and requests the tiles at the
// addresses that it builds.
func (s *ogcService) ogcClient(t *testing.T) {
	limnomaptest.Need(t, "node")
	limnomaptest.NeedFolder(t, "examples/node_modules")
	script, err := os.ReadFile("testdata/ogcclient.mjs")
	must(t, err)
	var found struct {
		Version     string
		HasTiles    bool
		MapTiles    []string // identifiers of collections
		VectorTiles []string
		MatrixSets  []string
		MapSet      string // address
		VectorSet   string // address
		MapFormats  []string
		Template    string // of the vector tiles
		WMTS        struct {
			Layer, Title, Tile, KVPTile, CRS string
			Styles                           []string
			Dimensions                       map[string]string
			BBox                             []float64
			Matrices                         int
		}
	}
	output := command(t, string(script), "examples", "node", "--input-type=module", "-", s.base, itoa(s.tile.Z), itoa(s.tile.X), itoa(s.tile.Y))
	if err := json.Unmarshal([]byte(output), &found); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	t.Logf("@camptocamp/ogc-client %s, node %s", found.Version, strings.TrimSpace(command(t, "", "", "node", "--version")))
	join := func(list []string) string { return strings.Join(list, " ") }
	for _, f := range []struct{ what, got, want string }{
		{"collections of pictures", join(found.MapTiles), "chlorophyll"},
		{"collections of vector tiles", join(found.VectorTiles), "chlorophyll"},
		{"matrix sets", join(found.MatrixSets), "WebMercatorQuad"},
		{"formats of pictures", join(found.MapFormats), "image/png"},
		{"tileset of pictures", found.MapSet, s.base + "/ogc/map/tiles/WebMercatorQuad"},
		{"tileset of vector tiles", found.VectorSet, s.base + "/ogc/tiles/WebMercatorQuad"},
		{"layer", found.WMTS.Layer, "chlorophyll"},
		{"styles", join(found.WMTS.Styles), "heat dots lakes pixels"},
		{"default of Time", found.WMTS.Dimensions["Time"], "current"},
		{"reference system", found.WMTS.CRS, "urn:ogc:def:crs:EPSG::3857"},
		{"number of zooms", itoa(found.WMTS.Matrices), "19"},
	} {
		if f.got != f.want {
			t.Errorf("%s = %q, want %q", f.what, f.got, f.want)
		}
	}
	if !found.HasTiles || !strings.Contains(found.WMTS.Title, "Simulated") {
		t.Errorf("tiles %t, title %q, which should say that the data are simulated", found.HasTiles, found.WMTS.Title)
	}
	if b := found.WMTS.BBox; len(b) != 4 || !(orb.Bound{Min: orb.Point{b[0], b[1]}, Max: orb.Point{b[2], b[3]}}).Contains(s.lake) {
		t.Errorf("the layer's box %v does not hold the lake at %v", b, s.lake)
	}
	want, _ := s.picture(t, "")
	for _, address := range []string{found.WMTS.Tile, found.WMTS.KVPTile} {
		if _, got := limnomaptest.Get(t, address); !bytes.Equal(got, want) {
			t.Errorf("%s is not the tile of the XYZ address", address)
		}
	}
	vector := strings.NewReplacer("{tileMatrix}", itoa(s.tile.Z), "{tileRow}", itoa(s.tile.Y), "{tileCol}", itoa(s.tile.X)).Replace(found.Template)
	_, got := limnomaptest.Get(t, vector)
	if _, want := limnomaptest.Get(t, s.base+tilePath(s.tile)+".mvt"); !bytes.Equal(got, want) {
		t.Errorf("%s is not the vector tile of the XYZ address", vector)
	}
}
