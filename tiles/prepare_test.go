package tiles

import (
	"bytes"
	"runtime"
	"slices"
	"testing"

	"github.com/paulmach/orb/maptile"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/render"
	"limnomap/render/vector"
)

// TestPreparedTilesBuildNoLayer prepares two snapshots of the same lakes. Tiles of either build no layer, and are those of a service that
// prepares nothing.
func TestPreparedTilesBuildNoLayer(t *testing.T) {
	limits := colormap.Limits{Level1: 10, Level2: 50}
	newService := func() *Service {
		s, err := New(render.New(limits), &Options{Vectors: vector.New(limits), Registerer: prometheus.NewRegistry()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	prepared, plain := newService(), newService()
	source := &lakeDistrict{values: make([]data.Chlorophyll, 30)}
	var views []*snapshot.View
	for i := range 2 {
		for k := range source.values {
			source.values[k] = data.Chlorophyll(100 * (k + 7*i))
		}
		source.revision++
		snap, err := snapshot.Load(t.Context(), source, &snapshot.Options{AsOf: snapshot.Newest})
		if err != nil {
			t.Fatal(err)
		}
		views = append(views, snap.Current)
		prepared.Prepare(snap.Current)
		prepared.PrepareVectors(snap.Current)
	}
	const builds = 4 // pictures and vector tiles of two snapshots
	if n := testutil.ToFloat64(prepared.metrics.layerBuilds); n != builds {
		t.Errorf("%v layers were built by Prepare, want %d", n, builds)
	}
	one, _ := prepared.vectorLayers.find(views[0])
	if other, _ := prepared.vectorLayers.find(views[1]); other.Index() != one.Index() {
		t.Error("the second layer of vector tiles has an index of its own")
	}
	for _, v := range slices.Backward(views) {
		for _, tile := range []maptile.Tile{{}, maptile.New(33, 21, 6)} {
			req := Request{Tile: tile, Scale: 1, Style: render.Heat, Colormap: colormap.Default}
			got, err := prepared.Tile(t.Context(), v.Values(), req)
			want, err2 := plain.Tile(t.Context(), v.Values(), req)
			if err != nil || err2 != nil || !bytes.Equal(got.Bytes, want.Bytes) {
				t.Errorf("tile %v: %v, %v, and the bytes differ", tile, err, err2)
			}
			got, err = prepared.Vector(t.Context(), v, tile)
			want, err2 = plain.Vector(t.Context(), v, tile)
			if err != nil || err2 != nil || !bytes.Equal(got.Bytes, want.Bytes) {
				t.Errorf("vector tile %v: %v, %v, and the bytes differ", tile, err, err2)
			}
		}
	}
	if n := testutil.ToFloat64(prepared.metrics.layerBuilds); n != builds {
		t.Errorf("%v layers were built, want only those of Prepare", n)
	}
	prepared.PrepareVectors(views[1])
	prepared.Prepare(views[1]) // as when only the forecasts are new
	if n := testutil.ToFloat64(prepared.metrics.layerBuilds); n != builds {
		t.Errorf("%v layers after the same view was prepared again, want %d", n, builds)
	}
}

// TestPrepareUsesAllProcessorsOnce prepares views with other lakes each: while there are requests, it works on its own goroutine.
func TestPrepareUsesAllProcessorsOnce(t *testing.T) {
	r := new(fakeRenderer)
	s := newTestService(t, r, nil)
	for n := range 3 {
		source := &lakeDistrict{values: make([]data.Chlorophyll, 10+n), revision: 1}
		snap, err := snapshot.Load(t.Context(), source, &snapshot.Options{AsOf: snapshot.Newest})
		if err != nil {
			t.Fatal(err)
		}
		s.Prepare(snap.Current)
		if r.first != 1 || r.layers != n+1 {
			t.Errorf("%d layers, %d of them on all processors, want %d, and the first", r.layers, r.first, n+1)
		}
		defer runtime.KeepAlive(snap)
	}
}
