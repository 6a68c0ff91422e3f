package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"limnomap/api/answer"
	"limnomap/tiles"
)

const (
	ogcTileURL   = "/ogc/map/tiles/WebMercatorQuad/6/21/33"
	ogcVectorURL = "/ogc/tiles/WebMercatorQuad/6/21/33"
)

// A link leads from one document to another.
type link struct{ Rel, Href string }

const (
	relMapSets    = "http://www.opengis.net/def/rel/ogc/1.0/tilesets-map"
	relVectorSets = "http://www.opengis.net/def/rel/ogc/1.0/tilesets-vector"
	relGeodata    = "http://www.opengis.net/def/rel/ogc/1.0/geodata"
	relScheme     = "http://www.opengis.net/def/rel/ogc/1.0/tiling-scheme"
)

// linked returns the address of the link with that relation in the document at target, which must be there.
func linked(t *testing.T, s *Server, target, rel string) string {
	t.Helper()
	var document struct{ Links []link }
	if err := json.Unmarshal(get(t, s, http.StatusOK, target).Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(document.Links, func(l link) bool { return l.Rel == rel })
	if i < 0 {
		t.Fatalf("%s has no link %s", target, rel)
	}
	return document.Links[i].Href
}

// From the landing page a client finds everything by links, including the tiles of both tilesets.
func TestOGCFindsEverythingByLinks(t *testing.T) {
	for _, base := range []string{"", "/lakes"} {
		opts := testOptions(t)
		opts.BasePath = base
		s := newServer(t, opts, testSource(t))
		landing := base + "/ogc/"
		get(t, s, http.StatusOK, linked(t, s, landing, "service-desc"))
		get(t, s, http.StatusOK, linked(t, s, landing, "related"))
		conformance := object(t, get(t, s, http.StatusOK, linked(t, s, landing, "conformance")))
		if !slices.Contains(conformance["conformsTo"].([]any), any("http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/core")) {
			t.Errorf("conforms to %v", conformance)
		}
		collections := object(t, get(t, s, http.StatusOK, linked(t, s, landing, "data")))["collections"].([]any)
		var collection struct{ Links []link }
		if text, err := json.Marshal(collections[0]); err != nil || json.Unmarshal(text, &collection) != nil {
			t.Fatal("collection", err)
		}
		get(t, s, http.StatusOK, linked(t, s, collection.Links[0].Href, "enclosure"))
		for rel, xyz := range map[string]string{relMapSets: tileURL, relVectorSets: vectorURL} {
			list := linked(t, s, landing, rel)
			if got := linked(t, s, collection.Links[0].Href, rel); got != list {
				t.Errorf("the collection's %s = %s, the dataset's %s", rel, got, list)
			}
			var sets struct{ Tilesets []struct{ Links []link } }
			if err := json.Unmarshal(get(t, s, http.StatusOK, list).Body.Bytes(), &sets); err != nil || len(sets.Tilesets) != 1 {
				t.Fatalf("%s: %v", list, err)
			}
			set := sets.Tilesets[0].Links[0].Href
			get(t, s, http.StatusOK, linked(t, s, set, "alternate"))
			get(t, s, http.StatusOK, linked(t, s, set, relGeodata))
			if got := object(t, get(t, s, http.StatusOK, linked(t, s, set, relScheme)))["id"]; got != "WebMercatorQuad" {
				t.Errorf("tile matrix set = %v", got)
			}
			target := strings.NewReplacer("{tileMatrix}", "6", "{tileRow}", "21", "{tileCol}", "33").Replace(linked(t, s, set, "item"))
			got, want := get(t, s, http.StatusOK, target), get(t, s, http.StatusOK, base+xyz)
			if got.Body.String() != want.Body.String() || got.Header().Get("Etag") != want.Header().Get("Etag") || got.Header().Get("Content-Type") != want.Header().Get("Content-Type") {
				t.Errorf("%s is not the tile of %s", target, xyz)
			}
			if got := got.Header().Get("Cache-Control"); got != answer.CacheForever {
				t.Errorf("Cache-Control of %s = %q", target, got)
			}
		}
	}
}

func TestOGCTiles(t *testing.T) {
	s, service := tileServer(t)
	get(t, s, http.StatusOK, ogcTileURL+"?f=png&datetime=2026-11-02T12:00:00Z&style=jet")
	if service.asked.Tile.X != 33 || service.asked.Tile.Y != 21 || service.asked.Style != "heat" || service.week.String() != "2026-W45" {
		t.Errorf("asks for %+v of %s, want column 33, row 21 of W45", service.asked, service.week)
	}
	get(t, s, http.StatusOK, ogcVectorURL+"?f=mvt&datetime=2026-11-02")
	if service.asked.Tile.X != 33 || service.asked.Tile.Y != 21 || service.week.String() != "2026-W45" {
		t.Errorf("asks for %+v of %s, want column 33, row 21 of W45", service.asked, service.week)
	}
	for target, parameters := range map[string][]string{
		ogcTileURL + "?f=mvt":                          {"f"},
		ogcVectorURL + "?f=png":                        {"f"},
		ogcTileURL + "?f=":                             {"f"},
		ogcTileURL + "?datetime=2026-11-02/2026-11-09": {"datetime"},
		ogcTileURL + "?datetime=../..":                 {"datetime"},
		ogcTileURL + "?datetime=2020-01-01":            {"datetime"},
		ogcTileURL + "?datetime=current":               {"datetime"},
		ogcTileURL + "?f=x&datetime=x":                 {"f", "datetime"},
		"/ogc/?f=xml":                                  {"f"},
		"/ogc/map/tiles?f=json&f=json":                 {"f"},
	} {
		wantProblem(t, do(s, http.MethodGet, target), http.StatusBadRequest, parameters...)
	}
	for _, path := range []string{
		"map/tiles/WebMercatorQuad/6/64/0", "map/tiles/WebMercatorQuad/6/0/64", "map/tiles/WebMercatorQuad/19/0/0", "map/tiles/WebMercatorQuad/6/21@2x/33",
		"map/tiles/WebMercatorQuad/6/21/33@2x", "map/tiles/WebMercatorQuad/6/21/33.png", "map/tiles/WebMercatorQuad/06/21/33", "map/tiles/WebMercatorQuad/6/-1/0",
		"map/tiles/WorldCRS84Quad/6/21/33", "map/tiles/WebMercatorQuad/6/21", "map/tiles/WebMercatorQuad/", "tiles/WebMercatorQuad/15/0/0", "tiles/WebMercatorQuad/6/21/33@2x",
		"tileMatrixSets/x", "collections/x",
	} {
		wantProblem(t, do(s, http.MethodGet, "/ogc/"+path), http.StatusNotFound)
	}
	service.err = tiles.ErrBusy
	wantProblem(t, do(s, http.MethodGet, ogcTileURL), http.StatusServiceUnavailable)
}

// The limits include exactly the tiles that exist.
func TestOGCLimits(t *testing.T) {
	opts := testOptions(t)
	opts.MaxZoom = 10
	s := newServer(t, opts, testSource(t))
	for set, deepest := range map[string]string{"/ogc/map/tiles/WebMercatorQuad": "10", "/ogc/tiles/WebMercatorQuad": "10"} {
		limits := object(t, get(t, s, http.StatusOK, set))["tileMatrixSetLimits"].([]any)
		last := limits[len(limits)-1].(map[string]any)
		if len(limits) != 11 || last["tileMatrix"] != deepest || last["maxTileRow"] != 1023.0 || last["maxTileCol"] != 1023.0 || last["minTileRow"] != 0.0 {
			t.Errorf("%d limits of %s end with %v", len(limits), set, last)
		}
		get(t, s, http.StatusOK, set+"/10/1023/1023")
		wantProblem(t, do(s, http.MethodGet, set+"/11/0/0"), http.StatusNotFound)
	}
}

// The set is that of OGC's registry, whose definition has 15 digits.
func TestOGCMatrixSetIsTheRegisteredOne(t *testing.T) {
	var set struct {
		TileMatrices []struct {
			ID               string
			ScaleDenominator float64
			CellSize         float64
			PointOfOrigin    [2]float64
			MatrixWidth      int
		}
	}
	if err := json.Unmarshal(get(t, testServer(t), http.StatusOK, "/ogc/tileMatrixSets/WebMercatorQuad").Body.Bytes(), &set); err != nil {
		t.Fatal(err)
	}
	near := func(got, want float64) bool { return got/want-1 < 1e-13 && want/got-1 < 1e-13 }
	first, last := set.TileMatrices[0], set.TileMatrices[len(set.TileMatrices)-1]
	if !near(first.ScaleDenominator, 559082264.028717) || !near(first.CellSize, 156543.033928041) || first.PointOfOrigin != [2]float64{-20037508.342789244, 20037508.342789244} {
		t.Errorf("first matrix = %+v", first)
	}
	if last.ID != "24" || !near(last.ScaleDenominator, 33.3238997476529) || !near(last.CellSize, 0.0093306919293428) || last.MatrixWidth != 16777216 {
		t.Errorf("last matrix = %+v", last)
	}
}
