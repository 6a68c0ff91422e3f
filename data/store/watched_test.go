package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/data/testsize"
)

// A countedSource counts the loads of a Store.
type countedSource struct {
	*Store
	loads int
}

func (c *countedSource) Scan(ctx context.Context, lake func(data.Lake) error, observation func(data.Observation) error) (data.Revision, error) {
	c.loads++
	return c.Store.Scan(ctx, lake, observation)
}

// After random imports a Watcher has the snapshot of a load, in all that a snapshot shows. It loads all lakes and values again only if an import
// changed any of them.
func testWatchedStatements(t *testing.T, open opener) {
	const lakes, weeks = 5, 6
	today := data.Date(20_640) // 2026-07-06, a Monday
	var clock atomic.Int64     // in Unix seconds: the watcher reads it while the test goes on
	clock.Store(today.Time().Add(10 * time.Hour).Unix())
	present := func() time.Time { return time.Unix(clock.Load(), 0).UTC() }
	s := open(t, present)
	random := rand.New(rand.NewPCG(1, uint64(lakes)))
	lakeOf := func() data.LakeID { return data.LakeID(fmt.Sprint("l", random.IntN(lakes))) }
	var all []data.Lake
	var rows []data.Observation
	for i := range lakes {
		all = append(all, testLake(fmt.Sprint("l", i)))
		for w := range weeks {
			rows = append(rows, testObservation(all[i].ID, today-data.Date(7*w), data.Satellite, data.Chlorophyll(random.IntN(90_00))))
		}
	}
	put(t, s, all, rows)
	opts := &snapshot.Options{Weeks: weeks - 2, Present: data.ByClock(present)}

	source, wake, confirmed := &countedSource{Store: s}, make(chan struct{}), make(chan struct{})
	var shown *snapshot.Snapshot
	watcher := snapshot.Watcher{Source: source, Options: opts, Interval: time.Hour, Wake: wake,
		Publish:   func(s *snapshot.Snapshot) { shown = s },
		Confirmed: func(time.Time) { confirmed <- struct{}{} },
		Failed:    func(err error) { t.Error(err) }}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		watcher.Run(ctx)
	}()
	defer func() {
		cancel()
		<-ended
	}()
	<-confirmed

	wantLoads := 1
	for n := range testsize.Of(40, 400) {
		clock.Add(60)
		what := "statements"
		switch random.IntN(8) {
		case 0:
			what = "a value"
			put(t, s, nil, []data.Observation{testObservation(lakeOf(), today-data.Date(random.IntN(30)), data.InSitu, data.Chlorophyll(1000*n+1))})
			wantLoads++
		case 1:
			what = "a lake"
			renamed := testLake(string(lakeOf()))
			renamed.Name = fmt.Sprint("See ", n)
			put(t, s, []data.Lake{renamed}, nil)
			wantLoads++
		case 2:
			what = "preferred sources"
			preferred := data.SourceOrder{fmt.Sprint("product ", n)}
			if err := s.Import(t.Context(), func(tx Tx) error { return tx.PreferSources(t.Context(), preferred) }); err != nil {
				t.Fatal(err)
			}
			wantLoads++
		default:
			var statements []data.Advisory
			for range random.IntN(4) {
				a := testAdvisory(data.AdvisoryID(fmt.Sprint("s", random.IntN(12))), lakeOf())
				a.LakeID = data.LakeID("l" + fmt.Sprint(int(a.ID[1])%lakes))
				a.Kind = data.Season + data.AdvisoryKind(random.IntN(4))
				a.Issued = present().Add(-time.Duration(random.IntN(60*24)) * time.Hour).Truncate(time.Second)
				a.ValidFrom = a.Issued
				a.ValidUntil = a.Issued.Add(time.Duration(1+random.IntN(60*24)) * time.Hour)
				if random.IntN(3) == 0 {
					a.Withdrawn = a.Issued.Add(time.Hour)
				}
				statements = append(statements, a)
			}
			putStatements(t, s, AdvisoryColumns{}, statements...)
		}
		wake <- struct{}{}
		<-confirmed
		if source.loads != wantLoads {
			t.Fatalf("import %d, of %s: %d loads of all lakes and values, want %d", n, what, source.loads, wantLoads)
		}
		want, err := snapshot.Load(t.Context(), s, opts)
		if err != nil {
			t.Fatal(err)
		}
		wantSnapshot(t, fmt.Sprintf("import %d, of %s", n, what), shown, want)
	}
}

// wantSnapshot fails unless two snapshots show the same.
func wantSnapshot(t *testing.T, after string, got, want *snapshot.Snapshot) {
	t.Helper()
	gotStatements, gotLakes := got.Advisories.All()
	wantStatements, wantLakes := want.Advisories.All()
	for what, pair := range map[string][2]any{
		"version":             {got.Version, want.Version},
		"revision":            {got.Revision, want.Revision},
		"lakes":               {got.Lakes, want.Lakes},
		"weeks":               {got.Weeks, want.Weeks},
		"statements":          {gotStatements, wantStatements},
		"lakes of statements": {gotLakes, wantLakes},
		"change":              {got.ChangesAt(), want.ChangesAt()},
		"sources":             {got.Sources(), want.Sources()},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Fatalf("after %s the %s is %v, want %v", after, what, pair[0], pair[1])
		}
	}
	for _, w := range want.Weeks { // also those that are read from the source
		v, err := got.View(t.Context(), w.Week)
		if err != nil {
			t.Fatal(err)
		}
		of, err := want.View(t.Context(), w.Week)
		if err != nil {
			t.Fatal(err)
		}
		values, err := got.Values(t.Context(), w.Week)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(v.States, of.States) || v.WithData != of.WithData || v.AsOf != of.AsOf || v.Later != of.Later || !v.Advisories.Equal(of.Advisories) ||
			!values.Advisories.Equal(of.Advisories) {
			t.Fatalf("after %s the map of %s shows others than after a load", after, w.Week)
		}
	}
	for i := range want.Lakes {
		g, gotAll := got.History(i, data.Newest(100))
		h, wantAll := want.History(i, data.Newest(100))
		if gotAll != wantAll || !reflect.DeepEqual(g, h) {
			t.Fatalf("after %s lake %d has the history %v, want %v", after, i, g, h)
		}
	}
}
