package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"limnomap/data"
)

const statsURL = "/api/v1/bathing-lakes/stats"

// A counted is a group as a client reads it.
type counted struct {
	Group   *string
	Lakes   int `json:"total_lakes"`
	With    int `json:"lakes_with_data"`
	Without int `json:"lakes_without_data"`
	Risk    map[string]int
	Chl     map[string]*float64
}

// statsOf requests counts.
func statsOf(t *testing.T, s http.Handler, query string) (week, by string, all counted, groups map[string]counted, order string) {
	t.Helper()
	var body struct {
		Week, By string
		All      counted
		Groups   []counted
	}
	if err := json.Unmarshal(get(t, s, http.StatusOK, statsURL+query).Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	groups = make(map[string]counted)
	for _, g := range body.Groups {
		name := "null"
		if g.Group != nil {
			name = *g.Group
		}
		order += name + " "
		groups[name] = g
	}
	return body.Week, body.By, body.All, groups, order
}

func TestStatsByRegion(t *testing.T) {
	source := testSource(t)
	for i, region := range []string{"Bayern", "Bayern", "Mecklenburg", "Mecklenburg", "Mecklenburg", "Mecklenburg", "", ""} {
		source.lakes[i].Region = region
	}
	week, by, all, groups, order := statsOf(t, newServer(t, testOptions(t), source), "")
	if week != "2026-W47" || by != "region" || order != "Bayern Mecklenburg null " {
		t.Errorf("week, by, groups = %s, %s, %s", week, by, order)
	}
	if all.Lakes != 8 || all.With != 6 || all.Without != 2 || fmt.Sprint(all.Risk) != "map[high:2 low:2 medium:2]" {
		t.Errorf("all = %+v", all)
	}
	m := groups["Mecklenburg"]
	if m.Lakes != 4 || m.With != 2 || m.Without != 2 || fmt.Sprint(m.Risk) != "map[high:2 low:0 medium:0]" {
		t.Errorf("Mecklenburg = %+v, want the lakes without a value at no risk", m)
	}
	for name, want := range map[string]float64{"min": 8, "p10": 13.32, "p25": 21.3, "median": 34.6, "p75": 47.9, "p90": 55.88, "max": 61.2} {
		if got := m.Chl[name]; got == nil || *got != want {
			t.Errorf("%s of 8 and 61.2 = %v, want %v", name, got, want)
		}
	}
}

// twoWeeks is a source with lakes that were measured in two weeks. One lake at high risk is closed.
func twoWeeks(t *testing.T) *fakeSource {
	t.Helper()
	source := testSource(t)
	for _, o := range []struct {
		lake data.LakeID
		day  string
		chl  data.Chlorophyll
	}{{"fj_west", "2026-11-09", 70_00}, {"fj_east", "2026-11-09", 2_00}, {"de_mv_scum", "2026-11-09", 80_00}, {"de_by_clean", "2026-11-09", 80_00}} {
		source.observations = append(source.observations, data.Observation{
			LakeID: o.lake, Date: date(t, o.day), Chlorophyll: o.chl, Level: data.NoLevel, CellDensity: data.NoCellDensity,
		})
	}
	slices.SortStableFunc(source.observations, func(a, b data.Observation) int {
		return cmp.Or(cmp.Compare(a.LakeID, b.LakeID), cmp.Compare(a.Date, b.Date))
	})
	source.advisories = []data.Advisory{{ID: "a", LakeID: "de_mv_high", Kind: data.Closure, Issuer: "Amt", Issued: testNow(), ValidFrom: testNow()}}
	return source
}

// TestStatsOfTheWeek counts lakes that were measured in the week itself. Of six values one is of the week before, and one lake at high risk is
// closed, which counts as measured.
func TestStatsOfTheWeek(t *testing.T) {
	s := newServer(t, testOptions(t), twoWeeks(t))
	for query, want := range map[string]string{
		"":                 `"week_counts":{"measured":5,"high":1,"high_measured":1,"both_weeks":{"measured":4,"high":1,"high_before":3}}`,
		"?date=2026-11-09": `"week_counts":{"measured":5,"high":3,"high_measured":3,"both_weeks":{"measured":1,"high":1,"high_before":0}}`,
		"?date=2026-08-03": `"week_counts":{"measured":1,"high":1,"high_measured":1,"both_weeks":{"measured":0,"high":0,"high_before":0}}`,
	} {
		w := get(t, s, http.StatusOK, statsURL+query)
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("stats%s = %s, want %s", query, w.Body, want)
		}
		wantDescribed(t, descriptionRouter(t), statsURL+query, w)
	}
}

func TestStatsByRiskAndTrophicStatus(t *testing.T) {
	s := testServer(t)
	_, _, _, groups, order := statsOf(t, s, "?by=risk")
	if order != "low medium high null " {
		t.Errorf("groups by risk = %s", order)
	}
	for name, want := range map[string][2]int{"low": {2, 2}, "medium": {2, 2}, "high": {2, 2}, "null": {2, 0}} {
		if g := groups[name]; g.Lakes != want[0] || g.With != want[1] {
			t.Errorf("%s has %d lakes, %d with a value, want %v", name, g.Lakes, g.With, want)
		}
	}
	for name, q := range groups["null"].Chl {
		if q != nil {
			t.Errorf("%s of lakes without a value = %v, want null", name, *q)
		}
	}
	_, _, _, groups, order = statsOf(t, s, "?by=trophic")
	if order != "ultraoligotrophic oligotrophic mesotrophic eutrophic hypertrophic unknown " || groups["unknown"].Lakes != 8 || groups["mesotrophic"].Lakes != 0 {
		t.Errorf("groups by trophic status = %s: %v", order, groups)
	}
}

func TestStatsOfNothing(t *testing.T) {
	s := newServer(t, testOptions(t), &fakeSource{})
	w := get(t, s, http.StatusOK, statsURL)
	body := object(t, w)
	if body["week"] != nil || fmt.Sprint(body["groups"]) != "[]" {
		t.Errorf("stats of no lakes = %s", w.Body)
	}
	wantDescribed(t, descriptionRouter(t), statsURL, w)
}

// TestStatsAreCountedOnce requests counts twice, and more of them than are kept.
func TestStatsAreCountedOnce(t *testing.T) {
	s := testServer(t)
	first := get(t, s, http.StatusOK, statsURL+"?by=risk")
	kept := s.common.current.Load().counts
	if kept.Len() != 1 {
		t.Fatalf("%d answers are kept, want 1", kept.Len())
	}
	again := get(t, s, http.StatusOK, statsURL+"?by=risk&date=2026-11-16")
	if kept.Len() != 1 || again.Body.String() != first.Body.String() {
		t.Errorf("%d answers are kept, want the one for the current week", kept.Len())
	}
	day := date(t, "2026-08-03")
	for range 16 {
		for _, by := range []string{"region", "risk", "trophic"} {
			get(t, s, http.StatusOK, fmt.Sprintf("%s?by=%s&date=%s", statsURL, by, day))
		}
		day += 7
	}
	if n := kept.Len(); n != 48 {
		t.Errorf("%d answers are kept, want 48", n)
	}
}

func TestStatsRefuseWrongParameters(t *testing.T) {
	for query, parameter := range map[string]string{"by=lake": "by", "by=": "by", "by=risk&by=risk": "by", "date=x": "date"} {
		wantProblem(t, do(testServer(t), http.MethodGet, statsURL+"?"+query), http.StatusBadRequest, parameter)
	}
}
