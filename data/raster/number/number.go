// Package number converts the numbers of raster files, integers and floating-point numbers in both byte orders, to float64.
package number

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// A Kind says how the bits of a number are read. The values are those of TIFF's tag SampleFormat.
type Kind int

// The kinds of numbers.
const (
	Uint  Kind = 1
	Int   Kind = 2
	Float Kind = 3 // of IEEE 754, or in 24 bits
)

// A Format is how a number is stored.
type Format struct {
	Kind      Kind
	Bits      int
	BigEndian bool
}

// A Converter converts numbers of one format.
type Converter struct {
	format Format
	size   int                      // bytes
	value  func(raw uint64) float64 // of the bits as an unsigned integer
}

// New returns the converter of a format. It is not ok unless the format is one of integers of 8, 16, 32 or 64 bits, or of
// floating-point numbers of 16, 24, 32 or 64 bits.
func New(f Format) (c *Converter, ok bool) {
	c = &Converter{format: f, size: f.Bits / 8}
	switch {
	case f.Kind == Float && f.Bits == 16:
		c.value = func(raw uint64) float64 { return smallFloat(raw, 5, 10) }
	case f.Kind == Float && f.Bits == 24: // 7 bits of exponent (Adobe's technical note 3 on TIFF)
		c.value = func(raw uint64) float64 { return smallFloat(raw, 7, 16) }
	case f.Kind == Float && f.Bits == 32:
		c.value = func(raw uint64) float64 { return float64(math.Float32frombits(uint32(raw))) }
	case f.Kind == Float && f.Bits == 64:
		c.value = math.Float64frombits
	case f.Bits != 8 && f.Bits != 16 && f.Bits != 32 && f.Bits != 64:
		return nil, false
	case f.Kind == Int:
		c.value = func(raw uint64) float64 { return float64(c.extended(raw)) }
	case f.Kind == Uint:
		c.value = func(raw uint64) float64 { return float64(raw) }
	default:
		return nil, false
	}
	return c, true
}

// One converts the number that b begins with.
func (c *Converter) One(b []byte) float64 { return c.value(c.raw(b)) }

// Integer returns the integer that b begins with, with its sign extended.
func (c *Converter) Integer(b []byte) uint64 {
	raw := c.raw(b)
	if c.format.Kind == Int {
		raw = uint64(c.extended(raw))
	}
	return raw
}

func (c *Converter) extended(raw uint64) int64 {
	shift := 64 - c.format.Bits
	return int64(raw<<shift) >> shift
}

func (c *Converter) raw(b []byte) uint64 {
	raw := uint64(0)
	for i, v := range b[:c.size] {
		raw |= uint64(v) << (8 * i)
	}
	return c.ordered(raw)
}

// ordered returns bits that were read as little-endian ones.
func (c *Converter) ordered(raw uint64) uint64 {
	if c.format.BigEndian {
		return bits.ReverseBytes64(raw) >> (64 - c.format.Bits)
	}
	return raw
}

// Row converts the first of the numbers in b, and then every stride-th one. The formats that most rasters have take no call for each.
func (c *Converter) Row(dst []float64, b []byte, stride int) {
	step := stride * c.size
	switch {
	case c.format.Kind == Uint && c.size == 1:
		rowUint8(dst, b, step)
	case c.format.Kind == Float && c.size == 4 && !c.format.BigEndian:
		rowFloat32(dst, b, step)
	case c.size == 1:
		for i := range dst {
			dst[i] = c.value(uint64(b[i*step]))
		}
	case c.size == 2:
		for i := range dst {
			dst[i] = c.value(c.ordered(uint64(binary.LittleEndian.Uint16(b[i*step:]))))
		}
	case c.size == 4:
		for i := range dst {
			dst[i] = c.value(c.ordered(uint64(binary.LittleEndian.Uint32(b[i*step:]))))
		}
	case c.size == 8:
		for i := range dst {
			dst[i] = c.value(c.ordered(binary.LittleEndian.Uint64(b[i*step:])))
		}
	default:
		for i := range dst {
			dst[i] = c.One(b[i*step:])
		}
	}
}

func rowUint8(dst []float64, b []byte, step int) {
	for i := range dst {
		dst[i] = float64(b[i*step])
	}
}

func rowFloat32(dst []float64, b []byte, step int) {
	at := 0
	for i := range dst {
		dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[at:])))
		at += step
	}
}

// Planes converts numbers like Row, but of numbers whose bytes lie in planes: the first bytes of all numbers, then their second ones
// and so on. A plane has size bytes.
func (c *Converter) Planes(dst []float64, b []byte, size, stride int) {
	highest, next := 0, size
	if !c.format.BigEndian {
		highest, next = (c.size-1)*size, -size
	}
	if c.format.Kind == Float && c.size == 4 && stride == 1 {
		planesFloat32(dst, b[highest:], b[highest+next:], b[highest+2*next:], b[highest+3*next:])
		return
	}
	for i := range dst {
		raw, at := uint64(0), highest+i*stride
		for range c.size {
			raw = raw<<8 | uint64(b[at])
			at += next
		}
		dst[i] = c.value(raw)
	}
}

func planesFloat32(dst []float64, p0, p1, p2, p3 []byte) {
	p0, p1, p2, p3 = p0[:len(dst)], p1[:len(dst)], p2[:len(dst)], p3[:len(dst)]
	for i := range dst {
		raw := uint32(p0[i])<<24 | uint32(p1[i])<<16 | uint32(p2[i])<<8 | uint32(p3[i])
		dst[i] = float64(math.Float32frombits(raw))
	}
}

// smallFloat converts a number with the given bits of exponent and fraction, as IEEE 754 arranges them.
func smallFloat(v uint64, exponentBits, fractionBits int) float64 {
	fraction := v & (1<<fractionBits - 1)
	exponent := int(v >> fractionBits & (1<<exponentBits - 1))
	bias := 1<<(exponentBits-1) - 1
	var f float64
	switch exponent {
	case 0:
		f = math.Ldexp(float64(fraction), 1-bias-fractionBits)
	case 1<<exponentBits - 1:
		f = math.Inf(1)
		if fraction != 0 {
			f = math.NaN()
		}
	default:
		f = math.Ldexp(float64(fraction|1<<fractionBits), exponent-bias-fractionBits)
	}
	if v>>(exponentBits+fractionBits)&1 == 1 {
		f = -f
	}
	return f
}
