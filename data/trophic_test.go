package data

import (
	"testing"

	"pgregory.net/rapid"
)

func TestOECDClass(t *testing.T) {
	tests := []struct {
		sum, n int64
		want   Trophic
	}{
		{0, 5, Ultraoligotrophic},
		{5_00, 5, Ultraoligotrophic}, // a mean of 1.0
		{5_01, 5, Oligotrophic},      // 1.002, which two decimals could not tell from 1.00
		{12_50, 5, Oligotrophic},     // 2.5
		{12_51, 5, Mesotrophic},
		{39_99, 5, Mesotrophic}, // 7.998
		{40_00, 5, Eutrophic},   // 8
		{124_99, 5, Eutrophic},
		{125_00, 5, Hypertrophic}, // 25
		{7500_00, 5, Hypertrophic},
	}
	for _, tt := range tests {
		if got := oecdClass(tt.sum, tt.n); got != tt.want {
			t.Errorf("oecdClass(%d, %d) = %s, want %s", tt.sum, tt.n, got, tt.want)
		}
	}
}

func TestTrophicOf(t *testing.T) {
	tests := []struct {
		name  string
		asOf  string
		dates []string
		want  Trophic
	}{
		{"five values in three months", "2026-08-31", []string{"2026-06-30", "2026-07-01", "2026-07-02", "2026-07-31", "2026-08-01"}, Eutrophic},
		{"four values", "2026-08-31", []string{"2026-06-30", "2026-07-01", "2026-07-31", "2026-08-01"}, TrophicUnknown},
		{"two months", "2026-08-31", []string{"2026-07-01", "2026-07-02", "2026-07-03", "2026-07-31", "2026-08-01", "2026-08-02"}, TrophicUnknown},
		{"the first of 365 days", "2026-08-31", []string{"2025-09-01", "2026-07-02", "2026-07-03", "2026-07-31", "2026-08-01"}, Eutrophic},
		{"the day before them", "2026-08-31", []string{"2025-08-31", "2026-07-02", "2026-07-03", "2026-07-31", "2026-08-01"}, TrophicUnknown},
		{"the same month of two years", "2026-07-15", []string{"2025-07-31", "2026-06-01", "2026-06-02", "2026-07-01", "2026-07-02"}, Eutrophic},
		{"months before 1970", "1964-12-31", []string{"1964-01-31", "1964-02-01", "1964-02-29", "1964-03-01", "1964-12-31"}, Eutrophic},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asOf, err := ParseDate(tt.asOf)
			if err != nil {
				t.Fatal(err)
			}
			var samples []sample
			for _, s := range tt.dates {
				date, err := ParseDate(s)
				if err != nil {
					t.Fatal(err)
				}
				samples = append(samples, testSample(date, 10_00))
			}
			if got := trophicOf(samples, asOf); got != tt.want {
				t.Errorf("trophicOf(%v) = %s, want %s", tt.dates, got, tt.want)
			}
		})
	}
}

// A simple implementation of the rule gives the same result for any samples.
func TestTrophicOfProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		date := Date(rapid.Int32Range(-1000, 20_000).Draw(t, "first"))
		var samples []sample
		for range rapid.IntRange(0, 12).Draw(t, "samples") {
			date += Date(rapid.Int32Range(1, 80).Draw(t, "days"))
			c := Chlorophyll(rapid.Int32Range(-1, 30_00).Draw(t, "chl"))
			samples = append(samples, testSample(date, c))
		}
		asOf := date + Date(rapid.Int32Range(0, 400).Draw(t, "age"))

		months := make(map[string]bool)
		var sum, n float64
		for _, s := range samples {
			if s.valid() && s.date() > asOf-365 {
				months[s.date().Time().Format("2006-01")] = true
				sum += float64(s.chlorophyll())
				n++
			}
		}
		want := TrophicUnknown
		if mean := sum / n / 100; n >= 5 && len(months) >= 3 {
			switch {
			case mean <= 1:
				want = Ultraoligotrophic
			case mean <= 2.5:
				want = Oligotrophic
			case mean < 8:
				want = Mesotrophic
			case mean < 25:
				want = Eutrophic
			default:
				want = Hypertrophic
			}
		}
		if got := trophicOf(samples, asOf); got != want {
			t.Fatalf("trophicOf(%v, %s) = %s, want %s", samples, asOf, got, want)
		}
	})
}

func TestTrophicNames(t *testing.T) {
	want := []string{"unknown", "ultraoligotrophic", "oligotrophic", "mesotrophic", "eutrophic", "hypertrophic"}
	for i, name := range want {
		if got := Trophic(i).String(); got != name {
			t.Errorf("Trophic(%d) = %s, want %s", i, got, name)
		}
	}
}

// testSample returns the sample of a value.
func testSample(date Date, c Chlorophyll) sample {
	s, _, _ := sampleOf(Observation{Date: date, Chlorophyll: c, Level: NoLevel, CellDensity: NoCellDensity})
	return s
}
