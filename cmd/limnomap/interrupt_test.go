//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// interrupt runs limnomap as a process of its own, sends it SIGINT once it has begun to write into dir, and returns what it
// said. It must end with exit code 1.
func interrupt(t *testing.T, dir string, args ...string) (stdout, stderr string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), "LIMNOMAP_TEST_AS_MAIN=1")
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	limnomaptest.Within(t, 30*time.Second, "something is written", func() bool {
		names, err := os.ReadDir(dir)
		return err == nil && len(names) > 0
	})
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).ExitStatus() != 1 {
		t.Errorf("limnomap %s: %v, want exit code 1\n%s%s", strings.Join(args, " "), err, &out, &errOut)
	}
	return out.String(), errOut.String()
}

// manyTiles are flags for more tiles than are drawn before a signal comes.
var manyTiles = []string{"--zoom", "0-12", "--style", "lakes", "--scale", "2"}

func TestInterruptedWarmingGoesOn(t *testing.T) {
	db, dir := worldDB(t, 300), t.TempDir()
	flags := append([]string{"--db", db, "--cache-dir", dir}, manyTiles...)
	out, errOut := interrupt(t, dir, append([]string{"warm"}, flags...)...)
	drawn := numbers(t, out, warmed)[0]
	if said := numbers(t, errOut, `interrupted: (\d+) of (\d+) tiles are warm`); said[0] != drawn || said[1] <= drawn || drawn == 0 {
		t.Errorf("interrupted after %d tiles, it says %q", drawn, errOut)
	}
	for name := range filesOf(t, filepath.Join(dir, "entry")) {
		if strings.HasSuffix(name, ".tmp") {
			t.Errorf("%s is left behind", name)
		}
	}
	// The first zooms, as far as they go, are there.
	rest := numbers(t, mustRun(t, append(append([]string{"warm"}, flags...), "--zoom", "0-3")...), warmed)
	if rest[1] == 0 || rest[0] > 0 && rest[1] < drawn {
		t.Errorf("the next warming drew %d and found %d, after %d", rest[0], rest[1], drawn)
	}
}

func TestInterruptedExportLeavesNothing(t *testing.T) {
	db := worldDB(t, 300)
	for _, name := range []string{"map.pmtiles", "map.mbtiles", "map/"} {
		dir := t.TempDir()
		out, errOut := interrupt(t, dir, append([]string{"export", dir + "/" + name, "--db", db}, manyTiles...)...)
		if !strings.Contains(errOut, "interrupted: nothing was written") || out != "" {
			t.Errorf("%s: it says %q and %q", name, out, errOut)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left behind, %v", name, left, err)
		}
	}
}
