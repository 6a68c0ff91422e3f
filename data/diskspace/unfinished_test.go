package diskspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What killed processes have left is removed for the same path, and nothing else: no file in use, of another path or of another form.
func TestUnfinished(t *testing.T) {
	if !Known {
		t.Skip("this system has no locks")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "map.pmtiles")
	used, err := CreateUnfinished(path, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	usedFolder, err := MakeUnfinished(path, 0o777)
	if err != nil {
		t.Fatal(err)
	}
	defer usedFolder.Close()
	kept := []string{filepath.Base(used.Name()), filepath.Base(usedFolder.Name())}
	for _, name := range []string{".other.pmtiles.0123456789abcdef.tmp", ".map.pmtiles.x.tmp", ".map.pmtiles.0123456789abcdef.tmp.txt", "map.pmtiles", ".map.pmtiles.0123456789abcde.tmp"} {
		kept = append(kept, name)
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, ".map.pmtiles.00000000000000ff.tmp")); err != nil {
		t.Fatal(err)
	}
	kept = append(kept, ".map.pmtiles.00000000000000ff.tmp")
	if err := os.WriteFile(filepath.Join(dir, ".map.pmtiles.0123456789abcdef.tmp"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, ".map.pmtiles.fedcba9876543210.tmp", "1", "2"), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := CreateUnfinished(path, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	kept = append(kept, filepath.Base(f.Name()))
	slices.Sort(kept)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, kept) {
		t.Errorf("left are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(kept, "\n"))
	}
}
