package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

const searchURL = "/api/v1/bathing-lakes/search"

func TestSearch(t *testing.T) {
	s := testServer(t)
	for q, want := range map[string]string{
		"Muritz":     "de_mv_high",
		"MUERITZ":    "de_mv_high",
		"müritz":     "de_mv_high",
		"see":        "de_by_medium de_by_clean fj_east de_mv_scum fj_west de_mv_stale",
		"gruner see": "de_by_medium",
		`"see"`:      "de_by_medium de_by_clean fj_east de_mv_scum fj_west de_mv_stale",
		"de_mv":      "de_mv_high de_mv_scum de_mv_never de_mv_stale",
		"w-4":        "de_mv_never",
		"nowhere":    "",
	} {
		body := object(t, get(t, s, http.StatusOK, searchURL+"?q="+url.QueryEscape(q)))
		if got := idsOf(t, body); got != want {
			t.Errorf("search for %q = %q, want %q", q, got, want)
		}
		if n := float64(len(strings.Fields(want))); body["total_lakes"] != n {
			t.Errorf("search for %q: total_lakes = %v, want %v", q, body["total_lakes"], n)
		}
	}
	body := object(t, get(t, s, http.StatusOK, searchURL+"?q=de&limit=3"))
	if body["total_lakes"] != 3.0 || body["lakes_with_data"] != 3.0 {
		t.Errorf("total_lakes, lakes_with_data with limit=3 = %v, %v", body["total_lakes"], body["lakes_with_data"])
	}
}

func TestSearchByRegion(t *testing.T) {
	source := testSource(t)
	regions := []string{"Bayern", "Bayern", "Mecklenburg-Vorpommern", "Mecklenburg-Vorpommern", "Mecklenburg-Vorpommern", "", "Fidschi", "Fidschi"}
	for i, region := range regions {
		source.lakes[i].Region = region
	}
	s := newServer(t, testOptions(t), source)
	check := func(query, want string) {
		t.Helper()
		if got := idsOf(t, object(t, get(t, s, http.StatusOK, searchURL+"?"+query))); got != want {
			t.Errorf("search for %q = %q, want %q", query, got, want)
		}
	}
	check("q=bayern", "de_by_medium de_by_clean")
	check("q=Vorpommern", "de_mv_high de_mv_scum de_mv_never de_mv_stale") // the last one by its id
	check("q=Vorpommern&limit=2", "de_mv_high de_mv_scum")
	source.lakes[5].Region = "Bayern" // an import that moves a lake to another region, and changes nothing else
	source.revision.Number++
	if err := s.Publish(testSnapshot(t, source)); err != nil {
		t.Fatal(err)
	}
	check("q=bayern", "de_by_medium de_by_clean de_mv_stale")
}

func TestAFoundRecordIsTheStatusRecord(t *testing.T) {
	s := testServer(t)
	status := lakesOf(t, object(t, get(t, s, http.StatusOK, statusURL)))
	found := lakesOf(t, object(t, get(t, s, http.StatusOK, searchURL+"?q=e")))
	if len(found) == 0 {
		t.Fatal("nothing found")
	}
	for id, record := range found {
		if fmt.Sprint(record) != fmt.Sprint(status[id]) {
			t.Errorf("record of %s = %v, want %v", id, record, status[id])
		}
	}
}

func TestSearchRefusesWrongParameters(t *testing.T) {
	s := testServer(t)
	get(t, s, http.StatusOK, searchURL+"?q="+strings.Repeat("%C3%A4", maxSearch))
	for query, parameters := range map[string][]string{
		"":                                      {"q"},
		"q=+-%C2%B4":                            {"q"},
		"q=%ff":                                 {"q"},
		"q=a&q=b":                               {"q"},
		"q=" + strings.Repeat("a", maxSearch+1): {"q"},
		"q=a&limit=0":                           {"limit"},
		"q=&limit=ten&date=2026":                {"q", "limit", "date"},
	} {
		wantProblem(t, do(s, http.MethodGet, searchURL+"?"+query), http.StatusBadRequest, parameters...)
	}
}
