package tiles

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestFolderInPlaceOfAnEntry has one tile's file be a folder with something in it, which only that tile may feel.
func TestFolderInPlaceOfAnEntry(t *testing.T) {
	dir := t.TempDir()
	d := newTestDisk(t, dir, 1<<20, newTestClock())
	precious := filepath.Join(entryPath(dir, numberedKey(1)), "precious")
	mustDo(t, os.MkdirAll(filepath.Dir(precious), 0o755), os.WriteFile(precious, nil, 0o644))
	if _, ok := d.get(numberedKey(1)); ok {
		t.Error("a folder is a hit, want a miss")
	}
	d.put(numberedKey(1), newTile([]byte("a tile")))
	d.put(numberedKey(2), newTile([]byte("a tile")))
	if _, ok := d.get(numberedKey(2)); !ok {
		t.Error("another tile is not kept")
	}
	if got := testutil.ToFloat64(d.metrics.writeFaults) + testutil.ToFloat64(d.metrics.writeFailing); got != 0 {
		t.Errorf("it counts as %v faults of the disk, want none", got)
	}
	if got := testutil.ToFloat64(d.metrics.dropped); got != 1 {
		t.Errorf("%v tiles counted as dropped, want 1", got)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Errorf("what was in the folder: %v", err)
	}
	if temps, err := filepath.Glob(filepath.Join(dir, "*", "*"+tempSuffix)); err != nil || len(temps) > 0 {
		t.Errorf("unfinished files %q, %v; want none", temps, err)
	}
}
