package api

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"limnomap/colormap"
)

const statusURL = "/api/v1/bathing-lakes/status"

// lakesOf returns the records of a status by id.
func lakesOf(t *testing.T, body map[string]any) map[string]map[string]any {
	t.Helper()
	records := make(map[string]map[string]any)
	for _, r := range body["lakes"].([]any) {
		record := r.(map[string]any)
		records[record["id"].(string)] = record
	}
	return records
}

// idsOf returns the ids of a status in order.
func idsOf(t *testing.T, body map[string]any) string {
	t.Helper()
	var ids []string
	for _, r := range body["lakes"].([]any) {
		ids = append(ids, r.(map[string]any)["id"].(string))
	}
	return strings.Join(ids, " ")
}

func TestStatusEnvelopeAndRecord(t *testing.T) {
	w := get(t, testServer(t), http.StatusOK, statusURL)
	body := object(t, w)
	if got := body["generated_at"]; got != "2026-11-19T06:30:00Z" {
		t.Errorf("generated_at = %v, want when the data were committed", got)
	}
	if body["total_lakes"] != 8.0 || body["lakes_with_data"] != 6.0 || body["data_date"] != "2026-11-16" || len(body) != 5 {
		t.Errorf("total_lakes, lakes_with_data = %v, %v of %d members, want 8, 6 of 5 and the newest value",
			body["total_lakes"], body["lakes_with_data"], len(body))
	}
	scale, err := colormap.New(colormap.Default, testOptions(t).Limits)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"id": "de_by_medium", "name": `Grüner "See" <&>`, "lat": 48.5, "lon": 12.0, "chl": 10.0, "who_level": 1.0,
		"cell_density_cells_ml": 20000.0, "risk": "medium", "color": colormap.Hex(scale.Color(10)),
		"trophic": "unknown", "measured_at": "2026-11-09T00:00:00Z",
		"chl_level": 1.0, "level_by": "chlorophyll", "measured_by": "satellite", "stale": false, "age_days": 11.0, "advisory": nil, "cell_density_by": "derived", "below_limit": false, "trophic_by": nil,
	}
	if got := lakesOf(t, body)["de_by_medium"]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("record = %v\nwant     %v", got, want)
	}
}

func TestStatusOfLakesWithoutAValue(t *testing.T) {
	lakes := lakesOf(t, object(t, get(t, testServer(t), http.StatusOK, statusURL)))
	for id, want := range map[string]struct{ risk, measuredAt any }{
		"de_mv_stale": {"high", "2026-08-03T00:00:00Z"}, // of the last known value, of any age
		"de_mv_never": {nil, nil},
	} {
		r := lakes[id]
		for _, name := range []string{"chl", "who_level", "cell_density_cells_ml"} {
			if value, ok := r[name]; !ok || value != nil {
				t.Errorf("%s of %s = %v, want null", name, id, value)
			}
		}
		if r["color"] != "#9aa0a6" || r["trophic"] != "unknown" {
			t.Errorf("color, trophic of %s = %v, %v, want the grey and unknown", id, r["color"], r["trophic"])
		}
		if stale := want.risk != nil; r["stale"] != stale || (r["age_days"] == 109.0) != stale || (r["age_days"] == nil) == stale {
			t.Errorf("stale, age_days of %s = %v, %v, want %v", id, r["stale"], r["age_days"], stale)
		}
		if r["risk"] != want.risk || r["measured_at"] != want.measuredAt {
			t.Errorf("risk, measured_at of %s = %v, %v, want %v", id, r["risk"], r["measured_at"], want)
		}
	}
}

func TestStatusKeepsALevelAndACountThatTheSourceBrings(t *testing.T) {
	lakes := lakesOf(t, object(t, get(t, testServer(t), http.StatusOK, statusURL)))
	if r := lakes["de_by_clean"]; r["chl"] != 3.45 || r["measured_at"] != "2026-11-16T00:00:00Z" { // a forecast is no current value
		t.Errorf("chl, measured_at = %v, %v, want the newest pass of a satellite", r["chl"], r["measured_at"])
	}
	if r := lakes["de_mv_scum"]; r["who_level"] != 3.0 || r["risk"] != "high" {
		t.Errorf("level, risk of a lake with scum = %v, %v, want 3, high", r["who_level"], r["risk"])
	}
	if r := lakes["de_mv_high"]; r["cell_density_cells_ml"] != 250000.0 {
		t.Errorf("cell density = %v, want the counted 250000", r["cell_density_cells_ml"])
	}
}

func TestStatusFilters(t *testing.T) {
	s := testServer(t)
	for _, test := range []struct {
		name, query, want string
		withData          float64
	}{
		{"north", "min_lat=53", "de_mv_high de_mv_never de_mv_scum de_mv_stale", 2},
		{"bounds are inclusive", "min_lat=48&max_lat=48.5&min_lon=11.5&max_lon=12", "de_by_clean de_by_medium", 2},
		{"across the antimeridian", "min_lon=179&max_lon=-179", "fj_east fj_west", 2},
		{"risk low", "risk=low", "de_by_clean fj_east", 2},
		{"risk of current values", "risk=high", "de_mv_high de_mv_scum", 2},
		{"risk of a missing value is the last known", "risk=high&include_stale=true", "de_mv_high de_mv_scum de_mv_stale", 2},
		{"combined", "risk=medium&max_lon=0", "fj_west", 1},
		{"nothing there", "min_lat=80", "", 0},
		{"unknown parameters are ignored", "risk=medium&max_lon=0&colour=red&day=yesterday&%zz=1", "fj_west", 1},
		{"the whole world", "min_lat=-90&max_lat=90&min_lon=-180&max_lon=180",
			"de_by_clean de_by_medium de_mv_high de_mv_never de_mv_scum de_mv_stale fj_east fj_west", 6},
		{"escaped names", "min%5Flat=8e1", "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := object(t, get(t, s, http.StatusOK, statusURL+"?"+test.query))
			if got := idsOf(t, body); got != test.want {
				t.Errorf("lakes = %q, want %q", got, test.want)
			}
			total := float64(len(strings.Fields(test.want)))
			if body["total_lakes"] != total || body["lakes_with_data"] != test.withData {
				t.Errorf("total_lakes, lakes_with_data = %v, %v, want %v, %v: the records that the answer holds",
					body["total_lakes"], body["lakes_with_data"], total, test.withData)
			}
		})
	}
}

// rawLakes returns the unparsed records of a status.
func rawLakes(t *testing.T, w *httptest.ResponseRecorder) []string {
	t.Helper()
	var status struct{ Lakes []json.RawMessage }
	if err := json.Unmarshal(w.Body.Bytes(), &status); err != nil {
		t.Fatal(err)
	}
	lakes := make([]string, len(status.Lakes))
	for i, lake := range status.Lakes {
		lakes[i] = string(lake)
	}
	return lakes
}

func TestAFilterLeavesRecordsAsTheyAre(t *testing.T) {
	s := testServer(t)
	north := rawLakes(t, get(t, s, http.StatusOK, statusURL+"?min_lat=0"))
	south := rawLakes(t, get(t, s, http.StatusOK, statusURL+"?max_lat=0"))
	all := rawLakes(t, get(t, s, http.StatusOK, statusURL))
	if got := slices.Concat(north, south); len(south) == 0 || !slices.Equal(got, all) {
		t.Errorf("north and south of the equator are\n%q\nand all lakes\n%q", got, all)
	}
}

func TestAFilterThatLeavesAllLakesGivesThePreparedAnswer(t *testing.T) {
	s := testServer(t)
	for _, coding := range []string{"identity", "gzip", "br", "zstd"} {
		want := get(t, s, http.StatusOK, statusURL, "Accept-Encoding", coding)
		got := get(t, s, http.StatusOK, statusURL+"?min_lat=-90", "Accept-Encoding", coding)
		if got.Body.String() != want.Body.String() || got.Header().Get("ETag") != want.Header().Get("ETag") {
			t.Errorf("in %s the box of all lakes has another answer than no box", coding)
		}
	}
}

func TestStatusRefusesWrongParameters(t *testing.T) {
	s := testServer(t)
	for query, parameters := range map[string][]string{
		"min_lat=north":                      {"min_lat"},
		"min_lat=90.0001":                    {"min_lat"},
		"min_lat=50&max_lat=49":              {"min_lat"},
		"risk=extreme":                       {"risk"},
		"risk=low&risk=low":                  {"risk"},
		"min_lat=1&min%5flat=2":              {"min_lat"},
		"min_lat=x&max_lon=y&risk=z":         {"min_lat", "max_lon", "risk"},
		"min_lat=" + url.QueryEscape("48,5"): {"min_lat"},
	} {
		t.Run(query, func(t *testing.T) {
			wantProblem(t, do(s, http.MethodGet, statusURL+"?"+query), http.StatusBadRequest, parameters...)
		})
	}
	t.Run("names the mistake and the allowed values", func(t *testing.T) {
		got := do(s, http.MethodGet, statusURL+"?max_lon=200").Body.String()
		if !strings.Contains(got, "200") || !strings.Contains(got, "from -180 to 180") {
			t.Errorf("problem = %s, want the value and the range", got)
		}
	})
}

func TestGeoJSON(t *testing.T) {
	w := get(t, testServer(t), http.StatusOK, "/api/v1/bathing-lakes/geojson?day=ignored")
	if got := w.Header().Get("Content-Type"); got != "application/geo+json" {
		t.Errorf("Content-Type = %q", got)
	}
	body := object(t, w)
	features := body["features"].([]any)
	if body["type"] != "FeatureCollection" || len(features) != 8 {
		t.Fatalf("got a %v of %d features, want a FeatureCollection of every lake", body["type"], len(features))
	}
	never := features[3].(map[string]any)
	want := map[string]any{
		"type":     "Feature",
		"geometry": map[string]any{"type": "Point", "coordinates": []any{12.9, 53.5}},
		"properties": map[string]any{"id": "de_mv_never", "name": "Unbekannt", "chl": nil, "who_level": nil, "color": "#9aa0a6",
			"stale": false, "age_days": nil, "advisory": "", "cell_density_by": nil, "below_limit": false},
	}
	if fmt.Sprint(never) != fmt.Sprint(want) {
		t.Errorf("feature = %v, want %v", never, want)
	}
}

func TestColorInStatusAndLegendAgree(t *testing.T) {
	s := testServer(t)
	legend := object(t, get(t, s, http.StatusOK, "/api/v1/legend.json"))
	for id, r := range lakesOf(t, object(t, get(t, s, http.StatusOK, statusURL))) {
		chl, ok := r["chl"].(float64)
		if !ok {
			if grey := legend["no_data"].(map[string]any)["color"]; r["color"] != grey {
				t.Errorf("color of %s = %v, legend says %v", id, r["color"], grey)
			}
			continue
		}
		for _, step := range legend["steps"].([]any) {
			step := step.(map[string]any)
			from, to := math.Inf(-1), math.Inf(1)
			if f, ok := step["from"].(float64); ok {
				from = f
			}
			if f, ok := step["to"].(float64); ok {
				to = f
			}
			if chl >= from && chl < to && r["color"] != step["color"] {
				t.Errorf("color of %s at %v = %v, legend says %v", id, chl, r["color"], step["color"])
			}
		}
	}
}

func TestAnEmptySnapshotIsAnAnswer(t *testing.T) {
	s := newServer(t, testOptions(t), &fakeSource{})
	body := object(t, get(t, s, http.StatusOK, statusURL))
	if lakes, ok := body["lakes"].([]any); !ok || len(lakes) != 0 {
		t.Errorf("lakes = %v, want an empty array", body["lakes"])
	}
	if features, ok := object(t, get(t, s, http.StatusOK, "/api/v1/bathing-lakes/geojson"))["features"].([]any); !ok || len(features) != 0 {
		t.Errorf("features = %v, want an empty array", features)
	}
	wantProblem(t, do(s, http.MethodGet, "/api/v1/tiles/0/0/0.png?date=2026-11-16"), http.StatusBadRequest, "date")
	bounds := object(t, get(t, s, http.StatusOK, "/api/v1/tiles.json"))["bounds"]
	if want := []any{-180.0, -85.0511, 180.0, 85.0511}; fmt.Sprint(bounds) != fmt.Sprint(want) {
		t.Errorf("bounds = %v, want the world %v", bounds, want)
	}
}
