package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"limnomap/data"
	"limnomap/data/testsize"
)

// mount mounts a file system on a new folder. Only root may do that, and not in every container.
func mount(t *testing.T, source, kind string, flags uintptr, options string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount(source, dir, kind, flags, options); err != nil {
		testsize.LeaveOut(t, "mounting a file system needs the rights of root: "+err.Error())
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// putLake stores a lake with a value.
func putLake(ctx context.Context, s *Store, id data.LakeID) error {
	return s.Import(ctx, func(tx Tx) error {
		if _, err := tx.PutLakes(ctx, []data.Lake{testLake(string(id))}, LakeColumns{}); err != nil {
			return err
		}
		_, err := tx.PutObservations(ctx, []data.Observation{testObservation(id, 1, data.Satellite, 100)}, ObservationColumns{})
		return err
	})
}

func wantLakes(t *testing.T, s *Store, want int) {
	t.Helper()
	if _, lakes, observations := scan(t, s); len(lakes) != want || len(observations) != want {
		t.Errorf("%d lakes and %d observations were read, want %d", len(lakes), len(observations), want)
	}
}

// A database on a read-only file system is read and copied, and errors of writing say why.
func TestReadOnlyFileSystem(t *testing.T) {
	dir := mount(t, "tmpfs", "tmpfs", 0, "size=8m")
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
	wantLakes(t, frozen, 1)
	if why := frozen.ReadOnly(); !strings.Contains(why, "read-only") {
		t.Errorf("ReadOnly = %q", why)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	if _, err := Backup(t.Context(), path, copied, nil); err != nil {
		t.Errorf("copied: %v", err)
	}
	wantLakes(t, &openFile(t, copied, false).Store, 1)
	if err := putLake(t.Context(), frozen, "b"); err == nil || !strings.Contains(err.Error(), "read-only") {
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

// A database on a file system that is read-only here only is followed while another process writes to it.
func TestReadOnlyMountOfABusyDatabase(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lakes.db")
	s := openFile(t, path, true)
	if err := putLake(t.Context(), &s.Store, "a"); err != nil {
		t.Fatal(err)
	}
	view := mount(t, dir, "", syscall.MS_BIND, "")
	if err := syscall.Mount("", view, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	busy := openFile(t, filepath.Join(view, "lakes.db"), false) // while the writer has it open
	wantLakes(t, &busy.Store, 1)
	if err := putLake(t.Context(), &s.Store, "b"); err != nil {
		t.Fatal(err)
	}
	wantLakes(t, &busy.Store, 2)
	busy.Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	idle := openFile(t, filepath.Join(view, "lakes.db"), false) // while nobody has
	wantLakes(t, &idle.Store, 2)
	for round, id := range []data.LakeID{"c", "d"} {
		s := openFile(t, path, false)
		if err := putLake(t.Context(), &s.Store, id); err != nil {
			t.Fatal(err)
		}
		wantLakes(t, &idle.Store, 3+round) // with the log
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		wantLakes(t, &idle.Store, 3+round) // without
	}
	if err := putLake(t.Context(), &idle.Store, "e"); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("an import says %v, want that the file system is read-only", err)
	}
}

// A database on a full disk is read and copied, also if SQLite has no room for its files there. It can be written to again when there is room.
func TestFullDisk(t *testing.T) {
	for _, tt := range []struct{ name, options string }{
		{"no room", "size=1m"},
		{"no more files", "size=8m,nr_inodes=5"}, // one is the folder
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := mount(t, "tmpfs", "tmpfs", 0, tt.options)
			path := filepath.Join(dir, "lakes.db")
			s := openFile(t, path, true)
			if err := putLake(t.Context(), &s.Store, "a"); err != nil {
				t.Fatal(err)
			}
			log, err := os.ReadFile(path + "-wal")
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			var fillers []string
			fill := func() {
				t.Helper()
				for err = error(nil); err == nil; {
					fillers = append(fillers, filepath.Join(dir, fmt.Sprint("filler", len(fillers))))
					err = os.WriteFile(fillers[len(fillers)-1], make([]byte, 16<<10), 0o600)
				}
				if !errors.Is(err, syscall.ENOSPC) {
					t.Fatal(err)
				}
			}
			empty := func() {
				for _, name := range fillers {
					os.Remove(name)
				}
				fillers = nil
			}
			fill()
			full := &openFile(t, path, false).Store
			for range 2 { // a failed import changes nothing
				wantLakes(t, full, 1)
				if why := full.ReadOnly(); why != "its disk is full" {
					t.Errorf("ReadOnly = %q", why)
				}
				if err := putLake(t.Context(), full, "b"); err == nil || !strings.Contains(err.Error(), "the disk is full") {
					t.Errorf("an import says %v, want that the disk is full", err)
				}
			}
			again := &openFile(t, path, false).Store // after what the failed import left
			wantLakes(t, again, 1)
			copied := filepath.Join(t.TempDir(), "copy.db")
			if _, err := Backup(t.Context(), path, copied, nil); err != nil {
				t.Errorf("copied: %v", err)
			}
			wantLakes(t, &openFile(t, copied, false).Store, 1)

			empty()
			if err := putLake(t.Context(), full, "b"); err != nil {
				t.Errorf("with room: %v", err)
			}
			wantLakes(t, full, 2)
			wantLakes(t, again, 2)
			if why := full.ReadOnly(); why != "" {
				t.Errorf("with room: ReadOnly = %q", why)
			}

			// A log is a part of the database.
			for _, s := range []*Store{full, again} {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(path+"-wal", log, 0o600); err != nil {
				t.Fatal(err)
			}
			fill()
			if _, err := Open(t.Context(), path, false); err == nil || !strings.Contains(err.Error(), "full") || !strings.Contains(err.Error(), "lakes.db-wal") {
				t.Errorf("with a log: %v, want an error that names it and the full disk", err)
			}
		})
	}
}
