package api

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"pgregory.net/rapid"

	"limnomap/colormap"
	"limnomap/data"
)

func TestStringsAreWrittenAsEncodingJSONDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Custom(func(t *rapid.T) string {
			return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		})).Draw(t, "s")
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendString(nil, s); string(got) != string(want) {
			t.Fatalf("appendString(%q) = %s, want %s", s, got, want)
		}
	})
}

func TestRecordsSayWhatTheLakeIs(t *testing.T) {
	scale, err := colormap.New(colormap.Default, colormap.Limits{Level1: 10, Level2: 50})
	if err != nil {
		t.Fatal(err)
	}
	e := newEncoder(scale)
	rapid.Check(t, func(t *rapid.T) {
		lake := data.Lake{
			ID:         "de_lake",
			ExternalID: rapid.String().Draw(t, "external id"),
			Name:       rapid.String().Draw(t, "name"),
			Point:      orb.Point{rapid.Float64Range(-180, 180).Draw(t, "lon"), rapid.Float64Range(-90, 90).Draw(t, "lat")},
		}
		state := data.State{
			Chlorophyll:  data.Chlorophyll(rapid.Int32Range(-1, int32(data.MaxChlorophyll)).Draw(t, "chl")),
			Level:        data.Level(rapid.Int8Range(-1, 3).Draw(t, "level")),
			Risk:         data.Risk(rapid.Uint8Range(0, 3).Draw(t, "risk")),
			CountedCells: rapid.OneOf(rapid.Just(float64(data.NoCellDensity)), rapid.Float64Range(0, 1e9)).Draw(t, "cells"),
			MeasuredBy:   rapid.SampledFrom([]data.DataType{data.Satellite, data.InSitu}).Draw(t, "measured by"),
			Date:         data.Date(rapid.Int32Range(0, 50_000).Draw(t, "date")),
			TakenOffset:  rapid.Int32Range(0, 86_399).Draw(t, "taken"),
		}
		view := &data.View{Lakes: []data.Lake{lake}, States: []data.State{state}, Profile: &data.Profiles()[0], AsOf: state.Date + 3}
		var record struct {
			Name    string
			Lat     float64
			Lon     float64
			Chl     *float64
			Level   *int     `json:"who_level"`
			LevelBy *string  `json:"level_by"`
			Density *float64 `json:"cell_density_cells_ml"`
			Risk    *string
			Color   string

			ChlLevel   *int       `json:"chl_level"`
			MeasuredAt *time.Time `json:"measured_at"`
			MeasuredBy *string    `json:"measured_by"`
			Stale      *bool
			AgeDays    *int `json:"age_days"`
		}
		if err := json.Unmarshal(e.status(nil, view, 0), &record); err != nil {
			t.Fatal(err)
		}
		if record.Name != lake.Name || record.Lat != lake.Point.Lat() || record.Lon != lake.Point.Lon() {
			t.Fatalf("record = %+v, want %+v", record, lake)
		}
		if (record.Chl == nil) == state.Chlorophyll.Valid() || record.Chl != nil && *record.Chl != state.Chlorophyll.Float() {
			t.Fatalf("chl = %v, want %v", record.Chl, state.Chlorophyll)
		}
		if (record.Color == "#9aa0a6") == state.Chlorophyll.Valid() {
			t.Fatalf("color of %v = %s: the grey is for no data, and for nothing else", state.Chlorophyll, record.Color)
		}
		if (record.Level == nil) != (state.Level == data.NoLevel) || (record.Density == nil) != (state.CellDensity() < 0) {
			t.Fatalf("level, density = %v, %v, want %v, %v", record.Level, record.Density, state.Level, state.CellDensity())
		}
		if (record.LevelBy == nil) != (record.Level == nil) ||
			record.LevelBy != nil && *record.LevelBy != view.Profile.Basis(state.Level, state.Chlorophyll, state.CountedCells).String() {
			t.Fatalf("level_by = %v of %+v", record.LevelBy, state)
		}
		if (record.Risk == nil) != (state.Risk == data.RiskUnknown) || record.Risk != nil && *record.Risk != state.Risk.String() {
			t.Fatalf("risk = %v, want %v", record.Risk, state.Risk)
		}
		known := state.Risk != data.RiskUnknown
		if known != (record.MeasuredAt != nil && record.MeasuredAt.Unix() == state.MeasuredAt()) ||
			known != (record.MeasuredBy != nil && *record.MeasuredBy == state.MeasuredBy.String()) ||
			known != (record.AgeDays != nil && *record.AgeDays == 3) {
			t.Fatalf("measured at %v by %v, %v days old, want %+v", record.MeasuredAt, record.MeasuredBy, record.AgeDays, state)
		}
		if record.Stale == nil || *record.Stale != (known && !state.Chlorophyll.Valid()) {
			t.Fatalf("stale = %v of %+v", record.Stale, state)
		}
		if (record.ChlLevel == nil) == state.Chlorophyll.Valid() || record.ChlLevel != nil && *record.ChlLevel != int(view.Profile.Level(state.Chlorophyll)) {
			t.Fatalf("chl_level = %v of %v", record.ChlLevel, state.Chlorophyll)
		}
		var feature struct {
			Geometry struct{ Coordinates [2]float64 }
		}
		if err := json.Unmarshal(e.feature(nil, view, 0), &feature); err != nil {
			t.Fatal(err)
		}
		if feature.Geometry.Coordinates != [2]float64(lake.Point) {
			t.Fatalf("coordinates = %v, want %v", feature.Geometry.Coordinates, lake.Point)
		}
		var monitored map[string]any
		if err := json.Unmarshal(e.monitored(nil, &lake), &monitored); err != nil {
			t.Fatal(err)
		}
		if monitored["external_id"] != lake.ExternalID || monitored["latitude"] != lake.Point.Lat() {
			t.Fatalf("monitored = %v, want %+v", monitored, lake)
		}
	})
}
