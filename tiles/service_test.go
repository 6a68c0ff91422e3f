package tiles

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/paulmach/orb/maptile"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"limnomap/colormap"
	"limnomap/data/snapshot"
	"limnomap/render"
)

func TestTileOutOfRange(t *testing.T) {
	r := new(fakeRenderer)
	s := newTestService(t, r, &Options{MaxZoom: 12})
	tests := []struct {
		name  string
		tile  maptile.Tile
		scale int
		want  error
	}{
		{"the world", maptile.New(0, 0, 0), 1, nil},
		{"the last of the largest zoom", maptile.New(4095, 4095, 12), 2, nil},
		{"x beyond", maptile.New(4096, 0, 12), 1, ErrOutOfRange},
		{"y beyond", maptile.New(0, 4096, 12), 1, ErrOutOfRange},
		{"x beyond the world", maptile.New(1, 0, 0), 1, ErrOutOfRange},
		{"zoom beyond", maptile.New(0, 0, 13), 1, ErrOutOfRange},
		{"zoom that maptile accepts", maptile.New(0, 0, 31), 1, ErrOutOfRange},
		{"zoom past the width of x", maptile.New(0, 0, 64), 1, ErrOutOfRange},
		{"all ones", maptile.New(math.MaxUint32, math.MaxUint32, math.MaxUint32), 1, ErrOutOfRange},
		{"scale 0", maptile.New(0, 0, 0), 0, ErrOutOfRange},
		{"scale 3", maptile.New(0, 0, 0), 3, ErrOutOfRange},
	}
	for _, test := range tests {
		before := r.total()
		_, err := s.Tile(context.Background(), new(snapshot.View).Values(), Request{Tile: test.tile, Scale: test.scale, Style: render.Heat, Colormap: colormap.Default})
		if !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", test.name, err, test.want)
		}
		if drawn := r.total() - before; (drawn == 1) != (test.want == nil) {
			t.Errorf("%s: %d renders", test.name, drawn)
		}
	}
}

func TestUnknownNamesAreNeverBlank(t *testing.T) {
	r := &fakeRenderer{blank: true}
	s := newTestService(t, r, nil)
	tests := []struct {
		name   string
		change func(*Request)
		want   error
	}{
		{"style", func(req *Request) { req.Style = "stripes" }, render.ErrUnknownStyle},
		{"no style", func(req *Request) { req.Style = "" }, render.ErrUnknownStyle},
		{"filter", func(req *Request) { req.Style, req.Filter = render.Heat, render.ShowLow }, render.ErrNoFilter},
		{"colour map", func(req *Request) { req.Colormap = "jet" }, colormap.ErrUnknown},
		{"no colour map", func(req *Request) { req.Colormap = "" }, colormap.ErrUnknown},
	}
	for _, test := range tests {
		req := testRequest(1)
		test.change(&req)
		if got, err := s.Tile(context.Background(), new(snapshot.View).Values(), req); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, %v, want error %v", test.name, got, err, test.want)
		}
	}
}

func TestNewRefusesOptions(t *testing.T) {
	tests := []struct {
		name string
		opts Options
		want string
	}{
		{"memory", Options{MemoryBytes: -1}, "MemoryBytes"},
		{"renders", Options{Renders: -1}, "Renders"},
		{"queue", Options{Queue: -1}, "Queue"},
		{"timeout", Options{RenderTimeout: -1}, "RenderTimeout"},
		{"zoom", Options{MaxZoom: render.MaxZoom + 1}, "MaxZoom"},
		{"a disk cache without a variant", Options{Disk: newTestDisk(t, t.TempDir())}, "Variant"},
	}
	for _, test := range tests {
		_, err := New(new(fakeRenderer), &test.opts)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("New with a wrong %s: error %v, want one that names %s", test.name, err, test.want)
		}
	}
}

func TestBlankTileTouchesNoTier(t *testing.T) {
	r := &fakeRenderer{blank: true}
	dir := t.TempDir()
	s := newTestService(t, r, diskOptions(t, dir))
	v := new(snapshot.View)
	for scale := 1; scale <= 2; scale++ {
		req := testRequest(1)
		req.Scale = scale
		want := newTile(render.Blank(scale))
		want.Blank = true
		first := mustTile(t, s, v, req)
		req.Tile.X++
		second := mustTile(t, s, v, req)
		if !sameTile(first, want) || &first.Bytes[0] != &second.Bytes[0] {
			t.Errorf("blank tiles of scale %d are %v and %v, want %v, shared", scale, first, second, want)
		}
	}
	mustDo(t, s.Close())
	if got := testutil.ToFloat64(s.metrics.blankHits); got != 4 {
		t.Errorf("%v blank tiles counted, want 4", got)
	}
	if entries := entriesIn(t, dir); len(entries) != 0 || s.memory.len() != 0 || r.total() != 0 {
		t.Errorf("blank tiles left %v on disk, %d in memory, and %d renders; want none", entries, s.memory.len(), r.total())
	}
}

func TestTileIsDrawnOncePerWhatItShows(t *testing.T) {
	r := new(fakeRenderer)
	s := newTestService(t, r, nil)
	monday, tuesday, wednesday := new(snapshot.View), &snapshot.View{Week: 1}, &snapshot.View{Week: 2}

	first := mustTile(t, s, monday, testRequest(1))
	if again := mustTile(t, s, monday, testRequest(1)); !sameTile(again, first) || r.total() != 1 {
		t.Errorf("asked again: %v after %d renders, want %v after 1", again, r.total(), first)
	}
	if next := mustTile(t, s, tuesday, testRequest(1)); !sameTile(next, first) || r.total() != 1 {
		t.Errorf("a new snapshot with the same lakes in reach: %v after %d renders, want %v after 1", next, r.total(), first)
	}
	r.mu.Lock()
	r.epoch++
	r.mu.Unlock()
	if changed := mustTile(t, s, wednesday, testRequest(1)); sameTile(changed, first) || r.total() != 2 {
		t.Errorf("a new snapshot with other lakes: %v after %d renders, want another tile after 2", changed, r.total())
	}
}

func TestTileServedFromDiskAfterARestart(t *testing.T) {
	dir := t.TempDir()
	s := newTestService(t, new(fakeRenderer), diskOptions(t, dir))
	want := mustTile(t, s, new(snapshot.View), testRequest(1))

	r := new(fakeRenderer)
	s = newTestService(t, r, diskOptions(t, dir))
	for range 2 {
		if got := mustTile(t, s, new(snapshot.View), testRequest(1)); !sameTile(got, want) {
			t.Errorf("after a restart the tile is %v, want %v", got, want)
		}
	}
	if r.total() != 0 || testutil.ToFloat64(s.metrics.diskHits) != 1 || testutil.ToFloat64(s.metrics.memoryHits) != 1 {
		t.Errorf("%d renders, %v disk hits, %v memory hits; want 0, 1, 1",
			r.total(), testutil.ToFloat64(s.metrics.diskHits), testutil.ToFloat64(s.metrics.memoryHits))
	}
}

func TestServicesShareADiskExceptAcrossVariants(t *testing.T) {
	dir := t.TempDir()
	drawn := new(fakeRenderer)
	s := newTestService(t, drawn, diskOptions(t, dir))
	// Both are open before either writes.
	same, other := new(fakeRenderer), new(fakeRenderer)
	sameService := newTestService(t, same, diskOptions(t, dir))
	otherOptions := diskOptions(t, dir)
	otherOptions.Variant = "uba2015"
	otherService := newTestService(t, other, otherOptions)

	mustTile(t, s, new(snapshot.View), testRequest(1))
	mustTile(t, sameService, new(snapshot.View), testRequest(1))
	mustTile(t, otherService, new(snapshot.View), testRequest(1))
	if same.total() != 0 || other.total() != 1 {
		t.Errorf("renders of the same and of the other variant: %d and %d, want 0 and 1", same.total(), other.total())
	}
}

func TestTileWithoutAWorkingDisk(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	mustDo(t, os.WriteFile(file, nil, 0o644))
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		r := new(fakeRenderer)
		s := newTestService(t, r, diskOptions(t, dir))
		first := mustTile(t, s, new(snapshot.View), testRequest(1))
		if again := mustTile(t, s, new(snapshot.View), testRequest(1)); !sameTile(again, first) || r.total() != 1 {
			t.Errorf("asked again: %v after %d renders, want %v after 1", again, r.total(), first)
		}
	}
}

func TestRendererErrorsAreNotCached(t *testing.T) {
	tests := []struct {
		name string
		r    *fakeRenderer
		want string
	}{
		{"error", &fakeRenderer{err: errFake}, errFake.Error()},
		{"panic", &fakeRenderer{panic: true}, "a mistake in the renderer"},
		{"no bytes", &fakeRenderer{png: func(render.Spec) ([]byte, error) { return nil, nil }}, "empty image"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newTestService(t, test.r, nil)
			for i := 1; i <= 2; i++ {
				_, err := s.Tile(context.Background(), new(snapshot.View).Values(), testRequest(1))
				if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "10/1/0") {
					t.Errorf("error %v, want one that names %q and the tile", err, test.want)
				}
				if test.r.total() != i {
					t.Errorf("%d renders after %d requests, want one each", test.r.total(), i)
				}
			}
			*test.r = fakeRenderer{}
			mustTile(t, s, new(snapshot.View), testRequest(1))
			if got := testutil.ToFloat64(s.metrics.renderFailures); got != 2 {
				t.Errorf("%v failures counted, want 2", got)
			}
		})
	}
}

// TestEachKeyIsDrawnOnce has many callers ask for few tiles at once.
func TestEachKeyIsDrawnOnce(t *testing.T) {
	const callers, keys = 64, 16
	r := new(fakeRenderer)
	s := newTestService(t, r, diskOptions(t, t.TempDir()))
	v := new(snapshot.View)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for j := range keys {
				if _, err := s.Tile(context.Background(), v.Values(), testRequest(uint32((i+j)%keys))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for spec, n := range r.renders {
		if n != 1 {
			t.Errorf("%v is drawn %d times, want once", spec, n)
		}
	}
	if len(r.renders) != keys || r.layers != 1 {
		t.Errorf("%d tiles drawn of %d layers, want %d of 1", len(r.renders), r.layers, keys)
	}
}

// TestMemoryHitAllocatesNothing also finds a hit that begins a flight, which would find the tile too.
func TestMemoryHitAllocatesNothing(t *testing.T) {
	s := newTestService(t, new(fakeRenderer), nil)
	v, req := new(snapshot.View), testRequest(1)
	mustTile(t, s, v, req)
	if got := testing.AllocsPerRun(100, func() { mustTile(t, s, v, req) }); got != 0 {
		t.Errorf("a hit takes %v allocations, want none", got)
	}
}

func TestBufferOfTheEncoderIsNotKept(t *testing.T) {
	r := &fakeRenderer{png: func(render.Spec) ([]byte, error) { return append(make([]byte, 0, 1<<20), "small"...), nil }}
	s := newTestService(t, r, nil)
	if got := mustTile(t, s, new(snapshot.View), testRequest(1)); string(got.Bytes) != "small" || cap(got.Bytes) > 1024 {
		t.Errorf("tile %q holds %d bytes", got.Bytes, cap(got.Bytes))
	}
}

func TestMetrics(t *testing.T) {
	reg := prometheus.NewRegistry()
	s := newTestService(t, new(fakeRenderer), &Options{Registerer: reg})
	for range 3 {
		mustTile(t, s, new(snapshot.View), testRequest(1))
	}
	problems, err := testutil.GatherAndLint(reg)
	if err != nil || len(problems) != 0 {
		t.Errorf("GatherAndLint = %v, %v", problems, err)
	}
	const want = `
# HELP limnomap_tile_cache_hits_total Tiles answered without a render, by tier.
# TYPE limnomap_tile_cache_hits_total counter
limnomap_tile_cache_hits_total{tier="blank"} 0
limnomap_tile_cache_hits_total{tier="disk"} 0
limnomap_tile_cache_hits_total{tier="memory"} 2
# HELP limnomap_tile_cache_misses_total Tiles found in no tier.
# TYPE limnomap_tile_cache_misses_total counter
limnomap_tile_cache_misses_total 1
# HELP limnomap_tile_renders_total Tiles drawn, failures included.
# TYPE limnomap_tile_renders_total counter
limnomap_tile_renders_total 1
`
	err = testutil.GatherAndCompare(reg, strings.NewReader(want), "limnomap_tile_cache_hits_total", "limnomap_tile_cache_misses_total", "limnomap_tile_renders_total")
	if err != nil {
		t.Error(err)
	}
}
