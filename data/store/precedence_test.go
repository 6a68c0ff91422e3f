package store

import (
	"slices"
	"testing"
	"time"

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
	for _, test := range []struct {
		name   string
		keep   ObservationColumns
		stored data.Observation
		rows   []data.Observation
		want   []Change
		then   []data.Observation // stored at the end
	}{
		{"a gap", ObservationColumns{}, value, []data.Observation{gap}, []Change{WorseThanStored}, []data.Observation{value}},
		{"a gap of a poor value", ObservationColumns{}, poor, []data.Observation{gap}, []Change{WorseThanStored}, []data.Observation{poor}},
		{"a poor value", ObservationColumns{}, suspect, []data.Observation{poor}, []Change{WorseThanStored}, []data.Observation{suspect}},
		{"a suspect value", ObservationColumns{}, good, []data.Observation{suspect}, []Change{WorseThanStored}, []data.Observation{good}},
		{"a value of a gap", ObservationColumns{}, gap, []data.Observation{poor}, []Change{Changed}, []data.Observation{poor}},
		{"a gap with other pixels", ObservationColumns{}, gap, []data.Observation{edited(gap, func(o *data.Observation) { o.Details.ValidPixels.Value = 0 })}, []Change{Changed},
			[]data.Observation{edited(gap, func(o *data.Observation) { o.Details.ValidPixels.Value = 0 })}},
		{"another value", ObservationColumns{}, good, []data.Observation{other}, []Change{Changed}, []data.Observation{other}},
		{"the same", ObservationColumns{}, poor, []data.Observation{poor}, []Change{Unchanged}, []data.Observation{poor}},

		{"a gap of the same version", ObservationColumns{}, row("V2.1", 700, none), []data.Observation{row("v2.01", data.NoChlorophyll, none)}, []Change{WorseThanStored},
			[]data.Observation{row("V2.1", 700, none)}},
		{"a gap without a version", ObservationColumns{}, row("V2.1", 700, none), []data.Observation{gap}, []Change{WorseThanStored}, []data.Observation{row("V2.1", 700, none)}},
		{"a gap with a version", ObservationColumns{}, value, []data.Observation{row("V2.1", data.NoChlorophyll, none)}, []Change{WorseThanStored}, []data.Observation{value}},
		{"a gap of a newer version", ObservationColumns{}, row("V2.1", 700, none), []data.Observation{row("V2.2", data.NoChlorophyll, none)}, []Change{Changed},
			[]data.Observation{row("V2.2", data.NoChlorophyll, none)}},
		{"a value of an older version", ObservationColumns{}, row("V2.2", data.NoChlorophyll, none), []data.Observation{row("V2.1", 700, none)}, []Change{OlderVersion},
			[]data.Observation{row("V2.2", data.NoChlorophyll, none)}},

		{"a gap without n_total", ObservationColumns{}, value, []data.Observation{edited(gap, withoutTotal)}, []Change{Changed}, []data.Observation{edited(gap, withoutTotal)}},
		{"a gap of a value without n_total", ObservationColumns{}, edited(value, withoutTotal), []data.Observation{gap}, []Change{Changed}, []data.Observation{gap}},
		{"a gap of a sample", ObservationColumns{}, edited(value, sample), []data.Observation{edited(gap, sample)}, []Change{Changed}, []data.Observation{edited(gap, sample)}},
		{"a gap of another source", ObservationColumns{}, value, []data.Observation{edited(gap, otherSource)}, []Change{Added}, []data.Observation{value, edited(gap, otherSource)}},
		{"no column of chlorophyll", ObservationColumns{Chlorophyll: true}, value, []data.Observation{edited(gap, func(o *data.Observation) { o.Quality = data.Poor })}, []Change{Changed},
			[]data.Observation{edited(value, func(o *data.Observation) { o.Quality = data.Poor })}},
		{"a gap of a reported level", ObservationColumns{Level: true}, reported, []data.Observation{gap}, []Change{WorseThanStored}, []data.Observation{reported}},
		{"no column of quality, the same value", ObservationColumns{Quality: true}, poor, []data.Observation{row("", 900, none)}, []Change{Unchanged}, []data.Observation{poor}},
		{"no column of quality, another value", ObservationColumns{Quality: true}, good, []data.Observation{other, gap}, []Change{Changed, WorseThanStored}, []data.Observation{other}},

		{"ever better", ObservationColumns{}, gap, []data.Observation{gap, poor, suspect, good, other, suspect, gap},
			[]Change{Unchanged, Changed, Changed, Changed, Contradicts, WorseThanStored, WorseThanStored}, []data.Observation{good}},
		{"ever worse", ObservationColumns{}, other, []data.Observation{good, suspect, poor, gap, good, value}, []Change{Changed, WorseThanStored, WorseThanStored, WorseThanStored, Unchanged, Contradicts},
			[]data.Observation{good}},
		{"worse ones before a correction", ObservationColumns{}, value, []data.Observation{gap, poor, other, good}, []Change{WorseThanStored, WorseThanStored, Changed, Contradicts},
			[]data.Observation{other}},
		{"worse ones before a row without pixels", ObservationColumns{}, value, []data.Observation{gap, versioned("", 500), other}, []Change{WorseThanStored, Changed, Contradicts},
			[]data.Observation{versioned("", 500)}},
		{"another gap", ObservationColumns{}, gap, []data.Observation{gap, edited(gap, func(o *data.Observation) { o.Details.ValidPixels.Value = 1 })}, []Change{Unchanged, Contradicts},
			[]data.Observation{gap}},
		{"an older version, after a better value without a version", ObservationColumns{}, row("2", 800, data.Suspect), []data.Observation{row("2", 800, data.Suspect), good, row("1", 700, data.Good)},
			[]Change{Unchanged, Changed, Contradicts}, []data.Observation{good}},
		{"with versions", ObservationColumns{}, row("1", 700, none), []data.Observation{row("1", data.NoChlorophyll, none), row("2", data.NoChlorophyll, none), row("1", 700, none), row("2", 800, data.Poor), gap},
			[]Change{WorseThanStored, Changed, OlderVersion, Changed, WorseThanStored}, []data.Observation{row("2", 800, data.Poor)}},
	} {
		for _, batch := range []int{len(test.rows), 1} { // one batch, and one for each row
			s, ctx := open(t, time.Now), t.Context()
			put(t, s, []data.Lake{testLake("a")}, []data.Observation{test.stored})
			before := revisionOf(t, s)
			err := s.Import(ctx, func(tx Tx) error {
				var got []Change
				for rows := range slices.Chunk(test.rows, batch) {
					changes, err := tx.PutObservations(ctx, rows, test.keep)
					if err != nil {
						return err
					}
					got = append(got, changes...)
				}
				if !slices.Equal(got, test.want) {
					t.Errorf("%s, %d in a batch: %v, want %v", test.name, batch, got, test.want)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, _, got := scan(t, s); !slices.Equal(got, test.then) {
				t.Errorf("%s, %d in a batch: stored %+v, want %+v", test.name, batch, got, test.then)
			}
			wrote := slices.ContainsFunc(test.want, func(c Change) bool { return c == Added || c == Changed })
			if grown := revisionOf(t, s) != before; grown != wrote {
				t.Errorf("%s, %d in a batch: the revision has grown: %v, want %v", test.name, batch, grown, wrote)
			}
		}
	}
}

// Rows of one import into an empty database: the best one counts, whatever the order and the batches.
func testBestOfImport(t *testing.T, open opener) {
	row := func(chl data.Chlorophyll, q data.Quality) data.Observation {
		o := versioned("", chl)
		o.Quality, o.Details.ValidPixels, o.Details.TotalPixels = q, data.Known(int32(0)), data.Known(int32(25))
		return o
	}
	rows := []data.Observation{row(data.NoChlorophyll, data.QualityUnknown), row(900, data.Poor), row(800, data.Good)} // the worst first
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		for _, batch := range []int{len(order), 1} {
			s, ctx := open(t, time.Now), t.Context()
			put(t, s, []data.Lake{testLake("a")}, nil)
			err := s.Import(ctx, func(tx Tx) error {
				best := -1
				for numbers := range slices.Chunk(order, batch) {
					var in []data.Observation
					var want []Change
					for _, n := range numbers {
						in = append(in, rows[n])
						switch {
						case best < 0:
							want = append(want, Added)
						case n > best:
							want = append(want, Changed)
						default:
							want = append(want, WorseThanStored)
						}
						best = max(best, n)
					}
					got, err := tx.PutObservations(ctx, in, ObservationColumns{})
					if err != nil {
						return err
					}
					if !slices.Equal(got, want) {
						t.Errorf("order %v, %d in a batch: %v, want %v", order, batch, got, want)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, _, got := scan(t, s); !slices.Equal(got, rows[2:]) {
				t.Errorf("order %v, %d in a batch: stored %+v, want %+v", order, batch, got, rows[2])
			}
		}
	}
}
