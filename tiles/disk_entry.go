package tiles

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
)

// An entry on disk is, in this order and without gaps:
//
//	magic   8 bytes  entryMagic, whose last byte is the format's version
//	key    32 bytes  the Sum that the file is named for, so that a renamed or copied file is found out
//	length  4 bytes  of the PNG, big-endian
//	digest 16 bytes  the first half of the PNG's SHA-256
//	PNG
//
// The digest does two jobs: it is the tile's ETag, and it finds every torn or flipped byte of the PNG. The other
// fields are compared with what they must be.
const (
	entryMagic = "limnoPT\x01"
	digestLen  = 16
	headerLen  = len(entryMagic) + len(Sum{}) + 4 + digestLen
	maxPNG     = 4 << 20 // over ten times an incompressible 512-pixel paletted tile; a read is never larger
	maxEntry   = headerLen + maxPNG
)

// errDamaged says that a file is not the whole entry of its key. Which byte is wrong does not matter to anybody.
var errDamaged = errors.New("damaged cache entry")

// digest returns what a tile's ETag is made from.
func digest(png []byte) [digestLen]byte {
	sum := sha256.Sum256(png)
	return [digestLen]byte(sum[:digestLen])
}

// newTile returns the tile of freshly encoded bytes.
func newTile(png []byte) Tile {
	d := digest(png)
	return Tile{PNG: png, ETag: hex.EncodeToString(d[:])}
}

// appendHeader appends what stands before png in the entry of key.
func appendHeader(b []byte, key Sum, png []byte) []byte {
	b = append(b, entryMagic...)
	b = append(b, key[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(png)))
	d := digest(png)
	return append(b, d[:]...)
}

// decodeEntry reads the entry of key. The tile shares raw's memory. errDamaged if raw is anything else than that
// entry, whole and alone.
func decodeEntry(raw []byte, key Sum) (Tile, error) {
	if len(raw) <= headerLen || len(raw) > maxEntry {
		return Tile{}, errDamaged
	}
	header, png := raw[:headerLen], raw[headerLen:]
	if !bytes.Equal(header, appendHeader(make([]byte, 0, headerLen), key, png)) {
		return Tile{}, errDamaged
	}
	return Tile{PNG: png, ETag: hex.EncodeToString(header[headerLen-digestLen:])}, nil
}
