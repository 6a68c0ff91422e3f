package main

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

// newPostgres creates an empty database that is dropped when the test ends, and returns its URL. Without a PostgreSQL the
// test is left out.
func newPostgres(t testing.TB) string {
	t.Helper()
	admin := os.Getenv("LIMNOMAP_TEST_POSTGRES")
	if admin == "" {
		testsize.LeaveOut(t, "LIMNOMAP_TEST_POSTGRES names no PostgreSQL (.ci/postgres starts one)")
	}
	u, err := url.Parse(admin)
	if err != nil {
		t.Fatal("LIMNOMAP_TEST_POSTGRES is not a URL")
	}
	name := "limnomap_test_" + strings.ToLower(rand.Text())
	do := func(statement string) {
		conn, err := pgx.Connect(context.Background(), admin)
		mustDo(t, err)
		defer conn.Close(context.Background())
		if _, err := conn.Exec(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
	do("CREATE DATABASE " + name)
	t.Cleanup(func() { do("DROP DATABASE " + name + " WITH (FORCE)") })
	own := *u
	own.Path = "/" + name
	return own.String()
}

// A dry run on a database without tables reports what the import would do, and creates no tables.
func TestDryRunLeavesNoTables(t *testing.T) {
	dsn := newPostgres(t)
	t.Setenv("LIMNOMAP_DB", dsn)
	t.Setenv("TMPDIR", t.TempDir())
	table := limnomaptest.WriteFile(t, t.TempDir(), "lakes.csv", lakesCSV)
	if out := mustRun(t, "import", "lakes", table, "--dry-run"); !strings.Contains(out, "2 would be added") {
		t.Errorf("a dry run prints\n%s", out)
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	mustDo(t, err)
	defer conn.Close(context.Background())
	var left bool
	if err := conn.QueryRow(t.Context(), "SELECT to_regnamespace('limnomap') IS NOT NULL").Scan(&left); err != nil || left {
		t.Errorf("a dry run left a schema: %t, %v", left, err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("a dry run left %v, %v", left, err)
	}
	mustRun(t, "import", "lakes", table)
	if out := mustRun(t, "import", "lakes", table, "--dry-run"); !strings.Contains(out, "2 unchanged") {
		t.Errorf("a dry run after the import prints\n%s", out)
	}
}

// An import of Swim Guide's documents needs no second connection while its transaction holds the only one.
func TestSwimGuideWithOneConnection(t *testing.T) {
	u, err := url.Parse(newPostgres(t))
	mustDo(t, err)
	parameters := u.Query()
	parameters.Set("pool_max_conns", "1")
	u.RawQuery = parameters.Encode()
	t.Setenv("LIMNOMAP_DB", u.String())
	dir, published := t.TempDir(), time.Now().Add(-48*time.Hour)
	mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.csv", "id,name,lat,lon\nclear,Clear Lake,48,11.5\n"))
	document := limnomaptest.WriteFile(t, dir, "beaches.json", swimGuideDocument(swimGuideRecord("1", "clear", published, true)))
	for _, want := range []string{"1 added, 0 changed, 0 unchanged", "0 added, 0 changed, 1 unchanged"} {
		if out := mustRun(t, "import", "advisories", document, "--import-timeout", "30s"); !strings.Contains(out, want) {
			t.Errorf("the import prints\n%s\nwant %s", out, want)
		}
	}
}
