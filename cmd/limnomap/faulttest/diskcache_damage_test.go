//go:build unix

package faulttest

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"syscall"
	"testing"

	"limnomap/internal/testsize"
)

// A damage changes the file of a cache entry.
type damage struct {
	name    string
	do      func(path string, content []byte) error // content is that of the file before
	removed bool                                    // the file is removed, which does not count as damage
}

// damages returns everything that can replace an entry and, for every n-th byte of an entry of that size, a file cut before
// that byte and one with each of those bits flipped. another is the file of another tile.
func damages(size, n int, bits func(position int) []int, another string) []damage {
	rewrite := func(change func(content []byte) []byte) func(string, []byte) error {
		return func(path string, content []byte) error {
			return os.WriteFile(path, change(slices.Clone(content)), 0o644)
		}
	}
	replace := func(by func(path string) error) func(string, []byte) error {
		return func(path string, _ []byte) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return by(path)
		}
	}
	list := []damage{
		{"removed", replace(func(string) error { return nil }), true},
		{"one byte longer", rewrite(func(content []byte) []byte { return append(content, 0) }), false},
		{"longer than any tile", func(path string, _ []byte) error { return os.Truncate(path, 8<<20) }, false},
		{"repeated", rewrite(func(content []byte) []byte { return append(content, content...) }), false},
		{"zeroed", rewrite(func(content []byte) []byte { return make([]byte, len(content)) }), false},
		{"only the PNG", rewrite(func(content []byte) []byte { return content[bytes.Index(content, []byte("\x89PNG")):] }), false},
		{"copy of another tile", replace(func(path string) error {
			raw, err := os.ReadFile(another)
			if err != nil {
				return err
			}
			return os.WriteFile(path, raw, 0o644)
		}), false},
		{"symbolic link to another tile", replace(func(path string) error { return os.Symlink(another, path) }), false},
		{"hard link to another tile", replace(func(path string) error { return os.Link(another, path) }), false},
		{"symbolic link to a missing file", replace(func(path string) error { return os.Symlink("missing", path) }), false},
		{"symbolic link to itself", replace(func(path string) error { return os.Symlink(path, path) }), false},
		{"folder", replace(func(path string) error { return os.Mkdir(path, 0o755) }), false},
		{"pipe without a writer", replace(func(path string) error { return syscall.Mkfifo(path, 0o644) }), false},
	}
	for i := 0; i < size; i += n {
		list = append(list, damage{fmt.Sprintf("cut to %d bytes", i), func(path string, _ []byte) error { return os.Truncate(path, int64(i)) }, false})
		for _, bit := range bits(i) {
			list = append(list, damage{fmt.Sprintf("bit %d of byte %d flipped", bit, i), rewrite(func(content []byte) []byte {
				content[i] ^= 1 << bit
				return content
			}), false})
		}
	}
	return list
}

// TestDamagedDiskCacheEntries damages each entry of a cache in another way. All tiles are right, all damaged entries are
// counted, and afterwards each file has its original content again.
func TestDamagedDiskCacheEntries(t *testing.T) {
	t.Parallel()
	paths := dotTiles()
	n, bits := 1, func(int) []int { return []int{0, 1, 2, 3, 4, 5, 6, 7} }
	if !testsize.Long { // package tiles tests reading an entry with every byte damaged
		paths, n = everyNth(paths, 16), 3
		bits = func(position int) []int { return []int{position % 8} }
	}
	db, dir := newGermanDB(t), t.TempDir()
	want := newExpectedTiles(t, db, paths)
	flags := serverFlags(db, "--cache-dir", dir)
	for dropped, rounds := 1.0, 0; dropped > 0 && rounds < 5; rounds++ { // tiles are not written if the queue is full
		s := start(t, flags...)
		want.check(t, s, paths)
		dropped = s.Metric(t, "limnomap_tile_disk_dropped_total")
		s.Stop(t)
	}

	entries := filesIn(t, dir).entries
	before := make(map[string][]byte)
	smallest := math.MaxInt
	for _, path := range entries {
		raw, err := os.ReadFile(path)
		must(t, err)
		before[path] = raw
		smallest = min(smallest, len(raw))
	}
	list := damages(smallest, n, bits, entries[0])
	if len(entries) <= len(list) {
		t.Fatalf("%d entries for %d kinds of damage: request more tiles", len(entries), len(list))
	}
	damageOf := make(map[string]string)
	damaged := 0
	for i, d := range list {
		path := entries[i+1]
		if err := d.do(path, before[path]); err != nil {
			t.Fatalf("%s: %v", d.name, err)
		}
		damageOf[path] = d.name
		if !d.removed {
			damaged++
		}
	}

	s := start(t, flags...)
	want.check(t, s, paths)
	if got := s.Metric(t, "limnomap_tile_disk_damaged_total"); got != float64(damaged) {
		t.Errorf("%v damaged entries were found, want %d", got, damaged)
	}
	if got, want := s.Metric(t, `limnomap_tile_cache_hits_total{tier="disk"}`), len(entries)-len(list); got != float64(want) {
		t.Errorf("%v tiles came from disk, want the %d whose entries are not damaged", got, want)
	}
	if got := s.Metric(t, `limnomap_tile_disk_faults_total{operation="read"}`); got != 0 {
		t.Errorf("%v reads failed, want none: a damaged entry is not a disk fault", got)
	}
	dropped := s.Metric(t, "limnomap_tile_disk_dropped_total")
	s.Stop(t)
	t.Logf("%d entries of at least %d bytes, %d damaged, %v tiles not written again", len(entries), smallest, len(list), dropped)
	for _, path := range entries {
		info, err := os.Lstat(path)
		if os.IsNotExist(err) && dropped > 0 {
			dropped-- // the tile was not written since the queue was full
			continue
		}
		if err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s is not repaired: %v, %v", damageOf[path], info, err)
			continue
		}
		if raw, err := os.ReadFile(path); err != nil || !bytes.Equal(raw, before[path]) {
			t.Errorf("%s is not repaired: %d bytes, %v, want the %d original bytes", damageOf[path], len(raw), err, len(before[path]))
		}
	}
}

func everyNth(all []string, n int) []string {
	var some []string
	for i := 0; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}
