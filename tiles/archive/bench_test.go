package archive

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"limnomap/tiles/hilbert"
)

// BenchmarkAdd adds distinct tiles of 3.6 kB, about the mean of real ones. It reports how much memory a tile takes until Close,
// and the ratio of the size of the archive to that of its tiles.
func BenchmarkAdd(b *testing.B) {
	const size = 3600
	for _, kind := range kinds {
		b.Run(strings.TrimPrefix(kind, "lakes"), func(b *testing.B) {
			path := b.TempDir() + "/" + kind
			meta := testMetadata()
			meta.MaxZoom = maxZoom
			w, err := Create(path, meta)
			if err != nil {
				b.Fatal(err)
			}
			defer w.Abort()
			png := make([]byte, size)
			fillRandom(png)
			before := heap()
			b.SetBytes(size)
			b.ReportAllocs()
			id := hilbert.FirstID(maxZoom)
			for b.Loop() {
				binary.LittleEndian.PutUint64(png, id)
				if err := w.Add(hilbert.Tile(id), png); err != nil {
					b.Fatal(err)
				}
				id++
			}
			b.StopTimer()
			b.ReportMetric(float64(heap()-before)/float64(b.N), "held-B/op")
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				b.ReportMetric(float64(info.Size())/float64(b.N)/size, "size-ratio")
			}
		})
	}
}

// fillRandom makes bytes that cannot be compressed, like those of a PNG.
func fillRandom(b []byte) {
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(b) // it never fails
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
