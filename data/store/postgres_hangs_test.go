package store

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/data/store/wiretest"
)

// behindWire returns a wire in front of a PostgreSQL, and the URL of the database through it.
func behindWire(t *testing.T, dsn string) (*wiretest.Wire, string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	w := wiretest.New(t, u.Host)
	u.Host = w.Address
	return w, u.String()
}

// A scan whose server stops in the middle of its answer ends with an error, and the next one succeeds.
func TestPostgresHangsDuringAScan(t *testing.T) {
	t.Parallel()
	dsn := newDatabase(t)
	var lakes []data.Lake
	for i := range 5000 {
		lakes = append(lakes, testLake(fmt.Sprintf("lake_%04d", i)))
	}
	put(t, &openURL(t, dsn, true).Store, lakes, nil)
	wire, through := behindWire(t, dsn)
	s := openURL(t, through, false)
	s.stallTimeout = 300 * time.Millisecond
	if _, err := s.Revision(t.Context()); err != nil {
		t.Fatal(err)
	}
	wire.HangAfter(100_000)
	_, err := snapshot.Load(t.Context(), s, nil)
	if err == nil || !strings.Contains(err.Error(), "the server does not send the rest") {
		t.Errorf("Load = %v, want that the server does not send the rest", err)
	}
	wire.Hang(false)
	s.stallTimeout = time.Minute // on a busy machine nothing may come for longer than before
	snap, err := snapshot.Load(t.Context(), s, nil)
	if err != nil || len(snap.Lakes) != len(lakes) {
		t.Errorf("after that Load = %v, want all lakes", err)
	}
}

// A server that accepts connections and never answers delays the start by the connect timeout at most, and is used once it
// answers.
func TestPostgresHangsAtTheStart(t *testing.T) {
	t.Parallel()
	dsn := newDatabase(t)
	put(t, &openURL(t, dsn, true).Store, []data.Lake{testLake("a")}, nil)
	wire, through := behindWire(t, dsn)
	wire.Hang(true)
	s := openURL(t, through+"&connect_timeout=1", false)
	wire.Hang(false)
	if _, lakes, _ := scan(t, &s.Store); len(lakes) != 1 {
		t.Errorf("once the server answers it holds %v", lakes)
	}
}

// A listener whose server hangs connects again.
func TestPostgresHangsWhileListening(t *testing.T) {
	t.Parallel()
	dsn := newDatabase(t)
	importer := openURL(t, dsn, true)
	put(t, &importer.Store, []data.Lake{testLake("a")}, nil)
	wire, through := behindWire(t, dsn)
	s := openURL(t, through, false)
	s.listenPing, s.listenTimeout = 100*time.Millisecond, 200*time.Millisecond
	wake := make(chan struct{}, 1)
	var group sync.WaitGroup
	defer group.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	group.Go(func() { s.Listen(ctx, wake) })
	awaken := func(when string) {
		t.Helper()
		select {
		case <-wake:
		case <-time.After(time.Minute):
			t.Fatalf("%s: not woken in a minute", when)
		}
	}
	awaken("at the start")
	wire.Hang(true)
	time.Sleep(500 * time.Millisecond) // it notices meanwhile, or later
	wire.Hang(false)
	awaken("with a new connection")
	put(t, &importer.Store, []data.Lake{testLake("b")}, nil)
	awaken("by an import")
}
