package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data"
	"limnomap/data/store"
)

// drop renames a complete file into the folder of a refresh, with an old modification time.
func drop(t testing.TB, dir, name, text string) {
	t.Helper()
	path := limnomaptest.WriteFile(t, t.TempDir(), name, text)
	old := time.Now().Add(-time.Hour)
	mustDo(t, os.Chtimes(path, old, old))
	mustDo(t, os.Rename(path, filepath.Join(dir, name)))
}

func TestRefreshOnce(t *testing.T) {
	dir := t.TempDir()
	db, in := filepath.Join(dir, "lakes.db"), t.TempDir()
	out, _, err := runCommand(t, "refresh", "--db", db, "--from", in)
	if err == nil || !strings.Contains(err.Error(), "has no file whose name ends in") || out != "" {
		t.Errorf("from an empty folder: %v\n%s", err, out)
	}
	if left, err := filepath.Glob(db + "*"); err != nil || len(left) > 0 {
		t.Errorf("a failed refresh leaves %v, %v", left, err)
	}
	drop(t, in, "lakes.csv", lakesCSV)
	drop(t, in, "obs.csv", obsCSV)
	out = mustRun(t, "refresh", "--db", db, "--from", in)
	if !strings.Contains(out, "Lakes: 2 rows read: 2 added") || !strings.Contains(out, "Observations: ") {
		t.Errorf("the first time:\n%s", out)
	}
	drop(t, in, "advisories.json", `{"advisories":[{"id":"s1","lake_id":"mueggelsee","kind":"info","cause":"other","issuer":"Amt",`+
		`"text":{"en":"Hello"},"issued":"2026-06-01","valid_from":"2026-06-01","valid_until":null}]}`)
	if out = mustRun(t, "refresh", "--db", db, "--from", in); !strings.Contains(out, "Official statements: 1 row read: 1 added") {
		t.Errorf("with official statements:\n%s", out)
	}
	if out = mustRun(t, "refresh", "--db", db, "--from", in); !strings.Contains(out, "Nothing new") {
		t.Errorf("the second time:\n%s", out)
	}
	drop(t, in, "lakes.csv", lakesCSV+"bad,Bad,95,13,Berlin,1\n")
	out, _, err = runCommand(t, "refresh", "--db", db, "--from", in)
	if err == nil || !strings.Contains(err.Error(), "rows rejected") || !strings.Contains(out, "lakes.csv, line 4 (bad): lat") || strings.Contains(out, "Observations") {
		t.Errorf("with an invalid row: %v\n%s", err, out)
	}
	if out = mustRun(t, "refresh", "--db", db, "--from", in, "--skip-bad"); !strings.Contains(out, "2 unchanged, 1 rejected") {
		t.Errorf("skipping it:\n%s", out)
	}
}

func TestRefreshFlags(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"refresh", "--db", db}, "there is no source"},
		{[]string{"refresh", "--from", dir}, "--db"},
		{[]string{"refresh", "--db", db, "--from", dir, "--every", "weekly"}, "want a period such as 7d"},
		{[]string{"refresh", "--db", db, "--from", dir, "--max-bytes", "0"}, "want 1 or more"},
		{[]string{"refresh", "--db", db, "--from", dir, "--timeout", "0s"}, "want 1ms or more"},
		{[]string{"refresh", "--db", db, "--from", "ftp://example.org/"}, "is not an http:// or https:// URL"},
		{[]string{"serve", "--refresh-from", dir}, "--refresh-from needs --db"},
		{[]string{"serve", "--refresh-every", "7d"}, "--refresh-every needs --refresh-from"},
		{[]string{"serve", "--refresh-prefer", "lwq"}, "--refresh-prefer needs --refresh-from"},
		{[]string{"serve", "--db", db, "--refresh-from", filepath.Join(dir, "none")}, "no such file"},
	} {
		if _, _, err := runCommand(t, test.args...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("limnomap %s: %v, want an error that contains %q", strings.Join(test.args, " "), err, test.want)
		}
	}
	if left, err := filepath.Glob(db + "*"); err != nil || len(left) > 0 {
		t.Errorf("wrong flags leave %v, %v", left, err)
	}
}

// A URL with a password can be in the environment, which other users cannot see.
func TestRefreshFromTheEnvironment(t *testing.T) {
	office := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		switch {
		case password != "secret":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/lakes":
			w.Header().Set("Repr-Digest", "md5=:AAAA:")
			io.WriteString(w, lakesCSV)
		case r.URL.Path == "/lakes.sha256":
			fmt.Fprintf(w, "%x  lakes\n", sha256.Sum256([]byte(lakesCSV)))
		default:
			http.NotFound(w, r)
		}
	}))
	defer office.Close()
	t.Setenv("LIMNOMAP_FROM", strings.Replace(office.URL, "http://", "http://me:secret@", 1)+"/lakes")
	db := filepath.Join(t.TempDir(), "lakes.db")
	if out := mustRun(t, "refresh", "--db", db, "--require-checksum"); !strings.Contains(out, "2 added") {
		t.Error(out)
	}
	t.Setenv("LIMNOMAP_FROM", strings.Replace(office.URL, "http://", "http://me:wrong-secret@", 1)+"/lakes?token=hidden")
	_, stderr, err := runCommand(t, "refresh", "--db", db)
	if err == nil || !strings.Contains(err.Error(), `answers "401 Unauthorized"`) || strings.Contains(err.Error()+stderr, "secret") || strings.Contains(err.Error()+stderr, "hidden") {
		t.Errorf("with a wrong password: %v\n%s", err, stderr)
	}
}

// A refresh stores the order of the products, and names what is none.
func TestRefreshPrefer(t *testing.T) {
	dir := t.TempDir()
	db, in := filepath.Join(dir, "lakes.db"), t.TempDir()
	drop(t, in, "lakes.csv", lakesCSV)
	mustRun(t, "refresh", "--db", db, "--from", in, "--prefer", "lwq,cyan")
	stored := func() data.SourceOrder {
		s, err := store.Open(t.Context(), db, false)
		mustDo(t, err)
		order, err := s.PreferredSources(t.Context())
		mustDo(t, errors.Join(err, s.Close()))
		return order
	}
	if got, want := stored(), (data.SourceOrder{"Copernicus LWQ", "EPA CyAN"}); !slices.Equal(got, want) {
		t.Errorf("the order is %q, want %q", got, want)
	}
	mustRun(t, "refresh", "--db", db, "--from", in)
	if got := stored(); len(got) != 2 {
		t.Errorf("without the flag the order becomes %q", got)
	}
	for _, named := range []bool{true, false} { // once, when it is stored
		_, stderr, err := runCommand(t, "refresh", "--db", db, "--from", in, "--prefer", "cyan,lqw")
		if err != nil || strings.Contains(stderr, "name=lqw") != named {
			t.Errorf("with a typing error: %v, named: want %v\n%s", err, named, stderr)
		}
	}
	if got, want := stored(), (data.SourceOrder{"EPA CyAN", "lqw"}); !slices.Equal(got, want) {
		t.Errorf("the order is %q, want %q", got, want)
	}
	// A server stores it when a refresh begins.
	s, err := store.Open(t.Context(), db, false)
	mustDo(t, err)
	defer s.Close()
	flags := &refreshFlags{Prefer: preference{"EPA CyAN"}}
	_, end := flags.begin(s, nil, slog.New(slog.DiscardHandler))(t.Context())
	end(nil)
	if got := stored(); !slices.Equal(got, data.SourceOrder{"EPA CyAN"}) {
		t.Errorf("after the refresh of a server the order is %q", got)
	}
	if _, _, err := runCommand(t, "config", "serve", "--db", db, "--refresh-from", in, "--refresh-prefer", "lwq,lwq"); err == nil || !strings.Contains(err.Error(), "comes twice") {
		t.Errorf("a product twice: %v", err)
	}
	if out := mustRun(t, "config", "serve", "--db", db, "--refresh-from", in, "--refresh-prefer", "lwq,cyan"); !strings.Contains(out, "refresh-prefer: Copernicus LWQ,EPA CyAN") {
		t.Errorf("the settings lack the order:\n%s", out)
	}
}
