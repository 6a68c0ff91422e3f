package store

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"limnomap/data"
)

// asNobody runs the calling test in a process of a user without rights, since root may write to every file.
func asNobody(t *testing.T) {
	const nobody = 65534
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	readable := filepath.Join(dir, "store.test") // the user may not read the build folder
	for _, err := range []error{os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755), os.WriteFile(readable, binary, 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), readable, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = []string{"TMPDIR=" + os.TempDir()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}

func TestPermissions(t *testing.T) {
	if os.Getuid() == 0 {
		asNobody(t)
		return
	}
	dir := t.TempDir()
	template := filepath.Join(dir, "template.db")
	s, err := Open(t.Context(), template, true)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, []data.Lake{testLake("a")}, nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(template)
	if err != nil {
		t.Fatal(err)
	}
	place := func(folder string, folderMode os.FileMode, file string, fileMode os.FileMode) string {
		t.Helper()
		path := filepath.Join(dir, folder, file)
		for _, err := range []error{
			os.Mkdir(filepath.Join(dir, folder), 0o755),
			os.WriteFile(path, content, 0o600),
			os.Chmod(path, fileMode),
			os.Chmod(filepath.Join(dir, folder), folderMode),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	readable := place("open", 0o777, "readable.db", 0o444)
	secret := place("secrets", 0o777, "secret.db", 0)
	locked := place("locked", 0o555, "lakes.db", 0o666)
	t.Cleanup(func() { // so that it can be removed
		if err := os.Chmod(filepath.Dir(locked), 0o755); err != nil {
			t.Error(err)
		}
	})

	for _, test := range []struct{ name, path, want string }{
		{"file that may not be read", secret, "check the permissions of the file"},
		{"folder without write permission", locked, "no permission to write to the file or its folder"},
		{"no file in such a folder", filepath.Join(filepath.Dir(locked), "new.db"), "check the permissions of the file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := Open(t.Context(), test.path, true)
			if err == nil {
				s.Close()
				t.Fatal("Open succeeded")
			}
			if !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), test.path) {
				t.Errorf("Open = %v, want %q and the path", err, test.want)
			}
		})
	}

	// A read-only file can be served, and an import into it fails with an explanation.
	s = &openFile(t, readable, false).Store
	if _, lakes, _ := scan(t, s); len(lakes) != 1 {
		t.Errorf("a file that can only be read has %d lakes, want 1", len(lakes))
	}
	err = s.Import(t.Context(), func(tx Tx) error {
		_, err := tx.PutLakes(t.Context(), []data.Lake{testLake("b")}, LakeColumns{})
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "no permission to write to") {
		t.Errorf("an import into it = %v, want an explanation", err)
	}
}
