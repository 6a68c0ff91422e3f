//go:build long

package deploy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// The check reports a vulnerability in called code, passes without one, and says that nothing was checked if the database is
// not reachable, which is a failure only if the check is required. The real database is not reachable everywhere, so these
// tests use one with a made-up entry about a function that data/index calls, and an npm registry with a made-up entry.
func TestVulncheck(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "bash", "go", "npm", "node")
	today := time.Now().UTC().Format(time.DateOnly)
	folder := func(symbol, modified string) string {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"index/db.json":      `{"modified": "` + modified + `T00:00:00Z"}`,
			"index/modules.json": `[{"path": "golang.org/x/text", "vulns": [{"id": "GO-2099-0001", "modified": "2026-01-01T00:00:00Z"}]}]`,
			"index/vulns.json":   `[{"id": "GO-2099-0001", "modified": "2026-01-01T00:00:00Z"}]`,
			"ID/GO-2099-0001.json": `{"schema_version": "1.3.1", "id": "GO-2099-0001", "modified": "` + modified + `T00:00:00Z", "published": "` + modified + `T00:00:00Z",
				"summary": "made up", "details": "Made up.", "affected": [{"package": {"name": "golang.org/x/text", "ecosystem": "Go"},
				"ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}], "ecosystem_specific": {"imports": [
				{"path": "golang.org/x/text/unicode/norm", "symbols": ["` + symbol + `"]}]}}], "database_specific": {"url": "https://pkg.go.dev/vuln/GO-2099-0001"}}`,
		} {
			must(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
			limnomaptest.WriteFile(t, dir, name, text)
		}
		return dir
	}
	database := func(symbol string) string { return "file://" + folder(symbol, today) }
	// An archive of entries without an index and without dates, whose files have a time.
	archive := func(path, symbol, day string) string {
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		output(t, "tar", "-czf", path, "-C", filepath.Join(folder(symbol, "0001-01-01"), "ID"), "--transform", "s|^|db/|", "--mtime", day+" 12:00 UTC", "GO-2099-0001.json")
		return path
	}
	old := time.Now().AddDate(0, 0, -31).UTC().Format(time.DateOnly)
	// A project with an old database beside its checkout. Nothing beyond this machine can be reached.
	parent := t.TempDir()
	archive(filepath.Join(parent, "shared", "vulndb", "go-vulndb.tar.gz"), "Form.String", old)
	root, err := filepath.Abs("..")
	must(t, err)
	project := filepath.Join(parent, "project")
	must(t, os.Symlink(root, project))
	const offline = "HTTPS_PROXY=http://127.0.0.1:1 GOVULNDB="
	oldWarning := "THE DATABASE IS OLD: of " + old + ", 31 days ago"
	const modules = "./data/index"
	for _, tt := range []struct {
		name, what, env string
		fails           bool
		want            string
	}{
		{"called", modules, "GOVULNDB=" + database("Form.String"), true, "GO-2099-0001"},
		{"an archive", modules, "GOVULNDB=file://" + archive(filepath.Join(t.TempDir(), "db.tar.gz"), "Form.String", old), true, "GO-2099-0001|" + oldWarning},
		{"old, and required", modules, "VULNCHECK=required GOVULNDB=" + folder("Iter.InitString", old), true, "No vulnerabilities found|" + oldWarning},
		{"away, with a database beside the checkout", modules, offline, true, "GO-2099-0001|" + oldWarning},
		{"not an archive", modules, "GOVULNDB=" + limnomaptest.WriteFile(t, t.TempDir(), "db.tar.gz", "text"), true, "is no .tar.gz of a database"},
		{"an empty folder", modules, "GOVULNDB=" + t.TempDir(), true, "there is no database in"},
		{"not called", modules, "GOVULNDB=" + database("Iter.InitString"), false, "No vulnerabilities found|The database of Go's vulnerabilities is of " + today + ", 0 days old"},
		{"away", modules, "GOVULNDB=http://127.0.0.1:1", false, "NOTHING WAS CHECKED"},
		{"away, and required", modules, "VULNCHECK=required GOVULNDB=http://127.0.0.1:1", true, "NOTHING WAS CHECKED"},
		{"no database", modules, "GOVULNDB=file:///nonexistent", true, "nonexistent"},
		{"npm", "npm", "npm_config_registry=" + registry(t, `{"leaflet": [{"id": 1, "url": "https://example.org/GHSA-made-up", "title": "made up",
			"severity": "high", "vulnerable_versions": "*", "cwe": [], "cvss": {"score": 0}}]}`), true, "GHSA-made-up"},
		{"npm without", "npm", "npm_config_registry=" + registry(t, `{}`), false, "npm packages of web: no known vulnerabilities"},
		{"npm away, and required", "npm", "VULNCHECK=required npm_config_registry=http://127.0.0.1:1", true, "NOTHING WAS CHECKED"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("bash", ".ci/vulncheck", tt.what)
			cmd.Dir = ".."
			if strings.HasPrefix(tt.env, offline) {
				cmd.Dir = project
			}
			cmd.Env = append(append(os.Environ(), "PWD="+cmd.Dir, "npm_config_cache="+t.TempDir()), strings.Fields(tt.env)...)
			out, err := cmd.CombinedOutput()
			for want := range strings.SplitSeq(tt.want, "|") {
				if (err != nil) != tt.fails || !strings.Contains(string(out), want) {
					t.Errorf("it ends with %v, want a failure: %v, and %q:\n%s", err, tt.fails, want, out)
				}
			}
		})
	}
}

// registry serves npm a list of vulnerabilities, and no packages.
func registry(t *testing.T, advisories string) string {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /-/npm/v1/security/advisories/bulk", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, advisories)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}
