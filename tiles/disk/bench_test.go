package disk

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkStore writes tiles of the usual size. A file system needs much longer for a file, up to a millisecond, for some seconds after
// very many were removed.
func BenchmarkStore(b *testing.B) {
	c := newSyncCache(b, b.TempDir(), 1<<30, newTestClock())
	body := make([]byte, 4500)
	rand.NewChaCha8([32]byte{}).Read(body)
	n := 0
	for b.Loop() {
		if err := c.store(numberedKey(n%4096), body); err != nil {
			b.Fatal(err)
		}
		n++
	}
}
