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
//	magic      8 bytes  entryMagic, whose last byte is the format's version
//	key length 2 bytes  big-endian, as is the next
//	PNG length 4 bytes
//	digest    16 bytes  the first half of the PNG's SHA-256
//	key                 the encoding of the Key, whose hash is the file's name
//	PNG
//
// The digest does two jobs: it is the tile's ETag, and it finds every torn or flipped byte of the PNG. One of the key
// is found by the file's name, as is a file that was renamed or copied; the magic and the lengths are compared with what they
// must be. That the key is there in full tells which tile a file is.
const (
	entryMagic = "limnoPT\x02"
	digestLen  = 16
	prefixLen  = len(entryMagic) + 2 + 4 + digestLen
	maxHeader  = prefixLen + maxKey
	maxPNG     = 4 << 20 // over ten times an incompressible 512-pixel paletted tile; a read is never larger
	maxEntry   = maxHeader + maxPNG
)

// ErrDamaged says that a file of the disk cache is not the whole entry of its key. Which byte is wrong does not matter to
// anybody.
var ErrDamaged = errors.New("damaged cache entry")

// digest returns what a tile's ETag is made from.
func digest(png []byte) [digestLen]byte {
	sum := sha256.Sum256(png)
	return [digestLen]byte(sum[:digestLen])
}

// newTile returns the tile of freshly encoded bytes.
func newTile(png []byte) Tile {
	d := digest(png)
	return Tile{Bytes: bytes.Clone(png), ETag: hex.EncodeToString(d[:])}
}

// encodeEntry returns the entry of a tile.
func encodeEntry(key Key, png []byte) []byte {
	b := make([]byte, 0, maxHeader+len(png))
	b = append(b, entryMagic...)
	b = append(b, make([]byte, 2)...) // the key's length, known once it is there
	b = binary.BigEndian.AppendUint32(b, uint32(len(png)))
	d := digest(png)
	b = append(b, d[:]...)
	b = key.appendTo(b)
	binary.BigEndian.PutUint16(b[len(entryMagic):], uint16(len(b)-prefixLen))
	return append(b, png...)
}

// A header is what stands before the PNG of an entry.
type header struct {
	digest [digestLen]byte
	key    []byte // the encoding of the Key
	png    int    // its length
}

// size returns how long the whole entry is.
func (h header) size() int { return prefixLen + len(h.key) + h.png }

// decodeHeader reads the header of the entry of that sum from the beginning of the entry. ErrDamaged if there is none.
func decodeHeader(raw []byte, sum Sum) (h header, err error) {
	if len(raw) < prefixLen || !bytes.HasPrefix(raw, []byte(entryMagic)) {
		return header{}, ErrDamaged
	}
	lengths := raw[len(entryMagic):]
	keyLen, pngLen := int(binary.BigEndian.Uint16(lengths)), binary.BigEndian.Uint32(lengths[2:])
	if keyLen > maxKey || keyLen > len(raw)-prefixLen || pngLen == 0 || pngLen > maxPNG {
		return header{}, ErrDamaged
	}
	h = header{digest: [digestLen]byte(lengths[6:]), key: raw[prefixLen : prefixLen+keyLen], png: int(pngLen)}
	if sha256.Sum256(h.key) != sum {
		return header{}, ErrDamaged
	}
	return h, nil
}

// decodeEntry reads the entry of that sum. The tile does not share raw's memory, where the header would stay with it and not
// be counted. ErrDamaged if raw is anything else than that entry, whole and alone.
func decodeEntry(raw []byte, sum Sum) (Tile, error) {
	h, err := decodeHeader(raw, sum)
	if err != nil {
		return Tile{}, err
	}
	if len(raw) != h.size() {
		return Tile{}, ErrDamaged
	}
	png := raw[len(raw)-h.png:]
	if digest(png) != h.digest {
		return Tile{}, ErrDamaged
	}
	return Tile{Bytes: bytes.Clone(png), ETag: hex.EncodeToString(h.digest[:])}, nil
}
