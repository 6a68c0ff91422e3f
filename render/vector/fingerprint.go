package vector

import (
	"encoding/binary"

	"github.com/paulmach/orb/maptile"

	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/render"
)

// A remembered fingerprint, and whether the tile shows anything.
type remembered struct {
	fingerprint render.Fingerprint
	notEmpty    bool
}

// Known returns the result of Fingerprint if l remembers it, and whether it does. It never looks at the lakes.
func (l *Layer) Known(t maptile.Tile) (fp render.Fingerprint, notEmpty, ok bool) {
	e, ok := l.fingerprints.Get(t)
	return e.fingerprint, e.notEmpty, ok
}

// Fingerprint returns the fingerprint of what t shows of v, and reports whether it shows any lake: if not, the tile is the
// empty one. l must be the layer of v.
func (l *Layer) Fingerprint(v *snapshot.View, t maptile.Tile) (fp render.Fingerprint, notEmpty bool) {
	if fp, notEmpty, ok := l.Known(t); ok {
		return fp, notEmpty
	}
	var e remembered
	if hits := l.find(t); len(hits) > 0 {
		e = remembered{render.FingerprintOf(hashed(v, hits)), true}
	}
	l.fingerprints.Add(t, e)
	return e.fingerprint, e.notEmpty
}

// hashed returns the bytes that are hashed for a fingerprint: all that a tile shows of hits.
func hashed(v *snapshot.View, hits []hit) []byte {
	b := make([]byte, 0, 80*len(hits))
	for _, h := range hits {
		lake, state := &v.Lakes[h.lake], &v.States[h.lake]
		shares, ok := v.Shares(int(h.lake))
		b = binary.LittleEndian.AppendUint32(b, uint32(h.x))
		b = binary.LittleEndian.AppendUint32(b, uint32(h.y))
		b = binary.LittleEndian.AppendUint32(b, uint32(state.Chlorophyll))
		b = append(b, byte(state.Level), byte(state.Risk), byte(state.Trophic), byte(state.MeasuredBy), byte(state.CellOrigin()), flagOf(state.BelowLimit)|flagOf(ok)<<1, byte(v.Advisories.Kind(int(h.lake))))
		b = binary.LittleEndian.AppendUint64(b, uint64(state.MeasuredAt()))
		if ok {
			b = binary.LittleEndian.AppendUint32(b, uint32(shares.P90))
			b = binary.LittleEndian.AppendUint32(b, uint32(shares.Risks[data.RiskHigh]))
		}
		// The length before each text distinguishes ("ab", "c") from ("a", "bc").
		for _, text := range [...]string{string(lake.ID), lake.Name} {
			b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
			b = append(b, text...)
		}
	}
	return b
}

func flagOf(b bool) byte {
	if b {
		return 1
	}
	return 0
}
