package api

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestChunksGiveBackWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newChunks(rapid.SampledFrom([]int{0, 1, 100, maxChunk, 3 * maxChunk}).Draw(t, "expected"))
		var want []byte
		for _, size := range rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 200), rapid.IntRange(0, 2*maxChunk)), 0, 6).Draw(t, "sizes") {
			b := bytes.Repeat([]byte{byte(len(want))}, size)
			if n, err := c.Write(b); n != size || err != nil {
				t.Fatalf("Write(%d bytes) = %d, %v", size, n, err)
			}
			want = append(want, b...)
		}
		if got := c.join(); !bytes.Equal(got, want) {
			t.Fatalf("join() = %d bytes, want the %d written", len(got), len(want))
		}
		if got := c.join(); len(got) > 0 {
			t.Fatalf("a second join() = %d bytes, want none", len(got))
		}
	})
}
