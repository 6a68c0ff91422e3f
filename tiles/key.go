package tiles

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/render"
)

// A Key names what a tile shows: everything that can change a pixel of it, and nothing else. Requests with equal keys have
// the same tile, at any time and for any snapshot.
type Key struct {
	Renderer    string // render.Version
	Variant     string // Options.Variant
	Style       StyleID
	Colormap    colormap.ID
	Tile        maptile.Tile
	Scale       int
	Fingerprint render.Fingerprint
}

const (
	// maxName bounds each name in a key, so that a key that is read from disk is bounded.
	maxName = 64
	// maxKey is the length of the longest encoding of a key.
	maxKey = 4*(4+maxName) + 4*4 + len(render.Fingerprint{})
)

// A Sum is the SHA-256 of an encoded Key. The tiers of the cache know a tile by it.
type Sum [sha256.Size]byte

// Sum returns the hash of k. It is the same on every machine.
func (k Key) Sum() Sum {
	var room [maxKey]byte // so that a hit allocates nothing
	return sha256.Sum256(k.appendTo(room[:0]))
}

// Encode returns the only encoding of k, which [ParseKey] reads.
func (k Key) Encode() []byte { return k.appendTo(nil) }

func (k Key) appendTo(b []byte) []byte {
	// The length before each text keeps ("ab", "c") different from ("a", "bc").
	for _, text := range [...]string{k.Renderer, k.Variant, string(k.Style), string(k.Colormap)} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	for _, number := range [...]uint32{uint32(k.Tile.Z), k.Tile.X, k.Tile.Y, uint32(k.Scale)} {
		b = binary.BigEndian.AppendUint32(b, number)
	}
	return append(b, k.Fingerprint[:]...)
}

// errNoKey is the error for bytes that are not the encoding of a key that a Service makes.
var errNoKey = errors.New("not the key of a tile")

// ParseKey is the inverse of [Key.Encode]. It accepts no other encoding, and no key that a Service does not make.
func ParseKey(b []byte) (k Key, err error) {
	var texts [4]string
	for i := range texts {
		if len(b) < 4 {
			return Key{}, errNoKey
		}
		n := binary.BigEndian.Uint32(b)
		b = b[4:]
		if n > maxName || int(n) > len(b) {
			return Key{}, errNoKey
		}
		texts[i], b = string(b[:n]), b[n:]
		if checkName(texts[i]) != nil {
			return Key{}, errNoKey
		}
	}
	if len(b) != 4*4+len(k.Fingerprint) {
		return Key{}, errNoKey
	}
	number := func(i int) uint32 { return binary.BigEndian.Uint32(b[4*i:]) }
	k = Key{
		Renderer: texts[0],
		Variant:  texts[1],
		Style:    StyleID(texts[2]),
		Colormap: colormap.ID(texts[3]),
		Tile:     maptile.Tile{Z: maptile.Zoom(number(0)), X: number(1), Y: number(2)},
		Scale:    int(number(3)),
	}
	copy(k.Fingerprint[:], b[4*4:])
	if !validTile(k.Tile, render.MaxZoom) || k.Scale < 1 || k.Scale > maxScale {
		return Key{}, errNoKey
	}
	return k, nil
}

// checkName returns an error for a name that a key may not have: names that are read from disk are shown on terminals.
func checkName(name string) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("%q is %d bytes long, and must be 1 to %d", name, len(name), maxName)
	}
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c > '~' {
			return fmt.Errorf("%q must consist of printable ASCII characters without spaces", name)
		}
	}
	return nil
}
