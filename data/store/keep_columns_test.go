package store

import (
	"slices"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"limnomap/data"
)

// Columns that an import lacks keep their values; a new row takes the import's default values.
func testKeptColumns(t *testing.T, open opener) {
	s, ctx := open(t, time.Now), t.Context()
	lake, o := testLake("a"), testObservation("a", 9, data.Satellite, 500)
	o.Level, o.CellDensity, o.MeasuredAt = 3, 70000, time.Date(1970, 1, 10, 9, 0, 0, 0, time.UTC)
	lake.Outline = testOutline(t)
	put(t, s, []data.Lake{lake}, []data.Observation{o})
	bareLake := data.Lake{ID: "a", ExternalID: "a", Name: lake.Name, Point: lake.Point}
	bare := testObservation("a", 9, data.Satellite, 500)
	allOfLake, allOfObservation := LakeColumns{true, true, true, true}, ObservationColumns{true, true, true}
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

// A gap deletes a level or a count only if the import has these columns.
func testKeptReports(t *testing.T, open opener) {
	gap := testObservation("a", 9, data.Satellite, data.NoChlorophyll)
	scum, count, plain := gap, gap, gap
	scum.Chlorophyll, scum.Level = 500, 3
	count.Chlorophyll, count.CellDensity = 500, 0
	plain.Chlorophyll = 500
	for _, test := range []struct {
		name   string
		stored data.Observation
		keep   ObservationColumns
		want   Change
	}{
		{"level, kept", scum, ObservationColumns{Level: true}, LosesReport},
		{"level, all kept", scum, ObservationColumns{true, true, true}, LosesReport},
		{"level, said to be none", scum, ObservationColumns{CellDensity: true, MeasuredAt: true}, Changed},
		{"count, kept", count, ObservationColumns{CellDensity: true}, LosesReport},
		{"count, said to be none", count, ObservationColumns{Level: true}, Changed},
		{"neither", plain, ObservationColumns{true, true, true}, Changed},
		{"a gap before", gap, ObservationColumns{true, true, true}, Unchanged},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, ctx := open(t, time.Now), t.Context()
			put(t, s, []data.Lake{testLake("a")}, []data.Observation{test.stored})
			later := gap
			later.Date++
			err := s.Import(ctx, func(tx Tx) error {
				got, err := tx.PutObservations(ctx, []data.Observation{gap, later}, test.keep)
				if want := []Change{test.want, Added}; err == nil && !slices.Equal(got, want) {
					t.Errorf("import = %v, want %v", got, want)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			want := gap
			if test.want == LosesReport {
				want = test.stored
			}
			if _, _, got := scan(t, s); !slices.Equal(got, []data.Observation{want, later}) {
				t.Errorf("stored %+v, want %+v and a gap", got, want)
			}
		})
	}
}

// A lake may move within and near its outline, and anywhere if it gets another outline or none.
func testLeftOutline(t *testing.T, open opener) {
	outline := func(west, south, east, north float64) data.Outline {
		o, err := data.NewOutline(orb.MultiPolygon{{{{west, south}, {east, south}, {east, north}, {west, north}}}})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	german := outline(11.2, 47.8, 11.4, 48)
	fijian := outline(179.8, -17, 180.2, -16.8)
	keep, replace := LakeColumns{Outline: true}, LakeColumns{}
	for _, test := range []struct {
		name     string
		stored   data.Outline
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
		{"up to the antimeridian", outline(-180, 0, -179, 1), orb.Point{-179.5, 0.5}, orb.Point{179.91, 0.5}, keep, Changed},
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
