//go:build long

package deploy

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// promtool accepts the configurations and the rules, and the unit tests of the rules pass.
func TestPromtool(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "promtool")
	glob := func(pattern string) []string {
		files, err := filepath.Glob(filepath.Join("prometheus", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %q, %v", pattern, files, err)
		}
		return files
	}
	for _, args := range [][]string{
		append([]string{"check", "config", "--lint-fatal"}, glob("prometheus*.yml")...),
		append([]string{"check", "rules", "--lint-fatal"}, glob("limnomap.alerts.yml")...),
		append([]string{"check", "rules", "--lint-fatal"}, glob("limnomap.rules.yml")...),
		append([]string{"test", "rules"}, glob("*_test.yml")...),
	} {
		out, err := exec.Command("promtool", args...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "SUCCESS") {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
