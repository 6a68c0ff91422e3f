package tiles

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/render"
)

// A Key names what a tile shows: everything that can change a pixel of it, and nothing else. Two requests of equal
// keys have the same tile, whenever and of whichever snapshot they were made.
type Key struct {
	Renderer    string // render.Version
	Variant     string // Options.Variant
	Style       StyleID
	Colormap    colormap.ID
	Tile        maptile.Tile
	Scale       int
	Fingerprint render.Fingerprint
}

// A Sum is the hash of a Key, by which both caches know it.
type Sum [sha256.Size]byte

// Sum returns the hash of k. It is the same on every machine.
func (k Key) Sum() Sum {
	var room [256]byte // enough for any key with names of ordinary length, so that a hit allocates nothing
	b := room[:0]
	// A length before each text keeps ("ab", "c") apart from ("a", "bc").
	for _, text := range [...]string{k.Renderer, k.Variant, string(k.Style), string(k.Colormap)} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	for _, number := range [...]uint32{uint32(k.Tile.Z), k.Tile.X, k.Tile.Y, uint32(k.Scale)} {
		b = binary.BigEndian.AppendUint32(b, number)
	}
	b = append(b, k.Fingerprint[:]...)
	return sha256.Sum256(b)
}

// String returns s in hexadecimal: the name of its file on disk.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// shard returns the folder of s's file: one of 256, as in cmd/go/internal/cache, which keeps a folder of a full
// gigabyte near a thousand files. Deeper nesting would spend a block of disk on nearly every folder.
func (s Sum) shard() string { return hex.EncodeToString(s[:1]) }

// parseSum reads what String returns, and nothing that merely resembles it.
func parseSum(name string) (s Sum, ok bool) {
	b, err := hex.DecodeString(name)
	if err != nil || len(b) != len(s) {
		return s, false
	}
	copy(s[:], b)
	return s, s.String() == name
}
