package tiles

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/render"
)

// BenchmarkTile measures each tier with a tile of ordinary size.
func BenchmarkTile(b *testing.B) {
	renderer := func() *fakeRenderer {
		return &fakeRenderer{png: func(render.Spec) []byte { return make([]byte, 4000) }}
	}
	b.Run("memory", func(b *testing.B) {
		benchmarkTile(b, newTestService(b, renderer(), nil))
	})
	b.Run("blank", func(b *testing.B) {
		benchmarkTile(b, newTestService(b, &fakeRenderer{blank: true}, nil))
	})
	b.Run("disk", func(b *testing.B) {
		dir := b.TempDir()
		opts := &Options{Dir: dir, Variant: "who2003", MemoryBytes: 1} // nothing fits into memory
		s := newTestService(b, renderer(), opts)
		mustTile(b, s, new(data.View), testRequest(1))
		mustDo(b, s.Close())
		benchmarkTile(b, newTestService(b, renderer(), opts))
	})
}

func benchmarkTile(b *testing.B, s *Service) {
	v := new(data.View)
	mustTile(b, s, v, testRequest(1))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Tile(context.Background(), v, testRequest(1)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHits has 64 goroutines ask for cached tiles of one view, drawn by the real renderer, whose fingerprints are
// part of each hit.
func BenchmarkHits(b *testing.B) {
	s := newTestService(b, render.New(colormap.Limits{Level1: 10, Level2: 50}), nil)
	v := &data.View{
		Lakes:  []data.Lake{{ID: "lake", Point: orb.Point{13.35, 52.48}}},
		States: []data.State{{Chlorophyll: 12_00}},
	}
	var requests []Request
	for z := maptile.Zoom(0); z < 16; z++ {
		requests = append(requests, Request{Tile: maptile.At(v.Lakes[0].Point, z), Scale: 1, Style: render.Heat, Colormap: colormap.Default})
		if t := mustTile(b, s, v, requests[z]); t.Blank {
			b.Fatalf("tile %v is blank", requests[z].Tile)
		}
	}
	b.SetParallelism(64)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := rand.IntN(len(requests)); pb.Next(); i++ {
			if _, err := s.Tile(context.Background(), v, requests[i%len(requests)]); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
