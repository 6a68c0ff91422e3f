package store

import (
	"fmt"
	"slices"
	"testing"
	"time"

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

// testImports runs each case in one batch, and again with a batch for each row.
func testImports(t *testing.T, open opener, cases []importCase) {
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

// Of one lake, date and source of a satellite the newest version counts, in whatever order they come.
func testVersions(t *testing.T, open opener) {
	older, newer := "V2.1.1 9 observations", "V2.1.1 12 observations"
	sample := func(o data.Observation) data.Observation {
		o.Type = data.InSitu
		return o
	}
	otherSource := func(o data.Observation) data.Observation {
		o.Source = "EPA CyAN"
		return o
	}
	gap := versioned(newer, data.NoChlorophyll)
	all := ObservationColumns{}
	testImports(t, open, []importCase{
		{"the same", all, []data.Observation{versioned(newer, 500)}, []data.Observation{versioned(newer, 500)}, []Change{Unchanged}, []data.Observation{versioned(newer, 500)}},
		{"a newer one", all, []data.Observation{versioned(older, 500)}, []data.Observation{versioned(newer, 600)}, []Change{Changed}, []data.Observation{versioned(newer, 600)}},
		{"a newer one, the same value", all, []data.Observation{versioned(older, 500)}, []data.Observation{versioned(newer, 500)}, []Change{Changed}, []data.Observation{versioned(newer, 500)}},
		{"a newer one is a gap", all, []data.Observation{versioned(older, 500)}, []data.Observation{gap}, []Change{Changed}, []data.Observation{gap}},
		{"an older one", all, []data.Observation{versioned(newer, 500)}, []data.Observation{versioned(older, 600)}, []Change{OlderVersion}, []data.Observation{versioned(newer, 500)}},
		{"an older one, the same value", all, []data.Observation{versioned(newer, 500)}, []data.Observation{versioned(older, 500)}, []Change{OlderVersion}, []data.Observation{versioned(newer, 500)}},
		{"an older one of a gap", all, []data.Observation{gap}, []data.Observation{versioned(older, 600)}, []Change{OlderVersion}, []data.Observation{gap}},
		{"as old in other words", all, []data.Observation{versioned("V2.1", 500)}, []data.Observation{versioned("v2.01", 600)}, []Change{Changed}, []data.Observation{versioned("v2.01", 600)}},
		{"none over one", all, []data.Observation{versioned(newer, 500)}, []data.Observation{versioned("", 600)}, []Change{Changed}, []data.Observation{versioned("", 600)}},
		{"one over none", all, []data.Observation{versioned("", 500)}, []data.Observation{versioned(older, 600)}, []Change{Changed}, []data.Observation{versioned(older, 600)}},
		{"an older one of a sample", all, []data.Observation{sample(versioned(newer, 500))}, []data.Observation{sample(versioned(older, 600))}, []Change{Changed},
			[]data.Observation{sample(versioned(older, 600))}},
		{"an older one of another source", all, []data.Observation{versioned(newer, 500)}, []data.Observation{otherSource(versioned(older, 600))}, []Change{Added},
			[]data.Observation{versioned(newer, 500), otherSource(versioned(older, 600))}},

		{"both in order", all, nil, []data.Observation{versioned(older, 500), versioned(newer, 600)}, []Change{Added, Changed}, []data.Observation{versioned(newer, 600)}},
		{"both out of order", all, nil, []data.Observation{versioned(newer, 600), versioned(older, 500)}, []Change{Added, OlderVersion}, []data.Observation{versioned(newer, 600)}},
		{"ever newer, with repeats", all, nil,
			[]data.Observation{versioned("1", 500), versioned("3", 600), versioned("2", 700), versioned("3", 600), versioned("3", 800), versioned("4", 800), versioned("", 800), versioned("1", 500)},
			[]Change{Added, Changed, OlderVersion, Unchanged, Contradicts, Changed, Contradicts, OlderVersion}, []data.Observation{versioned("4", 800)}},
		{"an older one before another value of the stored version", all, []data.Observation{versioned("2", 500)},
			[]data.Observation{versioned("1", 100), versioned("1", 200), versioned("2", 600), versioned("2", 700), versioned("2", 600)},
			[]Change{OlderVersion, OlderVersion, Changed, Contradicts, Unchanged}, []data.Observation{versioned("2", 600)}},
		{"an older one before a value without a version", all, []data.Observation{versioned("2", 500)},
			[]data.Observation{versioned("1", 100), versioned("", 600), versioned("", 700)},
			[]Change{OlderVersion, Changed, Contradicts}, []data.Observation{versioned("", 600)}},
	})
}

// An import without the column keeps a version only with an unchanged value.
func testKeptVersion(t *testing.T, open opener) {
	s, ctx := open(t, time.Now), t.Context()
	put(t, s, []data.Lake{testLake("a")}, []data.Observation{versioned("2", 500)})
	for _, step := range []struct {
		chl  data.Chlorophyll
		want Change
		then data.Observation
	}{
		{500, Unchanged, versioned("2", 500)},
		{600, Changed, versioned("", 600)},
	} {
		err := s.Import(ctx, func(tx Tx) error {
			got, err := tx.PutObservations(ctx, []data.Observation{versioned("", step.chl)}, ObservationColumns{Version: true})
			if err == nil && got[0] != step.want {
				t.Errorf("chl %v: %v, want %v", step.chl, got[0], step.want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, got := scan(t, s); !slices.Equal(got, []data.Observation{step.then}) {
			t.Errorf("chl %v: stored %+v, want %+v", step.chl, got, step.then)
		}
	}
}
