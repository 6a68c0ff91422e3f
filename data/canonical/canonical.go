// Package canonical hashes values in one encoding, so that the same values have the same hash on every machine.
//
// Numbers are little-endian with 64 bits, floats are their IEEE 754 bits, texts their length and bytes. A caller that adds values of
// fixed kinds in a fixed order, beginning with the name of its format, has different encodings for different values.
package canonical

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"
	"slices"
)

// collected is how many bytes are collected for one call of the hash function: more than a hundred observations.
const collected = 1 << 13

// A Hash is the SHA-256 of the values added to it. It is made by [New].
type Hash struct {
	sum hash.Hash
	buf []byte // what comes next
}

// New returns a hash of a format.
func New(format string) Hash {
	h := Hash{sum: sha256.New()}
	h.Text(format)
	return h
}

func (h *Hash) Byte(b byte) { h.buf = append(h.buf, b) }

func (h *Hash) Text(s string) {
	h.Number(int64(len(s)))
	h.buf = append(h.buf, s...)
}

func (h *Hash) Float(f float64) { h.Number(int64(math.Float64bits(f))) }

func (h *Hash) Number(n int64) { h.buf = binary.LittleEndian.AppendUint64(h.buf, uint64(n)) }

// End ends a record. Records that are not ended take memory.
func (h *Hash) End() {
	if len(h.buf) >= collected {
		h.flush()
	}
}

func (h *Hash) flush() {
	h.sum.Write(h.buf) // a hash never fails
	h.buf = h.buf[:0]
}

// Clone returns a hash of the values added so far, to which others may be added.
func (h *Hash) Clone() Hash {
	sum, err := h.sum.(hash.Cloner).Clone()
	if err != nil {
		panic("canonical: clone SHA-256: " + err.Error()) // never: its state is in memory
	}
	return Hash{sum: sum, buf: slices.Clone(h.buf)}
}

// Sum returns the hash of everything added.
func (h *Hash) Sum() []byte {
	h.flush()
	return h.sum.Sum(nil)
}
