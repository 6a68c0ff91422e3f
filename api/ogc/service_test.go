package ogc

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/paulmach/orb/maptile"

	"limnomap/api/answer"
	"limnomap/api/route"
	"limnomap/data/demo"
	"limnomap/data/snapshot"
	"limnomap/tiles"
	"limnomap/tiles/admission"
)

// newHandler returns a handler of all addresses of a Service that shows the demo's lakes. It notes the last tile in asked.
func newHandler(t *testing.T, asked *Tile) http.Handler {
	t.Helper()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	snap, err := snapshot.Load(t.Context(), demo.New(func() time.Time { return noon }), &snapshot.Options{AsOf: snapshot.Newest})
	if err != nil {
		t.Fatal(err)
	}
	state := &State{Snapshot: snap, MapVersion: "m1", VectorVersion: "v1", Bounds: [4]float64{5, 47, 16, 56}, Center: [2]float64{10.5, 51.5}, Zoom: 6}
	s := New(Options{
		Current:     func() (*State, error) { return state, nil },
		Base:        func(http.ResponseWriter, *http.Request) (string, bool) { return "https://lakes.example.org", false },
		TrueFor:     func(*State) time.Duration { return 0 },
		Attribution: func(*State) string { return `Agency "A" & <B>` },
		SendTile: func(w http.ResponseWriter, _ *http.Request, tile Tile) error {
			*asked = tile
			w.WriteHeader(http.StatusOK)
			return nil
		},
		Collections: func(string) []any { return nil },
		Sender:      answer.NewSender(answer.Options{Memory: admission.NewBudget(1 << 30)}), // no test asks for a long list
		Styles:      []tiles.Style{{ID: "heat", Title: "Heat map"}, {ID: "dots", Title: "Dots"}},
		Default:     tiles.Request{Scale: 1, Style: "heat", Colormap: "viridis"},
		Notice:      "simulated", MaxZoom: 18, MaxVectorZoom: 14,
		TilesPath: "/tiles", LegendPath: "/legend", GeoJSONPath: "/geojson", OpenAPIPath: "/openapi.json",
	})
	errors := answer.NewErrors([]answer.ErrorStatus{{Err: tiles.ErrOutOfRange, Status: http.StatusNotFound}}, slog.New(slog.DiscardHandler))
	router := route.New("", http.NotFoundHandler())
	for _, d := range s.Documents() {
		router.Handle(d.Path, errors.Handler(d.Handler))
	}
	for path, h := range map[string]answer.Handler{
		PathWMTS: s.WMTS, PathCapabilities: s.Capabilities, PatternMapTile: s.MapTile, PatternVectorTile: s.VectorTile,
	} {
		router.Handle(path, errors.Handler(h))
	}
	return router
}

func ask(h http.Handler, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
	return w
}

// Each standard has its own address of a tile; all lead to the same request.
func TestAddressesOfATile(t *testing.T) {
	const wmts = "/wmts?service=WMTS&request=GetTile&version=1.0.0&layer=chlorophyll&format=image/png&tilematrixset=GoogleMapsCompatible" +
		"&tilematrix=6&tilerow=21&tilecol=33&style="
	var asked Tile
	h := newHandler(t, &asked)
	for target, want := range map[string]Tile{
		wmts:                          {},
		wmts + "dots&time=2026-11-10": {Request: tiles.Request{Style: "dots"}, Dated: true},
		"/ogc/map/tiles/WebMercatorQuad/6/21/33?v=m1":                 {Version: "m1"},
		"/ogc/map/tiles/WebMercatorQuad/6/21/33?datetime=2026-11-10":  {Dated: true},
		"/ogc/tiles/WebMercatorQuad/6/21/33?v=v1&datetime=2026-11-10": {Vector: true, Version: "v1", Dated: true},
	} {
		if want.Style == "" {
			want.Style = "heat"
		}
		if w := ask(h, target); w.Code != http.StatusOK || asked.Tile != maptile.New(33, 21, 6) || asked.Scale != 1 || asked.Colormap != "viridis" ||
			asked.Style != want.Style || asked.Vector != want.Vector || asked.Dated != want.Dated || asked.Version != want.Version {
			t.Errorf("%s = %d, asks for %+v, want %+v", target, w.Code, asked, want)
		}
		if asked.Dated && asked.Week.String() != "2026-W46" {
			t.Errorf("%s asks for %s, want 2026-W46", target, asked.Week)
		}
	}
	asked = Tile{}
	for target, want := range map[string]int{
		"/ogc/map/tiles/WebMercatorQuad/6/64/33":   http.StatusNotFound,
		"/ogc/tiles/WebMercatorQuad/15/0/0":        http.StatusNotFound,
		"/ogc/tiles/WebMercatorQuad/6/21/33?f=png": http.StatusBadRequest,
		wmts + "none": http.StatusBadRequest,
	} {
		if w := ask(h, target); w.Code != want || asked.State != nil {
			t.Errorf("%s = %d, asks for %+v, want %d and no tile", target, w.Code, asked, want)
		}
	}
}

// All documents can be read, and their texts are escaped.
func TestDocumentsAreWellFormed(t *testing.T) {
	var asked Tile
	h := newHandler(t, &asked)
	for _, d := range New(Options{}).Documents() {
		if w := ask(h, d.Path); w.Code != http.StatusOK || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s = %d, %.200s", d.Path, w.Code, w.Body)
		}
	}
	for _, target := range []string{PathCapabilities, PathWMTS, PathWMTS + "?request=%3C%26%3E"} {
		w := ask(h, target)
		for decoder := xml.NewDecoder(w.Body); ; {
			if _, err := decoder.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s is not XML: %v", target, err)
			}
		}
		if got := w.Header().Get("Content-Type"); got != answer.TypeXML {
			t.Errorf("Content-Type of %s = %q", target, got)
		}
	}
}
