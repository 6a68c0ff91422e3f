package vector

import (
	"encoding/binary"

	"github.com/paulmach/orb/maptile"

	"limnomap/data"
	"limnomap/render"
)

type memoEntry struct {
	fingerprint render.Fingerprint
	any         bool
}

// Fingerprint returns the fingerprint of what t shows of v, whose layer l is, and whether it shows any lake at all: if
// not, the tile is the empty one.
func (l *Layer) Fingerprint(v *data.View, t maptile.Tile) (fp render.Fingerprint, any bool) {
	if e, ok := l.memo.Get(t); ok {
		return e.fingerprint, e.any
	}
	var e memoEntry
	if hits := l.find(t); len(hits) > 0 {
		e = memoEntry{render.FingerprintOf(traces(v, hits)), true}
	}
	l.memo.Add(t, e)
	return e.fingerprint, e.any
}

// traces returns all that a tile shows of hits, one after the other.
func traces(v *data.View, hits []hit) []byte {
	b := make([]byte, 0, 80*len(hits))
	for _, h := range hits {
		lake, state := &v.Lakes[h.lake], &v.States[h.lake]
		b = binary.LittleEndian.AppendUint32(b, uint32(h.x))
		b = binary.LittleEndian.AppendUint32(b, uint32(h.y))
		b = binary.LittleEndian.AppendUint32(b, uint32(state.Chlorophyll))
		b = append(b, byte(state.Level), byte(state.Risk), byte(state.Trophic))
		b = binary.LittleEndian.AppendUint64(b, uint64(state.MeasuredAt))
		// A length before each text keeps ("ab", "c") apart from ("a", "bc").
		for _, text := range [...]string{string(lake.ID), lake.Name} {
			b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
			b = append(b, text...)
		}
	}
	return b
}
