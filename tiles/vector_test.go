package tiles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/render/vector"
)

// vectorView is a view of n lakes around 50° north and 10° east, in the given week.
func vectorView(n int, chl data.Chlorophyll) *data.View {
	v := &data.View{}
	for i := range n {
		v.Lakes = append(v.Lakes, data.Lake{
			ID: data.LakeID(fmt.Sprintf("lake_%05d", i)), Name: "Lake", Point: orb.Point{10 + float64(i)*0.01, 50},
		})
		v.States = append(v.States, data.State{Chlorophyll: chl, Risk: data.RiskLow})
	}
	return v
}

// nextWeek is another view of the same lakes.
func nextWeek(v *data.View, chl data.Chlorophyll) *data.View {
	next := vectorView(len(v.Lakes), chl)
	next.Lakes = v.Lakes
	return next
}

func vectorOptions() *Options {
	return &Options{Vectors: vector.New(colormap.Limits{Level1: 10, Level2: 50})}
}

func mustVector(tb testing.TB, s *Service, v *data.View, t maptile.Tile) Tile {
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
		t.Error("the second answer is another")
	}
	// The same values in another week are the same tile, and it is drawn once.
	if same := mustVector(t, s, nextWeek(v, 100), topTile); !sameTile(first, same) {
		t.Error("the same lakes in another week are another tile")
	}
	if got := testutil.ToFloat64(s.metrics.renders); got != 1 {
		t.Errorf("%v tiles were written, want 1", got)
	}
	if other := mustVector(t, s, nextWeek(v, 200), topTile); other.ETag == first.ETag || bytes.Equal(other.Bytes, first.Bytes) {
		t.Error("other values give the same tile")
	}
	if r.total() != 0 || r.layers != 0 {
		t.Error("pictures were drawn for vector tiles")
	}
	if plain, err := first.Unzip(); err != nil || !bytes.Contains(plain, []byte("lake_00002")) {
		t.Errorf("the tile is %q, %v", plain, err)
	}
}

func TestVectorTilesSurviveARestart(t *testing.T) {
	opts := vectorOptions()
	opts.Dir, opts.Variant = t.TempDir(), "who2003"
	v := vectorView(3, 100)
	s := newTestService(t, new(fakeRenderer), opts)
	first := mustVector(t, s, v, topTile)
	_ = s.Close() // which writes it
	s = newTestService(t, new(fakeRenderer), opts)
	if again := mustVector(t, s, v, topTile); !sameTile(first, again) {
		t.Error("another tile after a restart")
	}
	if hits, drawn := testutil.ToFloat64(s.metrics.diskHits), testutil.ToFloat64(s.metrics.renders); hits != 1 || drawn != 0 {
		t.Errorf("%v tiles from disk and %v written, want 1 and 0", hits, drawn)
	}
	_ = s.Close()

	// What is damaged is written anew.
	files, err := filepath.Glob(filepath.Join(opts.Dir, "*", "*"))
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
	if healed := mustVector(t, newTestService(t, new(fakeRenderer), opts), v, topTile); !sameTile(first, healed) {
		t.Error("a damaged tile was answered")
	}
}

func TestVectorTilesWithoutALakeAreOne(t *testing.T) {
	s := newTestService(t, new(fakeRenderer), vectorOptions())
	v := vectorView(3, 100)
	a, b := mustVector(t, s, v, maptile.New(0, 0, 5)), mustVector(t, s, v, maptile.New(7, 7, 3))
	if !a.Blank || !sameTile(a, b) || a.Note != b.Note {
		t.Errorf("two tiles without a lake are %v and %v", a, b)
	}
	if plain, err := a.Unzip(); err != nil || len(plain) == 0 {
		t.Errorf("the tile without a lake is %q, %v, want a layer: libraries call no bytes at all an error", plain, err)
	}
	if got := testutil.ToFloat64(s.metrics.renders); got != 0 {
		t.Errorf("%v tiles were written, want none", got)
	}
	none := &data.View{}
	if tile := mustVector(t, s, none, topTile); !tile.Blank {
		t.Error("without any lake the world is not empty")
	}
}

func TestVectorTilesThatThereAreNot(t *testing.T) {
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

// Vector tiles stand in the same queue as pictures, and are refused when it is full.
func TestVectorTilesWaitWithPictures(t *testing.T) {
	r := &fakeRenderer{gate: make(chan struct{})}
	opts := vectorOptions()
	opts.Renders, opts.Queue, opts.RenderTimeout = 1, 1, time.Minute
	s := newTestService(t, r, opts)
	v := vectorView(3, 100)
	answers := make(chan error, 2)
	for x := range uint32(2) { // one is drawn, one waits
		go func() { // ends when the gate opens
			_, err := s.Tile(context.Background(), v, testRequest(x))
			answers <- err
		}()
	}
	for end := time.Now().Add(10 * time.Second); testutil.ToFloat64(s.metrics.renderQueue) < 1; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nothing waits")
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

func TestWeeksShareAnIndex(t *testing.T) {
	s := newTestService(t, new(fakeRenderer), vectorOptions())
	v := vectorView(3, 100)
	next, other := nextWeek(v, 200), vectorView(3, 100)
	for _, v := range []*data.View{v, next, other} {
		mustVector(t, s, v, topTile)
	}
	index := func(v *data.View) *vector.Index {
		l, _ := s.vectors.find(v)
		return l.Index()
	}
	if index(v) != index(next) || index(v) == index(other) {
		t.Error("views of one snapshot do not share an index, or others do")
	}
}

func TestVectorLayersAreBounded(t *testing.T) {
	s := newTestService(t, new(fakeRenderer), vectorOptions())
	views := []*data.View{vectorView(3, 1)}
	for i := range 2 * maxVectorLayers {
		views = append(views, nextWeek(views[0], data.Chlorophyll(i)))
	}
	for i, v := range views {
		mustVector(t, s, v, topTile)
		mustVector(t, s, views[0], topTile) // which is therefore held
		if n := len(s.vectors.held); n != min(i+1, maxVectorLayers) {
			t.Fatalf("after %d views %d layers are held", i+1, n)
		}
	}
	if l, _ := s.vectors.find(views[0]); l == nil {
		t.Error("the layer that was used last is gone")
	}
	if l, _ := s.vectors.find(views[1]); l != nil {
		t.Error("the layer that was not used the longest is held still")
	}

	ls := newVectorLayers()
	for i := range 4 {
		ls.hold(views[i], vector.NewLayer(vector.NewIndex(nil), views[i]))
		for k := range ls.held {
			ls.held[k].lakes = maxVectorLakes
		}
	}
	if len(ls.held) != 2 {
		t.Errorf("%d layers of very many lakes are held, want 2", len(ls.held))
	}
}

func TestVectorLayersGoWithTheirViews(t *testing.T) {
	s := newTestService(t, new(fakeRenderer), vectorOptions())
	kept := vectorView(3, 100)
	mustVector(t, s, kept, topTile)
	func() { mustVector(t, s, vectorView(3, 200), topTile) }()
	held := func() int {
		s.vectors.mu.Lock()
		defer s.vectors.mu.Unlock()
		return len(s.vectors.held)
	}
	for end := time.Now().Add(10 * time.Second); held() > 1; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d layers are held, of views that are gone", held())
		}
		runtime.GC()
	}
	runtime.KeepAlive(kept)
}

func TestALayerIsWaitedForAsLongAsTheCallerStays(t *testing.T) {
	ls := newVectorLayers()
	ls.turn <- struct{}{} // somebody builds
	ctx, leave := context.WithCancel(context.Background())
	leave()
	if _, err := ls.get(ctx, vectorView(1, 1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("get = %v, want the caller's own error", err)
	}
	<-ls.turn
	v := vectorView(1, 1)
	failed := func(*data.View, *vector.Index) (*vector.Layer, error) { return nil, errFake }
	if _, err := ls.get(context.Background(), v, failed); !errors.Is(err, errFake) {
		t.Errorf("get = %v, want %v", err, errFake)
	}
	if l, _ := ls.find(v); l != nil {
		t.Error("a layer that failed is held")
	}
}
