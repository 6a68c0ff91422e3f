package ingest

import (
	"fmt"
	"strings"
	"testing"
)

// Depths of samples in tables: only those of the surface are observations.
func TestDepths(t *testing.T) {
	for _, test := range []struct {
		header string
		depths string
		stored bool
		err    string
	}{
		{"depth", "|0|0.5|-0.5|2|0-10|0 - 10 m|0–0.5|0 to 5|0,0-0,5|0.5 m|30 cm|5 ft|surface|Oberfläche", true, ""},
		{"depth", "2.1|10|-10|5-10|300 cm|bottom|hypolimnion", false, ""},
		{"depth", "somewhere", false, `depth "somewhere": want a`},
		{"depth", "1 fathom", false, `depth "1 fathom": want a depth in one of the units m, cm, mm, ft, in`},
		{"depth_m", "10", false, ""},
		{"depth_cm", "30", true, ""},
		{"depth_cm", "300", false, ""},
		{"Depth (ft)", "5", true, ""},
		{"Depth (ft)", "30", false, ""},
		{"Tiefe [m]", "10", false, ""},
		{"Entnahmetiefe", "0,5", true, ""},
		{"SampleDepth", "10", false, ""},
		{"depth_from", "10", false, ""},
		{"depth (fathoms/2)", "1", true, ""}, // not known as a depth: the report names it
		{"relative_depth", "bottom", false, ""},
		{"relative_depth", "surface", true, ""},
	} {
		for depth := range strings.SplitSeq(test.depths, "|") {
			got, r, isRefused := refused(t, Options{}, fmt.Sprintf("lake_id;date;chl;data_type;%s\nx;2025-07-01;7;in_situ;%s\n", test.header, depth), test.err)
			if !isRefused && ((len(got) == 1) != test.stored || (r.LeftOut == 1) == test.stored) {
				t.Errorf("%s %s: %v, want it stored: %t", test.header, depth, r, test.stored)
			}
		}
	}
	for name, text := range map[string]string{
		"unit in a column":         "lake_id,date,chl,data_type,depth,depth_unit\nx,2025-07-01,7,in_situ,30,cm\n",
		"of a satellite's product": "lake_id,date,chl,data_type,depth\nx,2025-07-01,7,satellite,30\n", // the depth of the lake
	} {
		if got, r, err := observe(t, Options{}, text); err != nil || len(got) != 1 {
			t.Errorf("%s: stored %v, %v, %v, want an observation", name, got, r, err)
		}
	}
}
