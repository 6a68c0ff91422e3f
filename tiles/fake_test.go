package tiles

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/paulmach/orb/maptile"
	"go.uber.org/goleak"

	"limnomap/data"
	"limnomap/render"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fakeRenderer draws the spec as text. Its fields are set before it is shared.
type fakeRenderer struct {
	gate  chan struct{} // if not nil, each render takes one value from it
	err   error
	png   func(render.Spec) []byte // if not nil, what is drawn instead of text
	panic bool                     // in Render

	mu      sync.Mutex // guards what follows
	epoch   uint64     // part of each fingerprint: the state of the lakes
	blank   bool       // nothing is in reach of any tile
	layers  int
	renders map[render.Spec]int
}

func (r *fakeRenderer) Layer(*data.View) *render.Layer {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.layers++
	return new(render.Layer)
}

func (r *fakeRenderer) LayerOn(_ *render.Layer, v *data.View) *render.Layer { return r.Layer(v) }

func (r *fakeRenderer) Fingerprint(_ *render.Layer, s render.Spec) (fp render.Fingerprint, any bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	binary.BigEndian.PutUint64(fp[:], r.epoch)
	return fp, !r.blank
}

func (r *fakeRenderer) MayShow(*render.Layer, maptile.Tile, StyleID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.blank
}

func (r *fakeRenderer) Render(_ *render.Layer, s render.Spec) ([]byte, error) {
	r.mu.Lock()
	if r.renders == nil {
		r.renders = make(map[render.Spec]int)
	}
	r.renders[s]++
	epoch := r.epoch
	r.mu.Unlock()
	if r.gate != nil {
		<-r.gate
	}
	switch {
	case r.panic:
		panic("a mistake in the renderer")
	case r.err != nil:
		return nil, r.err
	case r.png != nil:
		return r.png(s), nil
	}
	return fmt.Appendf(nil, "epoch %d of %v", epoch, s), nil
}

func (r *fakeRenderer) total() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, c := range r.renders {
		n += c
	}
	return n
}

// A fakeClock tells the time that it is set to.
type fakeClock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *fakeClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// newTestService returns a Service that is closed when the test ends.
func newTestService(tb testing.TB, r Renderer, opts *Options) *Service {
	tb.Helper()
	s, err := New(r, opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

func testRequest(x uint32) Request {
	return Request{Tile: maptile.New(x, 0, 10), Scale: 1, Style: render.Heat, Colormap: "limno"}
}

func mustTile(tb testing.TB, s *Service, v *data.View, req Request) Tile {
	tb.Helper()
	t, err := s.Tile(context.Background(), v, req)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

var errFake = errors.New("out of ink")

// sameTile reports whether a and b would be answered alike.
func sameTile(a, b Tile) bool {
	return bytes.Equal(a.Bytes, b.Bytes) && a.ETag == b.ETag && a.Blank == b.Blank
}
