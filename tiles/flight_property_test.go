package tiles

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// A traffic is who asks for which tile and when, and how long each tile takes.
type traffic struct {
	renders, queue int
	timeout        time.Duration
	lookup, draw   []time.Duration // by key
	fails          []bool          // by key: drawing it is an error
	callers        []caller
}

type caller struct {
	key         int
	start, stay time.Duration // leaves after stay, unless it is 0
}

func drawTraffic(t *rapid.T) traffic {
	millis := func(most int) *rapid.Generator[time.Duration] {
		return rapid.Map(rapid.IntRange(0, most), func(n int) time.Duration { return time.Duration(n) * time.Millisecond })
	}
	keys := rapid.IntRange(1, 8).Draw(t, "keys")
	return traffic{
		renders: rapid.IntRange(1, 4).Draw(t, "renders"),
		queue:   rapid.IntRange(0, 6).Draw(t, "queue"),
		timeout: millis(40).Draw(t, "timeout") + time.Millisecond,
		lookup:  rapid.SliceOfN(millis(3), keys, keys).Draw(t, "lookup"),
		draw:    rapid.SliceOfN(millis(30), keys, keys).Draw(t, "draw"),
		fails:   rapid.SliceOfN(rapid.Bool(), keys, keys).Draw(t, "fails"),
		callers: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) caller {
			return caller{rapid.IntRange(0, keys-1).Draw(t, "key"), millis(60).Draw(t, "start"), millis(30).Draw(t, "stay")}
		}), 1, 40).Draw(t, "callers"),
	}
}

// TestAnyTraffic holds flights, under any traffic, to what is promised: no more draw at once than may, nobody draws what
// is being drawn already, and each caller is answered when its tile is there, at the latest after the timeout, and if it
// leaves, at once. That every goroutine ends, the bubble sees to.
func TestAnyTraffic(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		traffic := drawTraffic(rt)
		var faults []string
		synctest.Test(t, func(*testing.T) { faults = traffic.run() })
		for _, fault := range faults {
			rt.Error(fault)
		}
	})
}

// run plays the traffic and returns what went wrong.
func (tr *traffic) run() (faults []string) {
	var mu sync.Mutex // guards faults and what follows
	fault := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		faults = append(faults, fmt.Sprintf(format, args...))
	}
	total, drawing := 0, make([]int, len(tr.draw))
	enter := func(key, n int) {
		mu.Lock()
		total, drawing[key] = total+n, drawing[key]+n
		all, same := total, drawing[key]
		mu.Unlock()
		if all > tr.renders || same > 1 {
			fault("%d tiles are drawn at once, %d of them tile %d, want at most %d and 1", all, same, key, tr.renders)
		}
	}
	fs := newFlights(tr.renders, tr.queue, tr.timeout, newMetrics(nil))
	var wg sync.WaitGroup
	for i, c := range tr.callers {
		wg.Go(func() {
			time.Sleep(c.start)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if c.stay > 0 {
				defer time.AfterFunc(c.stay, cancel).Stop()
			}
			start := time.Now()
			tile, err := fs.do(ctx, numberedSum(c.key), search{
				lookup: func(context.Context) (Tile, bool) { time.Sleep(tr.lookup[c.key]); return Tile{}, false },
				draw: func() ([]byte, error) {
					enter(c.key, 1)
					defer enter(c.key, -1)
					time.Sleep(tr.draw[c.key])
					if tr.fails[c.key] {
						return nil, errFake
					}
					return fmt.Append(nil, c.key), nil
				},
				keep: newTile,
			})
			took, left := time.Since(start), ctx.Err() != nil
			switch {
			case err == nil && string(tile.Bytes) != fmt.Sprint(c.key):
				fault("caller %d of tile %d gets %q", i, c.key, tile.Bytes)
			case err != nil && !errors.Is(err, ErrBusy) && !(errors.Is(err, errFake) && tr.fails[c.key]) && !(errors.Is(err, context.Canceled) && left):
				fault("caller %d, who left: %v, gets error %v", i, left, err)
			case took > tr.timeout, left && took > c.stay:
				fault("caller %d is answered after %v, want at most %v, and if it left (%v), after %v", i, took, tr.timeout, left, c.stay)
			}
		})
	}
	wg.Wait()
	fs.close()
	if len(fs.byKey) != 0 || fs.waiting.Len() != 0 || fs.drawing != 0 {
		fault("%d flights, %d waiting, %d drawing are left", len(fs.byKey), fs.waiting.Len(), fs.drawing)
	}
	return faults
}
