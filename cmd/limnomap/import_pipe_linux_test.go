package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// While an import waits for more input from a pipe, others write to the database: it copies the pipe first.
func TestImportFromSlowPipe(t *testing.T) {
	dir := t.TempDir()
	db, pipe := filepath.Join(dir, "lakes.db"), filepath.Join(dir, "pipe")
	mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.csv", lakesCSV), "--db", db)
	mustDo(t, syscall.Mkfifo(pipe, 0o600))
	w, err := os.OpenFile(pipe, os.O_RDWR, 0)
	mustDo(t, err)
	defer w.Close()
	type result struct {
		out string
		err error
	}
	ended := make(chan result, 1)
	go func() { // ends when the pipe is closed
		out, _, err := runCommand(t, "import", "lakes", pipe, "--db", db)
		ended <- result{out, err}
	}()
	// More than a pipe holds, so the import has read some of it when this returns.
	rows := "id,name,lat,lon\n" + strings.Repeat("x,X,50,10\n", 9_000)
	if _, err := w.WriteString(rows); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "keys", "create", "--name", "a", "--db", db)
	select {
	case r := <-ended:
		t.Fatalf("the import ended before its input: %q, %v", r.out, r.err)
	default:
	}
	w.Close()
	if r := <-ended; r.err != nil || !strings.HasPrefix(r.out, "9000 rows read: 1 added, 0 changed, 8999 unchanged") {
		t.Errorf("import: %q, %v", r.out, r.err)
	}
	if _, _, err := runCommand(t, "import", "lakes", pipe, "--db", db, "--import-timeout", "0s"); err == nil {
		t.Error("an import without time: want an error")
	}
}

// An import whose pipe never ends is over after its time.
func TestImportFromEndlessPipe(t *testing.T) {
	dir := t.TempDir()
	db, pipe := filepath.Join(dir, "lakes.db"), filepath.Join(dir, "pipe")
	mustDo(t, syscall.Mkfifo(pipe, 0o600))
	w, err := os.OpenFile(pipe, os.O_RDWR, 0)
	mustDo(t, err)
	defer w.Close()
	_, _, err = runCommand(t, "import", "lakes", pipe, "--db", db, "--import-timeout", "50ms")
	if err == nil || !strings.Contains(err.Error(), pipe+": the import takes longer than allowed, 50ms, and nothing was written: raise --import-timeout") {
		t.Errorf("error %v, want the time that is allowed", err)
	}
	if _, err := os.Stat(db); err == nil {
		t.Error("it made a database")
	}
	// The time for pipes is that of the whole import.
	rows := limnomaptest.WriteFile(t, dir, "lakes.csv", "id,name,lat,lon\n"+strings.Repeat("x,X,50,10\n", 9_000))
	_, _, err = runCommand(t, "import", "lakes", rows, "--db", db, "--import-timeout", "1ms")
	if err == nil || !strings.Contains(err.Error(), "the import takes longer than allowed, 1ms, and nothing was written: raise --import-timeout") {
		t.Errorf("an import in a millisecond: error %v, want the same", err)
	}
}

// Each command that reads files ends at the first signal, also while it waits for a pipe that no one writes to.
func TestPipesWithoutWriterEndAtASignal(t *testing.T) {
	dir := t.TempDir()
	db, pipe := filepath.Join(dir, "lakes.db"), filepath.Join(dir, "pipe.nc")
	csv := limnomaptest.WriteFile(t, dir, "lakes.csv", lakesCSV)
	mustRun(t, "import", "lakes", csv, "--db", db)
	mustDo(t, syscall.Mkfifo(pipe, 0o600))
	for name, test := range map[string]struct {
		args    []string
		waits   bool
		refused string
	}{
		"lakes":        {[]string{"import", "lakes", pipe, "--db", db}, true, "interrupted"},
		"observations": {[]string{"import", "observations", pipe, "--db", db}, true, "interrupted"},
		"advisories":   {[]string{"import", "advisories", pipe, "--db", db}, true, "interrupted"},
		"rasters":      {[]string{"import", "rasters", pipe, "--db", db}, false, "want a file"},
		"table":        {[]string{"import", "rasters", csv, "--lakes", pipe, "--csv", filepath.Join(dir, "out.csv")}, false, "want a file"},
		"places":       {[]string{"serve", "--db", db, "--places", pipe}, false, "is not a regular file"},
		"contact logo": {[]string{"serve", "--db", db, "--contact-name", "A", "--contact-url", "https://example.org", "--contact-logo", pipe}, false, "is not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- run(ctx, test.args, io.Discard, io.Discard) }() // ends with cancel
			if test.waits {
				cancel()
			} else {
				defer cancel()
			}
			if err := <-ended; err == nil || !strings.Contains(err.Error(), test.refused) {
				t.Errorf("%v, want %q", err, test.refused)
			}
		})
	}
}
