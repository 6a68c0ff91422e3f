package store

import (
	"cmp"
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"limnomap/data"
)

func past(tb testing.TB, s *Store, p data.Period) (rev data.Revision, rows []data.Observation) {
	tb.Helper()
	rev, err := s.Past(tb.Context(), p, func(o data.Observation) error { rows = append(rows, o); return nil })
	if err != nil {
		tb.Fatalf("Past(%v): %v", p, err)
	}
	return rev, rows
}

func testPast(t *testing.T, open opener) {
	s := open(t, time.Now)
	if rev, rows := past(t, s, data.AllTime()); rev.Number != 0 || len(rows) > 0 {
		t.Errorf("the past of an empty store is %v at revision %v", rows, rev)
	}
	// Capital letters come before small ones, and the numbers of lakes are not in the order of ids.
	ids := []data.LakeID{"b", "Z", "a_", "a"}
	for _, id := range ids {
		put(t, s, []data.Lake{testLake(string(id))}, nil)
	}
	stored := map[modelKey]data.Observation{}
	errStop := errors.New("stop")
	rapid.Check(t, func(rt *rapid.T) {
		var rows []data.Observation
		for _, id := range ids {
			rows = append(rows, drawRows(rt, id)...)
		}
		put(t, s, nil, rows)
		for _, o := range rows {
			stored[modelKeyOf(o)] = o
		}
		p := drawPeriod(rt)
		want := modelPast(stored, p)
		rev, got := past(t, s, p)
		if rev != revisionOf(t, s) || !slices.Equal(got, want) {
			rt.Fatalf("Past(%v) = %v, %v, want %v", p, rev, got, want)
		}
		passed := 0
		stop := func(data.Observation) error { passed++; return errStop }
		if _, err := s.Past(t.Context(), p, stop); len(want) > 0 && (err != errStop || passed != 1) {
			rt.Fatalf("Past with a failing callback = %v after %d rows, want its error after one", err, passed)
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

// modelPast is a simple implementation of the rules of data.Source.
func modelPast(rows map[modelKey]data.Observation, p data.Period) (want []data.Observation) {
	type series struct {
		lake data.LakeID
		kind data.DataType
	}
	usable := func(o data.Observation) bool { return o.Chlorophyll.Valid() && o.Quality != data.Poor }
	newest := map[series]data.Date{} // before the period
	for _, o := range rows {
		of := series{o.LakeID, o.Type}
		if before, ok := newest[of]; o.Date < p.First && usable(o) && (!ok || o.Date > before) {
			newest[of] = o.Date
		}
	}
	for _, o := range rows {
		before, ok := newest[series{o.LakeID, o.Type}]
		asBefore := ok && (o.Date == before || o.Type == data.Satellite && o.Date < before && o.Date.Week() == before.Week())
		if o.Type != data.Forecast && (p.Contains(o.Date) || o.Date < p.First && asBefore && usable(o)) {
			want = append(want, o)
		}
	}
	slices.SortFunc(want, func(a, b data.Observation) int {
		return cmp.Or(cmp.Compare(a.LakeID, b.LakeID), cmp.Compare(a.Date, b.Date), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Source, b.Source))
	})
	return want
}

// A read of the past does not see a concurrent import.
func testPastSeesOneState(t *testing.T, open opener) {
	s := open(t, time.Now)
	put(t, s, []data.Lake{testLake("a"), testLake("b")}, []data.Observation{
		testObservation("a", 1, data.Satellite, 100), testObservation("b", 1, data.Satellite, 100)})
	before := revisionOf(t, s)
	var seen []data.Chlorophyll
	rev, err := s.Past(t.Context(), data.AllTime(), func(o data.Observation) error {
		if seen = append(seen, o.Chlorophyll); len(seen) == 1 {
			put(t, s, []data.Lake{testLake("aa")}, []data.Observation{
				testObservation("aa", 1, data.Satellite, 999), testObservation("b", 1, data.Satellite, 999)})
		}
		return nil
	})
	if err != nil || rev != before || !slices.Equal(seen, []data.Chlorophyll{100, 100}) {
		t.Errorf("Past across an import = %v, %v, %v, want revision %v and two values of 1 µg/l", rev, seen, err, before)
	}
}

// The samples of all lakes are passed on with the passes of those days, also after the last sample of a lake has gone.
func testNearSamples(t *testing.T, open opener) {
	s := open(t, time.Now)
	near := func(days int) (rows []data.Observation) {
		t.Helper()
		rev, err := s.NearSamples(t.Context(), days, func(o data.Observation) error { rows = append(rows, o); return nil })
		if err != nil || rev != revisionOf(t, s) {
			t.Fatal(rev, err)
		}
		return rows
	}
	if rows := near(3); len(rows) > 0 {
		t.Errorf("an empty store has %v", rows)
	}
	ids := []data.LakeID{"b", "Z", "a_", "a"}
	for _, id := range ids {
		put(t, s, []data.Lake{testLake(string(id))}, nil)
	}
	stored := map[modelKey]data.Observation{}
	rapid.Check(t, func(rt *rapid.T) {
		var rows []data.Observation
		for _, id := range ids[:3] {
			rows = append(rows, drawRows(rt, id)...)
		}
		rows = append(rows, testObservation("a", 20_000, data.Satellite, 1))
		put(t, s, nil, rows)
		for _, o := range rows {
			stored[modelKeyOf(o)] = o
		}
		days := rapid.IntRange(0, 9).Draw(rt, "days")
		var want []data.Observation
		for _, o := range stored {
			for _, b := range stored {
				if b.LakeID == o.LakeID && b.Type == data.InSitu && o.Type != data.Forecast && (o.Type == data.InSitu || max(o.Date-b.Date, b.Date-o.Date) <= data.Date(days)) {
					want = append(want, o)
					break
				}
			}
		}
		order := func(a, b data.Observation) int {
			return cmp.Or(cmp.Compare(slices.Index(ids, a.LakeID), slices.Index(ids, b.LakeID)), cmp.Compare(a.Date, b.Date), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Source, b.Source))
		}
		slices.SortFunc(want, order)
		if got := near(days); !slices.Equal(got, want) {
			rt.Fatalf("near samples, %d days: %v, want %v", days, got, want)
		}
	})
	errStop := errors.New("stop")
	put(t, s, nil, []data.Observation{testObservation("a", 20_001, data.InSitu, 1)})
	if _, err := s.NearSamples(t.Context(), 3, func(data.Observation) error { return errStop }); err != errStop {
		t.Errorf("with a failing callback: %v", err)
	}
}
