package snapshot_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/snapshot"

	"github.com/paulmach/orb"
)

// A memory is a Source that passes its rows unchanged.
type memory struct {
	snapshot.NoPixels
	snapshot.NoForecasts
	revision     data.Revision
	lakes        []data.Lake
	observations []data.Observation
	advisories   []data.Advisory
	pixels       data.PixelState
}

func (m *memory) PixelState(context.Context) (data.PixelState, error) { return m.pixels, nil }

func (m *memory) Revision(context.Context) (data.Revision, error) { return m.revision, nil }

func (m *memory) Scan(_ context.Context, lake func(data.Lake) error, observation func(data.Observation) error) (data.Revision, error) {
	for _, l := range m.lakes {
		if err := lake(l); err != nil {
			return data.Revision{}, err
		}
	}
	for _, o := range m.observations {
		if err := observation(o); err != nil {
			return data.Revision{}, err
		}
	}
	return m.revision, nil
}

func (m *memory) Advisories(context.Context) ([]data.Advisory, data.Revision, error) {
	return m.advisories, m.revision, nil
}

func (m *memory) Past(_ context.Context, period data.Period, observation func(data.Observation) error) (data.Revision, error) {
	usable := func(o data.Observation) bool { return o.Chlorophyll.Valid() && o.Quality != data.Poor }
	for i := 0; i < len(m.observations); {
		id := m.observations[i].LakeID
		first := i
		newest := make(map[data.DataType]data.Date) // before the period
		for ; i < len(m.observations) && m.observations[i].LakeID == id; i++ {
			if o := m.observations[i]; o.Date < period.First && usable(o) {
				newest[o.Type] = o.Date
			}
		}
		for _, o := range m.observations[first:i] {
			before, ok := newest[o.Type]
			asBefore := ok && (o.Date == before || o.Type == data.Satellite && o.Date < before && o.Date.Week() == before.Week())
			if o.Type == data.Forecast || o.Date > period.Last || o.Date < period.First && !(asBefore && usable(o)) {
				continue
			}
			if err := observation(o); err != nil {
				return data.Revision{}, err
			}
		}
	}
	return m.revision, nil
}

func (m *memory) History(_ context.Context, id data.LakeID, q data.HistoryQuery) (data.Lake, []data.Observation, error) {
	i := slices.IndexFunc(m.lakes, func(l data.Lake) bool { return l.ID == id })
	if i < 0 {
		return data.Lake{}, nil, data.ErrNoLake
	}
	var history []data.Observation
	for _, o := range slices.Backward(m.observations) {
		if o.LakeID == id && len(history) < q.Limit && q.Period.Contains(o.Date) && q.Types.Has(o.Type) {
			history = append(history, o)
		}
	}
	return m.lakes[i], history, nil
}

// lakes returns a lake for each id.
func lakes(ids ...data.LakeID) []data.Lake {
	var all []data.Lake
	for _, id := range ids {
		all = append(all, data.Lake{ID: id, ExternalID: string(id), Name: "Lake " + string(id), Point: orb.Point{11, 48}})
	}
	return all
}

// obs returns a satellite observation of a lake; chl below 0 is a gap.
func obs(t testing.TB, id data.LakeID, date string, chl float64) data.Observation {
	t.Helper()
	o := data.Observation{
		LakeID: id, Date: day(t, date), Chlorophyll: data.NoChlorophyll, Level: data.NoLevel, CellDensity: data.NoCellDensity,
	}
	if chl >= 0 {
		var err error
		if o.Chlorophyll, err = data.ChlorophyllOf(chl); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func day(t testing.TB, s string) data.Date {
	t.Helper()
	d, err := data.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// archive returns options by which ages count from the newest measurement, unless they say otherwise.
func archive(opts *snapshot.Options) *snapshot.Options {
	var o snapshot.Options
	if opts != nil {
		o = *opts
	}
	if o.AsOf.Clock() {
		o.AsOf = snapshot.Newest
	}
	return &o
}

func load(t testing.TB, src snapshot.Source, opts *snapshot.Options) *snapshot.Snapshot {
	t.Helper()
	s, err := snapshot.Load(context.Background(), src, archive(opts))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// state returns the state of a lake in a view.
func state(t testing.TB, s *snapshot.Snapshot, v *snapshot.View, id data.LakeID) snapshot.State {
	t.Helper()
	i, ok := s.Index(id)
	if !ok {
		t.Fatalf("no lake %s", id)
	}
	return v.States[i]
}

// unknown is the state of a lake that never had a value.
var unknown = snapshot.State{
	Chlorophyll: data.NoChlorophyll, Level: data.NoLevel, Risk: data.RiskUnknown,
	Trophic: data.TrophicUnknown, CountedCells: data.NoCellDensity,
}

func seconds(t testing.TB, s string) int64 {
	t.Helper()
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return at.Unix()
}
