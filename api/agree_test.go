package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"pgregory.net/rapid"

	"limnomap/data"
	"limnomap/data/snapshot"
)

// drawLakes draws lakes with measurements of all kinds and official statements of all kinds, active or not.
func drawLakes(rt *rapid.T) *fakeSource {
	f := &fakeSource{revision: data.Revision{Number: 1, ChangedAt: testNow()}}
	today := data.DateOf(testNow())
	for i := range rapid.IntRange(1, 6).Draw(rt, "lakes") {
		id := data.LakeID(fmt.Sprintf("lake_%d", i))
		f.lakes = append(f.lakes, data.Lake{ID: id, ExternalID: string(id), Name: fmt.Sprintf("See %d", i), Point: orb.Point{float64(i), 50}})
		var rows []data.Observation
		for range rapid.IntRange(0, 6).Draw(rt, "observations") {
			o := data.Observation{
				LakeID: id, Date: today - data.Date(rapid.IntRange(0, 60).Draw(rt, "age")), Type: rapid.SampledFrom(data.AllDataTypes()).Draw(rt, "type"),
				Chlorophyll: data.NoChlorophyll, Level: data.NoLevel, CellDensity: data.NoCellDensity,
				Quality: rapid.SampledFrom([]data.Quality{data.QualityUnknown, data.Good, data.Suspect, data.Poor}).Draw(rt, "quality"),
			}
			if rapid.IntRange(0, 3).Draw(rt, "clear") > 0 {
				o.Chlorophyll = rapid.SampledFrom([]data.Chlorophyll{0, 9_99, 10_00, 49_99, 50_00, 800_00}).Draw(rt, "chl")
				o.Level = data.Level(rapid.IntRange(-1, 3).Draw(rt, "level"))
				o.CellDensity = rapid.SampledFrom([]float64{data.NoCellDensity, data.NoCellDensity, 100, 20_000, 100_000, 1e7}).Draw(rt, "cells")
			}
			if rapid.IntRange(0, 3).Draw(rt, "has flags") == 0 {
				o.Details.Flags = data.FlagsOf(rapid.SliceOf(rapid.SampledFrom([]data.Flag{data.Cloud, data.Scum, data.Estimated})).Draw(rt, "flags")...)
			}
			rows = append(rows, o)
		}
		slices.SortStableFunc(rows, func(a, b data.Observation) int { return 10*int(a.Date-b.Date) + int(a.Type) - int(b.Type) })
		f.observations = append(f.observations, slices.CompactFunc(rows, func(a, b data.Observation) bool { return a.Date == b.Date && a.Type == b.Type })...)
		for k := range rapid.IntRange(0, 3).Draw(rt, "statements") {
			begin := testNow().Add(time.Duration(rapid.IntRange(-40, 5).Draw(rt, "begin")) * 24 * time.Hour)
			a := data.Advisory{ID: data.AdvisoryID(fmt.Sprintf("s%d_%d", i, k)), LakeID: id, Kind: data.AdvisoryKind(rapid.IntRange(1, 4).Draw(rt, "kind")),
				Issuer: "Amt", Issued: begin, ValidFrom: begin}
			if rapid.Bool().Draw(rt, "ends") {
				a.ValidUntil = begin.Add(time.Duration(rapid.IntRange(1, 50).Draw(rt, "days")) * 24 * time.Hour)
			}
			if rapid.IntRange(0, 3).Draw(rt, "is withdrawn") == 0 {
				a.Withdrawn = begin.Add(24 * time.Hour)
			}
			f.advisories = append(f.advisories, a)
		}
	}
	return f
}

// gravestAt returns the kind of the gravest statement about a lake that is active at t.
func gravestAt(f *fakeSource, lake data.LakeID, t time.Time) (kind data.AdvisoryKind) {
	for _, a := range f.advisories {
		if a.LakeID == lake && a.ActiveAt(t) {
			kind = max(kind, a.Kind)
		}
	}
	return kind
}

// No surface shows a better class than another for the same lake and moment, or than its value supports. A statement that is active is
// in every answer, and no other.
func TestAnswersAgree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := drawLakes(rt)
		opts := testOptions(t)
		opts.Historian = f
		s := newServer(t, opts, nil)
		snap, err := snapshot.Load(t.Context(), f, &snapshot.Options{Now: testNow})
		if err != nil {
			rt.Fatal(err)
		}
		if err := s.Publish(snap); err != nil {
			rt.Fatal(err)
		}
		records := lakesOf(t, object(t, get(t, s, http.StatusOK, statusURL)))
		checkRecords(rt, f, snap, records, testNow())
		checkHistories(rt, t, s, records)
		for i, row := range tableOf(t, get(t, s, http.StatusOK, statusURL+".csv").Body.String()) {
			if r := records[row[0]]; i > 0 && (row[5] != plainCell(r["who_level"]) || row[7] != plainCell(r["risk"]) || row[15] != plainCell(kindOf(r))) {
				rt.Fatalf("the table says %q of %v", row, r)
			}
		}
		for _, feature := range object(t, get(t, s, http.StatusOK, "/api/v1/bathing-lakes/geojson"))["features"].([]any) {
			p := feature.(map[string]any)["properties"].(map[string]any)
			if r := records[p["id"].(string)]; p["who_level"] != r["who_level"] || p["advisory"] != kindOf(r) || p["stale"] != r["stale"] || p["age_days"] != r["age_days"] {
				rt.Fatalf("GeoJSON says %v of %v", p, r)
			}
		}
		for _, row := range rowsOf(tablePageOf(t, s, "?lang=en")) {
			class, shown, _ := strings.Cut(row, "| ")
			r := records["lake_"+strings.TrimPrefix(strings.Join(strings.Fields(shown)[:2], " "), "See ")]
			want := "none"
			if r["chl"] != nil {
				want = r["risk"].(string)
			}
			if kindOf(r) == "closure" {
				want = "closed"
			}
			if class, _, _ = strings.Cut(class, " "); class != want { // the rest says that it is old
				rt.Fatalf("the table shows %q, want %s of %v", row, want, r)
			}
		}
		for _, week := range snap.Weeks {
			date := week.Week.Monday().String()
			moment := (week.Week.Sunday() + 1).Time().Add(-time.Second)
			if week.Week == snap.Current.Week {
				moment = testNow()
			}
			then := lakesOf(t, object(t, get(t, s, http.StatusOK, statusURL+"?date="+date)))
			checkRecords(rt, f, snap, then, moment)
		}
	})
}

// plainCell returns the cell of a value that was decoded without json.Number.
func plainCell(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// kindOf returns the kind of the statement in a record; empty if there is none.
func kindOf(record map[string]any) string {
	if a, ok := record["advisory"].(map[string]any); ok {
		return a["kind"].(string)
	}
	return ""
}

// checkRecords checks that records have no better class than their values support, and have the statement that is active at that moment.
func checkRecords(rt *rapid.T, f *fakeSource, snap *snapshot.Snapshot, records map[string]map[string]any, moment time.Time) {
	if len(records) != len(snap.Lakes) {
		rt.Fatalf("%d records of %d lakes", len(records), len(snap.Lakes))
	}
	risks := []any{"low", "medium", "high", "high"}
	for id, r := range records {
		if got, want := kindOf(r), gravestAt(f, data.LakeID(id), moment).String(); got != want {
			rt.Fatalf("at %s %s has the statement %q, want %q", moment, id, got, want)
		}
		if r["chl"] == nil {
			if r["who_level"] != nil || r["color"] != "#9aa0a6" || r["stale"] != (r["risk"] != nil) {
				rt.Fatalf("a class without a value: %v", r)
			}
			continue
		}
		level := r["who_level"].(float64)
		byCells := 0.0
		for _, limit := range []float64{20_000, 100_000} {
			// The printed density may follow from the chlorophyll, which has the same limits in WHO 2003.
			if r["cell_density_cells_ml"].(float64) >= limit {
				byCells++
			}
		}
		if (level == r["chl_level"]) != (r["level_by"] == "chlorophyll") {
			rt.Fatalf("level_by does not say what the level is based on: %v", r)
		}
		if level < r["chl_level"].(float64) || level < byCells || r["risk"] != risks[int(level)] || r["stale"] != false {
			rt.Fatalf("a better class than its value supports: %v", r)
		}
	}
}

// checkHistories checks that the entry on which a state is based has its class.
func checkHistories(rt *rapid.T, t *testing.T, s *Server, records map[string]map[string]any) {
	for id, r := range records {
		if r["chl"] == nil {
			continue
		}
		date, _, _ := strings.Cut(r["measured_at"].(string), "T")
		found := false
		for _, entry := range object(t, get(t, s, http.StatusOK, historyURL+id))["history"].([]any) {
			e := entry.(map[string]any)
			if flags, _ := e["flags"].([]any); e["chl"] != nil && slices.Contains(flags, any("scum")) && (e["who_level"] != 3. || e["level_by"] != "report") {
				rt.Fatalf("scum is no level 3 in %v", e)
			}
			found = found || e["date"] == date && e["data_type"] == r["measured_by"] && e["chl"] == r["chl"] && e["who_level"] == r["who_level"] && (e["level_by"] == r["level_by"] || e["level_by"] == nil && r["level_by"] == "chlorophyll") && e["quality"] != "poor"
		}
		if !found {
			rt.Fatalf("the history of %s has no entry for %v", id, r)
		}
	}
}
