//go:build unix

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// The script for the measurements in the operating guide creates lakes and imports them. Its last step, a load of half a minute
// with a program that no test needs, is not run here.
func TestSizing(t *testing.T) {
	folder := t.TempDir()
	for _, tt := range []struct {
		step string
		want []string
	}{
		{"data", []string{"tiles to ask for"}},
		{"lakes", []string{"import of lakes", "database"}},
		{"observations", []string{"import of observations", "database"}},
	} {
		cmd := exec.Command("../deploy/sizing", "200", tt.step)
		cmd.Env = append(limnomaptest.Environ(), "FOLDER="+folder,
			"PATH="+filepath.Dir(limnomaptest.Binary(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("deploy/sizing 200 %s: %v\n%s", tt.step, err, out)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		for i, want := range tt.want {
			if len(lines) != len(tt.want) || !strings.HasPrefix(lines[i], want+" ") {
				t.Errorf("deploy/sizing 200 %s printed\n%s\nwant figures of %q", tt.step, out, tt.want)
				break
			}
		}
	}
	// Most of 200 lakes are alone on their tile at zoom 12, and none is on more than nine tiles.
	tiles, err := os.ReadFile(filepath.Join(folder, "200", "tiles.txt"))
	if n := strings.Count(string(tiles), "\n"); err != nil || n < 200 || n > 9*200 {
		t.Errorf("%d tiles to ask for, %v", n, err)
	}
}
