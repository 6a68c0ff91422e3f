package ingest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/store/storetest"
)

// A missing column keeps what is stored; an empty field deletes it.
func TestLakesWithoutColumns(t *testing.T) {
	const full = "id,external_id,name,lat,lon,region,area_km2,water_id\nx,DEMV_1,X,50,10,MV,112.6,DE_w-1\n"
	lake := func(external, name, region string, area float64) data.Lake {
		return data.Lake{ID: "x", ExternalID: external, Name: name, Point: orb.Point{10, 50}, Region: region, AreaKM2: area, WaterID: "DE_w-1"}
	}
	for _, test := range []struct {
		name, text string
		want       Report
		lake       data.Lake
	}{
		{"none of them", "id,name,lat,lon\nx,X,50,10\n", Report{Unchanged: 1}, lake("DEMV_1", "X", "MV", 112.6)},
		{"another name", "id,name,lat,lon\nx,Y,50,10\n", Report{Changed: 1}, lake("DEMV_1", "Y", "MV", 112.6)},
		{"only area", "id,name,lat,lon,area_km2\nx,X,50,10,7\n", Report{Changed: 1}, lake("DEMV_1", "X", "MV", 7)},
		{"state for region", "id,name,lat,lon,state\nx,X,50,10,BY\n", Report{Changed: 1}, lake("DEMV_1", "X", "BY", 112.6)},
		{"empty", "id,external_id,name,lat,lon,region,area_km2\nx,,X,50,10,,\n", Report{Changed: 1}, lake("x", "X", "", 0)},
		{"no water", "id,name,lat,lon,water_id\nx,X,50,10,\n", Report{Changed: 1}, data.Lake{ID: "x", ExternalID: "DEMV_1", Name: "X", Point: orb.Point{10, 50}, Region: "MV", AreaKM2: 112.6}},
		{"a water that is no id", "id,name,lat,lon,water_id\nx,X,50,10,the lake\n", Report{Rejected: 1, Bad: []BadRow{{File: "a.csv", Number: 2, ID: "x",
			Reason: `water_id "the lake": want a letter or digit, then at most 63 letters, digits, _ . or -`}}}, lake("DEMV_1", "X", "MV", 112.6)},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New(t)
			mustImport(t, Lakes, s, nil, full)
			test.want.Read, test.want.Written = 1, test.want.Rejected == 0
			if got := mustImport(t, Lakes, s, nil, test.text); !equal(got, test.want) {
				t.Errorf("report = %+v, want %+v", got, test.want)
			}
			if lakes, _ := stored(t, s); !slices.Equal(lakes, []data.Lake{test.lake}) {
				t.Errorf("stored %+v, want %+v", lakes, test.lake)
			}
		})
	}
}

func TestObservationsWithoutColumns(t *testing.T) {
	const full = "lake_id,date,chl,data_type,cell_density_cells_ml,who_level,measured_at\n"
	const scum = full + "x,2024-10-04,5,satellite,70000,3,2024-10-04T10:30:05Z\n"
	at := time.Date(2024, 10, 4, 10, 30, 5, 0, time.UTC)
	observation := func(chl data.Chlorophyll, level data.Level, density float64, at time.Time) data.Observation {
		return data.Observation{LakeID: "x", Date: 20000, Chlorophyll: chl, Level: level, CellDensity: density, MeasuredAt: at}
	}
	for _, test := range []struct {
		name  string
		texts []string
		want  Report
		o     data.Observation
	}{
		{"none of them", []string{"lake_id,date,chl,data_type\nx,2024-10-04,5,satellite\n"},
			Report{Read: 1, Unchanged: 1, Written: true}, observation(5_00, 3, 70000, at)},
		{"another value", []string{"lake_id,date,chl,data_type\nx,2024-10-04,6,satellite\n"},
			Report{Read: 1, Changed: 1, Written: true}, observation(6_00, 3, 70000, at)},
		{"only count", []string{"lake_id,date,chl,data_type,cell_density_cells_ml\nx,2024-10-04,5,satellite,1\n"},
			Report{Read: 1, Changed: 1, Written: true}, observation(5_00, 3, 1, at)},
		{"only level, empty", []string{"lake_id,date,chl,data_type,who_level\nx,2024-10-04,5,satellite,\n"},
			Report{Read: 1, Changed: 1, Written: true}, observation(5_00, data.NoLevel, 70000, at)},
		{"all empty", []string{full + "x,2024-10-04,5,satellite,,,\n"},
			Report{Read: 1, Changed: 1, Written: true}, observation(5_00, data.NoLevel, data.NoCellDensity, time.Time{})},
		{"gap, all empty", []string{full + "x,2024-10-04,,satellite,,,\n"},
			Report{Read: 1, Changed: 1, Written: true}, observation(data.NoChlorophyll, data.NoLevel, data.NoCellDensity, time.Time{})},
		{"each file for itself", []string{full, "lake_id,date,chl,data_type\nx,2024-10-04,6,satellite\n", full},
			Report{Read: 1, Changed: 1, Written: true}, observation(6_00, 3, 70000, at)},
		{"gap", []string{"lake_id,date,chl,data_type\nx,2024-10-04,,satellite\n"},
			Report{Read: 1, Rejected: 1, Bad: []BadRow{{File: "a.csv", Number: 2, ID: "x", Reason: "chl is missing or poor, while the database holds a who_level, " +
				"a cell_density_cells_ml or the flag scum for this day: want a value that is not poor, or these columns too, which may be empty to take them back"}}},
			observation(5_00, 3, 70000, at)},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New(t)
			mustImport(t, Lakes, s, nil, aLake)
			mustImport(t, Observations, s, nil, scum)
			if got := mustImport(t, Observations, s, nil, test.texts...); !equal(got, test.want) {
				t.Errorf("report = %+v, want %+v", got, test.want)
			}
			if _, got := stored(t, s); !slices.Equal(got, []data.Observation{test.o}) {
				t.Errorf("stored %+v, want %+v", got, test.o)
			}
		})
	}
}

// The flag of scum is a report of level 3: a file without flags does not take it back.
func TestScumWithoutFlags(t *testing.T) {
	const flagged = "lake_id,date,chl,data_type,quality,flags\nx,2024-10-04,5,satellite,suspect,cloud scum\n"
	for _, test := range []struct {
		name, text, bad string
		chl             data.Chlorophyll
		flags           data.Flags
	}{
		{"another value", "lake_id,date,chl,data_type\nx,2024-10-04,5.1,satellite\n", "", 5_10, data.FlagsOf(data.Scum)},
		{"another value, no flags", "lake_id,date,chl,data_type,flags\nx,2024-10-04,5.1,satellite,\n", "", 5_10, 0},
		{"poor", "lake_id,date,chl,data_type,quality\nx,2024-10-04,5,satellite,poor\n", "chl is missing or poor", 5_00, data.FlagsOf(data.Cloud, data.Scum)},
		{"a gap", "lake_id,date,chl,data_type\nx,2024-10-04,,satellite\n", "chl is missing or poor", 5_00, data.FlagsOf(data.Cloud, data.Scum)},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New(t)
			mustImport(t, Lakes, s, nil, aLake)
			mustImport(t, Observations, s, nil, flagged)
			r := mustImport(t, Observations, s, nil, test.text)
			if (len(r.Bad) == 1) != (test.bad != "") || len(r.Bad) == 1 && !strings.Contains(r.Bad[0].Reason, test.bad) {
				t.Errorf("bad rows %+v, want %q", r.Bad, test.bad)
			}
			if _, got := stored(t, s); len(got) != 1 || got[0].Chlorophyll != test.chl || got[0].Details.Flags != test.flags {
				t.Errorf("stored %+v, want %v with %v", got, test.chl, test.flags.Names())
			}
		})
	}
}

func TestIgnoredColumns(t *testing.T) {
	many := make([]string, 50)
	for i := range many {
		many[i] = "c" + strings.Repeat("x", i)
	}
	for _, test := range []struct {
		name   string
		header []string
		want   []string
		text   string // part of the report; empty if nothing is reported
	}{
		{"none", []string{"lake_id,date,CHL,data_type, who_level"}, nil, ""},
		{"misspelt", []string{"lake_id,date,chl,data_type,who_levl"}, []string{"who_levl"}, `Ignored columns, since their names are not known: "who_levl".`},
		{"without a name", []string{",lake_id,date,chl,data_type"}, nil, ""},
		{"of two files", []string{"lake_id,date,chl,data_type,qa,Qa", "site,lake_id,qa,date,chl,data_type"},
			[]string{"qa", "Qa", "site"}, `not known: "qa", "Qa", "site".`},
		{"no plain text", []string{"lake_id,date,chl,data_type,a\x1bb"}, []string{"a\x1bb"}, `not known: "a\x1bb".`},
		{"very many", []string{"lake_id,date,chl,data_type," + strings.Join(many, ",")}, many[:31], `"` + many[29] + `", ....`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := mustImport(t, Observations, storetest.New(t), nil, test.header...)
			if !slices.Equal(got.Ignored, test.want) {
				t.Errorf("Ignored = %q, want %q", got.Ignored, test.want)
			}
			if s := got.String(); !strings.Contains(s, test.text) || strings.Contains(s, "gnored") != (test.text != "") {
				t.Errorf("report = %q, want %q in it", s, test.text)
			}
		})
	}
	got := mustImport(t, Lakes, storetest.New(t), nil, "id,state,name,lat,lon,region\n")
	if !slices.Equal(got.Ignored, []string{"state"}) {
		t.Errorf("where region is there too, Ignored = %q, want state", got.Ignored)
	}
}

func TestMeasuredNearItsDate(t *testing.T) {
	for _, test := range []struct {
		at, kind string
		ok       bool
	}{
		{"2024-06-24T00:00:00Z", "satellite", true},
		{"2024-06-23T23:59:59Z", "satellite", false},
		{"2024-07-08T23:59:59Z", "satellite", true},
		{"2024-07-09T00:00:00Z", "satellite", false},
		{"2023-07-01T10:00:00Z", "satellite", false},
		{"2024-06-03T10:00:00Z", "ai_forecast", true}, // the time when it was made
	} {
		s := storetest.New(t)
		mustImport(t, Lakes, s, nil, aLake)
		got := mustImport(t, Observations, s, nil, "lake_id,date,chl,data_type,measured_at\nx,2024-07-01,1,"+test.kind+","+test.at+"\n")
		if got.Written != test.ok {
			t.Errorf("%s: report = %+v, want written %v", test.at, got, test.ok)
		}
		if want := "measured_at " + test.at + ": want a time at most 7 days from the date 2024-07-01"; !test.ok && got.Bad[0].Reason != want {
			t.Errorf("%s: reason %q, want %q", test.at, got.Bad[0].Reason, want)
		}
	}
}
