package faulttest

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

func TestMain(m *testing.M) {
	// .ci/test has a binary with the race detector for the long form of these tests.
	if path := os.Getenv("LIMNOMAP_TEST_RACE_BINARY"); path != "" && testsize.Long {
		_ = os.Setenv("LIMNOMAP_TEST_BINARY", path)
	}
	_ = os.Setenv("LIMNOMAP_AS_OF", "data") // the values of these tests are of fixed days
	limnomaptest.Parallel(6)
	limnomaptest.Main(m)
}

// patience is how long a test waits for something that takes a second or two on an idle machine. Only a server that
// hangs needs longer.
const patience = 2 * time.Minute

// launch starts limnomap serve and returns when its addresses are known. Without --cache-dir among args it has no disk
// cache. The server is killed when the test ends.
func launch(t testing.TB, args ...string) *limnomaptest.Server {
	t.Helper()
	if !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--cache-dir") }) {
		args = append([]string{"--cache-disk", "0"}, args...)
	}
	s := limnomaptest.Launch(t, args...)
	t.Cleanup(s.Kill) // runs before the cleanup of Launch, which would stop it gracefully
	return s
}

// start is launch for a server that must become ready.
func start(t testing.TB, args ...string) *limnomaptest.Server {
	t.Helper()
	s := launch(t, args...)
	s.AwaitReady(t)
	return s
}

// stopCleanly stops the server as an operator does, and fails the test if the server has panicked or the race detector
// has reported a race.
func stopCleanly(t testing.TB, s *limnomaptest.Server) {
	t.Helper()
	s.Stop(t)
	limnomaptest.NoCrash(t, s.Log.String())
}

// eventLog returns the log of a server without its access log.
func eventLog(s *limnomaptest.Server) string {
	var b strings.Builder
	for line := range strings.Lines(s.Log.String()) {
		if !strings.Contains(line, "msg=request ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// runCommand runs a limnomap command that may fail, and returns what it printed.
func runCommand(t testing.TB, args ...string) (output string, err error) {
	t.Helper()
	out, err := limnomaptest.Command(t, args...).CombinedOutput()
	return string(out), err
}

// startCommand starts a limnomap command in the background. The process is killed when the test ends.
func startCommand(t testing.TB, args ...string) (*exec.Cmd, *limnomaptest.Log) {
	t.Helper()
	cmd, output := limnomaptest.Command(t, args...), new(limnomaptest.Log)
	cmd.Stdout, cmd.Stderr = output, output
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, output
}

// must fails the test if err is not nil.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
