package hdf5

import (
	"encoding/binary"
	"math/bits"
)

// lookup3 returns the checksum of metadata: Bob Jenkins' hash of 2006 (hashlittle) with the initial value 0.
func lookup3(b []byte) uint32 {
	a := 0xdeadbeef + uint32(len(b))
	p, q := a, a
	for ; len(b) > 12; b = b[12:] {
		a += binary.LittleEndian.Uint32(b)
		p += binary.LittleEndian.Uint32(b[4:])
		q += binary.LittleEndian.Uint32(b[8:])
		a = (a - q) ^ bits.RotateLeft32(q, 4)
		q += p
		p = (p - a) ^ bits.RotateLeft32(a, 6)
		a += q
		q = (q - p) ^ bits.RotateLeft32(p, 8)
		p += a
		a = (a - q) ^ bits.RotateLeft32(q, 16)
		q += p
		p = (p - a) ^ bits.RotateLeft32(a, 19)
		a += q
		q = (q - p) ^ bits.RotateLeft32(p, 4)
		p += a
	}
	if len(b) == 0 {
		return q
	}
	var last [12]byte
	copy(last[:], b)
	a += binary.LittleEndian.Uint32(last[:])
	p += binary.LittleEndian.Uint32(last[4:])
	q += binary.LittleEndian.Uint32(last[8:])
	q = (q ^ p) - bits.RotateLeft32(p, 14)
	a = (a ^ q) - bits.RotateLeft32(q, 11)
	p = (p ^ a) - bits.RotateLeft32(a, 25)
	q = (q ^ p) - bits.RotateLeft32(p, 16)
	a = (a ^ q) - bits.RotateLeft32(q, 4)
	p = (p ^ a) - bits.RotateLeft32(a, 14)
	q = (q ^ p) - bits.RotateLeft32(p, 24)
	return q
}
