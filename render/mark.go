package render

import (
	"encoding/binary"
	"math"

	"github.com/cespare/xxhash/v2"
	"github.com/paulmach/orb/maptile"

	"limnomap/data"
	"limnomap/data/snapshot"
)

// A mark is one lake in a window: the only data of the lake that a painter gets. All fields are part of the fingerprint, so
// tiles with equal fingerprints are equal. Fields that do not affect the picture of a style are zero.
type mark struct {
	x, y   int32  // in units from the window's north-west corner, rounded as far as the style allows
	value  uint32 // the bits of a logarithm, or of a concentration
	size   size   // of the blob
	old    bool   // whether the value is old
	sign   snapshot.Mark
	radius uint32      // of the disc, in units
	shore  *shore      // drawn instead of a disc
	pixels *LakePixels // drawn in the shore; without one, instead of a disc
}

// chlorophyll returns the value of a mark that has it as a concentration.
func (m *mark) chlorophyll() data.Chlorophyll { return data.Chlorophyll(m.value) }

// compareValues compares the values of marks that have them as concentrations: of equal ones, one that is old is less.
func (m *mark) compareValues(other *mark) int {
	return compareValues(m.chlorophyll(), m.old, other.chlorophyll(), other.old)
}

// log returns the value of a mark that has it as a logarithm.
func (m *mark) log() float32 { return math.Float32frombits(m.value) }

// appendTo appends the bytes of m that are hashed for a fingerprint.
func (m *mark) appendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(m.x))
	b = binary.LittleEndian.AppendUint32(b, uint32(m.y))
	b = binary.LittleEndian.AppendUint32(b, m.value)
	// A size has at most 5 bits.
	flags := byte(m.size-smallest) | byte(m.sign)<<6
	if m.old {
		flags |= 1 << 5
	}
	b = append(b, flags)
	water := uint64(m.radius)
	if m.shore != nil {
		water = m.shore.hash
	}
	b = binary.LittleEndian.AppendUint64(b, water)
	if m.pixels != nil {
		b = append(b, m.pixels.digest[:]...)
	}
	return b
}

// A scene is what a layer shows in a window: all that its picture depends on.
type scene struct {
	marks []mark // in the order of the layer, and those of one lake from west to east
	signs []mark // in the order of drawing
	cores []core // in the order of the layer

	clusters []cluster // drawn below the marks

	waters []mark // drawn above the field
	patch  patch  // of lakes that are binned
}

// empty makes s empty.
func (s *scene) empty() {
	clear(s.marks) // they may refer to shores of another layer
	clear(s.waters)
	s.marks, s.waters, s.signs, s.cores, s.clusters = s.marks[:0], s.waters[:0], s.signs[:0], s.cores[:0], s.clusters[:0]
	s.patch.empty()
}

// blank reports whether nothing is in reach.
func (s *scene) blank() bool {
	return len(s.marks) == 0 && len(s.signs) == 0 && len(s.waters) == 0 && len(s.clusters) == 0 && !s.patch.filled()
}

// appendTo appends the bytes of s that are hashed for a fingerprint.
func (s *scene) appendTo(b []byte) []byte {
	for i := range s.marks {
		b = s.marks[i].appendTo(b)
	}
	for i := range s.signs {
		b = s.signs[i].appendTo(b)
	}
	if len(s.waters) > 0 {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(s.waters)))
	}
	for i := range s.waters {
		b = s.waters[i].appendTo(b)
	}
	for i := range s.cores {
		b = s.cores[i].appendTo(b)
	}
	for i := range s.clusters {
		b = s.clusters[i].appendTo(b)
	}
	if s.patch.filled() {
		b = s.patch.appendTo(b)
	}
	return b
}

// A Fingerprint is a hash of everything of a layer that can change a pixel of a tile.
type Fingerprint [16]byte

// A fingerprintKey is what a fingerprint of a layer depends on. The colour map is not part of it.
type fingerprintKey struct {
	tile   maptile.Tile
	scale  int
	style  StyleID
	filter Filter
}

// A remembered fingerprint, and whether the tile shows anything.
type remembered struct {
	fingerprint Fingerprint
	notBlank    bool
}

// FingerprintOf returns the fingerprint of a tile whose picture follows from these bytes.
func FingerprintOf(b []byte) (f Fingerprint) {
	var low, high xxhash.Digest
	low.ResetWithSeed(0)
	high.ResetWithSeed(1)
	low.Write(b)
	high.Write(b)
	binary.LittleEndian.PutUint64(f[:8], low.Sum64())
	binary.LittleEndian.PutUint64(f[8:], high.Sum64())
	return f
}
