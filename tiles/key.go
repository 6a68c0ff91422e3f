package tiles

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

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

const (
	// maxName bounds each name in a key, so that what is read back from disk is bounded.
	maxName = 64
	// maxKey is the longest encoding of a key.
	maxKey = 4*(4+maxName) + 4*4 + len(render.Fingerprint{})
)

// A Sum is the hash of a Key, by which both caches know it.
type Sum [sha256.Size]byte

// Sum returns the hash of k. It is the same on every machine.
func (k Key) Sum() Sum {
	var room [maxKey]byte // so that a hit allocates nothing
	return sha256.Sum256(k.appendTo(room[:0]))
}

// appendTo appends the one encoding of k.
func (k Key) appendTo(b []byte) []byte {
	// A length before each text keeps ("ab", "c") apart from ("a", "bc").
	for _, text := range [...]string{k.Renderer, k.Variant, string(k.Style), string(k.Colormap)} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	for _, number := range [...]uint32{uint32(k.Tile.Z), k.Tile.X, k.Tile.Y, uint32(k.Scale)} {
		b = binary.BigEndian.AppendUint32(b, number)
	}
	return append(b, k.Fingerprint[:]...)
}

// errNoKey says that bytes are not what appendTo writes of a key that a Service makes.
var errNoKey = errors.New("not the key of a tile")

// parseKey reads what appendTo writes, and nothing that merely resembles it.
func parseKey(b []byte) (k Key, err error) {
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

// checkName returns an error if a key must not bear that name: one that is read back is shown on terminals.
func checkName(name string) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("%q is %d bytes long, and must be 1 to %d", name, len(name), maxName)
	}
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c > '~' {
			return fmt.Errorf("%q must be of printable ASCII characters without spaces", name)
		}
	}
	return nil
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
