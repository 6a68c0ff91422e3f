package ingest

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Rows that are left out, each in a file of its own.
func TestWQPLeftOut(t *testing.T) {
	for _, test := range []struct {
		reason string
		row    wqpFields
	}{
		{`other characteristic: "Chlorophyll a (probe relative fluorescence)"`, wqpFields{wqpCharacteristic: "Chlorophyll a (probe relative fluorescence)"}},
		{"quality control", wqpFields{wqpActivityType: "Quality Control Sample-Lab Duplicate"}},
		{`no surface water: "groundwater"`, wqpFields{wqpSubdivision: "Groundwater"}},
		{`no lake: "River/Stream"`, wqpFields{wqpSite: "River/Stream"}},
		{"deeper than 2 m", wqpFields{wqpDepth: "-3", wqpDepthUnit: "m"}},
		{"deeper than 2 m", wqpFields{wqpResultDepth: "2.1", wqpResultDepthUnit: "m"}},
		{"deeper than 2 m", wqpFields{wqpDepth: "", wqpTopDepth: "300", wqpTopDepthUnit: "cm"}},
		{`below the surface, in the layer "bottom"`, wqpFields{wqpDepth: "", wqpRelativeDepth: "Bottom"}},
		{"not detected, and no limit is given", wqpFields{wqpValue: "", wqpCondition: "Not Detected"}},
		{"not detected, and no limit is given", wqpFields{wqpValue: "ND"}},
		{"no value", wqpFields{wqpValue: ""}},
		{`no value: "Not Reported"`, wqpFields{wqpValue: "7", wqpCondition: "Not Reported"}},
		{`no cell counts: in "ug/l"`, wqpFields{wqpCharacteristic: "Cyanobacteria"}},
		{"below a limit: Secchi depths", wqpFields{wqpCharacteristic: "Secchi depth", wqpCondition: "Not Detected", wqpUnit: "m"}},
		{"rejected by its source: temperatures", wqpFields{wqpCharacteristic: "Temperature, water", wqpUnit: "deg C", wqpStatus: "Rejected"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			r, got := mustImportWQP(t, nil, wqpChla(test.row))
			if len(got) != 0 || r.LeftOut != 1 || !r.Written || len(r.LeftOutReasons) != 1 || r.LeftOutReasons[0].Text != test.reason {
				t.Errorf("report = %+v, stored %+v, want it left out: %s", r, got, test.reason)
			}
		})
	}
}

// A bad row between two good ones of other lakes and days.
func TestWQPRejected(t *testing.T) {
	for _, test := range []struct {
		name string
		row  wqpFields
		want []string
	}{
		{"no lake", wqpFields{wqpLake: ""}, []string{"Location_Identifier is missing"}},
		{"invalid id", wqpFields{wqpLake: "11NPS-LK/1"}, []string{`id "11NPS-LK/1"`, "--make-ids makes ids from Location_Name"}},
		{"unknown lake", wqpFields{wqpLake: "WI_WQX-9"}, []string{"the database does not hold this lake"}},
		{"future", wqpFields{wqpDate: "2099-07-03"}, []string{"date 2099-07-03 is in the future"}},
		{"time", wqpFields{wqpTime: "25:00:00"}, []string{`Activity_StartTime "25:00:00": want a time such as 13:55:00`}},
		{"unit", wqpFields{wqpUnit: "RFU"}, []string{`Result_MeasureUnit "RFU": want a unit of chlorophyll`, "ug/l"}},
		{"unit of a depth", wqpFields{wqpDepthUnit: "fathoms"}, []string{`Activity_DepthHeightMeasureUnit "fathoms": want a unit of depths`}},
		{"no number", wqpFields{wqpValue: "green"}, []string{`Result_Measure "green": want a number from 0 to 1500 ug/l`}},
		{"too high", wqpFields{wqpValue: "2", wqpUnit: "mg/l"}, []string{`Result_Measure "2": want a number from 0 to 1.5 mg/l`}},
		{"a comma", wqpFields{wqpValue: "1,5", wqpUnit: "mg/l"}, []string{`Result_Measure "1,5"`, "without a comma"}},
		{"temperature", wqpFields{wqpCharacteristic: "Temperature, water", wqpUnit: "deg C", wqpValue: "1310"}, []string{`Result_Measure "1310": want a number from -10 to 100 deg C`}},
		{"condition", wqpFields{wqpCondition: "Maybe"}, []string{`Result_ResultDetectionCondition "Maybe"`}},
		{"only cells", wqpFields{wqpCharacteristic: "Cyanobacteria", wqpUnit: "#/l", wqpValue: "5000"}, []string{"5 cells/ml of cyanobacteria without chlorophyll"}},
		{"invisible organization", wqpFields{wqpOrgName: "\u200b"}, []string{"source", "no visible character"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			row := wqpFields{wqpDate: "2024-07-02"}
			for c, value := range test.row {
				row[c] = value
			}
			text := wqpFile(t, wqp3Header, wqpChla(nil), wqpChla(row), wqpChla(wqpFields{wqpLake: "WI_WQX-2"}))
			checkOneRejected(t, Observations, wqpStore(t), text, test.want)
		})
	}
}

// Bad rows are listed in the order of lines, although samples are written after the last row.
func TestWQPBadRowsInOrder(t *testing.T) {
	var rows []wqpFields
	for i := range 60 {
		row := wqpFields{wqpLake: fmt.Sprintf("unknown-%d", i), wqpValue: "1"}
		if i%2 == 1 {
			row[wqpValue] = "green"
		}
		rows = append(rows, wqpChla(row))
	}
	r, _ := mustImportWQP(t, &Options{SkipBad: true}, rows...)
	if r.Rejected != 60 || len(r.Bad) != maxBadRows {
		t.Fatalf("report = %+v, want 60 rejected", r)
	}
	for i, bad := range r.Bad {
		if bad.Number != i+2 || bad.ID != fmt.Sprintf("unknown-%d", i) {
			t.Errorf("bad row %d is %+v, want line %d", i, bad, i+2)
		}
	}
}

// Times without a zone that is known are not guessed.
func TestWQPTimes(t *testing.T) {
	for _, test := range []struct {
		clock, zone string
		want        time.Time
		untimed     int
	}{
		{"10:30:00", "EST", time.Date(2024, 7, 1, 15, 30, 0, 0, time.UTC), 0},
		{"23:30", "AKDT", time.Date(2024, 7, 2, 7, 30, 0, 0, time.UTC), 0},
		{"00:30:00", "NST", time.Date(2024, 7, 1, 4, 0, 0, 0, time.UTC), 0},
		{"01:30:00", "CEST", time.Date(2024, 6, 30, 23, 30, 0, 0, time.UTC), 0},
		{"10:30:00", "", time.Time{}, 1},
		{"10:30:00", "BST", time.Time{}, 1},
		{"", "EST", time.Time{}, 0},
	} {
		r, got := mustImportWQP(t, nil, wqpChla(wqpFields{wqpTime: test.clock, wqpZone: test.zone}))
		if len(got) != 1 || got[0].MeasuredAt != test.want || got[0].Date.String() != "2024-07-01" || r.Untimed != test.untimed {
			t.Errorf("%s %s: stored %+v, want %v; report %+v", test.clock, test.zone, got, test.want, r)
		}
		if want := "1 row without a time of day"; (test.untimed > 0) != strings.Contains(r.String(), want) {
			t.Errorf("%s %s: report\n%s", test.clock, test.zone, r)
		}
	}
}

// An answer of the portal that it could not complete is an error, also if bad rows are skipped.
func TestWQPIncomplete(t *testing.T) {
	const last = "ERROR: INCOMPLETE DATA - THE RESULTS FOR THIS REQUEST ARE NOT COMPLETE AND MORE DATA IS LIKELY AVAILABLE.  PLEASE RETRY THE REQUEST.\n"
	s := wqpStore(t)
	r, err := Observations(t.Context(), s, files(wqpFile(t, wqp3Header, wqpChla(nil))+last), &Options{SkipBad: true})
	if err == nil || !strings.Contains(err.Error(), "a.csv: line 3: the Water Quality Portal says that it could not complete this file") || r.Written {
		t.Errorf("import = %+v, %v, want an error", r, err)
	}
	if _, got := stored(t, s); len(got) != 0 {
		t.Errorf("stored %+v, want nothing", got)
	}
}
