package satellite

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"limnomap/data"
	"limnomap/data/ingest/satellite/satellitetest"
)

// at parses a time of a test; "" is the zero time.
func at(t testing.TB, s string) time.Time {
	t.Helper()
	if s == "" {
		return time.Time{}
	}
	for _, form := range []string{time.DateOnly, time.RFC3339} {
		if when, err := time.Parse(form, s); err == nil {
			return when
		}
	}
	t.Fatalf("%q is no time", s)
	return time.Time{}
}

func TestPeriod(t *testing.T) {
	type texts = map[string]string
	const nasa, occci = "2020-07-12T01:00:01.000Z/2020-07-13T02:20:00.000Z", "202201010000Z/202201312359Z"
	const july, week = "2021-07-01T00:00:00Z/2021-07-31T23:59:59Z", "2021-07-04T00:00:00Z/2021-07-11T23:59:59Z"
	const series = "1997-09-04T00:00:00Z/2024-12-31T23:59:59Z"
	const monthly = "ESACCI-OC-L3S-CHLOR_A-MERGED-1M_MONTHLY_4km_GEO_PML_OCx-202201-fv6.0.nc"
	const dayOfNASA = "AQUA_MODIS.20200712.L3m.DAY.CHL.chlor_a.4km.nc"
	for _, test := range []struct {
		about, name, time, bounds, coverage string // two times have a / between
		more                                texts  // other attributes
		want                                string // a period, or a part of an error
	}{
		{about: "only a name", name: "chl_2025-07-01.tif", want: "2025-07-01"},
		{about: "only a time", name: "chl.nc", time: "2025-07-01T12:00:00Z", want: "2025-07-01"},
		{about: "nothing", name: "chl.nc", want: "no date"},
		{about: "only attributes", name: "chl.nc", coverage: "2025-09-01T00:00:00Z/2025-09-10T23:59:59Z", want: "2025-09-01 to 2025-09-10"},
		{about: "an end at midnight", name: "chl.nc", coverage: "2025-09-01T00:00:00Z/2025-09-11T00:00:00Z", want: "2025-09-01 to 2025-09-10"},
		{about: "days without a time", name: "chl.nc", coverage: "2025-09-01/2025-09-10", want: "2025-09-01 to 2025-09-10"},
		{about: "an end that is none", name: "chl.nc", more: texts{"time_coverage_end": "soon"}, want: "no date"},
		{about: "an end before the begin", name: "chl.nc", coverage: "2025-09-10/2025-09-01", want: "no date"},

		{about: "the day of NASA", name: dayOfNASA, coverage: nasa, more: texts{"temporal_range": "day"}, want: "2020-07-12"},
		{about: "the day of NASA under another name", name: "download.nc", coverage: nasa, more: texts{"temporal_range": "day"}, want: "2020-07-12"},
		{about: "eight days of NASA", name: "AQUA_MODIS.20200704_20200711.L3m.8D.CHL.chlor_a.9km.nc", coverage: "2020-07-04T00:35:01.000Z/2020-07-12T02:24:59.000Z", more: texts{"temporal_range": "8-day"}, want: "2020-07-04 to 2020-07-11"},
		{about: "its older times", name: "A2020194.L3m_DAY_CHL_chlor_a_4km.nc", more: texts{"start_time": "2020194001000123", "end_time": "2020195023000456"}, want: "2020-07-12"},
		{about: "a day that is a month", name: dayOfNASA, coverage: "2020-07-01T00:00:00Z/2020-07-31T23:59:59Z", more: texts{"temporal_range": "month"}, want: "temporal_range \"month\""},
		{about: "another day", name: dayOfNASA, coverage: "2020-07-20T01:00:01.000Z/2020-07-21T02:20:00.000Z", want: "the name says 2020-07-12"},

		{about: "a month of OC-CCI", name: monthly, time: "2022-01-01", coverage: occci, more: texts{"time_coverage_duration": "P1M"}, want: "2022-01-01 to 2022-01-31"},
		{about: "the same under another name", name: "download.nc", time: "2022-01-01", coverage: occci, more: texts{"time_coverage_duration": "P1M"}, want: "2022-01-01 to 2022-01-31"},
		{about: "a month with its middle", name: "chl_202201.nc", time: "2022-01-16T12:00:00Z", want: "2022-01-01 to 2022-01-31"},
		{about: "a month with its end", name: "chl_202201.nc", time: "2022-02-01", want: "2022-01-01 to 2022-01-31"},
		{about: "a month with the time of another", name: monthly, time: "2022-03-01", want: "the time coordinate 2022-03-01"},
		{about: "a month of a day", name: "chl_202201.nc", coverage: "2022-01-15T10:00:00Z/2022-01-15T10:05:00Z", want: "not clear"},
		{about: "a month by its length", name: "chl.nc", time: "2022-02-15", more: texts{"time_coverage_resolution": "P1M"}, want: "2022-02-01 to 2022-02-28"},
		{about: "eight days without a begin", name: "chl.nc", time: "2022-02-15", more: texts{"temporal_range": "8-day"}, want: "not clear"},

		{about: "bounds", name: "chl.nc", time: "2022-01-01", bounds: "2022-01-01/2022-02-01", want: "2022-01-01 to 2022-01-31"},
		{about: "bounds beat all", name: dayOfNASA, time: "2022-01-01", bounds: "2022-01-01/2022-01-09", coverage: series, want: "2022-01-01 to 2022-01-08"},
		{about: "bounds without a length", name: "chl_20220105.nc", time: "2022-01-05", bounds: "2022-01-05/2022-01-05", want: "2022-01-05"},

		{about: "a subset of a series", name: "chl_subset_20210705.nc", time: "2021-07-05", coverage: series, want: "2021-07-05"},
		{about: "its first day", name: "chl_19970904.nc", time: "1997-09-04", coverage: series, want: "1997-09-04"},
		{about: "its last day", name: "chl_20241231.nc", time: "2024-12-31", coverage: series, want: "2024-12-31"},
		{about: "only the time of a subset", name: "chl.nc", time: "2021-07-05", coverage: series, want: "2021-07-05"},
		{about: "only the name of a subset", name: "chl_20210705.nc", coverage: series, want: "2021-07-05"},
		{about: "a subset of a month", name: "chl_20210705.nc", time: "2021-07-05", coverage: july, want: "2021-07-05"},
		{about: "the first day of a month, or the month", name: "chl_20210701.nc", time: "2021-07-01", coverage: july, want: "not clear"},
		{about: "the first day of a month of days", name: "chl_20210701.nc", time: "2021-07-01", coverage: july, more: texts{"time_coverage_resolution": "P1D"}, want: "2021-07-01"},
		{about: "a month whose file is named for its first day", name: "chl_monthly_20210701.nc", time: "2021-07-01", coverage: july, want: "2021-07-01 to 2021-07-31"},
		{about: "days labelled by the first", name: "chl.nc", time: "2021-07-04", coverage: week, want: "2021-07-04 to 2021-07-11"},
		{about: "days labelled by the middle", name: "chl.nc", time: "2021-07-08", coverage: week, want: "2021-07-04 to 2021-07-11"},
		{about: "a time outside of a subset", name: "chl.nc", time: "2026-07-05", coverage: series, want: "not clear"},
		{about: "name and time of two days", name: "chl_20210705.nc", time: "2021-07-06T12:00:00Z", want: "the time coordinate 2021-07-06"},
		{about: "name and time of two days in a series", name: "chl_20210705.nc", time: "2021-07-20", coverage: series, want: "not clear"},
		{about: "the time at the end of the day", name: "chl_20210705.nc", time: "2021-07-06", coverage: "2021-07-05T00:00:00Z/2021-07-06T00:00:00Z", want: "2021-07-05"},

		{about: "a scene by SNAP", name: "S2A_MSIL2A_20250701T103031_N0511_R108_T32TPT_20250702T005301.nc", more: texts{"start_date": "01-JUL-2025 10:30:31.024000", "stop_date": "01-JUL-2025 10:30:31.024000"}, want: "2025-07-01"},
		{about: "a scene by SNAP with another name", name: "chl_20250801.nc", more: texts{"start_date": "01-JUL-2025 10:30:31.024000", "stop_date": "01-JUL-2025 10:30:45.024000"}, want: "the name says 2025-08-01"},
		{about: "a scene of a series", name: "x.nc", coverage: "2016-01-01T00:00:00Z/2024-12-31T23:59:59Z", more: texts{"start_time": "2021-04-01T10:00:00Z", "stop_time": "2021-04-01T10:03:00Z"}, want: "2021-04-01"},
		{about: "two scenes", name: "x.nc", coverage: "2016-01-01T00:00:00Z/2016-01-01T23:59:59Z", more: texts{"start_time": "2021-04-01T10:00:00Z", "stop_time": "2021-04-01T10:03:00Z"}, want: "not clear"},
		{about: "a begin with an end of another name", name: "chl_20250705.nc", time: "2025-07-05", more: texts{"start_date": "2025-07-01", "end_date": "2025-09-30"}, want: "2025-07-05"},
		{about: "only a begin", name: "chl.nc", more: texts{"start_date": "2025-07-01T10:00:00Z"}, want: "2025-07-01"},
		{about: "ACOLITE", name: "S2A_MSI_2021_04_01_11_06_52_T31UDS_L2W.nc", more: texts{"isodate": "2021-04-01T11:06:52.458Z"}, want: "2021-04-01"},
		{about: "a period and its first day only", name: "c_gls_LWQ300_202509010000_GLOBE_OLCI_V2.1.1.nc", coverage: "2025-09-01T00:00:00Z/2025-09-01T00:00:00Z", want: "2025-09-01 to 2025-09-10"},
		{about: "a day and a length", name: "chl_7d_2025-07-07.tif", want: "the name says 2025-07-07 and 7 days"},
		{about: "the first and the middle", name: "chl_20210704.nc", time: "2021-07-08", coverage: week, want: "not clear"},
		{about: "a doubtful name", name: "chl_20250701_20250901.tif", want: "not clear"},
		{about: "a doubtful name and a time", name: "chl_20250701_20250901.nc", time: "2025-07-01", want: "2025-07-01"},
		{about: "days that a name says and a scene", name: "chl_20250701_20250707.nc", coverage: "2025-07-03T10:00:00Z/2025-07-03T10:03:00Z", want: "not clear"},
		{about: "days that two say", name: "chl_20250701_20250707.nc", coverage: "2025-07-08T00:00:00Z/2025-07-14T23:59:59Z", want: "not clear"},
	} {
		t.Run(test.about, func(t *testing.T) {
			begin, end, _ := strings.Cut(test.bounds, "/")
			d := dating{name: test.name, time: at(t, test.time), bounds: [2]time.Time{at(t, begin), at(t, end)}, attributes: func(name string) string {
				start, end, _ := strings.Cut(test.coverage, "/")
				return cmp.Or(test.more[name], map[string]string{"time_coverage_start": start, "time_coverage_end": end}[name])
			}}
			p, err := d.period()
			switch {
			case err != nil:
				if !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "--date") {
					t.Errorf("the error is %v, want %q", err, test.want)
				}
			case p.String() != test.want:
				t.Errorf("the period is %s, want %s", p, test.want)
			}
		})
	}
}

func TestParseTimes(t *testing.T) {
	for text, want := range map[string]string{
		"2020-07-13T02:20:00.000Z": "2020-07-13 02:20:00", "202201312359Z": "2022-01-31 23:59:00", "20250701T093000Z": "2025-07-01 09:30:00",
		"01-JUL-2025 09:30:00.123456": "2025-07-01 09:30:00", "2025-07-01T02:00:00+02:00": "2025-07-01 00:00:00",
		"2025-07-01": "2025-07-01 00:00:00", "2022-01": "2022-01-01 00:00:00", "20250701": "2025-07-01 00:00:00", " 2025-07-01 09:30:00 UTC ": "2025-07-01 09:30:00",
		"": "", "soon": "", "09:30": "", "1": "", "0001-01-01": "", "9999-12-31": "", "99999999999999999999": "",
	} {
		got := ""
		if begin, end, ok := parseTimes(text); ok {
			got = begin.Format("2006-01-02 15:04:05")
			if end.Before(begin) {
				t.Errorf("%q ends before it begins", text)
			}
		}
		if got != want {
			t.Errorf("parseTimes(%q) = %q, want %q", text, got, want)
		}
	}
}

// Whatever a file says, its period lies in what it says, or it is refused with the way out.
func TestPeriodIsOneOfItsReadings(t *testing.T) {
	start := at(t, "2025-01-01")
	rapid.Check(t, func(t *rapid.T) {
		day := func(name string) time.Time { return start.AddDate(0, 0, rapid.IntRange(0, 60).Draw(t, name)) }
		from, days := day("from"), rapid.SampledFrom([]int{0, 1, 7, 8, 10, 31, 92, 400}).Draw(t, "days")
		d := dating{name: "chl.nc", attributes: func(name string) string {
			switch name {
			case "time_coverage_start":
				return from.Format(time.RFC3339)
			case "time_coverage_end":
				return from.AddDate(0, 0, days).Format(time.RFC3339)
			}
			return ""
		}}
		if rapid.Bool().Draw(t, "has a name") {
			d.name = day("name").Format("chl_20060102.nc")
		}
		if rapid.Bool().Draw(t, "has a time") {
			d.time = day("time")
		}
		p, err := d.period()
		if err != nil {
			if !strings.Contains(err.Error(), "--date") {
				t.Fatalf("the error is %v", err)
			}
			return
		}
		whole := interval{start: from, end: from.AddDate(0, 0, days)}.days()
		if p.first > p.last || !whole.contains(p) {
			t.Fatalf("the period is %s, and not of %s", p, whole)
		}
	})
}

func TestPeriodOfFile(t *testing.T) {
	now := func() time.Time { return at(t, "2025-07-10T12:00:00Z") }
	day := func(s string) Options { return Options{Now: now, Date: data.Known(data.DateOf(at(t, s)))} }
	year := [2]time.Time{at(t, "2024-01-01"), at(t, "2025-01-01")}
	for _, test := range []struct {
		about, name string
		bounds      [2]time.Time
		opts        Options
		want        string
	}{
		{"as the file says", "chl_202506.nc", [2]time.Time{}, Options{Now: now}, "2025-06-01 to 2025-06-30"},
		{"its last day", "chl_202506.nc", [2]time.Time{}, day("2025-06-30"), "2025-06-01 to 2025-06-30"},
		{"another day", "chl_202506.nc", [2]time.Time{}, day("2025-06-15"), "2025-06-15"},
		{"a day of a file without one", "chl.nc", [2]time.Time{}, day("2025-06-15"), "2025-06-15"},
		{"a year", "chl.nc", year, Options{Now: now}, "366 days"},
		{"a year with a date", "chl.nc", year, day("2024-12-31"), "2024-01-01 to 2024-12-31"},
		{"the future", "chl_20250712.nc", [2]time.Time{}, Options{Now: now}, "want a day until tomorrow, 2025-07-11"},
	} {
		p, err := periodOfFile(dating{name: test.name, bounds: test.bounds, attributes: func(string) string { return "" }}, &test.opts)
		if err == nil && p.String() != test.want || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %s, %v, want %s", test.about, p, err, test.want)
		}
	}
}

// The values of a period have the statistic over time that the file says, or its name or its product; those of a day have none.
func TestComposite(t *testing.T) {
	netCDF := func(cellMethods, measure string, days float64) []byte {
		f := lwqFile(chla(constant(12)))
		f.Attributes = map[string]string{"measure": measure}
		f.Variables[0].Text["cell_methods"] = cellMethods
		f.Times, f.Bounds = []float64{18813}, []float64{18813, 18813 + days}
		return f.Encode()
	}
	index := func(items map[string]string) []byte {
		f := indexRaster(func(int) byte { return 130 })
		f.Items = items
		return f.Encode()
	}
	for _, test := range []struct {
		name string
		file []byte
		opts Options
		days data.Date // of the period
		want data.Composite
	}{
		{lwqName, lwqFile(chla(constant(12))).Encode(), Options{}, 10, data.MeanComposite},
		{lwqName, lwqFile(chla(constant(12))).Encode(), Options{Date: data.Known(data.Date(20_000))}, 1, data.NoComposite},
		{lwqName, netCDF("time: median", "", 10), Options{}, 10, data.MedianComposite},
		{"chl.nc", netCDF("time: mean", "", 10), Options{Product: OwnRaster, Variable: "chla_mean"}, 10, data.MeanComposite},
		{"chl.nc", netCDF("area: mean time: lat: maximum (interval: 1 day)", "", 7), Options{Product: OwnRaster}, 7, data.MaximumComposite},
		{"chl.nc", netCDF("area: mean time: minimum", "Mean", 7), Options{Product: OwnRaster}, 7, data.NoComposite},
		{"chl.nc", netCDF("area: mean", "Mean", 7), Options{Product: OwnRaster}, 7, data.MeanComposite},
		{"chl.nc", netCDF("time: mean", "", 400), Options{Product: OwnRaster, Date: data.Known(data.Date(18813 + 399))}, 400, data.MeanComposite},
		{"chl.nc", netCDF("", "", 7), Options{Product: OwnRaster}, 7, data.NoComposite},
		{"chl.nc", netCDF("time: mean", "Mean", 1), Options{Product: OwnRaster}, 1, data.NoComposite},
		{cyanFile, index(nil), Options{}, 7, data.MaximumComposite},
		{cyanFile, index(map[string]string{"cell_methods": "time: mean"}), Options{}, 7, data.MeanComposite},
		{"L2020201.L3m_DAY_CYAN_CI_cyano_CYAN_CONUS_300m_5_2.tif", index(nil), Options{}, 1, data.NoComposite},
		{"ts_2016.1007_1013.L4.LCHMP3.CIcyano.MAXIMUM_7day.tif", index(nil), Options{}, 7, data.MaximumComposite},
		{"sentinel-3.2018.0812_0818.L4.LE3.CIcyano.tif", index(nil), Options{}, 7, data.NoComposite},
	} {
		if test.opts.Product == OwnRaster {
			test.opts.Variable = "chla_mean"
		}
		values, err := Collect(t.Context(), fileOf(test.name, test.file), wholeRaster(t), &test.opts)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		start := data.Optional[data.Date]{}
		if test.days > 1 && test.days <= data.MaxPeriod {
			start = data.Known(values.Date - test.days + 1)
		}
		for o, err := range values.Observations() {
			if err != nil || values.Date-values.PeriodStart+1 != test.days || o.Details.Composite != test.want || o.Details.PeriodStart != start || o.Check() != nil {
				t.Errorf("%s: %+v of %+v, %v, want %s of %d days", test.name, o, values.Summary, err, test.want, test.days)
			}
		}
	}
}

// A file with several times is never read in part without being asked to, and the period is that of the step.
func TestSeveralTimes(t *testing.T) {
	const hour = 1.0 / 24
	day := func(s string) Options { return Options{Date: data.Known(data.DateOf(at(t, s)))} }
	hourly := []float64{18813 + 8*hour, 18813 + 10*hour, 18813 + 12*hour}
	daily := []float64{18813.5, 18814.5, 18815.5}
	for _, test := range []struct {
		name          string
		times, bounds []float64
		opts          Options
		want, period  string
	}{
		{"hours of a day", hourly, nil, Options{}, "3 times of one day, 2021-07-05T08:00Z, 2021-07-05T10:00Z, 2021-07-05T12:00Z", ""},
		{"hours of the date", hourly, nil, day("2021-07-05"), "cdo", ""},
		{"days", daily, nil, Options{}, "--date with one of these days", ""},
		{"one of the days", daily, nil, day("2021-07-06"), "20 of", "2021-07-06"},
		{"none of the days", daily, nil, day("2021-07-16"), "none of 2021-07-16", ""},
		{"two of one day", []float64{18813.5, 18814.25, 18814.5}, nil, day("2021-07-06"), "2 times of one day", ""},
		{"many", make([]float64, 500), nil, Options{}, "1970-01-01T00:00Z, ..., 1970", ""},
		{"one", daily[:1], nil, Options{}, "10 of", "2021-07-05"},
		{"bounds of one", []float64{18813}, []float64{18813, 18820}, Options{}, "10 of", "2021-07-05 to 2021-07-11"},
		{"bounds of several", []float64{18813, 18820}, []float64{18813, 18820, 18820, 18827}, day("2021-07-18"), "20 of", "2021-07-12 to 2021-07-18"},
		{"bounds in the wrong order", []float64{18813}, []float64{18820, 18813}, Options{}, "bounds", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := satellitetest.Variable{Name: "chl", Text: map[string]string{"units": "mg m-3"}, Fill: fill}
			for i := range test.times {
				v.Floats = append(v.Floats, constant(float32(10*(i+1)))...)
			}
			f := lwqFile(v)
			f.Attributes, f.Times, f.Bounds = nil, test.times, test.bounds
			if s := checkValue(t, fileOf("chl.nc", f.Encode()), test.opts, test.want); s.Date != 0 && (period{s.PeriodStart, s.Date}).String() != test.period {
				t.Errorf("%+v, want %s", s, test.period)
			}
		})
	}
}
