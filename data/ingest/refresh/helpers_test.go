package refresh

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"limnomap/data"
	"limnomap/data/ingest/satellite"
	"limnomap/data/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	lakes        = "id,name,lat,lon\na,See A,50,10\nb,See B,51,11\n"
	observations = "lake_id,date,chl,data_type\na,2024-07-01,5,satellite\n"
	// more is observations with one row added and one changed.
	more = "lake_id,date,chl,data_type\na,2024-07-01,6,satellite\nb,2024-07-01,7,satellite\n"
)

// A logBuffer is a log that many goroutines write to.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// A rig is a Refresher whose waits take no time.
type rig struct {
	*Refresher
	store  *store.Store
	log    *logBuffer
	waited []time.Duration
}

// sourcesOf returns sources whose satellite files are read around the lakes' points: the lakes of these tests have no outlines.
func sourcesOf(from ...string) (sources []Source) {
	for _, name := range from {
		sources = append(sources, Source{From: name, Satellite: &satellite.Options{WithoutOutline: satellite.Disc(20_000)}})
	}
	return sources
}

func newRig(t *testing.T, s *store.Store, from []string, opts Options) *rig {
	t.Helper()
	g := &rig{store: s, log: new(logBuffer)}
	opts.Logger = slog.New(slog.NewTextHandler(g.log, nil))
	opts.UserAgent = "limnomap/test"
	r, err := New(s, sourcesOf(from...), &opts)
	must(t, err)
	r.sleep = func(ctx context.Context, d time.Duration) error {
		g.waited = append(g.waited, d)
		return ctx.Err()
	}
	g.Refresher = r
	return g
}

// once refreshes, and returns the state in the database. The error must have the given reason; empty for no error.
func (g *rig) once(t *testing.T, reason string) (Result, data.Refresh, error) {
	t.Helper()
	g.waited = nil
	result, err := g.RunOnce(t.Context())
	if (err == nil) != (reason == "") || err != nil && reasonOf(err) != reason {
		t.Errorf("Once = %+v, %v; want the reason %q", result, err, reason)
	}
	state, serr := g.store.Refresh(t.Context())
	if serr != nil {
		t.Fatal(serr)
	}
	if state.LastError != reason || !state.LeasedUntil.IsZero() {
		t.Errorf("the database says %+v, want the reason %q and no claim", state, reason)
	}
	return result, state, err
}

// holds checks the revision, the number of lakes and the values of chlorophyll in a database.
func holds(t *testing.T, s *store.Store, revision int64, lakes int, values ...string) {
	t.Helper()
	n := 0
	var got []string
	r, err := s.Scan(t.Context(),
		func(data.Lake) error { n++; return nil },
		func(o data.Observation) error {
			got = append(got, fmt.Sprint(o.Chlorophyll.Float()))
			return nil
		})
	if err != nil || r.Number != revision || n != lakes || strings.Join(got, " ") != strings.Join(values, " ") {
		t.Errorf("revision %d with %d lakes and values %v, %v; want %d with %d and %v", r.Number, n, got, err, revision, lakes, values)
	}
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	must(t, os.WriteFile(path, []byte(text), 0o600))
	// Old enough that no one writes to it any more.
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(path, old, old))
	return path
}

func sumText(text, name string) string {
	return fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(text)), name)
}

// must ends the test if err is not nil.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
