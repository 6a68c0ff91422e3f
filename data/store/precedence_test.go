package store

import (
	"fmt"
	"testing"

	"limnomap/data"
)

// Of one lake, date and source of a satellite a gap or a value of less quality does not replace a better one of an equal version, in
// whatever order they come.
func testWorseThanStored(t *testing.T, open opener) {
	row := func(version string, chl data.Chlorophyll, q data.Quality) data.Observation {
		o := versioned(version, chl)
		o.Quality, o.Details.ValidPixels, o.Details.TotalPixels = q, data.Known(int32(5)), data.Known(int32(25))
		return o
	}
	const none = data.QualityUnknown
	gap, poor, suspect, value := row("", data.NoChlorophyll, none), row("", 900, data.Poor), row("", 800, data.Suspect), row("", 700, none)
	good, other := row("", 700, data.Good), row("", 600, none)
	edited := func(o data.Observation, edit func(*data.Observation)) data.Observation {
		edit(&o)
		return o
	}
	withoutTotal := func(o *data.Observation) { o.Details.TotalPixels = data.Optional[int32]{} }
	sample := func(o *data.Observation) { o.Type = data.InSitu }
	otherSource := func(o *data.Observation) { o.Source = "EPA CyAN" }
	reported := edited(value, func(o *data.Observation) { o.Level = 2 })
	all := ObservationColumns{}
	testImports(t, open, []importCase{
		{"a gap", all, []data.Observation{value}, []data.Observation{gap}, []Change{WorseThanStored}, []data.Observation{value}},
		{"a gap of a poor value", all, []data.Observation{poor}, []data.Observation{gap}, []Change{WorseThanStored}, []data.Observation{poor}},
		{"a poor value", all, []data.Observation{suspect}, []data.Observation{poor}, []Change{WorseThanStored}, []data.Observation{suspect}},
		{"a suspect value", all, []data.Observation{good}, []data.Observation{suspect}, []Change{WorseThanStored}, []data.Observation{good}},
		{"a value of a gap", all, []data.Observation{gap}, []data.Observation{poor}, []Change{Changed}, []data.Observation{poor}},
		{"a gap with other pixels", all, []data.Observation{gap}, []data.Observation{edited(gap, func(o *data.Observation) { o.Details.ValidPixels.Value = 0 })}, []Change{Changed},
			[]data.Observation{edited(gap, func(o *data.Observation) { o.Details.ValidPixels.Value = 0 })}},
		{"another value", all, []data.Observation{good}, []data.Observation{other}, []Change{Changed}, []data.Observation{other}},
		{"the same", all, []data.Observation{poor}, []data.Observation{poor}, []Change{Unchanged}, []data.Observation{poor}},

		{"a gap of the same version", all, []data.Observation{row("V2.1", 700, none)}, []data.Observation{row("v2.01", data.NoChlorophyll, none)}, []Change{WorseThanStored},
			[]data.Observation{row("V2.1", 700, none)}},
		{"a gap without a version", all, []data.Observation{row("V2.1", 700, none)}, []data.Observation{gap}, []Change{WorseThanStored}, []data.Observation{row("V2.1", 700, none)}},
		{"a gap with a version", all, []data.Observation{value}, []data.Observation{row("V2.1", data.NoChlorophyll, none)}, []Change{WorseThanStored}, []data.Observation{value}},
		{"a gap of a newer version", all, []data.Observation{row("V2.1", 700, none)}, []data.Observation{row("V2.2", data.NoChlorophyll, none)}, []Change{Changed},
			[]data.Observation{row("V2.2", data.NoChlorophyll, none)}},
		{"a value of an older version", all, []data.Observation{row("V2.2", data.NoChlorophyll, none)}, []data.Observation{row("V2.1", 700, none)}, []Change{OlderVersion},
			[]data.Observation{row("V2.2", data.NoChlorophyll, none)}},

		{"a gap without n_total", all, []data.Observation{value}, []data.Observation{edited(gap, withoutTotal)}, []Change{Changed}, []data.Observation{edited(gap, withoutTotal)}},
		{"a gap of a value without n_total", all, []data.Observation{edited(value, withoutTotal)}, []data.Observation{gap}, []Change{Changed}, []data.Observation{gap}},
		{"a gap of a sample", all, []data.Observation{edited(value, sample)}, []data.Observation{edited(gap, sample)}, []Change{Changed}, []data.Observation{edited(gap, sample)}},
		{"a gap of another source", all, []data.Observation{value}, []data.Observation{edited(gap, otherSource)}, []Change{Added}, []data.Observation{value, edited(gap, otherSource)}},
		{"no column of chlorophyll", ObservationColumns{Chlorophyll: true}, []data.Observation{value}, []data.Observation{edited(gap, func(o *data.Observation) { o.Quality = data.Poor })}, []Change{Changed},
			[]data.Observation{edited(value, func(o *data.Observation) { o.Quality = data.Poor })}},
		{"a gap of a reported level", ObservationColumns{Level: true}, []data.Observation{reported}, []data.Observation{gap}, []Change{WorseThanStored}, []data.Observation{reported}},
		{"no column of quality, the same value", ObservationColumns{Quality: true}, []data.Observation{poor}, []data.Observation{row("", 900, none)}, []Change{Unchanged}, []data.Observation{poor}},
		{"no column of quality, another value", ObservationColumns{Quality: true}, []data.Observation{good}, []data.Observation{other, gap}, []Change{Changed, WorseThanStored}, []data.Observation{other}},

		{"ever better", all, []data.Observation{gap}, []data.Observation{gap, poor, suspect, good, other, suspect, gap},
			[]Change{Unchanged, Changed, Changed, Changed, Contradicts, WorseThanStored, WorseThanStored}, []data.Observation{good}},
		{"ever worse", all, []data.Observation{other}, []data.Observation{good, suspect, poor, gap, good, value}, []Change{Changed, WorseThanStored, WorseThanStored, WorseThanStored, Unchanged, Contradicts},
			[]data.Observation{good}},
		{"worse ones before a correction", all, []data.Observation{value}, []data.Observation{gap, poor, other, good}, []Change{WorseThanStored, WorseThanStored, Changed, Contradicts},
			[]data.Observation{other}},
		{"worse ones before a row without pixels", all, []data.Observation{value}, []data.Observation{gap, versioned("", 500), other}, []Change{WorseThanStored, Changed, Contradicts},
			[]data.Observation{versioned("", 500)}},
		{"another gap", all, []data.Observation{gap}, []data.Observation{gap, edited(gap, func(o *data.Observation) { o.Details.ValidPixels.Value = 1 })}, []Change{Unchanged, Contradicts},
			[]data.Observation{gap}},
		{"an older version, after a better value without a version", all, []data.Observation{row("2", 800, data.Suspect)}, []data.Observation{row("2", 800, data.Suspect), good, row("1", 700, data.Good)},
			[]Change{Unchanged, Changed, Contradicts}, []data.Observation{good}},
		{"with versions", all, []data.Observation{row("1", 700, none)}, []data.Observation{row("1", data.NoChlorophyll, none), row("2", data.NoChlorophyll, none), row("1", 700, none), row("2", 800, data.Poor), gap},
			[]Change{WorseThanStored, Changed, OlderVersion, Changed, WorseThanStored}, []data.Observation{row("2", 800, data.Poor)}},
	})
}

// Rows of one import into an empty database: the best one counts, whatever the order and the batches.
func testBestOfImport(t *testing.T, open opener) {
	row := func(chl data.Chlorophyll, q data.Quality) data.Observation {
		o := versioned("", chl)
		o.Quality, o.Details.ValidPixels, o.Details.TotalPixels = q, data.Known(int32(0)), data.Known(int32(25))
		return o
	}
	rows := []data.Observation{row(data.NoChlorophyll, data.QualityUnknown), row(900, data.Poor), row(800, data.Good)} // the worst first
	var cases []importCase
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		c := importCase{name: fmt.Sprint("order ", order), then: rows[2:]}
		best := -1
		for _, n := range order {
			change := WorseThanStored
			switch {
			case best < 0:
				change = Added
			case n > best:
				change = Changed
			}
			best = max(best, n)
			c.rows, c.want = append(c.rows, rows[n]), append(c.want, change)
		}
		cases = append(cases, c)
	}
	testImports(t, open, cases)
}
