package refresh

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/store/storetest"
)

func TestFolder(t *testing.T) {
	s, dir := storetest.New(t), t.TempDir()
	write(t, dir, "observations.csv", observations)
	write(t, dir, "z-lakes.csv", lakes)
	write(t, dir, "readme.txt", "not a table")
	write(t, dir, ".lakes.csv.swp", "not a table")
	write(t, dir, ".hidden.csv", "not a table")
	must(t, os.Mkdir(filepath.Join(dir, "old.csv"), 0o700))
	g := newRig(t, s, []string{dir}, Options{})

	result, state, _ := g.once(t, "")
	if result.Unchanged || state.Rows != (data.RefreshRows{Added: 3}) || state.LastSuccess.IsZero() || len(g.waited) > 0 {
		t.Errorf("the first time: %+v, %+v, waits %v", result, state, g.waited)
	}
	holds(t, s, 1, 2, "5")
	if result, state, _ = g.once(t, ""); !result.Unchanged || state.Rows.Added != 3 {
		t.Errorf("the second time: %+v, %+v, want nothing new", result, state)
	}
	write(t, dir, "observations.csv", more)
	if result, state, _ = g.once(t, ""); result.Unchanged || state.Rows != (data.RefreshRows{Added: 1, Changed: 1, Unchanged: 2}) {
		t.Errorf("changed: %+v, %+v", result, state)
	}
	holds(t, s, 2, 2, "6", "7")
	// Another name is another file, with the same rows.
	must(t, os.Rename(filepath.Join(dir, "observations.csv"), filepath.Join(dir, "observations-2.csv")))
	if result, state, _ = g.once(t, ""); result.Unchanged || state.Rows != (data.RefreshRows{Unchanged: 4}) {
		t.Errorf("renamed: %+v, %+v", result, state)
	}
	holds(t, s, 2, 2, "6", "7")
}

func TestFolderRejects(t *testing.T) {
	wrong := sumText("other", "observations.csv")
	tests := []struct {
		name   string
		files  map[string]string
		opts   Options
		reason string
		err    string
		rows   data.RefreshRows
	}{
		{"empty", nil, Options{}, emptyReason, "has no file whose name ends in .csv", data.RefreshRows{}},
		{"a bad row", map[string]string{"o.csv": observations + "a,2024-07-02,-3,satellite\n", "l.csv": lakes}, Options{},
			rowsReason, "1 of 4 rows rejected", data.RefreshRows{Rejected: 1}},
		{"repeated rows", map[string]string{"l.csv": lakes, "o.csv": observations + strings.Repeat("a,2024-07-02,3,satellite\n", 10_100)}, Options{},
			repeatsReason, "is repeated more than", data.RefreshRows{}},
		{"neither of both", map[string]string{"l.csv": lakes, "o.csv": "name,value\n"}, Options{}, formReason, "o.csv: it holds neither lakes", data.RefreshRows{}},
		{"a wrong checksum", map[string]string{"l.csv": lakes, "observations.csv": observations, "observations.csv.sha256": wrong}, Options{},
			checksumReason, "but observations.csv.sha256 has", data.RefreshRows{}},
		{"no checksum", map[string]string{"l.csv": lakes}, Options{RequireChecksum: true}, noChecksumReason, "l.csv.sha256 is missing", data.RefreshRows{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, dir := storetest.New(t), t.TempDir()
			for name, text := range test.files {
				write(t, dir, name, text)
			}
			g := newRig(t, s, []string{dir}, test.opts)
			for i := range 2 { // a rejected file is read again
				_, state, err := g.once(t, test.reason)
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want an error that contains %q", err, test.err)
				}
				if state.Failures != i+1 || !state.LastSuccess.IsZero() || state.Rows != test.rows {
					t.Errorf("the database says %+v, want %d failures and rows %+v", state, i+1, test.rows)
				}
				if strings.Contains(state.LastError, dir) {
					t.Errorf("the reason %q names the folder", state.LastError)
				}
			}
			holds(t, s, 0, 0)
		})
	}
}

// With SkipBad the good rows are imported, and the next refresh reads the file again, since bad rows may be good then.
func TestSkipBad(t *testing.T) {
	s, dir := storetest.New(t), t.TempDir()
	write(t, dir, "l.csv", lakes)
	write(t, dir, "o.csv", observations+"c,2024-07-01,9,satellite\n")
	g := newRig(t, s, []string{dir}, Options{SkipBad: true})
	for _, want := range []data.RefreshRows{{Added: 3, Rejected: 1}, {Unchanged: 3, Rejected: 1}} {
		if result, state, _ := g.once(t, ""); result.Unchanged || state.Rows != want {
			t.Errorf("%+v, %+v; want rows %+v", result, state, want)
		}
	}
	write(t, dir, "l.csv", lakes+"c,See C,52,12\n")
	if _, state, _ := g.once(t, ""); state.Rows != (data.RefreshRows{Added: 2, Unchanged: 3}) {
		t.Errorf("with its lake: %+v", state)
	}
	holds(t, s, 2, 3, "5", "9")
}

// A file that is being written to is not read before it is complete.
func TestFolderThatIsWrittenTo(t *testing.T) {
	s, dir := storetest.New(t), t.TempDir()
	path := filepath.Join(dir, "lakes.csv")
	rest := strings.SplitAfter(lakes, "\n")
	grow := func() {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.WriteString(rest[0])
			err = errors.Join(err, f.Close())
		}
		must(t, err)
		rest = rest[1:]
	}
	grow()
	g := newRig(t, s, []string{dir}, Options{})
	waits := 0
	g.sleep = func(context.Context, time.Duration) error {
		if waits++; len(rest) > 0 {
			grow()
		}
		return nil
	}
	g.once(t, "")
	if waits < 3 {
		t.Errorf("it waited %d times, want once for each line and once more", waits)
	}
	holds(t, s, 1, 2)

	endless := func(context.Context, time.Duration) error {
		waits++
		return os.WriteFile(path, []byte(lakes+strings.Repeat("\n", waits)), 0o600)
	}
	g.sleep = endless
	now := time.Now()
	must(t, os.Chtimes(path, now, now))
	if _, _, err := g.once(t, changingReason); err == nil || !strings.Contains(err.Error(), "has been changing for a minute") {
		t.Errorf("error %v", err)
	}
}

// collected returns what is at the source, for a first refresh that is claimed.
func (g *rig) collected(t *testing.T) (*claim, *input) {
	t.Helper()
	if ok, err := g.store.LeaseRefresh(t.Context(), 0, "me", time.Minute); !ok || err != nil {
		t.Fatal(ok, err)
	}
	in, err := g.collect(t.Context(), nil, g.newLateTables(t.Context()))
	must(t, err)
	t.Cleanup(in.files.close)
	return g.keepClaim(t.Context(), "me"), in
}

// A file that changes during the import fails the import.
func TestFileThatChangesWhileItIsRead(t *testing.T) {
	for name, change := range map[string]func(string) error{
		"appended to": func(path string) error {
			return os.WriteFile(path, []byte(lakes+"c,See C,52,12\n"), 0o600)
		},
		"written over": func(path string) error {
			return os.WriteFile(path, []byte(strings.ReplaceAll(lakes, "See B", "See X")), 0o600)
		},
		"cut": func(path string) error { return os.Truncate(path, int64(len(lakes)-12)) },
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := storetest.New(t), t.TempDir()
			path := write(t, dir, "lakes.csv", lakes)
			g := newRig(t, s, []string{dir}, Options{})
			c, in := g.collected(t)
			must(t, change(path))
			_, err := g.importFiles(c, in, c.endImport)
			if err == nil || name != "cut" && reasonOf(err) != changingReason {
				t.Errorf("importFiles = %v, want %q", err, changingReason)
			}
			holds(t, s, 0, 0)
		})
	}
}

// A file replaced by a rename is read completely in its old state.
func TestFileThatIsReplacedWhileItIsRead(t *testing.T) {
	s, dir := storetest.New(t), t.TempDir()
	path := write(t, dir, "lakes.csv", lakes)
	g := newRig(t, s, []string{dir}, Options{})
	c, in := g.collected(t)
	must(t, os.Rename(write(t, dir, "next.tmp", lakes+"c,See C,52,12\n"), path))
	if _, err := g.importFiles(c, in, c.endImport); err != nil {
		t.Error(err)
	}
	holds(t, s, 1, 2)
	if result, _, _ := g.once(t, ""); result.Unchanged || result.Reports.Lakes.Added != 1 {
		t.Errorf("the next time: %+v, want the lake that was added", result)
	}
}

func TestTooManyFiles(t *testing.T) {
	s, dir := storetest.New(t), t.TempDir()
	for i := range maxFiles + 1 {
		write(t, dir, fmt.Sprintf("%d.csv", i), lakes)
	}
	newRig(t, s, []string{dir}, Options{}).once(t, folderReason)
}

// A folder with very many other files is an error, and is not listed completely.
func TestTooManyNames(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "lakes.csv", lakes)
	for i := range maxNames {
		must(t, os.Symlink("nothing", filepath.Join(dir, fmt.Sprint(i))))
	}
	newRig(t, storetest.New(t), []string{dir}, Options{}).once(t, folderReason)
}

func TestMissingFolder(t *testing.T) {
	s, dir := storetest.New(t), filepath.Join(t.TempDir(), "in")
	must(t, os.Mkdir(dir, 0o700))
	g := newRig(t, s, []string{dir}, Options{})
	must(t, os.Remove(dir))
	if _, state, _ := g.once(t, folderReason); strings.Contains(state.LastError, dir) {
		t.Errorf("the database says %q, which names the folder", state.LastError)
	}
}

func TestNewRejects(t *testing.T) {
	s, dir := storetest.New(t), t.TempDir()
	file := write(t, dir, "lakes.csv", lakes)
	tests := []struct {
		name string
		from []string
		err  string
	}{
		{"none", nil, "there is no source"},
		{"empty", []string{""}, "the source is empty"},
		{"no folder", []string{filepath.Join(dir, "none")}, "no such file"},
		{"a file", []string{file}, "is not a folder"},
		{"another scheme", []string{"ftp://user:secret@example.org/x.csv"}, "is not an http:// or https:// URL"},
		{"not a URL", []string{"http://user:secret@exa mple.org/"}, "is not an http:// or https:// URL"},
		{"a folder twice", []string{dir, dir + "/."}, "is named twice"},
		{"a URL twice", []string{"http://a:secret@example.org/x.csv", "http://b:secret@example.org/x.csv#y"}, "http://example.org/x.csv is named twice"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := New(s, sourcesOf(test.from...), nil)
			if err == nil || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("New(%q) = %v, want an error that contains %q and no secret", test.from, err, test.err)
			}
		})
	}
}
