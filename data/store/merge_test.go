package store

import (
	"testing"

	"limnomap/data"
)

// What the tests of both kinds of Store do not say of the rule that they share.
func TestMerge(t *testing.T) {
	value := detailed("a", 9, "LfU")
	value.Type, value.Details.Flags = data.Satellite, data.FlagsOf(data.Cloud, data.Scum)
	gap := testObservation("a", 9, data.Satellite, data.NoChlorophyll)
	gap.Source = value.Source
	everything := allObservationColumns
	everything.Chlorophyll = true
	edited := func(edit func(*data.Observation)) data.Observation {
		o := value
		edit(&o)
		return o
	}
	newer := edited(func(o *data.Observation) { o.Chlorophyll, o.Details.Version = 7_00, "V2.1.2" })
	older := edited(func(o *data.Observation) { o.Chlorophyll, o.Details.Version = 7_00, "V2.1.0" })
	better := edited(func(o *data.Observation) { o.Quality = data.Good })
	corrected := edited(func(o *data.Observation) { o.Chlorophyll = 4_00; o.Details.ValidPixels = data.Known(int32(8)) })
	ofOtherTime := edited(func(o *data.Observation) { o.MeasuredAt = o.MeasuredAt.Local().Add(1) })
	for _, test := range []struct {
		name       string
		stored, in data.Observation
		keep       ObservationColumns
		want       data.Observation
		change     Change
		outranks   bool
	}{
		{"the same", value, value, ObservationColumns{}, value, Unchanged, false},
		{"the same time in another zone, and within the second", value, ofOtherTime, ObservationColumns{}, value, Unchanged, false},
		{"no column", value, gap, everything, value, Unchanged, false},
		{"no column of a gap", gap, gap, everything, gap, Unchanged, false},
		{"a newer version", value, newer, ObservationColumns{}, newer, Changed, true},
		{"an older version", value, older, ObservationColumns{}, value, OlderVersion, false},
		{"a better quality", value, better, ObservationColumns{}, better, Changed, true},
		{"a worse quality", better, value, ObservationColumns{}, better, WorseThanStored, false},
		{"a correction, with fewer pixels", corrected, value, ObservationColumns{}, value, Changed, false},
		{"a newer version that loses a report", value, edited(func(o *data.Observation) { o.Quality, o.Details.Version, o.Level = data.Poor, "V3", data.NoLevel }),
			ObservationColumns{Level: true}, value, LosesReport, true},
	} {
		got, change, outranks := merge(&test.stored, &test.in, test.keep)
		if got != test.want || change != test.change || outranks != test.outranks {
			t.Errorf("%s: %+v, %v, %v, want %+v, %v, %v", test.name, got, change, outranks, test.want, test.change, test.outranks)
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
