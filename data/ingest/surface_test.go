package ingest

import (
	"fmt"
	"strings"
	"testing"
)

// Depths of samples in tables: only those of the surface are observations.
func TestDepths(t *testing.T) {
	for _, test := range []struct {
		header, depth string
		stored        bool
		err           string
	}{
		{"depth", "", true, ""},
		{"depth", "0", true, ""},
		{"depth", "0.5", true, ""},
		{"depth", "-0.5", true, ""},
		{"depth", "2", true, ""},
		{"depth", "2.1", false, ""},
		{"depth", "10", false, ""},
		{"depth", "-10", false, ""},
		{"depth", "0-10", true, ""},
		{"depth", "0 - 10 m", true, ""},
		{"depth", "0–0.5", true, ""},
		{"depth", "0 to 5", true, ""},
		{"depth", "0,0-0,5", true, ""},
		{"depth", "5-10", false, ""},
		{"depth", "0.5 m", true, ""},
		{"depth", "30 cm", true, ""},
		{"depth", "300 cm", false, ""},
		{"depth", "5 ft", true, ""},
		{"depth", "surface", true, ""},
		{"depth", "Oberfläche", true, ""},
		{"depth", "bottom", false, ""},
		{"depth", "hypolimnion", false, ""},
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
		got, r, err := observe(t, Options{}, fmt.Sprintf("lake_id;date;chl;data_type;%s\nx;2025-07-01;7;in_situ;%s\n", test.header, test.depth))
		switch text := fmt.Sprint(r, err); {
		case test.err != "" && (len(got) > 0 || !strings.Contains(text, test.err)):
			t.Errorf("%s %s: %s, want %s", test.header, test.depth, text, test.err)
		case test.err == "" && (err != nil || r.Rejected > 0 || (len(got) == 1) != test.stored || (r.LeftOut == 1) == test.stored):
			t.Errorf("%s %s: %s, want it stored: %t", test.header, test.depth, text, test.stored)
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
