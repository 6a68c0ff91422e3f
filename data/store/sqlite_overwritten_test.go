package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"limnomap/data"
)

// writeOver overwrites the content of a file as cp does.
func writeOver(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// readFile reads a file of a database that is not open.
func readFile(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// When SQLite copies its log into the file, whichever process lets it, the data are as before, and are not loaded again.
func TestLogCopied(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lakes.db")
	newFile(t, path, "old")
	server, writer := openFile(t, path, false), openFile(t, path, false)
	before := wantLake(t, &server.Store, "old")
	for i, by := range []*sqlite{server, writer, writer, server} {
		modified := modTime(t, path)
		time.Sleep(20 * time.Millisecond) // times of files have steps of at most 10 ms
		test := data.ForecastTest{Model: "m", Date: data.Known(data.Date(i))}
		if err := by.PutForecastTest(t.Context(), test); err != nil {
			t.Fatal(err)
		}
		mode := []string{"PASSIVE", "TRUNCATE", "RESTART", "FULL"}[i]
		if _, err := by.writer.ExecContext(t.Context(), "PRAGMA wal_checkpoint("+mode+")"); err != nil {
			t.Fatal(err)
		}
		if modTime(t, path).Equal(modified) {
			t.Fatalf("%s: the file has the same time, so the test shows nothing", mode)
		}
		rev := revisionOf(t, &server.Store)
		if rev.Generation != before.Generation || rev.Number != before.Number || rev.Forecasts != before.Forecasts+int64(i)+1 {
			t.Errorf("%s: revision %+v after %+v, want one more of the forecasts", mode, rev, before)
		}
	}
}

func modTime(t *testing.T, path string) time.Time {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

func TestDamagedInPlace(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"emptied": func([]byte) []byte { return nil },
		"halved":  func(content []byte) []byte { return content[:len(content)/2] },
		"garbage": func(content []byte) []byte { return []byte(strings.Repeat("id,name,lat,lon\n", len(content)/16)) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lakes.db")
			newFile(t, path, "old")
			good := readFile(t, path)
			server := openFile(t, path, false)
			before := wantLake(t, &server.Store, "old")
			writeOver(t, path, damage(good))
			for range 2 {
				_, err := server.Scan(t.Context(), func(data.Lake) error { return nil }, func(data.Observation) error { return nil })
				if err == nil || !strings.Contains(err.Error(), "lakes.db") {
					t.Errorf("Scan = %v, want an error that names the file", err)
				}
				if rev, err := server.Revision(t.Context()); err == nil && rev.Equal(before) {
					t.Error("the revision has not changed")
				}
			}
			writeOver(t, path, good)
			wantLake(t, &server.Store, "old")
		})
	}
}

// The last pages of a truncated file are missing, but those of the revision may be in the log.
func TestTruncatedBesideALog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lakes.db")
	server := openFile(t, path, true)
	put(t, &server.Store, []data.Lake{testLake("old")}, []data.Observation{testObservation("old", 20000, data.Satellite, 5)})
	if _, err := server.writer.ExecContext(t.Context(), "PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
		t.Fatal(err)
	}
	before := wantLake(t, &server.Store, "old")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()-4096); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if rev, err := server.Revision(t.Context()); err == nil && rev.Generation != before.Generation+1 {
			t.Errorf("revision %v after %v, want the next generation", rev, before)
		}
	}
}

// A removed log's content is lost to other processes.
func TestLogRemoved(t *testing.T) {
	for _, ends := range [][]string{{"-wal"}, {"-shm"}, {"-wal", "-shm"}} {
		t.Run(strings.Join(ends, ""), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lakes.db")
			server := openFile(t, path, true)
			put(t, &server.Store, []data.Lake{testLake("old")}, []data.Observation{testObservation("old", 20000, data.Satellite, 5)})
			wantLake(t, &server.Store, "old")
			for _, end := range ends {
				if err := os.Remove(path + end); err != nil {
					t.Fatal(err)
				}
			}
			before := wantLake(t, &server.Store, "old")
			importer := openFile(t, path, false)
			put(t, &importer.Store, nil, []data.Observation{testObservation("old", 20000, data.Satellite, 9)})
			if after := wantLake(t, &server.Store, "old"); after.Number != before.Number+1 {
				t.Errorf("after an import the revision is %v, want the next after %v", after, before)
			}
		})
	}
}

// The database is not a new one, although nothing has been imported into it.
func TestLogOfEmptyOneRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lakes.db")
	server := openFile(t, path, true)
	if err := os.Remove(path + "-wal"); err != nil {
		t.Fatal(err)
	}
	if rev := revisionOf(t, &server.Store); rev.Number != 0 {
		t.Errorf("Revision = %v, want number 0", rev)
	}
}

// The importer has created the new file and not yet written to it.
func TestReplacedByAnEmptyOne(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lakes.db")
	newFile(t, path, "old")
	server := openFile(t, path, false)
	rename(t, path, filepath.Join(dir, "kept.db"))
	importer := openFile(t, path, true)
	for range 2 {
		wantRefused(t, &server.Store, errNothingYet, "nothing has been imported into the new file yet")
	}
	put(t, &importer.Store, []data.Lake{testLake("new")}, []data.Observation{testObservation("new", 20000, data.Satellite, 5)})
	wantLake(t, &server.Store, "new")
}

// Next to the new file there are the log files of the removed one, which the server has open.
func TestCreatedNextToAnOldLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lakes.db")
	server := openFile(t, path, true)
	put(t, &server.Store, []data.Lake{testLake("old")}, []data.Observation{testObservation("old", 20000, data.Satellite, 5)})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	first := openFile(t, path, true)
	for _, end := range fileEnds[1:] {
		old := server.files
		info, err := os.Stat(path + end)
		if err != nil || os.SameFile(info, old[1]) || os.SameFile(info, old[2]) {
			t.Errorf("next to the new file is %s: %v, %v, want a new file", end, info, err)
		}
	}
	put(t, &first.Store, []data.Lake{testLake("new")}, nil)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := openFile(t, path, true)
	second.now = func() time.Time { return time.Unix(43200, 0) }
	put(t, &second.Store, nil, []data.Observation{testObservation("new", 20000, data.Satellite, 7)})
	wantLake(t, &server.Store, "new")
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	wantLake(t, &server.Store, "new")
	wantLake(t, &openFile(t, path, false).Store, "new")
}

func TestMakeFileKeepsWhatIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lakes.db")
	for _, end := range fileEnds {
		writeOver(t, path+end, []byte("content"))
	}
	if err := makeFile(path); err != nil {
		t.Errorf("makeFile = %v", err)
	}
	for _, end := range fileEnds {
		if content := readFile(t, path+end); string(content) != "content" {
			t.Errorf("lakes.db%s holds %q, want no change", end, content)
		}
	}
	if err := makeFile(filepath.Join(path, "below")); err == nil {
		t.Error("makeFile below a file succeeded")
	}
}
