package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

const description = "../api/openapi.json"

// runIn runs a program in a folder, and fails the test if it fails.
func runIn(t *testing.T, folder, name string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = folder
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%.3000s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
}

// absolute returns the absolute path of a file of this repository.
func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	must(t, err)
	return path
}

// The description of the API makes a client in Go that compiles. The folder of the client is a module with the versions of .ci/tools.mod,
// which has what the client imports too.
func TestOpenAPIMakesAGoClient(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	tool := filepath.Join(folder, "oapi-codegen")
	build := exec.CommandContext(t.Context(), "go", "build", "-modfile=../.ci/tools.mod", "-o", tool, "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen")
	if out, err := build.CombinedOutput(); err != nil {
		testsize.LeaveOut(t, "oapi-codegen of .ci/tools.mod cannot be built; without a module cache it needs the network or GOPROXY: "+string(out))
	}
	for from, to := range map[string]string{"../.ci/tools.mod": "go.mod", "../.ci/tools.sum": "go.sum", "testdata/generators/use.go.txt": "use.go"} {
		content, err := os.ReadFile(from)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(folder, to), content, 0o644))
	}
	runIn(t, folder, tool, "-generate", "types,client", "-package", "client", "-o", "client.go", absolute(t, description))
	runIn(t, folder, "go", "build", ".")
}

// The description of the API makes types in TypeScript that compile.
func TestOpenAPIMakesTypeScript(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "node")
	limnomaptest.NeedFolder(t, "../web/node_modules/openapi-typescript")
	folder, modules := t.TempDir(), absolute(t, "../web/node_modules")
	use, err := os.ReadFile("testdata/generators/use.ts")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(folder, "use.ts"), use, 0o644))
	runIn(t, folder, "node", filepath.Join(modules, "openapi-typescript/bin/cli.js"), absolute(t, description), "-o", "limnomap.d.ts")
	runIn(t, folder, "node", filepath.Join(modules, "typescript/bin/tsc"), "--noEmit", "--strict", "--target", "es2022", "--moduleResolution", "bundler", "--module", "esnext", "use.ts", "limnomap.d.ts")
}
