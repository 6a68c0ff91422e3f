package store

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"limnomap/data"
)

// versioned is a value of a satellite from a file of that version.
func versioned(version string, chl data.Chlorophyll) data.Observation {
	o := testObservation("a", 9, data.Satellite, chl)
	o.Source, o.Details.Version = "Copernicus LWQ300", version
	return o
}

// An importCase is an import of observations of one lake.
type importCase struct {
	name   string
	keep   ObservationColumns
	stored []data.Observation // before
	rows   []data.Observation
	want   []Change
	then   []data.Observation // stored at the end
}

// testImports runs each case in one batch, and again with a batch for each row. TestMerge has the rule for two rows.
func testImports(t *testing.T, open opener) {
	older, newer := "V2.1.1 9 observations", "V2.1.1 12 observations"
	of := func(rows ...data.Observation) []data.Observation { return rows }
	gap, poor, suspect := fromPixels("", data.NoChlorophyll, data.QualityUnknown), fromPixels("", 900, data.Poor), fromPixels("", 800, data.Suspect)
	good, other := fromPixels("", 700, data.Good), fromPixels("", 600, data.QualityUnknown)
	otherSource := edited(gap, func(o *data.Observation) { o.Source = "EPA CyAN" })
	full := detailed("a", 9, "LfU")
	bare := testObservation("a", 9, data.InSitu, full.Chlorophyll)
	bare.Source = full.Source
	kept := edited(full, func(o *data.Observation) {
		o.Details.Lower, o.Details.Upper, o.Details.BelowLimit = bare.Details.Lower, bare.Details.Upper, false
	})
	report, all := edited(suspect, func(o *data.Observation) { o.Level = 3 }), ObservationColumns{}
	cases := []importCase{
		{"details", all, of(bare), of(full, full, bare), []Change{Changed, Unchanged, Contradicts}, of(full)},
		{"kept columns", allObservationColumns, of(full), of(bare, bare), []Change{Changed, Unchanged}, of(kept)},
		{"a lost report", ObservationColumns{Level: true}, of(report), of(edited(gap, func(o *data.Observation) { o.Details = data.Details{} }), suspect), []Change{LosesReport, Unchanged}, of(report)},
		{"another source", all, of(good), of(otherSource), []Change{Added}, of(good, otherSource)},

		{"versions in order", all, nil, of(versioned(older, 500), versioned(newer, 600)), []Change{Added, Changed}, of(versioned(newer, 600))},
		{"versions out of order", all, nil, of(versioned(newer, 600), versioned(older, 500)), []Change{Added, OlderVersion}, of(versioned(newer, 600))},
		{"ever newer, with repeats", all, nil,
			of(versioned("1", 500), versioned("3", 600), versioned("2", 700), versioned("3", 600), versioned("3", 800), versioned("4", 800), versioned("", 800), versioned("1", 500)),
			[]Change{Added, Changed, OlderVersion, Unchanged, Contradicts, Changed, Contradicts, OlderVersion}, of(versioned("4", 800))},
		{"an older one before another value of the stored version", all, of(versioned("2", 500)),
			of(versioned("1", 100), versioned("1", 200), versioned("2", 600), versioned("2", 700), versioned("2", 600)),
			[]Change{OlderVersion, OlderVersion, Changed, Contradicts, Unchanged}, of(versioned("2", 600))},
		{"an older one before a value without a version", all, of(versioned("2", 500)), of(versioned("1", 100), versioned("", 600), versioned("", 700)),
			[]Change{OlderVersion, Changed, Contradicts}, of(versioned("", 600))},

		{"ever better", all, of(gap), of(gap, poor, suspect, good, other, suspect, gap),
			[]Change{Unchanged, Changed, Changed, Changed, Contradicts, WorseThanStored, WorseThanStored}, of(good)},
		{"ever worse", all, of(other), of(good, suspect, poor, gap, good, other), []Change{Changed, WorseThanStored, WorseThanStored, WorseThanStored, Unchanged, Contradicts}, of(good)},
		{"worse ones before a correction", all, of(good), of(gap, poor, other, good), []Change{WorseThanStored, WorseThanStored, Changed, Contradicts}, of(other)},
		{"worse ones before a row without pixels", all, of(good), of(gap, versioned("", 500), other), []Change{WorseThanStored, Changed, Contradicts}, of(versioned("", 500))},
		{"the best one last", all, nil, of(gap, poor, good), []Change{Added, Changed, Changed}, of(good)},
		{"the best one first", all, nil, of(good, gap, poor), []Change{Added, WorseThanStored, WorseThanStored}, of(good)},
		{"with versions", all, of(fromPixels("1", 700, data.Good)), of(fromPixels("1", data.NoChlorophyll, 0), fromPixels("2", data.NoChlorophyll, 0), fromPixels("1", 700, 0), fromPixels("2", 800, data.Poor), gap),
			[]Change{WorseThanStored, Changed, OlderVersion, Changed, WorseThanStored}, of(fromPixels("2", 800, data.Poor))},
	}
	s, ctx := open(t, time.Now), t.Context()
	lakes := 0
	for _, test := range cases {
		for _, batch := range []int{len(test.rows), 1} {
			lakes++
			id := data.LakeID(fmt.Sprint("lake", lakes))
			of := func(rows []data.Observation) []data.Observation {
				rows = slices.Clone(rows)
				for i := range rows {
					rows[i].LakeID = id
				}
				return rows
			}
			put(t, s, []data.Lake{testLake(string(id))}, of(test.stored))
			before := revisionOf(t, s)
			var got []Change
			err := s.Import(ctx, func(tx Tx) error {
				for rows := range slices.Chunk(of(test.rows), batch) {
					changes, err := tx.PutObservations(ctx, rows, test.keep)
					if err != nil {
						return err
					}
					got = append(got, changes...)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%s, %d in a batch: %v, want %v", test.name, batch, got, test.want)
			}
			_, _, stored := scan(t, s)
			stored = slices.DeleteFunc(stored, func(o data.Observation) bool { return o.LakeID != id })
			if want := of(test.then); !slices.Equal(stored, want) {
				t.Errorf("%s, %d in a batch: stored %+v, want %+v", test.name, batch, stored, want)
			}
			wrote := slices.ContainsFunc(test.want, func(c Change) bool { return c == Added || c == Changed })
			if grown := revisionOf(t, s) != before; grown != wrote {
				t.Errorf("%s, %d in a batch: the revision has grown: %v, want %v", test.name, batch, grown, wrote)
			}
		}
	}
}

// A transaction says which rows of the last batch repeat a key, in the same batch or from an earlier one. A repeated row is unchanged if it is
// equal to the first one, which counts; otherwise it contradicts it. A column that is missing in a later batch contradicts nothing. A lake that was
// unknown is known as soon as it is added.
func testRepeated(t *testing.T, open opener) {
	s, ctx := open(t, time.Now), t.Context()
	a, b := testLake("a"), testLake("b")
	a.Outline = testOutline(t)
	renamed, moved := a, a
	renamed.Name = "Neuer See"
	moved.Point[0] += 30
	bare := data.Lake{ID: "a", ExternalID: "a", Name: a.Name, Point: a.Point}
	value := func(id data.LakeID, chl data.Chlorophyll) data.Observation {
		return testObservation(id, 20000, data.Satellite, chl)
	}
	for _, new := range []bool{true, false} {
		added := map[bool]Change{true: Added}[new]
		err := s.Import(ctx, func(tx Tx) error {
			for _, step := range []struct {
				lakes    []data.Lake
				keep     LakeColumns
				rows     []data.Observation
				want     []Change
				repeated []int
			}{
				{nil, LakeColumns{}, []data.Observation{value("c", 1), value("c", 1)}, []Change{UnknownLake, UnknownLake}, nil},
				{[]data.Lake{a, renamed, a}, LakeColumns{}, nil, []Change{added, Contradicts, Unchanged}, []int{1, 2}},
				{[]data.Lake{b, a}, LakeColumns{}, nil, []Change{added, Unchanged}, []int{1}},
				{[]data.Lake{bare, bare, moved}, LakeColumns{true, true, true, true, true}, nil, []Change{Unchanged, Unchanged, LeavesOutline}, []int{0, 1, 2}},
				{[]data.Lake{bare}, LakeColumns{}, nil, []Change{Contradicts}, []int{0}},
				{nil, LakeColumns{}, []data.Observation{value("a", 1), value("a", 1), value("c", 1), value("a", 2)}, []Change{added, Unchanged, UnknownLake, Contradicts}, []int{1, 3}},
				{nil, LakeColumns{}, []data.Observation{value("b", 1)}, []Change{added}, nil},
			} {
				got, err := tx.PutLakes(ctx, step.lakes, step.keep)
				if step.lakes == nil {
					got, err = tx.PutObservations(ctx, step.rows, ObservationColumns{})
				}
				if err != nil {
					return err
				}
				if !slices.Equal(got, step.want) || !slices.Equal(tx.Repeated(), step.repeated) {
					t.Errorf("%+v, %+v: %v with %v repeated, want %v with %v", step.lakes, step.rows, got, tx.Repeated(), step.want, step.repeated)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if rev, lakes, _ := scan(t, s); rev.Number != 1 || !slices.Equal(lakes, []data.Lake{a, b}) {
			t.Errorf("stored %+v at revision %d, want %+v, %+v at 1", lakes, rev.Number, a, b)
		}
	}
	if got, _ := put(t, s, []data.Lake{renamed}, nil); got[0] != Changed {
		t.Errorf("the next import = %v, want changed", got)
	}
}

// Rows that SQLite inserts in groups, and those of PostgreSQL, have the same effect as rows that are inserted one by one: new rows, stored ones,
// and those that repeat a key.
func TestStoresAgree(t *testing.T) {
	one, groups := openFile(t, filepath.Join(t.TempDir(), "lakes.db"), true), openFile(t, filepath.Join(t.TempDir(), "lakes.db"), true)
	one.groupRows = 1
	for name, open := range map[string]func(*testing.T) *Store{
		"groups":     func(*testing.T) *Store { return &groups.Store },
		"PostgreSQL": func(t *testing.T) *Store { return &openURL(t, newDatabase(t), true).Store },
	} {
		t.Run(name, func(t *testing.T) {
			stores := []*Store{&one.Store, open(t)}
			lake := 0
			rapid.Check(t, func(rt *rapid.T) {
				groups.groupRows = rapid.IntRange(2, 5).Draw(rt, "rows of a group")
				lake++
				ids := []data.LakeID{data.LakeID(fmt.Sprint("a", name, lake)), data.LakeID(fmt.Sprint("b", name, lake))}
				for _, s := range stores {
					put(t, s, []data.Lake{testLake(string(ids[0])), testLake(string(ids[1]))}, nil)
				}
				for range rapid.IntRange(1, 3).Draw(rt, "imports") {
					var batches [][]data.Observation
					var keeps []ObservationColumns
					for range rapid.IntRange(1, 3).Draw(rt, "batches") {
						keep := drawColumns(rt)
						rows := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) data.Observation {
							o := drawObservation(rt, keep)
							o.LakeID = rapid.SampledFrom(append(ids, "missing")).Draw(rt, "lake")
							return o
						}), 0, 20).Draw(rt, "rows")
						batches, keeps = append(batches, rows), append(keeps, keep)
					}
					var results [2]string
					for i, s := range stores {
						err := s.Import(t.Context(), func(tx Tx) error {
							for n, rows := range batches {
								changes, err := tx.PutObservations(t.Context(), rows, keeps[n])
								if err != nil {
									return err
								}
								results[i] += fmt.Sprintln(changes, tx.Repeated())
							}
							return nil
						})
						if err != nil {
							rt.Fatal(err)
						}
						for _, id := range ids {
							_, stored, err := s.History(t.Context(), id, data.Newest(100))
							results[i] += fmt.Sprintln(stored, err)
						}
					}
					if results[0] != results[1] {
						rt.Fatalf("one by one:\n%s\n%s:\n%s", results[0], name, results[1])
					}
				}
			})
		})
	}
}

// drawColumns draws columns that an import lacks.
func drawColumns(rt *rapid.T) ObservationColumns {
	lacks := func(name string) bool { return rapid.IntRange(0, 2).Draw(rt, "lacks "+name) == 0 }
	return ObservationColumns{Chlorophyll: lacks("chl"), Level: lacks("level"), CellDensity: lacks("density"), MeasuredAt: lacks("time"), Pixels: lacks("pixels"),
		Quality: lacks("quality"), Flags: lacks("flags"), Version: lacks("version"), Method: lacks("method"), Secchi: lacks("depth"), Period: lacks("period")}
}

// drawObservation draws a valid observation, with nothing in the columns that the import lacks.
func drawObservation(rt *rapid.T, lacks ObservationColumns) data.Observation {
	o := testObservation("a", data.Date(rapid.IntRange(-1, 1).Draw(rt, "date")), data.DataType(rapid.IntRange(0, 2).Draw(rt, "type")),
		data.Chlorophyll(rapid.IntRange(-1, 1).Draw(rt, "chl")))
	if lacks.Chlorophyll {
		o.Chlorophyll = data.NoChlorophyll
	}
	if o.Chlorophyll.Valid() && !lacks.Level {
		o.Level = data.Level(rapid.IntRange(-1, 1).Draw(rt, "level"))
	}
	if o.Chlorophyll.Valid() && !lacks.CellDensity {
		o.CellDensity = rapid.SampledFrom([]float64{data.NoCellDensity, 0, 0.5}).Draw(rt, "density")
	}
	if !lacks.MeasuredAt && rapid.Bool().Draw(rt, "timed") {
		o.MeasuredAt = o.Date.Time().Add(time.Duration(rapid.IntRange(0, 1).Draw(rt, "seconds")) * time.Second)
	}
	o.Source = rapid.SampledFrom([]string{"", "a"}).Draw(rt, "source")
	if !lacks.Quality {
		o.Quality = data.Quality(rapid.IntRange(0, 3).Draw(rt, "quality"))
	}
	if !lacks.Pixels && rapid.IntRange(0, 3).Draw(rt, "with pixels") > 0 {
		o.Details.ValidPixels = data.Known(int32(0))
		if rapid.IntRange(0, 5).Draw(rt, "with all pixels") > 0 {
			o.Details.TotalPixels = data.Known(int32(rapid.IntRange(1, 2).Draw(rt, "pixels")))
		}
	}
	if !lacks.Version {
		o.Details.Version = rapid.SampledFrom([]string{"", "V9", "v09", "V10", "V10.1"}).Draw(rt, "version")
	}
	if o.Chlorophyll.Valid() && !lacks.Flags {
		o.Details.Flags = rapid.SampledFrom([]data.Flags{0, data.FlagsOf(data.Cloud), data.FlagsOf(data.Cloud, data.Scum)}).Draw(rt, "flags")
	}
	if !lacks.Method {
		o.Details.Method = rapid.SampledFrom([]string{"", "m"}).Draw(rt, "method")
	}
	if !lacks.Secchi && rapid.Bool().Draw(rt, "with a depth") {
		o.Details.Secchi = data.Known(data.Hundredths(rapid.IntRange(0, 1).Draw(rt, "depth")))
	}
	if !lacks.Period && rapid.Bool().Draw(rt, "with a period") {
		o.Details.PeriodStart = data.Known(o.Date - data.Date(rapid.IntRange(0, 1).Draw(rt, "period")))
	}
	if o.Chlorophyll.Valid() && rapid.IntRange(0, 3).Draw(rt, "with a limit") == 0 {
		o.Details.Lower = data.Known(o.Chlorophyll)
	}
	return o
}
