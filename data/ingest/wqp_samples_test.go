package ingest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"limnomap/data"
)

// Which of several results of chlorophyll of a day is stored, and with which quality and details.
func TestWQPChlorophyll(t *testing.T) {
	known := data.Known[data.Chlorophyll]
	for _, test := range []struct {
		name     string
		rows     []wqpFields
		chl      data.Chlorophyll
		quality  data.Quality
		details  data.Details
		censored int
	}{
		{"units", []wqpFields{{wqpValue: "0.0345", wqpUnit: "mg/l"}}, 34_50, data.Good, data.Details{}, 0},
		{"the highest", []wqpFields{{wqpValue: "5", wqpActivity: "a"}, {wqpValue: "80", wqpActivity: "b"}, {wqpValue: "7", wqpActivity: "c"}}, 80_00, data.Good, data.Details{}, 0},
		{"the better method", []wqpFields{{wqpValue: "9", wqpCharacteristic: "Chlorophyll a, uncorrected for pheophytin"}, {wqpValue: "7", wqpCharacteristic: "Chlorophyll a, corrected for pheophytin"},
			{wqpValue: "30", wqpCharacteristic: "Chlorophyll a (probe)"}}, 7_00, data.Good, data.Details{}, 0},
		{"the better method of another sample", []wqpFields{{wqpValue: "90", wqpActivity: "b", wqpCharacteristic: "Chlorophyll a (probe)"}, {wqpValue: "7", wqpCharacteristic: "Chlorophyll a, corrected for pheophytin"}},
			90_00, data.Good, data.Details{}, 0},
		{"without ids of activities", []wqpFields{{wqpValue: "90", wqpActivity: "", wqpTime: "15:00"}, {wqpValue: "7", wqpActivity: "", wqpCharacteristic: "Chlorophyll a, corrected for pheophytin"}},
			90_00, data.Good, data.Details{}, 0},
		{"a rejected one last", []wqpFields{{wqpValue: "80", wqpStatus: "Rejected"}, {wqpValue: "5", wqpStatus: "Preliminary"}}, 5_00, data.Suspect, data.Details{}, 0},
		{"only a rejected one", []wqpFields{{wqpStatus: "Rejected"}}, 12_50, data.Poor, data.Details{}, 0},
		{"another status", []wqpFields{{wqpStatus: "Historical"}}, 12_50, data.QualityUnknown, data.Details{}, 0},
		{"estimated", []wqpFields{{wqpQualifier: "J;H"}}, 12_50, data.Good, data.Details{Flags: data.FlagsOf(data.Estimated, data.HoldTime)}, 0},
		{"not detected", []wqpFields{{wqpValue: "", wqpCondition: "Not Detected", wqpLimitA: "3", wqpLimitUnitA: "ug/l", wqpLimitTypeA: "Method Detection Level"}},
			1_50, data.Good, data.Details{BelowLimit: true, Upper: known(3_00)}, 1},
		{"the highest limit", []wqpFields{{wqpValue: "", wqpUnit: "", wqpCondition: "Present Below Quantification Limit", wqpLimitA: "0.5", wqpLimitUnitA: "ug/l", wqpLimitB: "0.002", wqpLimitUnitB: "mg/l"}},
			1_00, data.Good, data.Details{BelowLimit: true, Upper: known(2_00)}, 1},
		{"a limit as value", []wqpFields{{wqpValue: "<15"}}, 7_50, data.Good, data.Details{BelowLimit: true, Upper: known(15_00)}, 1},
		{"a limit as value, by its qualifier", []wqpFields{{wqpValue: "4", wqpQualifier: "U"}}, 2_00, data.Good, data.Details{BelowLimit: true, Upper: known(4_00)}, 1},
		{"a value before a limit", []wqpFields{{wqpValue: "<15", wqpActivity: "b"}, {wqpValue: "3"}}, 3_00, data.Good, data.Details{}, 0},
		{"above", []wqpFields{{wqpValue: "200", wqpCondition: "Present Above Quantification Limit"}}, 200_00, data.Good,
			data.Details{Lower: known(200_00), Flags: data.FlagsOf(data.OutOfRange)}, 0},
		{"above, only the limit", []wqpFields{{wqpValue: "", wqpCondition: "Present Above Quantification Limit", wqpLimitA: "300", wqpLimitUnitA: "ug/l", wqpLimitTypeA: "Upper Quantitation Limit"}},
			300_00, data.Good, data.Details{Lower: known(300_00), Flags: data.FlagsOf(data.OutOfRange)}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			var rows []wqpFields
			for _, change := range test.rows {
				rows = append(rows, wqpChla(change))
			}
			r, got := mustImportWQP(t, nil, rows...)
			if len(got) != 1 || got[0].Chlorophyll != test.chl || got[0].Quality != test.quality || r.Censored != test.censored {
				t.Fatalf("stored %+v, want one of %v, %q; report %+v", got, test.chl, test.quality, r)
			}
			test.details.Method = "Chlorophyll by spectrophotometer"
			if got[0].Details != test.details {
				t.Errorf("details %+v, want %+v", got[0].Details, test.details)
			}
		})
	}
}

// A count of cells counts only with a chlorophyll that is not rejected: otherwise its observation would never be current, and no one
// would see why.
func TestWQPCountOfRejectedSample(t *testing.T) {
	count := func(status string) wqpFields {
		return wqpChla(wqpFields{wqpDate: "2024-07-03", wqpCharacteristic: "Cyanobacteria", wqpValue: "150000", wqpUnit: "cells/mL", wqpStatus: status})
	}
	chl := func(activity, value, status string) wqpFields {
		return wqpChla(wqpFields{wqpDate: "2024-07-03", wqpActivity: activity, wqpValue: value, wqpStatus: status})
	}
	for _, test := range []struct {
		name    string
		rows    []wqpFields
		bad     string
		chl     data.Chlorophyll
		cells   float64
		quality data.Quality
	}{
		{"rejected chlorophyll", []wqpFields{chl("a", "5", "Rejected"), count("Accepted")},
			"150000 cells/ml of cyanobacteria, while the chlorophyll of the same station, day and organization is rejected by its source", 0, 0, 0},
		{"both rejected", []wqpFields{chl("a", "5", "Rejected"), count("Rejected")}, "", 5_00, data.NoCellDensity, data.Poor},
		{"rejected count", []wqpFields{chl("a", "5", "Accepted"), count("Rejected")}, "", 5_00, data.NoCellDensity, data.Good},
		{"another chlorophyll", []wqpFields{chl("a", "50", "Rejected"), chl("b", "5", "Accepted"), count("Accepted")}, "", 5_00, 150_000, data.Good},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := wqpChla(wqpFields{wqpValue: "3"})
			r, got := mustImportWQP(t, &Options{SkipBad: true}, append([]wqpFields{before}, test.rows...)...)
			if test.bad != "" {
				if len(got) != 1 || got[0].Chlorophyll != 3_00 || r.Rejected != 1 || len(r.Bad) != 1 || !strings.Contains(r.Bad[0].Reason, test.bad) {
					t.Errorf("stored %+v, report %+v, want a bad row with %q", got, r, test.bad)
				}
				return
			}
			if len(got) != 2 || got[0].Chlorophyll != test.chl || got[0].CellDensity != test.cells || got[0].Quality != test.quality || r.Rejected != 0 {
				t.Errorf("stored %+v, report %+v, want %v, %v cells/ml, %s", got, r, test.chl, test.cells, test.quality)
			}
		})
	}
}

// A source that rejects the chlorophyll later, in a file without the count, does not hide the stored count.
func TestWQPLaterRejection(t *testing.T) {
	s := wqpStore(t)
	chl := func(status string) wqpFields { return wqpChla(wqpFields{wqpValue: "5", wqpStatus: status}) }
	count := wqpChla(wqpFields{wqpCharacteristic: "Cyanobacteria", wqpValue: "150000", wqpUnit: "cells/mL", wqpStatus: "Accepted"})
	mustImport(t, Observations, s, nil, wqpFile(t, wqp3Header, chl("Accepted"), count))
	r := mustImport(t, Observations, s, nil, wqpFile(t, wqp3Header, chl("Rejected")))
	if len(r.Bad) != 1 || !strings.Contains(r.Bad[0].Reason, "poor, while the database holds") {
		t.Errorf("report %+v, want the row rejected", r)
	}
	if _, got := stored(t, s); len(got) != 1 || got[0].Quality == data.Poor || got[0].CellDensity != 150_000 {
		t.Errorf("stored %+v, want the count and its quality", got)
	}
}

// Files of several characteristics give the same in one import, in separate imports and in any order.
func TestWQPSeparateFiles(t *testing.T) {
	chl, secchi := wqpFile(t, wqp3Header, wqpChla(nil)), wqpFile(t, wqp3Header, wqpChla(wqpFields{wqpCharacteristic: "Secchi depth", wqpUnit: "m", wqpValue: "1.5", wqpStatus: ""}))
	var want []data.Observation
	for _, imports := range [][][]string{{{chl, secchi}}, {{secchi, chl}}, {{chl}, {secchi}}, {{secchi}, {chl}}, {{chl}, {secchi}, {chl}, {secchi}}} {
		s := wqpStore(t)
		for _, texts := range imports {
			mustImport(t, Observations, s, nil, texts...)
		}
		_, got := stored(t, s)
		if want == nil {
			want = got
		}
		if len(got) != 1 || got[0].Chlorophyll != 12_50 || got[0].Details.Secchi.Value != 1_50 || !slices.Equal(got, want) {
			t.Errorf("stored %+v, want both values", got)
		}
	}
	r, got := mustImportWQP(t, nil, wqpChla(wqpFields{wqpCharacteristic: "Secchi depth", wqpUnit: "m", wqpValue: "1.5"}))
	if r.Added != 1 || len(got) != 1 || got[0].Chlorophyll.Valid() || got[0].Details.Secchi.Value != 1_50 || got[0].MeasuredAt.IsZero() {
		t.Errorf("a Secchi depth only: stored %+v, want a gap with it; report %+v", got, r)
	}
}

// What an import holds until its end is bounded.
func TestWQPBounds(t *testing.T) {
	var rows []wqpFields
	for i := range 5 {
		rows = append(rows, wqpChla(wqpFields{wqpActivity: fmt.Sprint(i)}))
	}
	for _, test := range []struct {
		rows []wqpFields
		max  int
		want string
	}{
		{rows, 5, ""},
		{rows, 4, "at most 4 activities with chlorophyll of the Water Quality Portal"},
		{[]wqpFields{wqpChla(nil), wqpChla(wqpFields{wqpDate: "2024-07-02"})}, 1, "at most 1 samples (days of a station and an organization) of the Water Quality Portal"},
	} {
		s := newWQPSamples(20_000)
		s.max = test.max
		rs, end, err := open(strings.NewReader(wqpFile(t, wqp3Header, test.rows...)), File{}, &layout{columns: wqpColumns(), changed: true, named: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		for range test.rows {
			r, nextErr := rs.next()
			if nextErr != nil {
				t.Fatal(nextErr)
			}
			if err = s.add(r, origin{number: rs.number()}); err != nil {
				break
			}
		}
		if test.want == "" && err != nil || test.want != "" && (!errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("at most %d: %v, want %q", test.max, err, test.want)
		}
	}
	s := newWQPSamples(20_000)
	long := strings.Repeat("x", maxWQPText/2+1)
	for i, fits := range []bool{true, true, false} { // the second one is the first again
		if _, err := s.number(long + strings.Repeat("y", i/2)); (err == nil) != fits {
			t.Errorf("text %d: %v", i, err)
		}
	}
}

// The observations do not depend on the order of the rows, nor on how they are divided among files.
func TestWQPOrder(t *testing.T) {
	pick := func(rt *rapid.T, name string, of ...string) string { return rapid.SampledFrom(of).Draw(rt, name) }
	rapid.Check(t, func(rt *rapid.T) {
		var rows []wqpFields
		for range rapid.IntRange(1, 20).Draw(rt, "rows") {
			row := wqpFields{
				wqpLake: pick(rt, "lake", "WI_WQX-1", "WI_WQX-2", "unknown"), wqpDate: pick(rt, "date", "2024-07-01", "2024-07-02"),
				wqpOrgName: pick(rt, "org", "A", "B"), wqpActivity: pick(rt, "activity", "", "1", "2"), wqpTime: pick(rt, "time", "", "09:00:00", "10:00:00"),
				wqpZone: pick(rt, "zone", "EST", "?"), wqpStatus: pick(rt, "status", "", "Final", "Preliminary", "Rejected"),
				wqpQualifier: pick(rt, "qualifier", "", "J", "H", "U"), wqpMethodName: pick(rt, "method", "", "m", "n"),
				wqpValue:          pick(rt, "value", "", "0", "1", "2", "<3", ">4", "-1"),
				wqpCondition:      pick(rt, "condition", "", "", "", "Not Detected", "Present Above Quantification Limit"),
				wqpCharacteristic: pick(rt, "characteristic", "Chlorophyll a", "Chlorophyll a", "Chlorophyll a, corrected for pheophytin", "Chlorophyll a (probe)", "Cyanobacteria", "Secchi depth", "Temperature, water"),
			}
			switch row[wqpCharacteristic] {
			case "Cyanobacteria":
				row[wqpUnit] = "cells/ml"
			case "Secchi depth":
				row[wqpUnit] = "m"
			case "Temperature, water":
				row[wqpUnit] = "deg C"
			}
			rows = append(rows, wqpChla(row))
		}
		once := func(texts ...string) ([]data.Observation, Report) {
			s := wqpStore(t)
			defer s.Close()
			r := mustImport(t, Observations, s, &Options{SkipBad: true}, texts...)
			if len(texts) == 1 {
				checkReport(t, r)
			}
			_, observations := stored(t, s)
			if again := mustImport(t, Observations, s, &Options{SkipBad: true}, texts...); again.Added+again.Changed != 0 {
				rt.Fatalf("again: %+v, want nothing changed", again)
			}
			return observations, r
		}
		want, report := once(wqpFile(t, wqp3Header, rows...))
		seed := rapid.Uint64().Draw(rt, "order")
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		half := len(rows) / 2
		for _, texts := range [][]string{{wqpFile(t, wqp3Header, rows...)}, {wqpFile(t, wqp3Header, rows[:half]...), wqpFile(t, wqp3Header, rows[half:]...)}} {
			got, r := once(texts...)
			if !slices.Equal(got, want) {
				rt.Fatalf("stored %+v, want %+v", got, want)
			}
			if r.Read != report.Read || r.Added != report.Added || r.Rejected != report.Rejected || r.Combined != report.Combined || r.LeftOut != report.LeftOut ||
				r.Untimed != report.Untimed || r.Censored != report.Censored {
				rt.Fatalf("report = %+v, want the same numbers as in %+v", r, report)
			}
		}
	})
}
