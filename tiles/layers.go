package tiles

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"limnomap/data"
	"limnomap/render"
)

const (
	// maxLayers is how many views' layers are held: enough to play four months of weeks without rebuilding one.
	maxLayers = 16
	// maxLayerLakes bounds the lakes of all held layers together, so that a whole continent's do not fill the memory
	// sixteenfold: of a million lakes, each takes 200 bytes. The two newest are held at any size: during a refresh, tiles of
	// the old and the new view are asked.
	maxLayerLakes = 4 << 20
)

// layers remembers the layers of the views that were asked for last, each for as long as somebody has the view: a
// snapshot that was replaced takes its layers along. A view is known by its pointer: it is immutable and [data.Snapshot]
// gives the same pointer while it holds the view.
type layers struct {
	build   func(v *data.View, like *render.Layer) (*render.Layer, error) // like is a layer of the same lakes, or nil
	metrics *metrics
	turn    sync.Mutex // one layer is built at a time, so that asking for many weeks at once costs the room of one

	held  atomic.Pointer[[]*layerSlot] // in the order in which they were added; replaced whole, so that a hit takes no lock
	added atomic.Uint64                // how many slots ever were: the clock by which slots are used

	mu    sync.Mutex // is held to replace held and to advance added, and guards what follows
	lakes int        // in all held layers
}

// A layerSlot is a layer, or the promise of one.
type layerSlot struct {
	view    weak.Pointer[data.View]
	first   *data.Lake // of the view's lakes, which the views of a snapshot share; nil without any
	lakes   int
	used    atomic.Uint64   // the clock when the slot was asked for last
	cleanup runtime.Cleanup // drops the slot when the view is gone

	done  chan struct{} // closed once layer and err are set
	layer *render.Layer
	err   error
}

func newLayers(build func(*data.View, *render.Layer) (*render.Layer, error), m *metrics) *layers {
	ls := &layers{build: build, metrics: m}
	ls.held.Store(new([]*layerSlot))
	return ls
}

// get returns the layer of v. The first who asks builds it; the others wait for that, or until their ctx ends.
func (ls *layers) get(ctx context.Context, v *data.View) (*render.Layer, error) {
	slot, found := ls.slot(v)
	if !found {
		ls.metrics.layerBuilds.Inc()
		ls.fill(v, slot)
		return slot.layer, slot.err
	}
	select {
	case <-slot.done: // nearly always; asked first, so that a caller who is leaving still gets what is there
		return slot.layer, slot.err
	default:
	}
	select {
	case <-slot.done:
		return slot.layer, slot.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// slot returns the slot of v, and whether somebody fills or has filled it already.
func (ls *layers) slot(v *data.View) (slot *layerSlot, found bool) {
	if slot := ls.find(v); slot != nil {
		return slot, true
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if slot := ls.find(v); slot != nil {
		return slot, true
	}
	slot = &layerSlot{view: weak.Make(v), lakes: len(v.Lakes), done: make(chan struct{})}
	if len(v.Lakes) > 0 {
		slot.first = &v.Lakes[0]
	}
	slot.used.Store(ls.added.Add(1))
	slot.cleanup = runtime.AddCleanup(v, ls.drop, slot)
	held := slices.Concat(*ls.held.Load(), []*layerSlot{slot})
	ls.held.Store(&held)
	ls.lakes += slot.lakes
	for n := len(held); n > maxLayers || ls.lakes > maxLayerLakes && n > 2; n-- {
		ls.remove(leastUsed(*ls.held.Load()))
	}
	return slot, false
}

// find returns the slot of v, or nil.
func (ls *layers) find(v *data.View) *layerSlot {
	for _, slot := range *ls.held.Load() {
		if slot.view.Value() == v {
			// Written once per slot that is added, not at each hit: processors need not pass the line around.
			if now := ls.added.Load(); slot.used.Load() != now {
				slot.used.Store(now)
			}
			return slot
		}
	}
	return nil
}

// leastUsed returns the slot that was not asked for the longest, and of several the one that was added first.
func leastUsed(held []*layerSlot) *layerSlot {
	return slices.MinFunc(held, func(a, b *layerSlot) int { return cmp.Compare(a.used.Load(), b.used.Load()) })
}

// drop removes slot if it is held still.
func (ls *layers) drop(slot *layerSlot) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.remove(slot)
}

// remove removes slot if it is held still. ls.mu must be held.
func (ls *layers) remove(slot *layerSlot) {
	held := *ls.held.Load()
	i := slices.Index(held, slot)
	if i < 0 {
		return
	}
	slot.cleanup.Stop() // it would hold on to the layer for as long as the view lives
	rest := slices.Delete(slices.Clone(held), i, i+1)
	ls.held.Store(&rest)
	ls.lakes -= slot.lakes
}

// like returns a layer of the same lakes as slot's, nil if none is held.
func (ls *layers) like(slot *layerSlot) *render.Layer {
	for _, other := range *ls.held.Load() {
		if other == slot || other.first != slot.first || other.lakes != slot.lakes || slot.first == nil {
			continue
		}
		select {
		case <-other.done:
			if other.err == nil {
				return other.layer
			}
		default:
		}
	}
	return nil
}

func (ls *layers) fill(v *data.View, slot *layerSlot) {
	ls.turn.Lock()
	slot.layer, slot.err = ls.build(v, ls.like(slot))
	ls.turn.Unlock()
	if slot.err != nil { // the next who asks tries again
		ls.drop(slot)
	}
	close(slot.done)
}
