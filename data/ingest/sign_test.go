package ingest

import (
	"fmt"
	"testing"

	"limnomap/data"
)

func TestSigns(t *testing.T) {
	for _, test := range []struct {
		header, chl, sign string
		want              data.Chlorophyll // of a value that is stored
		below             bool
		flags             data.Flags
		err               string // of one that is not
	}{
		{"sign", "0.5", "<", 25, true, 0, ""},
		{"sign", "<0.5", "<", 25, true, 0, ""},
		{"sign", "7", "=", 7_00, false, 0, ""},
		{"sign", "7", "", 7_00, false, 0, ""},
		{"sign", "7", "≤", 3_50, true, 0, ""},
		{"sign", "100", ">", 100_00, false, data.FlagsOf(data.OutOfRange), ""},
		{"Qualifier", "0.5", "U", 25, true, 0, ""},
		{"qualifier", "5", "J", 5_00, false, data.FlagsOf(data.Estimated), ""},
		{"qualifier", "5", "U;J", 2_50, true, data.FlagsOf(data.Estimated), ""},
		{"censored", "5", "TRUE", 2_50, true, 0, ""},
		{"censored", "5", "false", 5_00, false, 0, ""},
		{"censor_code", "5", "lt", 2_50, true, 0, ""},
		{"censor_code", "5", "nc", 5_00, false, 0, ""},
		{"resultQualityObservedValueBelowLOQ", "5", "1", 2_50, true, 0, ""},
		{"resultQualityObservedValueBelowLOQ", "5", "0", 5_00, false, 0, ""},
		{"sign", "0", "<", 0, false, 0, `chl "0": want a limit above 0, since sign is <`},
		{"sign", "5", "?", 0, false, 0, `sign "?": want < for a value below a limit`},
		{"sign", "", "<", 0, false, 0, "not detected, and no limit is given"},
	} {
		got, r, isRefused := refused(t, Options{}, fmt.Sprintf("lake_id,date,chl,data_type,%s\nx,2020-07-01,%s,in_situ,%s\n", test.header, test.chl, test.sign), test.err)
		if isRefused {
			continue
		}
		if len(got) != 1 || got[0].Chlorophyll != test.want || got[0].Details.BelowLimit != test.below || got[0].Details.Flags != test.flags || (r.Censored == 1) != test.below {
			t.Fatalf("%s %s %s: stored %+v, %v", test.header, test.sign, test.chl, got, r)
		}
		if d := got[0].Details; test.below && (!d.Upper.Known || d.Upper.Value != 2*test.want) || test.sign == ">" && d.Lower.Value != test.want {
			t.Errorf("%s %s %s: stored %+v, want the limit", test.header, test.sign, test.chl, d)
		}
	}
	// The limit has the unit of the column, and the sign may be mapped.
	got, r, err := observe(t, Options{Map: Mapping{"sign": "Vz."}}, "lake_id;date;chl_mg_l;data_type;Vz.\nx;2020-07-01;0,01;in_situ;<\n")
	if err != nil || len(got) != 1 || got[0].Chlorophyll != 5_00 || !got[0].Details.BelowLimit {
		t.Errorf("stored %+v, %v, %v, want half of 10 µg/l", got, r, err)
	}
}
