package api

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"net/http"
	"testing"

	"limnomap/data"
	"limnomap/data/statistics"
)

const statisticsURL = "/api/v1/bathing-lakes/statistics/"

// The statistics are those of all years, also of those that are only in the store.
func TestStatisticsOfAllYears(t *testing.T) {
	source := testSource(t)
	var old []data.Observation
	for d := date(t, "2009-01-05"); d < date(t, "2023-01-01"); d += 14 {
		chl := 12 + 8*math.Sin(float64(d)*2*math.Pi/365.25) + float64(d-date(t, "2009-01-05"))/365
		old = append(old, data.Observation{LakeID: "de_by_clean", Date: d, Type: data.Satellite, Source: "LWQ", Chlorophyll: data.Chlorophyll(100 * chl), Level: data.NoLevel, CellDensity: data.NoCellDensity})
	}
	source.observations = append(old, source.observations...) // that lake is the first
	opts := testOptions(t)
	opts.Historian = source
	s := shortServer(t, opts, source)
	var answer struct {
		LakeID   string `json:"lake_id"`
		Together struct {
			Values int
			Years  []struct {
				Year, Values int
				Mean         float64
				Weeks_low    int
			}
			Trend struct {
				Slope, P    float64
				Significant bool
				Years       int
			}
			Band []struct {
				Day int
				P50 float64
			}
		}
		InSitu *struct{} `json:"in_situ"`
	}
	body := get(t, s, http.StatusOK, statisticsURL+"de_by_clean").Body.Bytes()
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatal(err)
	}
	profile := data.Profiles()[0]
	values := statistics.ValuesOf(old, statistics.Together)
	years, trend := statistics.YearsOf(values, &profile, data.MaxDate-1), answer.Together.Trend
	if len(answer.Together.Years) != len(years) || answer.Together.Years[3].Mean != rounded(years[3].Mean) || answer.Together.Years[3].Values != years[3].Values {
		t.Errorf("%d years, want %d: %+v", len(answer.Together.Years), len(years), answer.Together.Years)
	}
	if !trend.Significant || math.Abs(trend.Slope-1) > 0.05 || len(answer.Together.Band) != 52 {
		t.Errorf("the trend is %+v, the band has %d points", trend, len(answer.Together.Band))
	}
	rows, err := csv.NewReader(get(t, s, http.StatusOK, statisticsURL+"de_by_clean.csv").Body).ReadAll()
	if err != nil || len(rows) != 1+2*len(years) || rows[1][0] != "de_by_clean" || rows[1][1] != "together" || rows[1+len(years)][1] != "satellite" {
		t.Errorf("the table has %d rows, %v: %v", len(rows), err, rows)
	}
	get(t, s, http.StatusNotFound, statisticsURL+"nowhere")
	get(t, s, http.StatusNotFound, statisticsURL+"nowhere.csv")
}

// The table of all lakes has the years that are whole in memory, of all sources, by lake or by region.
func TestStatisticsOfAllLakes(t *testing.T) {
	f := testSource(t)
	f.observations = nil
	for i, lake := range f.lakes[:2] {
		f.lakes[i].Region = []string{"Bayern", "Berlin"}[i]
		for d := date(t, "2024-01-01"); d < date(t, "2026-11-01"); d += 7 {
			o := data.Observation{LakeID: lake.ID, Date: d, Type: data.Satellite, Source: "LWQ", Chlorophyll: 5_00, Level: data.NoLevel, CellDensity: data.NoCellDensity}
			if i == 1 && d.Time().Month() == 8 {
				o.Chlorophyll = 60_00
			}
			f.observations = append(f.observations, o)
		}
	}
	s := newServer(t, testOptions(t), f)
	table := func(query string) [][]string {
		t.Helper()
		rows, err := csv.NewReader(get(t, s, http.StatusOK, "/api/v1/bathing-lakes/statistics.csv"+query).Body).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	if rows := table(""); len(rows) != 1+2*3 || rows[1][0] != string(f.lakes[0].ID) || rows[1][3] != "2024" || rows[1][5] != "5" || rows[3][3] != "2026" {
		t.Errorf("the table is %v", rows)
	}
	if rows := table("?region=Berlin&year=2025"); len(rows) != 2 || rows[1][2] != "Berlin" || rows[1][3] != "2025" || rows[1][7] != "60" {
		t.Errorf("of Berlin in 2025: %v", rows)
	}
	if rows := table("?by=region"); len(rows) != 1+2*3 || rows[4][0] != "Berlin" || rows[4][2] != "1" || rows[4][9] != "4" {
		t.Errorf("the regions are %v", rows)
	}
	if rows := table("?region=nowhere"); len(rows) != 1 {
		t.Errorf("of no region: %v", rows)
	}
	get(t, s, http.StatusBadRequest, "/api/v1/bathing-lakes/statistics.csv?by=state")
	get(t, s, http.StatusBadRequest, "/api/v1/bathing-lakes/statistics.csv?year=0")
}
