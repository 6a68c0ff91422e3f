package api

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"limnomap/api/answer"
	"limnomap/api/ogc"
	"limnomap/tiles"
)

// document reads the description of the API.
func document(tb testing.TB) *openapi3.T {
	tb.Helper()
	doc, err := openapi3.NewLoader().LoadFromData([]byte(openAPIDocument))
	if err != nil {
		tb.Fatal(err)
	}
	return doc
}

// Generators of code follow references to components only, not into them.
func TestReferencesAreToComponents(t *testing.T) {
	refs := regexp.MustCompile(`"\$ref": "([^"]*)"`).FindAllStringSubmatch(openAPIDocument, -1)
	if len(refs) < 100 {
		t.Fatalf("%d references", len(refs))
	}
	component := regexp.MustCompile(`^#/components/[a-zA-Z]+/[A-Za-z0-9_-]+$`)
	for _, ref := range refs {
		if !component.MatchString(ref[1]) {
			t.Errorf("%s is a reference to a part of a component", ref[1])
		}
	}
}

// Generators make a name of each value of an enumeration: an empty one has none.
func TestEnumerationsHaveNoEmptyValue(t *testing.T) {
	lists := regexp.MustCompile(`"enum": \[([^]]*)\]`).FindAllStringSubmatch(openAPIDocument, -1)
	if len(lists) < 20 {
		t.Fatalf("%d enumerations", len(lists))
	}
	for _, list := range lists {
		if strings.Contains(list[1], `""`) {
			t.Errorf("the enumeration %s has an empty value", list[1])
		}
	}
}

// Generators name types by components, by properties and operations without one, and by some with their own ending, many of them in one
// namespace. A component must not have such a name.
func TestNamesAreUniqueForGenerators(t *testing.T) {
	doc := document(t)
	named := make(map[string]string)
	add := func(what string, parts ...string) {
		name := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(strings.Join(parts, "")))
		if other, ok := named[name]; ok && other != what {
			t.Errorf("generators give %s and %s the same name", other, what)
		}
		named[name] = what
	}
	for name := range doc.Components.Schemas {
		add("the schema "+name, name)
	}
	for name := range doc.Components.Parameters {
		add("the parameter "+name, name)
	}
	for name := range doc.Components.Responses {
		add("the response "+name, name)
	}
	var walk func(name string, schema *openapi3.SchemaRef)
	walk = func(name string, schema *openapi3.SchemaRef) {
		if schema == nil || schema.Ref != "" {
			return
		}
		s := schema.Value
		parts := maps.Clone(s.Properties)
		if s.Items != nil {
			if parts == nil {
				parts = make(openapi3.Schemas)
			}
			parts["item"] = s.Items
		}
		for part, inner := range parts {
			if v := inner.Value; inner.Ref == "" && (len(v.Enum)+len(v.Properties)+len(v.OneOf)+len(v.AnyOf) > 0) {
				add("a part of "+name+", "+part, name, part)
			}
			walk(name+part, inner)
		}
		for _, inner := range slices.Concat(s.OneOf, s.AnyOf, s.AllOf) {
			walk(name, inner)
		}
	}
	for name, schema := range doc.Components.Schemas {
		walk(name, schema)
	}
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for _, ending := range []string{"Params", "Response", "Body", "Result", "Error"} {
				add("the operation "+op.OperationID+" with "+ending, op.OperationID, ending)
			}
		}
	}
}

func TestOpenAPIIsValid(t *testing.T) {
	doc := document(t)
	if !doc.IsOpenAPI31OrLater() {
		t.Errorf("openapi = %s, want 3.1", doc.OpenAPI)
	}
	if err := doc.Validate(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestOpenAPIDescribesEachRouteAndNoOther(t *testing.T) {
	described := make(map[string]bool)
	for path, item := range document(t).Paths.Map() {
		described[path] = true
		for method, op := range item.Operations() {
			if method != http.MethodGet && !strings.HasPrefix(path, pathSubscriptions) {
				t.Errorf("%s %s is described, but all operations are reads", method, path)
			}
			if op.Responses.Status(http.StatusMethodNotAllowed) == nil {
				t.Errorf("405 of %s is not described", path)
			}
		}
	}
	routed := map[string]bool{"/": true} // the page's files, which are not in the list of routes
	for _, route := range testServer(t).handlers.routes(true) {
		routed[route.path] = true
		// Checkers of descriptions refuse paths that end with a slash.
		if path := strings.TrimSuffix(route.path, "/"); !described[route.path] && !described[path] {
			t.Errorf("%s is routed but not described", route.path)
		}
	}
	for path := range described {
		if !routed[path] {
			t.Errorf("%s is described but not routed", path)
		}
	}
}

// A page of another origin may send each header field that the description has, and those that are credentials.
func TestPreflightsAllowWhatIsDescribed(t *testing.T) {
	names := []string{"Authorization", "X-API-Key"}
	for _, parameter := range document(t).Components.Parameters {
		if parameter.Value.In == openapi3.ParameterInHeader {
			names = append(names, parameter.Value.Name)
		}
	}
	if len(names) < 4 {
		t.Fatalf("the description has no more header fields than %v", names)
	}
	s := testServer(t)
	for _, name := range names {
		r := httptest.NewRequest(http.MethodOptions, eventsURL+"/stream", nil)
		r.Header = http.Header{"Origin": {"https://a.example"}, "Access-Control-Request-Method": {"GET"}, "Access-Control-Request-Headers": {name}}
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Header().Get("Access-Control-Allow-Origin") == "" {
			t.Errorf("a page of another origin may not send %s", name)
		}
	}
}

// descriptionRouter finds the operation of a request. The server in the description is relative to its own address, which that
// router does not know.
func descriptionRouter(tb testing.TB) routers.Router {
	tb.Helper()
	doc := document(tb)
	doc.Servers = nil
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		tb.Fatal(err)
	}
	return router
}

// wantDescribed fails unless the description has the answer.
func wantDescribed(t *testing.T, router routers.Router, target string, w *httptest.ResponseRecorder) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, target, nil)
	route, vars, err := router.FindRoute(r)
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	if w.Code == http.StatusNotModified {
		if route.Operation.Responses.Status(w.Code) == nil {
			t.Errorf("304 of %s is not described", target)
		}
		return
	}
	options := &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true}
	if w.Code == http.StatusPartialContent {
		options.ExcludeResponseBody = true // a part of a JSON text is not JSON
	} else if contentType := w.Header().Get("Content-Type"); strings.HasPrefix(contentType, "image/") || contentType == ogc.TypeVector || contentType == answer.TypeXML || strings.HasSuffix(contentType, "+xml") || strings.HasPrefix(contentType, "text/") {
		options.ExcludeResponseBody = true // the bytes of a picture are not described
		content := route.Operation.Responses.Status(w.Code).Value.Content
		if content.Get(contentType) == nil {
			t.Errorf("%s answers with %s, which is not described", target, contentType)
		}
	}
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: vars, Route: route, Options: options},
		Status:                 w.Code,
		Header:                 w.Header(),
		Body:                   io.NopCloser(bytes.NewReader(w.Body.Bytes())),
		Options:                options,
	})
	if err != nil {
		t.Errorf("GET %s = %d: %v", target, w.Code, err)
	}
}

func TestOpenAPIDescribesEachAnswer(t *testing.T) {
	openapi3filter.RegisterBodyDecoder("application/geo+json", openapi3filter.JSONBodyDecoder)
	openapi3filter.RegisterBodyDecoder("application/schema+json", openapi3filter.JSONBodyDecoder)
	openapi3filter.RegisterBodyDecoder("application/prs.coverage+json", openapi3filter.JSONBodyDecoder)
	defer openapi3filter.UnregisterBodyDecoder("application/prs.coverage+json")
	defer openapi3filter.UnregisterBodyDecoder("application/schema+json")
	defer openapi3filter.UnregisterBodyDecoder("application/geo+json")
	router := descriptionRouter(t)

	opts := testOptions(t)
	opts.Notice = "Simulated demo data, not measurements"
	opts.APIRate, opts.TileRate, opts.KeyRate = 1000, 1000, 1000
	s := newServer(t, opts, advisorySource(t))
	for _, test := range []struct {
		status  int
		headers []string
		targets []string
	}{
		{200, nil, []string{"/api/v1/bathing-lakes/status", "/api/v1/bathing-lakes/status?risk=high", "/api/v1/bathing-lakes/history/de_by_clean",
			"/api/v1/bathing-lakes/history/de_by_medium", "/api/v1/bathing-lakes/history/de_mv_never", "/lakes/de_by_clean", "/robots.txt",
			"/api/v1/bathing-lakes/geojson", "/api/v1/bathing-lakes/dates", "/api/v1/bathing-lakes/status?date=2026-11-08",
			"/api/v1/bathing-lakes/geojson?date=2026-11-08", "/api/v1/bathing-lakes/status.csv",
			"/api/v1/bathing-lakes/history/de_by_clean?from=2026-11-10&data_type=satellite", "/api/v1/bathing-lakes/history/de_by_clean.csv",
			"/api/v1/bathing-lakes/near?lat=53&lon=12.8&radius_km=100", "/api/v1/bathing-lakes/search?q=see", "/api/v1/bathing-lakes/stats",
			"/api/v1/bathing-lakes/stats?by=risk&date=2026-11-08", "/api/v1/bathing-lakes/stats?by=trophic", advisoriesURL,
			advisoriesURL + "?active_at=any", advisoriesURL + "?active_at=2026-11-20T12:00:00Z&lake=de_by_clean&min_lat=48",
			advisoriesURL + "?active_at=any&bbox=179,-90,-179,90", pathAdvisoryFeed, pathAdvisory("by-2026-17"), "/api/v1/tiles/6/33/21.png",
			"/api/v1/tiles/6/33/21@2x.png?style=dots&date=2026-11-16", vectorURL, tileURL + "?time=2026-11-16", wmtsURL, wmtsTileURL, "/wms", wmsMapURL,
			"/wmts/1.0.0/WMTSCapabilities.xml", "/ogc", "/ogc/conformance", "/ogc/collections", "/ogc/collections/chlorophyll?f=json", "/ogc/collections/lakes", "/ogc/collections/lakes/queryables",
			"/ogc/collections/lakes/items?geometry=outline", "/ogc/api", pathMap + "?bbox=11,48,13,54&width=20", "/ogc/map?width=20", "/ogc/collections/lakes/items?f=csv", "/ogc/collections/observations/items?limit=1", "/ogc/collections/advisories/items", "/ogc/collections/events/items?f=html", "/ogc/collections/lakes/items/de_by_clean", "/ogc?f=html",
			"/ogc/collections/observations", pathSeries + "locations", pathSeries + "locations/de_by_clean", pathSeries + "locations/de_by_clean?f=CSV", pathSeries + "position?coords=POINT(11.5%2048)&parameter-name=chl",
			pathSeries + "radius?coords=POINT(11.5%2048)&within=900&within-units=km&f=GeoJSON", pathSeries + "area?coords=POLYGON((11%2047,12%2047,12%2049,11%2047))", pathSeries + "cube?bbox=11,48,13,54",
			pathLakePixels + "locations", wmtsInfoURL + "&i=1&j=2&infoformat=text/html",
			"/ogc/tileMatrixSets", "/ogc/tileMatrixSets/WebMercatorQuad", "/ogc/map/tiles", "/ogc/map/tiles/WebMercatorQuad", "/ogc/tiles",
			"/ogc/tiles/WebMercatorQuad", ogcTileURL, ogcVectorURL, "/api/v1/tiles.json", vectorJSONURL, "/api/v1/styles", "/api/v1/legend.json",
			"/api/v1/legend.svg", "/api/v1/legend.png", "/openapi.json", "/", "/page.json", "/embed?lake=de_by_clean&style=dots&date=2026-11-16&lang=de",
			"/docs", "/table", "/table?q=&risk=&sort=value&lang=", "/lakes/de_by_clean/sign?lang=de", "/lakes/de_by_clean/preview.png?lang=de",
			"/lakes/de_by_clean/badge.svg?lang=", "/healthz", "/readyz", "/metrics",
		}},
		{400, nil, []string{"/api/v1/bathing-lakes/status?risk=none", "/api/v1/bathing-lakes/history/de_by_clean?limit=0", "/lakes/de_by_clean?lang=xx",
			"/api/v1/bathing-lakes/geojson?date=never", "/api/v1/bathing-lakes/status.csv?risk=none",
			"/api/v1/bathing-lakes/history/de_by_clean.csv?to=now", "/api/v1/bathing-lakes/near", "/api/v1/bathing-lakes/search?q=",
			"/api/v1/bathing-lakes/stats?by=name", advisoriesURL + "?active_at=2026", advisoriesURL + "?bbox=1,2,3,4&min_lat=1",
			"/api/v1/tiles/6/33/21.png?style=jet", vectorURL + "?date=2020-01-01", "/wmts?request=GetMap&service=WMTS", "/ogc?f=xml", "/ogc/collections/lakes/items?bbox=1", pathSeries + "cube?bbox=1",
			ogcTileURL + "?f=mvt", ogcVectorURL + "?datetime=2026-11-16/..", vectorJSONURL + "?date=2020-01-01", "/api/v1/tiles.json?style=",
			"/api/v1/legend.png?width=1", "/embed?bbox=1,2,3", "/table?risk=no", "/lakes/de_by_clean/badge.svg?lang=xx",
		}},
		{304, []string{"If-None-Match", "*"}, []string{"/api/v1/bathing-lakes/status", advisoriesURL + "?active_at=any", pathAdvisoryFeed, vectorURL,
			wmtsURL, "/embed", "/docs", "/table", "/lakes/de_by_clean/sign",
		}},
		{406, []string{"Accept-Encoding", "identity;q=0, *;q=0"}, []string{"/api/v1/bathing-lakes/status", "/wmts/1.0.0/WMTSCapabilities.xml"}},
		{206, []string{"Range", "bytes=0-9,20-29"}, []string{"/api/v1/bathing-lakes/status"}},
		{416, []string{"Range", "bytes=9999999-"}, []string{"/api/v1/bathing-lakes/status", "/api/v1/tiles/6/33/21.png", vectorURL}},
		{412, []string{"If-Match", `"older"`}, []string{"/api/v1/bathing-lakes/status", pathAdvisory("by-2026-17"), vectorURL, wmtsTileURL}},
		{404, nil, []string{"/api/v1/bathing-lakes/history/nowhere", "/lakes/nowhere", "/sitemap.xml", "/sitemap/1.xml",
			"/api/v1/bathing-lakes/history/nowhere.csv", forecastURL, advisoriesURL + "?lake=nowhere", pathAdvisory("nothing"), pathSwimGuide,
			"/api/v1/tiles/6/64/21.png", "/api/v1/tiles/6/64/21.mvt", "/ogc/map/tiles/WebMercatorQuad/6/64/0", "/ogc/collections/none/items", "/ogc/collections/lakes/items/none", pathSeries + "locations/none", pathSeries + "position?coords=POINT(0%200)", "/contact-logo.svg", "/contact-logo.png",
			"/lakes/nowhere/sign", "/lakes/nowhere/preview.png",
		}},
		{401, nil, []string{"/api/v1/monitor/lakes"}},
		{200, []string{"X-API-Key", goodKey}, []string{"/api/v1/monitor/lakes"}},
		{403, []string{"X-API-Key", metricsKey}, []string{"/api/v1/monitor/lakes"}},
		{400, []string{"X-API-Key", goodKey}, []string{"/api/v1/monitor/lakes?limit=5001"}},
		{206, []string{"Range", "bytes=0-3"}, []string{"/api/v1/tiles/6/33/21.png", vectorURL}},
		{200, []string{"Accept-Encoding", "gzip"}, []string{vectorURL}},
		{406, []string{"Accept-Encoding", "identity;q=0"}, []string{vectorURL, ogcVectorURL}},
	} {
		for _, target := range test.targets {
			t.Run(target, func(t *testing.T) { wantDescribed(t, router, target, get(t, s, test.status, target, test.headers...)) })
		}
	}

	t.Run("pixels", func(t *testing.T) {
		s, _ := pixelServer(t)
		for _, query := range []string{"locations/de_mv_high", "locations/de_by_clean?f=GeoJSON", "position?coords=POINT(12.704%2053.404)", "area?coords=POLYGON((12%2053,13%2053,13%2054,12%2053))", "cube?bbox=11,48,13,54&parameter-name=chl"} {
			wantDescribed(t, router, pathLakePixels+query, get(t, s, http.StatusOK, pathLakePixels+query))
		}
		wantDescribed(t, router, pathLakePixels+"position?coords=POINT(0%200)", get(t, s, http.StatusNotFound, pathLakePixels+"position?coords=POINT(0%200)"))
	})

	t.Run("forecasts", func(t *testing.T) {
		s := forecastServer(t)
		for _, lake := range []string{"de_by_clean", "de_mv_high?issued=2026-11-09", "de_mv_stale", "de_mv_never", "de_by_clean.csv?issued=2026-11-09"} {
			wantDescribed(t, router, historyURL+lake, get(t, s, http.StatusOK, historyURL+lake))
		}
		for _, kind := range []string{"", ".csv", ".geojson"} {
			wantDescribed(t, router, forecastURL+kind, get(t, s, http.StatusOK, forecastURL+kind))
			query := kind + "?week=3&min_lat=40&issued=2026-11-09"
			wantDescribed(t, router, forecastURL+query, get(t, s, http.StatusOK, forecastURL+query))
			wantDescribed(t, router, forecastURL+kind, get(t, s, http.StatusBadRequest, forecastURL+kind+"?week=5"))
			wantDescribed(t, router, forecastURL+kind, get(t, testServer(t), http.StatusNotFound, forecastURL+kind))
			wantDescribed(t, router, forecastURL+kind, get(t, s, http.StatusNotModified, forecastURL+kind, "If-None-Match", "*"))
		}
	})
	t.Run("oEmbed", func(t *testing.T) {
		s := oEmbedServer(t)
		for target, status := range map[string]int{
			oEmbedOf(oEmbedSite+"/lakes/de_mv_high", ""): 200, oEmbedOf(oEmbedSite+"/", ""): 200, oEmbedOf(oEmbedSite+"/", "&format=xml"): 200, oEmbedOf(oEmbedSite+"/", "&format=x"): 501,
			oEmbedOf("https://example.org", ""): 404, "/oembed": 400,
		} {
			wantDescribed(t, router, target, get(t, s, status, target))
		}
		to := *s.common.adjustable()
		if err := to.FrameAncestors.UnmarshalText([]byte("none")); err != nil {
			t.Fatal(err)
		}
		s.Adjust(to)
		wantDescribed(t, router, oEmbedOf(oEmbedSite+"/", ""), get(t, s, http.StatusForbidden, oEmbedOf(oEmbedSite+"/", "")))
	})
	t.Run("contact", func(t *testing.T) {
		opts := testOptions(t)
		opts.Contact = Contact{"Office", "https://example.org", Logo{[]byte("<svg/>"), true}}
		s := newServer(t, opts, nil)
		wantDescribed(t, router, "/page.json", get(t, s, http.StatusOK, "/page.json"))
		wantDescribed(t, router, "/contact-logo.svg", get(t, s, http.StatusOK, "/contact-logo.svg"))
		opts.Contact.Logo = Logo{[]byte("\x89PNG"), false}
		s.Adjust(opts.Adjustable)
		wantDescribed(t, router, "/contact-logo.png", get(t, s, http.StatusOK, "/contact-logo.png"))
	})
	t.Run("shedding load", func(t *testing.T) {
		opts := testOptions(t)
		opts.Tiles = &fakeTiles{err: tiles.ErrBusy}
		for _, target := range []string{tileURL, vectorURL} {
			opts.Registry = nil
			wantDescribed(t, router, target, get(t, newServer(t, opts, testSource(t)), http.StatusServiceUnavailable, target))
		}
	})
	t.Run("before the first snapshot", func(t *testing.T) {
		s := newServer(t, testOptions(t), nil)
		for _, target := range []string{"/api/v1/bathing-lakes/status", "/readyz", "/table", pathAdvisoryFeed, pathAdvisory("by-2026-17"), pathSwimGuide, "/api/v1/tiles.json", vectorJSONURL, vectorURL, wmtsURL, wmtsTileURL, "/ogc", ogcTileURL, ogcVectorURL} {
			wantDescribed(t, router, target, get(t, s, http.StatusServiceUnavailable, target))
		}
		wantDescribed(t, router, "/page.json", get(t, s, http.StatusOK, "/page.json"))
	})
	t.Run("too many requests", func(t *testing.T) {
		opts := testOptions(t)
		opts.APIRate = 1
		s := newServer(t, opts, testSource(t))
		const target = "/api/v1/bathing-lakes/geojson"
		get(t, s, http.StatusOK, target)
		wantDescribed(t, router, target, get(t, s, http.StatusTooManyRequests, target))
	})
}
