package api

import (
	"encoding/xml"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"limnomap/api/answer"
	"limnomap/data"
)

const (
	wmtsURL     = "/wmts"
	wmtsTileURL = "/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=chlorophyll&STYLE=heat&FORMAT=image/png" +
		"&TILEMATRIXSET=GoogleMapsCompatible&TILEMATRIX=6&TILEROW=21&TILECOL=33"
)

// wmtsInfoURL asks for what is at a pixel, but for which.
var wmtsInfoURL = strings.Replace(wmtsTileURL, "GetTile", "GetFeatureInfo", 1)

// readCapabilities are the parts of a capabilities document that the tests read, with their namespaces.
type readCapabilities struct {
	XMLName  xml.Name `xml:"http://www.opengis.net/wmts/1.0 Capabilities"`
	Version  string   `xml:"version,attr"`
	Title    string   `xml:"http://www.opengis.net/ows/1.1 ServiceIdentification>Title"`
	Abstract string   `xml:"http://www.opengis.net/ows/1.1 ServiceIdentification>Abstract"`
	Gets     []struct {
		Href string `xml:"http://www.w3.org/1999/xlink href,attr"`
	} `xml:"OperationsMetadata>Operation>DCP>HTTP>Get"`
	Layer struct {
		Title      string `xml:"http://www.opengis.net/ows/1.1 Title"`
		Identifier string `xml:"http://www.opengis.net/ows/1.1 Identifier"`
		Lower      string `xml:"WGS84BoundingBox>LowerCorner"`
		Upper      string `xml:"WGS84BoundingBox>UpperCorner"`
		Styles     []struct {
			Default    bool   `xml:"isDefault,attr"`
			Identifier string `xml:"Identifier"`
			Legend     struct {
				Href string `xml:"http://www.w3.org/1999/xlink href,attr"`
			} `xml:"LegendURL"`
		} `xml:"Style"`
		Default   string   `xml:"Dimension>Default"`
		Times     []string `xml:"Dimension>Value"`
		Infos     []string `xml:"InfoFormat"`
		Resources []struct {
			Format   string `xml:"format,attr"`
			Type     string `xml:"resourceType,attr"`
			Template string `xml:"template,attr"`
		} `xml:"ResourceURL"`
	} `xml:"Contents>Layer"`
	ScaleSet string `xml:"Contents>TileMatrixSet>WellKnownScaleSet"`
	Matrices []struct {
		Identifier string  `xml:"Identifier"`
		Scale      float64 `xml:"ScaleDenominator"`
		Corner     string  `xml:"TopLeftCorner"`
		Width      int     `xml:"MatrixWidth"`
		Height     int     `xml:"MatrixHeight"`
	} `xml:"Contents>TileMatrixSet>TileMatrix"`
}

func capabilitiesAt(t *testing.T, s *Server, target string, headers ...string) readCapabilities {
	t.Helper()
	w := get(t, s, http.StatusOK, target, headers...)
	if got := w.Header().Get("Content-Type"); got != answer.TypeXML {
		t.Errorf("Content-Type of %s = %q", target, got)
	}
	var c readCapabilities
	if err := xml.Unmarshal(w.Body.Bytes(), &c); err != nil {
		t.Fatalf("%s: %v: %.300s", target, err, w.Body)
	}
	return c
}

func TestWMTSCapabilities(t *testing.T) {
	s := testServer(t)
	c := capabilitiesAt(t, s, wmtsURL)
	if c.Version != "1.0.0" || c.Layer.Identifier != "chlorophyll" || !strings.Contains(c.Abstract, "never means clean water") ||
		!strings.Contains(c.Abstract, "measured by satellite or in samples") || !strings.Contains(c.Abstract, levelCaveat) || !strings.Contains(c.Abstract, "Example Agency") {
		t.Errorf("version %s, layer %s, abstract %q", c.Version, c.Layer.Identifier, c.Abstract)
	}
	// Longitude comes first in a WGS84BoundingBox.
	bounds := s.common.current.Load().state.Bounds
	for got, corner := range map[string][]float64{c.Layer.Lower: bounds[:2], c.Layer.Upper: bounds[2:]} {
		if want := fmt.Sprint(corner[0], corner[1]); got != want {
			t.Errorf("corner = %q, want %q", got, want)
		}
	}
	var styles []string
	for i, style := range c.Layer.Styles {
		styles = append(styles, style.Identifier)
		if style.Default != (i == 0) {
			t.Errorf("style %s is default: %t, want only the first", style.Identifier, style.Default)
		}
		get(t, s, http.StatusOK, style.Legend.Href)
	}
	if fmt.Sprint(styles) != "[heat dots]" {
		t.Errorf("styles = %v", styles)
	}
	if len(c.Gets) != 6 {
		t.Errorf("%d addresses of operations, want RESTful and KVP of three", len(c.Gets))
	}
	whole := get(t, s, http.StatusOK, wmtsURL).Body.String()
	for _, same := range []string{
		"/wmts/1.0.0/WMTSCapabilities.xml", "/wmts?service=WMTS&request=GetCapabilities", "/wmts?Request=getcapabilities&SERVICE=wmts&x=1",
		"/wmts?service=WMTS&request=GetCapabilities&acceptversions=2.0.0,1.0.0", "/wmts?service=WMTS",
		"/wmts?SERVICE=WMS&REQUEST=GetCapabilities", // as QGIS sends for the bare address
	} {
		if get(t, s, http.StatusOK, same).Body.String() != whole {
			t.Errorf("%s gives other capabilities", same)
		}
	}
}

// The scales are those of WMTS 1.0.0, table E.4, which has them to 13 or more digits.
func TestWMTSMatrices(t *testing.T) {
	c := capabilitiesAt(t, testServer(t), wmtsURL)
	if len(c.Matrices) != 19 || c.ScaleSet == "" {
		t.Fatalf("%d matrices of the scale set %q, want 19 of the well-known one", len(c.Matrices), c.ScaleSet)
	}
	for zoom, want := range map[int]float64{
		0: 559082264.0287178, 1: 279541132.0143589, 6: 8735660.375448715, 10: 545978.7734655447, 18: 2132.729583849784,
	} {
		if got := c.Matrices[zoom].Scale; math.Abs(got/want-1) > 1e-14 {
			t.Errorf("scale denominator of %d = %v, want %v", zoom, got, want)
		}
	}
	for zoom, m := range c.Matrices {
		if m.Identifier != strconv.Itoa(zoom) || m.Width != 1<<zoom || m.Height != 1<<zoom || m.Corner != "-20037508.342789244 20037508.342789244" {
			t.Errorf("matrix %d = %+v", zoom, m)
		}
	}
	opts := testOptions(t)
	opts.MaxZoom = 20
	if c := capabilitiesAt(t, newServer(t, opts, testSource(t)), wmtsURL); len(c.Matrices) != 21 || c.ScaleSet != "" {
		t.Errorf("to zoom 20: %d matrices of the scale set %q, which ends at 18", len(c.Matrices), c.ScaleSet)
	}
}

func TestWMTSTemplate(t *testing.T) {
	s, service := tileServer(t)
	c := capabilitiesAt(t, s, wmtsURL)
	if len(c.Layer.Resources) < 1 || c.Layer.Resources[0].Type != "tile" {
		t.Fatalf("templates %+v", c.Layer.Resources)
	}
	for _, r := range c.Layer.Resources[1:] {
		if r.Type != "FeatureInfo" {
			t.Errorf("a second template of a %s: of several QGIS takes the last, whatever it lacks", r.Type)
		}
	}
	fill := func(style, time string) string {
		return strings.NewReplacer("{Style}", style, "{Time}", time, "{TileMatrix}", "6", "{TileRow}", "21", "{TileCol}", "33").
			Replace(c.Layer.Resources[0].Template)
	}
	// Clients keep the template for years: the current map is immutable at none of its addresses, the map of an earlier week is.
	xyz := get(t, s, http.StatusOK, tileURL)
	for time, cacheControl := range map[string]string{
		c.Layer.Default: cacheTile, "default": cacheTile, "": cacheTile, "{Time}": cacheTile,
		"2026-11-16": cacheTile, "2026-11-22T12:00:00Z": cacheTile, "2026-11-15": answer.CacheForever,
	} {
		w := get(t, s, http.StatusOK, fill("heat", time))
		same := w.Body.String() == xyz.Body.String()
		if same != (cacheControl == cacheTile) || w.Header().Get("Etag") != xyz.Header().Get("Etag") || w.Header().Get("Cache-Control") != cacheControl {
			t.Errorf("time=%s: %q, ETag %s, %s; want %s, and the tile of %s unless it is of an earlier week",
				time, w.Body, w.Header().Get("Etag"), w.Header().Get("Cache-Control"), cacheControl, tileURL)
		}
	}
	if got := fmt.Sprint(c.Layer.Times); got != "[2026-08-03 2026-11-02 2026-11-09 2026-11-16]" {
		t.Errorf("times = %s, want the weeks there are", got)
	}
	for _, time := range append(c.Layer.Times, "2026-11-02T00:00:00Z", "2026-11-02T23:59:59%2B00:00", "2026-11-08T20:00:00-08:00") {
		get(t, s, http.StatusOK, fill("dots", time))
		monday := time[:10]
		if strings.HasSuffix(time, "-08:00") {
			monday = "2026-11-09" // in UTC
		}
		if want := date(t, monday).Week(); service.week != want || service.asked.Style != "dots" {
			t.Errorf("time=%s asks for %s of week %s, want dots of %s", time, service.asked.Style, service.week, want)
		}
	}
	for _, query := range []string{
		"time=2020-01-01", "time=x", "time={time}", "time=2026-11-02/2026-11-09", "time=2026-11-02T25:00:00Z", "time=2026-11-02&time=current",
		"time=2026-11-02&date=2026-11-02", "time=current&date=2026-11-02",
	} {
		wantProblem(t, do(s, http.MethodGet, tileURL+"?"+query), http.StatusBadRequest, "time")
	}
}

func TestWMTSTimesAreBounded(t *testing.T) {
	f := testSource(t)
	first := date(t, "2020-01-06")
	for i := range 104 + 50 {
		f.observations = append(f.observations, data.Observation{
			LakeID: "de_by_clean", Date: first + data.Date(7*i), Type: data.Satellite, Chlorophyll: 5_00, Level: data.NoLevel, CellDensity: data.NoCellDensity,
		})
	}
	slices.SortStableFunc(f.observations, func(a, b data.Observation) int {
		return strings.Compare(string(a.LakeID)+a.Date.String(), string(b.LakeID)+b.Date.String())
	})
	s := newServer(t, testOptions(t), f)
	times := capabilitiesAt(t, s, wmtsURL).Layer.Times
	if len(times) != 104 || times[len(times)-1] != "2026-11-16" || !slices.IsSorted(times) {
		t.Errorf("%d times up to %s, want the newest %d, in order", len(times), times[len(times)-1], 104)
	}
	get(t, s, http.StatusOK, tileURL+"?time=2020-01-06") // not listed, and answered

	f = testSource(t)
	f.observations = nil
	c := capabilitiesAt(t, newServer(t, testOptions(t), f), wmtsURL)
	if c.Layer.Default != "" || !strings.Contains(c.Layer.Resources[0].Template, "&time=current&") {
		t.Errorf("without any week: Time is %q by default, template %s", c.Layer.Default, c.Layer.Resources[0].Template)
	}
}

func TestWMTSCapabilitiesFollowTheData(t *testing.T) {
	s := testServer(t)
	before := capabilitiesAt(t, s, wmtsURL).Layer.Resources[0].Template
	changed := testSource(t)
	changed.observations[0].Chlorophyll = 99_00
	if err := s.Publish(testSnapshot(t, changed)); err != nil {
		t.Fatal(err)
	}
	if after := capabilitiesAt(t, s, wmtsURL).Layer.Resources[0].Template; after == before {
		t.Errorf("template is still %s", after)
	}
	wantProblem(t, do(newServer(t, testOptions(t), nil), http.MethodGet, wmtsURL), http.StatusServiceUnavailable)
}

func TestWMTSEscapesAndSaysThatValuesAreSimulated(t *testing.T) {
	opts := testOptions(t)
	opts.Notice, opts.Attribution = `Simulated <&> "data"`, "A & B <a href='x'>"
	c := capabilitiesAt(t, newServer(t, opts, testSource(t)), wmtsURL)
	if !strings.Contains(c.Layer.Title, opts.Notice) || !strings.Contains(c.Title, opts.Notice) || !strings.Contains(c.Abstract, opts.Notice+" | "+opts.Attribution) {
		t.Errorf("title %q, layer %q, abstract %q", c.Title, c.Layer.Title, c.Abstract)
	}
}

func TestWMTSGetTile(t *testing.T) {
	s, service := tileServer(t)
	xyz := get(t, s, http.StatusOK, tileURL)
	for _, query := range []string{"", "&time=", "&TIME=current", "&time=default", "&TIME={Time}", "&x=y", "&v=1&v=2"} {
		w := get(t, s, http.StatusOK, wmtsTileURL+query)
		if w.Body.String() != xyz.Body.String() || w.Header().Get("Etag") != xyz.Header().Get("Etag") || w.Header().Get("Cache-Control") != cacheTile {
			t.Errorf("%s: %q, want the tile of %s", query, w.Body, tileURL)
		}
	}
	get(t, s, http.StatusOK, wmtsTileURL+"&time=2026-11-02T00:00:00Z")
	if got := service.week.String(); got != "2026-W45" {
		t.Errorf("time=2026-11-02 asks for week %s", got)
	}
	get(t, s, http.StatusOK, strings.Replace(strings.ToLower(wmtsTileURL), "googlemapscompatible", "GoogleMapsCompatible", 1))
	get(t, s, http.StatusOK, strings.Replace(wmtsTileURL, "STYLE=heat", "STYLE=", 1))
	if service.asked.Style != "heat" {
		t.Errorf("an empty style asks for %s, want the default", service.asked.Style)
	}
	get(t, s, http.StatusOK, strings.Replace(wmtsTileURL, "STYLE=heat", "STYLE=dots", 1))
	if service.asked.Style != "dots" {
		t.Errorf("STYLE=dots asks for %s", service.asked.Style)
	}
}

// What is at a pixel of a tile is what WMS says of the same pixel, by key and value and at the addresses of the capabilities.
func TestWMTSInfo(t *testing.T) {
	s := featureServer(t)
	c := capabilitiesAt(t, s, wmtsURL)
	if len(c.Layer.Infos) != 3 || len(c.Layer.Resources) != 4 {
		t.Fatalf("formats %v, templates %+v", c.Layer.Infos, c.Layer.Resources)
	}
	found := 0
	for _, at := range []struct{ zoom, column, row, i, j int }{{11, 1095, 663, 101, 209}, {11, 1095, 663, 0, 255}, {8, 137, 82, 7, 234}, {3, 4, 2, 72, 150}, {0, 0, 0, 255, 139}} {
		side := 2 * 20037508.342789244 / math.Exp2(float64(at.zoom))
		west, north := float64(at.column)*side-20037508.342789244, 20037508.342789244-float64(at.row)*side
		for k, r := range c.Layer.Resources[1:] {
			if r.Format != c.Layer.Infos[k] {
				t.Errorf("%s for %s", r.Template, c.Layer.Infos[k])
			}
			for _, time := range []string{"current", "2026-11-02"} {
				want := get(t, s, http.StatusOK, withPairs(wmsMapURL, "REQUEST=GetFeatureInfo", "QUERY_LAYERS=chlorophyll", "CRS=EPSG:3857", "WIDTH=256", "HEIGHT=256", "TIME="+time,
					fmt.Sprintf("BBOX=%f,%f,%f,%f", west, north-side, west+side, north), fmt.Sprint("I=", at.i), fmt.Sprint("J=", at.j), "INFO_FORMAT="+r.Format))
				target := strings.NewReplacer("{Style}", "dots", "{Time}", time, "{TileMatrix}", fmt.Sprint(at.zoom), "{TileRow}", fmt.Sprint(at.row), "{TileCol}", fmt.Sprint(at.column),
					"{I}", fmt.Sprint(at.i), "{J}", fmt.Sprint(at.j)).Replace(r.Template)
				got := get(t, s, http.StatusOK, target)
				if got.Body.String() != want.Body.String() || got.Header().Get("Content-Type") != want.Header().Get("Content-Type") {
					t.Errorf("%s: %.300s, want %.300s", target, got.Body, want.Body)
				}
				found += strings.Count(got.Body.String(), `"id":`)
			}
		}
	}
	if found == 0 {
		t.Error("no pixel has a lake")
	}
}

// exceptions reads an exception report, as code and locator of each.
func exceptions(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var report struct {
		XMLName    xml.Name `xml:"http://www.opengis.net/ows/1.1 ExceptionReport"`
		Version    string   `xml:"version,attr"`
		Exceptions []struct {
			Code    string `xml:"exceptionCode,attr"`
			Locator string `xml:"locator,attr"`
			Text    string `xml:"http://www.opengis.net/ows/1.1 ExceptionText"`
		} `xml:"Exception"`
	}
	if err := xml.Unmarshal(w.Body.Bytes(), &report); err != nil {
		t.Fatalf("%d is no exception report: %v: %.300s", w.Code, err, w.Body)
	}
	if w.Code != http.StatusBadRequest || report.Version != "1.1.0" || w.Header().Get("Content-Type") != answer.TypeXML || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("status %d, version %s, header %v", w.Code, report.Version, w.Header())
	}
	var list []string
	for _, e := range report.Exceptions {
		list = append(list, e.Code+" "+e.Locator)
		if e.Text == "" {
			t.Errorf("no text for %s %s", e.Code, e.Locator)
		}
	}
	return strings.Join(list, ", ")
}

func TestWMTSExceptions(t *testing.T) {
	s := testServer(t)
	with := func(name, value string) string {
		u, err := url.Parse(wmtsTileURL)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		q.Set(name, value)
		return "/wmts?" + q.Encode()
	}
	without := func(name string) string { return strings.Replace(wmtsTileURL, "&"+name+"=", "&x"+name+"=", 1) }
	for target, want := range map[string]string{
		"/wmts?request=GetTile":                                                            "MissingParameterValue service",
		"/wmts?service=WMS&request=GetMap":                                                 "InvalidParameterValue service",
		"/wmts?service=WMTS&service=WMTS":                                                  "InvalidParameterValue service",
		"/wmts?service=WMTS&request=%zz":                                                   "InvalidParameterValue request",
		"/wmts?service=WMTS&request=GetMap":                                                "OperationNotSupported request",
		wmtsInfoURL + "&i=256&j=0":                                                         "PointIJOutOfRange i",
		wmtsInfoURL + "&i=0":                                                               "PointIJOutOfRange j",
		wmtsInfoURL + "&i=0&j=0&infoformat=text/xml":                                       "InvalidParameterValue infoformat",
		strings.Replace(wmtsInfoURL, "TILEROW=21", "TILEROW=64", 1):                        "TileOutOfRange tilerow",
		"/wmts?service=WMTS&request=GetCapabilities&acceptVersions=2.0.0":                  "VersionNegotiationFailed acceptversions",
		"/wmts?service=WMTS&request=GetCapabilities&acceptVersions=1&acceptVersions=1.0.0": "InvalidParameterValue acceptversions",
		without("LAYER"):                                                                   "MissingParameterValue layer",
		with("LAYER", "<&\x00>"):                                                           "InvalidParameterValue layer",
		with("STYLE", "jet"):                                                               "InvalidParameterValue style",
		with("FORMAT", "image/jpeg"):                                                       "InvalidParameterValue format",
		with("TILEMATRIXSET", "EPSG:4326"):                                                 "InvalidParameterValue tilematrixset",
		with("TILEMATRIX", "19"):                                                           "InvalidParameterValue tilematrix",
		with("TILEMATRIX", "06"):                                                           "InvalidParameterValue tilematrix",
		with("TILEROW", "-1"):                                                              "InvalidParameterValue tilerow",
		with("TILEROW", "64"):                                                              "TileOutOfRange tilerow",
		with("TILECOL", "64"):                                                              "TileOutOfRange tilecol",
		with("TIME", "2020-01-01"):                                                         "InvalidParameterValue time",
		"/wmts?service=WMTS&request=GetTile&layer=x": "MissingParameterValue version, InvalidParameterValue layer, MissingParameterValue format, " +
			"MissingParameterValue tilematrixset, MissingParameterValue style, MissingParameterValue tilematrix, " +
			"MissingParameterValue tilerow, MissingParameterValue tilecol",
	} {
		w := do(s, http.MethodGet, target)
		if got := exceptions(t, w); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
		if head := do(s, http.MethodHead, target); head.Code != w.Code || head.Body.Len() > 0 {
			t.Errorf("HEAD %s = %d with %d bytes", target, head.Code, head.Body.Len())
		}
	}
}

// FuzzWMTS checks that each request by key and value gets a tile, a document or a readable report, and never an error of the
// server.
func FuzzWMTS(f *testing.F) {
	for _, seed := range []string{
		"", strings.TrimPrefix(wmtsTileURL, "/wmts?"), "service=WMTS&request=GetCapabilities", "request=GetTile", "SERVICE=wmts&request=x",
		"service=WMTS&request=GetTile&tilematrix=30&tilerow=4294967295&tilecol=-1", "%zz=1&=&&request", "request=%00%ff&service=WMTS", "acceptversions=,",
		strings.TrimPrefix(wmtsTileURL, "/wmts?") + "&time=2026-11-02T00:00:00Z", "time=2026-11-02&request=GetTile&service=WMTS",
		strings.TrimPrefix(wmtsInfoURL, "/wmts?") + "&i=1&j=2&infoformat=text/plain", strings.TrimPrefix(wmtsInfoURL, "/wmts?") + "&i=-1&j=1e3",
	} {
		f.Add(seed)
	}
	s := newServer(f, testOptions(f), testSource(f))
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequest(http.MethodGet, "/wmts", nil)
		r.URL.RawQuery = query
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		switch contentType := w.Header().Get("Content-Type"); {
		case w.Code == http.StatusOK && (contentType == answer.TypePNG || contentType == answer.TypeJSON || strings.HasPrefix(contentType, "text/")):
		case w.Code == http.StatusOK && contentType == answer.TypeXML, w.Code == http.StatusBadRequest && contentType == answer.TypeXML:
			var any struct{}
			if err := xml.Unmarshal(w.Body.Bytes(), &any); err != nil {
				t.Fatalf("%q: %v: %s", query, err, w.Body)
			}
		default:
			t.Fatalf("%q = %d %s: %s", query, w.Code, contentType, w.Body)
		}
	})
}
