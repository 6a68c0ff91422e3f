package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"limnomap/data"
)

// The plan begins with the lake where a sample most likely finds many algae and says why; one sampled today, and one without values, tell less.
func TestSamplingPlan(t *testing.T) {
	f := testSource(t)
	f.observations = nil
	today := date(t, "2026-11-20")
	ids := []data.LakeID{f.lakes[0].ID, f.lakes[1].ID, f.lakes[2].ID}
	for i, id := range ids {
		f.lakes[i].Region = "Bayern"
		for ago := 200; ago >= 4; ago -= 7 {
			f.observations = append(f.observations, data.Observation{LakeID: id, Date: today - data.Date(ago), Type: data.Satellite, Source: "LWQ",
				Chlorophyll: []data.Chlorophyll{3_00, 80_00, 80_00}[i], Level: data.NoLevel, CellDensity: data.NoCellDensity})
		}
	}
	f.observations = append(f.observations, data.Observation{LakeID: ids[2], Date: today - 1, Type: data.InSitu, Chlorophyll: 80_00, Level: data.NoLevel, CellDensity: data.NoCellDensity})
	s := newServer(t, testOptions(t), f)
	plan := func(query string) (found struct {
		Of    string
		Limit float64
		Total int
		Plan  []struct {
			LakeID          data.LakeID `json:"lake_id"`
			Chance, Score   float64
			DaysSinceSample *int `json:"days_since_sample"`
			Reasons         []string
		}
	}) {
		t.Helper()
		if err := json.Unmarshal(get(t, s, http.StatusOK, pathSamplingPlan+query).Body.Bytes(), &found); err != nil {
			t.Fatal(err)
		}
		return found
	}
	p := plan("")
	if p.Of != "high" || p.Limit != 50 || p.Total != 3 || p.Plan[0].LakeID != ids[1] || p.Plan[1].LakeID != ids[2] || p.Plan[2].LakeID != ids[0] {
		t.Fatalf("the plan is %+v", p)
	}
	if first := p.Plan[0]; first.Chance < 0.5 || first.Score != first.Chance || first.DaysSinceSample != nil || !slices.Contains(first.Reasons, "There is no earlier sample in the years in memory.") {
		t.Errorf("the first is %+v", first)
	}
	if second := p.Plan[1]; *second.DaysSinceSample != 1 || second.Score > second.Chance/2 {
		t.Errorf("the second is %+v", second)
	}
	if p = plan("?samples=1&of=medium"); p.Total != 1 || p.Limit != 10 || !strings.HasPrefix(p.Plan[0].Reasons[0], "The chance of medium or high risk is ") {
		t.Errorf("of medium: %+v", p)
	}
	if p = plan("?region=nowhere"); p.Total != 0 || p.Plan == nil {
		t.Errorf("of no region: %+v", p)
	}
	for _, query := range []string{"?samples=0", "?samples=1001", "?of=low"} {
		wantProblem(t, do(s, http.MethodGet, pathSamplingPlan+query), http.StatusBadRequest, query[1:strings.IndexByte(query, '=')])
	}
}
