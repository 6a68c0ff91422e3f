package refresh

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe in a folder is never waited for: it would hold up this refresh and, as its claim is kept, all later ones.
func TestPipesInAFolder(t *testing.T) {
	for _, test := range []struct{ name, pipe, reason string }{
		{"as data", "more.csv", ""}, // no regular file, and so none of ours
		{"as checksum", "lakes.csv" + checksumEnd, folderReason},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "lakes.csv", lakes)
			if err := syscall.Mkfifo(filepath.Join(dir, test.pipe), 0o600); err != nil {
				t.Fatal(err)
			}
			newRig(t, openStore(t), []string{dir}, Options{}).once(t, test.reason)
		})
	}
	t.Run("in the place of a file", func(t *testing.T) { // between the look and the opening
		name := filepath.Join(t.TempDir(), "lakes.csv")
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
		if f, err := openRegular(name); err == nil {
			f.Close()
			t.Error("a pipe was opened as a file")
		}
	})
}
