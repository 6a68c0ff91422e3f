package main

import (
	"fmt"
	"path/filepath"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A reload reads the files of secrets again. A changed secret needs a restart, because the server has open connections.
func TestReloadReadsSecrets(t *testing.T) {
	const before, after = "postgres://limnomap:geheim@db.example.org/lakes", "postgres://limnomap:anders@db.example.org/lakes"
	secret := limnomaptest.WriteFile(t, t.TempDir(), "db", before+"\n")
	file := configured(t, "api-rate: 1\nlog-level: debug\nweeks: 7\ntrusted-proxies: [10.0.0.0/8]\n")
	t.Setenv("LIMNOMAP_DB_FILE", secret)
	first, err := parsed(t, "serve", "--config", file, "--key-rate", "5")
	mustDo(t, err)
	again := func() (*invocation, string) {
		t.Helper()
		next, err := parsed(t, first.Args()...)
		mustDo(t, err)
		changed, kept := next.Keep(first.Invocation)
		return next, fmt.Sprint(changed, kept)
	}
	if _, got := again(); got != "[] []" {
		t.Errorf("%s, want nothing: no file has changed", got)
	}
	limnomaptest.WriteFile(t, filepath.Dir(secret), "db", after)
	limnomaptest.WriteFile(t, filepath.Dir(file), filepath.Base(file), "api-rate: 2\nweeks: 8\nkey-rate: 6\ntrusted-proxies: [fd00::/8]\n")
	next, got := again()
	if want := "[log-level trusted-proxies api-rate] [db weeks]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	s := next.cli.Serve
	if got, want := fmt.Sprint(s.DB.Reveal(), " ", s.Weeks, s.APIRate, s.KeyRate, s.TrustedProxies, next.cli.LogLevel), before+" 7 2 5 [fd00::/8] INFO"; got != want {
		t.Errorf("the server has %s, want %s", got, want)
	}
	limnomaptest.WriteFile(t, filepath.Dir(secret), "db", after+"\n"+after)
	if _, err := parsed(t, first.Args()...); err == nil {
		t.Error("a secret of two lines is accepted")
	}
}
