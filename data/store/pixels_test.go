package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/pixels"
	"limnomap/data/raster/georef"
	"limnomap/data/raster/zonal"
)

// The pixels of an observation are stored with it, in one transaction, and are those of its value.
func testPixels(t *testing.T, open opener) {
	s := open(t, time.Now)
	put(t, s, []data.Lake{testLake("a"), testLake("b")}, nil)
	const grid = "9 9 6 0.5 0 47 0 -0.5 EPSG:4326"
	with := func(o data.Observation, codes string) data.Observation {
		o.Pixels = &pixels.Packed{Grid: grid, Mask: []byte("mask of " + string(o.LakeID)), Codes: []byte(codes)}
		return o
	}
	row := func(id data.LakeID, day data.Date, chl data.Chlorophyll, quality data.Quality) data.Observation {
		o := fromPixels("", chl, quality)
		o.LakeID, o.Date, o.Source = id, day, "LWQ"
		return o
	}
	want := func(step string, id data.LakeID, day data.Date, codes string) {
		t.Helper()
		p, ok, err := s.Pixels(t.Context(), id, day, "LWQ")
		if err != nil || ok != (codes != "") || string(p.Codes) != codes || ok && (p.Grid != grid || string(p.Mask) != "mask of "+string(id)) {
			t.Errorf("%s: the pixels of %s on %s are %q (%t, %v), want %q", step, id, day, p, ok, err, codes)
		}
	}
	count := func(step, table string, want int64) {
		t.Helper()
		n, err := read(t.Context(), s, "count", func(ctx context.Context, q querier) (n int64, err error) {
			return n, q.queryRow(ctx, "SELECT count(*) FROM limnomap."+table).Scan(&n)
		})
		if err != nil || n != want {
			t.Errorf("%s: %s has %d rows, %v, want %d", step, table, n, err, want)
		}
	}
	var states []data.PixelState // of which all are different
	changed := func(step string, want bool) {
		t.Helper()
		p, err := s.PixelState(t.Context())
		if err != nil || len(states) > 0 && slices.Contains(states, p) == want {
			t.Errorf("%s: the state is %v, %v, after %v", step, p, err, states)
		}
		all, err := read(t.Context(), s, "add up", func(ctx context.Context, q querier) (p data.PixelState, err error) {
			return p, q.queryRow(ctx, "SELECT count(*), coalesce(sum(digest), 0) FROM limnomap.pixels").Scan(&p.Count, &p.Digest)
		})
		if err != nil || p != all {
			t.Errorf("%s: the state is %v, that of the rows %v, %v", step, p, all, err)
		}
		states = append(states, p)
	}
	revision := func() int64 {
		r, err := s.Revision(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r.Number
	}

	want("nothing stored", "a", 20000, "")
	changed("nothing stored", true)
	if states[0] != (data.PixelState{}) {
		t.Errorf("the state without pixels is %v", states[0])
	}
	put(t, s, nil, []data.Observation{with(row("a", 20000, 500, data.Good), "1"), with(row("b", 20000, 500, data.Good), "2"), row("b", 20007, 700, data.Good),
		with(row("missing", 20000, 500, data.Good), "3"), with(row("a", 20007, 600, data.Good), "4")})
	want("first import", "a", 20000, "1")
	want("first import", "b", 20000, "2")
	want("first import", "b", 20007, "")
	want("first import", "a", 20007, "4")
	count("first import", "pixel_masks", 2)
	changed("first import", true)
	values := []data.LakeValue{{Lake: "b", Date: 20000, Chlorophyll: 500}, {Lake: "b", Date: 20007, Chlorophyll: 700}, {Lake: "a", Date: 20007, Chlorophyll: 601},
		{Lake: "none", Date: 20000, Chlorophyll: 500}, {Lake: "a", Date: 20007, Chlorophyll: 600}}
	for range valuesAtATime {
		values = append(values, data.LakeValue{Lake: "a", Date: 20000, Chlorophyll: 500})
	}
	found, err := s.PixelsOf(t.Context(), values)
	if err != nil || len(found) != len(values) {
		t.Fatalf("%d pixels of %d values, %v", len(found), len(values), err)
	}
	for i, p := range found {
		want, mask := "1", "mask of a"
		if i < 5 {
			want = []string{"2", "", "", "", "4"}[i]
		}
		if i == 0 {
			mask = "mask of b"
		}
		if string(p.Codes) != want || want != "" && (p.Grid != grid || string(p.Mask) != mask) {
			t.Errorf("the pixels of value %d are %q, want %q", i, p, want)
		}
	}

	if err := s.LakeSpreads(t.Context(), "a", data.Period{First: 20000, Last: 20007}, func(date data.Date, _, _ string, _ *pixels.Spread) error {
		return fmt.Errorf("damaged pixels of %s have a spread", date)
	}); err != nil {
		t.Error(err)
	}

	var passes []string
	if err := s.PixelPasses(t.Context(), "a", data.Period{First: 20000, Last: 20007}, func(date data.Date, source string, p pixels.Packed) error {
		passes = append(passes, fmt.Sprint(date, " ", source, " ", p.Grid == grid, " ", string(p.Mask), " ", string(p.Codes)))
		return nil
	}); err != nil || !slices.Equal(passes, []string{data.Date(20007).String() + " LWQ true mask of a 4", data.Date(20000).String() + " LWQ true mask of a 1"}) {
		t.Errorf("the passes of a lake are %q, %v", passes, err)
	}
	if err := s.PixelPasses(t.Context(), "a", data.Period{First: 20000, Last: 20006}, func(data.Date, string, pixels.Packed) error { return errors.New("enough") }); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("the error of a caller becomes %v", err)
	}

	before := revision()
	put(t, s, nil, []data.Observation{with(row("a", 20000, 500, data.Good), "1"), row("b", 20000, 500, data.Good)})
	want("the same again", "a", 20000, "1")
	want("the same again without pixels", "b", 20000, "2")
	if revision() != before {
		t.Error("an import of the same raises the revision")
	}
	changed("the same again", false)
	put(t, s, nil, []data.Observation{with(row("a", 20000, 500, data.Good), "5")})
	want("other pixels of the same value", "a", 20000, "5")
	if revision() == before {
		t.Error("other pixels do not raise the revision")
	}
	changed("other pixels of the same value", true)
	put(t, s, nil, []data.Observation{with(row("a", 20000, 900, data.Suspect), "6")})
	want("a worse value", "a", 20000, "5")
	put(t, s, nil, []data.Observation{row("a", 20000, 900, data.Good)})
	want("another value without pixels", "a", 20000, "")
	want("another value without pixels", "a", 20007, "4")
	sample := row("b", 20000, 100, data.Good)
	sample.Type = data.InSitu
	put(t, s, nil, []data.Observation{with(sample, "7")})
	want("a sample", "b", 20000, "2")

	wrong := errors.New("no")
	err = s.Import(t.Context(), func(tx Tx) error {
		if _, err := tx.PutObservations(t.Context(), []data.Observation{with(row("b", 20014, 500, data.Good), "8")}, ObservationColumns{}); err != nil {
			return err
		}
		return wrong
	})
	if !errors.Is(err, wrong) {
		t.Error(err)
	}
	want("an import that failed", "b", 20014, "")

	if err := s.Import(t.Context(), func(tx Tx) error { return tx.KeepPixels(t.Context(), "CyAN", 20001) }); err != nil {
		t.Fatal(err)
	}
	want("old ones of another source removed", "b", 20000, "2")
	if err := s.Import(t.Context(), func(tx Tx) error { return tx.KeepPixels(t.Context(), "LWQ", 20001) }); err != nil {
		t.Fatal(err)
	}
	want("old ones removed", "b", 20000, "")
	want("old ones removed", "a", 20007, "4")
	count("old ones removed", "pixels", 1)
	changed("old ones removed", true)
	count("old ones removed", "pixel_masks", 1)

	// They go with their observations: when these are deleted, and when the import is undone.
	put(t, s, nil, []data.Observation{with(row("a", 20021, 500, data.Good), "9"), with(row("b", 20021, 500, data.Good), "10")})
	if _, err := s.Delete(t.Context(), Selection{Lake: "b", From: data.Known(data.Date(20021))}, false); err != nil {
		t.Fatal(err)
	}
	want("b's observations deleted", "b", 20021, "")
	want("b's observations deleted", "a", 20021, "9")
	if _, err := s.Delete(t.Context(), Selection{WholeLake: true, Lake: "b"}, false); err != nil {
		t.Fatal(err)
	}
	put(t, s, nil, []data.Observation{with(row("a", 20021, 700, data.Good), "11"), with(row("a", 20028, 700, data.Good), "12")})
	want("another value", "a", 20021, "11")
	if _, err := s.Undo(t.Context(), 0, false); err != nil {
		t.Fatal(err)
	}
	want("undone", "a", 20021, "")
	want("undone", "a", 20028, "")
	want("undone", "a", 20007, "4")
	changed("undone", false) // as after the old ones were removed
	count("undone", "pixel_masks", 1)
}

// How pixels are spread is stored with them, and found for each value and in the history of a lake.
func testPixelSpreads(t *testing.T, open opener) {
	s := open(t, time.Now)
	put(t, s, []data.Lake{testLake("a"), testLake("b")}, nil)
	const grid = "9 9 6 0.5 0 47 0 -0.5 EPSG:4326"
	g, err := georef.Parse(grid)
	if err != nil {
		t.Fatal(err)
	}
	mask, err := zonal.NewDisc(zonal.Point{4.5, 4.5}, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	packer := pixels.NewPacker()
	row := func(id data.LakeID, day data.Date, source string, chl data.Chlorophyll, high int) data.Observation {
		o := fromPixels("", chl, data.Good)
		o.LakeID, o.Date, o.Source = id, day, source
		m := &pixels.Map{Grid: g, Mask: mask, Codes: make([]pixels.Code, mask.Count())}
		for i := range m.Codes {
			if m.Codes[i] = pixels.CodeOf(4); i < high {
				m.Codes[i] = pixels.CodeOf(80)
			}
		}
		p := packer.Pack(m)
		o.Pixels = &p
		return o
	}
	all := []data.Observation{row("b", 20000, "X", 500, 1), row("a", 20000, "X", 600, 2), row("a", 20000, "Y", 600, 3), row("a", 20007, "X", 700, 4), row("a", 19990, "X", 800, 5)}
	put(t, s, nil, all)
	spreads := func() (got []string) {
		t.Helper()
		if err := s.PixelSpreads(t.Context(), data.Period{First: 20000, Last: 20007}, func(v data.LakeValue, spread *pixels.Spread) error {
			shares, ok := data.PixelSharesOf(spread, &data.Profiles()[0])
			got = append(got, fmt.Sprint(v.Lake, int(v.Date), int(v.Chlorophyll), math.Round(shares.Risks[data.RiskHigh].Float()*float64(shares.Inside)), ok))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		value := func(s string) string { return strings.Join(strings.Fields(s)[:2], " ") } // with its lake and day
		slices.SortStableFunc(got, func(a, b string) int { return cmp.Compare(value(a), value(b)) })
		return got
	}
	want := []string{"a20000 600 2 true", "a20000 600 3 true", "a20007 700 4 true", "b20000 500 1 true"}
	if got := spreads(); !slices.Equal(got, want) {
		t.Errorf("the spreads are %q, want %q", got, want)
	}
	var history []string
	if err := s.LakeSpreads(t.Context(), "a", data.Period{First: 19990, Last: 20006}, func(date data.Date, source, grid string, spread *pixels.Spread) error {
		history = append(history, fmt.Sprint(int(date), source, grid, spread.Inside))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(history)
	inside := mask.Count()
	if want := []string{fmt.Sprint(19990, "X", grid, inside), fmt.Sprint(20000, "X", grid, inside), fmt.Sprint(20000, "Y", grid, inside)}; !slices.Equal(history, want) {
		t.Errorf("the spreads of a history are %q, want %q", history, want)
	}

	// Pixels that an earlier version stored have none until their file is imported again.
	if err := s.db.update(t.Context(), "forget", func(q querier) error {
		w := writer{ctx: t.Context(), q: q}
		w.exec("UPDATE limnomap.pixels SET spread = NULL, digest = 0")
		return w.err
	}); err != nil {
		t.Fatal(err)
	}
	before, err := s.PixelState(t.Context())
	if got := spreads(); err != nil || len(got) > 0 {
		t.Errorf("without any, the spreads are %q, %v", got, err)
	}
	put(t, s, nil, all)
	if got := spreads(); !slices.Equal(got, want) {
		t.Errorf("after another import the spreads are %q, want %q", got, want)
	}
	if after, err := s.PixelState(t.Context()); err != nil || after == before {
		t.Errorf("the state is %v as before, %v", after, err)
	}
}
