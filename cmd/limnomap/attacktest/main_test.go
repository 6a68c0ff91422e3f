//go:build linux

package attacktest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

func TestMain(m *testing.M) {
	if os.Getenv(probeVariable) != "" {
		os.Exit(runProbe(os.Stdin, os.Stdout)) // this process is the probe of another one
	}
	if os.Getenv(watchVariable) != "" {
		os.Exit(runWatch(os.Stdin, os.Stdout)) // this process watches whether closures are told
	}
	if os.Getenv(hostileVariable) != "" {
		os.Exit(runHostiles(os.Stdin, os.Stdout)) // this process is the hostile clients of another one
	}
	_ = os.Setenv("LIMNOMAP_AS_OF", "data") // the values of these tests are of fixed days
	limnomaptest.Main(m, func() { fmt.Print(results.String()) })
}

// patience is how long a test waits for something that takes a second or two on an idle machine. Only a server that
// hangs needs longer.
const patience = 2 * time.Minute

// size returns full with the long tests, otherwise short.
func size[T any](full, short T) T { return testsize.Of(short, full) }

// startSelf starts the binary of these tests as a process that the variable tells what to be. It ends when the test ends.
func startSelf(t *testing.T, variable string) (io.Writer, io.Reader) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), variable+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		in.Close() // ends the process
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", variable, err)
		}
	})
	return in, out
}

// must fails the test if err is not nil.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
