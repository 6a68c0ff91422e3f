package refresh

import (
	"path/filepath"
	"syscall"
	"testing"

	"limnomap/data/store/storetest"
)

// A pipe in a folder must not block: it would block this refresh and, since its claim is kept, all later ones.
func TestPipesInAFolder(t *testing.T) {
	for _, test := range []struct{ name, pipe, reason string }{
		{"as data", "more.csv", ""}, // not a regular file, so it is ignored
		{"as checksum", "lakes.csv" + checksumEnd, folderReason},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "lakes.csv", lakes)
			must(t, syscall.Mkfifo(filepath.Join(dir, test.pipe), 0o600))
			newRig(t, storetest.New(t), []string{dir}, Options{}).once(t, test.reason)
		})
	}
	t.Run("instead of a file", func(t *testing.T) { // replaced between the listing and the opening
		name := filepath.Join(t.TempDir(), "lakes.csv")
		must(t, syscall.Mkfifo(name, 0o600))
		if f, err := openRegular(name); err == nil {
			f.Close()
			t.Error("a pipe was opened as a file")
		}
	})
}
