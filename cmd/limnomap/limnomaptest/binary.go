// Package limnomaptest runs the real limnomap as a process, for the tests of what stands around it: the page, the examples,
// what operators deploy. A package that uses it has a TestMain that calls [Main].
package limnomaptest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var built struct {
	sync.Mutex
	folder, path string
}

// Main runs the tests of a package and removes the binary that they had built.
func Main(m *testing.M) {
	code := m.Run()
	if err := os.RemoveAll(built.folder); err != nil { // "" is nothing
		fmt.Fprintln(os.Stderr, "removing the binary under test:", err)
	}
	os.Exit(code)
}

// Binary returns the path of limnomap, built when it is first asked for. It has no race detector: as users have it, and
// several times as quick.
func Binary(t testing.TB) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if built.path != "" {
		return built.path
	}
	var err error
	if built.folder, err = os.MkdirTemp("", "limnomap-test-"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(built.folder, "limnomap")
	// With -trimpath, so that what is compiled is what the test of the release links too.
	build := exec.Command("go", "build", "-trimpath", "-o", path, "limnomap/cmd/limnomap")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	built.path = path
	return path
}

// Environ is this process's environment without limnomap's own variables, which would be flags of the limnomap under test.
func Environ() []string {
	var env []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "LIMNOMAP_") {
			env = append(env, variable)
		}
	}
	return env
}

// Run runs a command of limnomap and returns what it printed. It fails the test unless the command exits with 0.
func Run(t testing.TB, args ...string) (stdout string) {
	t.Helper()
	cmd := exec.Command(Binary(t), args...)
	cmd.Env = Environ()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("limnomap %s: %v\n%s%s", strings.Join(args, " "), err, out, &stderr)
	}
	return string(out)
}

// Need skips a test, loudly, where one of the commands is not installed. In CI nothing may be left out: there it fails.
func Need(t testing.TB, commands ...string) {
	t.Helper()
	for _, command := range commands {
		if _, err := exec.LookPath(command); err != nil {
			leaveOut(t, command+" is not installed (make setup)")
		}
	}
}

// NeedFolder is Need of a folder that make setup fills.
func NeedFolder(t testing.TB, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		leaveOut(t, path+" is not there (make setup)")
	}
}

func leaveOut(t testing.TB, missing string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(missing)
	}
	t.Skip("LEFT OUT: " + missing)
}
