package api

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image/png"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"limnomap/render"
	"limnomap/tiles"
)

const wmsMapURL = "/wms?SERVICE=WMS&VERSION=1.3.0&REQUEST=GetMap&LAYERS=chlorophyll&STYLES=&CRS=EPSG:4326&BBOX=48,11,54,13&WIDTH=20&HEIGHT=60&FORMAT=image/png"

// withPairs returns an address with other values of some parameters, each as NAME=value; one without a value is left out.
func withPairs(address string, changes ...string) string {
	path, query, _ := strings.Cut(address, "?")
	pairs := strings.Split(query, "&")
	for _, change := range changes {
		name, _, given := strings.Cut(change, "=")
		pairs = slices.DeleteFunc(pairs, func(p string) bool { return strings.HasPrefix(p, name+"=") })
		if given {
			pairs = append(pairs, change)
		}
	}
	return path + "?" + strings.Join(pairs, "&")
}

// The order of axes is that of the system in 1.3.0, and x before y in 1.1.1: the same place gives the same picture, as does /ogc/map.
func TestWMSAxes(t *testing.T) {
	s := testServer(t)
	old := withPairs(wmsMapURL, "VERSION=1.1.1", "CRS")
	for _, same := range [][]string{
		{wmsMapURL, withPairs(wmsMapURL, "CRS=CRS:84", "BBOX=11,48,13,54"), withPairs(old, "SRS=EPSG:4326", "BBOX=11,48,13,54"), "/ogc/map?bbox=11,48,13,54&width=20&height=60&transparent=false",
			withPairs(wmsMapURL, "CRS=urn:ogc:def:crs:EPSG::4326"), strings.ToLower(withPairs(wmsMapURL, "CRS=EPSG:4326"))},
		{withPairs(wmsMapURL, "CRS=EPSG:3035", "BBOX=2700000,4300000,2900000,4500000"), withPairs(old, "SRS=EPSG:3035", "BBOX=4300000,2700000,4500000,2900000")},
		{withPairs(wmsMapURL, "CRS=EPSG:25832", "BBOX=600000,5300000,700000,5500000"), withPairs(old, "SRS=EPSG:25832", "BBOX=600000,5300000,700000,5500000")},
	} {
		want := get(t, s, http.StatusOK, same[0])
		for _, target := range same[1:] {
			if got := get(t, s, http.StatusOK, target); got.Body.String() != want.Body.String() || got.Header().Get("Content-Type") != "image/png" {
				t.Errorf("%s is another picture than %s", target, same[0])
			}
		}
	}
}

// A picture on the grid of a zoom has the pixels of its tiles.
func TestWMSEqualsTiles(t *testing.T) {
	opts := testOptions(t)
	service, err := tiles.New(render.New(opts.Limits), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	opts.Tiles, opts.Styles = service, render.Styles()
	s := newServer(t, opts, germany(t))
	const edge = 20037508.342789244
	side := 2 * edge / math.Exp2(6) // of a tile at zoom 6
	west, north := 33*side-edge, edge-21*side
	w := get(t, s, http.StatusOK, withPairs(wmsMapURL, "CRS=EPSG:3857", fmt.Sprintf("BBOX=%.6f,%.6f,%.6f,%.6f", west, north-side, west+side, north), "WIDTH=256", "HEIGHT=256", "TRANSPARENT=TRUE", "STYLES=dots"))
	got, err := png.Decode(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	want, err := png.Decode(bytes.NewReader(get(t, s, http.StatusOK, "/api/v1/tiles/6/33/21.png?style=dots").Body.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for y := range 256 {
		for x := range 256 {
			if got.At(x, y) != want.At(x, y) {
				t.Fatalf("pixel %d, %d is %v, of the tile %v", x, y, got.At(x, y), want.At(x, y))
			}
			if _, _, _, a := got.At(x, y).RGBA(); a > 0 {
				shown++
			}
		}
	}
	if shown == 0 {
		t.Error("nothing is on the tile")
	}
}

// What is at a pixel is the lake whose water it is, or whose point is within a finger's width.
func TestWMSInfo(t *testing.T) {
	s := featureServer(t)
	info := withPairs(wmsMapURL, "REQUEST=GetFeatureInfo", "QUERY_LAYERS=chlorophyll", "CRS=CRS:84", "BBOX=12.5,53.3,12.9,53.7", "WIDTH=400", "HEIGHT=400", "I=20", "J=380")
	for _, tt := range []struct {
		changes []string
		want    string
	}{
		{nil, "de_mv_high"},              // in its water, far from its point
		{[]string{"I=150", "J=250"}, ""}, // on the island
		{[]string{"I=195", "J=305"}, "de_mv_high"},
		{[]string{"CRS=EPSG:4326", "BBOX=53.3,12.5,53.7,12.9"}, "de_mv_high"},
		{[]string{"BBOX=0,40,20,60", "I=258", "J=132", "FEATURE_COUNT=5"}, "de_mv_never de_mv_high de_mv_scum"},
		{[]string{"VERSION=1.1.1", "SRS=EPSG:4326", "CRS", "I", "J", "X=20", "Y=380", "FORMAT"}, "de_mv_high"},
		{[]string{"TIME=2026-11-02"}, "de_mv_high"},
	} {
		var page featurePage
		w := get(t, s, http.StatusOK, withPairs(info, tt.changes...))
		if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, f := range page.Features {
			ids = append(ids, f.Properties["id"].(string))
		}
		if got := strings.Join(ids, " "); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.changes, got, tt.want)
		}
	}
	for format, want := range map[string]string{"text/plain": "id,name,lat", "text/html": "<h1>Lakes at this place</h1>"} {
		if w := get(t, s, http.StatusOK, withPairs(info, "INFO_FORMAT="+format)); !strings.Contains(w.Body.String(), want) || !strings.HasPrefix(w.Header().Get("Content-Type"), format) {
			t.Errorf("%s: %s %.200s", format, w.Header().Get("Content-Type"), w.Body)
		}
	}
}

// What is wrong is an exception with the code of the standard.
func TestWMSExceptions(t *testing.T) {
	s := testServer(t)
	info := withPairs(wmsMapURL, "REQUEST=GetFeatureInfo", "QUERY_LAYERS=chlorophyll", "I=1", "J=1")
	for _, tt := range []struct{ target, code, text string }{
		{withPairs(wmsMapURL, "LAYERS=roads"), "LayerNotDefined", "chlorophyll"},
		{withPairs(wmsMapURL, "STYLES=jet"), "StyleNotDefined", "heat"},
		{withPairs(wmsMapURL, "CRS=EPSG:27700"), "InvalidCRS", "EPSG/0/3857"},
		{withPairs(wmsMapURL, "VERSION=1.1.1", "CRS", "SRS=EPSG:27700"), "InvalidSRS", "EPSG/0/3857"},
		{withPairs(wmsMapURL, "FORMAT=image/jpeg"), "InvalidFormat", "image/png"},
		{withPairs(wmsMapURL, "TIME=never"), "InvalidDimensionValue", "time"},
		{withPairs(wmsMapURL, "BBOX=54,11,48,13"), "", "bbox"},
		{withPairs(wmsMapURL, "BBOX"), "", "bbox: not given"},
		{withPairs(wmsMapURL, "WIDTH=2049"), "", "from 1 to 2048"},
		{withPairs(wmsMapURL, "CRS"), "", "crs: not given"},
		{withPairs(wmsMapURL, "BGCOLOR=red"), "", "bgcolor"},
		{withPairs(wmsMapURL, "REQUEST=GetStyles"), "OperationNotSupported", "GetMap"},
		{withPairs(wmsMapURL, "SERVICE=WFS"), "", "is not WMS"},
		{withPairs(info, "I=20"), "InvalidPoint", "from 0 to 19"},
		{withPairs(info, "QUERY_LAYERS=roads"), "LayerNotDefined", "chlorophyll"},
		{withPairs(info, "INFO_FORMAT=text/xml"), "InvalidFormat", "text/plain"},
	} {
		w := get(t, s, http.StatusBadRequest, tt.target)
		var report struct {
			Version    string `xml:"version,attr"`
			Exceptions []struct {
				Code string `xml:"code,attr"`
				Text string `xml:",chardata"`
			} `xml:"ServiceException"`
		}
		if err := xml.Unmarshal(w.Body.Bytes(), &report); err != nil || len(report.Exceptions) == 0 {
			t.Fatalf("%s: %v %s", tt.target, err, w.Body)
		}
		if e := report.Exceptions[0]; e.Code != tt.code || !strings.Contains(e.Text, tt.text) {
			t.Errorf("%s: %+v, want %s and %q", tt.target, e, tt.code, tt.text)
		}
	}
}

// The description names what can be asked for, in both versions; the tests of deploy validate it.
func TestWMSCapabilities(t *testing.T) {
	s := testServer(t)
	for _, tt := range []struct{ query, root, system string }{
		{"", "WMS_Capabilities", "CRS"}, {"?service=WMS&request=GetCapabilities", "WMS_Capabilities", "CRS"}, {"?service=WMS&request=GetCapabilities&version=1.1.1", "WMT_MS_Capabilities", "SRS"},
	} {
		var d struct {
			XMLName xml.Name
			Layer   struct {
				CRS, SRS []string
				Layer    struct {
					Name, Title string
					Dimension   string
					Extent      string
					Style       []struct {
						Name   string
						Legend struct {
							Width  int `xml:"width,attr"`
							Online struct {
								Href string `xml:"href,attr"`
							} `xml:"OnlineResource"`
						} `xml:"LegendURL"`
					}
				}
			} `xml:"Capability>Layer"`
		}
		if err := xml.Unmarshal(get(t, s, http.StatusOK, "/wms"+tt.query).Body.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		layer := d.Layer.Layer
		if d.XMLName.Local != tt.root || layer.Name != "chlorophyll" || len(layer.Style) != 2 || len(d.Layer.CRS)+len(d.Layer.SRS) < 5 {
			t.Errorf("%s: %+v", tt.query, d)
		}
		if times := layer.Dimension + layer.Extent; !strings.HasPrefix(times, "current,2026-08-03") || !strings.HasSuffix(times, "2026-11-16") {
			t.Errorf("%s: times %s", tt.query, times)
		}
		for _, style := range layer.Style {
			if style.Legend.Width != 320 {
				t.Errorf("a legend of %d pixels", style.Legend.Width)
			}
			get(t, s, http.StatusOK, style.Legend.Online.Href)
			get(t, s, http.StatusOK, "/wms?service=WMS&version=1.3.0&request=GetLegendGraphic&format=image/png&layer=chlorophyll&style="+style.Name)
		}
	}
}
