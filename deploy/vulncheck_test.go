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

	"limnomap/cmd/limnomap/limnomaptest"
)

// The check reports a vulnerability in called code, passes without one, and says that nothing was checked if the database is
// not reachable, which is a failure only if the check is required. The real database is not reachable everywhere, so these
// tests use one with a made-up entry about a function that data/index calls, and an npm registry with a made-up entry.
func TestVulncheck(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "bash", "go", "npm", "node")
	database := func(symbol string) string {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"index/db.json":      `{"modified": "2026-01-01T00:00:00Z"}`,
			"index/modules.json": `[{"path": "golang.org/x/text", "vulns": [{"id": "GO-2099-0001", "modified": "2026-01-01T00:00:00Z"}]}]`,
			"index/vulns.json":   `[{"id": "GO-2099-0001", "modified": "2026-01-01T00:00:00Z"}]`,
			"ID/GO-2099-0001.json": `{"schema_version": "1.3.1", "id": "GO-2099-0001", "modified": "2026-01-01T00:00:00Z", "published": "2026-01-01T00:00:00Z",
				"summary": "made up", "details": "Made up.", "affected": [{"package": {"name": "golang.org/x/text", "ecosystem": "Go"},
				"ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}], "ecosystem_specific": {"imports": [
				{"path": "golang.org/x/text/unicode/norm", "symbols": ["` + symbol + `"]}]}}], "database_specific": {"url": "https://pkg.go.dev/vuln/GO-2099-0001"}}`,
		} {
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
				t.Fatal(err)
			}
			limnomaptest.WriteFile(t, dir, name, text)
		}
		return "file://" + dir
	}
	const modules = "./data/index"
	for _, tt := range []struct {
		name, what, env string
		fails           bool
		want            string
	}{
		{"called", modules, "GOVULNDB=" + database("Form.String"), true, "GO-2099-0001"},
		{"not called", modules, "GOVULNDB=" + database("Iter.InitString"), false, "No vulnerabilities found"},
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
			cmd := exec.Command(".ci/vulncheck", tt.what)
			cmd.Dir = ".."
			cmd.Env = append(append(os.Environ(), "npm_config_cache="+t.TempDir()), strings.Fields(tt.env)...)
			out, err := cmd.CombinedOutput()
			if (err != nil) != tt.fails || !strings.Contains(string(out), tt.want) {
				t.Errorf("it ends with %v, want a failure: %v, and %q:\n%s", err, tt.fails, tt.want, out)
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
