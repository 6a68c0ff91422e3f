package disk

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
)

// An entry on disk is, in this order and without gaps:
//
//	magic        8 bytes  entryMagic, whose last byte is the version of the format
//	key length   2 bytes  big-endian, as the next one
//	body length  4 bytes
//	digest      16 bytes  the first half of the body's SHA-256
//	key                   whose SHA-256 is the name of the file
//	body
//
// The digest is both the tile's ETag and the check that finds every torn or changed byte of the body. The name of the file
// is the check of the key, and also finds a file that was renamed or copied. The magic and the lengths are compared with
// their only possible values. The whole key is there so that a tool can tell which tile a file is.
const (
	entryMagic = "limnoPT\x02"
	// DigestLen is the length of a body's digest.
	DigestLen = 16
	prefixLen = len(entryMagic) + 2 + 4 + DigestLen
	maxKey    = 1 << 10
	maxBody   = 4 << 20 // over ten times an incompressible 512-pixel paletted tile; a read is never larger
	maxHeader = prefixLen + maxKey
	maxEntry  = maxHeader + maxBody
	sumLen    = sha256.Size
)

// ErrDamaged is the error of a file that is not the complete entry of its key.
var ErrDamaged = errors.New("damaged cache entry")

// A sum is the SHA-256 of a key.
type sum = [sumLen]byte

func sumOf(key []byte) sum { return sha256.Sum256(key) }

// sumName returns the name of the file of that sum.
func sumName(s sum) string { return hex.EncodeToString(s[:]) }

// shardName returns the sub-folder of that sum: one of shardCount, as in cmd/go/internal/cache, which keeps a sub-folder of a
// full gigabyte near a thousand files. Deeper nesting would use a disk block for nearly every folder.
func shardName(s sum) string { return nameOfShard(int(s[0])) }

const shardCount = 256

func nameOfShard(i int) string { return hex.EncodeToString([]byte{byte(i)}) }

// parseSumName is the inverse of sumName. It accepts no other spelling.
func parseSumName(name string) (s sum, ok bool) {
	b, err := hex.DecodeString(name)
	if err != nil || len(b) != len(s) {
		return s, false
	}
	copy(s[:], b)
	return s, sumName(s) == name
}

// fits reports whether an entry of that key and body can be written.
func fits(key, body []byte) bool { return len(key) <= maxKey && len(body) <= maxBody }

// An entry is the body of an entry on disk, and its digest.
type entry struct {
	body   []byte
	digest [DigestLen]byte
}

func digestOf(body []byte) [DigestLen]byte {
	s := sha256.Sum256(body)
	return [DigestLen]byte(s[:DigestLen])
}

// encodeEntry returns the bytes of an entry.
func encodeEntry(key, body []byte) []byte {
	b := make([]byte, 0, prefixLen+len(key)+len(body))
	b = append(b, entryMagic...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(key)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	d := digestOf(body)
	b = append(b, d[:]...)
	b = append(b, key...)
	return append(b, body...)
}

// A header is everything before the body of an entry.
type header struct {
	digest [DigestLen]byte
	key    []byte
	body   int // length
}

// size returns the length of the whole entry.
func (h header) size() int { return prefixLen + len(h.key) + h.body }

// EntrySize returns how much disk space the entry of that key and body takes.
func EntrySize(key, body []byte) int64 { return onDisk(int64(prefixLen + len(key) + len(body))) }

// decodeHeader reads the header of the entry of that sum from the first bytes of the entry. ErrDamaged if it is not valid.
func decodeHeader(raw []byte, sum sum) (h header, err error) {
	if len(raw) < prefixLen || !bytes.HasPrefix(raw, []byte(entryMagic)) {
		return header{}, ErrDamaged
	}
	lengths := raw[len(entryMagic):]
	keyLen, bodyLen := int(binary.BigEndian.Uint16(lengths)), binary.BigEndian.Uint32(lengths[2:])
	if keyLen > maxKey || keyLen > len(raw)-prefixLen || bodyLen == 0 || bodyLen > maxBody {
		return header{}, ErrDamaged
	}
	h = header{digest: [DigestLen]byte(lengths[6:]), key: raw[prefixLen : prefixLen+keyLen], body: int(bodyLen)}
	if sumOf(h.key) != sum {
		return header{}, ErrDamaged
	}
	return h, nil
}

// decodeEntry reads the entry of that sum. Its body does not share memory with raw, which would keep the header in memory
// as well. ErrDamaged if raw is anything but that one complete entry.
func decodeEntry(raw []byte, sum sum) (entry, error) {
	h, err := decodeHeader(raw, sum)
	if err != nil {
		return entry{}, err
	}
	if len(raw) != h.size() {
		return entry{}, ErrDamaged
	}
	body := raw[len(raw)-h.body:]
	if digestOf(body) != h.digest {
		return entry{}, ErrDamaged
	}
	return entry{bytes.Clone(body), h.digest}, nil
}
