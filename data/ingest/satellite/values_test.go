package satellite

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"limnomap/data"
)

// row returns a row of lake a with that many valid pixels.
func row(valid int, edits ...func(*Row)) Row {
	r := Row{Lake: "a", HasValue: true, Value: 1, Inside: 1000, Valid: valid, Uncertainty: -1, Method: "median"}
	for _, edit := range edits {
		edit(&r)
	}
	return r
}

// valuesOf returns rows as if they were those of a file.
func valuesOf(lakes []Lake, rows ...Row) *Values {
	v := &Values{Summary: Summary{PeriodStart: 19_994, Date: 20_000, Composite: data.MaximumComposite, Source: "chlorophyll raster"}, lakes: lakes}
	pack := v.packer()
	for i := range rows {
		rows[i].Date, rows[i].PeriodStart, rows[i].Composite, rows[i].Source = v.Date, data.Known(v.PeriodStart), v.Composite, v.Source
		rows[i].index = slices.IndexFunc(lakes, func(l Lake) bool { return l.ID == rows[i].Lake })
		pack(&rows[i])
	}
	return v
}

// rowsOf returns the rows that count.
func rowsOf(t interface {
	Helper()
	Fatal(...any)
}, files []*Values) []Row {
	t.Helper()
	var all []Row
	for _, v := range files {
		for r, err := range v.Rows() {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
	}
	return all
}

func testLakes(n int) []Lake {
	lakes := make([]Lake, n)
	for i := range lakes {
		lakes[i].ID = data.LakeID('a' + rune(i))
	}
	return lakes
}

func drawRow(t *rapid.T) Row {
	four := func(name string, most int) float64 {
		return float64(rapid.IntRange(0, most*packedUnit).Draw(t, name)) / packedUnit
	}
	r := row(rapid.IntRange(0, 1000).Draw(t, "valid"))
	r.Version, r.Method = rapid.SampledFrom([]string{"", "V1", "V2", "V2.1 12 observations"}).Draw(t, "version"), rapid.SampledFrom([]string{"median", "mean"}).Draw(t, "method")
	r.Scum = rapid.IntRange(0, 1000).Draw(t, "scum")
	for k := range r.Quantities {
		if rapid.Bool().Draw(t, "has a quantity") {
			r.Quantities[k] = data.Known(data.Hundredths(rapid.Int32Range(-10_00, 10_000_00).Draw(t, "quantity")))
		}
	}
	if r.HasValue = rapid.Bool().Draw(t, "has a value"); !r.HasValue {
		r.Value, r.Reason = 0, Reason(rapid.IntRange(0, int(Reasons-1)).Draw(t, "reason"))
		return r
	}
	r.Value, r.P10, r.P90 = four("value", 1500), four("p10", 1500), four("p90", 1500)
	r.Cells = float64(rapid.IntRange(0, 2_000_000_000).Draw(t, "cells"))
	r.Quality, r.Flags = data.Quality(rapid.IntRange(0, int(data.Poor)).Draw(t, "quality")), data.Flags(rapid.IntRange(0, 2047).Draw(t, "flags"))
	switch rapid.IntRange(0, 2).Draw(t, "kind") {
	case 0:
		r.Uncertainty = four("uncertainty", 1500)
	case 1:
		r.Limit = indexLimit
	}
	return r
}

// Rows are the same after they were packed, in memory and in a file.
func TestPackedRows(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "rows"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	end := int64(0)
	lakes := testLakes(3)
	rapid.Check(t, func(t *rapid.T) {
		var want []Row
		for range rapid.IntRange(0, 10).Draw(t, "rows") {
			r := drawRow(t)
			r.Lake = rapid.SampledFrom(lakes).Draw(t, "lake").ID
			want = append(want, r)
		}
		v := valuesOf(lakes, want...)
		if got := rowsOf(t, []*Values{v}); !slices.Equal(got, want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
		var err error
		if end, err = v.MoveTo(file, end); err != nil {
			t.Fatal(err)
		}
		if got := rowsOf(t, []*Values{v}); !slices.Equal(got, want) || v.rows != nil || v.Len() != len(want) {
			t.Fatalf("from the file: got %+v, want %+v", got, want)
		}
	})
	// Several reads, and the rows of another file behind them.
	many := make([]Row, 2*chunkRows+7)
	for i := range many {
		many[i] = row(i)
	}
	first, second := valuesOf(lakes, many...), valuesOf(lakes, row(1))
	for _, v := range []*Values{first, second} {
		if end, err = v.MoveTo(file, end); err != nil {
			t.Fatal(err)
		}
	}
	if got := rowsOf(t, []*Values{first, second}); !slices.Equal(got, append(many, rowsOf(t, []*Values{second})[0])) {
		t.Errorf("%d rows are not those that were written", len(got))
	}
	if err := file.Truncate(end - 1); err != nil {
		t.Fatal(err)
	}
	for _, err := range second.Rows() {
		if err == nil {
			t.Error("a row of a file that is cut off: want an error")
		}
	}
}

// Each lake has one row, which does not depend on the order of the files.
func TestKeepBestProperties(t *testing.T) {
	lakes := testLakes(3)
	best := func(t *rapid.T, files [][]Row) []Row {
		var all []*Values
		for _, rows := range files {
			all = append(all, valuesOf(lakes, slices.Clone(rows)...))
		}
		if _, err := KeepBest(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		rows := rowsOf(t, all)
		for i := range rows {
			if rows[i].Version == "v2" { // equal to V2
				rows[i].Version = "V2"
			}
		}
		slices.SortFunc(rows, func(a, b Row) int { return a.index - b.index })
		return rows
	}
	rapid.Check(t, func(t *rapid.T) {
		var files [][]Row
		var want []data.LakeID
		for range rapid.IntRange(1, 4).Draw(t, "files") {
			var rows []Row
			for _, lake := range lakes {
				if !rapid.Bool().Draw(t, "seen") {
					continue
				}
				r := row(rapid.IntRange(1, 3).Draw(t, "valid"), func(r *Row) {
					r.Lake, r.HasValue = lake.ID, rapid.Bool().Draw(t, "has a value")
					r.Value = rapid.SampledFrom([]float64{1, 1.0001, 2, 3}).Draw(t, "value")
					r.Version = rapid.SampledFrom([]string{"", "V1", "V2", "v2"}).Draw(t, "version")
					if r.HasValue {
						r.Quality = rapid.SampledFrom([]data.Quality{data.QualityUnknown, data.Suspect, data.Poor}).Draw(t, "quality")
					} else {
						r.Value = 0
					}
				})
				rows = append(rows, r)
				want = append(want, lake.ID)
			}
			files = append(files, rows)
		}
		first := best(t, files)
		if again := best(t, rapid.Permutation(files).Draw(t, "order")); !slices.Equal(first, again) {
			t.Fatalf("the rows depend on the order of the files:\n%+v\n%+v", first, again)
		}
		var got []data.LakeID
		for _, r := range first {
			got = append(got, r.Lake)
		}
		slices.Sort(want)
		if !slices.Equal(got, slices.Compact(want)) {
			t.Fatalf("the rows are of %v, want one of each of %v", got, want)
		}
	})
}

func TestKeepBest(t *testing.T) {
	version := func(v string) func(*Row) { return func(r *Row) { r.Version = v } }
	value := func(v float64) func(*Row) { return func(r *Row) { r.Value = v } }
	quality := func(q data.Quality) func(*Row) { return func(r *Row) { r.Quality = q } }
	gap := func(r *Row) { r.HasValue, r.Value = false, 0 }
	for _, test := range []struct {
		name          string
		better, worse Row
	}{
		{"a newer version with fewer pixels", row(1, version("V2.1.1")), row(3, version("V2.1.0"))},
		{"a newer version with a gap", row(0, version("V2"), gap), row(3, version("V1"))},
		{"a value before a gap without a version", row(3, version("V2")), row(9, gap)},
		{"a gap with a version after a value without one", row(3), row(9, version("V2"), gap)},
		{"poor before a gap", row(1, quality(data.Poor)), row(2, gap)},
		{"suspect before poor", row(1, quality(data.Suspect)), row(2, quality(data.Poor))},
		{"good before suspect", row(1), row(2, quality(data.Suspect))},
		{"more pixels", row(3), row(2, value(99))},
		{"the larger value", row(3, value(10)), row(3, value(9))},
		{"a value that is larger by less than is stored", row(3, value(1.0001)), row(3)},
		{"a value before one below a limit", row(3), row(3, func(r *Row) { r.Limit = 3.07 })},
	} {
		for _, rows := range [][]Row{{test.better, test.worse}, {test.worse, test.better}} {
			other := valuesOf(testLakes(1), row(1000))
			other.Date++ // whatever is in another day's file
			files := []*Values{valuesOf(testLakes(1), rows[0]), other, valuesOf(testLakes(1), rows[1])}
			repeated, err := KeepBest(t.Context(), files)
			if err != nil {
				t.Fatal(err)
			}
			if want := []Repetition{{"chlorophyll raster", 20_000, 1}}; !slices.Equal(repeated, want) {
				t.Errorf("%s: %+v are in several files, want %+v", test.name, repeated, want)
			}
			test.better.Date, test.better.PeriodStart, test.better.Composite, test.better.Source = 20_000, data.Known(data.Date(19_994)), data.MaximumComposite, "chlorophyll raster"
			if got := rowsOf(t, []*Values{files[0], files[2]}); !slices.Equal(got, []Row{test.better}) || len(rowsOf(t, files)) != 2 {
				t.Errorf("%s: got %+v, want %+v", test.name, got, test.better)
			}
		}
	}
}
