package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// The check for vulnerabilities finds one that is called, passes without one, and where the database is away says that
// nothing was checked, which is a failure if it is required. The one database that counts cannot be had everywhere, so this
// is one with a single, made-up entry on a function that data/index calls.
func TestVulncheck(t *testing.T) {
	limnomaptest.Need(t, "bash", "go")
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
	for _, tt := range []struct {
		name, database, env string
		fails               bool
		want                string
	}{
		{"called", database("Form.String"), "A=", true, "GO-2099-0001"},
		{"not called", database("Iter.InitString"), "A=", false, "No vulnerabilities found"},
		{"away", "http://127.0.0.1:1", "A=", false, "NOTHING WAS CHECKED"},
		{"away, and required", "http://127.0.0.1:1", "VULNCHECK=required", true, "NOTHING WAS CHECKED"},
		{"no database", "file:///nonexistent", "A=", true, "nonexistent"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.Command(".ci/vulncheck", "./data/index")
			cmd.Dir = ".."
			cmd.Env = append(os.Environ(), "GOVULNDB="+tt.database, tt.env)
			out, err := cmd.CombinedOutput()
			if (err != nil) != tt.fails || !strings.Contains(string(out), tt.want) {
				t.Errorf("it ends with %v, want a failure: %v, and %q:\n%s", err, tt.fails, tt.want, out)
			}
		})
	}
}
