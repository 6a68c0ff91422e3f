package ingest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A feature means the same as a table of one row: whatever the features of a file have or lack, they store and report the same
// as separate tables.
func TestFeaturesMeanTheSameAsTables(t *testing.T) {
	ofFeatures, ofTables := newStore(t), newStore(t)
	optional := []string{"external_id", "region", "area_km2"}
	rapid.Check(t, func(rt *rapid.T) {
		var fs, tables []string
		for _, id := range rapid.SliceOfNDistinct(rapid.IntRange(0, 9), 1, 6, rapid.ID).Draw(rt, "ids") {
			lat, lon := decimals(rt, "lat", -91, 91, 100), decimals(rt, "lon", -180, 180, 100)
			header := []string{"id", "name", "lat", "lon"}
			row := []string{fmt.Sprintf("lake_%d", id), rapid.StringMatching(`[A-Z]?`).Draw(rt, "name"), fmt.Sprint(lat), fmt.Sprint(lon)}
			properties := map[string]any{"id": row[0], "name": row[1]}
			for _, column := range optional {
				if rapid.Bool().Draw(rt, "lacks "+column) {
					continue
				}
				value := rapid.SampledFrom([]string{"", "-", "1", "2.5"}).Draw(rt, column)
				header, row = append(header, column), append(row, value)
				switch {
				case value == "":
					properties[column] = nil
				case value == "2.5" && column == "area_km2":
					properties[column] = 2.5
				default:
					properties[column] = value
				}
			}
			f, err := json.Marshal(map[string]any{
				"type": "Feature", "properties": properties,
				"geometry": map[string]any{"type": "Point", "coordinates": []float64{lon, lat}},
			})
			if err != nil {
				rt.Fatal(err)
			}
			fs = append(fs, string(f))
			tables = append(tables, strings.Join(header, ",")+"\n"+strings.Join(row, ",")+"\n")
		}
		skip := &Options{SkipBad: true}
		got, want := mustImport(t, Lakes, ofFeatures, skip, features(fs...)), mustImport(t, Lakes, ofTables, skip, tables...)
		if got.Added != want.Added || got.Changed != want.Changed || got.Unchanged != want.Unchanged || got.Rejected != want.Rejected {
			rt.Fatalf("features: %v\ntables: %v", got, want)
		}
		gotLakes, _ := stored(t, ofFeatures)
		wantLakes, _ := stored(t, ofTables)
		if !slices.Equal(gotLakes, wantLakes) {
			rt.Fatalf("features left %+v\ntables left %+v", gotLakes, wantLakes)
		}
	})
}
