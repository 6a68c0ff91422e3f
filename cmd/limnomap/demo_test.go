package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// demoArgs returns a command line that writes lakes.csv and obs.csv into dir.
func demoArgs(dir string, more ...string) (args []string, lakes, observations string) {
	lakes, observations = filepath.Join(dir, "lakes.csv"), filepath.Join(dir, "obs.csv")
	return append([]string{"demo", "--out", lakes + "," + observations}, more...), lakes, observations
}

// names returns the names of the files in a folder, including hidden files.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	mustDo(t, err)
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	mustDo(t, err)
	return b
}

// The imports accept every row of the demo.
func TestDemoIsImported(t *testing.T) {
	dir := t.TempDir()
	args, lakes, observations := demoArgs(dir, "--lakes", "3000", "--weeks", "5")
	out := mustRun(t, args...)
	if !strings.Contains(out, "3000 lakes") || !strings.Contains(out, "not measurements") {
		t.Errorf("demo prints %q, want how many lakes there are and that they are simulated", out)
	}
	if got, want := names(t, dir), []string{"lakes.csv", "obs.csv"}; !slices.Equal(got, want) {
		t.Errorf("the folder holds %v, want %v", got, want)
	}
	db := filepath.Join(dir, "world.db")
	if out := mustRun(t, "import", "lakes", lakes, "--db", db); !strings.Contains(out, "3000 added, 0 changed, 0 unchanged, 0 rejected") {
		t.Errorf("import lakes prints %q, want 3000 added", out)
	}
	out = mustRun(t, "import", "observations", observations, "--db", db)
	if rows := bytes.Count(readFile(t, observations), []byte("\n")) - 1; rows < 5*2800 || !strings.Contains(out, " 0 rejected") {
		t.Errorf("import observations prints %q of %d rows, want none rejected of about 15,000", out, rows)
	}
}

func TestDemoIsTheSameEveryTime(t *testing.T) {
	var texts [2][2][]byte
	for i := range texts {
		args, lakes, observations := demoArgs(t.TempDir(), "--lakes", "2000")
		mustRun(t, args...)
		texts[i] = [2][]byte{readFile(t, lakes), readFile(t, observations)}
	}
	for k, name := range []string{"lakes", "observations"} {
		if !bytes.Equal(texts[0][k], texts[1][k]) {
			t.Errorf("two runs wrote different %s", name)
		}
	}
}

func TestDemoErrors(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.csv")
	both := a + "," + b
	long := strings.Repeat("b", 250) // of the 255 bytes that most file systems allow
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"no number", []string{"--out", both}, "--lakes"},
		{"no files", []string{"--lakes", "5"}, "--out"},
		{"no lakes", []string{"--lakes", "0", "--out", both}, "--lakes 0: want a number from 1 to 2000000"},
		{"too many lakes", []string{"--lakes", "2000001", "--out", both}, "--lakes 2000001"},
		{"no weeks", []string{"--lakes", "5", "--out", both, "--weeks", "0"}, "--weeks 0: want a number from 1 to 104"},
		{"too many weeks", []string{"--lakes", "5", "--out", both, "--weeks", "105"}, "--weeks 105"},
		{"no day", []string{"--lakes", "5", "--out", both, "--until", "25.8.2025"}, "--until: date \"25.8.2025\" is not a day"},
		{"future", []string{"--lakes", "5", "--out", both, "--until", "9999-12-31"}, "--until 9999-12-31 is in the future"},
		{"before satellites", []string{"--lakes", "5", "--out", both, "--until", "1971-01-01"}, "--until 1971-01-01: want a day from 1980-01-01"},
		{"one file", []string{"--lakes", "5", "--out", a}, "want two names separated by a comma"},
		{"three files", []string{"--lakes", "5", "--out", both + "," + a}, "want two names separated by a comma"},
		{"empty name", []string{"--lakes", "5", "--out", a + ","}, "want two names separated by a comma"},
		{"same file", []string{"--lakes", "5", "--out", a + "," + dir + "/./a.csv"}, "twice"},
		{"no folder", []string{"--lakes", "5", "--out", a + "," + dir + "/absent/b.csv"}, "b.csv: the folder " + dir + "/absent does not exist"},
		{"a name too long for a temporary file", []string{"--lakes", "5", "--out", a + "," + dir + "/" + long}, "/" + long + ": open "},
		{"same file, a space between", []string{"--lakes", "5", "--out", a + ", " + a}, "twice"},
		{"nothing but a space", []string{"--lakes", "5", "--out", a + ", "}, "want two names separated by a comma"},
		{"a folder", []string{"--lakes", "5", "--force", "--out", a + "," + dir}, "not a regular file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := runCommand(t, append([]string{"demo"}, tt.args...)...)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("limnomap demo %s: %v, want an error that contains %q", strings.Join(tt.args, " "), err, tt.want)
			}
			if left := names(t, dir); len(left) > 0 {
				t.Errorf("limnomap demo %s leaves %v", strings.Join(tt.args, " "), left)
			}
		})
	}
}

func TestDemoOverwritesOnlyByForce(t *testing.T) {
	for _, there := range []string{"lakes.csv", "obs.csv"} {
		dir := t.TempDir()
		args, _, _ := demoArgs(dir, "--lakes", "5")
		kept := filepath.Join(dir, there)
		limnomaptest.WriteFile(t, dir, there, "mine")
		_, _, err := runCommand(t, args...)
		if err == nil || !strings.Contains(err.Error(), "--force") || !strings.Contains(err.Error(), there) {
			t.Errorf("demo with an existing %s = %v, want an error that names it and --force", there, err)
		}
		if got := names(t, dir); !slices.Equal(got, []string{there}) || string(readFile(t, kept)) != "mine" {
			t.Errorf("demo with an existing %s leaves %v", there, got)
		}
		mustRun(t, append(args, "--force")...)
		if got := names(t, dir); !slices.Equal(got, []string{"lakes.csv", "obs.csv"}) || string(readFile(t, kept)) == "mine" {
			t.Errorf("demo --force leaves %v, and %s as it was", got, there)
		}
	}
}

func TestDemoInterrupted(t *testing.T) {
	dir := t.TempDir()
	args, _, _ := demoArgs(dir, "--lakes", "5")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := run(ctx, args, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "nothing was written") {
		t.Errorf("demo interrupted = %v, want an error that nothing was written", err)
	}
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("demo interrupted leaves %v", left)
	}

	// An error that has another cause is returned, even after an interrupt.
	limnomaptest.WriteFile(t, dir, "obs.csv", "mine")
	if err := run(ctx, args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "obs.csv exists already") {
		t.Errorf("demo interrupted with an existing obs.csv = %v, want an error that names the file", err)
	}
}

// Two names of one file are an error: the observations would overwrite the lakes.
func TestDemoTwoNamesOfOneFile(t *testing.T) {
	folder, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	mustDo(t, os.Symlink(folder, link))
	t.Chdir(folder)
	for _, out := range []string{"a.csv,./a.csv", "a.csv," + link + "/a.csv", link + "/../folder/a.csv," + link + "/../folder/a.csv"} {
		_, _, err := runCommand(t, "demo", "--lakes", "5", "--force", "--out", out)
		if left := names(t, folder); err == nil || !strings.Contains(err.Error(), "names one file twice") || len(left) > 0 {
			t.Errorf("--out %s: %v, and %v is left, want an error about one file", out, err, left)
		}
	}
}

func TestWriteFiles(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	limnomaptest.WriteFile(t, dir, "a", "mine")
	full := errors.New("no space left")
	fill := func(w []io.Writer) error {
		for _, w := range w {
			if _, err := io.WriteString(w, "new"); err != nil {
				return err
			}
		}
		return nil
	}
	tests := []struct {
		name  string
		write func([]io.Writer) error
	}{
		{"while writing", func(w []io.Writer) error { return errors.Join(fill(w), full) }},
		{"when the second name becomes a folder meanwhile", func(w []io.Writer) error { return errors.Join(fill(w), os.Mkdir(b, 0o700)) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := writeFiles([]string{a, b}, true, tt.write); err == nil {
				t.Error("writeFiles succeeds")
			}
			_ = os.Remove(b) // the folder of the second case
			if got := names(t, dir); !slices.Equal(got, []string{"a"}) || string(readFile(t, a)) != "mine" {
				t.Errorf("writeFiles leaves %v, want a as it was", got)
			}
		})
	}

	mustDo(t, writeFiles([]string{a, b}, true, fill))
	if string(readFile(t, a)) != "new" || string(readFile(t, b)) != "new" {
		t.Error("writeFiles has not written both")
	}
	if info, err := os.Stat(a); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("writeFiles makes a file of mode %v, %v, want one that everyone may read", info.Mode(), err)
	}
}
