package api

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"limnomap/api/ogc"
	"limnomap/data"
	"limnomap/data/snapshot"
)

const (
	// aheadWaiting bounds the tiles that wait to be made ahead: those of two weeks of a view. Others are dropped.
	aheadWaiting = 128
	// aheadPause is the pause after a tile, as a multiple of the time that it took: the share of a processor is a quarter.
	aheadPause = 3
	// aheadRetry is how soon it is asked again whether no one waits for a tile.
	aheadRetry = 20 * time.Millisecond
)

// An aheadDrawer makes the tiles of the weeks before and after one that a client looks at, before anybody asks for them: a map that plays the
// weeks finds them in the cache. It does so while nothing else is made.
type aheadDrawer struct {
	*common
	wanted chan ogc.Tile
	made   prometheus.Counter
}

func newAheadDrawer(s *common) *aheadDrawer {
	return &aheadDrawer{s, make(chan ogc.Tile, aheadWaiting), promauto.With(s.opts.Registry).NewCounter(prometheus.CounterOpts{
		Name: "limnomap_tiles_ahead_total",
		Help: "Tiles of the weeks before and after a requested one that were made, or found, before anyone asked for them.",
	})}
}

// offer notes the neighbours of a tile of a week among the weeks with observations, without waiting. Weeks that must be read from the source of the data are
// not made ahead.
func (d *aheadDrawer) offer(t ogc.Tile) {
	snap := t.State.Snapshot
	before, listed := slices.BinarySearchFunc(snap.Weeks, t.Week, func(w snapshot.WeekCount, at data.Week) int { return cmp.Compare(w.Week, at) })
	after := before
	if listed {
		after++
	}
	for _, i := range [2]int{after, before - 1} {
		if i < 0 || i == len(snap.Weeks) || snap.Old(snap.Weeks[i].Week) {
			continue
		}
		t.Week = snap.Weeks[i].Week
		select {
		case d.wanted <- t:
		default:
			return
		}
	}
}

// run makes what was offered until ctx ends.
func (d *aheadDrawer) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case t := <-d.wanted:
			for d.isCurrent(t) && !d.opts.Turns.Idle() {
				if !pause(ctx, aheadRetry) {
					return
				}
			}
			if !d.isCurrent(t) {
				continue
			}
			began := time.Now()
			d.draw(ctx, t)
			if !pause(ctx, aheadPause*time.Since(began)) {
				return
			}
		}
	}
}

// isCurrent reports whether a tile is of the published snapshot.
func (d *aheadDrawer) isCurrent(t ogc.Tile) bool {
	p := d.current.Load()
	return p != nil && p.snap == t.State.Snapshot
}

// draw makes a tile, unless the map of its week would take the memory of another. It drops errors: who asks for the tile meets them too.
func (d *aheadDrawer) draw(ctx context.Context, t ogc.Tile) {
	values, err := t.State.Snapshot.Values(ctx, t.Week)
	if err != nil || !d.opts.Tiles.Affords(values) {
		return
	}
	if _, err = d.opts.Tiles.Tile(ctx, values, t.Request); err == nil {
		d.made.Inc()
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// DrawAhead makes tiles before anyone asks for them, until ctx ends.
func (s *Server) DrawAhead(ctx context.Context) { s.handlers.ahead.run(ctx) }
