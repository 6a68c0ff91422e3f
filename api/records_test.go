package api

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"pgregory.net/rapid"

	"limnomap/api/record"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
)

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
		state := snapshot.State{
			Chlorophyll:  data.Chlorophyll(rapid.Int32Range(-1, int32(data.MaxChlorophyll)).Draw(t, "chl")),
			Level:        data.Level(rapid.Int8Range(-1, 3).Draw(t, "level")),
			Risk:         data.Risk(rapid.Uint8Range(0, 3).Draw(t, "risk")),
			CountedCells: rapid.OneOf(rapid.Just(float64(data.NoCellDensity)), rapid.Float64Range(0, 1e9)).Draw(t, "cells"),
			MeasuredBy:   rapid.SampledFrom([]data.DataType{data.Satellite, data.InSitu}).Draw(t, "measured by"),
			Date:         data.Date(rapid.Int32Range(0, 50_000).Draw(t, "date")),
			TakenOffset:  rapid.Int32Range(0, 86_399).Draw(t, "taken"),
		}
		view := &snapshot.View{Lakes: []data.Lake{lake}, States: []snapshot.State{state}, Profile: &data.Profiles()[0], AsOf: state.Date + 3}
		var got struct {
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
		if err := json.Unmarshal(statusMembers.AppendObject(nil, record.Member, e.lake(view, 0)), &got); err != nil {
			t.Fatal(err)
		}
		if got.Name != lake.Name || got.Lat != lake.Point.Lat() || got.Lon != lake.Point.Lon() {
			t.Fatalf("record = %+v, want %+v", got, lake)
		}
		if (got.Chl == nil) == state.Chlorophyll.Valid() || got.Chl != nil && *got.Chl != state.Chlorophyll.Float() {
			t.Fatalf("chl = %v, want %v", got.Chl, state.Chlorophyll)
		}
		if (got.Color == "#9aa0a6") == state.Chlorophyll.Valid() {
			t.Fatalf("color of %v = %s: the grey is for no data, and for nothing else", state.Chlorophyll, got.Color)
		}
		if (got.Level == nil) != (state.Level == data.NoLevel) || (got.Density == nil) != (state.CellDensity() < 0) {
			t.Fatalf("level, density = %v, %v, want %v, %v", got.Level, got.Density, state.Level, state.CellDensity())
		}
		if (got.LevelBy == nil) != (got.Level == nil) ||
			got.LevelBy != nil && *got.LevelBy != view.Profile.Basis(state.Level, state.Chlorophyll, state.CountedCells).String() {
			t.Fatalf("level_by = %v of %+v", got.LevelBy, state)
		}
		if (got.Risk == nil) != (state.Risk == data.RiskUnknown) || got.Risk != nil && *got.Risk != state.Risk.String() {
			t.Fatalf("risk = %v, want %v", got.Risk, state.Risk)
		}
		known := state.Risk != data.RiskUnknown
		if known != (got.MeasuredAt != nil && got.MeasuredAt.Unix() == state.MeasuredAt()) ||
			known != (got.MeasuredBy != nil && *got.MeasuredBy == state.MeasuredBy.String()) ||
			known != (got.AgeDays != nil && *got.AgeDays == 3) {
			t.Fatalf("measured at %v by %v, %v days old, want %+v", got.MeasuredAt, got.MeasuredBy, got.AgeDays, state)
		}
		if got.Stale == nil || *got.Stale != (known && !state.Chlorophyll.Valid()) {
			t.Fatalf("stale = %v of %+v", got.Stale, state)
		}
		if (got.ChlLevel == nil) == state.Chlorophyll.Valid() || got.ChlLevel != nil && *got.ChlLevel != int(view.Profile.Level(state.Chlorophyll)) {
			t.Fatalf("chl_level = %v of %v", got.ChlLevel, state.Chlorophyll)
		}
		var feature struct {
			Geometry struct{ Coordinates [2]float64 }
		}
		if err := json.Unmarshal(lakeProperties.AppendFeature(nil, &lake, e.lake(view, 0)), &feature); err != nil {
			t.Fatal(err)
		}
		if feature.Geometry.Coordinates != [2]float64(lake.Point) {
			t.Fatalf("coordinates = %v, want %v", feature.Geometry.Coordinates, lake.Point)
		}
		var monitored map[string]any
		if err := json.Unmarshal(monitoredColumns.AppendObject(nil, record.Member, &lake), &monitored); err != nil {
			t.Fatal(err)
		}
		if monitored["external_id"] != lake.ExternalID || monitored["latitude"] != lake.Point.Lat() {
			t.Fatalf("monitored = %v, want %+v", monitored, lake)
		}
	})
}
