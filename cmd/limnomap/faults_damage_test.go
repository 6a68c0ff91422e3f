//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"syscall"
	"testing"
)

// A damage is what befalls the file of an entry.
type damage struct {
	name string
	do   func(path string, whole []byte) error // whole is what the file holds before
	lost bool                                  // the file is gone, which is no damage
}

// damages returns, for each so many bytes of an entry of that size, every flip of one of those bits and the cut before it,
// and all that can lie in the place of an entry. another is the whole entry of another tile.
func damages(size, every int, bits func(position int) []int, another string) []damage {
	rewrite := func(change func(whole []byte) []byte) func(string, []byte) error {
		return func(path string, whole []byte) error { return os.WriteFile(path, change(slices.Clone(whole)), 0o644) }
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
		{"vanished", replace(func(string) error { return nil }), true},
		{"grown by a byte", rewrite(func(whole []byte) []byte { return append(whole, 0) }), false},
		{"grown beyond any tile", func(path string, _ []byte) error { return os.Truncate(path, 8<<20) }, false},
		{"twice", rewrite(func(whole []byte) []byte { return append(whole, whole...) }), false},
		{"zeroed", rewrite(func(whole []byte) []byte { return make([]byte, len(whole)) }), false},
		{"a PNG alone", rewrite(func(whole []byte) []byte { return whole[bytes.Index(whole, []byte("\x89PNG")):] }), false},
		{"another tile's, copied", replace(func(path string) error {
			raw, err := os.ReadFile(another)
			if err != nil {
				return err
			}
			return os.WriteFile(path, raw, 0o644)
		}), false},
		{"another tile's, by a link", replace(func(path string) error { return os.Symlink(another, path) }), false},
		{"another tile's, by a hard link", replace(func(path string) error { return os.Link(another, path) }), false},
		{"a link to nowhere", replace(func(path string) error { return os.Symlink("nowhere", path) }), false},
		{"a link to itself", replace(func(path string) error { return os.Symlink(path, path) }), false},
		{"a folder", replace(func(path string) error { return os.Mkdir(path, 0o755) }), false},
		{"a pipe that nobody writes to", replace(func(path string) error { return syscall.Mkfifo(path, 0o644) }), false},
	}
	for i := 0; i < size; i += every {
		list = append(list, damage{fmt.Sprintf("cut to %d bytes", i), func(path string, _ []byte) error { return os.Truncate(path, int64(i)) }, false})
		for _, bit := range bits(i) {
			list = append(list, damage{fmt.Sprintf("bit %d of byte %d flipped", bit, i), rewrite(func(whole []byte) []byte {
				whole[i] ^= 1 << bit
				return whole
			}), false})
		}
	}
	return list
}

// TestFaultDamagedEntries does all of that to a cache, to each entry something else. Every tile is still right, every
// damage is counted, and afterwards every file is what it was before.
func TestFaultDamagedEntries(t *testing.T) {
	t.Parallel()
	paths := dotTiles()
	every, bits := 1, func(int) []int { return []int{0, 1, 2, 3, 4, 5, 6, 7} }
	if !inFull() { // how an entry is read, package tiles tests with every byte
		paths, every = everyNth(paths, 16), 3
		bits = func(position int) []int { return []int{position % 8} }
	}
	db, dir := faultDB(t), t.TempDir()
	want := newTruth(t, db, paths)
	flags := faultFlags(db, "--cache-dir", dir)
	for dropped, rounds := 1.0, 0; dropped > 0 && rounds < 5; rounds++ { // tiles that would have to wait long are not written
		p := startReady(t, flags...)
		want.check(t, p, paths)
		dropped = p.metric(t, "limnomap_tile_disk_dropped_total")
		p.stop(t)
	}

	entries := filesIn(t, dir).entries
	before := make(map[string][]byte)
	smallest := math.MaxInt
	for _, path := range entries {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		before[path] = raw
		smallest = min(smallest, len(raw))
	}
	list := damages(smallest, every, bits, entries[0])
	if len(entries) <= len(list) {
		t.Fatalf("%d entries for %d damages: more tiles must be asked for", len(entries), len(list))
	}
	doneTo := make(map[string]string)
	damaged := 0
	for i, d := range list {
		path := entries[i+1]
		if err := d.do(path, before[path]); err != nil {
			t.Fatalf("%s: %v", d.name, err)
		}
		doneTo[path] = d.name
		if !d.lost {
			damaged++
		}
	}

	p := startReady(t, flags...)
	want.check(t, p, paths)
	if got := p.metric(t, "limnomap_tile_disk_damaged_total"); got != float64(damaged) {
		t.Errorf("%v damaged entries were found, want %d", got, damaged)
	}
	if got, want := p.metric(t, `limnomap_tile_cache_hits_total{tier="disk"}`), len(entries)-len(list); got != float64(want) {
		t.Errorf("%v tiles came from disk, want the %d whose entries are whole", got, want)
	}
	if got := p.metric(t, `limnomap_tile_disk_faults_total{operation="read"}`); got != 0 {
		t.Errorf("%v reads failed, want none: a damaged entry is not a damaged disk", got)
	}
	dropped := p.metric(t, "limnomap_tile_disk_dropped_total")
	p.stop(t)
	t.Logf("%d entries of at least %d bytes, %d damages, %v tiles not written again", len(entries), smallest, len(list), dropped)
	for _, path := range entries {
		info, err := os.Lstat(path)
		if os.IsNotExist(err) && dropped > 0 {
			dropped-- // a tile that would have had to wait long to be written
			continue
		}
		if err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s is not healed: %v, %v", doneTo[path], info, err)
			continue
		}
		if raw, err := os.ReadFile(path); err != nil || !bytes.Equal(raw, before[path]) {
			t.Errorf("%s is not healed: %d bytes, %v, want the %d of before", doneTo[path], len(raw), err, len(before[path]))
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
