package tiles

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"weak"

	"limnomap/data"
	"limnomap/render/vector"
)

const (
	// maxVectorLayers is how many views' layers of vector tiles are held, as of pictures.
	maxVectorLayers = 16
	// maxVectorLakes bounds the lakes of all of them together. Each takes 4 bytes a view, and 16 more a snapshot.
	maxVectorLakes = 8 << 20
)

// vectorLayers remembers the layers of the views whose vector tiles were asked for last, each for as long as somebody has
// the view. Those of one snapshot share its index.
type vectorLayers struct {
	turn chan struct{} // holds a value while a layer is built: one at a time, so that many weeks at once cost the room of one

	mu   sync.Mutex    // guards held
	held []vectorLayer // the most recently used last
}

type vectorLayer struct {
	view  weak.Pointer[data.View]
	lakes int
	*vector.Layer
}

func newVectorLayers() *vectorLayers { return &vectorLayers{turn: make(chan struct{}, 1)} }

// get returns the layer of v, made by build if there is none: with the index of another view of its snapshot, where that
// is held, else with nil. While others build it waits, until ctx ends.
func (ls *vectorLayers) get(ctx context.Context, v *data.View, build func(*data.View, *vector.Index) (*vector.Layer, error)) (*vector.Layer, error) {
	if l, _ := ls.find(v); l != nil {
		return l, nil
	}
	select {
	case ls.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-ls.turn }()
	l, x := ls.find(v)
	if l != nil { // built while this one waited
		return l, nil
	}
	l, err := build(v, x)
	if err != nil {
		return nil, err
	}
	ls.hold(v, l)
	return l, nil
}

// find returns the layer of v and makes it the most recently used, or nil and what index the views of v's snapshot have.
func (ls *vectorLayers) find(v *data.View) (l *vector.Layer, x *vector.Index) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for i, h := range ls.held {
		if h.view.Value() == v {
			copy(ls.held[i:], ls.held[i+1:])
			ls.held[len(ls.held)-1] = h
			return h.Layer, nil
		}
		if h.Index().Of(v) {
			x = h.Index()
		}
	}
	return nil, x
}

// hold holds the layer of v, and drops those that were not asked for the longest where there are too many.
func (ls *vectorLayers) hold(v *data.View, l *vector.Layer) {
	runtime.AddCleanup(v, (*vectorLayers).sweep, ls)
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.held = append(ls.held, vectorLayer{weak.Make(v), len(v.Lakes), l})
	lakes := 0
	for i, h := range slices.Backward(ls.held) {
		// The two newest are held at any size: during a refresh, tiles of the old and of the new view are asked for.
		if lakes += h.lakes; len(ls.held)-i > 2 && lakes > maxVectorLakes || len(ls.held)-i > maxVectorLayers {
			ls.held = slices.Delete(ls.held, 0, i+1)
			return
		}
	}
}

// sweep drops the layers of views that are gone.
func (ls *vectorLayers) sweep() {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.held = slices.DeleteFunc(ls.held, func(h vectorLayer) bool { return h.view.Value() == nil })
}
