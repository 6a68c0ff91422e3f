//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fromStdin starts an import of lakes from a pipe, as a process of its own.
func fromStdin(t *testing.T, db string) (cmd *exec.Cmd, in io.WriteCloser, out *bytes.Buffer) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out = new(bytes.Buffer)
	cmd = exec.Command(exe, "import", "lakes", "-", "--db", db)
	cmd.Env = append(os.Environ(), "LIMNOMAP_TEST_AS_MAIN=1")
	cmd.Stdout, cmd.Stderr = out, out
	if in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, in, out
}

func TestImportFromStdin(t *testing.T) {
	db := filepath.Join(t.TempDir(), "lakes.db")
	cmd, in, out := fromStdin(t, db)
	if _, err := io.WriteString(in, lakesCSV+"bad,,1,1,,\n"); err != nil {
		t.Fatal(err)
	}
	in.Close()
	if err := cmd.Wait(); err == nil || !strings.Contains(out.String(), "standard input, line 4 (bad): name is missing") {
		t.Errorf("%v, want it rejected:\n%s", err, out)
	}
	cmd, in, out = fromStdin(t, db)
	if _, err := io.WriteString(in, lakesCSV); err != nil {
		t.Fatal(err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil || len(storedLakes(t, db)) != 2 {
		t.Errorf("%v, want two lakes:\n%s", err, out)
	}
}

// An import that waits for a pipe ends when it is told to.
func TestInterruptedWhileStdinIsSilent(t *testing.T) {
	db := filepath.Join(t.TempDir(), "lakes.db")
	cmd, in, out := fromStdin(t, db)
	defer in.Close()
	// More than a pipe holds, so that some of it has been read.
	if _, err := io.WriteString(in, lakesCSV+strings.Repeat("stechlin,Stechlinsee,53.1500,13.0250,Brandenburg,4.25\n", 10_000)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(out.String(), "interrupted, nothing was written") {
		t.Errorf("%v, want it interrupted:\n%s", err, out)
	}
	if left, err := filepath.Glob(db + "*"); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}
