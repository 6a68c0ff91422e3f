package tiles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/render/vector"
)

// vectorView returns a view of n lakes around 50° north and 10° east.
func vectorView(n int, chl data.Chlorophyll) *snapshot.View {
	v := &snapshot.View{}
	for i := range n {
		v.Lakes = append(v.Lakes, data.Lake{
			ID: data.LakeID(fmt.Sprintf("lake_%05d", i)), Name: "Lake", Point: orb.Point{10 + float64(i)*0.01, 50},
		})
		v.States = append(v.States, snapshot.State{Chlorophyll: chl, Risk: data.RiskLow})
	}
	return v
}

// nextWeek returns another view of the same lakes.
func nextWeek(v *snapshot.View, chl data.Chlorophyll) *snapshot.View {
	next := vectorView(len(v.Lakes), chl)
	next.Lakes = v.Lakes
	return next
}

func vectorOptions() *Options {
	return &Options{Vectors: vector.New(colormap.Limits{Level1: 10, Level2: 50})}
}

func mustVector(tb testing.TB, s *Service, v *snapshot.View, t maptile.Tile) Tile {
	tb.Helper()
	tile, err := s.Vector(context.Background(), v, t)
	if err != nil {
		tb.Fatal(err)
	}
	return tile
}

var topTile = maptile.New(0, 0, 0)

func TestVectorTilesAreKept(t *testing.T) {
	r := new(fakeRenderer)
	s := newTestService(t, r, vectorOptions())
	v := vectorView(3, 100)
	first := mustVector(t, s, v, topTile)
	if again := mustVector(t, s, v, topTile); !sameTile(first, again) || again.Note == nil {
		t.Error("the second tile is another one")
	}
	// The same values in another week are the same tile, which is encoded once.
	if same := mustVector(t, s, nextWeek(v, 100), topTile); !sameTile(first, same) {
		t.Error("the same lakes in another week are another tile")
	}
	if got := testutil.ToFloat64(s.metrics.renders); got != 1 {
		t.Errorf("%v tiles were encoded, want 1", got)
	}
	if other := mustVector(t, s, nextWeek(v, 200), topTile); other.ETag == first.ETag || bytes.Equal(other.Bytes, first.Bytes) {
		t.Error("other values give the same tile")
	}
	if r.total() != 0 || r.layers != 0 {
		t.Error("the renderer of pictures was used for vector tiles")
	}
	if plain, err := first.Unzip(); err != nil || !bytes.Contains(plain, []byte("lake_00002")) {
		t.Errorf("the tile is %q, %v", plain, err)
	}
}

func TestVectorTilesSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	opts := vectorOptions()
	opts.Disk, opts.Variant = newTestDisk(t, dir), "who2003"
	v := vectorView(3, 100)
	s := newTestService(t, new(fakeRenderer), opts)
	first := mustVector(t, s, v, topTile)
	s = newTestService(t, new(fakeRenderer), opts)
	if again := mustVector(t, s, v, topTile); !sameTile(first, again) {
		t.Error("another tile after a restart")
	}
	if hits, drawn := testutil.ToFloat64(s.metrics.diskHits), testutil.ToFloat64(s.metrics.renders); hits != 1 || drawn != 0 {
		t.Errorf("%v tiles from disk and %v encoded, want 1 and 0", hits, drawn)
	}

	// A damaged tile is encoded again.
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the folder holds %v, %v, want one file", files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)-9]++
	if err := os.WriteFile(files[0], content, 0o644); err != nil {
		t.Fatal(err)
	}
	if again := mustVector(t, newTestService(t, new(fakeRenderer), opts), v, topTile); !sameTile(first, again) {
		t.Error("a damaged tile was returned")
	}
}

func TestVectorTilesWithoutLakesAreShared(t *testing.T) {
	s := newTestService(t, new(fakeRenderer), vectorOptions())
	v := vectorView(3, 100)
	a, b := mustVector(t, s, v, maptile.New(0, 0, 5)), mustVector(t, s, v, maptile.New(7, 7, 3))
	if !a.Blank || !sameTile(a, b) || a.Note != b.Note {
		t.Errorf("two tiles without a lake are %v and %v", a, b)
	}
	if plain, err := a.Unzip(); err != nil || len(plain) == 0 {
		t.Errorf("the tile without a lake is %q, %v, want a layer: libraries report an empty body as an error", plain, err)
	}
	if got := testutil.ToFloat64(s.metrics.renders); got != 0 {
		t.Errorf("%v tiles were encoded, want none", got)
	}
	none := &snapshot.View{}
	if tile := mustVector(t, s, none, topTile); !tile.Blank {
		t.Error("without any lake the world is not blank")
	}
}

func TestVectorTilesOutOfRange(t *testing.T) {
	v := vectorView(3, 100)
	opts := vectorOptions()
	opts.MaxZoom = 7
	s := newTestService(t, new(fakeRenderer), opts)
	for _, tile := range []maptile.Tile{maptile.New(0, 0, 8), maptile.New(1, 0, 0), maptile.New(0, 128, 7), {X: 0, Y: 0, Z: 40}} {
		if _, err := s.Vector(context.Background(), v, tile); !errors.Is(err, ErrOutOfRange) {
			t.Errorf("tile %v = %v, want ErrOutOfRange", tile, err)
		}
	}
	if _, err := newTestService(t, new(fakeRenderer), nil).Vector(context.Background(), v, topTile); !errors.Is(err, ErrOutOfRange) {
		t.Errorf("without an encoder: %v, want ErrOutOfRange", err)
	}
}

// TestVectorTilesWaitWithPictures checks that vector tiles use the same queue as pictures, and are refused when it is full.
func TestVectorTilesWaitWithPictures(t *testing.T) {
	r := &fakeRenderer{gate: make(chan struct{})}
	opts := vectorOptions()
	opts.Renders, opts.Queue, opts.RenderTimeout = 1, 1, time.Minute
	s := newTestService(t, r, opts)
	v := vectorView(3, 100)
	answers := make(chan error, 2)
	for x := range uint32(2) { // one is drawn, one waits
		go func() { // ends when the gate opens
			_, err := s.Tile(context.Background(), v.Values(), testRequest(x))
			answers <- err
		}()
	}
	for end := time.Now().Add(2 * time.Minute); testutil.ToFloat64(s.metrics.rendersInFlight) < 1 || testutil.ToFloat64(s.metrics.renderQueue) < 1; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no tile is drawn while another one waits")
		}
	}
	if _, err := s.Vector(context.Background(), v, topTile); !errors.Is(err, ErrBusy) {
		t.Errorf("behind a full queue: %v, want ErrBusy", err)
	}
	close(r.gate)
	for range 2 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	mustVector(t, s, v, topTile)
}

func TestVectorLayersOfASnapshotShareAnIndex(t *testing.T) {
	s := newTestService(t, new(fakeRenderer), vectorOptions())
	v := vectorView(3, 100)
	next, other := nextWeek(v, 200), vectorView(3, 100)
	for _, v := range []*snapshot.View{v, next, other} {
		mustVector(t, s, v, topTile)
	}
	index := func(v *snapshot.View) *vector.Index {
		l, _ := s.vectorLayers.find(v)
		return l.Index()
	}
	if index(v) != index(next) || index(v) == index(other) {
		t.Error("views of one snapshot do not share an index, or others do")
	}
}
