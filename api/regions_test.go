package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"limnomap/data"
)

// A region has its lakes by class now and a year ago, the closed and the worst ones, and its season so far against other years, as JSON and as a page.
func TestRegion(t *testing.T) {
	f := testSource(t)
	f.observations = nil
	for i := range f.lakes {
		f.lakes[i].Region = "Baden-Württemberg"
		if i > 1 {
			f.lakes[i].Region = ""
			continue
		}
		for d := date(t, "2024-01-01"); d <= date(t, "2026-11-16"); d += 7 {
			o := data.Observation{LakeID: f.lakes[i].ID, Date: d, Type: data.Satellite, Chlorophyll: 5_00, Level: data.NoLevel, CellDensity: data.NoCellDensity}
			switch year := d.Time().Year(); {
			case i == 1 && year == 2026:
				o.Chlorophyll = 60_00
			case i == 0 && year == 2025 && d.Time().Month() >= 11: // the season so far ends on 20 November
				o.Chlorophyll = 20_00
			}
			f.observations = append(f.observations, o)
		}
	}
	from := date(t, "2026-11-01").Time()
	f.advisories = []data.Advisory{{ID: "c", LakeID: f.lakes[0].ID, Kind: data.Closure, Cause: data.Cyanobacteria, Issuer: "Amt <B>", Issued: from, ValidFrom: from}}
	s := newServer(t, testOptions(t), f)
	var region struct {
		Region  string
		YearAgo string `json:"year_ago"`
		Total   int    `json:"total_lakes"`
		Classes []struct {
			Class        string
			Lakes        int
			LakesYearAgo int `json:"lakes_year_ago"`
		}
		Worst    []struct{ Risk string }
		Closures []struct {
			LakeID data.LakeID `json:"lake_id"`
		}
		Seasons []struct {
			Year, Lakes       int
			Low, Medium, High int
			WeeksLow          int `json:"weeks_low"`
			WeeksMedium       int `json:"weeks_medium"`
			WeeksHigh         int `json:"weeks_high"`
		}
	}
	w := get(t, s, http.StatusOK, "/regions/baden-w%C3%BCrttemberg.json")
	wantDescribed(t, descriptionRouter(t), "/regions/baden-w%C3%BCrttemberg.json", w)
	if err := json.Unmarshal(w.Body.Bytes(), &region); err != nil {
		t.Fatal(err)
	}
	if c := region.Classes; region.Region != "Baden-Württemberg" || region.YearAgo != "2025-11-23" || region.Total != 2 || c[0].Class != "closed" || c[0].Lakes != 1 || c[1].Lakes != 1 ||
		c[2].LakesYearAgo != 1 || c[3].LakesYearAgo != 1 || c[4].Lakes != 0 {
		t.Errorf("the region is %+v", region)
	}
	if len(region.Worst) != 1 || region.Worst[0].Risk != "high" || len(region.Closures) != 1 || region.Closures[0].LakeID != f.lakes[0].ID {
		t.Errorf("the worst are %+v, the closed ones %+v", region.Worst, region.Closures)
	}
	if len(region.Seasons) != 3 || region.Seasons[1].Year != 2025 || region.Seasons[1].WeeksMedium != 3 || region.Seasons[2].WeeksHigh == 0 || region.Seasons[2].WeeksLow != region.Seasons[2].WeeksHigh {
		t.Errorf("the seasons are %+v", region.Seasons)
	}
	for target, wants := range map[string][]string{
		"/regions/Baden-W%C3%BCrttemberg":         {"Baden-Württemberg", "2 lakes: 1 closed, 1 with high risk", "A year ago (23 November 2025)", "Amt &lt;B&gt;", `href="../lakes/de_by_clean"`, `href="Baden-W%C3%BCrttemberg.json"`, "60\u00a0µg/l"},
		"/regions/Baden-W%C3%BCrttemberg?lang=de": {"2 Seen: 1 geschlossen", "Die Saison bisher", `href="../lakes/de_by_clean?lang=de"`},
		"/lakes/de_by_clean":                      {`href="../regions/Baden-W%C3%BCrttemberg"`},
	} {
		w := get(t, s, http.StatusOK, target)
		for _, want := range wants {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s lacks %q: %s", target, want, w.Body)
			}
		}
		wantDescribed(t, descriptionRouter(t), target, w)
	}
	for _, target := range []string{"/regions/nowhere", "/regions/nowhere.json", "/regions/.json"} {
		wantProblem(t, do(s, http.MethodGet, target), http.StatusNotFound)
	}
}

// A map of a week is that of its Sunday, so on a Monday that of the same week a year ago would be of six days later.
func TestWeekYearAgo(t *testing.T) {
	for day, want := range map[string]string{"2026-11-29": "2025-11-30", "2026-11-30": "2025-11-30", "2026-12-02": "2025-11-30", "2026-12-03": "2025-12-07", "2026-12-05": "2025-12-07"} {
		if got := weekYearAgo(date(t, day)).Sunday(); got != date(t, want) {
			t.Errorf("on %s it is the week until %s, want %s", day, got, want)
		}
	}
}
