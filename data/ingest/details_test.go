package ingest

import (
	"slices"
	"strings"
	"testing"

	"limnomap/data"
	"limnomap/data/store/storetest"
)

func TestDetails(t *testing.T) {
	const header = "lake_id,date,chl,data_type,"
	for _, test := range []struct {
		name, columns, chl, fields string
		want                       func(*data.Observation)
	}{
		{"a sample", "source,method,secchi_m,water_temperature_c", "12.35", `"LfU  Bayern",DIN 38409-60,2.5,-0.456`, func(o *data.Observation) {
			o.Source, o.Details.Method = "LfU Bayern", "DIN 38409-60"
			o.Details.Secchi, o.Details.WaterTemperature = data.Known(data.Hundredths(2_50)), data.Known(data.Hundredths(-46))
		}},
		{"pixels", "n_valid,n_total", "12.35", "0,25.0", func(o *data.Observation) {
			o.Details.ValidPixels, o.Details.TotalPixels = data.Known(int32(0)), data.Known(int32(25))
		}},
		{"pixels of a raster", "n_inside,n_valid,p10,p90", "12.35", "25,0,8.1,high", func(o *data.Observation) {
			o.Details.ValidPixels, o.Details.TotalPixels = data.Known(int32(0)), data.Known(int32(25))
		}},
		{"a version", "version", "12.35", " V2.1.1  2025-09-14T10:00 ", func(o *data.Observation) { o.Details.Version = "V2.1.1 2025-09-14T10:00" }},
		{"a period", "period_start,composite", "12.35", "28.9.2024,Maximum", func(o *data.Observation) {
			o.Details.PeriodStart, o.Details.Composite = data.Known(data.Date(19_994)), data.MaximumComposite
		}},
		{"a satellite's scum and turbidity", "flags,scum_percent,turbidity_ntu", "12.35", "scum_possible,12.5,3", func(o *data.Observation) {
			o.Details.Flags, o.Details.ScumPercent, o.Details.Turbidity = data.FlagsOf(data.ScumPossible), data.Known(data.Hundredths(12_50)), data.Known(data.Hundredths(3_00))
		}},
		{"a period of one day", "period_start,composite", "12.35", "2024-10-04,", func(o *data.Observation) { o.Details.PeriodStart = data.Known(data.Date(20_000)) }},
		{"nothing known", "version,source,chl_lower,chl_upper,below_limit,n_valid,n_total,quality,flags,method,secchi_m,water_temperature_c", "12.35", "-,-,NA,-,,n.a.,NA,,,,NA,", func(*data.Observation) {}},
		{"a range", "chl_lower,chl_upper", "12.35", "12,12.7", func(o *data.Observation) {
			o.Details.Lower, o.Details.Upper = data.Known(data.Chlorophyll(12_00)), data.Known(data.Chlorophyll(12_70))
		}},
		{"an uncertainty", "uncertainty", "12.35", "2.5", func(o *data.Observation) {
			o.Details.Lower, o.Details.Upper = data.Known(data.Chlorophyll(9_85)), data.Known(data.Chlorophyll(14_85))
		}},
		{"a great uncertainty", "uncertainty", "12.35", "1495", func(o *data.Observation) {
			o.Details.Lower, o.Details.Upper = data.Known(data.Chlorophyll(0)), data.Known(data.MaxChlorophyll)
		}},
		{"a great uncertainty of a limit", "uncertainty", "<24.7", "20", func(o *data.Observation) {
			belowLimit(o, 24_70)
			o.Details.Lower = data.Known(data.Chlorophyll(0))
		}},
		{"below a limit, as a column too", "below_limit", "<24.7", "TRUE", func(o *data.Observation) { belowLimit(o, 24_70) }},
		{"below a limit, with the limit", "below_limit,chl_upper", "12.35", "1,25", func(o *data.Observation) { belowLimit(o, 25_00) }},
		{"not below a limit", "below_limit", "12.35", "false", func(*data.Observation) {}},
		{"quality and flags", "quality,flags", "12.35", `Suspect,"cloud; few_pixels"`, func(o *data.Observation) {
			o.Quality, o.Details.Flags = data.Suspect, data.FlagsOf(data.Cloud, data.FewPixels)
		}},
		{"only a depth", "secchi_m", "", "0", func(o *data.Observation) {
			o.Chlorophyll, o.Details.Secchi = data.NoChlorophyll, data.Known(data.Hundredths(0))
		}},
	} {
		s := storetest.New(t)
		mustImport(t, Lakes, s, nil, aLake)
		text := header + test.columns + "\nx,2024-10-04," + test.chl + ",in_situ," + test.fields + "\n"
		for _, want := range []Report{{Read: 1, Added: 1}, {Read: 1, Unchanged: 1}} {
			if got := mustImport(t, Observations, s, nil, text); got.Added != want.Added || got.Unchanged != want.Unchanged || len(got.Ignored) > 0 {
				t.Errorf("%s: report = %+v, want %+v", test.name, got, want)
			}
		}
		o := data.Observation{LakeID: "x", Date: 20000, Type: data.InSitu, Chlorophyll: 12_35, Level: data.NoLevel, CellDensity: data.NoCellDensity}
		test.want(&o)
		if _, got := stored(t, s); !slices.Equal(got, []data.Observation{o}) {
			t.Errorf("%s: stored %+v, want %+v", test.name, got, o)
		}
	}
}

// A file with the column level_by has levels and densities that a server derived. Only what is the source's own is stored.
func TestDerivedIsNotStored(t *testing.T) {
	const header = "lake_id,date,chl,data_type,who_level,cell_density_cells_ml,level_by\n"
	for _, test := range []struct {
		name, text string
		level      data.Level
		density    float64
	}{
		{"derived", header + "x,2024-10-04,11,satellite,1,22000,\n", data.NoLevel, data.NoCellDensity},
		{"a count", header + "x,2024-10-04,11,satellite,1,22001,\n", data.NoLevel, 22_001},
		{"by a count", header + "x,2024-10-04,11,satellite,2,150000,cells\n", data.NoLevel, 150_000},
		{"by a count that is as derived", header + "x,2024-10-04,11,satellite,1,22000,Cells\n", data.NoLevel, 22_000},
		{"by a report", header + "x,2024-10-04,11,satellite,2,22000,report\n", 2, data.NoCellDensity},
		{"by a report, with a count", header + "x,2024-10-04,11,satellite,3,30000,report\n", 3, 30_000},
		{"scum is never derived", header + "x,2024-10-04,11,satellite,3,22000,\n", 3, data.NoCellDensity},
		{"nothing", header + "x,2024-10-04,11,satellite,,,\n", data.NoLevel, data.NoCellDensity},
		{"without the column", "lake_id,date,chl,data_type,who_level,cell_density_cells_ml\nx,2024-10-04,11,satellite,1,22000\n", 1, 22_000},
	} {
		s := storetest.New(t)
		mustImport(t, Lakes, s, nil, aLake)
		if r := mustImport(t, Observations, s, nil, test.text); r.Added != 1 || len(r.Ignored) != 0 {
			t.Errorf("%s: report %+v, want one added, and no column ignored", test.name, r)
		}
		want := data.Observation{LakeID: "x", Date: 20000, Chlorophyll: 11_00, Level: test.level, CellDensity: test.density}
		if _, got := stored(t, s); !slices.Equal(got, []data.Observation{want}) {
			t.Errorf("%s: stored %+v, want %+v", test.name, got, want)
		}
	}
}

// A history of the server does not say that a source gave no level and no count: those that are stored stay.
func TestDerivedTakesNothingBack(t *testing.T) {
	s := storetest.New(t)
	mustImport(t, Lakes, s, nil, aLake)
	mustImport(t, Observations, s, nil, "lake_id,date,chl,data_type,who_level,cell_density_cells_ml\n"+
		"x,2024-10-04,12,satellite,1,\nx,2024-10-05,12,satellite,,24000\nx,2024-10-06,5,satellite,2,150000\n")
	_, before := stored(t, s)
	const header = "lake_id,date,chl,data_type,who_level,cell_density_cells_ml,level_by\n"
	r := mustImport(t, Observations, s, nil, header+
		"x,2024-10-04,12,satellite,1,24000,\nx,2024-10-05,12,satellite,1,24000,\nx,2024-10-06,5,satellite,2,150000,cells\n")
	if _, got := stored(t, s); r.Unchanged != 3 || !slices.Equal(got, before) {
		t.Errorf("report %+v, stored %+v, want %+v", r, got, before)
	}
	// What is of the source replaces what is stored.
	r = mustImport(t, Observations, s, nil, header+"x,2024-10-05,12,satellite,2,120000,cells\nx,2024-10-06,5,satellite,3,10000,report\n")
	before[1].CellDensity, before[0].Level = 120_000, 3
	if _, got := stored(t, s); r.Changed != 2 || !slices.Equal(got, before) {
		t.Errorf("report %+v, stored %+v, want %+v", r, got, before)
	}
}

func TestRejectedDetails(t *testing.T) {
	for _, test := range []struct{ columns, chl, fields, want string }{
		{"chl_lower", "5", "6", "chl_lower 6: want a number from 0 to 5"},
		{"chl_upper", "", "4", "without chl"},
		{"uncertainty,chl_lower", "5", "1,4", "want either"},
		{"uncertainty", "", "1", "uncertainty without chl"},
		{"uncertainty", "5", "-1", "uncertainty"},
		{"below_limit", "5", "maybe", "below_limit"},
		{"below_limit", "15", "true", "the limit too"},
		{"below_limit", "<5", "false", "since chl has a <"},
		{"n_valid,n_total", "5", "3,2", "n_valid 3"},
		{"n_valid", "5", "2.5", "without decimals"},
		{"quality", "5", "bad", "good, suspect, poor"},
		{"period_start", "5", "2024-10-05", "period_start 2024-10-05: want a day from 2023-10-04 to the date, 2024-10-04"},
		{"period_start", "5", "2023-10-03", "want a day from 2023-10-04"},
		{"period_start", "5", "October", "period_start \"October\": want a day"},
		{"scum_percent", "5", "100.01", "scum_percent"},
		{"turbidity_ntu", "5", "-1", "turbidity_ntu"},
		{"composite", "5", "minimum", `composite "minimum" is none of mean, maximum, median`},
		{"flags", "5", "cloud fog", `"fog" is none of cloud, sun_glint`},
		{"flags", "", "cloud scum", "flags scum without chl: want a value of chl too"},
		{"level_by", "5", "satellite", `level_by "satellite" is none of chlorophyll, cells, report`},
		{"who_level,level_by", "", "1,", "who_level 1 without chl"},
		{"cell_density_cells_ml,level_by", "", "30000,chlorophyll", "cell_density_cells_ml 30000 without chl"},
		{"source", "5", "a\u202eb", "source"},
		{"version", "5", strings.Repeat("1", 65), "version"},
		{"secchi_m", "5", "101", "secchi_m"},
		{"water_temperature_c", "5", "451", "water_temperature_c"},
	} {
		s := storetest.New(t)
		mustImport(t, Lakes, s, nil, aLake)
		got := mustImport(t, Observations, s, nil, "lake_id,date,chl,data_type,"+test.columns+"\nx,2024-10-04,"+test.chl+",in_situ,"+test.fields+"\n")
		if len(got.Bad) != 1 || !strings.Contains(got.Bad[0].Reason, test.want) {
			t.Errorf("%s = %s: %+v, want a bad row with %q", test.columns, test.fields, got.Bad, test.want)
		}
	}
}

// Files of a satellite's product, or of its scenes of one day, may be imported in any order, together or one after the other: neither an older
// version nor a gap replaces the better value.
func TestBetterRowsStay(t *testing.T) {
	version := func(version, chl string) string {
		return "lake_id,date,chl,data_type,source,version\nx,2024-10-04," + chl + ",satellite,Copernicus LWQ300," + version + "\n"
	}
	scene := func(fields string) string {
		return "lake_id,date,chl,data_type,source,n_valid,n_inside,quality\nx,2024-10-04," + fields + "\n"
	}
	older, newer := version("V2.1.1 9 observations", "5"), version("V2.1.1 12 observations", "6")
	gap, poor, good := scene(",satellite,MSI,0,25,"), scene("5,satellite,MSI,4,25,poor"), scene("6,satellite,MSI,20,25,")
	for _, test := range []struct {
		name  string
		files []string
		want  Report
		said  string
	}{
		{"the older one first", []string{older, newer}, Report{Read: 2, Added: 1, Changed: 1}, ""},
		{"the newer one first", []string{newer, older, newer}, Report{Read: 3, Added: 1, Older: 1, Unchanged: 1}, "1 row of an older version: what is stored is kept.\n"},
		{"the gap first", []string{gap, good}, Report{Read: 2, Added: 1, Changed: 1}, ""},
		{"the value first", []string{good, gap, poor}, Report{Read: 3, Added: 1, Worse: 2}, "2 rows with fewer data than the stored value of their day: what is stored is kept.\n"},
		{"again", []string{poor, good, poor, good}, Report{Read: 4, Added: 1, Changed: 1, Worse: 1, Unchanged: 1}, "1 row with fewer data"},
	} {
		s := storetest.New(t)
		mustImport(t, Lakes, s, nil, aLake)
		got := mustImport(t, Observations, s, nil, test.files...)
		test.want.Written = true
		if !equal(got, test.want) || got.Older != test.want.Older || got.Worse != test.want.Worse || !strings.Contains(got.String(), test.said) || strings.Contains(got.String(), "is kept") != (test.said != "") {
			t.Errorf("%s: %+v, want %+v and %q", test.name, got, test.want, test.said)
		}
		if _, all := stored(t, s); len(all) != 1 || all[0].Chlorophyll != 6_00 {
			t.Errorf("%s: stored %+v, want 6", test.name, all)
		}
		worse := older
		if test.files[0] != older && test.files[0] != newer {
			worse = gap
		}
		if got := mustImport(t, Observations, s, nil, worse); got.Older+got.Worse != 1 {
			t.Errorf("%s: the worse one later: %+v", test.name, got)
		}
	}
}
