package api

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"limnomap/api/answer"
	"limnomap/data"
	"limnomap/data/ingest"
	"limnomap/data/snapshot"
	"limnomap/data/store/storetest"
)

// tableOf reads a table.
func tableOf(tb testing.TB, text string) [][]string {
	tb.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	return rows
}

// cellOf returns a JSON value as the text of a cell.
func cellOf(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	case []any: // flags
		var texts []string
		for _, item := range v {
			texts = append(texts, cellOf(item))
		}
		return strings.Join(texts, " ")
	case map[string]any: // an official statement
		return cellOf(v["kind"])
	}
	return value.(string)
}

// wantSameCells fails unless the rows have the members of the records, in the columns of those names.
func wantSameCells(t *testing.T, rows [][]string, records []map[string]any) {
	t.Helper()
	if len(rows) != len(records)+1 {
		t.Fatalf("the table has %d lines, want a header and %d", len(rows), len(records))
	}
	for i, record := range records {
		if len(rows[0]) < len(record) {
			t.Fatalf("columns are %v, members %v", rows[0], record)
		}
		for k, column := range rows[0] {
			value, ok := record[column]
			if risk, isProbability := strings.CutPrefix(column, "probability_"); isProbability {
				probabilities, _ := record["probabilities"].(map[string]any)
				value = probabilities[risk]
			}
			optional := strings.Contains(string(slices.Concat(detailColumns, laterColumns).Header()), column) || strings.Contains(forecastCells, column)
			if want := cellOf(value); !ok && !optional || rows[i+1][k] != want {
				t.Errorf("line %d, column %s = %q, want %q", i+1, column, rows[i+1][k], want)
			}
		}
	}
}

// recordsOf reads the records in a member of a JSON answer, with numbers as they are written.
func recordsOf(t *testing.T, text []byte, member string) []map[string]any {
	t.Helper()
	var body map[string]json.RawMessage
	if err := json.Unmarshal(text, &body); err != nil {
		t.Fatal(err)
	}
	var records []map[string]any
	d := json.NewDecoder(bytes.NewReader(body[member]))
	d.UseNumber()
	if err := d.Decode(&records); err != nil {
		t.Fatal(err)
	}
	return records
}

func TestStatusCSVIsTheStatus(t *testing.T) {
	for name, s := range map[string]*Server{"held": testServer(t), "piece by piece": sparingServer(t)} {
		t.Run(name, func(t *testing.T) {
			for _, query := range []string{"", "?risk=low", "?min_lat=53&date=2026-11-08", "?date=2026-08-03", "?min_lat=80"} {
				w := get(t, s, http.StatusOK, statusURL+".csv"+query)
				wantSameCells(t, tableOf(t, w.Body.String()), recordsOf(t, get(t, s, http.StatusOK, statusURL+query).Body.Bytes(), "lakes"))
				if got := w.Header().Get("Content-Type"); got != "text/csv; charset=utf-8; header=present" {
					t.Errorf("Content-Type = %q", got)
				}
				if text := w.Body.String(); strings.Count(text, "\r\n") != strings.Count(text, "\n") || !strings.HasSuffix(text, "\r\n") {
					t.Errorf("lines end otherwise than with CR and LF: %q", text)
				}
			}
		})
	}
	s := testServer(t)
	for query, want := range map[string]string{"": "status", "?date=2026-11-20": "status", "?date=2026-11-08": "status-2026-11-02"} {
		w := get(t, s, http.StatusOK, statusURL+".csv"+query)
		if got := w.Header().Get("Content-Disposition"); got != `attachment; filename="`+want+`.csv"` {
			t.Errorf("Content-Disposition with %q = %s, want %s.csv", query, got, want)
		}
	}
	if w := do(s, http.MethodGet, statusURL+".csv?risk=x"); w.Header().Get("Content-Disposition") != "" {
		t.Error("a problem is to be saved as a table")
	}
}

// A value of a period has its first day and its statistic, and cells of an index are named as such, in JSON and CSV.
func TestHistoryOfAComposite(t *testing.T) {
	f := testSource(t)
	o := data.Observation{LakeID: "y_weekly", Date: date(t, "2026-11-14"), Source: "EPA CyAN", Chlorophyll: 1_54, Level: data.NoLevel, CellDensity: 91_387}
	o.Details = data.Details{BelowLimit: true, Upper: data.Known[data.Chlorophyll](3_07), PeriodStart: data.Known(o.Date - 6), Composite: data.MaximumComposite}
	f.lakes, f.observations = append(f.lakes, data.Lake{ID: o.LakeID, Name: "Y", Point: f.lakes[0].Point}), append(f.observations, o)
	opts := testOptions(t)
	opts.Historian = f
	s := newServer(t, opts, f)
	records := recordsOf(t, get(t, s, http.StatusOK, historyURL+"y_weekly").Body.Bytes(), "history")
	want := map[string]any{"date": "2026-11-14", "period_start": "2026-11-08", "composite": "maximum", "cell_density_by": "index", "cell_density_cells_ml": json.Number("91387"),
		"below_limit": true, "who_level": json.Number("1"), "level_by": "cells"}
	for name, value := range want {
		if records[0][name] != value {
			t.Errorf("%s is %v, want %v", name, records[0][name], value)
		}
	}
	records[0]["lake_id"] = "y_weekly"
	wantSameCells(t, tableOf(t, get(t, s, http.StatusOK, historyURL+"y_weekly.csv").Body.String()), records)
	status := recordsOf(t, get(t, s, http.StatusOK, statusURL+"?risk=medium").Body.Bytes(), "lakes")
	i := slices.IndexFunc(status, func(r map[string]any) bool { return r["id"] == "y_weekly" })
	if i < 0 || status[i]["cell_density_by"] != "index" || status[i]["cell_density_cells_ml"] != json.Number("91387") || status[i]["below_limit"] != true {
		t.Errorf("the status is %v", status)
	}
}

func TestHistoryCSVIsTheHistory(t *testing.T) {
	s := testServer(t)
	for _, query := range []string{"", "?limit=1", "?data_type=ai_forecast", "?to=2026-01-01"} {
		for _, lake := range []string{"de_by_clean", "de_by_medium", "de_mv_never"} {
			w := get(t, s, http.StatusOK, historyURL+lake+".csv"+query)
			records := recordsOf(t, get(t, s, http.StatusOK, historyURL+lake+query).Body.Bytes(), "history")
			for _, r := range records {
				r["lake_id"] = lake
			}
			wantSameCells(t, tableOf(t, w.Body.String()), records)
			if got := w.Header().Get("Content-Disposition"); got != `attachment; filename="history-`+lake+`.csv"` {
				t.Errorf("Content-Disposition = %s", got)
			}
		}
	}
	wantProblem(t, do(s, http.MethodGet, historyURL+"nowhere.csv"), http.StatusNotFound)
	wantProblem(t, do(s, http.MethodGet, historyURL+".csv"), http.StatusNotFound)
}

// TestALakeWhoseIdEndsInCSV has lakes whose ids look like the addresses of others.
func TestALakeWhoseIdEndsInCSV(t *testing.T) {
	f := &fakeSource{lakes: []data.Lake{{ID: "a", Name: "A"}, {ID: "b.csv", Name: "B"}, {ID: "c", Name: "C"}, {ID: "c.csv", Name: "C.csv"}}}
	s := newServer(t, testOptions(t), f)
	for address, want := range map[string]string{
		"a": "{a", "a.csv": "a", "b.csv": "{b.csv", "b.csv.csv": "b.csv", "c": "{c", "c.csv": "{c.csv", "c.csv.csv": "c.csv",
	} {
		w := get(t, s, http.StatusOK, historyURL+address)
		got := strings.TrimSuffix(strings.TrimPrefix(w.Header().Get("Content-Disposition"), `attachment; filename="history-`), `.csv"`)
		if w.Header().Get("Content-Type") == answer.TypeJSON {
			got = "{" + object(t, w)["lake_id"].(string)
		}
		if got != want {
			t.Errorf("%s is the history of %s, want %s ({ is JSON)", address, got, want)
		}
	}
	for _, address := range []string{"b", "a.csv.csv", "b.csv.csv.csv"} {
		wantProblem(t, do(s, http.MethodGet, historyURL+address), http.StatusNotFound)
	}
}

// answerFile returns an answer as a file to import.
func answerFile(w *httptest.ResponseRecorder) ingest.File {
	return ingest.NewFile("answer.csv", bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
}

// The tables of a server that are imported into an empty database give the same names, classes and counts again: a density that follows from the
// chlorophyll is no count there, and a class is no report.
func TestTablesCanBeImported(t *testing.T) {
	const none = data.NoCellDensity
	hostile := []string{`=HYPERLINK("http://x")`, "See, der; große", `"`, "-1", "+a|b", "@x", "NA Lake"}
	rows := []struct {
		name  string
		chl   data.Chlorophyll
		level data.Level
		cells float64
		kind  data.DataType
		flags data.Flags
	}{
		{"derived", 11_00, data.NoLevel, none, data.InSitu, 0},
		{"derived, uneven", 7, data.NoLevel, none, data.Satellite, 0},
		{"zero", 0, data.NoLevel, none, data.Satellite, 0},
		{"high", 60_00, data.NoLevel, none, data.Satellite, 0},
		{"gap", data.NoChlorophyll, data.NoLevel, none, data.Satellite, 0},
		{"forecast", 30_00, data.NoLevel, none, data.Forecast, 0},
		{"count", 3_00, data.NoLevel, 150_000, data.InSitu, 0},
		{"count of a satellite", 3_00, data.NoLevel, 20_000.5, data.Satellite, 0},
		{"low count", 60_00, data.NoLevel, 12.5, data.InSitu, 0},
		{"count of none", 13_00, data.NoLevel, 0, data.InSitu, 0},
		{"report", 3_00, 2, none, data.InSitu, 0},
		{"report of scum and a count", 3_00, 3, 30_000, data.InSitu, 0},
		{"flag of scum", 5_00, data.NoLevel, none, data.InSitu, data.FlagsOf(data.Cloud, data.Scum)},
		{"flag and level", 80_00, 3, none, data.Satellite, data.FlagsOf(data.Scum)},
	}
	for _, profile := range data.Profiles() {
		t.Run(profile.ID, func(t *testing.T) {
			ctx := t.Context()
			source := &fakeSource{revision: data.Revision{Number: 1, ChangedAt: testNow()}}
			for i, row := range rows {
				id := data.LakeID(fmt.Sprintf("lake_%02d", i))
				source.lakes = append(source.lakes, data.Lake{ID: id, Name: hostile[i%len(hostile)], Point: orb.Point{float64(i), 50}})
				source.observations = append(source.observations, data.Observation{LakeID: id, Date: data.DateOf(testNow()), Type: row.kind, Chlorophyll: row.chl,
					Level: row.level, CellDensity: row.cells, Details: data.Details{Flags: row.flags}})
			}
			serve := func(from snapshot.Source, historian Historian) *Server {
				snap, err := snapshot.Load(ctx, from, &snapshot.Options{Present: data.ByClock(testNow), Profile: &profile})
				if err != nil {
					t.Fatal(err)
				}
				opts := testOptions(t)
				opts.Historian = historian
				s := newServer(t, opts, nil)
				if err := s.Publish(snap); err != nil {
					t.Fatal(err)
				}
				return s
			}
			s := serve(source, source)
			db := storetest.New(t)
			opts := &ingest.Options{Now: testNow}
			if _, err := ingest.Lakes(ctx, db, []ingest.File{answerFile(get(t, s, http.StatusOK, statusURL+".csv"))}, opts); err != nil {
				t.Fatal(err)
			}
			var histories []ingest.File
			for _, lake := range source.lakes {
				address := historyURL + string(lake.ID) + ".csv"
				histories = append(histories, answerFile(get(t, s, http.StatusOK, address)))
			}
			if report, err := ingest.Observations(ctx, db, histories, opts); err != nil || report.Added != len(rows) || len(report.Ignored) > 0 {
				t.Fatalf("import: %v, %+v, want %d rows added, and all columns known", err, report, len(rows))
			}
			i := 0
			_, err := db.Scan(ctx, func(data.Lake) error { return nil }, func(o data.Observation) error {
				if o.LakeID == source.lakes[i].ID && o.CellDensity != rows[i].cells {
					t.Errorf("%s: stored a count of %v, want %v", rows[i].name, o.CellDensity, rows[i].cells)
				}
				i++
				return nil
			})
			if err != nil || i != len(rows) {
				t.Fatalf("%d observations, %v, want %d", i, err, len(rows))
			}
			again := serve(db, db)
			addresses := []string{statusURL + ".csv"}
			for _, lake := range source.lakes {
				addresses = append(addresses, historyURL+string(lake.ID)+".csv")
			}
			for _, address := range addresses {
				if want, got := get(t, s, http.StatusOK, address).Body.String(), get(t, again, http.StatusOK, address).Body.String(); got != want {
					t.Errorf("%s = %s\nwant %s", address, got, want)
				}
			}
		})
	}
}
