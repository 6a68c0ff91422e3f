package archive

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/paulmach/orb/maptile"
)

// What a killed export has left is removed by the next one of the same archive, but not what another export is writing.
func TestLeftoversOfKilledExports(t *testing.T) {
	for _, name := range []string{"map.pmtiles", "map.mbtiles", "map/"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			begin := filepath.Join(dir, "."+filepath.Base(name)+".")
			must(t, os.WriteFile(begin+"0123456789abcdef.tmp", []byte("part"), 0o600))
			must(t, os.MkdirAll(begin+"fedcba9876543210.tmp/3", 0o700))
			path := dir + "/" + name
			first, err := Create(path, testMetadata())
			must(t, err)
			defer first.Abort()
			for _, end := range []string{"0123456789abcdef.tmp", "fedcba9876543210.tmp"} {
				if _, err := os.Lstat(begin + end); err == nil {
					t.Errorf("%s is left", begin+end)
				}
			}
			second, err := Create(path, testMetadata())
			must(t, err)
			second.Abort()
			if err := first.Add(maptile.New(0, 0, 0), []byte("a")); err != nil {
				t.Error(err)
			}
			if err := first.Close(); err != nil {
				t.Errorf("the first export: %v", err)
			}
			if left, _ := filepath.Glob(begin + "*"); len(left) > 0 {
				t.Errorf("%q are left", left)
			}
		})
	}
}
