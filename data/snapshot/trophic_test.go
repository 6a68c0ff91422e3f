package snapshot

import (
	"testing"

	"limnomap/data"
)

func TestTrophicOf(t *testing.T) {
	tests := []struct {
		name  string
		asOf  string
		dates []string
		want  data.Trophic
	}{
		{"five values in three months", "2026-08-31", []string{"2026-06-30", "2026-07-01", "2026-07-02", "2026-07-31", "2026-08-01"}, data.Eutrophic},
		{"four values", "2026-08-31", []string{"2026-06-30", "2026-07-01", "2026-07-31", "2026-08-01"}, data.TrophicUnknown},
		{"two months", "2026-08-31", []string{"2026-07-01", "2026-07-02", "2026-07-03", "2026-07-31", "2026-08-01", "2026-08-02"}, data.TrophicUnknown},
		{"the first of 365 days", "2026-08-31", []string{"2025-09-01", "2026-07-02", "2026-07-03", "2026-07-31", "2026-08-01"}, data.Eutrophic},
		{"the day before them", "2026-08-31", []string{"2025-08-31", "2026-07-02", "2026-07-03", "2026-07-31", "2026-08-01"}, data.TrophicUnknown},
		{"the same month of two years", "2026-07-15", []string{"2025-07-31", "2026-06-01", "2026-06-02", "2026-07-01", "2026-07-02"}, data.Eutrophic},
		{"months before 1970", "1964-12-31", []string{"1964-01-31", "1964-02-01", "1964-02-29", "1964-03-01", "1964-12-31"}, data.Eutrophic},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asOf, err := data.ParseDate(tt.asOf)
			if err != nil {
				t.Fatal(err)
			}
			var readings []reading
			for _, s := range tt.dates {
				date, err := data.ParseDate(s)
				if err != nil {
					t.Fatal(err)
				}
				readings = append(readings, testReading(date, 10_00))
			}
			if got, by := trophicOf(readings, nil, asOf); got != tt.want || by != data.Satellite {
				t.Errorf("trophicOf(%v) = %s by %s, want %s", tt.dates, got, by, tt.want)
			}
			wantBy := data.InSitu
			if tt.want == data.TrophicUnknown {
				wantBy = data.Satellite
			}
			if got, by := trophicOf(nil, readings, asOf); got != tt.want || by != wantBy {
				t.Errorf("trophicOf samples %v = %s by %s, want %s", tt.dates, got, by, tt.want)
			}
		})
	}
}

// Each series counts by itself; the better covered one wins.
func TestTrophicOfTwoSeries(t *testing.T) {
	const asOf = data.Date(20_000)
	series := func(c data.Chlorophyll, days ...data.Date) (all []reading) {
		for i := len(days) - 1; i >= 0; i-- {
			all = append(all, testReading(asOf-days[i], c))
		}
		return all
	}
	for _, tt := range []struct {
		name            string
		passes, samples []reading
		want            data.Trophic
		by              data.DataType
	}{
		{"few samples", series(10_00, 0, 10, 40, 70, 100), series(1_00, 0, 40, 80), data.Eutrophic, data.Satellite},
		{"few passes", series(10_00, 0, 40, 80), series(1_00, 0, 10, 40, 70, 100), data.Ultraoligotrophic, data.InSitu},
		{"not together", series(10_00, 0, 40, 80), series(1_00, 5, 45, 85), data.TrophicUnknown, data.Satellite},
		{"samples in more months", series(10_00, 0, 1, 2, 3, 4, 40, 70), series(1_00, 0, 40, 70, 100, 130), data.Ultraoligotrophic, data.InSitu},
		{"passes in more months", series(10_00, 0, 40, 70, 100, 130), series(1_00, 0, 1, 2, 3, 4, 40, 70), data.Eutrophic, data.Satellite},
		{"more samples", series(10_00, 0, 40, 70, 71, 72), series(1_00, 0, 40, 70, 71, 72, 73), data.Ultraoligotrophic, data.InSitu},
		{"equal", series(10_00, 0, 40, 70, 71, 72), series(1_00, 0, 40, 70, 71, 72), data.Eutrophic, data.Satellite},
	} {
		if got, by := trophicOf(tt.passes, tt.samples, asOf); got != tt.want || by != tt.by {
			t.Errorf("%s: %s by %s, want %s by %s", tt.name, got, by, tt.want, tt.by)
		}
	}
}

func TestTrophicNames(t *testing.T) {
	want := []string{"unknown", "ultraoligotrophic", "oligotrophic", "mesotrophic", "eutrophic", "hypertrophic"}
	for i, name := range want {
		if got := data.Trophic(i).String(); got != name {
			t.Errorf("Trophic(%d) = %s, want %s", i, got, name)
		}
	}
}

// testReading returns the reading of a value.
func testReading(date data.Date, c data.Chlorophyll) reading {
	s, _, _ := readingOf(data.Observation{Date: date, Chlorophyll: c, Level: data.NoLevel, CellDensity: data.NoCellDensity})
	return s
}
