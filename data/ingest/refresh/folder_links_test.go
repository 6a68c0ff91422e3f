package refresh

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"limnomap/data/store/storetest"
)

// Links are followed within the folder, as in a Kubernetes volume, and not out of it: neither to data nor, as a checksum file,
// to a file that the report would quote.
func TestLinksInAFolder(t *testing.T) {
	outside := t.TempDir()
	write(t, outside, "lakes.csv", lakes)
	for _, tt := range []struct{ name, link, target, reason string }{
		{"within", "lakes.csv", filepath.Join("..data", "lakes.csv"), ""},
		{"out of it", "lakes.csv", filepath.Join(outside, "lakes.csv"), folderReason},
		{"by a folder", "lakes.csv", filepath.Join("away", "lakes.csv"), folderReason},
		{"checksum", "good.csv" + checksumEnd, filepath.Join(outside, "lakes.csv"), folderReason},
		{"nowhere", "lakes.csv", "gone.csv", folderReason},
		{"a device", "lakes.csv", os.DevNull, folderReason},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := errors.Join(os.Mkdir(filepath.Join(dir, "..1"), 0o755), os.Symlink("..1", filepath.Join(dir, "..data")),
				os.Symlink(outside, filepath.Join(dir, "away")), os.Symlink(tt.target, filepath.Join(dir, tt.link))); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "..1"), "lakes.csv", lakes)
			if tt.name == "checksum" {
				write(t, dir, "good.csv", lakes)
			}
			if _, _, err := newRig(t, storetest.New(t), []string{dir}, Options{}).once(t, tt.reason); tt.reason != "" && !errors.Is(err, errLink) {
				t.Errorf("error = %v, want %v", err, errLink)
			}
		})
	}
}
