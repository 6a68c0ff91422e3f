package tiles

import (
	"slices"

	"github.com/paulmach/orb/maptile"

	"limnomap/data/snapshot"
	"limnomap/render"
)

// Prepare makes what the pictures of v have in common, so that no request for one waits for it: call it before v is published. It takes no
// turn, and works on the caller's goroutine alone; but the first call, before which there are no requests, uses all processors. Where the
// lakes are as before, it uses again what was made for them. An error is only logged: the first request for a tile makes the same again, and
// fails if that does.
func (s *Service) Prepare(v *snapshot.View) {
	build := s.succeedLayer
	if s.layers.empty() {
		build = s.firstLayer
	}
	if err := s.layers.prepare(v.Values(), build); err != nil {
		s.options.Logger.Error("layer was not prepared", "error", err)
	}
}

// Affords reports whether the layer of v is held, or may be without another being dropped.
func (s *Service) Affords(v *snapshot.Values) bool { return s.layers.affords(v) }

// PrepareVectors is Prepare for vector tiles, and may run at the same time.
func (s *Service) PrepareVectors(v *snapshot.View) {
	if s.options.Vectors == nil {
		return
	}
	err := s.vectorLayers.prepare(v, s.buildVectorLayer)
	if err == nil {
		err = s.prepareVector(v, maptile.Tile{})
	}
	if err != nil {
		s.options.Logger.Error("vector tiles were not prepared", "error", err)
	}
}

// prepareVector puts a vector tile into memory. That of zoom 0 is one of the largest, and every map begins with it.
func (s *Service) prepareVector(v *snapshot.View, t maptile.Tile) error {
	layer, _ := s.vectorLayers.find(v)
	if layer == nil {
		return nil // dropped already: others are asked for
	}
	fp, notBlank, err := s.vectorFingerprint(layer, v, t)
	if err != nil || !notBlank {
		return err
	}
	b, err := s.encodeVector(layer, v, t)
	if err != nil {
		return err
	}
	s.memory.put(s.vectorKey(t, fp).Sum(), newTile(b))
	return nil
}

// succeedLayer makes the layer of v; before is one of lakes in the same places, or nil.
func (s *Service) succeedLayer(v *snapshot.Values, before *render.Layer) (layer *render.Layer, err error) {
	defer s.recoverTo(&err, "making the layer")
	if before != nil {
		return s.renderer.Successor(before, v), nil
	}
	return s.renderer.Layer(v), nil
}

func (s *Service) firstLayer(v *snapshot.Values, _ *render.Layer) (layer *render.Layer, err error) {
	defer s.recoverTo(&err, "making the layer")
	return s.renderer.FirstLayer(v), nil
}

// empty reports whether no layer is held.
func (ls *layers[V, L]) empty() bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return len(ls.held) == 0
}

// prepare makes the layer of v unless it is held. Unlike get, it does not wait for other builds, and none waits for it: requests for
// other weeks of the published snapshot go on.
func (ls *layers[V, L]) prepare(v *V, build func(v *V, before *L) (*L, error)) error {
	if l, _ := ls.find(v); l != nil {
		return nil
	}
	ls.builds.Inc()
	l, err := build(v, ls.before(v))
	if err != nil {
		return err
	}
	ls.hold(v, l)
	return nil
}

// before returns the most recently used layer of a view whose lakes are in the places of those of v, or nil. Those of another snapshot may
// be in another slice.
func (ls *layers[V, L]) before(v *V) *L {
	_, lakes := ls.shows(v)
	ls.mu.Lock()
	held := slices.Clone(ls.held)
	ls.mu.Unlock() // or tiles would wait while a million lakes are compared
	for _, h := range slices.Backward(held) {
		if view := h.view.Value(); view != nil {
			if _, of := ls.shows(view); render.SamePlaces(of, lakes) {
				return h.layer
			}
		}
	}
	return nil
}
