package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"limnomap/data"
)

func testHistory(t *testing.T, open opener) {
	s := open(t, time.Now)
	if _, _, err := s.History(t.Context(), "a", data.Newest(10)); !errors.Is(err, data.ErrNoLake) {
		t.Errorf("History of no lake = %v, want %v", err, data.ErrNoLake)
	}
	neighbour := testObservation("b", 3, data.Satellite, 1)
	put(t, s, []data.Lake{testLake("a"), testLake("b")}, []data.Observation{neighbour})
	if lake, got, err := s.History(t.Context(), "a", data.Newest(10)); err != nil || len(got) != 0 || lake != testLake("a") {
		t.Errorf("History of a lake without observations = %v, %v, %v, want only the lake", lake, got, err)
	}
	satellite := func(d data.Date, c data.Chlorophyll) data.Observation {
		return testObservation("a", d, data.Satellite, c)
	}
	forecast := func(d data.Date, c data.Chlorophyll) data.Observation {
		return testObservation("a", d, data.Forecast, c)
	}
	poor := func(d data.Date, c data.Chlorophyll) data.Observation {
		o := satellite(d, c)
		o.Quality = data.Poor
		return o
	}
	put(t, s, nil, []data.Observation{
		forecast(5, 500),
		satellite(4, 400), forecast(4, 401), // superseded
		satellite(3, data.NoChlorophyll), forecast(3, 301), // a gap supersedes nothing
		satellite(2, 0), forecast(2, 201), // zero is a value
		forecast(1, 100),
		poor(0, 1), forecast(0, 900), // a poor value supersedes nothing
	})
	all := []data.Observation{forecast(5, 500), satellite(4, 400), satellite(3, data.NoChlorophyll), forecast(3, 301), satellite(2, 0), forecast(1, 100), poor(0, 1), forecast(0, 900)}
	for limit := range len(all) + 2 {
		want := all[:min(limit, len(all))]
		if _, got, err := s.History(t.Context(), "a", data.Newest(limit)); err != nil || !slices.Equal(got, want) {
			t.Errorf("History(limit %d) = %v, %v, want %v", limit, got, err, want)
		}
	}
	testHistoryOfAny(t, s)
}

// Each Store selects the same rows as data.HistoryRows, for any observations and any query.
func testHistoryOfAny(t *testing.T, s *Store) {
	lake := 0
	rapid.Check(t, func(rt *rapid.T) {
		lake++
		l := testLake(fmt.Sprint("any", lake))
		rows := drawRows(rt, l.ID)
		q := data.HistoryQuery{Period: drawPeriod(rt), Types: data.DataTypes(rapid.IntRange(0, 7).Draw(rt, "types")), Limit: rapid.IntRange(-1, 20).Draw(rt, "limit")}
		put(t, s, []data.Lake{l}, rows)
		slices.SortFunc(rows, func(a, b data.Observation) int { return cmp.Compare(b.Date, a.Date) })
		want := q.Rows()
		for _, o := range rows {
			want.Add(o)
		}
		if _, got, err := s.History(t.Context(), l.ID, q); err != nil || !slices.Equal(got, want.Picked()) {
			rt.Fatalf("History(%+v) = %v, %v, want %v", q, got, err, want.Picked())
		}
	})
}

// drawRows draws rows of a lake within some days, with different keys, in any order.
func drawRows(rt *rapid.T, id data.LakeID) []data.Observation {
	type key struct {
		date   data.Date
		kind   data.DataType
		source string
	}
	return rapid.SliceOfNDistinct(rapid.Custom(func(rt *rapid.T) data.Observation {
		o := testObservation(id,
			data.Date(rapid.IntRange(-3, 6).Draw(rt, "date")),
			data.DataType(rapid.IntRange(0, 2).Draw(rt, "type")),
			data.Chlorophyll(rapid.IntRange(-1, 3).Draw(rt, "chl")))
		o.Source = rapid.SampledFrom([]string{"", "", "a", "B"}).Draw(rt, "source")
		o.Quality = rapid.SampledFrom([]data.Quality{data.QualityUnknown, data.Good, data.Poor}).Draw(rt, "quality")
		if rapid.Bool().Draw(rt, "with a depth") {
			o.Details.Secchi = data.Known(data.Hundredths(rapid.IntRange(0, 100_00).Draw(rt, "depth")))
		}
		return o
	}), 0, 20, func(o data.Observation) key { return key{o.Date, o.Type, o.Source} }).Draw(rt, "rows of "+string(id))
}

// drawPeriod draws a period around those days, all time, or an empty period that ends before it begins.
func drawPeriod(rt *rapid.T) data.Period {
	if rapid.Bool().Draw(rt, "all time") {
		return data.AllTime()
	}
	first := data.Date(rapid.IntRange(-5, 8).Draw(rt, "first"))
	return data.Period{First: first, Last: first + data.Date(rapid.IntRange(-1, 12).Draw(rt, "days"))}
}
