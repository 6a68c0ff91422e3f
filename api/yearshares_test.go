package api

import (
	"math"
	"testing"

	"limnomap/data"
	"limnomap/data/statistics"
)

// The shares of a year are those of the passes that maps show: neither of poor values, nor of a second one of a day, nor of a source that is outranked in its
// week, nor of samples.
func TestSharesOfYears(t *testing.T) {
	shares := make(map[passKey]*passShares)
	var observations []data.Observation
	add := func(date, source string, rank uint8, quality data.Quality, of data.DataType, high data.TenThousandths) {
		day, err := data.ParseDate(date)
		if err != nil {
			t.Fatal(err)
		}
		observations = append(observations, data.Observation{LakeID: "a", Date: day, Type: of, Source: source, Rank: rank, Quality: quality, Chlorophyll: 500, Level: data.NoLevel,
			CellDensity: data.NoCellDensity})
		s := &passShares{PixelShares: data.PixelShares{P90: 2000}}
		s.Risks[data.RiskHigh] = high
		shares[passKey{day, source}] = s
	}
	add("2025-12-30", "X", 1, data.Good, data.Satellite, 8000)
	add("2026-07-07", "X", 1, data.Good, data.Satellite, 1000)
	add("2026-07-07", "Y", 2, data.Good, data.Satellite, 9000) // of the same day
	add("2026-07-08", "Y", 2, data.Good, data.Satellite, 9000) // outranked in its week
	add("2026-07-14", "X", 1, data.Poor, data.Satellite, 9000)
	add("2026-07-21", "Y", 2, data.Good, data.Satellite, 3000)
	add("2026-07-22", "none", 0, data.Good, data.Satellite, 9000) // outranked too
	add("2026-07-28", "Lab", 0, data.Good, data.InSitu, 9000)
	for _, series := range []statistics.Series{statistics.OfSatellite, statistics.Together} {
		years := sharesByYear(observations, series, shares)
		if y := years[2026]; len(years) != 2 || y == nil || y.passes != 2 || math.Abs(y.high-0.2) > 1e-9 || math.Abs(y.p90-20) > 1e-9 {
			t.Errorf("series %d: 2026 has %+v, of %d years", series, y, len(years))
		}
		if y := years[2025]; y == nil || y.passes != 1 || math.Abs(y.high-0.8) > 1e-9 {
			t.Errorf("series %d: 2025 has %+v", series, y)
		}
	}
	if years := sharesByYear(observations, statistics.OfSamples, shares); len(years) > 0 {
		t.Errorf("samples have the shares %v", years)
	}
}
