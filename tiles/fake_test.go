package tiles

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/paulmach/orb/maptile"
	"go.uber.org/goleak"

	"limnomap/data/snapshot"
	"limnomap/render"
	"limnomap/tiles/disk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fakeRenderer draws the spec as text. A test sets its fields before it uses it concurrently.
type fakeRenderer struct {
	gate  chan struct{} // if not nil, each render takes one value from it
	err   error
	png   func(render.Spec) ([]byte, error) // if not nil, is called by Render
	walk  func(render.Spec)                 // if not nil, is called by Fingerprint
	panic bool                              // in Render

	mu      sync.Mutex // guards what follows
	epoch   uint64     // part of each fingerprint: the state of the lakes
	blank   bool       // all tiles are
	layers  int
	first   int // of layers: those by FirstLayer
	renders map[render.Spec]int
	known   map[fakeKey]fakeFingerprint
}

type fakeKey struct {
	layer *render.Layer
	spec  render.Spec
}

type fakeFingerprint struct {
	fp       render.Fingerprint
	notBlank bool
}

func (r *fakeRenderer) Layer(*snapshot.Values) *render.Layer {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.layers++
	return new(render.Layer)
}

func (r *fakeRenderer) PixelLakes(*render.Layer, render.Spec, render.Part) []int { return nil }

func (r *fakeRenderer) WithPixels(l *render.Layer, _ map[int]*render.LakePixels) *render.Layer {
	return l
}

func (r *fakeRenderer) FirstLayer(v *snapshot.Values) *render.Layer {
	r.mu.Lock()
	r.first++
	r.mu.Unlock()
	return r.Layer(v)
}

func (r *fakeRenderer) LayerOn(_ *render.Layer, v *snapshot.Values) *render.Layer { return r.Layer(v) }

func (r *fakeRenderer) Successor(_ *render.Layer, v *snapshot.Values) *render.Layer {
	return r.Layer(v)
}

func (r *fakeRenderer) Known(l *render.Layer, s render.Spec) (fp render.Fingerprint, notBlank, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k, ok := r.known[fakeKey{l, s}]
	return k.fp, k.notBlank, ok
}

func (r *fakeRenderer) Fingerprint(l *render.Layer, s render.Spec) (fp render.Fingerprint, notBlank bool) {
	if r.walk != nil {
		r.walk(s)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	binary.BigEndian.PutUint64(fp[:], r.epoch)
	if r.known == nil {
		r.known = make(map[fakeKey]fakeFingerprint)
	}
	r.known[fakeKey{l, s}] = fakeFingerprint{fp, !r.blank}
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
		return r.png(s)
	}
	return fmt.Appendf(nil, "epoch %d of %v", epoch, s), nil
}

func (r *fakeRenderer) Paint(_ *render.Layer, s render.Spec, _ render.Part) (render.Painting, error) {
	b, err := r.Render(nil, s)
	return render.Painting{Pixels: b, Width: len(b)}, err
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

// A syncDisk is a disk cache that writes each tile before Put returns, so that it drops none.
type syncDisk struct {
	*disk.Cache
	fill *disk.Fill
}

func (d syncDisk) Put(key, body []byte) { _ = d.fill.Put(context.Background(), key, body) }

// newTestDisk returns a disk cache that is closed when the test ends.
func newTestDisk(tb testing.TB, dir string) syncDisk {
	tb.Helper()
	c, err := disk.Open(dir, &disk.Options{MinFree: -1})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	return syncDisk{c, disk.NewFill(c)}
}

// diskOptions returns the options of a Service with a disk cache in dir.
func diskOptions(tb testing.TB, dir string) *Options {
	return &Options{Disk: newTestDisk(tb, dir), Variant: "who2003", Renders: 3}
}

func mustDo(tb testing.TB, errs ...error) {
	tb.Helper()
	for _, err := range errs {
		if err != nil {
			tb.Fatal(err)
		}
	}
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

func mustTile(tb testing.TB, s *Service, v *snapshot.View, req Request) Tile {
	tb.Helper()
	t, err := s.Tile(context.Background(), v.Values(), req)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

var errFake = errors.New("out of ink")

// sameTile reports whether a server would send the same for a and b.
func sameTile(a, b Tile) bool {
	return bytes.Equal(a.Bytes, b.Bytes) && a.ETag == b.ETag && a.Blank == b.Blank
}
