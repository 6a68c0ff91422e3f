// Package hashtest compares encoded files with the SHA-256 hashes that are committed under a version. A golden picture
// tolerates small differences; these hashes do not: they fail when a single byte changes and the version does not.
package hashtest

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A File is an encoded file and its name in the list of hashes.
type File struct {
	Name  string
	Bytes []byte
}

// Check compares files with testdata/hashes_<version>.txt, which has one line "hash name" per file. With update it adds
// missing names, and never replaces a hash: other bytes need another version.
func Check(t *testing.T, version string, files []File, update bool) {
	t.Helper()
	path := filepath.Join("testdata", "hashes_"+version+".txt")
	filed, err := read(path)
	if err != nil && !(update && errors.Is(err, fs.ErrNotExist)) {
		t.Fatalf("%v: -update writes the hashes of a new version", err)
	}
	changed := 0
	for _, f := range files {
		got := fmt.Sprintf("%x", sha256.Sum256(f.Bytes))
		want, ok := filed[f.Name]
		switch {
		case !ok && update:
			filed[f.Name] = got
		case !ok:
			t.Errorf("%s has no hash in %s: -update adds it", f.Name, path)
		case got != want:
			if changed++; changed <= 10 {
				t.Errorf("%s has other bytes in version %s: its hash is %s, filed is %s", f.Name, version, got, want)
			}
		}
	}
	if changed > 0 {
		t.Errorf("%d of %d files changed, and the version is still %s: restore the bytes, or change the version", changed, len(files), version)
	}
	for name := range filed {
		if !slices.ContainsFunc(files, func(f File) bool { return f.Name == name }) {
			t.Errorf("%s has a hash of %s, which is no longer drawn", path, name)
		}
	}
	if update && !t.Failed() {
		write(t, path, filed)
	}
}

// read returns the hashes of a list by name. If it cannot, the map is empty and not nil.
func read(path string) (map[string]string, error) {
	hashes := make(map[string]string)
	f, err := os.Open(path)
	if err != nil {
		return hashes, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		hash, name, ok := strings.Cut(lines.Text(), " ")
		if !ok {
			return hashes, fmt.Errorf("%s: line %q is not \"hash name\"", path, lines.Text())
		}
		hashes[name] = hash
	}
	return hashes, lines.Err()
}

func write(t *testing.T, path string, hashes map[string]string) {
	t.Helper()
	var names []string
	for name := range hashes {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintln(&b, hashes[name], name)
	}
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
