package store

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"limnomap/data"
)

// A key may occur once in an import. A repeated row is unchanged if it is equal, otherwise it contradicts; the next import
// may change it.
func testContradictingLakes(t *testing.T, open opener) {
	s, ctx := open(t, time.Now), t.Context()
	for name, edit := range map[string]func(*data.Lake){
		"external id": func(l *data.Lake) { l.ExternalID = "DEBY_PR_1" },
		"name":        func(l *data.Lake) { l.Name = "Großer Müggelsee" },
		"longitude":   func(l *data.Lake) { l.Point[0] = 11.31 },
		"latitude":    func(l *data.Lake) { l.Point[1] = 47.91 },
		"region":      func(l *data.Lake) { l.Region = "" },
		"area":        func(l *data.Lake) { l.AreaKM2 = 0 },
		"outline":     func(l *data.Lake) { l.Outline = testOutline(t) },
	} {
		t.Run(name, func(t *testing.T) {
			first := testLake(name[:3])
			other := first
			edit(&other)
			for _, want := range [][]Change{
				{Added, Contradicts, Unchanged, Contradicts},
				{Unchanged, Contradicts, Unchanged, Contradicts},
			} {
				if got, _ := put(t, s, []data.Lake{first, other, first, other}, nil); !slices.Equal(got, want) {
					t.Errorf("import = %v, want %v", got, want)
				}
				wantStored(t, s, first)
			}
			if got, _ := put(t, s, []data.Lake{other, first, other}, nil); !slices.Equal(got, []Change{Changed, Contradicts, Unchanged}) {
				t.Errorf("the next import = %v, want changed, contradicts, unchanged", got)
			}
			wantStored(t, s, other)
			// In separate batches, as in a large file.
			err := s.Import(ctx, func(tx Tx) error {
				for i, l := range []data.Lake{first, other, first} {
					got, err := tx.PutLakes(ctx, []data.Lake{l}, LakeColumns{})
					if err != nil {
						return err
					}
					if want := []Change{Changed, Contradicts, Unchanged}[i]; got[0] != want {
						t.Errorf("batch %d = %v, want %v", i, got, want)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			wantStored(t, s, first)
		})
	}
}

func wantStored(t *testing.T, s *Store, want data.Lake) {
	t.Helper()
	if got, _, err := s.History(t.Context(), want.ID, data.Newest(1)); err != nil || got != want {
		t.Errorf("stored is %+v, %v, want %+v", got, err, want)
	}
}

// A column that is missing in a later file contradicts nothing. A lake that must not move is rejected each time.
func testContradictingColumns(t *testing.T, open opener) {
	s, ctx := open(t, time.Now), t.Context()
	full := testLake("a")
	full.Outline = testOutline(t)
	bare := data.Lake{ID: "a", ExternalID: "a", Name: full.Name, Point: full.Point}
	renamed, moved := bare, bare
	renamed.Name, moved.Point = "Neuer See", full.Point
	moved.Point[0] += 30
	all := LakeColumns{true, true, true, true}
	err := s.Import(ctx, func(tx Tx) error {
		for _, step := range []struct {
			lake data.Lake
			keep LakeColumns
			want Change
		}{
			{full, LakeColumns{}, Added},
			{bare, all, Unchanged},
			{bare, LakeColumns{}, Contradicts},
			{renamed, all, Contradicts},
			{moved, all, LeavesOutline},
			{moved, LakeColumns{}, Contradicts},
			{full, LakeColumns{}, Unchanged},
		} {
			got, err := tx.PutLakes(ctx, []data.Lake{step.lake}, step.keep)
			if err != nil {
				return err
			}
			if got[0] != step.want {
				t.Errorf("lake %+v, keeping %+v, %v, want %v", step.lake, step.keep, got[0], step.want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wantStored(t, s, full)
	if got := revisionOf(t, s).Number; got != 1 {
		t.Errorf("revision %d, want 1", got)
	}
	put(t, s, []data.Lake{full}, nil)
	put(t, s, []data.Lake{full, renamed}, nil)
	if got := revisionOf(t, s).Number; got != 1 {
		t.Errorf("revision %d after an import that contradicts itself and changed nothing, want 1", got)
	}
}

// A simple implementation of the rules of Change and Tx gives the same changes for any rows, batches and kept columns.
func testContradictingObservations(t *testing.T, open opener) {
	s, ctx := open(t, time.Now), t.Context()
	lakes := []data.Lake{testLake("a"), testLake("b")}
	put(t, s, lakes, nil)
	stored := map[modelKey]data.Observation{}
	rapid.Check(t, func(rt *rapid.T) {
		seen := map[modelKey]seenRows{}
		err := s.Import(ctx, func(tx Tx) error {
			for range rapid.IntRange(1, 4).Draw(rt, "batches") {
				keep := ObservationColumns{
					Chlorophyll: rapid.IntRange(0, 2).Draw(rt, "keep chl") == 0,
					Level:       rapid.Bool().Draw(rt, "keep level"),
					CellDensity: rapid.Bool().Draw(rt, "keep density"),
					MeasuredAt:  rapid.Bool().Draw(rt, "keep time"),
					Pixels:      rapid.IntRange(0, 3).Draw(rt, "keep pixels") == 0,
					Quality:     rapid.Bool().Draw(rt, "keep quality"),
					Version:     rapid.IntRange(0, 3).Draw(rt, "keep version") == 0,
					Flags:       rapid.Bool().Draw(rt, "keep flags"),
					Method:      rapid.Bool().Draw(rt, "keep method"),
					Secchi:      rapid.Bool().Draw(rt, "keep depth"),
				}
				batch := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) data.Observation { return drawObservation(rt, keep) }), 0, 12).Draw(rt, "rows")
				var want []Change
				for _, o := range batch {
					want = append(want, modelPut(stored, seen, o, keep))
				}
				got, err := tx.PutObservations(ctx, batch, keep)
				if err != nil {
					return err
				}
				if !slices.Equal(got, want) {
					rt.Errorf("%+v, keeping %+v, became %v, want %v", batch, keep, got, want)
				}
			}
			return nil
		})
		if err != nil {
			rt.Fatal(err)
		}
		var want []data.Observation
		for _, o := range stored {
			want = append(want, o)
		}
		slices.SortFunc(want, func(a, b data.Observation) int {
			return cmp.Or(cmp.Compare(a.LakeID, b.LakeID), cmp.Compare(a.Date, b.Date), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Source, b.Source))
		})
		if _, _, got := scan(t, s); !slices.Equal(got, want) {
			rt.Errorf("stored %+v, want %+v", got, want)
		}
	})
}

type modelKey struct {
	lake   data.LakeID
	date   data.Date
	kind   data.DataType
	source string
}

func modelKeyOf(o data.Observation) modelKey { return modelKey{o.LakeID, o.Date, o.Type, o.Source} }

// drawObservation draws a valid observation, with nothing in the columns that the import lacks.
func drawObservation(rt *rapid.T, lacks ObservationColumns) data.Observation {
	o := testObservation(
		data.LakeID(rapid.SampledFrom([]string{"a", "b", "missing"}).Draw(rt, "lake")),
		data.Date(rapid.IntRange(-1, 1).Draw(rt, "date")),
		data.DataType(rapid.IntRange(0, 2).Draw(rt, "type")),
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
	if o.Chlorophyll.Valid() && rapid.IntRange(0, 3).Draw(rt, "with a limit") == 0 {
		o.Details.Lower = data.Known(o.Chlorophyll)
	}
	return o
}

// seenRows are the rows of an import with the same key.
type seenRows uint8

const (
	noRow    seenRows = iota
	onlyOld           // all were OlderVersion or WorseThanStored
	otherRow          // at least one was not
)

// modelPut returns the change for o, and applies it to stored.
func modelPut(stored map[modelKey]data.Observation, seen map[modelKey]seenRows, o data.Observation, keep ObservationColumns) Change {
	if o.LakeID == "missing" {
		return UnknownLake
	}
	key := modelKeyOf(o)
	before, exists := stored[key]
	order, refused := 0, OlderVersion
	if o.Type == data.Satellite && o.Details.Version != "" && before.Details.Version != "" {
		order = data.CompareVersions(o.Details.Version, before.Details.Version)
	}
	if order == 0 && exists && !keep.Chlorophyll && !(keep.Quality && o.Chlorophyll == before.Chlorophyll) {
		if worse, by := data.CompareSatelliteRows(&o, &before); by == data.ByQuality {
			order, refused = worse, WorseThanStored
		}
	}
	if exists && order < 0 {
		seen[key] = max(seen[key], onlyOld)
		return refused
	}
	again := seen[key] == otherRow && order == 0
	seen[key] = otherRow
	if !exists {
		stored[key] = o
		return Added
	}
	poorer := o.Quality == data.Poor && before.Chlorophyll.Valid() && before.Quality != data.Poor
	if (!o.Chlorophyll.Valid() && !keep.Chlorophyll || poorer) &&
		(keep.Level && before.Level != data.NoLevel || keep.CellDensity && before.CellDensity != data.NoCellDensity ||
			keep.Flags && before.Chlorophyll.Valid() && before.Details.Flags&data.FlagsOf(data.Scum) != 0) {
		return LosesReport
	}
	if keep.Chlorophyll {
		o.Chlorophyll, o.Details.Lower = before.Chlorophyll, before.Details.Lower
	}
	if keep.Level {
		o.Level = before.Level
	}
	if keep.CellDensity {
		o.CellDensity = before.CellDensity
	}
	if keep.MeasuredAt {
		o.MeasuredAt = before.MeasuredAt
	}
	if keep.Pixels {
		o.Details.ValidPixels, o.Details.TotalPixels = before.Details.ValidPixels, before.Details.TotalPixels
	}
	if keep.Quality && o.Chlorophyll == before.Chlorophyll {
		o.Quality = before.Quality
	}
	if keep.Version && o.Chlorophyll == before.Chlorophyll {
		o.Details.Version = before.Details.Version
	}
	if keep.Flags {
		o.Details.Flags = before.Details.Flags
		if o.Chlorophyll != before.Chlorophyll { // the other flags are about another value
			o.Details.Flags &= data.FlagsOf(data.Scum)
		}
	}
	if keep.Method {
		o.Details.Method = before.Details.Method
	}
	if keep.Secchi {
		o.Details.Secchi = before.Details.Secchi
	}
	switch {
	case o == before:
		return Unchanged
	case again:
		return Contradicts
	}
	stored[key] = o
	return Changed
}
