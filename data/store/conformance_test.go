package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/apikey"
	"limnomap/data/outline"
	"limnomap/data/snapshot"
)

// An opener returns a new, empty Store that gets the time from now. It is closed when the test ends.
type opener = func(t *testing.T, now func() time.Time) *Store

// testStore is the test suite for all kinds of Store.
func testStore(t *testing.T, open opener) {
	tests := map[string]func(*testing.T, opener){
		"lakes":                   testLakes,
		"observations":            testObservations,
		"extremes":                testExtremes,
		"sources":                 testSources,
		"sources of rolled back":  testSourcesOfRolledBackImports,
		"preferred sources":       testPreferredSources,
		"rejected preference":     testRejectedPreference,
		"imports":                 testImports,
		"repeated":                testRepeated,
		"revision":                testRevision,
		"rollback":                testRollback,
		"scan":                    testScan,
		"snapshot":                testScanSeesOneState,
		"half":                    testNoHalfImport,
		"history":                 testHistory,
		"past":                    testPast,
		"near samples":            testNearSamples,
		"past sees one state":     testPastSeesOneState,
		"advisories":              testAdvisories,
		"repeated advisories":     testRepeatedAdvisories,
		"other statements":        testOtherStatement,
		"watched statements":      testWatchedStatements,
		"advisories of an import": testAdvisoriesOfImport,
		"stored addresses":        testStoredAddresses,
		"keys":                    testKeys,
		"keys in turn":            testRotation,
		"last uses of keys":       testKeyUses,
		"refresh":                 testRefresh,
		"refresh claims":          testRefreshClaims,
		"refresh in an import":    testRefreshInImport,
		"rasters":                 testRasters,
		"pixels":                  testPixels,
		"pixel spreads":           testPixelSpreads,
		"pixels of repeated rows": testPixelsOfRepeated,
		"readings":                testReadings,
		"readings of samples":     testReadingsOfSamples,
		"readings of many lakes":  testReadingsOfManyLakes,
		"forecasts":               testForecasts,
		"deletion":                testDelete,
		"undo":                    testUndo,
		"undone forecasts":        testUndoneForecasts,
		"decisions":               testDecisions,
		"newest value":            testNewestValue,
		"no half forecasts":       testNoHalfForecasts,
		"test of forecasts":       testForecastTest,
		"events":                  testEvents,
		"no half moments":         testNoHalfMoments,
		"dropped events":          testDropEvents,
		"believed clocks":         testBelieve,
		"webhooks":                testHooks,
		"broken webhooks":         testBrokenHooks,
		"bounds of subscriptions": testSubscriptionBounds,
		"urgent notifications":    testUrgentFirst,
		"broken subscriptions":    testBrokenSubscription,
		"webhook claims":          testHookClaims,
		"waits of a wrong clock":  testNotificationsOfAWrongClock,
		"subscriptions":           testSubscriptions,
		"queue of notifications":  testNotificationQueue,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

func testLake(id string) data.Lake {
	return data.Lake{ID: data.LakeID(id), ExternalID: "x-" + id, Name: "See " + id, Point: orb.Point{11.3, 47.9}, Region: "Bayern", AreaKM2: 56.36, WaterID: "w-" + id}
}

// testOutline is a lake of about a kilometre around testLake's point.
func testOutline(tb testing.TB) outline.Outline {
	tb.Helper()
	o, err := outline.New(orb.MultiPolygon{{{{11.29, 47.89}, {11.31, 47.89}, {11.31, 47.91}, {11.29, 47.9}}}})
	if err != nil {
		tb.Fatal(err)
	}
	return o
}

func testObservation(id data.LakeID, d data.Date, t data.DataType, c data.Chlorophyll) data.Observation {
	return data.Observation{LakeID: id, Date: d, Type: t, Chlorophyll: c, Level: data.NoLevel, CellDensity: data.NoCellDensity}
}

// put imports lakes and observations in one transaction and returns their changes.
func put(tb testing.TB, s *Store, lakes []data.Lake, observations []data.Observation) (ofLakes, ofObservations []Change) {
	tb.Helper()
	ctx := tb.Context()
	err := s.Import(ctx, func(tx Tx) (err error) {
		if ofLakes, err = tx.PutLakes(ctx, lakes, LakeColumns{}); err != nil {
			return err
		}
		ofObservations, err = tx.PutObservations(ctx, observations, ObservationColumns{})
		return err
	})
	if err != nil {
		tb.Fatalf("Import: %v", err)
	}
	return ofLakes, ofObservations
}

func scan(tb testing.TB, s *Store) (data.Revision, []data.Lake, []data.Observation) {
	tb.Helper()
	var lakes []data.Lake
	var observations []data.Observation
	rev, err := s.Scan(tb.Context(),
		func(l data.Lake) error { lakes = append(lakes, l); return nil },
		func(o data.Observation) error { observations = append(observations, o); return nil })
	if err != nil {
		tb.Fatalf("Scan: %v", err)
	}
	return rev, lakes, observations
}

func revisionOf(tb testing.TB, s *Store) data.Revision {
	tb.Helper()
	rev, err := s.Revision(tb.Context())
	if err != nil {
		tb.Fatalf("Revision: %v", err)
	}
	return rev
}

func testLakes(t *testing.T, open opener) {
	s := open(t, time.Now)
	a, b := testLake("de_by_a"), testLake("de_by_b")
	if got, _ := put(t, s, []data.Lake{a, b, a}, nil); !slices.Equal(got, []Change{Added, Added, Unchanged}) {
		t.Errorf("first import = %v, want added, added, unchanged", got)
	}
	for name, edit := range map[string]func(*data.Lake){
		"external id": func(l *data.Lake) { l.ExternalID = "DEBY_PR_1" },
		"name":        func(l *data.Lake) { l.Name = "Großer Müggelsee" },
		"longitude":   func(l *data.Lake) { l.Point[0] = -12.5 },
		"latitude":    func(l *data.Lake) { l.Point[1] = -47.5 },
		"region":      func(l *data.Lake) { l.Region = "" },
		"area":        func(l *data.Lake) { l.AreaKM2 = 0 },
		"outline":     func(l *data.Lake) { l.Outline = testOutline(t) },
	} {
		t.Run(name, func(t *testing.T) {
			edit(&a)
			for _, want := range []Change{Changed, Unchanged} {
				if got, _ := put(t, s, []data.Lake{b, a}, nil); !slices.Equal(got, []Change{Unchanged, want}) {
					t.Errorf("import = %v, want unchanged, %v", got, want)
				}
			}
			if _, got, _ := scan(t, s); !slices.Equal(got, []data.Lake{a, b}) {
				t.Errorf("stored %v, want %v", got, []data.Lake{a, b})
			}
		})
	}
}

func testObservations(t *testing.T, open opener) {
	s := open(t, time.Now)
	put(t, s, []data.Lake{testLake("a")}, nil)
	gap := testObservation("a", -5, data.Satellite, data.NoChlorophyll)
	stranger := testObservation("missing", -5, data.Satellite, 100)
	forecast := testObservation("a", -5, data.Forecast, 300)
	_, got := put(t, s, nil, []data.Observation{gap, stranger, forecast, gap})
	if want := []Change{Added, UnknownLake, Added, Unchanged}; !slices.Equal(got, want) {
		t.Errorf("first import = %v, want %v", got, want)
	}
	o := gap
	for _, step := range []struct {
		name string
		edit func()
	}{
		{"zero is a value", func() { o.Chlorophyll = 0 }},
		{"value", func() { o.Chlorophyll = data.MaxChlorophyll }},
		{"level", func() { o.Level = 3 }},
		{"level zero", func() { o.Level = 0 }},
		{"density", func() { o.CellDensity = 0 }},
		{"density again", func() { o.CellDensity = 20000.5 }},
		{"time", func() { o.MeasuredAt = time.Date(1969, 12, 27, 10, 5, 4, 0, time.UTC) }},
		{"gaps again", func() { o = gap }},
	} {
		t.Run(step.name, func(t *testing.T) {
			step.edit()
			for _, want := range []Change{Changed, Unchanged} {
				if _, got := put(t, s, nil, []data.Observation{o}); got[0] != want {
					t.Errorf("import = %v, want %v", got[0], want)
				}
			}
			if _, _, got := scan(t, s); !slices.Equal(got, []data.Observation{o, forecast}) {
				t.Errorf("stored %+v, want %+v, %+v", got, o, forecast)
			}
		})
	}
}

func testRevision(t *testing.T, open opener) {
	clock := time.Date(2026, 11, 20, 23, 59, 58, 999, time.FixedZone("CET", 3600))
	s := open(t, func() time.Time { return clock })
	if got := revisionOf(t, s); got.Number != 0 {
		t.Errorf("an empty store has revision %d, want 0", got.Number)
	}
	lakes := []data.Lake{testLake("a")}
	changed := time.Date(2026, 11, 20, 22, 59, 58, 0, time.UTC)
	want := data.Revision{Number: 1, ChangedAt: changed, OthersAt: changed}
	for _, step := range []string{"a new lake", "the same lake", "nothing", "an unknown lake's observation"} {
		switch step {
		case "nothing":
			put(t, s, nil, nil)
		case "an unknown lake's observation":
			put(t, s, nil, []data.Observation{testObservation("missing", 1, data.Satellite, 1)})
		default:
			put(t, s, lakes, nil)
		}
		if got := revisionOf(t, s); got != want {
			t.Errorf("after %s the revision is %v, want %v", step, got, want)
		}
		clock = clock.Add(time.Hour)
	}
	put(t, s, nil, []data.Observation{testObservation("a", 1, data.Forecast, 1)})
	if got := revisionOf(t, s); got.Number != 2 || !got.ChangedAt.After(want.ChangedAt) {
		t.Errorf("after a forecast the revision is %v, want number 2, later than %v", got, want.ChangedAt)
	}
	before := revisionOf(t, s)
	putStatements(t, s, AdvisoryColumns{}, testAdvisory("s", "a"))
	if got := revisionOf(t, s); got.Number != 3 || got.Statements != 1 || !got.OthersAt.Equal(before.OthersAt) || !got.OnlyStatementsSince(before) {
		t.Errorf("after a statement the revision is %+v", got)
	}
	both := func(tx Tx) error {
		_, err := tx.PutAdvisories(t.Context(), []data.Advisory{testAdvisory("t", "a")}, AdvisoryColumns{})
		if err == nil {
			_, err = tx.PutLakes(t.Context(), []data.Lake{testLake("b")}, LakeColumns{})
		}
		return err
	}
	if err := s.Import(t.Context(), both); err != nil {
		t.Fatal(err)
	}
	if got := revisionOf(t, s); got.Number != 4 || got.Statements != 1 || !got.OthersAt.Equal(got.ChangedAt) || got.OnlyStatementsSince(before) {
		t.Errorf("after a statement and a lake the revision is %+v", got)
	}
}

func testRollback(t *testing.T, open opener) {
	s := open(t, time.Now)
	put(t, s, []data.Lake{testLake("a")}, nil)
	before := revisionOf(t, s)
	errMine := errors.New("mine")
	bad := testLake("bad")
	bad.Point[1] = 91
	for name, run := range map[string]func() error{
		"error": func() error {
			err := s.Import(t.Context(), func(tx Tx) error {
				_, err := tx.PutLakes(t.Context(), []data.Lake{testLake("b")}, LakeColumns{})
				return errors.Join(err, errMine)
			})
			if !errors.Is(err, errMine) {
				return fmt.Errorf("Import = %v, want the function's own error", err)
			}
			return nil
		},
		"panic": func() (err error) {
			defer func() {
				if r := recover(); r != errMine {
					err = fmt.Errorf("recovered %v, want the function's own panic", r)
				}
			}()
			s.Import(t.Context(), func(tx Tx) error {
				if _, err := tx.PutLakes(t.Context(), []data.Lake{testLake("b")}, LakeColumns{}); err != nil {
					return err
				}
				panic(errMine)
			})
			return nil
		},
		"cancelled": func() error {
			ctx, cancel := context.WithCancel(t.Context())
			err := s.Import(ctx, func(tx Tx) error {
				_, err := tx.PutLakes(ctx, []data.Lake{testLake("b")}, LakeColumns{})
				cancel()
				return err
			})
			if !errors.Is(err, context.Canceled) {
				return fmt.Errorf("Import = %v, want %v", err, context.Canceled)
			}
			return nil
		},
		"ignored error": func() error {
			err := s.Import(t.Context(), func(tx Tx) error {
				tx.PutLakes(t.Context(), []data.Lake{testLake("b"), bad}, LakeColumns{})
				return nil
			})
			if err == nil {
				return errors.New("Import committed although a lake at latitude 91 could not be written")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := run(); err != nil {
				t.Error(err)
			}
			if rev, lakes, _ := scan(t, s); len(lakes) != 1 || rev != before {
				t.Errorf("after it there are %d lakes at revision %v, want 1 at %v", len(lakes), rev, before)
			}
		})
	}
}

func testScan(t *testing.T, open opener) {
	s := open(t, time.Now)
	if _, lakes, observations := scan(t, s); len(lakes)+len(observations) > 0 {
		t.Errorf("an empty store has %v, %v", lakes, observations)
	}
	// Capital letters come before small ones, and the order of import is neither that of ids nor of dates.
	var lakes []data.Lake
	var observations, want []data.Observation
	for _, id := range []string{"b", "Z", "a_", "B", "a.", "a", "9"} {
		lakes = append(lakes, testLake(id))
		for _, d := range []data.Date{20000, -1, 19993} {
			observations = append(observations,
				testObservation(data.LakeID(id), d, data.Forecast, 100),
				testObservation(data.LakeID(id), d, data.Satellite, data.Chlorophyll(len(observations)-1)))
		}
	}
	put(t, s, lakes, observations)
	slices.SortFunc(lakes, func(a, b data.Lake) int { return cmp.Compare(a.ID, b.ID) })
	for _, l := range lakes {
		for _, d := range []data.Date{-1, 19993, 20000} {
			i := slices.IndexFunc(observations, func(o data.Observation) bool {
				return o.LakeID == l.ID && o.Date == d && o.Type == data.Satellite
			})
			want = append(want, observations[i], observations[i-1])
		}
	}
	rev, gotLakes, gotObservations := scan(t, s)
	if rev != revisionOf(t, s) || !slices.Equal(gotLakes, lakes) || !slices.Equal(gotObservations, want) {
		t.Errorf("Scan = %v, %v, %v, want %v, %v", rev, gotLakes, gotObservations, lakes, want)
	}
	if snapshot, err := snapshot.Load(t.Context(), s, nil); err != nil || snapshot.Revision != rev || len(snapshot.Lakes) != len(lakes) {
		t.Errorf("snapshot.Load = %v, %v, want %d lakes of revision %v", snapshot, err, len(lakes), rev)
	}

	errStop := errors.New("stop")
	stopAtLake := func(data.Lake) error { return errStop }
	stopAtObservation := func(data.Observation) error { return errStop }
	if _, err := s.Scan(t.Context(), stopAtLake, stopAtObservation); err != errStop {
		t.Errorf("Scan with a failing lake callback = %v, want its error", err)
	}
	if _, err := s.Scan(t.Context(), func(data.Lake) error { return nil }, stopAtObservation); err != errStop {
		t.Errorf("Scan with a failing observation callback = %v, want its error", err)
	}
}

func testKeys(t *testing.T, open opener) {
	s := open(t, time.Now)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	one := apikey.Key{Name: "one", Hash: [32]byte{1}, Scopes: apikey.ScopeMonitor, CreatedAt: at}
	two := apikey.Key{Name: "Two", Hash: [32]byte{31: 2}, Scopes: apikey.ScopeMonitor | apikey.ScopeMetrics, CreatedAt: at, ExpiresAt: at.Add(time.Hour)}
	for _, k := range []apikey.Key{one, two} {
		if err := s.CreateKey(t.Context(), k); err != nil {
			t.Fatalf("CreateKey(%q) = %v", k.Name, err)
		}
	}
	one.RevokedAt = at.Add(time.Minute)
	for _, when := range []time.Time{one.RevokedAt, one.RevokedAt.Add(time.Hour)} { // the first time stays
		if err := s.RevokeKey(t.Context(), "one", when); err != nil {
			t.Errorf("RevokeKey = %v", err)
		}
	}
	if err := s.RevokeKey(t.Context(), "three", at); !errors.Is(err, ErrNoKey) {
		t.Errorf("RevokeKey of no key = %v, want %v", err, ErrNoKey)
	}
	if err := s.CreateKey(t.Context(), apikey.Key{Name: "one", Hash: [32]byte{3}, Scopes: apikey.ScopeMonitor, CreatedAt: at}); !errors.Is(err, ErrKeyExists) {
		t.Errorf("CreateKey of a revoked key's name = %v, want %v", err, ErrKeyExists)
	}
	for want, err := range map[string]error{
		`there is an API key of that name: "Two"; a name cannot be used again, even after its key was revoked`: s.CreateKey(t.Context(), two),
		`there is no API key of that name: "three"`:                                                            s.RevokeKey(t.Context(), "three", at),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("error = %v, want %s", err, want)
		}
	}
	for what, k := range map[string]apikey.Key{"name": {Scopes: apikey.ScopeMonitor, CreatedAt: at}, "scope": {Name: "none", CreatedAt: at}} {
		if err := s.CreateKey(t.Context(), k); err == nil {
			t.Error("CreateKey took a key without a " + what)
		}
	}
	if got, err := s.Keys(t.Context()); err != nil || !slices.Equal(got, []apikey.Key{two, one}) {
		t.Errorf("Keys = %v, %v, want %v", got, err, []apikey.Key{two, one})
	}
	if rev := revisionOf(t, s); rev.Number != 0 {
		t.Errorf("keys raised the revision to %d", rev.Number)
	}
}
