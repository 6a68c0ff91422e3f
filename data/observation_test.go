package data_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"limnomap/data"
)

func TestDataType(t *testing.T) {
	for _, dt := range []data.DataType{data.Satellite, data.Forecast} {
		if got, err := data.ParseDataType(dt.String()); err != nil || got != dt {
			t.Errorf("ParseDataType(%q) = %v, %v", dt, got, err)
		}
	}
	for _, in := range []string{"", "Satellite", "forecast", "ai_forecast "} {
		if got, err := data.ParseDataType(in); err == nil {
			t.Errorf("ParseDataType(%q) = %v, want an error", in, got)
		}
	}
}

func TestTaken(t *testing.T) {
	o := obs(t, "a", "2026-07-01", 3)
	if got := o.Taken(); !got.Equal(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("without a time, Taken() = %v, want midnight UTC of the date", got)
	}
	o.MeasuredAt = time.Date(2026, 7, 1, 10, 30, 0, 0, time.UTC)
	if got := o.Taken(); !got.Equal(o.MeasuredAt) {
		t.Errorf("Taken() = %v, want %v", got, o.MeasuredAt)
	}
}

func TestObservationCheck(t *testing.T) {
	first, last := day(t, "0000-01-01"), day(t, "9999-12-31")
	tests := []struct {
		name   string
		change func(*data.Observation)
		want   []string // parts of the error; empty for no error
	}{
		{"as it should be", func(*data.Observation) {}, nil},
		{"gap", func(o *data.Observation) { o.Chlorophyll = data.NoChlorophyll }, nil},
		{"forecast", func(o *data.Observation) { o.Type = data.Forecast }, nil},
		{"most", func(o *data.Observation) { o.Chlorophyll = data.MaxChlorophyll }, nil},
		{"scum", func(o *data.Observation) { o.Level = 3 }, nil},
		{"own count", func(o *data.Observation) { o.CellDensity = 0 }, nil},
		{"first day", func(o *data.Observation) { o.Date = first }, nil},
		{"last day", func(o *data.Observation) { o.Date = last }, nil},
		{"taken late", func(o *data.Observation) { o.MeasuredAt = o.Date.Time().Add(math.MaxInt32 * time.Second) }, nil},
		{"before the first day", func(o *data.Observation) { o.Date = first - 1 }, []string{"date", "0000-01-01 to 9999-12-31"}},
		{"after the last day", func(o *data.Observation) { o.Date = last + 1 }, []string{"date 10000-01-01"}},
		{"type", func(o *data.Observation) { o.Type = 7 }, []string{"data_type 7"}},
		{"too much", func(o *data.Observation) { o.Chlorophyll = data.MaxChlorophyll + 1 }, []string{"chl 1500.01", "0 to 1500"}},
		{"below none", func(o *data.Observation) { o.Chlorophyll = -2 }, []string{"chl -0.02", "0 to 1500"}},
		{"level", func(o *data.Observation) { o.Level = 4 }, []string{"who_level 4", "0 to 3"}},
		{"level below none", func(o *data.Observation) { o.Level = -2 }, []string{"who_level -2"}},
		{"count", func(o *data.Observation) { o.CellDensity = -0.5 }, []string{"cell_density_cells_ml -0.5"}},
		{"count NaN", func(o *data.Observation) { o.CellDensity = math.NaN() }, []string{"cell_density_cells_ml NaN"}},
		{"count infinite", func(o *data.Observation) { o.CellDensity = math.Inf(1) }, []string{"cell_density_cells_ml +Inf"}},
		{"scum on a gap", func(o *data.Observation) { o.Chlorophyll, o.Level = data.NoChlorophyll, 3 }, []string{"who_level 3 without chl"}},
		{"cells on a gap", func(o *data.Observation) { o.Chlorophyll, o.CellDensity = data.NoChlorophyll, 5e4 },
			[]string{"cell_density_cells_ml 50000 without chl"}},
		{"taken too late", func(o *data.Observation) { o.MeasuredAt = o.Date.Time().Add((math.MaxInt32 + 1) * time.Second) },
			[]string{"measured_at 2094-", "2026-07-01"}},
		{"taken too early", func(o *data.Observation) { o.MeasuredAt = time.Unix(0, 0).Add(-100 * 365 * 24 * time.Hour) },
			[]string{"measured_at 18"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := obs(t, "a", "2026-07-01", 12.3)
			tt.change(&o)
			err := o.Check()
			if (err == nil) != (tt.want == nil) {
				t.Fatalf("Check() = %v, want an error that names %q", err, tt.want)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("Check() = %v, want it to name %q", err, part)
				}
			}
		})
	}
}

// obs returns a satellite observation of a lake; chl below 0 is a gap.
func obs(t testing.TB, id data.LakeID, date string, chl float64) data.Observation {
	t.Helper()
	o := data.Observation{
		LakeID: id, Date: day(t, date), Chlorophyll: data.NoChlorophyll, Level: data.NoLevel, CellDensity: data.NoCellDensity,
	}
	if chl >= 0 {
		var err error
		if o.Chlorophyll, err = data.ChlorophyllOf(chl); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// The digest changes with all that comparisons use, and what may not be current has none.
func TestDigest(t *testing.T) {
	o := data.Observation{LakeID: "a", Date: 20_000, Type: data.Satellite, Source: "LWQ", Chlorophyll: 12_00, Level: data.NoLevel, CellDensity: data.NoCellDensity, Rank: 1}
	seen := map[uint64]string{0: "none", o.Digest(): "the same"}
	for name, change := range map[string]func(*data.Observation){
		"date": func(o *data.Observation) { o.Date++ }, "type": func(o *data.Observation) { o.Type = data.InSitu }, "source": func(o *data.Observation) { o.Source = "" },
		"chlorophyll": func(o *data.Observation) { o.Chlorophyll++ }, "level": func(o *data.Observation) { o.Level = 2 }, "cells": func(o *data.Observation) { o.CellDensity = 5 },
		"scum": func(o *data.Observation) { o.Details.Flags = data.FlagsOf(data.Scum) }, "rank": func(o *data.Observation) { o.Rank = 2 },
	} {
		other := o
		change(&other)
		if of, ok := seen[other.Digest()]; ok {
			t.Errorf("with another %s the digest is that of %s", name, of)
		}
		seen[other.Digest()] = name
	}
	gap, poor, forecast := o, o, o
	gap.Chlorophyll, poor.Quality, forecast.Type = data.NoChlorophyll, data.Poor, data.Forecast
	for _, other := range []data.Observation{gap, poor, forecast} {
		if other.Digest() != 0 {
			t.Errorf("%+v has a digest", other)
		}
	}
}
