package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const nearURL = "/api/v1/bathing-lakes/near"

// distancesOf returns the ids and distances of an answer, in order.
func distancesOf(t *testing.T, body map[string]any) string {
	t.Helper()
	var found []string
	for _, r := range body["lakes"].([]any) {
		record := r.(map[string]any)
		found = append(found, fmt.Sprint(record["id"], " ", record["distance_km"]))
	}
	return strings.Join(found, ", ")
}

func TestNear(t *testing.T) {
	s := testServer(t)
	for _, test := range []struct{ name, query, want string }{
		{"nearest first", "lat=53.5&lon=12.9", "de_mv_never 0, de_mv_scum 12.934, de_mv_high 17.293, de_mv_stale 23.197"},
		{"limit", "lat=53.5&lon=12.9&limit=2", "de_mv_never 0, de_mv_scum 12.934"},
		{"radius, inclusive", "lat=53.5&lon=12.9&radius_km=17.293", "de_mv_never 0, de_mv_scum 12.934, de_mv_high 17.293"},
		{"radius", "lat=53.5&lon=12.9&radius_km=17.292", "de_mv_never 0, de_mv_scum 12.934"},
		{"the very place", "lat=53.5&lon=12.9&radius_km=0", "de_mv_never 0"},
		{"across the antimeridian", "lat=-16.8&lon=-179.9&radius_km=100", "fj_west 43.997, fj_east 63.87"},
		{"nothing there", "lat=90&lon=0&radius_km=1", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := object(t, get(t, s, http.StatusOK, nearURL+"?"+test.query))
			if got := distancesOf(t, body); got != test.want {
				t.Errorf("near = %q, want %q", got, test.want)
			}
			if n := len(body["lakes"].([]any)); body["total_lakes"] != float64(n) {
				t.Errorf("total_lakes = %v of %d", body["total_lakes"], n)
			}
		})
	}
	t.Run("everything from a pole", func(t *testing.T) {
		body := object(t, get(t, s, http.StatusOK, nearURL+"?lat=-90&lon=77&radius_km=20016"))
		if body["total_lakes"] != 8.0 || body["lakes_with_data"] != 6.0 || !strings.HasPrefix(idsOf(t, body), "fj_west fj_east de_by_clean") {
			t.Errorf("near the south pole are %v with data %v: %s", body["total_lakes"], body["lakes_with_data"], idsOf(t, body))
		}
	})
}

func TestANearRecordIsTheStatusRecordAndADistance(t *testing.T) {
	s := testServer(t)
	status := lakesOf(t, object(t, get(t, s, http.StatusOK, statusURL)))
	for id, record := range lakesOf(t, object(t, get(t, s, http.StatusOK, nearURL+"?lat=0&lon=0&radius_km=20016"))) {
		delete(record, "distance_km")
		if fmt.Sprint(record) != fmt.Sprint(status[id]) {
			t.Errorf("record of %s = %v, want %v", id, record, status[id])
		}
	}
}

func TestNearRefusesWrongParameters(t *testing.T) {
	s := testServer(t)
	for query, parameters := range map[string][]string{
		"":                                  {"lon", "lat"},
		"lon=1&lat=":                        {"lat"},
		"lat=91&lon=181":                    {"lon", "lat"},
		"lat=1&lon=1&radius_km=-1":          {"radius_km"},
		"lat=1&lon=1&radius_km=20017":       {"radius_km"},
		"lat=1&lon=1&radius_km=1&limit=0":   {"limit"},
		"lat=x&lon=x&radius_km=x&limit=x":   {"lon", "lat", "radius_km", "limit"},
		"lat=1&lon=1&radius_km=1&date=ever": {"date"},
	} {
		wantProblem(t, do(s, http.MethodGet, nearURL+"?"+query), http.StatusBadRequest, parameters...)
	}
}

func TestMetresWithin(t *testing.T) {
	for metres := range 200_000 {
		if got := metresWithin(kmOf(metres)); got != metres {
			t.Fatalf("metresWithin(%v) = %d, want %d", kmOf(metres), got, metres)
		}
	}
	for km, want := range map[float64]int{0: 0, 0.0009: 0, 0.0019: 1, 20016: 20_016_000} {
		if got := metresWithin(km); got != want {
			t.Errorf("metresWithin(%v) = %d, want %d", km, got, want)
		}
	}
}
