package api

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"limnomap/data/snapshot"
	"limnomap/tiles"
	"limnomap/tiles/admission"
)

// A weekTiles notes of which weeks it was asked for tiles.
type weekTiles struct {
	Tiles
	mu    sync.Mutex
	asked []string
}

func (w *weekTiles) Tile(ctx context.Context, v *snapshot.Values, req tiles.Request) (tiles.Tile, error) {
	w.mu.Lock()
	w.asked = append(w.asked, v.Week.Monday().String())
	w.mu.Unlock()
	return w.Tiles.Tile(ctx, v, req)
}

func (w *weekTiles) weeks() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked)
}

// While nothing is made, the tiles of the weeks beside a requested one are. Neither the current map nor a vector tile has neighbours, and no week beyond the data is asked for.
func TestTilesAhead(t *testing.T) {
	opts := testOptions(t)
	fake := &weekTiles{Tiles: opts.Tiles}
	opts.Tiles = fake
	s := newServer(t, opts, testSource(t))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { // until stop
		defer close(done)
		s.DrawAhead(ctx)
	}()
	defer func() {
		stop()
		<-done
	}()
	get(t, s, http.StatusOK, "/api/v1/tiles/6/34/21.png")
	get(t, s, http.StatusOK, "/api/v1/tiles/6/34/21.png?date=2026-11-09")
	deadline := time.Now().Add(time.Minute)
	for testutil.ToFloat64(s.handlers.ahead.made) < 2 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	got := fake.weeks()
	if want := []string{"2026-11-09", "2026-11-16", "2026-11-02"}; len(got) != 4 || !slices.Equal(got[1:], want) {
		t.Errorf("tiles of the weeks %q, want the current one and %q", got, want)
	}
	release := make(chan struct{})
	busy := make(chan struct{})
	go func() { // ends with release
		_ = s.common.opts.Turns.Do(ctx, admission.Client{}, func() error { close(busy); <-release; return nil })
	}()
	<-busy
	get(t, s, http.StatusOK, "/api/v1/tiles/6/35/21.png?date=2026-11-09")
	time.Sleep(5 * aheadRetry)
	if n := len(fake.weeks()); n != 5 {
		t.Errorf("%d tiles while something else is made, want none ahead", n-5)
	}
	close(release)
	for testutil.ToFloat64(s.handlers.ahead.made) < 4 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if n := len(fake.weeks()); n != 7 {
		t.Errorf("%d tiles ahead afterwards, want 2", n-5)
	}
}
