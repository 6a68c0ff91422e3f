//go:build unix

package main

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"limnomap/cmd/limnomap/limnomaptest"
)

// newPostgres makes an empty database that is dropped when the test ends, and returns its URL. Without a PostgreSQL it
// leaves the test out, unless this is CI, where nothing may be.
func newPostgres(t testing.TB) string {
	t.Helper()
	admin := os.Getenv("LIMNOMAP_TEST_POSTGRES")
	if admin == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("LIMNOMAP_TEST_POSTGRES names no PostgreSQL, and nothing may be left out in CI")
		}
		t.Skip("LEFT OUT: LIMNOMAP_TEST_POSTGRES names no PostgreSQL to test on (.ci/postgres starts one)")
	}
	u, err := url.Parse(admin)
	if err != nil {
		t.Fatal("LIMNOMAP_TEST_POSTGRES is no URL")
	}
	name := "limnomap_test_" + strings.ToLower(rand.Text())
	do := func(statement string) {
		conn, err := pgx.Connect(context.Background(), admin)
		if err != nil {
			t.Fatal(err)
		}
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

// A server of a database without tables waits for them, says so, and serves the first import; its log and the commands'
// words do not tell the password, which the environment has.
func TestServePostgres(t *testing.T) {
	dsn := newPostgres(t)
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	t.Setenv("LIMNOMAP_DB", dsn)
	p := startProcess(t)
	if got := statusOf(p.base + "/readyz"); got != http.StatusServiceUnavailable {
		t.Errorf("/readyz before the first import = %d, want 503", got)
	}
	lakes := filepath.Join(t.TempDir(), "lakes.csv")
	if err := os.WriteFile(lakes, []byte("id,name,lat,lon\na,Ammersee,48,11.1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := new(limnomaptest.Log)
	for _, args := range [][]string{
		{"import", "lakes", lakes},
		{"keys", "create", "--name", "me"},
		{"keys", "list"},
		{"keys", "revoke", "me"},
	} {
		if err := run(t.Context(), args, out, out); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
	}
	limnomaptest.Within(t, time.Minute, "ready", func() bool { return statusOf(p.base+"/readyz") == http.StatusOK })
	if _, body := limnomaptest.Get(t, p.base+"/api/v1/bathing-lakes/status"); !strings.Contains(string(body), "Ammersee") {
		t.Errorf("status = %s, want the lake", body)
	}
	bad := filepath.Join(t.TempDir(), "bad.csv")
	if err := os.WriteFile(bad, []byte("id,name,lat,lon\nb,Bad,99,11.1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err = run(t.Context(), []string{"import", "lakes", bad}, out, out)
	if err == nil || strings.Contains(err.Error(), password) {
		t.Errorf("import of a bad file = %v, want an error without the password", err)
	}
	p.stop(t)
	if strings.Contains(p.log.String()+out.String(), password) {
		t.Error("the password stands in the log or the output")
	}
	u.User = url.UserPassword("limnomap", "wrong")
	if err := run(t.Context(), []string{"serve", "--db", u.String()}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "refuses the user or the password") {
		t.Errorf("serve with a wrong password = %v, want an error at once", err)
	}
}

// A dry run on a database without tables reports what the import then does, and makes none.
func TestDryRunLeavesNoTables(t *testing.T) {
	dsn := newPostgres(t)
	t.Setenv("LIMNOMAP_DB", dsn)
	t.Setenv("TMPDIR", t.TempDir())
	table := limnomaptest.WriteFile(t, t.TempDir(), "lakes.csv", lakesCSV)
	if out := mustRun(t, "import", "lakes", table, "--dry-run"); !strings.Contains(out, "2 would be added") {
		t.Errorf("a dry run says\n%s", out)
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
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
		t.Errorf("a dry run after the import says\n%s", out)
	}
}
