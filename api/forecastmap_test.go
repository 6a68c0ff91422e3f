package api

import (
	"bytes"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"limnomap/api/answer"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/forecast"
	"limnomap/render"
	"limnomap/tiles"
)

// testIssue is testSource with an issue of the forecast: of that value in the first week and more in the next, for all lakes but the first.
func testIssue(tb testing.TB, chl data.TenThousandths) *fakeSource {
	f := testSource(tb)
	issue := fakeIssue{ForecastIssue: data.ForecastIssue{Issued: date(tb, "2026-11-18"), Model: forecast.Model, Weeks: 2}}
	for i, l := range f.lakes {
		of := data.LakeForecast{LakeID: l.ID, BasedOn: issue.Issued - 30, Withheld: forecast.FewValues}
		if i > 0 {
			of.Withheld = forecast.None
			of.Weeks[0], of.Weeks[1] = data.StoredForecast{Chl: chl, Sigma: 5000}, data.StoredForecast{Chl: chl + 10_000, Sigma: 5000}
		}
		issue.lakes = append(issue.lakes, of)
	}
	f.issues = []fakeIssue{issue}
	return f
}

func publishIssue(tb testing.TB, s *Server, chl data.TenThousandths) {
	tb.Helper()
	if err := s.Publish(testSnapshot(tb, testIssue(tb, chl))); err != nil {
		tb.Fatal(err)
	}
}

func TestForecastTiles(t *testing.T) {
	s, service := tileServer(t)
	publishIssue(t, s, 9_0000)
	for _, test := range []struct {
		target string
		style  tiles.StyleID
		scale  int
	}{
		{tileURL + "?forecast=1", "heat", 1},
		{tileURL + "?forecast=2&style=lakes", "lakes", 1},
		{strings.Replace(tileURL, ".png", "@2x.png", 1) + "?forecast=2&style=heat&v=1", "heat", 2},
	} {
		w := get(t, s, http.StatusOK, test.target)
		if got := service.asked; got.Style != test.style || got.Scale != test.scale || got.Colormap != colormap.Forecast || got.Filter != 0 {
			t.Errorf("%s asks for %+v, want the style %s of the forecast at scale %d", test.target, got, test.style, test.scale)
		}
		if got := w.Header().Get("Cache-Control"); got != cacheTile {
			t.Errorf("Cache-Control of %s = %q, want %q", test.target, got, cacheTile)
		}
	}
	get(t, s, http.StatusOK, tileURL)
	if service.asked.Colormap != colormap.Default {
		t.Errorf("without forecast= asks for %+v", service.asked)
	}
	for query, parameters := range map[string][]string{
		"forecast=0": {"forecast"}, "forecast=5": {"forecast"}, "forecast=": {"forecast"}, "forecast=%2B1": {"forecast"}, "forecast=x": {"forecast"},
		"forecast=1&forecast=1":               {"forecast"},
		"forecast=1&date=2026-11-16":          {"date"},
		"forecast=1&time=current":             {"time"},
		"forecast=1&colormap=viridis":         {"colormap"},
		"forecast=1&style=lakes&risk=high":    {"risk"},
		"forecast=1&date=2026-11-16&style=no": {"date", "style"},
		"colormap=forecast":                   {"colormap"},
		"forecast=1&of=low":                   {"of"},
		"forecast=1&of=high&of=high":          {"of"},
		"of=high":                             {"of"},
	} {
		wantProblem(t, do(s, http.MethodGet, tileURL+"?"+query), http.StatusBadRequest, parameters...)
	}
	for query, want := range map[string]string{
		"forecast=1&style=dots":      `\"dots\" is none of heat, lakes`,
		"forecast=1&date=2026-11-16": "given together with forecast",
	} {
		if body := do(s, http.MethodGet, tileURL+"?"+query).Body.String(); !strings.Contains(body, want) {
			t.Errorf("problem of %s = %s, want it to contain %s", query, body, want)
		}
	}
}

// A vector tile has values: in place of a forecast they would be taken for one.
func TestNoForecastInVectorTiles(t *testing.T) {
	s, _ := tileServer(t)
	publishIssue(t, s, 9_0000)
	w := do(s, http.MethodGet, vectorURL+"?forecast=1")
	wantProblem(t, w, http.StatusBadRequest, "forecast")
	if !strings.Contains(w.Body.String(), "/api/v1/bathing-lakes/forecast.geojson") {
		t.Errorf("problem = %s, want it to name the forecasts as GeoJSON", w.Body)
	}
}

func TestNoForecastOfThatWeek(t *testing.T) {
	s, _ := tileServer(t)
	for _, target := range []string{tileURL, tileJSONURL} {
		w := do(s, http.MethodGet, target+"?forecast=1")
		wantProblem(t, w, http.StatusNotFound)
		if !strings.Contains(w.Body.String(), "There is no forecast") {
			t.Errorf("problem of %s = %s, want it to say that there is no forecast", target, w.Body)
		}
	}
	publishIssue(t, s, 9_0000)
	for _, target := range []string{tileURL, tileJSONURL} {
		w := do(s, http.MethodGet, target+"?forecast=3")
		wantProblem(t, w, http.StatusNotFound)
		if !strings.Contains(w.Body.String(), "of 2026-11-18, has no week 3 ahead, only 1 to 2") {
			t.Errorf("problem of %s = %s, want it to say which weeks there are", target, w.Body)
		}
	}
}

// TestForecastTileJSON follows the addresses of the description: they are immutable until the next issue, whose tiles have other addresses, while
// those of the map keep theirs.
func TestForecastTileJSON(t *testing.T) {
	s, service := tileServer(t)
	publishIssue(t, s, 9_0000)
	fill := strings.NewReplacer("{z}", "6", "{x}", "33", "{y}", "21")
	ofMap := fill.Replace(tileTemplate(t, s, tileJSONURL))
	target := fill.Replace(tileTemplate(t, s, tileJSONURL+"?forecast=2&style=lakes"))
	caching := func(target, want string) {
		t.Helper()
		if got := get(t, s, http.StatusOK, target).Header().Get("Cache-Control"); got != want {
			t.Errorf("Cache-Control of %s = %q, want %q", target, got, want)
		}
	}
	caching(target, answer.CacheForever)
	if got := service.asked; got.Colormap != colormap.Forecast || got.Style != "lakes" || !strings.Contains(target, "forecast=2") {
		t.Errorf("%s asks for %+v", target, got)
	}
	caching(ofMap, answer.CacheForever)
	// The version of the map does not make a forecast immutable, nor the other way round.
	_, version, _ := strings.Cut(ofMap, "v=")
	caching(tileURL+"?forecast=2&v="+version, cacheTile)
	_, version, _ = strings.Cut(target, "v=")
	caching(tileURL+"?v="+version, cacheTile)

	body := object(t, get(t, s, http.StatusOK, tileJSONURL+"?forecast=2"))
	for name, want := range map[string]string{
		"name": "limnomap forecast of 2026-12-02", "snapshot": version, "legend_url": "/api/v1/legend.svg?forecast=2",
		"description": "Hatched: probability that chlorophyll-a reaches 10 µg/l, 14 days after 2026-11-18.",
	} {
		if got, _ := body[name].(string); !strings.HasPrefix(got, want) {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	get(t, s, http.StatusOK, body["legend_url"].(string))

	publishIssue(t, s, 30_0000)
	caching(target, cacheTile)
	caching(ofMap, answer.CacheForever)
	if again := fill.Replace(tileTemplate(t, s, tileJSONURL)); again != ofMap {
		t.Errorf("another issue changes the address of the map's tiles from %s to %s", ofMap, again)
	}
	if again := fill.Replace(tileTemplate(t, s, tileJSONURL+"?forecast=2&style=lakes")); again == target {
		t.Errorf("another issue does not change %s", target)
	}
	wantProblem(t, do(s, http.MethodGet, tileJSONURL+"?forecast=1&date=2026-11-16&colormap=viridis"), http.StatusBadRequest, "date", "colormap")
}

// TestForecastIsDrawn draws with the real renderer: the tile of a week is neither that of another week nor that of the map, and the tile of the map is
// the same with and without a forecast.
func TestForecastIsDrawn(t *testing.T) {
	opts := testOptions(t)
	service, err := tiles.New(render.New(opts.Limits), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	opts.Tiles, opts.Styles = service, render.Styles()
	s := newServer(t, opts, testSource(t))
	const at = "/api/v1/tiles/6/34/20.png"
	without := get(t, s, http.StatusOK, at)
	publishIssue(t, s, 9_0000)
	pictures := map[string]string{}
	for _, query := range []string{"", "?forecast=1", "?forecast=1&of=high", "?forecast=2", "?style=lakes", "?forecast=1&style=lakes"} {
		w := get(t, s, http.StatusOK, at+query)
		if _, err := png.Decode(bytes.NewReader(w.Body.Bytes())); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		if bytes.Equal(w.Body.Bytes(), render.Blank(1)) {
			t.Errorf("%q is blank", query)
		}
		if other, ok := pictures[w.Body.String()]; ok {
			t.Errorf("the tiles of %q and %q are equal", query, other)
		}
		pictures[w.Body.String()] = query
	}
	if medium := get(t, s, http.StatusOK, at+"?forecast=1&of=medium").Body.String(); pictures[medium] != "?forecast=1" {
		t.Error("of=medium is not the default")
	}
	with := get(t, s, http.StatusOK, at)
	if !bytes.Equal(with.Body.Bytes(), without.Body.Bytes()) || with.Header().Get("ETag") != without.Header().Get("ETag") {
		t.Error("a forecast changes a tile of the map")
	}
	before := get(t, s, http.StatusOK, at+"?forecast=1")
	publishIssue(t, s, 30_0000)
	if w := get(t, s, http.StatusOK, at+"?forecast=1"); w.Header().Get("ETag") == before.Header().Get("ETag") {
		t.Error("another issue does not change its tile")
	}
}

func TestForecastLegends(t *testing.T) {
	opts := testOptions(t)
	legends := &fakeLegends{}
	opts.Legends = legends
	s := newServer(t, opts, nil) // a legend needs no forecast
	for _, test := range []struct{ target, holds string }{
		{"/api/v1/legend.json?forecast=1", `"quantity":"probability that chlorophyll-a reaches 10 µg/l"`},
		{"/api/v1/legend.json?forecast=4", `"pattern":"hatched"`},
		{"/api/v1/legend.svg?forecast=1", "forecast"},
		{"/api/v1/legend.png?forecast=3&width=200&scale=2", "forecast 200 2"},
	} {
		if got := get(t, s, http.StatusOK, test.target).Body.String(); !strings.Contains(got, test.holds) {
			t.Errorf("%s = %.200s, want it to contain %s", test.target, got, test.holds)
		}
	}
	drawn := legends.drawn.Load()
	for _, target := range []string{"/api/v1/legend.svg?forecast=2", "/api/v1/legend.svg?forecast=4&style=heat"} {
		get(t, s, http.StatusOK, target)
	}
	if got := legends.drawn.Load(); got != drawn {
		t.Error("the legends of two weeks are drawn apart")
	}
	for query, parameter := range map[string]string{
		"forecast=0": "forecast", "forecast=5": "forecast", "forecast=1&colormap=limno": "colormap", "forecast=1&style=dots": "style", "colormap=forecast": "colormap",
	} {
		for _, form := range []string{"json", "svg", "png"} {
			wantProblem(t, do(s, http.MethodGet, "/api/v1/legend."+form+"?"+query), http.StatusBadRequest, parameter)
		}
	}
}

// TestOpenAPIDescribesForecastMaps compares the answers about the map of a forecast with the OpenAPI document.
func TestOpenAPIDescribesForecastMaps(t *testing.T) {
	router := descriptionRouter(t)
	s := newServer(t, testOptions(t), nil)
	publishIssue(t, s, 9_0000)
	for target, status := range map[string]int{
		tileURL + "?forecast=1": 200, tileURL + "?forecast=4": 404, tileURL + "?forecast=5": 400, tileJSONURL + "?forecast=1": 200, tileJSONURL + "?forecast=4": 404,
		"/api/v1/legend.json?forecast=1": 200, "/api/v1/legend.json": 200, "/api/v1/legend.svg?forecast=1": 200, "/api/v1/legend.png?forecast=1": 200,
	} {
		wantDescribed(t, router, target, get(t, s, status, target))
	}
}
