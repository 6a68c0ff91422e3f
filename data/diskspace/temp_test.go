package diskspace

import (
	"io"
	"os"
	"testing"
)

// A temporary file can be read again, and nothing is left of it, also where an open file cannot be removed.
func TestTemp(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir) // of Unix
	t.Setenv("TMP", dir)    // of Windows
	for _, named := range []bool{false, true} {
		temp, err := CreateTemp("test-*")
		if err != nil {
			t.Fatal(err)
		}
		if named && !temp.named { // as if it could not be removed
			if err := os.WriteFile(temp.Name(), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			temp.named = true
		}
		if _, err := io.WriteString(temp, "lakes"); err != nil {
			t.Fatal(err)
		}
		if _, err := temp.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(temp); string(text) != "lakes" || err != nil {
			t.Errorf("it holds %q, %v", text, err)
		}
		if err := temp.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
			t.Errorf("named %t: %v is left, %v", named, left, err)
		}
	}
}
