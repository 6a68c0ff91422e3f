package tiles

import (
	"context"
	"testing"

	"limnomap/data/snapshot"
	"limnomap/render"
)

// BenchmarkTile measures each tier with a tile of ordinary size.
func BenchmarkTile(b *testing.B) {
	renderer := func() *fakeRenderer {
		return &fakeRenderer{png: func(render.Spec) ([]byte, error) { return make([]byte, 4000), nil }}
	}
	b.Run("memory", func(b *testing.B) {
		benchmarkTile(b, newTestService(b, renderer(), nil))
	})
	b.Run("blank", func(b *testing.B) {
		benchmarkTile(b, newTestService(b, &fakeRenderer{blank: true}, nil))
	})
	b.Run("disk", func(b *testing.B) {
		opts := diskOptions(b, b.TempDir())
		opts.MemoryBytes = 1 // nothing fits into memory
		benchmarkTile(b, newTestService(b, renderer(), opts))
	})
}

func benchmarkTile(b *testing.B, s *Service) {
	v := new(snapshot.View)
	mustTile(b, s, v, testRequest(1))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Tile(context.Background(), v.Values(), testRequest(1)); err != nil {
			b.Fatal(err)
		}
	}
}
