//go:build unix

package faulttest

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

// newWorldDB returns a database of simulated lakes all over the world, with two weeks of values.
func newWorldDB(t testing.TB, lakes int) string {
	t.Helper()
	db := filepath.Join(t.TempDir(), "world.db")
	copyTemplate(t, "world "+strconv.Itoa(lakes), db, func(db string) {
		dir := t.TempDir()
		tables := []string{filepath.Join(dir, "lakes.csv"), filepath.Join(dir, "obs.csv")}
		limnomaptest.Run(t, "demo", "--lakes", strconv.Itoa(lakes), "--weeks", "2", "--out", strings.Join(tables, ","))
		importFile(t, "lakes", tables[0], db)
		importFile(t, "observations", tables[1], db)
	})
	return db
}

// interrupt starts a limnomap command, sends it SIGINT once there is a file in dir or its sub-folders, and returns what it printed. The exit
// code must be 1.
func interrupt(t *testing.T, dir string, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd := limnomaptest.Command(t, args...)
	out, errOut := new(limnomaptest.Log), new(limnomaptest.Log)
	cmd.Stdout, cmd.Stderr = out, errOut
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	limnomaptest.Within(t, patience, "the command has written something", func() bool {
		found := filesIn(t, dir)
		return len(found.entries)+len(found.temps) > 0
	})
	must(t, cmd.Process.Signal(os.Interrupt))
	err := cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("limnomap %s: %v, want exit code 1\n%s%s", strings.Join(args, " "), err, out, errOut)
	}
	return out.String(), errOut.String()
}

// numbers returns the numbers that the groups of the pattern match in a text.
func numbers(t testing.TB, text, pattern string) []int {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("%q does not match %q", text, pattern)
	}
	var all []int
	for _, group := range m[1:] {
		n, err := strconv.Atoi(group)
		must(t, err)
		all = append(all, n)
	}
	return all
}

// manyTiles are flags for more tiles than are drawn before the signal comes.
var manyTiles = []string{"--zoom", "0-12", "--style", "lakes", "--scale", "2"}

// warmCounts matches what warm prints at its end: the tiles that it has drawn, and those that it has found in the cache.
const warmCounts = `(\d+) tiles drawn, (\d+) `

// An interrupted warm keeps the tiles it has drawn, and the next one continues after them.
func TestWarmInterrupted(t *testing.T) {
	t.Parallel()
	db, dir := newWorldDB(t, 300), t.TempDir()
	flags := append([]string{"--db", db, "--cache-dir", dir}, manyTiles...)
	out, errOut := interrupt(t, dir, append([]string{"warm"}, flags...)...)
	drawn := numbers(t, out, warmCounts)[0]
	if got := numbers(t, errOut, `interrupted: (\d+) of (\d+) tiles`); got[0] != drawn || got[1] <= drawn || drawn == 0 {
		t.Errorf("interrupted after %d tiles, it printed %q", drawn, errOut)
	}
	if left := filesIn(t, dir).temps; len(left) > 0 {
		t.Errorf("unfinished files are left: %v", left)
	}
	// The tiles of the first zooms are there, if it got that far.
	again := numbers(t, limnomaptest.Run(t, append(append([]string{"warm"}, flags...), "--zoom", "0-3")...), warmCounts)
	if again[1] == 0 || again[0] > 0 && again[1] < drawn {
		t.Errorf("the next warm drew %d tiles and found %d, after %d", again[0], again[1], drawn)
	}
}

func TestExportInterrupted(t *testing.T) {
	t.Parallel()
	db := newWorldDB(t, 300)
	for _, name := range testsize.Cases(1, []string{"map.pmtiles", "map.mbtiles", "map/"}) {
		dir := t.TempDir()
		out, errOut := interrupt(t, dir, append([]string{"export", dir + "/" + name, "--db", db}, manyTiles...)...)
		if !strings.Contains(errOut, "interrupted") || !strings.Contains(errOut, "nothing was written") || out != "" {
			t.Errorf("%s: it printed %q and %q", name, out, errOut)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left, %v", name, left, err)
		}
	}
}

// importFromPipe starts an import of lakes that reads a pipe.
func importFromPipe(t *testing.T, db string) (cmd *exec.Cmd, in io.WriteCloser, output *limnomaptest.Log) {
	t.Helper()
	cmd, output = limnomaptest.Command(t, "import", "lakes", "-", "--db", db), new(limnomaptest.Log)
	cmd.Stdout, cmd.Stderr = output, output
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, in, output
}

func TestImportFromStandardInput(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "lakes.db")
	cmd, in, output := importFromPipe(t, db)
	_, err := io.WriteString(in, twoLakes+"bad,Bad,,1,,\n")
	must(t, err)
	in.Close()
	if err := cmd.Wait(); err == nil || !strings.Contains(output.String(), "standard input, line 4 (bad): lat is missing") {
		t.Errorf("%v, want the row rejected:\n%s", err, output)
	}
	cmd, in, output = importFromPipe(t, db)
	_, err = io.WriteString(in, twoLakes)
	must(t, err)
	in.Close()
	if err := cmd.Wait(); err != nil || storedLakes(t, db) != 2 {
		t.Errorf("%v, want two lakes:\n%s", err, output)
	}
}

// An import that waits for more input ends when it is interrupted, and writes nothing.
func TestImportFromStandardInputInterrupted(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "lakes.db")
	cmd, in, output := importFromPipe(t, db)
	defer in.Close()
	// More than a pipe holds, so the import has read some of it when this returns.
	_, err := io.WriteString(in, twoLakes+strings.Repeat("stechlin,Stechlinsee,53.1500,13.0250,Brandenburg,4.25\n", 10_000))
	must(t, err)
	must(t, cmd.Process.Signal(os.Interrupt))
	if err := cmd.Wait(); err == nil || !strings.Contains(output.String(), "interrupted") || !strings.Contains(output.String(), "nothing was written") {
		t.Errorf("%v, want it interrupted:\n%s", err, output)
	}
	if left, err := filepath.Glob(db + "*"); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}
