package store

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"limnomap/data"
	"limnomap/data/pixels"
)

// crashEnv names the database to the process that TestCrashedImport starts and kills.
const crashEnv = "LIMNOMAP_TEST_CRASH_DB"

// Another process is stopped in the middle of an import, with a part of it on disk. Meanwhile all reads return the state
// before it, and after the process was killed they still do.
func TestCrashedImport(t *testing.T) {
	if path := os.Getenv(crashEnv); path != "" {
		stopInImport(t, path)
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "lakes.db")
	s := openFile(t, path, true)
	put(t, &s.Store, []data.Lake{testLake("a")}, []data.Observation{testObservation("a", 1, data.Satellite, 100)})
	before := revisionOf(t, &s.Store)
	wantBefore := func(what string, s *Store) {
		t.Helper()
		rev, lakes, observations := scan(t, s)
		if rev != before || len(lakes) != 1 || len(observations) != 1 || observations[0].Chlorophyll != 100 {
			t.Errorf("%s: Scan = %v, %d lakes, %d observations, want revision %v with one of each, of 1 µg/l",
				what, rev, len(lakes), len(observations), before)
		}
		if rev := revisionOf(t, s); rev != before {
			t.Errorf("%s: Revision = %v, want %v", what, rev, before)
		}
		if _, history, err := s.History(t.Context(), "a", data.Newest(10)); err != nil || len(history) != 1 || history[0].Chlorophyll != 100 {
			t.Errorf("%s: History = %v, %v, want the one value of 1 µg/l", what, history, err)
		}
		if _, ok, err := s.Pixels(t.Context(), "a", 1, ""); ok || err != nil {
			t.Errorf("%s: the pixels of the import are there (%t), or %v", what, ok, err)
		}
	}

	killInTheMiddle(t, crashEnv, path, func() {
		// The import does not end, so a read that waited for it would fail.
		wantBefore("during an import", &s.Store)
		wantBefore("opened during an import", &openFile(t, path, false).Store)
		if info, err := os.Stat(path + "-wal"); err != nil || info.Size() < 1<<18 {
			t.Errorf("the log is %v, %v, want a part of the import in it", info, err)
		}
		for _, file := range []string{"lakes.db", "lakes.db-wal"} {
			content, err := os.ReadFile(filepath.Join(dir, file))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "copy-of-"+file), content, 0o600)
			}
			if err != nil {
				t.Error(err)
			}
		}
	})

	wantBefore("after the crash", &s.Store)
	wantBefore("opened after the crash", &openFile(t, path, false).Store)
	wantBefore("copied in the middle of the import", &openFile(t, filepath.Join(dir, "copy-of-lakes.db"), false).Store)
	put(t, &s.Store, []data.Lake{testLake("b")}, nil)
	if rev, lakes, _ := scan(t, &s.Store); rev.Number != before.Number+1 || len(lakes) != 2 {
		t.Errorf("the import after the crash gave revision %v and %d lakes, want %d and 2", rev, len(lakes), before.Number+1)
	}
}

// killInTheMiddle runs the calling test in another process, with an environment variable that names a database, until that
// process reports that it is in the middle. Then it calls meanwhile, and kills the process.
func killInTheMiddle(t *testing.T, env, path string, meanwhile func()) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), env+"="+path)
	child.Stderr = os.Stderr
	stdin, err := child.StdinPipe() // kept open, because the child ends with it
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || line != "in the middle\n" {
		t.Errorf("the child said %q, %v", line, err)
	}
	meanwhile()
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err == nil {
		t.Error("the child ended by itself, want it killed")
	}
}

// stopInImport imports more than SQLite's page cache holds, so that it writes to the log before the commit, and then waits to
// be killed.
func stopInImport(t *testing.T, path string) {
	s := openFile(t, path, false)
	err := s.Import(t.Context(), func(tx Tx) error {
		lakes := []data.Lake{testLake("a"), testLake("b")}
		lakes[0].Name = "changed"
		if _, err := tx.PutLakes(t.Context(), lakes, LakeColumns{}); err != nil {
			return err
		}
		var observations []data.Observation
		for day := range data.Date(40_000) {
			observations = append(observations, testObservation("a", day, data.Satellite, 999), testObservation("b", day, data.Satellite, 999))
		}
		observations[2].Pixels = &pixels.Packed{Grid: "grid", Mask: []byte("mask"), Codes: []byte("codes")} // of day 1
		if _, err := tx.PutObservations(t.Context(), observations, ObservationColumns{}); err != nil {
			return err
		}
		fmt.Println("in the middle")
		_, err := io.Copy(io.Discard, os.Stdin)
		return fmt.Errorf("the import was not killed: %v", err)
	})
	t.Error(err)
}
