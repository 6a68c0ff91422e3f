package render

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
	"github.com/paulmach/orb/maptile"
)

// A Fingerprint is a hash of everything of a layer that can reach a pixel of a tile.
type Fingerprint [16]byte

// A memoKey is what a fingerprint depends on besides the layer. The colour map is not among it: a fingerprint stands
// for the lakes, not for how they are coloured.
type memoKey struct {
	tile  maptile.Tile
	scale int
	style StyleID
	layer uint64 // its number
}

type memoEntry struct {
	fingerprint Fingerprint
	any         bool
}

// A trace is everything of a hit that can change a pixel of its window.
type trace struct {
	x, y  int32
	value uint32
	size  size
	water uint64 // a hash of its shape
}

// appendTraces appends the bytes of the traces of s to b.
func appendTraces(b []byte, s *scene, w window, p painter) []byte {
	for _, h := range s.hits {
		b = p.trace(h, w).appendTo(b)
	}
	if s.patch.any {
		b = s.patch.appendTraces(b)
	}
	return b
}

// appendTo appends the trace's bytes to b.
func (t trace) appendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(t.x))
	b = binary.LittleEndian.AppendUint32(b, uint32(t.y))
	b = binary.LittleEndian.AppendUint32(b, t.value)
	b = append(b, byte(t.size))
	return binary.LittleEndian.AppendUint64(b, t.water)
}

// fingerprint returns the hash of traces one after the other, in an order that their input has no part in.
func fingerprint(traces []byte) Fingerprint {
	var f Fingerprint
	var low, high xxhash.Digest
	low.ResetWithSeed(0)
	high.ResetWithSeed(1)
	low.Write(traces)
	high.Write(traces)
	binary.LittleEndian.PutUint64(f[:8], low.Sum64())
	binary.LittleEndian.PutUint64(f[8:], high.Sum64())
	return f
}
