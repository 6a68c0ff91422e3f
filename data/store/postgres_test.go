package store

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"limnomap/data/testsize"

	"github.com/jackc/pgx/v5"
)

// postgresAdmin returns the URL of a PostgreSQL server on which databases may be created. Without one it skips the test,
// except in CI, where it fails.
func postgresAdmin(tb testing.TB) *url.URL {
	tb.Helper()
	admin := os.Getenv("LIMNOMAP_TEST_POSTGRES")
	if admin == "" {
		testsize.LeaveOut(tb, "LIMNOMAP_TEST_POSTGRES names no PostgreSQL to test on (.ci/postgres starts one)")
	}
	u, err := url.Parse(admin)
	if err != nil {
		tb.Fatal("LIMNOMAP_TEST_POSTGRES is no URL")
	}
	return u
}

// newDatabase creates an empty database, which is dropped when the test ends, and returns its URL. Its collation is that of a
// language, which mixes capital and small letters, like those of most operators.
func newDatabase(tb testing.TB) string {
	return newDatabaseOf(tb, "template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'en'")
}

// newDatabaseOf is newDatabase for a copy of another database.
func newDatabaseOf(tb testing.TB, template string) string {
	tb.Helper()
	u := postgresAdmin(tb)
	name := "limnomap_test_" + strings.ToLower(rand.Text())
	onServer(tb, u.String(), "CREATE DATABASE "+name+" TEMPLATE "+template)
	tb.Cleanup(func() { onServer(tb, u.String(), "DROP DATABASE "+name+" WITH (FORCE)") })
	own := *u
	own.Path = "/" + name
	return own.String()
}

// onServer runs statements on a separate connection.
func onServer(tb testing.TB, dsn string, statements ...string) {
	tb.Helper()
	ctx := context.WithoutCancel(tb.Context())
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			tb.Fatalf("%s: %v", s, err)
		}
	}
}

func openURL(tb testing.TB, dsn string, create bool) *postgres {
	tb.Helper()
	s, err := openPostgres(tb.Context(), dsn, create, permitUpgrade)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}

func TestPostgres(t *testing.T) {
	tables := newDatabase(t) // a copy of them takes less time than to make them
	openURL(t, tables, true).Close()
	template := tables[strings.LastIndex(tables, "/")+1:]
	template, _, _ = strings.Cut(template, "?")
	testStore(t, func(t *testing.T, now func() time.Time) *Store {
		s := openURL(t, newDatabaseOf(t, template), true)
		s.now = now
		return &s.Store
	})
}

// An import reads the stored statements on its own connection, which may be the only one.
func TestAdvisoriesOfImportWithOneConnection(t *testing.T) {
	testAdvisoriesOfImport(t, func(t *testing.T, _ func() time.Time) *Store {
		u, err := url.Parse(newDatabase(t))
		if err != nil {
			t.Fatal(err)
		}
		parameters := u.Query()
		parameters.Set("pool_max_conns", "1")
		u.RawQuery = parameters.Encode()
		return &openURL(t, u.String(), true).Store
	})
}
