package tiles

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"pgregory.net/rapid"

	"limnomap/data/snapshot"
	"limnomap/render"
	"limnomap/tiles/admission"
)

// A traffic is a list of callers, and how long each tile takes.
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

// A slowDisk never has a tile, and takes some time to say so.
type slowDisk struct {
	keys   map[Sum]int
	lookup []time.Duration // by key
}

func (d *slowDisk) Get(_ context.Context, sum [sha256.Size]byte) (body []byte, digest [digestLen]byte, ok bool) {
	time.Sleep(d.lookup[d.keys[sum]])
	return nil, digest, false
}

func (d *slowDisk) Put(key, body []byte) {}

// TestAnyTraffic checks what a Service promises, with any traffic: no more tiles are drawn at once than allowed, no tile is
// drawn twice at once, and each caller is answered when its tile is there, at the latest after the timeout, and at once if it
// leaves; a caller that looks for the tile itself, only when that look or the drawing has ended. The bubble checks that every goroutine
// ends.
func TestAnyTraffic(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		traffic := drawTraffic(rt)
		var faults []string
		synctest.Test(t, func(t *testing.T) { faults = traffic.run(t) })
		for _, fault := range faults {
			rt.Error(fault)
		}
	})
}

// run plays the traffic and returns what went wrong.
func (tr *traffic) run(t *testing.T) (faults []string) {
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
	r := &fakeRenderer{png: func(spec render.Spec) ([]byte, error) {
		key := int(spec.Tile.X)
		enter(key, 1)
		defer enter(key, -1)
		time.Sleep(tr.draw[key])
		if tr.fails[key] {
			return nil, errFake
		}
		return fmt.Append(nil, key), nil
	}}
	disk := &slowDisk{make(map[Sum]int), tr.lookup}
	s := newTestService(t, r, &Options{
		MemoryBytes: 1, // nothing fits into memory
		Disk:        disk, Variant: "who2003", Renders: tr.renders, RenderTimeout: tr.timeout,
	})
	s.turns.Close()
	s.turns = admission.NewTurns(admission.TurnsOptions{Count: tr.renders, Waiting: tr.queue}) // also zero, which is a default of Options
	for x := range tr.draw {
		spec := testRequest(uint32(x)).spec()
		disk.keys[s.key(spec, render.Fingerprint{}).Sum()] = x
	}
	v := new(snapshot.View)
	callers, unshared := make([]int, len(tr.draw)), make([]bool, len(tr.draw))
	for _, c := range tr.callers {
		callers[c.key]++
		unshared[c.key] = callers[c.key] == 1
	}
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
			tile, err := s.Tile(ctx, v.Values(), testRequest(uint32(c.key)))
			took, left := time.Since(start), ctx.Err() != nil
			switch {
			case err == nil && string(tile.Bytes) != fmt.Sprint(c.key):
				fault("caller %d of tile %d gets %q", i, c.key, tile.Bytes)
			case err != nil && !errors.Is(err, ErrBusy) && !(errors.Is(err, errFake) && tr.fails[c.key]) && !(errors.Is(err, context.Canceled) && left):
				fault("caller %d, who left: %v, gets error %v", i, left, err)
			default:
				// What a caller cannot be called away from: two looks on the disk, and drawing.
				most := 2*tr.lookup[c.key] + tr.draw[c.key]
				if left && unshared[c.key] {
					most += c.stay
				} else { // it may work for those who stay
					most += tr.timeout
				}
				if took > most {
					fault("caller %d is answered after %v, want at most %v; it left: %v, after %v", i, took, most, left, c.stay)
				}
			}
		})
	}
	wg.Wait()
	mustDo(t, s.Close())
	waiting, drawn := testutil.ToFloat64(s.metrics.renderQueue), testutil.ToFloat64(s.metrics.rendersInFlight)
	if len(s.searches.byKey) != 0 || len(s.flights.byKey) != 0 || waiting != 0 || drawn != 0 {
		fault("%d searches, %d flights, %v waiting, %v drawing are left", len(s.searches.byKey), len(s.flights.byKey), waiting, drawn)
	}
	return faults
}
