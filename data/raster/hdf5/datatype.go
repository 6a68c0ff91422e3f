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

// decodeType decodes a type that may contain others, to a depth.
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
		t.compound(c, version, int(bits&0xffff), depth)
	case Reference:
		t.reference = uint8(bits & 0xf)
	case Enum:
		t.enum(c, version, int(bits&0xffff), depth)
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

// compound counts and checks the members of a compound. Each takes bytes of the message, which bound their number.
func (t *Type) compound(c *cursor, version uint8, count, depth int) {
	t.Members = count
	offsetSize := 4
	if version >= 3 {
		offsetSize = 1
		for n := t.Size; n > 0xff; n >>= 8 {
			offsetSize++
		}
	}
	for range count {
		name, offset := typeName(c, version), int(c.number(offsetSize))
		var shape []int64
		if version == 1 {
			rank := c.uint8()
			c.skip(3 + 4 + 4)
			for i := range uint8(4) {
				if n := int64(c.uint32()); i < rank {
					shape = append(shape, n)
				}
			}
		}
		member := decodeType(c, depth-1)
		if len(shape) > 0 {
			member = arrayOf(c, member, shape)
		}
		if c.err == nil && (offset > t.Size || member.Size > t.Size-offset) {
			c.fail("member %.40q of %d bytes at byte %d of a compound of %d", name, member.Size, offset, t.Size)
		}
		if c.err != nil {
			return
		}
	}
}

// typeName decodes the name of a member.
func typeName(c *cursor, version uint8) string {
	name := text(c.b)
	n := len(name) + 1
	if version < 3 {
		n = (n + 7) &^ 7
	}
	c.bytes(n)
	return name
}

// enum takes over its integers, and passes over their names and numbers.
func (t *Type) enum(c *cursor, version uint8, count, depth int) {
	base := decodeType(c, depth-1)
	for range count {
		if c.err != nil {
			return
		}
		typeName(c, version)
	}
	c.skip(count * base.Size)
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
	array := arrayOf(c, decodeType(c, depth-1), shape)
	if c.err == nil && array.Size != t.Size {
		c.fail("array of %d bytes with %v of %v", t.Size, shape, array.Base)
	}
	t.Shape, t.Base = shape, array.Base
}

// arrayOf returns the type of arrays of a shape.
func arrayOf(c *cursor, base Type, shape []int64) Type {
	size := int64(base.Size)
	for _, n := range shape {
		if c.err == nil && (n == 0 || size > (1<<31-1)/n) {
			c.fail("array %s of elements of %d bytes", joined(shape), base.Size)
		}
		size *= max(n, 1)
	}
	return Type{Class: Array, Size: int(size), Base: &base, Shape: shape}
}
