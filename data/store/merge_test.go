package store

import (
	"testing"
	"time"

	"github.com/paulmach/orb"
	"pgregory.net/rapid"

	"limnomap/data"
	"limnomap/data/outline"
)

// allObservationColumns are all columns that an import may lack but chlorophyll.
var allObservationColumns = ObservationColumns{Level: true, CellDensity: true, MeasuredAt: true, Pixels: true, Quality: true, Version: true,
	Flags: true, Method: true, Secchi: true, WaterTemperature: true, Period: true, Composite: true, Turbidity: true, ScumPercent: true}

// detailed is a sample with all columns.
func detailed(id data.LakeID, d data.Date, source string) data.Observation {
	o := testObservation(id, d, data.InSitu, 5_00)
	o.Source, o.Level, o.CellDensity, o.Quality, o.MeasuredAt = source, 1, 1234.5, data.Suspect, d.Time().Add(time.Hour)
	o.Details = data.Details{
		Lower: data.Known(data.Chlorophyll(0)), Upper: data.Known(data.Chlorophyll(10_01)), BelowLimit: true,
		ValidPixels: data.Known(int32(0)), TotalPixels: data.Known(int32(9)), Flags: data.FlagsOf(data.Cloud, data.Estimated),
		Method: `"<DIN> 38409-60", größer`, Version: "V2.1.1 2025-09-14T10:00", Secchi: data.Known(data.Hundredths(0)), WaterTemperature: data.Known(data.Hundredths(-1)),
		PeriodStart: data.Known(d - 6), Composite: data.MaximumComposite, Turbidity: data.Known(data.Hundredths(1_05)), ScumPercent: data.Known(data.Hundredths(25)),
	}
	return o
}

// edited returns o with some changes.
func edited(o data.Observation, edits ...func(*data.Observation)) data.Observation {
	for _, edit := range edits {
		edit(&o)
	}
	return o
}

// fromPixels returns a value or a gap of a satellite's pixels.
func fromPixels(version string, chl data.Chlorophyll, q data.Quality) data.Observation {
	o := versioned(version, chl)
	o.Quality, o.Details.ValidPixels, o.Details.TotalPixels = q, data.Known(int32(5)), data.Known(int32(25))
	return o
}

func TestMerge(t *testing.T) {
	type observation = data.Observation
	chl := func(c data.Chlorophyll) func(*observation) { return func(o *observation) { o.Chlorophyll = c } }
	version := func(v string) func(*observation) { return func(o *observation) { o.Details.Version = v } }
	flags := func(all ...data.Flag) func(*observation) {
		return func(o *observation) { o.Details.Flags = data.FlagsOf(all...) }
	}
	poor := func(o *observation) { o.Quality = data.Poor }
	scum := func(o *observation) { o.Level = 3 }
	count := func(o *observation) { o.CellDensity = 0 }
	inSitu := func(o *observation) { o.Type = data.InSitu }
	withoutTotal := func(o *observation) { o.Details.TotalPixels = data.Optional[int32]{} }

	full := detailed("a", 9, "LfU")
	bare := testObservation("a", 9, data.InSitu, full.Chlorophyll)
	bare.Source = full.Source
	plain, gap := testObservation("a", 9, data.Satellite, 500), testObservation("a", 9, data.Satellite, data.NoChlorophyll)
	value, none := fromPixels("", 700, data.QualityUnknown), fromPixels("", data.NoChlorophyll, data.QualityUnknown)
	old, newer := versioned("V2.1.1 9 observations", 500), versioned("V2.1.1 12 observations", 600)
	all, everything := allObservationColumns, allObservationColumns
	everything.Chlorophyll = true
	nothing := ObservationColumns{}

	type mergeCase struct {
		name       string
		stored, in observation
		keep       ObservationColumns
		change     Change
		want       observation
		outranks   bool
	}
	cases := []mergeCase{
		{"the same", full, full, nothing, Unchanged, full, false},
		{"the same time in another zone, and within the second", full, edited(full, func(o *observation) { o.MeasuredAt = o.MeasuredAt.Local().Add(1) }), nothing, Unchanged, full, false},
		{"nothing kept", full, bare, nothing, Changed, bare, false},
		{"all kept but what is about the value", full, bare, all, Changed, edited(full, func(o *observation) {
			o.Details.Lower, o.Details.Upper, o.Details.BelowLimit = data.Details{}.Lower, data.Details{}.Upper, false
		}), false},
		{"no column", full, edited(bare, chl(data.NoChlorophyll)), everything, Unchanged, full, false},
		{"no column of a gap", gap, gap, everything, Unchanged, gap, false},
		{"a depth alone", full, edited(bare, chl(data.NoChlorophyll), func(o *observation) { o.Details.Secchi = data.Known(data.Hundredths(150)) }),
			ObservationColumns{true, true, true, true, true, true, true, true, true, false, true, true, true, true, true}, Changed, edited(full, func(o *observation) { o.Details.Secchi.Value = 150 }), false},
		{"another value keeps no quality and no version", full, edited(bare, chl(6_00)), ObservationColumns{Quality: true, Version: true}, Changed, edited(bare, chl(6_00)), false},
		{"another value keeps the flag of scum only, which is a report", edited(full, flags(data.Cloud, data.Scum)), edited(bare, chl(6_00)), ObservationColumns{Flags: true}, Changed,
			edited(bare, chl(6_00), flags(data.Scum)), false},

		{"gap, level kept", edited(plain, scum), gap, all, LosesReport, edited(plain, scum), false},
		{"gap, level said to be none", edited(plain, scum), gap, ObservationColumns{CellDensity: true, MeasuredAt: true}, Changed, gap, false},
		{"gap, flag kept", edited(plain, flags(data.Cloud, data.Scum)), gap, ObservationColumns{Flags: true}, LosesReport, edited(plain, flags(data.Cloud, data.Scum)), false},
		{"gap, another flag", edited(plain, flags(data.Ice)), gap, all, Changed, gap, false},
		{"gap, count kept", edited(plain, count), gap, ObservationColumns{CellDensity: true}, LosesReport, edited(plain, count), false},
		{"gap, no report", plain, gap, all, Changed, gap, false},
		{"poor, level kept", edited(plain, scum), edited(plain, poor, chl(600)), ObservationColumns{Level: true}, LosesReport, edited(plain, scum), false},
		{"poor, level said to be none", edited(plain, scum), edited(plain, poor), ObservationColumns{CellDensity: true, Flags: true}, Changed, edited(plain, poor), false},
		{"poor, count and value kept", edited(plain, count), edited(gap, poor), ObservationColumns{CellDensity: true, Chlorophyll: true}, LosesReport, edited(plain, count), false},
		{"poor before", edited(plain, poor, count), edited(plain, poor), ObservationColumns{CellDensity: true}, Unchanged, edited(plain, poor, count), false},

		{"a newer version", old, newer, nothing, Changed, newer, true},
		{"a newer version is a gap", old, edited(newer, chl(data.NoChlorophyll)), nothing, Changed, edited(newer, chl(data.NoChlorophyll)), true},
		{"an older version", newer, old, nothing, OlderVersion, newer, false},
		{"an older version of a gap", edited(newer, chl(data.NoChlorophyll)), old, nothing, OlderVersion, edited(newer, chl(data.NoChlorophyll)), false},
		{"an older version of a sample", edited(newer, inSitu), edited(old, inSitu), nothing, Changed, edited(old, inSitu), false},
		{"as old in other words", versioned("V2.1", 500), versioned("v2.01", 600), nothing, Changed, versioned("v2.01", 600), false},
		{"no version after one", newer, versioned("", 500), nothing, Changed, versioned("", 500), false},
		{"a version after none", versioned("", 500), old, nothing, Changed, old, false},
		{"no column of versions, the same value", newer, versioned("", 600), ObservationColumns{Version: true}, Unchanged, newer, false},
		{"a newer version that loses a report", edited(old, scum), edited(newer, poor), ObservationColumns{Level: true}, LosesReport, edited(old, scum), true},

		{"a gap", value, none, nothing, WorseThanStored, value, false},
		{"a gap of a poor value", edited(value, poor), none, nothing, WorseThanStored, edited(value, poor), false},
		{"a poor value of a suspect one", fromPixels("", 800, data.Suspect), edited(value, poor), nothing, WorseThanStored, fromPixels("", 800, data.Suspect), false},
		{"a suspect value", value, fromPixels("", 800, data.Suspect), nothing, WorseThanStored, value, false},
		{"a value of a gap", none, edited(value, poor), nothing, Changed, edited(value, poor), true},
		{"another value, of fewer pixels", value, edited(value, chl(600), func(o *observation) { o.Details.ValidPixels.Value = 4 }), nothing, Changed,
			edited(value, chl(600), func(o *observation) { o.Details.ValidPixels.Value = 4 }), false},
		{"a gap of the same version", edited(value, version("V2.1")), edited(none, version("v2.01")), nothing, WorseThanStored, edited(value, version("V2.1")), false},
		{"a gap without a version", edited(value, version("V2.1")), none, nothing, WorseThanStored, edited(value, version("V2.1")), false},
		{"a gap of a newer version", edited(value, version("V2.1")), edited(none, version("V2.2")), nothing, Changed, edited(none, version("V2.2")), true},
		{"a gap without n_total", value, edited(none, withoutTotal), nothing, Changed, edited(none, withoutTotal), false},
		{"a gap of a sample", edited(value, inSitu), edited(none, inSitu), nothing, Changed, edited(none, inSitu), false},
		{"a gap of a reported level", edited(value, scum), none, ObservationColumns{Level: true}, WorseThanStored, edited(value, scum), false},
		{"no column of chlorophyll", value, edited(none, poor), ObservationColumns{Chlorophyll: true}, Changed, edited(value, poor), false},
		{"no column of quality, the same value", edited(value, poor), value, ObservationColumns{Quality: true}, Unchanged, edited(value, poor), false},
	}
	for _, column := range []struct {
		name string
		keep ObservationColumns
		take func(o *observation)
	}{
		{"level", ObservationColumns{Level: true}, func(o *observation) { o.Level = full.Level }},
		{"density", ObservationColumns{CellDensity: true}, func(o *observation) { o.CellDensity = full.CellDensity }},
		{"time", ObservationColumns{MeasuredAt: true}, func(o *observation) { o.MeasuredAt = full.MeasuredAt }},
		{"pixels", ObservationColumns{Pixels: true}, func(o *observation) {
			o.Details.ValidPixels, o.Details.TotalPixels = full.Details.ValidPixels, full.Details.TotalPixels
		}},
		{"quality", ObservationColumns{Quality: true}, func(o *observation) { o.Quality = full.Quality }},
		{"version", ObservationColumns{Version: true}, version(full.Details.Version)},
		{"flags", ObservationColumns{Flags: true}, func(o *observation) { o.Details.Flags = full.Details.Flags }},
		{"method", ObservationColumns{Method: true}, func(o *observation) { o.Details.Method = full.Details.Method }},
		{"depth", ObservationColumns{Secchi: true}, func(o *observation) { o.Details.Secchi = full.Details.Secchi }},
		{"temperature", ObservationColumns{WaterTemperature: true}, func(o *observation) { o.Details.WaterTemperature = full.Details.WaterTemperature }},
		{"period", ObservationColumns{Period: true}, func(o *observation) { o.Details.PeriodStart = full.Details.PeriodStart }},
		{"turbidity", ObservationColumns{Turbidity: true}, func(o *observation) { o.Details.Turbidity = full.Details.Turbidity }},
		{"share of scum", ObservationColumns{ScumPercent: true}, func(o *observation) { o.Details.ScumPercent = full.Details.ScumPercent }},
		{"composite", ObservationColumns{Composite: true}, func(o *observation) { o.Details.Composite = full.Details.Composite }},
	} {
		cases = append(cases, mergeCase{column.name + " alone kept", full, bare, column.keep, Changed, edited(bare, column.take), false})
	}
	for _, test := range cases {
		got, change, outranks := merge(&test.stored, &test.in, test.keep)
		if got != test.want || change != test.change || outranks != test.outranks {
			t.Errorf("%s: %+v, %v, %v, want %+v, %v, %v", test.name, got, change, outranks, test.want, test.change, test.outranks)
		}
	}
}

// A merged row is valid, whatever columns the import has: stored rows always load.
func TestMergedRowsAreValid(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		stored := asStored(drawObservation(rt, ObservationColumns{}))
		keep := drawColumns(rt)
		in := drawObservation(rt, keep)
		if p := &in.Details.PeriodStart; p.Known {
			p.Value += stored.Date - in.Date
		}
		in.LakeID, in.Date, in.Type, in.Source = stored.LakeID, stored.Date, stored.Type, stored.Source
		if merged, change, _ := merge(&stored, &in, keep); merged.Check() != nil {
			rt.Errorf("%+v, %v: %v", merged, change, merged.Check())
		}
	})
}

func TestMergeLakes(t *testing.T) {
	rectangle := func(west, south, east, north float64) outline.Outline {
		o, err := outline.New(orb.MultiPolygon{{{{west, south}, {east, south}, {east, north}, {west, north}}}})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	german, fijian := rectangle(11.2, 47.8, 11.4, 48), rectangle(179.8, -17, 180.2, -16.8)
	full := testLake("a")
	full.Outline = german
	bare := data.Lake{ID: "a", ExternalID: "a", Name: full.Name, Point: full.Point}
	edited := func(l data.Lake, edit func(*data.Lake)) data.Lake { edit(&l); return l }
	at := func(o outline.Outline, lon, lat float64) data.Lake {
		return edited(full, func(l *data.Lake) { l.Outline, l.Point = o, orb.Point{lon, lat} })
	}
	keep, nothing := LakeColumns{Outline: true}, LakeColumns{}
	for _, test := range []struct {
		name       string
		stored, in data.Lake
		keep       LakeColumns
		change     Change
		want       data.Lake
	}{
		{"the same", full, full, nothing, Unchanged, full},
		{"all kept", full, bare, LakeColumns{true, true, true, true, true}, Unchanged, full},
		{"external id kept", full, bare, LakeColumns{ExternalID: true}, Changed, edited(bare, func(l *data.Lake) { l.ExternalID = full.ExternalID })},
		{"region kept", full, bare, LakeColumns{Region: true}, Changed, edited(bare, func(l *data.Lake) { l.Region = full.Region })},
		{"area kept", full, bare, LakeColumns{AreaKM2: true}, Changed, edited(bare, func(l *data.Lake) { l.AreaKM2 = full.AreaKM2 })},
		{"water kept", full, bare, LakeColumns{WaterID: true}, Changed, edited(bare, func(l *data.Lake) { l.WaterID = full.WaterID })},
		{"outline kept", full, bare, keep, Changed, edited(bare, func(l *data.Lake) { l.Outline = german })},
		{"nothing kept", full, bare, nothing, Changed, bare},

		{"within its outline", at(german, 11.3, 47.9), at("", 11.21, 47.99), keep, Changed, at(german, 11.21, 47.99)},
		{"a beach in the east", at(german, 11.3, 47.9), at("", 11.49, 47.9), keep, Changed, at(german, 11.49, 47.9)},
		{"too far east", at(german, 11.3, 47.9), at("", 11.51, 47.9), keep, LeavesOutline, at(german, 11.3, 47.9)},
		{"too far south", at(german, 11.3, 47.9), at("", 11.3, 47.69), keep, LeavesOutline, at(german, 11.3, 47.9)},
		{"swapped, outline taken away", at(german, 11.3, 47.9), at("", 47.9, 11.3), nothing, Changed, at("", 47.9, 11.3)},
		{"no outline", at("", 11.3, 47.9), at("", 47.9, 11.3), keep, Changed, at("", 47.9, 11.3)},
		{"across the antimeridian", at(fijian, 179.9, -16.9), at("", -179.9, -16.9), keep, Changed, at(fijian, -179.9, -16.9)},
		{"east of it", at(fijian, 179.9, -16.9), at("", -179.69, -16.9), keep, LeavesOutline, at(fijian, 179.9, -16.9)},
		{"west of the antimeridian", at(rectangle(-180, 0, -179, 1), -179.5, 0.5), at("", 179.91, 0.5), keep, Changed, at(rectangle(-180, 0, -179, 1), 179.91, 0.5)},
		{"where it was, however far", at(german, 47.9, 11.3), at("", 47.9, 11.3), keep, Unchanged, at(german, 47.9, 11.3)},
	} {
		if got, change := mergeLakes(&test.stored, &test.in, test.keep); got != test.want || change != test.change {
			t.Errorf("%s: %+v, %v, want %+v, %v", test.name, got, change, test.want, test.change)
		}
	}
}

func TestMergeAdvisories(t *testing.T) {
	full := testAdvisory("s", "a")
	full.Withdrawn = full.Issued.Add(time.Hour)
	edited := func(a data.Advisory, edits ...func(*data.Advisory)) data.Advisory {
		for _, edit := range edits {
			edit(&a)
		}
		return a
	}
	issued := func(after time.Duration) func(*data.Advisory) {
		return func(a *data.Advisory) { a.Issued = full.Issued.Add(after) }
	}
	inForce := func(a *data.Advisory) { a.Withdrawn = time.Time{} }
	bare := edited(full, inForce, func(a *data.Advisory) { a.TextEN, a.TextDE, a.URL = "", "", "" })
	all, nothing := AdvisoryColumns{TextEN: true, TextDE: true, URL: true, Withdrawn: true}, AdvisoryColumns{}
	for _, test := range []struct {
		name       string
		stored, in data.Advisory
		keep       AdvisoryColumns
		change     Change
		want       data.Advisory
	}{
		{"the same", full, full, nothing, Unchanged, full},
		{"all kept", full, bare, all, Unchanged, full},
		{"English kept", full, bare, AdvisoryColumns{TextEN: true}, Changed, edited(bare, func(a *data.Advisory) { a.TextEN = full.TextEN })},
		{"German kept", full, bare, AdvisoryColumns{TextDE: true}, Changed, edited(bare, func(a *data.Advisory) { a.TextDE = full.TextDE })},
		{"address kept", full, bare, AdvisoryColumns{URL: true}, Changed, edited(bare, func(a *data.Advisory) { a.URL = full.URL })},
		{"withdrawal kept", full, bare, AdvisoryColumns{Withdrawn: true}, Changed, edited(bare, func(a *data.Advisory) { a.Withdrawn = full.Withdrawn })},
		{"nothing kept", full, bare, nothing, Changed, bare},
		{"issued again before the withdrawal", full, edited(bare, issued(time.Minute)), all, Changed, edited(full, issued(time.Minute))},
		{"issued again at the withdrawal", full, edited(bare, issued(time.Hour)), all, Changed, edited(full, issued(time.Hour))},
		{"issued again after the withdrawal", full, edited(bare, issued(2*time.Hour)), all, Changed, edited(full, issued(2*time.Hour), inForce)},
		{"another lake", full, edited(full, func(a *data.Advisory) { a.LakeID = "b" }), all, OtherStatement, full},
		{"another issuer", full, edited(full, func(a *data.Advisory) { a.Issuer = "Stadt" }), all, OtherStatement, full},
	} {
		if got, change := mergeAdvisories(&test.stored, &test.in, test.keep); got != test.want || change != test.change {
			t.Errorf("%s: %+v, %v, want %+v, %v", test.name, got, change, test.want, test.change)
		}
	}
}

func TestWithOrderOf(t *testing.T) {
	for _, test := range []struct{ stored, text, want string }{
		{`{"a":1}`, `{"a":2}`, `{"a":2}`},
		{`{"b":1,"a":[1,"x"]}`, `{"a":2,"b":{"c":"<\"é"}}`, `{"b":{"c":"<\"é"},"a":2}`},
		{`{"b":1,"c":2}`, `{"d":3,"a":4,"c":5}`, `{"c":5,"a":4,"d":3}`},
		{`{"b":1,"b":2}`, `{"b":3}`, `{"b":3}`},
		{`{}`, `{"b":3,"a":1}`, `{"a":1,"b":3}`},
	} {
		if got := withOrderOf([]byte(test.stored), test.text); got != test.want {
			t.Errorf("withOrderOf(%s, %s) = %s, want %s", test.stored, test.text, got, test.want)
		}
	}
}
