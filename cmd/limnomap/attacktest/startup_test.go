//go:build linux

package attacktest

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	_ "modernc.org/sqlite"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

// TestHostileCache starts a server on a tile cache that someone else could write to. It gives the same bytes as without.
func TestHostileCache(t *testing.T) {
	s := newDatabase(t, 500)
	paths := s.tiles(12, 9, 4, 8, ".png")
	cache := t.TempDir()
	first := limnomaptest.Start(t, "--db", s.db, "--cache-dir", cache)
	want := fetchAll(t, first, paths)
	first.Stop(t)
	var entries []string
	must(t, filepath.WalkDir(cache, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil && info.Size() > 100 {
				entries = append(entries, path)
			}
		}
		return err
	}))
	if len(entries) < 8 {
		t.Fatalf("%d entries in the cache, want those of %d tiles", len(entries), len(paths))
	}
	outside := limnomaptest.WriteFile(t, t.TempDir(), "outside", "a secret of the operator")
	content := make([][]byte, len(entries))
	for i, entry := range entries {
		var err error
		content[i], err = os.ReadFile(entry)
		must(t, err)
	}
	for i, entry := range entries {
		must(t, os.Remove(entry))
		switch i % 8 {
		case 0:
			must(t, os.Symlink(outside, entry))
		case 1:
			must(t, os.WriteFile(entry, content[i][:len(content[i])/2], 0o600))
		case 2:
			must(t, os.WriteFile(entry, content[(i+1)%len(content)], 0o600))
		case 3:
			must(t, os.Mkdir(entry, 0o700))
		case 4:
			must(t, syscall.Mkfifo(entry, 0o600))
		case 5:
			must(t, os.WriteFile(entry, bytes.Repeat([]byte{0}, 1<<20), 0o600))
		case 6:
			must(t, os.Symlink("/dev/zero", entry))
		default:
			damaged := bytes.Clone(content[i])
			damaged[len(damaged)-1] ^= 1
			must(t, os.WriteFile(entry, damaged, 0o600))
		}
	}
	second := limnomaptest.Start(t, "--db", s.db, "--cache-dir", cache)
	for path, body := range fetchAll(t, second, paths) {
		if !bytes.Equal(body, want[path]) {
			t.Errorf("%s: other bytes than before the entries were planted", path)
		}
	}
	second.Stop(t)
	if text, err := os.ReadFile(outside); err != nil || string(text) != "a secret of the operator" {
		t.Errorf("the file outside of the cache is %q, %v", text, err)
	}
}

// fetchAll returns the bodies of tiles.
func fetchAll(t *testing.T, s *limnomaptest.Server, paths []string) map[string][]byte {
	t.Helper()
	bodies := make(map[string][]byte)
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, path := range paths {
		resp, err := client.Get(s.Base + path)
		must(t, err)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", path, resp.Status, err)
		}
		bodies[path] = body
	}
	return bodies
}

// TestHostileDatabases starts a server on databases that someone else has made. It refuses them, or serves only what is
// plausible in them; it neither panics nor hangs.
func TestHostileDatabases(t *testing.T) {
	s := newDatabase(t, 200)
	good, err := os.ReadFile(s.db)
	must(t, err)
	for _, test := range testsize.Cases(3, []struct {
		name string
		make func(t *testing.T, path string)
	}{
		{"views instead of tables", change(good, `ALTER TABLE observations RENAME TO o`, `CREATE VIEW observations AS SELECT * FROM o`)},
		{"text", func(t *testing.T, path string) { must(t, os.WriteFile(path, []byte("id,name,lat,lon\n"), 0o600)) }},
		{"truncated", func(t *testing.T, path string) { must(t, os.WriteFile(path, good[:len(good)/2], 0o600)) }},
		{"only its header", func(t *testing.T, path string) { must(t, os.WriteFile(path, good[:100], 0o600)) }},
		{"random pages", func(t *testing.T, path string) {
			damaged := bytes.Clone(good)
			for i := 4096 + 40; i < len(damaged); i += 97 {
				damaged[i] ^= 0x5a
			}
			must(t, os.WriteFile(path, damaged, 0o600))
		}},
		{"triggers", change(good, `CREATE TRIGGER t AFTER UPDATE ON lakes BEGIN DELETE FROM lakes; END`)},
		{"huge names", change(good, `UPDATE lakes SET name = hex(zeroblob(20000000)) WHERE rowid IN (SELECT rowid FROM lakes LIMIT 5)`)},
		{"infinite positions", change(good, `UPDATE lakes SET lat = 9e999, lon = -9e999 WHERE rowid IN (SELECT rowid FROM lakes LIMIT 5)`)},
		{"texts as numbers", change(good, `CREATE TABLE l AS SELECT * FROM lakes`, `UPDATE l SET lat = 'NaN'`, `DROP TABLE lakes`, `ALTER TABLE l RENAME TO lakes`)},
		{"blobs as names", change(good, `CREATE TABLE l AS SELECT * FROM lakes`, `UPDATE l SET name = x'ff00fe'`, `DROP TABLE lakes`, `ALTER TABLE l RENAME TO lakes`)},
		{"no tables", change(good, `DROP TABLE observations`)},
	}) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "lakes.db")
			test.make(t, path)
			started := limnomaptest.LaunchAt(t, limnomaptest.FreeAddress(t), limnomaptest.FreeAddress(t), "--db", path)
			outcome := outcomeOf(t, started)
			log := started.Log.String()
			limnomaptest.NoCrash(t, log)
			if outcome == "ready" {
				for path, body := range fetchAll(t, started, []string{statusPath, geojsonPath, "/api/v1/tiles/3/2/2.png"}) {
					for _, text := range []string{"NaN", "Inf", "\x00"} {
						if path != "/api/v1/tiles/3/2/2.png" && bytes.Contains(body, []byte(text)) {
							t.Errorf("%s contains %q", path, text)
						}
					}
				}
			}
			t.Logf("%s", outcome)
			results.addText(fmt.Sprintf("\nhostile database, %s: %s\n", test.name, outcome))
		})
	}
}

// outcomeOf waits until a server is ready, has ended, or reports that it cannot read its data.
func outcomeOf(t *testing.T, s *limnomaptest.Server) (outcome string) {
	t.Helper()
	limnomaptest.Within(t, patience, "the server is ready, has ended, or reports a failure", func() bool {
		select {
		case <-s.Exited():
			outcome = "refused"
			if s.ExitError() == nil {
				t.Error("the server has ended with code 0")
			}
			return true
		default:
		}
		switch s.StatusOf("/readyz") {
		case http.StatusOK:
			outcome = "ready"
		case http.StatusServiceUnavailable:
			if resp, err := adminClient.Get(s.Admin + "/metrics"); err == nil {
				text, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err == nil && metricsOf(string(text))["limnomap_snapshot_refresh_failures_total"] > 0 {
					outcome = "not ready"
				}
			}
		}
		return outcome != ""
	})
	return outcome
}

// change returns a function that writes a database and runs statements on it.
func change(content []byte, statements ...string) func(t *testing.T, path string) {
	return func(t *testing.T, path string) {
		t.Helper()
		must(t, os.WriteFile(path, content, 0o600))
		db, err := sql.Open("sqlite", path+"?_pragma=ignore_check_constraints(1)&_pragma=foreign_keys(0)")
		must(t, err)
		defer db.Close()
		for _, statement := range statements {
			if _, err := db.Exec(statement); err != nil {
				t.Fatalf("%.60s: %v", statement, err)
			}
		}
	}
}
