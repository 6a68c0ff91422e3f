//go:build unix

package faulttest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

// twoServersShareAFolder has two servers write, read and trim one folder while one of them is killed and restarted. All
// their answers are right, each finds the tiles of the other, and the folder stays within its size limit.
func (c *diskCacheTest) twoServersShareAFolder(t *testing.T) {
	span := testsize.Of(time.Second, 10*time.Second)
	const limit = 1 << 20
	dir := t.TempDir()
	flags := serverFlags(c.db, "--cache-dir", dir, "--cache-disk", "1MiB")
	want, few := c.want, c.few()
	a, b := start(t, flags...), start(t, flags...)

	want.check(t, a, few)
	limnomaptest.Within(t, patience, "one server has written its tiles", func() bool { return len(filesIn(t, dir).entries) == len(few) })
	want.check(t, b, few)
	if got := b.Metric(t, "limnomap_tile_renders_total"); got != 0 {
		t.Errorf("the other server drew %v of them, want none", got)
	}

	ctx, cancel := context.WithTimeout(t.Context(), span)
	defer cancel()
	var group errgroup.Group
	group.Go(func() error {
		_, err := want.load(ctx, t, a)
		return err
	})
	killed := make(chan error, 1)
	go func() { // ends when b is killed
		_, err := want.load(context.WithoutCancel(ctx), t, b)
		killed <- err
	}()
	time.Sleep(span / 2) // under load
	b.Kill()
	if err := <-killed; err == nil {
		t.Error("the killed server answered all requests")
	}
	b = start(t, flags...)
	want.check(t, b, c.paths[len(c.paths)/2:])
	if err := group.Wait(); err != nil {
		t.Errorf("the server that was not killed: %v\n%s", err, a.Log)
	}
	for name, s := range map[string]*limnomaptest.Server{"that was not killed": a, "that was restarted": b} {
		if got := s.Metric(t, "limnomap_tile_disk_damaged_total"); got != 0 {
			t.Errorf("the server %s found %v damaged entries, want none", name, got)
		}
		s.Stop(t)
	}
	start(t, flags...)
	limnomaptest.Within(t, patience, "the folder is within its size limit", func() bool { return filesIn(t, dir).bytes <= limit })
}

// folderRemoved removes the cache folder while the server uses it, and then puts a file at its path. The server creates
// the folder again, and works without it while it cannot.
func (c *diskCacheTest) folderRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache", "tiles")
	s := start(t, serverFlags(c.db, "--cache-dir", dir)...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	loaded := make(chan error, 1)
	go func() { // ends with cancel
		_, err := c.want.load(ctx, t, s)
		loaded <- err
	}()
	// The server usually creates the folder at once. If the removal happens during a write, it counts as a disk fault, and the
	// server tries again within a minute, as the README says.
	for range 3 {
		limnomaptest.Within(t, patience, "there are tiles in the folder", func() bool { return len(filesIn(t, dir).entries) > 10 })
		limnomaptest.Within(t, patience, "the folder is removed", func() bool { return os.RemoveAll(filepath.Dir(dir)) == nil })
	}
	limnomaptest.Within(t, patience, "there are tiles in the folder again", func() bool { return len(filesIn(t, dir).entries) > 10 })
	cancel()
	if err := <-loaded; err != nil {
		t.Fatalf("%v\n%s", err, s.Log)
	}

	limnomaptest.Within(t, patience, "a file replaces the folder", func() bool {
		return os.RemoveAll(dir) == nil && os.WriteFile(dir, []byte("not a folder"), 0o644) == nil
	})
	c.want.check(t, s, c.paths)
	limnomaptest.Within(t, patience, "the fault is counted", func() bool {
		return s.Metric(t, `limnomap_tile_disk_faults_total{operation="write"}`) > 0
	})
	if raw, err := os.ReadFile(dir); err != nil || string(raw) != "not a folder" {
		t.Errorf("the file contains %q, %v, want it unchanged", raw, err)
	}
	must(t, os.Remove(dir))
	wantDiskWarnings(t, s, 1)
	if testsize.Long {
		c.wantRecovery(t, s)
	}
}

// entriesWithWrongTimes gives cache entries modification times as a wrong clock would: in the future, and long ago. The
// server serves them, does not remove them, and still applies its size limit.
func (c *diskCacheTest) entriesWithWrongTimes(t *testing.T) {
	dir, few := t.TempDir(), c.few()
	s := start(t, serverFlags(c.db, "--cache-dir", dir)...)
	c.want.check(t, s, few)
	s.Stop(t)
	entries := filesIn(t, dir).entries
	times := []time.Time{time.Unix(0, 0), time.Now().Add(time.Hour), time.Now().AddDate(10, 0, 0)}
	for i, path := range entries {
		if at := times[i%len(times)]; os.Chtimes(path, at, at) != nil {
			t.Fatalf("the file system cannot set the time of a file to %v", at)
		}
	}

	s = start(t, serverFlags(c.db, "--cache-dir", dir)...)
	c.want.check(t, s, few)
	if got := s.Metric(t, `limnomap_tile_cache_hits_total{tier="disk"}`); got != float64(len(entries)) {
		t.Errorf("%v of %d entries came from disk, want all", got, len(entries))
	}
	s.Stop(t)
	if after := filesIn(t, dir).entries; !slices.Equal(after, entries) {
		t.Errorf("%d of %d entries are left, want all", len(after), len(entries))
	}

	s = start(t, serverFlags(c.db, "--cache-dir", dir, "--cache-disk", "200KiB")...)
	limnomaptest.Within(t, patience, "the smaller size limit is applied", func() bool { return filesIn(t, dir).bytes <= 200<<10 })
	c.want.check(t, s, few)
}
