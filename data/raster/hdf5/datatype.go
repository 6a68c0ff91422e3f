package hdf5

import "fmt"

// Bits of types.
const (
	bigEndianBit = 1 << 0
	signedBit    = 1 << 3
	vaxBit       = 1 << 6
)

// Padding of strings.
const (
	zeroTerminated = iota
	zeroPadded
	spacePadded
)

const maxTypeDepth = 16

// datatype decodes a datatype message.
func (s *source) datatype(body []byte) (Type, error) {
	c := s.decode(body, "datatype")
	t := decodeType(c, maxTypeDepth)
	return t, c.err
}

// decodeType decodes a type that may contain others, to a depth. What a type contains is the last part of its message, so the members of
// compounds and enums, which are not used, need not be decoded.
func decodeType(c *cursor, depth int) (t Type) {
	head := c.uint32()
	version, bits := uint8(head>>4&0xf), head>>8
	t.Class = Class(head & 0xf)
	size := c.uint32()
	if c.err == nil && depth == 0 {
		c.err = unsupported("types nested more than %d deep", maxTypeDepth)
	}
	if c.err == nil && (version < 1 || version > 4) {
		c.err = unsupported("%v type of version %d, want 1 to 4", t.Class, version)
	}
	if c.err == nil && (size == 0 || size > 1<<31-1) {
		c.fail("%v type of %d bytes", t.Class, size)
	}
	if c.err != nil {
		return t
	}
	t.Size = int(size)
	switch t.Class {
	case Integer, Bitfield:
		t.integer(c, bits)
	case Float:
		t.float(c, bits)
	case Time:
		c.skip(2)
	case String:
		t.padding = uint8(bits & 0xf)
	case Opaque:
		c.skip(int(bits & 0xff))
	case Compound:
		t.Members = int(bits & 0xffff)
	case Reference:
		t.reference = uint8(bits & 0xf)
	case Enum:
		t.enum(c, depth)
	case VariableLength:
		t.Text = bits&0xf == 1
		t.padding = uint8(bits >> 4 & 0xf)
		base := decodeType(c, depth-1)
		t.Base = &base
	case Array:
		t.array(c, version, depth)
	default:
		c.err = unsupported("types of class %d", t.Class)
	}
	return t
}

func (t *Type) integer(c *cursor, bits uint32) {
	t.BigEndian, t.Signed = bits&bigEndianBit != 0, bits&signedBit != 0 && t.Class == Integer
	offset, precision := c.uint16(), c.uint16()
	switch {
	case t.Size != 1 && t.Size != 2 && t.Size != 4 && t.Size != 8:
		t.odd = fmt.Sprintf("integers of %d bytes", t.Size)
	case offset != 0 || int(precision) != 8*t.Size:
		t.odd = fmt.Sprintf("integers of %d bits at bit %d of %d bytes", precision, offset, t.Size)
	}
}

// A floatFormat is how the bits of floating-point numbers are used.
type floatFormat struct {
	sign, offset, precision, exponentAt, exponent, mantissaAt, mantissa, normalization uint32
	bias                                                                               uint32
}

// ieee has the formats of IEEE 754 by their size in bytes. The normalization 2 is a first bit 1 that is not stored.
var ieee = map[int]floatFormat{
	2: {15, 0, 16, 10, 5, 0, 10, 2, 15},
	4: {31, 0, 32, 23, 8, 0, 23, 2, 127},
	8: {63, 0, 64, 52, 11, 0, 52, 2, 1023},
}

func (t *Type) float(c *cursor, bits uint32) {
	t.BigEndian, t.Signed = bits&bigEndianBit != 0, true
	f := floatFormat{sign: bits >> 8 & 0xff, normalization: bits >> 4 & 3}
	f.offset, f.precision = uint32(c.uint16()), uint32(c.uint16())
	f.exponentAt, f.exponent = uint32(c.uint8()), uint32(c.uint8())
	f.mantissaAt, f.mantissa = uint32(c.uint8()), uint32(c.uint8())
	f.bias = c.uint32()
	if want, ok := ieee[t.Size]; !ok || f != want || bits&vaxBit != 0 {
		t.odd = fmt.Sprintf("floating-point numbers of %d bytes that are not those of IEEE 754", t.Size)
	}
}

// enum takes over its integers. Their names and numbers follow.
func (t *Type) enum(c *cursor, depth int) {
	base := decodeType(c, depth-1)
	if c.err == nil && (base.Class != Integer || base.Size != t.Size) {
		c.fail("enum of %d bytes over %v", t.Size, base)
	}
	t.Base, t.Signed, t.BigEndian, t.odd = &base, base.Signed, base.BigEndian, base.odd
}

func (t *Type) array(c *cursor, version uint8, depth int) {
	rank := int(c.uint8())
	if version < 3 {
		c.skip(3)
	}
	if c.err == nil && rank > maxRank {
		c.fail("arrays of %d dimensions, want at most %d", rank, maxRank)
	}
	if c.err != nil {
		return
	}
	shape := make([]int64, 0, rank)
	for range rank {
		shape = append(shape, int64(c.uint32()))
	}
	if version < 3 {
		c.skip(4 * rank)
	}
	base := decodeType(c, depth-1)
	size := int64(base.Size)
	for _, n := range shape {
		if c.err == nil && (n == 0 || size > (1<<31-1)/n) {
			c.fail("array %s of elements of %d bytes", joined(shape), base.Size)
		}
		size *= max(n, 1)
	}
	if c.err == nil && size != int64(t.Size) {
		c.fail("array of %d bytes with %v of %v", t.Size, shape, &base)
	}
	t.Shape, t.Base = shape, &base
}
