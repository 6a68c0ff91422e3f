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

// appendTo appends the trace's bytes to b.
func (t trace) appendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(t.x))
	b = binary.LittleEndian.AppendUint32(b, uint32(t.y))
	b = binary.LittleEndian.AppendUint32(b, t.value)
	b = append(b, byte(t.size))
	return binary.LittleEndian.AppendUint64(b, t.water)
}

// fingerprint returns the hash of the traces of hits. Each is hashed by itself, and the sums of those hashes once
// more, so that the order of the hits makes no difference and two equal ones do not cancel out.
func fingerprint(hits []hit, w window, p painter) Fingerprint {
	var low, high uint64
	buf := make([]byte, 0, 32)
	for _, h := range hits {
		t := p.trace(h, w)
		low += xxhash.Sum64(t.appendTo(append(buf, 0)))
		high += xxhash.Sum64(t.appendTo(append(buf, 1)))
	}
	var sums [24]byte
	binary.LittleEndian.PutUint64(sums[0:], low)
	binary.LittleEndian.PutUint64(sums[8:], high)
	binary.LittleEndian.PutUint64(sums[16:], uint64(len(hits)))
	var f Fingerprint
	binary.LittleEndian.PutUint64(f[:8], xxhash.Sum64(sums[:]))
	sums[0] ^= 0xff
	binary.LittleEndian.PutUint64(f[8:], xxhash.Sum64(sums[:]))
	return f
}
