package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/outline"
)

// allObservationColumns are all columns that an import may lack.
var allObservationColumns = ObservationColumns{Level: true, CellDensity: true, MeasuredAt: true, Pixels: true, Quality: true, Version: true,
	Flags: true, Method: true, Secchi: true, WaterTemperature: true}

// Columns that an import lacks keep their values; a new row takes the import's default values.
func testKeptColumns(t *testing.T, open opener) {
	s, ctx := open(t, time.Now), t.Context()
	lake, o := testLake("a"), testObservation("a", 9, data.Satellite, 500)
	o.Level, o.CellDensity, o.MeasuredAt = 3, 70000, time.Date(1970, 1, 10, 9, 0, 0, 0, time.UTC)
	lake.Outline = testOutline(t)
	put(t, s, []data.Lake{lake}, []data.Observation{o})
	bareLake := data.Lake{ID: "a", ExternalID: "a", Name: lake.Name, Point: lake.Point}
	bare := testObservation("a", 9, data.Satellite, 500)
	allOfLake, allOfObservation := LakeColumns{true, true, true, true}, allObservationColumns
	for _, step := range []struct {
		name       string
		keepLake   LakeColumns
		keep       ObservationColumns
		edit       func() // changes what is imported and what is expected
		want, then Change
	}{
		{"the same", allOfLake, allOfObservation, func() {}, Unchanged, Unchanged},
		{"another name and value", allOfLake, allOfObservation, func() {
			bareLake.Name, bare.Chlorophyll = "Neuer See", 600
			lake.Name, o.Chlorophyll = "Neuer See", 600
		}, Changed, Unchanged},
		{"no external id, no level", LakeColumns{Region: true, AreaKM2: true, Outline: true}, ObservationColumns{CellDensity: true, MeasuredAt: true}, func() {
			lake.ExternalID, o.Level = "a", data.NoLevel
		}, Changed, Unchanged},
		{"no region, no density", LakeColumns{AreaKM2: true, Outline: true}, ObservationColumns{MeasuredAt: true}, func() {
			lake.Region, o.CellDensity = "", data.NoCellDensity
		}, Changed, Unchanged},
		{"no area, no time", LakeColumns{Outline: true}, ObservationColumns{}, func() {
			lake.AreaKM2, o.MeasuredAt = 0, time.Time{}
		}, Changed, Unchanged},
		{"another value, no outline", LakeColumns{}, ObservationColumns{}, func() {
			lake.Outline, bare.Chlorophyll, o.Chlorophyll = "", 700, 700
		}, Changed, Unchanged},
	} {
		t.Run(step.name, func(t *testing.T) {
			step.edit()
			for _, want := range []Change{step.want, step.then} {
				err := s.Import(ctx, func(tx Tx) error {
					ofLakes, err := tx.PutLakes(ctx, []data.Lake{bareLake}, step.keepLake)
					if err != nil {
						return err
					}
					ofObservations, err := tx.PutObservations(ctx, []data.Observation{bare}, step.keep)
					if err == nil && (ofLakes[0] != want || ofObservations[0] != want) {
						t.Errorf("lake %v, observation %v, want both %v", ofLakes[0], ofObservations[0], want)
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			_, lakes, observations := scan(t, s)
			if !slices.Equal(lakes, []data.Lake{lake}) || !slices.Equal(observations, []data.Observation{o}) {
				t.Errorf("stored %+v, %+v, want %+v, %+v", lakes, observations, lake, o)
			}
		})
	}
}

// A gap or a poor value takes away a level, a flag of scum or a count only if the import has these columns.
func testKeptReports(t *testing.T, open opener) {
	gap := testObservation("a", 9, data.Satellite, data.NoChlorophyll)
	plain := gap
	plain.Chlorophyll = 500
	scum, flag, ice, count, poor := plain, plain, plain, plain, plain
	scum.Level = 3
	flag.Details.Flags = data.FlagsOf(data.Cloud, data.Scum)
	ice.Details.Flags = data.FlagsOf(data.Ice)
	count.CellDensity = 0
	poor.Quality = data.Poor
	otherPoor, poorCount := poor, poor
	otherPoor.Chlorophyll = 600
	poorCount.CellDensity = 0
	noChlorophyll := poor // an import without chl
	noChlorophyll.Chlorophyll = data.NoChlorophyll
	var cases []importCase
	for _, test := range []struct {
		name             string
		stored, imported data.Observation
		keep             ObservationColumns
		want             Change
	}{
		{"level, kept", scum, gap, ObservationColumns{Level: true}, LosesReport},
		{"level, all kept", scum, gap, allObservationColumns, LosesReport},
		{"level, said to be none", scum, gap, ObservationColumns{CellDensity: true, MeasuredAt: true}, Changed},
		{"flag, kept", flag, gap, ObservationColumns{Flags: true}, LosesReport},
		{"flag, all kept", flag, gap, allObservationColumns, LosesReport},
		{"flag, said to be none", flag, gap, ObservationColumns{Level: true, CellDensity: true, Quality: true}, Changed},
		{"another flag", ice, gap, allObservationColumns, Changed},
		{"count, kept", count, gap, ObservationColumns{CellDensity: true}, LosesReport},
		{"count, said to be none", count, gap, ObservationColumns{Level: true}, Changed},
		{"neither", plain, gap, allObservationColumns, Changed},
		{"a gap before", gap, gap, allObservationColumns, Unchanged},

		{"poor, level kept", scum, poor, ObservationColumns{Level: true}, LosesReport},
		{"poor, level said to be none", scum, poor, ObservationColumns{CellDensity: true, Flags: true}, Changed},
		{"poor, another value, level kept", scum, otherPoor, ObservationColumns{Level: true}, LosesReport},
		{"poor, flag kept", flag, poor, ObservationColumns{Flags: true}, LosesReport},
		{"poor, flag said to be none", flag, poor, ObservationColumns{Level: true}, Changed},
		{"poor, another flag", ice, otherPoor, ObservationColumns{Level: true, CellDensity: true, Flags: true}, Changed},
		{"poor, count kept", count, poor, ObservationColumns{CellDensity: true}, LosesReport},
		{"poor, count and value kept", count, noChlorophyll, ObservationColumns{CellDensity: true, Chlorophyll: true}, LosesReport},
		{"poor, count again", count, poorCount, ObservationColumns{Level: true}, Changed},
		{"poor, neither", plain, poor, ObservationColumns{Level: true, CellDensity: true, Flags: true}, Changed},
		{"poor before", poorCount, poor, ObservationColumns{Level: true, CellDensity: true, Flags: true}, Unchanged},
	} {
		then := test.stored
		if test.want == Changed {
			then = test.imported
		}
		later := test.imported
		later.Date++
		cases = append(cases, importCase{test.name, test.keep, []data.Observation{test.stored}, []data.Observation{test.imported, later},
			[]Change{test.want, Added}, []data.Observation{then, later}})
	}
	testImports(t, open, cases)
}

// A lake may move within and near its outline, and anywhere if it gets another outline or none.
func testLeftOutline(t *testing.T, open opener) {
	rectangle := func(west, south, east, north float64) outline.Outline {
		o, err := outline.New(orb.MultiPolygon{{{{west, south}, {east, south}, {east, north}, {west, north}}}})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	german := rectangle(11.2, 47.8, 11.4, 48)
	fijian := rectangle(179.8, -17, 180.2, -16.8)
	keep, replace := LakeColumns{Outline: true}, LakeColumns{}
	for _, test := range []struct {
		name     string
		stored   outline.Outline
		from, to orb.Point
		keep     LakeColumns
		want     Change
	}{
		{"within", german, orb.Point{11.3, 47.9}, orb.Point{11.21, 47.99}, keep, Changed},
		{"a beach in the east", german, orb.Point{11.3, 47.9}, orb.Point{11.49, 47.9}, keep, Changed},
		{"too far east", german, orb.Point{11.3, 47.9}, orb.Point{11.51, 47.9}, keep, LeavesOutline},
		{"too far west", german, orb.Point{11.3, 47.9}, orb.Point{11.09, 47.9}, keep, LeavesOutline},
		{"too far north", german, orb.Point{11.3, 47.9}, orb.Point{11.3, 48.11}, keep, LeavesOutline},
		{"too far south", german, orb.Point{11.3, 47.9}, orb.Point{11.3, 47.69}, keep, LeavesOutline},
		{"swapped", german, orb.Point{11.3, 47.9}, orb.Point{47.9, 11.3}, keep, LeavesOutline},
		{"swapped, outline taken away", german, orb.Point{11.3, 47.9}, orb.Point{47.9, 11.3}, replace, Changed},
		{"no outline", "", orb.Point{11.3, 47.9}, orb.Point{47.9, 11.3}, keep, Changed},
		{"across the antimeridian", fijian, orb.Point{179.9, -16.9}, orb.Point{-179.9, -16.9}, keep, Changed},
		{"and back", fijian, orb.Point{-179.9, -16.9}, orb.Point{179.71, -16.9}, keep, Changed},
		{"east of it", fijian, orb.Point{179.9, -16.9}, orb.Point{-179.69, -16.9}, keep, LeavesOutline},
		{"up to the antimeridian", rectangle(-180, 0, -179, 1), orb.Point{-179.5, 0.5}, orb.Point{179.91, 0.5}, keep, Changed},
		{"where it was, however far", german, orb.Point{47.9, 11.3}, orb.Point{47.9, 11.3}, keep, Unchanged},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, ctx := open(t, time.Now), t.Context()
			before, other := testLake("a"), testLake("b")
			before.Point, before.Outline = test.from, test.stored
			put(t, s, []data.Lake{before}, nil)
			revision := revisionOf(t, s)
			moved := before
			moved.Point, moved.Outline = test.to, ""
			err := s.Import(ctx, func(tx Tx) error {
				got, err := tx.PutLakes(ctx, []data.Lake{moved}, test.keep)
				if err == nil && !slices.Equal(got, []Change{test.want}) {
					t.Errorf("import = %v, want %v", got, test.want)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			want := moved
			switch {
			case test.want == LeavesOutline:
				want = before
			case test.keep.Outline:
				want.Outline = test.stored
			}
			if _, got, _ := scan(t, s); !slices.Equal(got, []data.Lake{want}) {
				t.Errorf("stored %+v, want %+v", got, want)
			}
			if wrote := revisionOf(t, s) != revision; wrote != (test.want == Changed) {
				t.Errorf("the revision has grown: %v, want that only of a lake that was changed", wrote)
			}
			// A rejected lake does not affect the others, and a new lake is never rejected for its point.
			err = s.Import(ctx, func(tx Tx) error {
				got, err := tx.PutLakes(ctx, []data.Lake{moved, other}, test.keep)
				if err == nil && got[1] != Added {
					t.Errorf("a new lake in the same import is %v, want added", got[1])
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// detailed is a sample with all columns.
func detailed(id data.LakeID, d data.Date, source string) data.Observation {
	o := testObservation(id, d, data.InSitu, 5_00)
	o.Source, o.Level, o.CellDensity, o.Quality, o.MeasuredAt = source, 1, 1234.5, data.Suspect, d.Time().Add(time.Hour)
	o.Details = data.Details{
		Lower: data.Known(data.Chlorophyll(0)), Upper: data.Known(data.Chlorophyll(10_01)), BelowLimit: true,
		ValidPixels: data.Known(int32(0)), TotalPixels: data.Known(int32(9)), Flags: data.FlagsOf(data.Cloud, data.Estimated),
		Method: `"<DIN> 38409-60", größer`, Version: "V2.1.1 2025-09-14T10:00", Secchi: data.Known(data.Hundredths(0)), WaterTemperature: data.Known(data.Hundredths(-1)),
	}
	return o
}

// Details are kept column by column. Those of the value itself are never kept: they would say something about another value.
func testKeptDetails(t *testing.T, open opener) {
	s, ctx := open(t, time.Now), t.Context()
	o := detailed("a", 9, "LfU")
	put(t, s, []data.Lake{testLake("a")}, []data.Observation{o})
	imported := o
	for _, step := range []struct {
		name       string
		keep       ObservationColumns
		edit       func() // changes what is imported and what is expected
		want, then Change
	}{
		{"the same", ObservationColumns{}, func() {}, Unchanged, Unchanged},
		{"the same, all kept", allObservationColumns, func() {}, Unchanged, Unchanged},
		{"no details, all kept", allObservationColumns, func() {
			imported.Details, imported.Quality = data.Details{}, data.QualityUnknown
			o.Details.Lower, o.Details.Upper, o.Details.BelowLimit = data.Details{}.Lower, data.Details{}.Upper, false
		}, Changed, Unchanged},
		{"a flag in place of two", ObservationColumns{Quality: true, Method: true, Secchi: true, WaterTemperature: true, Pixels: true, Version: true}, func() {
			imported.Details.Flags = data.FlagsOf(data.Scum)
			o.Details.Flags = imported.Details.Flags
		}, Changed, Unchanged},
		{"another order of the same", ObservationColumns{Flags: true, Quality: true, WaterTemperature: true, Pixels: true, Version: true}, func() {
			imported.Details.Method, imported.Details.Secchi = "x", data.Known(data.Hundredths(1_50))
			o.Details.Method, o.Details.Secchi = "x", data.Known(data.Hundredths(1_50))
		}, Changed, Unchanged},
		{"another value keeps the flag of scum only, which is a report", ObservationColumns{Flags: true, Quality: true, Method: true, Secchi: true, WaterTemperature: true, Pixels: true, Version: true}, func() {
			o.Details.Flags, imported.Details.Flags = data.FlagsOf(data.Scum), 0
			o.Details.Version = ""
			imported.Chlorophyll, o.Chlorophyll = 5_50, 5_50
			imported.Quality, o.Quality = data.QualityUnknown, data.QualityUnknown
		}, Changed, Unchanged},
		{"other flags", ObservationColumns{}, func() {
			imported.Quality, o.Quality = data.Suspect, data.Suspect
			imported.Details = o.Details
			imported.Details.Flags, o.Details.Flags = data.FlagsOf(data.Ice), data.FlagsOf(data.Ice)
			imported.Details.Version, o.Details.Version = "9", "9" // an older version of a sample is written
		}, Changed, Unchanged},
		{"another value keeps no quality, no flags and no version", ObservationColumns{Flags: true, Quality: true, Method: true, Secchi: true, WaterTemperature: true, Pixels: true, Version: true}, func() {
			imported.Chlorophyll, o.Chlorophyll = 6_00, 6_00
			imported.Quality, imported.Details.Flags, imported.Details.Version = data.QualityUnknown, 0, ""
			o.Quality, o.Details.Flags, o.Details.Version = data.QualityUnknown, 0, ""
		}, Changed, Unchanged},
		{"a quality again", ObservationColumns{Flags: true, Method: true, Secchi: true, WaterTemperature: true, Pixels: true, Version: true}, func() {
			imported.Quality, o.Quality = data.Good, data.Good
		}, Changed, Unchanged},
		{"no quality", ObservationColumns{Flags: true, Method: true, Secchi: true, WaterTemperature: true, Pixels: true, Version: true}, func() {
			imported.Quality, o.Quality = data.QualityUnknown, data.QualityUnknown
		}, Changed, Unchanged},
		{"nothing kept", ObservationColumns{}, func() {
			imported.Details = data.Details{}
			o.Details = data.Details{}
		}, Changed, Unchanged},
		{"all again", ObservationColumns{}, func() {
			imported = detailed("a", 9, "LfU")
			o = imported
		}, Changed, Unchanged},
	} {
		step.edit()
		for _, want := range []Change{step.want, step.then} {
			err := s.Import(ctx, func(tx Tx) error {
				changes, err := tx.PutObservations(ctx, []data.Observation{imported}, step.keep)
				if err == nil && changes[0] != want {
					t.Errorf("%s: %v, want %v", step.name, changes[0], want)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, _, got := scan(t, s); !slices.Equal(got, []data.Observation{o}) {
			t.Errorf("%s: stored %+v, want %+v", step.name, got, o)
		}
	}
}

// Each source has a row of its own for one lake, date and type. They are read in the order of their names.
func testSources(t *testing.T, open opener) {
	s, ctx := open(t, time.Now), t.Context()
	rows := []data.Observation{detailed("a", 9, "Z"), detailed("a", 9, "b"), detailed("a", 9, "B"), detailed("a", 9, ""), testObservation("a", 9, data.Satellite, 1)}
	_, changes := put(t, s, []data.Lake{testLake("a")}, append(rows, rows[1]))
	if want := []Change{Added, Added, Added, Added, Added, Unchanged}; !slices.Equal(changes, want) {
		t.Errorf("the import is %v, want %v", changes, want)
	}
	want := []data.Observation{rows[4], rows[3], rows[2], rows[0], rows[1]}
	if _, _, got := scan(t, s); !slices.Equal(got, want) {
		t.Errorf("Scan = %v, want %v", got, want)
	}
	history := append(slices.Clone(want[1:]), want[0]) // samples first
	if _, got, err := s.History(ctx, "a", data.Newest(10)); err != nil || !slices.Equal(got, history) {
		t.Errorf("History = %v, %v, want %v", got, err, history)
	}
	if _, got := past(t, s, data.Period{First: 10, Last: 20}); !slices.Equal(got, want) {
		t.Errorf("Past = %v, want %v", got, want)
	}
	// One more than a database may have, and nothing of them is stored.
	var many []data.Observation
	for i := range MaxSources - 2 {
		many = append(many, detailed("a", 10, fmt.Sprint("source ", i)))
	}
	_, changes = put(t, s, nil, many)
	if last := len(many) - 1; changes[last] != ManySources || changes[last-1] != Added {
		t.Errorf("with %d sources the import ends with %v, want only the last one refused", len(many)+3, changes[last-1:])
	}
	if _, _, got := scan(t, s); len(got) != len(want)+len(many)-1 {
		t.Errorf("Scan = %d rows, want %d", len(got), len(want)+len(many)-1)
	}
}

// The numbers of sources are not used up by imports that are rolled back.
func testSourcesOfRolledBackImports(t *testing.T, open opener) {
	s, ctx := open(t, time.Now), t.Context()
	put(t, s, []data.Lake{testLake("a")}, nil)
	errStop := errors.New("stop")
	for i := range 40 {
		err := s.Import(ctx, func(tx Tx) error {
			var rows []data.Observation
			for k := range MaxSources {
				rows = append(rows, detailed("a", 9, fmt.Sprint(i, " ", k)))
			}
			if changes, err := tx.PutObservations(ctx, rows, ObservationColumns{}); err != nil || changes[MaxSources-1] != Added {
				t.Fatalf("import %d ends with %v, %v, want all added", i, changes[len(changes)-1], err)
			}
			return errStop
		})
		if err != errStop {
			t.Fatal(err)
		}
	}
	put(t, s, nil, []data.Observation{detailed("a", 9, "x")})
	if _, _, got := scan(t, s); len(got) != 1 || got[0].Source != "x" {
		t.Errorf("stored %v, want one row of x", got)
	}
}

// A row of which only one of two numbers changes is still valid: stored rows always load.
func testStoredRowsAreValid(t *testing.T, open opener) {
	s, ctx := open(t, time.Now), t.Context()
	put(t, s, []data.Lake{testLake("a")}, nil)
	rapid.Check(t, func(rt *rapid.T) {
		keep := ObservationColumns{Chlorophyll: rapid.Bool().Draw(rt, "keep chl"), Pixels: rapid.Bool().Draw(rt, "keep pixels"), Quality: rapid.Bool().Draw(rt, "keep quality"), Flags: rapid.Bool().Draw(rt, "keep flags")}
		o := testObservation("a", 9, data.InSitu, data.Chlorophyll(rapid.IntRange(-1, 3).Draw(rt, "chl")))
		if keep.Chlorophyll {
			o.Chlorophyll = data.NoChlorophyll
		}
		if !keep.Pixels {
			o.Details.TotalPixels = data.Optional[int32]{Value: rapid.Int32Range(0, 5).Draw(rt, "pixels"), Known: true}
			o.Details.ValidPixels = data.Optional[int32]{Value: rapid.Int32Range(0, o.Details.TotalPixels.Value).Draw(rt, "valid"), Known: true}
		}
		if !keep.Quality {
			o.Quality = data.Quality(rapid.IntRange(0, 3).Draw(rt, "quality"))
		}
		if o.Chlorophyll.Valid() && rapid.Bool().Draw(rt, "limits") {
			o.Details.Lower, o.Details.Upper = data.Known(o.Chlorophyll-min(o.Chlorophyll, 1)), data.Known(o.Chlorophyll+1)
		}
		err := s.Import(ctx, func(tx Tx) error {
			_, err := tx.PutObservations(ctx, []data.Observation{o}, keep)
			return err
		})
		if err != nil {
			rt.Fatal(err)
		}
		_, _, rows := scan(t, s)
		if err := rows[0].Check(); err != nil {
			rt.Fatalf("stored %+v: %v", rows[0], err)
		}
	})
}

// An import without chlorophyll adds gaps, and changes other columns of a stored value.
func testKeptChlorophyll(t *testing.T, open opener) {
	s, ctx := open(t, time.Now), t.Context()
	stored := testObservation("a", 9, data.InSitu, 500)
	stored.CellDensity, stored.Quality = 70000, data.Good
	stored.Details = data.Details{Upper: data.Known[data.Chlorophyll](1000), BelowLimit: true, Method: "m"}
	put(t, s, []data.Lake{testLake("a")}, []data.Observation{stored})
	secchi := testObservation("a", 9, data.InSitu, data.NoChlorophyll)
	secchi.Details.Secchi = data.Known[data.Hundredths](150)
	later := secchi
	later.Date++
	keep := allObservationColumns
	keep.Chlorophyll, keep.Secchi = true, false
	for _, want := range [][]Change{{Changed, Added, Unchanged}, {Unchanged, Unchanged, Unchanged}} {
		err := s.Import(ctx, func(tx Tx) error {
			got, err := tx.PutObservations(ctx, []data.Observation{secchi, later, secchi}, keep)
			if err == nil && !slices.Equal(got, want) {
				t.Errorf("import = %v, want %v", got, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	both := stored
	both.Details.Secchi = secchi.Details.Secchi
	if _, _, got := scan(t, s); !slices.Equal(got, []data.Observation{both, later}) {
		t.Errorf("stored %+v, want %+v and a gap", got, both)
	}
}
