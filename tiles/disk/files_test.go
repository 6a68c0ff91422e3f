package disk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestFolderWithNameOfEntry makes a folder that is not empty where the file of an entry should be. Only that entry may be
// affected.
func TestFolderWithNameOfEntry(t *testing.T) {
	dir := t.TempDir()
	c := newSyncCache(t, dir, 1<<20, newTestClock())
	foreign := filepath.Join(entryPath(dir, 1), "foreign")
	must(t, os.MkdirAll(filepath.Dir(foreign), 0o755), os.WriteFile(foreign, nil, 0o644))
	if _, ok := c.get(1); ok {
		t.Error("a folder is a hit, want a miss")
	}
	c.put(1, "a tile")
	c.put(2, "a tile")
	if _, ok := c.get(2); !ok {
		t.Error("another entry is not kept")
	}
	if got := testutil.ToFloat64(c.metrics.writeFaults) + testutil.ToFloat64(c.metrics.writeFailing); got != 0 {
		t.Errorf("%v write faults counted, want none", got)
	}
	if got := testutil.ToFloat64(c.metrics.dropped); got != 1 {
		t.Errorf("%v dropped entries counted, want 1", got)
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Errorf("the file in the folder: %v", err)
	}
	if temps, err := filepath.Glob(filepath.Join(dir, "*", "*"+tempSuffix)); err != nil || len(temps) > 0 {
		t.Errorf("temporary files %q, %v; want none", temps, err)
	}
}

func TestParseSumName(t *testing.T) {
	for n := range 100 {
		s := numberedSum(n)
		if got, ok := parseSumName(sumName(s)); !ok || got != s {
			t.Fatalf("parseSumName(%s) = %x, %v", sumName(s), got, ok)
		}
	}
	zero := sumName(sum{})
	for _, name := range []string{"", "README", zero[1:], zero + "00", "AA" + zero[2:], "zz" + zero[2:]} {
		if _, ok := parseSumName(name); ok {
			t.Errorf("parseSumName(%q) is ok, want not: the cache makes no such name", name)
		}
	}
}

// A folder that is removed while its files are listed has no more of them, which is no fault.
func TestWalkFilesOfARemovedFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := strings.Repeat("ab", len(sum{}))
	if err := os.MkdirAll(filepath.Join(dir, "ab"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ab", name), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	visited := 0
	err = walkFiles(t.Context(), root, func(file) error {
		visited++
		return os.RemoveAll(filepath.Join(dir, "ab"))
	})
	if err != nil || visited != 1 {
		t.Errorf("%d files visited, %v; want one", visited, err)
	}
}
