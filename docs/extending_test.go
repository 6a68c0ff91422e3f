//go:build unix

package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// endOfList matches the end of a list that a function returns.
var endOfList = regexp.MustCompile(`(?s)\n\treturn \[\][A-Za-z]+\{\n.*?\n(\t\}\n\}\n)`)

// The code in docs/extending.md passes the tests of the package that it is added to.
func TestExtending(t *testing.T) {
	added := 0
	for _, b := range pagesOf(t, "docs/extending.md")[0].blocks {
		if b.language != "go" {
			continue
		}
		added++
		file := b.marks[0]
		t.Run(file, func(t *testing.T) {
			if out, err := testWith(t, file, b.text); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	if added < 2 {
		t.Errorf("the page adds %d things, want a colour map and a profile", added)
	}
}

// testWith runs the tests of a package as if text were at the end of the list in one of its files.
func testWith(t *testing.T, file, text string) ([]byte, error) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := endOfList.FindSubmatchIndex(source)
	if at == nil {
		t.Fatalf("%s has no list", file)
	}
	dir := t.TempDir()
	changed := limnomaptest.WriteFile(t, dir, "changed.go", string(source[:at[2]])+text+"\n"+string(source[at[2]:]))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		t.Fatal(err)
	}
	// Of package data only the tests of profiles: the others are slow.
	cmd := exec.Command("go", "test", "-overlay", limnomaptest.WriteFile(t, dir, "overlay.json", string(overlay)), "-run", map[string]string{
		"colormap/ramps.go": ".", "data/profile.go": "Level|Profile|Risk|Classify",
	}[file], ".")
	cmd.Dir = filepath.Dir(path)
	return cmd.CombinedOutput()
}
