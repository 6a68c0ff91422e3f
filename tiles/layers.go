package tiles

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/prometheus/client_golang/prometheus"

	"limnomap/data"
	"limnomap/data/snapshot"
)

const (
	// maxLayers is how many layers of each sort are held: enough to play four months of weeks without rebuilding one.
	maxLayers = 16
	// maxLayerLakes bounds the lakes of all held layers of pictures together, so that those of a whole continent do not take
	// sixteen times its memory: each of a million lakes takes 200 bytes.
	maxLayerLakes = 4 << 20
	// maxVectorLayerLakes is the same for layers of vector tiles. Each lake takes 4 bytes for a view and 16 for a snapshot.
	maxVectorLayerLakes = 8 << 20
	// lightPart divides the lakes of a layer of probabilities: each takes 20 bytes, since the geometry is that of the map. So those of all
	// weeks of a forecast are held besides the current map.
	lightPart = 8
)

// layers holds the layers of the views V that were asked for last, each for as long as its view is in use: when a snapshot is
// replaced, its layers go with it. A view is a [snapshot.View] or its [snapshot.Values]. It is known by its pointer: it is immutable, and
// [snapshot.Snapshot] returns the same pointer while it holds the view.
//
// Requests compare weak pointers, and never ask one for its value: that waits for the garbage collector, with a million lakes for a tenth
// of a second.
type layers[V, L any] struct {
	build    func(v *V, like *L) (*L, error) // like is a layer of a view with the same lakes, or nil
	shows    func(v *V) (data.Week, []data.Lake)
	light    func(v *V) bool // whether the layer of v takes a lightPart of the memory of others; nil if none does
	maxLakes int
	builds   prometheus.Counter
	turn     chan struct{} // holds a value during a build: one at a time, so that many weeks at once need the memory of one

	failures atomic.Int64   // how many builds have failed; written during a turn
	failed   failedLayer[V] // the last one; used during a turn

	recent atomic.Pointer[heldLayer[V, L]] // the last of held, so that most calls take no lock

	mu   sync.Mutex         // guards held
	held []*heldLayer[V, L] // the most recently used one last
}

// A heldLayer is the layer of one view.
type heldLayer[V, L any] struct {
	view  weak.Pointer[V]
	week  data.Week
	first *data.Lake // the views of a snapshot share their lakes, as do snapshots with the same lakes: first and lakes tell which
	lakes int
	count int // of lakes, for maxLakes
	layer *L

	cleanup runtime.Cleanup // removes it when the view is freed
}

// A failedLayer is the result of a build that failed.
type failedLayer[V any] struct {
	view weak.Pointer[V]
	err  error
}

func newLayers[V, L any](build func(*V, *L) (*L, error), shows func(*V) (data.Week, []data.Lake), maxLakes int, builds prometheus.Counter) *layers[V, L] {
	return &layers[V, L]{build: build, shows: shows, maxLakes: maxLakes, builds: builds, turn: make(chan struct{}, 1)}
}

// get returns the layer of v, and builds it if it is not held. It waits for other builds, until ctx ends. All who wait for
// one build get its result.
func (ls *layers[V, L]) get(ctx context.Context, v *V) (*L, error) {
	return ls.getSince(ctx, v, ls.failures.Load())
}

// getSince is get for a caller that has waited since there were that many failures.
func (ls *layers[V, L]) getSince(ctx context.Context, v *V, failures int64) (*L, error) {
	if l, _ := ls.find(v); l != nil {
		return l, nil
	}
	select {
	case ls.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-ls.turn }()
	l, like := ls.find(v)
	if l != nil { // built in the meantime
		return l, nil
	}
	if ls.failures.Load() > failures && ls.failed.view == weak.Make(v) {
		return nil, ls.failed.err
	}
	ls.builds.Inc()
	l, err := ls.build(v, like)
	if err != nil {
		ls.failed = failedLayer[V]{weak.Make(v), err}
		ls.failures.Add(1)
		return nil, err
	}
	ls.hold(v, l)
	return l, nil
}

// find returns the layer of v and marks it as used, or nil and a layer of a view with the same lakes, if one is held: of the same week if
// there is one, since only official statements may differ.
func (ls *layers[V, L]) find(v *V) (l, like *L) {
	view := weak.Make(v)
	if h := ls.recent.Load(); h != nil && h.view == view {
		return h.layer, nil
	}
	week, lakes := ls.shows(v)
	ls.mu.Lock()
	defer ls.mu.Unlock()
	sameWeek := false // whether like is of it
	for i, h := range slices.Backward(ls.held) {
		if h.view == view {
			copy(ls.held[i:], ls.held[i+1:])
			ls.held[len(ls.held)-1] = h
			ls.recent.Store(h)
			return h.layer, nil
		}
		if !sameWeek && (like == nil || h.week == week) && h.first != nil && h.first == firstOf(lakes) && h.lakes == len(lakes) {
			like, sameWeek = h.layer, h.week == week
		}
	}
	return nil, like
}

// affords reports whether the layer of v is held, or may be beside all others in the memory of maxLakes.
func (ls *layers[V, L]) affords(v *V) bool {
	_, shown := ls.shows(v)
	lakes, view := ls.count(v, shown), weak.Make(v)
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for _, h := range ls.held {
		if h.view == view {
			return true
		}
		lakes += h.count
	}
	return lakes <= ls.maxLakes
}

// count returns how many lakes the layer of v counts for maxLakes.
func (ls *layers[V, L]) count(v *V, shown []data.Lake) int {
	if ls.light != nil && ls.light(v) {
		return len(shown) / lightPart
	}
	return len(shown)
}

// hold holds the layer of v, and drops the least recently used layers if there are too many.
func (ls *layers[V, L]) hold(v *V, l *L) {
	defer runtime.KeepAlive(v) // or remove could come before the layer is held
	week, shown := ls.shows(v)
	h := &heldLayer[V, L]{view: weak.Make(v), week: week, first: firstOf(shown), lakes: len(shown), count: ls.count(v, shown), layer: l}
	h.cleanup = runtime.AddCleanup(v, ls.remove, h)
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.held = append(ls.held, h)
	ls.recent.Store(h)
	lakes := 0
	for i, h := range slices.Backward(ls.held) {
		// The two newest are held at any size: during a refresh, tiles of the old and of the new view are asked for.
		if lakes += h.count; len(ls.held)-i > 2 && lakes > ls.maxLakes || len(ls.held)-i > maxLayers {
			ls.dropOf(i + 1)
			return
		}
	}
}

// dropOf drops the first n layers, except those of the newest week of their lakes: that is the current map, whose cached tiles must
// not wait while many other weeks are asked for. Of two snapshots with the same lakes, that is the one used last. ls.mu must be held.
func (ls *layers[V, L]) dropOf(n int) {
	newest := make(map[*data.Lake]*heldLayer[V, L])
	for _, h := range ls.held {
		if other := newest[h.first]; h.first != nil && (other == nil || h.week >= other.week) {
			newest[h.first] = h
		}
	}
	kept := slices.DeleteFunc(ls.held[:n:n], func(h *heldLayer[V, L]) bool {
		if newest[h.first] == h {
			return false
		}
		h.cleanup.Stop() // or a view that is used for long would collect one for each time its layer is built
		return true
	})
	ls.held = slices.Delete(ls.held, len(kept), n)
}

// remove removes a layer whose view the garbage collector has freed.
func (ls *layers[V, L]) remove(freed *heldLayer[V, L]) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.recent.CompareAndSwap(freed, nil)
	ls.held = slices.DeleteFunc(ls.held, func(h *heldLayer[V, L]) bool { return h == freed })
}

func firstOf(lakes []data.Lake) *data.Lake {
	if len(lakes) == 0 {
		return nil
	}
	return &lakes[0]
}

func shownByView(v *snapshot.View) (data.Week, []data.Lake) { return v.Week, v.Lakes }

func shownByValues(v *snapshot.Values) (data.Week, []data.Lake) { return v.Week, v.Lakes }
