package deploy

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A release of one system is built in two folders, and is the same, byte for byte; its archive and its list of parts have
// what the binary has.
func TestRelease(t *testing.T) {
	limnomaptest.Need(t, "python3", "tar", "gzip")
	limnomaptest.NeedFolder(t, "../web/dist/index.html")
	target := runtime.GOOS + "/" + runtime.GOARCH
	first, second, elsewhere := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "another", "checkout")
	if err := os.MkdirAll(elsewhere, 0o755); err != nil {
		t.Fatal(err)
	}
	output(t, "bash", "-euc", `cd .. && { git ls-files -z; find web/dist -type f -print0; } | tar --null -T - -cf - | tar -xf - -C "$0"`, elsewhere)
	release := func(project, out, mask string) {
		cmd := exec.Command("bash", "-c", "umask "+mask+` && exec "$0" "$@"`, filepath.Join(project, ".ci", "release"), out, target)
		cmd.Env = append(os.Environ(), "VERSION=v0.0.0-test", "SOURCE_DATE_EPOCH=1795000000")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("release: %v\n%s", err, text)
		}
	}
	release("..", first, "022")
	release(elsewhere, second, "077")
	output(t, "diff", "-r", first, second)
	name := "limnomap-v0.0.0-test-" + strings.Replace(target, "/", "-", 1)
	output(t, "bash", "-euc", `cd "$0" && sha256sum --strict -c SHA256SUMS && tar -xzf "$1.tar.gz"`, first, name)

	files, err := filepath.Glob(filepath.Join(first, name, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"limnomap", "LICENSE", "NOTICES.txt", "README.md", "CHANGELOG.md"} {
		if !slices.Contains(files, filepath.Join(first, name, want)) {
			t.Errorf("the archive does not have %s: %q", want, files)
		}
	}
	binary := filepath.Join(first, name, "limnomap")
	if out := output(t, binary, "version"); !strings.Contains(out, "v0.0.0-test") {
		t.Errorf("limnomap version says %s", out)
	}
	checkParts(t, readFile(t, filepath.Join(first, name+".cdx.json")), output(t, "go", "version", "-m", binary), readFile(t, filepath.Join(first, name, "NOTICES.txt")))
}

// checkParts holds the list of parts, and the licences, against the modules that the binary says it is made of.
func checkParts(t *testing.T, list, modules, notices string) {
	var document any
	if err := json.Unmarshal([]byte(list), &document); err != nil {
		t.Fatal(err)
	}
	var bom struct {
		BomFormat  string
		Components []struct{ Name, Version string }
	}
	into(t, document, &bom)
	parts := make(map[string]string)
	for _, c := range bom.Components {
		parts[c.Name] = c.Version
	}
	found := 0
	for line := range strings.Lines(modules) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[0] != "dep" {
			continue
		}
		found++
		if parts[fields[1]] != fields[2] {
			t.Errorf("the list of parts has %s in %q, the binary %s", fields[1], parts[fields[1]], fields[2])
		}
		if !strings.Contains(notices, "=== "+fields[1]+" "+fields[2]+"\n") {
			t.Errorf("the licences have none of %s %s", fields[1], fields[2])
		}
	}
	if found < 20 || bom.BomFormat != "CycloneDX" || parts["leaflet"] == "" || parts["std"] == "" {
		t.Errorf("%d modules, format %q, leaflet %q, Go's library %q", found, bom.BomFormat, parts["leaflet"], parts["std"])
	}
}
