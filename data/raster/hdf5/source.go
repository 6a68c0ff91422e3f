package hdf5

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// undefined is the address of structures that are not in the file.
const undefined = math.MaxUint64

// A source reads bytes of the file. Addresses are relative to the base address, which is that of the superblock.
type source struct {
	r                      io.ReaderAt
	size, base             int64 // of the file; of the superblock in it
	offsetSize, lengthSize int   // bytes of addresses and of lengths
}

// check refuses ranges beyond the end of the file.
func (s *source) check(address uint64, n int64) error {
	switch {
	case address == undefined:
		return damaged("an undefined address where %d bytes are needed", n)
	case n < 0 || n > s.size-s.base || address > uint64(s.size-s.base-n):
		return damaged("%d bytes at address %d of a file of %d bytes", uint64(n), address, s.size)
	}
	return nil
}

// readAt fills buf with the bytes at an address.
func (s *source) readAt(buf []byte, address uint64) error {
	if err := s.check(address, int64(len(buf))); err != nil {
		return err
	}
	n, err := s.r.ReadAt(buf, s.base+int64(address))
	switch {
	case n == len(buf):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read %d bytes at address %d: %w", len(buf), address, err)
}

// bytes returns n bytes at an address. The caller bounds n, which is at most the size of the file.
func (s *source) bytes(address uint64, n int64) ([]byte, error) {
	if err := s.check(address, n); err != nil {
		return nil, err
	}
	buf := make([]byte, n)
	if err := s.readAt(buf, address); err != nil {
		return nil, err
	}
	return buf, nil
}

// cursor returns a cursor over n bytes at an address.
func (s *source) cursor(address uint64, n int64, what string) (*cursor, error) {
	b, err := s.bytes(address, n)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return s.decode(b, what), nil
}

// decode returns a cursor over bytes of the file.
func (s *source) decode(b []byte, what string) *cursor {
	return &cursor{b: b, offsetSize: s.offsetSize, lengthSize: s.lengthSize, what: what}
}

// A cursor decodes little-endian fields. After the first error all fields are 0.
type cursor struct {
	b                      []byte // the bytes left
	offsetSize, lengthSize int
	what                   string // for errors
	err                    error
}

// bytes returns the next n bytes, which are part of the cursor's own.
func (c *cursor) bytes(n int) []byte {
	if c.err == nil && (n < 0 || n > len(c.b)) {
		c.err = damaged("%s ends %d bytes before a field of %d", c.what, len(c.b), n)
	}
	if c.err != nil {
		return nil
	}
	b := c.b[:n:n]
	c.b = c.b[n:]
	return b
}

func (c *cursor) skip(n int) { c.bytes(n) }

// number returns an unsigned number of 1 to 8 bytes.
func (c *cursor) number(size int) uint64 {
	v := uint64(0)
	for i, b := range c.bytes(size) {
		v |= uint64(b) << (8 * i)
	}
	return v
}

func (c *cursor) uint8() uint8 {
	if b := c.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) uint16() uint16 {
	if b := c.bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) uint32() uint32 {
	if b := c.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) uint64() uint64 {
	if b := c.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// offset returns an address. All ones mean [undefined].
func (c *cursor) offset() uint64 {
	v := c.number(c.offsetSize)
	if c.err != nil || v == math.MaxUint64>>(64-8*c.offsetSize) {
		return undefined
	}
	return v
}

func (c *cursor) length() uint64 { return c.number(c.lengthSize) }

// expect consumes the signature of a structure.
func (c *cursor) expect(signature string) {
	if b := c.bytes(len(signature)); c.err == nil && string(b) != signature {
		c.fail("%s has the signature %q, want %q", c.what, b, signature)
	}
}

// fail keeps the first error.
func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = damaged(format, args...)
	}
}
