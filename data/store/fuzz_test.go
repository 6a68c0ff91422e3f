package store

import (
	"strings"
	"testing"
)

// The name of a database gives SQLite the intended path, or an error. A URL's password is in neither.
func FuzzDSN(f *testing.F) {
	for _, seed := range []string{"", "lakes.db", "file:lakes.db", "file:///a?b", "file:a?vfs=unix&nolock=1", "postgres://u:hunter2@h/db", "postgresql://%zz", "mysql://u:hunter2@h", "host=h password=hunter2", ":memory:", "a\x00b", "file:%2e%2e/x", "C:\\x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, dsn string) {
		const mark = "qqhunterqq"
		if strings.Contains(dsn, mark) {
			return
		}
		loc, err := parseDSN(dsn)
		if err == nil {
			if loc.path == "" || loc.path == ":memory:" {
				t.Fatalf("parseDSN(%q) = %+v", dsn, loc)
			}
			again, err := parseDSN(loc.url(nil))
			if err != nil || again.url(nil) != loc.url(nil) {
				t.Fatalf("parseDSN(%q) = %+v, whose URL %s is %+v, %v", dsn, loc, loc.url(nil), again, err)
			}
		}
		for _, scheme := range []string{"postgres", "postgresql", "mysql"} {
			secret := scheme + "://u:" + mark + "@h/" + dsn
			if name := Name(secret); scheme != "mysql" && strings.Contains(name, mark) {
				t.Fatalf("Name(%q) = %s", secret, name)
			}
			if _, err := parseDSN(secret); err != nil && strings.Contains(err.Error(), mark) {
				t.Fatalf("parseDSN(%q) = %v", secret, err)
			}
		}
		if _, err := parsePostgres("postgres://u:" + mark + "@h/" + dsn); err != nil && strings.Contains(err.Error(), mark) {
			t.Fatalf("parsePostgres: %v", err)
		}
	})
}
