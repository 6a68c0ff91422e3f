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
