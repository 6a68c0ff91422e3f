//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"limnomap/cmd/limnomap/limnomaptest"
)

// twoServersShareAFolder has two servers write, read and trim one folder while one of them is killed and
// started anew. Both answer right all the while, find what the other wrote, and keep the folder within its bound.
func (g *ground) twoServersShareAFolder(t *testing.T) {
	span := time.Second
	if inFull() {
		span = 10 * time.Second
	}
	const budget = 1 << 20
	dir := t.TempDir()
	flags := faultFlags(g.db, "--cache-dir", dir, "--cache-disk", "1MiB")
	want, few := g.want, g.few()
	a, b := startReady(t, flags...), startReady(t, flags...)

	want.check(t, a, few)
	limnomaptest.Within(t, 10*time.Second, "one server has written its tiles", func() bool { return len(filesIn(t, dir).entries) == len(few) })
	want.check(t, b, few)
	if got := b.metric(t, "limnomap_tile_renders_total"); got != 0 {
		t.Errorf("the other drew %v of them, want none", got)
	}

	ctx, cancel := context.WithTimeout(t.Context(), span)
	defer cancel()
	var group errgroup.Group
	group.Go(func() error {
		_, err := want.hammer(ctx, t, a)
		return err
	})
	killed := make(chan error, 1)
	go func() { // ends when b is killed
		_, err := want.hammer(context.WithoutCancel(ctx), t, b)
		killed <- err
	}()
	time.Sleep(span / 2)
	b.kill(t)
	if err := <-killed; err == nil {
		t.Error("the killed server answered to the end")
	}
	b = startReady(t, flags...)
	want.check(t, b, g.paths[len(g.paths)/2:])
	if err := group.Wait(); err != nil {
		t.Errorf("the server that lived: %v\n%s", err, a.log)
	}
	for name, p := range map[string]*process{"that lived": a, "that was started anew": b} {
		if got := p.metric(t, "limnomap_tile_disk_damaged_total"); got != 0 {
			t.Errorf("the server %s found %v damaged entries, want none", name, got)
		}
		p.stop(t)
	}
	startReady(t, flags...)
	limnomaptest.Within(t, 10*time.Second, "the folder is within its bound", func() bool { return filesIn(t, dir).bytes <= budget })
}

// folderRemoved removes the cache's folder under a server that is busy with it, and then puts a file in its
// place. The server makes the folder anew, and goes without it while it cannot.
func (g *ground) folderRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache", "tiles")
	p := startReady(t, faultFlags(g.db, "--cache-dir", dir)...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	hammered := make(chan error, 1)
	go func() { // ends with cancel
		_, err := g.want.hammer(ctx, t, p)
		hammered <- err
	}()
	// At once as a rule; but a removal that meets a write is a fault of the disk like any other, which the server looks into
	// within a minute, as the README promises.
	const noticed = time.Minute
	for range 3 {
		limnomaptest.Within(t, noticed, "there are tiles in the folder", func() bool { return len(filesIn(t, dir).entries) > 10 })
		limnomaptest.Within(t, 20*time.Second, "the folder is removed", func() bool { return os.RemoveAll(filepath.Dir(dir)) == nil })
	}
	limnomaptest.Within(t, noticed, "there are tiles in the folder again", func() bool { return len(filesIn(t, dir).entries) > 10 })
	cancel()
	if err := <-hammered; err != nil {
		t.Fatalf("%v\n%s", err, p.log)
	}

	limnomaptest.Within(t, 20*time.Second, "a file takes the folder's place", func() bool {
		return os.RemoveAll(dir) == nil && os.WriteFile(dir, []byte("not a folder"), 0o644) == nil
	})
	g.want.check(t, p, g.paths)
	limnomaptest.Within(t, 10*time.Second, "the fault is counted", func() bool {
		return p.metric(t, `limnomap_tile_disk_faults_total{operation="write"}`) > 0
	})
	if raw, err := os.ReadFile(dir); err != nil || string(raw) != "not a folder" {
		t.Errorf("the file reads %q, %v, want it untouched", raw, err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	wantComplaints(t, p, 1)
	if inFull() {
		g.wantRecovery(t, p)
	}
}

// Lines of the log that say that the disk cache fails, and that it works again.
var (
	complaint = regexp.MustCompile(`level=WARN.*on disk`)
	relief    = regexp.MustCompile(`level=INFO.*on disk.*again`)
)

// wantComplaints fails unless so many faults of the disk cache that last are in the log: one line for each, however
// many tiles it concerned.
func wantComplaints(t *testing.T, p *process, n int) {
	t.Helper()
	log := p.log.String()
	if got := len(complaint.FindAllString(log, -1)) - len(relief.FindAllString(log, -1)); got != n {
		t.Errorf("the log has %d complaints of the disk cache beyond those that are over, want %d:\n%s", got, n, log)
	}
}

// wantRecovery fails unless the disk cache, whose fault is mended, is written again after a while.
func (g *ground) wantRecovery(t *testing.T, p *process) {
	t.Helper()
	faults := p.metric(t, `limnomap_tile_disk_faults_total{operation="write"}`)
	limnomaptest.Within(t, 90*time.Second, "the disk cache works again", func() bool {
		g.want.check(t, p, g.paths) // nothing is tried before a tile has to be written
		log := p.log.String()
		return len(complaint.FindAllString(log, -1)) == len(relief.FindAllString(log, -1))
	})
	if got := p.metric(t, `limnomap_tile_disk_faults_total{operation="write"}`); got != faults {
		t.Errorf("%v writes failed after the disk was mended, want none", got-faults)
	}
}

// entriesDatedElsewhere gives the entries times that a clock set wrong would: of the future, and of long ago.
// They are served, they are not removed, and the bound holds among them.
func (g *ground) entriesDatedElsewhere(t *testing.T) {
	dir, few := t.TempDir(), g.few()
	p := startReady(t, faultFlags(g.db, "--cache-dir", dir)...)
	g.want.check(t, p, few)
	p.stop(t)
	entries := filesIn(t, dir).entries
	times := []time.Time{time.Unix(0, 0), time.Now().Add(time.Hour), time.Now().AddDate(10, 0, 0)}
	for i, path := range entries {
		if at := times[i%len(times)]; os.Chtimes(path, at, at) != nil {
			t.Fatalf("the file system cannot date a file %v", at)
		}
	}

	p = startReady(t, faultFlags(g.db, "--cache-dir", dir)...)
	g.want.check(t, p, few)
	if got := p.metric(t, `limnomap_tile_cache_hits_total{tier="disk"}`); got != float64(len(entries)) {
		t.Errorf("%v of %d entries came from disk, want all", got, len(entries))
	}
	p.stop(t)
	if after := filesIn(t, dir).entries; !slices.Equal(after, entries) {
		t.Errorf("of %d entries %d are left, want the same", len(entries), len(after))
	}

	p = startReady(t, faultFlags(g.db, "--cache-dir", dir, "--cache-disk", "200KiB")...)
	limnomaptest.Within(t, 10*time.Second, "the smaller bound holds", func() bool { return filesIn(t, dir).bytes <= 200<<10 })
	g.want.check(t, p, few)
}
