package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/data/store/wiretest"
)

// Errors that cannot go away by waiting are returned at once, with an explanation and without a password.
func TestPostgresRefuses(t *testing.T) {
	dsn := newDatabase(t)
	edit := func(fn func(*url.URL)) string {
		u, err := url.Parse(dsn)
		if err != nil {
			t.Fatal(err)
		}
		fn(u)
		return u.String()
	}
	foreign, newer := newDatabase(t), newDatabase(t)
	onServer(t, foreign, "CREATE SCHEMA limnomap", "CREATE TABLE limnomap.birds (name text)")
	openURL(t, newer, true).Close()
	onServer(t, newer, "INSERT INTO limnomap.goose_db_version (version_id, is_applied) VALUES (9999, true)")
	known, err := fs.Glob(postgresMigrations, "migrations/postgres/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, dsn, want string }{
		{"password", edit(func(u *url.URL) { u.User = url.UserPassword("limnomap", "hunter2") }), "the server refuses the user or the password"},
		{"user", edit(func(u *url.URL) { u.User = url.UserPassword("nobody", "hunter2") }), "the server refuses the user or the password"},
		{"database", edit(func(u *url.URL) { u.Path = "/nowhere" }), "the server has no such database"},
		{"another program's", foreign, "its schema limnomap belongs to another program"},
		{"newer", newer, fmt.Sprintf("its schema is version 9999 and this limnomap knows only up to %d: use a newer limnomap", len(known))},
		{"port", "postgres://me:hunter2@localhost:99999999/lakes", "URL is invalid: give postgres://"},
		{"escape", "postgres://me:hunter2%zz@localhost/lakes", "URL is invalid: give postgres://"},
		{"parameter", "postgresql://me:hunter2@localhost/lakes?sslmode=hunter2", "URL is invalid: give postgres://"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, create := range []bool{false, true} {
				s, err := Open(t.Context(), test.dsn, create)
				if err == nil {
					s.Close()
					t.Fatal("Open took it")
				}
				if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("Open = %v, want an error with %q and no password", err, test.want)
				}
			}
			if name := Name(test.dsn); strings.Contains(name, "hunter2") {
				t.Errorf("Name = %s, which tells the password", name)
			}
		})
	}
	if _, _, err := openURL(t, dsn, true).History(t.Context(), "a\x00", data.Newest(1)); !errors.Is(err, data.ErrNoLake) {
		t.Errorf("History of an id with a zero = %v, want %v", err, data.ErrNoLake)
	}
}

// Of several hosts one that is no standby and lets only read is passed over as a former primary. If that is because of a setting of the user or of the
// database, the error says which.
func TestPostgresLetsOnlyRead(t *testing.T) {
	for _, of := range []string{"DATABASE %[1]s", "ROLE CURRENT_USER IN DATABASE %[1]s"} {
		u, err := url.Parse(newDatabase(t))
		if err != nil {
			t.Fatal(err)
		}
		put(t, &openURL(t, u.String(), true).Store, []data.Lake{testLake("a")}, nil)
		onServer(t, u.String(), "ALTER "+fmt.Sprintf(of, u.Path[1:])+" SET default_transaction_read_only = on")
		one := u.String()
		if _, lakes, _ := scan(t, &openURL(t, one, false).Store); len(lakes) != 1 {
			t.Errorf("a single host that lets only read has %d lakes, want 1", len(lakes))
		}
		u.Host = u.Host + ",localhost:" + u.Port()
		s, err := openPostgres(t.Context(), u.String(), false, permitUpgrade)
		if err == nil { // if localhost has another address too, where no server is: that may change
			_, err = s.Revision(t.Context())
			s.Close()
		}
		const want = "default_transaction_read_only is on: it is taken for a former primary"
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "cannot be reached") {
			t.Errorf("Open of several hosts = %v, want %q and that none can be used", err, want)
		}
	}
}

// A reader does not create tables. It uses the database as soon as there was an import.
func TestPostgresWithoutTables(t *testing.T) {
	dsn := newDatabase(t)
	s := openURL(t, dsn, false)
	if _, err := s.Revision(t.Context()); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "nothing has been imported yet") {
		t.Errorf("Revision = %v, want that nothing was imported yet", err)
	}
	put(t, &openURL(t, dsn, true).Store, []data.Lake{testLake("a")}, nil)
	if _, lakes, _ := scan(t, &s.Store); !slices.Equal(lakes, []data.Lake{testLake("a")}) {
		t.Errorf("after the import it holds %v", lakes)
	}
}

// Tables that are dropped while the database is in use are handled like missing ones, and an import creates them again.
func TestPostgresTablesDropped(t *testing.T) {
	dsn := newDatabase(t)
	reader, importer := openURL(t, dsn, false), openURL(t, dsn, true)
	put(t, &importer.Store, []data.Lake{testLake("a")}, nil)
	scan(t, &reader.Store)
	onServer(t, dsn, "DROP SCHEMA limnomap CASCADE")
	if _, err := reader.Revision(t.Context()); err == nil || !strings.Contains(err.Error(), "tables are gone") {
		t.Errorf("Revision = %v, want that the tables are gone", err)
	}
	if _, err := reader.Revision(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Revision again = %v, want that there is nothing yet", err)
	}
	// The importer notices it by its first statement.
	err := importer.Import(t.Context(), func(tx Tx) error {
		_, err := tx.PutLakes(t.Context(), []data.Lake{testLake("b")}, LakeColumns{})
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "tables are gone") {
		t.Errorf("Import = %v, want that the tables are gone", err)
	}
	put(t, &importer.Store, []data.Lake{testLake("b")}, nil)
	if _, lakes, _ := scan(t, &reader.Store); !slices.Equal(lakes, []data.Lake{testLake("b")}) {
		t.Errorf("after another import it holds %v", lakes)
	}
}

// While a server cannot be reached, each use returns an error.
func TestPostgresUnreachable(t *testing.T) {
	real, err := url.Parse(newDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	put(t, &openURL(t, real.String(), true).Store, []data.Lake{testLake("a")}, nil)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	u := *real
	u.Host = address
	s := openURL(t, u.String(), false)
	if _, err := s.Revision(t.Context()); err == nil || !strings.Contains(err.Error(), "the server cannot be reached") {
		t.Errorf("Revision = %v, want that the server cannot be reached", err)
	}
	wiretest.NewAt(t, address, real.Host)
	defer s.Close() // before the forwarding stops
	if _, lakes, _ := scan(t, &s.Store); len(lakes) != 1 {
		t.Errorf("once the server is there it holds %v", lakes)
	}
}

// Replicas that start at the same time on an empty database create its tables once.
func TestPostgresConcurrentOpen(t *testing.T) {
	dsn := newDatabase(t)
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			s, err := openPostgres(t.Context(), dsn, true, permitUpgrade)
			if err != nil {
				t.Error(err)
				return
			}
			s.Close()
		})
	}
	group.Wait()
}

// Each year has a partition, and all years far away share two.
func TestPostgresYears(t *testing.T) {
	s := openURL(t, newDatabase(t), true)
	var rows []data.Observation
	for _, year := range []int{0, 1000, 1969, 1970, 2024, 2025, 2099, 2100, 9999} {
		rows = append(rows, testObservation("a", newYear(year), data.Satellite, 5))
	}
	put(t, &s.Store, []data.Lake{testLake("a")}, rows)
	put(t, &s.Store, nil, []data.Observation{testObservation("a", newYear(2025)-1, data.Satellite, 6)}) // in an existing year
	var names []string
	err := s.pool.QueryRow(t.Context(), `SELECT array_agg(relname::text ORDER BY relname COLLATE "C") FROM pg_class
		WHERE relispartition AND relkind = 'r' AND relnamespace = 'limnomap'::regnamespace`).Scan(&names)
	want := []string{"observations_1970", "observations_2024", "observations_2025", "observations_2099", "observations_after_2099", "observations_before_1970"}
	if err != nil || !slices.Equal(names, want) {
		t.Errorf("partitions %v, %v, want %v", names, err, want)
	}
	if _, _, got := scan(t, &s.Store); len(got) != len(rows)+1 {
		t.Errorf("stored %d rows, want %d", len(got), len(rows)+1)
	}
}

// A listener is notified of an import at once, also after it has lost its connection.
func TestPostgresListen(t *testing.T) {
	dsn := newDatabase(t)
	s, other := openURL(t, dsn, true), openURL(t, dsn, true)
	put(t, &other.Store, []data.Lake{testLake("0")}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	wake := make(chan struct{}, 1)
	published := make(chan int)
	w := &snapshot.Watcher{
		Source: s, Interval: time.Hour, Wake: wake,
		Publish: func(snap *snapshot.Snapshot) {
			select {
			case published <- len(snap.Lakes):
			case <-ctx.Done():
			}
		},
		Failed: func(err error) { t.Log(err) },
	}
	var group sync.WaitGroup
	group.Go(func() { s.Listen(ctx, wake) })
	group.Go(func() { w.Run(ctx) })
	defer group.Wait()
	defer cancel()
	want := func(n int) {
		t.Helper()
		select {
		case got := <-published:
			if got != n {
				t.Fatalf("published %d lakes, want %d", got, n)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%d lakes were not published, with polling each hour", n)
		}
	}
	listening := func() {
		t.Helper()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			var n int
			err := other.pool.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'").Scan(&n)
			if err != nil {
				t.Fatal(err)
			}
			if n == 1 {
				return
			}
		}
		t.Fatal("there is no listener")
	}
	want(1)
	listening()
	put(t, &other.Store, []data.Lake{testLake("a")}, nil)
	want(2)
	onServer(t, dsn, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%' AND pid <> pg_backend_pid()")
	listening()
	put(t, &other.Store, []data.Lake{testLake("b")}, nil)
	want(3)
}

// An import that loses its connection between two batches writes nothing, and the next one succeeds.
func TestPostgresLostDuringImport(t *testing.T) {
	dsn := newDatabase(t)
	s := openURL(t, dsn, true)
	rows := []data.Observation{testObservation("a", newYear(2024), data.Satellite, 5)}
	err := s.Import(t.Context(), func(tx Tx) error {
		if _, err := tx.PutLakes(t.Context(), []data.Lake{testLake("a")}, LakeColumns{}); err != nil {
			return err
		}
		if _, err := tx.PutObservations(t.Context(), rows, ObservationColumns{}); err != nil {
			return err
		}
		onServer(t, dsn, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
		if _, err := tx.PutObservations(t.Context(), rows, ObservationColumns{}); err == nil {
			t.Error("PutObservations without a connection succeeded")
		}
		return nil // an ignored error must not be committed
	})
	if err == nil {
		t.Error("Import = nil, want an error")
	}
	if rev, lakes, observations := scan(t, &s.Store); rev.Number != 0 || len(lakes)+len(observations) > 0 {
		t.Errorf("revision %d with %v, %v, want nothing", rev.Number, lakes, observations)
	}
	if _, changes := put(t, &s.Store, []data.Lake{testLake("a")}, rows); !slices.Equal(changes, []Change{Added}) {
		t.Errorf("import again = %v, want added", changes)
	}
}
