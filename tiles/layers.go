package tiles

import (
	"context"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

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

// layers remembers the layers of the views that were asked for last. A view is known by its pointer: it is immutable
// and [data.Snapshot] gives the same pointer while it holds the view.
type layers struct {
	build   func(*data.View) (*render.Layer, error)
	metrics *metrics
	turn    sync.Mutex // one layer is built at a time, so that asking for many weeks at once costs the room of one

	mu    sync.Mutex // guards what follows
	lru   *simplelru.LRU[*data.View, *layerSlot]
	lakes int // in all held layers
}

// A layerSlot is a layer, or the promise of one.
type layerSlot struct {
	done  chan struct{} // closed once layer and err are set
	layer *render.Layer
	err   error
}

func newLayers(build func(*data.View) (*render.Layer, error), m *metrics) *layers {
	ls := &layers{build: build, metrics: m}
	// The only error is for a size that is not positive.
	lru, err := simplelru.NewLRU(maxLayers, func(v *data.View, _ *layerSlot) { ls.lakes -= len(v.Lakes) })
	if err != nil {
		panic(err)
	}
	ls.lru = lru
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
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if slot, ok := ls.lru.Get(v); ok {
		return slot, true
	}
	slot = &layerSlot{done: make(chan struct{})}
	ls.lakes += len(v.Lakes)
	ls.lru.Add(v, slot)
	for ls.lakes > maxLayerLakes && ls.lru.Len() > 2 {
		ls.lru.RemoveOldest()
	}
	return slot, false
}

func (ls *layers) fill(v *data.View, slot *layerSlot) {
	ls.turn.Lock()
	slot.layer, slot.err = ls.build(v)
	ls.turn.Unlock()
	if slot.err != nil { // the next who asks tries again
		ls.mu.Lock()
		if held, ok := ls.lru.Peek(v); ok && held == slot {
			ls.lru.Remove(v)
		}
		ls.mu.Unlock()
	}
	close(slot.done)
}
