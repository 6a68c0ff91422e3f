package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// SQLite detects changed pages by the log only, and cp does not write to it.
func TestWrittenOverByAnother(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "lakes.db"), filepath.Join(dir, "new.db")
	newFile(t, path, "old")
	newFile(t, other, "new")
	server := openFile(t, path, false)
	before := wantLake(t, server, "old")
	writeOver(t, path, readFile(t, other))
	if after := wantLake(t, server, "new"); after.Equal(before) {
		t.Errorf("the new content's revision %v equals the old one's %v", after, before)
	}
	again := wantLake(t, server, "new")
	if present := revisionOf(t, server); !present.Equal(again) {
		t.Errorf("revision %v after %v, although nothing was written", present, again)
	}
}

// When SQLite copies its log into the file, whichever process lets it, the data are as before, and are not loaded again. A direct write is found
// afterwards too.
func TestLogCopied(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "lakes.db"), filepath.Join(dir, "new.db")
	newFile(t, path, "old")
	newFile(t, other, "new")
	server := openFile(t, path, false)
	writer := openFile(t, path, false)
	before := wantLake(t, server, "old")
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
		rev := revisionOf(t, server)
		if rev.Generation != before.Generation || rev.Number != before.Number || rev.Forecasts != before.Forecasts+int64(i)+1 {
			t.Errorf("%s: revision %+v after %+v, want one more of the forecasts", mode, rev, before)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	writeOver(t, path, readFile(t, other))
	if after := wantLake(t, server, "new"); after.Generation == before.Generation {
		t.Errorf("revision %+v after the file was written over, want another generation than of %+v", after, before)
	}
}

// The first commit after SQLite has copied its log begins a new one. A direct write between that and the next look at the file is found, whichever
// of the two is first, and the commit alone does not load the data again.
func TestWrittenOverWithANewLog(t *testing.T) {
	dir := t.TempDir()
	good, other := filepath.Join(dir, "good.db"), filepath.Join(dir, "new.db")
	newFile(t, good, "old")
	newFile(t, other, "new")
	for _, test := range []struct {
		name string
		do   []string // between two looks
	}{
		{"commit", []string{"commit"}},
		{"commit and write", []string{"commit", "write"}},
		{"write and commit", []string{"write", "commit"}},
		{"commit, copied", []string{"commit", "copy"}},
	} {
		for _, logs := range []int{0, 1} { // that SQLite has copied before
			t.Run(fmt.Sprint(test.name, ", logs before: ", logs), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "lakes.db")
				writeOver(t, path, readFile(t, good))
				server, process := openFile(t, path, false), openFile(t, path, false) // process commits without a look of the server
				n := 0
				do := func(what string) {
					t.Helper()
					time.Sleep(20 * time.Millisecond) // times of files have steps of at most 10 ms
					switch what {
					case "commit":
						n++
						if err := process.PutForecastTest(t.Context(), data.ForecastTest{Model: "m", Date: data.Known(data.Date(n))}); err != nil {
							t.Fatal(err)
						}
					case "write":
						now := time.Now()
						if err := os.Chtimes(path, now, now); err != nil { // as a direct write does, and SQLite can still commit
							t.Fatal(err)
						}
					case "copy":
						if _, err := process.writer.ExecContext(t.Context(), "PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
							t.Fatal(err)
						}
					}
				}
				for range logs {
					do("commit")
					do("copy")
				}
				before := wantLake(t, server, "old")
				for _, what := range test.do {
					do(what)
				}
				want := before.Generation
				if slices.Contains(test.do, "write") {
					want++
				}
				if after := wantLake(t, server, "old"); after.Generation != want {
					t.Errorf("generation %d after %d, want %d", after.Generation, before.Generation, want)
				}
				if err := process.Close(); err != nil { // leaves the log to the server
					t.Fatal(err)
				}
				before = wantLake(t, server, "old")
				writeOver(t, path, readFile(t, other))
				if after := wantLake(t, server, "new"); after.Generation == before.Generation {
					t.Errorf("generation %d after the file was written over, want another one", after.Generation)
				}
			})
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
			before := wantLake(t, server, "old")
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
			if after := wantLake(t, server, "old"); after.Equal(before) {
				t.Errorf("the repaired file's revision %v equals the first %v: want another one, so that failed reads are repeated", after, before)
			}
		})
	}
}

// A removed log's content is lost to other processes.
func TestLogRemoved(t *testing.T) {
	for _, ends := range [][]string{{"-wal"}, {"-shm"}, {"-wal", "-shm"}} {
		t.Run(strings.Join(ends, ""), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lakes.db")
			server := openFile(t, path, true)
			put(t, server, []data.Lake{testLake("old")}, []data.Observation{testObservation("old", 20000, data.Satellite, 5)})
			wantLake(t, server, "old")
			for _, end := range ends {
				if err := os.Remove(path + end); err != nil {
					t.Fatal(err)
				}
			}
			before := wantLake(t, server, "old")
			importer := openFile(t, path, false)
			put(t, importer, nil, []data.Observation{testObservation("old", 20000, data.Satellite, 9)})
			if after := wantLake(t, server, "old"); after.Number != before.Number+1 {
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
	if rev := revisionOf(t, server); rev.Number != 0 {
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
		wantRefused(t, server, errNothingYet, "nothing has been imported into the new file yet")
	}
	put(t, importer, []data.Lake{testLake("new")}, []data.Observation{testObservation("new", 20000, data.Satellite, 5)})
	wantLake(t, server, "new")
}

// Next to the new file there are the log files of the removed one, which the server has open.
func TestCreatedNextToAnOldLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lakes.db")
	server := openFile(t, path, true)
	put(t, server, []data.Lake{testLake("old")}, []data.Observation{testObservation("old", 20000, data.Satellite, 5)})
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
	put(t, first, []data.Lake{testLake("new")}, nil)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := openFile(t, path, true)
	second.now = func() time.Time { return time.Unix(43200, 0) }
	put(t, second, nil, []data.Observation{testObservation("new", 20000, data.Satellite, 7)})
	wantLake(t, server, "new")
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	wantLake(t, server, "new")
	wantLake(t, openFile(t, path, false), "new")
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
