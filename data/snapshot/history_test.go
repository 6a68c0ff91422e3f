package snapshot_test

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"time"

	"limnomap/data"

	"pgregory.net/rapid"
)

// drawHistories draws a few lakes with passes and forecasts, with all fields that an observation may have.
func drawHistories(t *rapid.T) *memory {
	m := &memory{lakes: lakes("a", "b", "c")}
	for _, l := range m.lakes {
		rows := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) data.Observation {
			o := data.Observation{
				LakeID: l.ID, Date: data.Date(rapid.IntRange(-300, 300).Draw(t, "date")),
				Type:        rapid.SampledFrom(data.AllDataTypes()).Draw(t, "type"),
				Chlorophyll: data.Chlorophyll(rapid.Int32Range(-1, int32(data.MaxChlorophyll)).Draw(t, "chl")),
				Level:       data.NoLevel, CellDensity: data.NoCellDensity,
				Quality: data.Quality(rapid.IntRange(0, 3).Draw(t, "quality")),
			}
			if o.Chlorophyll.Valid() {
				o.Level = data.Level(rapid.IntRange(-1, 3).Draw(t, "level"))
				if rapid.Bool().Draw(t, "counted") {
					o.CellDensity = rapid.Float64Range(0, math.MaxFloat64).Draw(t, "density")
				}
			}
			if rapid.Bool().Draw(t, "timed") {
				// On the day, on the days around it, and as far away as possible.
				offset := rapid.OneOf(rapid.Int64Range(0, 86_399), rapid.Int64Range(-90_000, 180_000),
					rapid.SampledFrom([]int64{-math.MaxInt32, math.MaxInt32, 86_400, 86_401, -1})).Draw(t, "offset")
				o.MeasuredAt = time.Unix(o.Date.Time().Unix()+offset, 0).UTC()
			}
			return o
		}), 0, 12, func(o data.Observation) [2]int { return [2]int{int(o.Date), int(o.Type)} }).Draw(t, "rows")
		slices.SortFunc(rows, func(a, b data.Observation) int {
			return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Type, b.Type))
		})
		m.observations = append(m.observations, rows...)
	}
	return m
}

func drawQuery(t *rapid.T) data.HistoryQuery {
	q := data.HistoryQuery{
		Period: data.AllTime(),
		Types:  data.DataTypes(rapid.IntRange(0, 7).Draw(t, "types")),
		Limit:  rapid.IntRange(-1, 30).Draw(t, "limit"),
	}
	if rapid.Bool().Draw(t, "from") {
		q.Period.First = data.Date(rapid.IntRange(-310, 310).Draw(t, "first"))
	}
	if rapid.Bool().Draw(t, "to") {
		q.Period.Last = data.Date(rapid.IntRange(-310, 310).Draw(t, "last"))
	}
	return q
}

// historyOf is a simple implementation of the rules of data.Source.
func historyOf(m *memory, id data.LakeID, q data.HistoryQuery) []data.Observation {
	var rows []data.Observation
	for _, o := range m.observations {
		superseded := o.Type == data.Forecast && slices.ContainsFunc(m.observations, func(p data.Observation) bool {
			return p.LakeID == id && p.Type != data.Forecast && p.Date == o.Date && p.Chlorophyll.Valid() && p.Quality != data.Poor
		})
		if o.LakeID == id && !superseded && q.Period.First <= o.Date && o.Date <= q.Period.Last && q.Types.Has(o.Type) {
			rows = append(rows, o)
		}
	}
	slices.SortFunc(rows, func(a, b data.Observation) int {
		rank := map[data.DataType]int{data.InSitu: 0, data.Satellite: 1, data.Forecast: 2}
		return cmp.Or(cmp.Compare(b.Date, a.Date), cmp.Compare(rank[a.Type], rank[b.Type]))
	})
	return rows[:min(max(q.Limit, 0), len(rows))]
}

// The history from a snapshot is the same as from its source, to the second and to the last digit.
func TestSnapshotHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := drawHistories(t)
		s := mustLoad(t, src, nil)
		for range 5 {
			q := drawQuery(t)
			for i, l := range s.Lakes {
				got, whole := s.History(i, q)
				if want := historyOf(src, l.ID, q); !slices.Equal(got, want) || !whole {
					t.Fatalf("History(%s, %+v) = %+v, whole: %v, want %+v", l.ID, q, got, whole, want)
				}
			}
		}
	})
}

// No map shows forecasts.
func TestForecastsDoNotChangeTheVersion(t *testing.T) {
	src := versioned(t)
	before := load(t, src, nil)
	forecast := obs(t, "a", "2027-01-01", 1000)
	forecast.Type = data.Forecast
	src.observations = slices.Insert(src.observations, 2, forecast)
	after := load(t, src, nil)
	if after.Version != before.Version || len(after.Weeks) != len(before.Weeks) || !slices.Equal(after.Current.States, before.Current.States) {
		t.Errorf("a forecast changes the map: version %s, weeks %v, states %v", after.Version, after.Weeks, after.Current.States)
	}
	if got, _ := after.History(0, data.Newest(1)); len(got) != 1 || got[0] != forecast {
		t.Errorf("the newest row is %v, want the forecast", got)
	}
}

// Rows with a source or details are not in memory as a whole: the snapshot says so.
func TestHistoryWithDetailsIsNotWhole(t *testing.T) {
	detailed := obs(t, "a", "2026-07-01", 4)
	detailed.Source, detailed.Details = "LWQ", data.Details{Method: "median"}
	src := &memory{lakes: lakes("a", "b"), observations: []data.Observation{obs(t, "a", "2026-06-01", 3), detailed, obs(t, "b", "2026-07-01", 4)}}
	s := load(t, src, nil)
	if _, whole := s.History(0, data.Newest(10)); whole {
		t.Error("a history with details is called whole")
	}
	before := data.HistoryQuery{Period: data.Period{First: day(t, "2026-05-01"), Last: day(t, "2026-06-30")}, Limit: 10}
	if got, whole := s.History(0, before); !whole || len(got) != 1 {
		t.Errorf("before the details: %v, whole: %v, want one row, whole", got, whole)
	}
	if _, whole := s.History(1, data.Newest(10)); !whole {
		t.Error("the history of another lake is not whole")
	}
}
