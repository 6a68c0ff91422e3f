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

// The script that the operating guide's sizes are measured with makes lakes and imports them. Its last step is a load of
// half a minute, by a program that no test needs, and is left to whoever measures.
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
	// Of 200 lakes nearly each has a tile of its own at zoom 12, and none more than nine.
	tiles, err := os.ReadFile(filepath.Join(folder, "200", "tiles.txt"))
	if n := strings.Count(string(tiles), "\n"); err != nil || n < 200 || n > 9*200 {
		t.Errorf("%d tiles to ask for, %v", n, err)
	}
}
