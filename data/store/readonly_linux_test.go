package store

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"limnomap/data"
	"limnomap/data/testsize"
)

// A database on a read-only file system is read and copied, and errors of writing say why.
func TestReadOnlyFileSystem(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
		testsize.LeaveOut(t, "mounting a file system needs the rights of root: "+err.Error())
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(dir, "lakes.db")
	s := openFile(t, path, true)
	put(t, &s.Store, []data.Lake{testLake("a")}, []data.Observation{testObservation("a", 1, data.Satellite, 100)})
	log, err := os.ReadFile(path + "-wal")
	if err != nil || len(log) == 0 {
		t.Fatalf("the log has %d bytes, %v", len(log), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	remount := func(flags uintptr) {
		t.Helper()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, ""); err != nil {
			t.Fatal(err)
		}
	}
	remount(syscall.MS_RDONLY)
	frozen, err := Open(t.Context(), path, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, lakes, observations := scan(t, frozen); len(lakes) != 1 || len(observations) != 1 || observations[0].Chlorophyll != 100 {
		t.Errorf("%d lakes and %d observations were read", len(lakes), len(observations))
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	if _, err := Backup(t.Context(), path, copied, nil); err != nil {
		t.Errorf("copied: %v", err)
	}
	if _, lakes, _ := scan(t, &openFile(t, copied, false).Store); len(lakes) != 1 {
		t.Errorf("the copy has %d lakes", len(lakes))
	}
	err = frozen.Import(t.Context(), func(tx Tx) error {
		_, err := tx.PutLakes(t.Context(), []data.Lake{testLake("b")}, LakeColumns{})
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("an import says %v, want that the file system is read-only", err)
	}
	if err := frozen.Close(); err != nil {
		t.Error(err)
	}

	// A log is a part of the database.
	remount(0)
	if err := os.WriteFile(path+"-wal", log, 0o600); err != nil {
		t.Fatal(err)
	}
	remount(syscall.MS_RDONLY)
	if _, err := Open(t.Context(), path, false); err == nil || !strings.Contains(err.Error(), "lakes.db-wal") {
		t.Errorf("with a log: %v, want an error that names it", err)
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "new.db"), true); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("a new database: %v, want that the file system is read-only", err)
	}
}
