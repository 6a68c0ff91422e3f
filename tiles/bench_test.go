package tiles

import (
	"context"
	"testing"

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
