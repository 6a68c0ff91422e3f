// Package limnomaptest runs the real limnomap as a process. The tests of the page, of the examples, of the deployment
// files and of faults use it. A package that uses it has a TestMain that calls [Main].
package limnomaptest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"limnomap/data/testsize"
)

// binaryVariable names an environment variable with the path of a limnomap that is already built, as .ci/test does.
const binaryVariable = "LIMNOMAP_TEST_BINARY"

var built struct {
	sync.Mutex
	path string // guarded by the mutex
}

var folder struct {
	sync.Mutex
	path string // guarded by the mutex
}

// Main runs the tests of a package. Then it stops the servers that the tests shared, calls the functions in after, and
// removes the folder that the tests shared.
func Main(m *testing.M, after ...func()) {
	code := m.Run()
	if err := stopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	for _, f := range after {
		f()
	}
	if err := os.RemoveAll(folder.path); err != nil { // "" is not an error
		fmt.Fprintln(os.Stderr, "removing the folder of the tests:", err)
	}
	os.Exit(code)
}

// Folder returns a temporary folder that the tests of a package share. Main removes it.
func Folder(t testing.TB) string {
	t.Helper()
	folder.Lock()
	defer folder.Unlock()
	if folder.path == "" {
		path, err := os.MkdirTemp("", "limnomap-test-")
		if err != nil {
			t.Fatal(err)
		}
		folder.path = path
	}
	return folder.path
}

// Binary returns the path of limnomap. The first call of a package builds it, unless LIMNOMAP_TEST_BINARY names one.
func Binary(t testing.TB) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if built.path != "" {
		return built.path
	}
	if path := os.Getenv(binaryVariable); path != "" {
		built.path = path
		return path
	}
	path := filepath.Join(Folder(t), "limnomap")
	// With -trimpath, as in a release: both builds then share the build cache.
	build := exec.Command("go", "build", "-trimpath", "-o", path, "limnomap/cmd/limnomap")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	built.path = path
	return path
}

// Environ returns the environment of this process without the variables of limnomap itself, which would set flags. It has LIMNOMAP_AS_OF, which
// packages set whose values are of fixed days.
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "LIMNOMAP_") && !strings.HasPrefix(variable, "LIMNOMAP_AS_OF=")
	})
}

// Command returns a limnomap command that has not been started yet.
func Command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(Binary(t), args...)
	cmd.Env = Environ()
	return cmd
}

// Run runs a limnomap command and returns its standard output. It fails the test unless the exit code is 0.
func Run(t testing.TB, args ...string) (stdout string) {
	t.Helper()
	stdout, err := RunProgram(context.Background(), Binary(t), args...)
	if err != nil {
		t.Fatal(err)
	}
	return stdout
}

// RunProgram is Run for a process that runs no test of its own. Program is a limnomap.
func RunProgram(ctx context.Context, program string, args ...string) (stdout string, err error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = Environ()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("limnomap %s: %w\n%s%s", strings.Join(args, " "), err, out, &stderr)
	}
	return string(out), err
}

// Need skips the test if one of the commands is not installed. In CI, where no test may be skipped, it fails the test.
func Need(t testing.TB, commands ...string) {
	t.Helper()
	for _, command := range commands {
		if _, err := exec.LookPath(command); err != nil {
			testsize.LeaveOut(t, command+" is not installed (make setup)")
		}
	}
}

// NeedFolder is Need for a folder that make setup fills.
func NeedFolder(t testing.TB, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		testsize.LeaveOut(t, path+" does not exist (make setup)")
	}
}
