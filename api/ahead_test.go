package api

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
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
	large bool // the layers of other weeks are
}

func (w *weekTiles) Affords(*snapshot.Values) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.large
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

// While nothing else is made, the tiles of the weeks beside a requested one are. The current map has no neighbours, and no week beyond the data is asked for.
func TestTilesAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := testOptions(t)
		fake := &weekTiles{Tiles: opts.Tiles}
		opts.Tiles = fake
		s := newServer(t, opts, testSource(t))
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go s.DrawAhead(ctx) // until stop
		get(t, s, http.StatusOK, "/api/v1/tiles/6/34/21.png")
		get(t, s, http.StatusOK, "/api/v1/tiles/6/34/21.png?date=2026-11-09")
		time.Sleep(time.Minute)
		got := fake.weeks()
		if want := []string{"2026-11-09", "2026-11-16", "2026-11-02"}; len(got) != 4 || !slices.Equal(got[1:], want) || testutil.ToFloat64(s.handlers.ahead.made) != 2 {
			t.Errorf("tiles of the weeks %q, want the current one and %q", got, want)
		}
		err := s.common.opts.Turns.Do(ctx, admission.Client{}, func() error {
			get(t, s, http.StatusOK, "/api/v1/tiles/6/35/21.png?date=2026-11-09")
			time.Sleep(time.Minute)
			if n := len(fake.weeks()); n != 5 {
				t.Errorf("%d tiles ahead while something else is made", n-5)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		if n := len(fake.weeks()); n != 7 {
			t.Errorf("%d tiles ahead afterwards, want 2", n-5)
		}
		fake.mu.Lock()
		fake.large = true
		fake.mu.Unlock()
		get(t, s, http.StatusOK, "/api/v1/tiles/6/35/22.png?date=2026-11-09")
		time.Sleep(time.Minute)
		if n := len(fake.weeks()); n != 8 {
			t.Errorf("%d tiles ahead whose layers take the memory of others", n-8)
		}
	})
}
