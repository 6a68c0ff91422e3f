package hdf5

import (
	"encoding/binary"
	"math"
)

// A converter turns the bytes of numbers into float64.
type converter struct {
	size   int
	big    bool
	number func(raw uint64) float64
}

func newConverter(t Type) converter {
	c := converter{size: t.Size, big: t.BigEndian}
	switch {
	case t.Class == Float && t.Size == 2:
		c.number = float16
	case t.Class == Float && t.Size == 4:
		c.number = func(raw uint64) float64 { return float64(math.Float32frombits(uint32(raw))) }
	case t.Class == Float:
		c.number = math.Float64frombits
	case t.Signed:
		shift := 64 - 8*t.Size
		c.number = func(raw uint64) float64 { return float64(int64(raw<<shift) >> shift) }
	default:
		c.number = func(raw uint64) float64 { return float64(raw) }
	}
	return c
}

// one converts the bytes of one number.
func (c *converter) one(b []byte) float64 { return c.number(c.bits(b)) }

// bits returns the bits of one number.
func (c *converter) bits(b []byte) uint64 {
	raw := uint64(0)
	for k, v := range b[:c.size] {
		raw |= uint64(v) << c.shift(k)
	}
	return raw
}

// shift returns the position of the bits of byte k.
func (c *converter) shift(k int) int {
	if c.big {
		return 8 * (c.size - 1 - k)
	}
	return 8 * k
}

// rows converts consecutive numbers from b.
func (c *converter) rows(dst []float64, b []byte) {
	switch {
	case c.size == 4 && !c.big:
		for i := range dst {
			dst[i] = c.number(uint64(binary.LittleEndian.Uint32(b[4*i:])))
		}
	case c.size == 4:
		for i := range dst {
			dst[i] = c.number(uint64(binary.BigEndian.Uint32(b[4*i:])))
		}
	default:
		for i := range dst {
			dst[i] = c.one(b[i*c.size:])
		}
	}
}

// planes converts consecutive numbers whose byte k lies in plane k, from position at. Planes have stride bytes.
func (c *converter) planes(dst []float64, b []byte, stride, at int) {
	switch {
	case c.size == 4 && !c.big:
		n := len(dst)
		p0, p1, p2, p3 := b[at:][:n], b[at+stride:][:n], b[at+2*stride:][:n], b[at+3*stride:][:n]
		for i := range dst {
			dst[i] = c.number(uint64(p0[i]) | uint64(p1[i])<<8 | uint64(p2[i])<<16 | uint64(p3[i])<<24)
		}
	default:
		for i := range dst {
			raw := uint64(0)
			for k := range c.size {
				raw |= uint64(b[at+k*stride+i]) << c.shift(k)
			}
			dst[i] = c.number(raw)
		}
	}
}

// float16 converts an IEEE 754 number of 16 bits.
func float16(raw uint64) float64 {
	exponent, fraction := int(raw>>10&31), float64(raw&1023)
	var v float64
	switch exponent {
	case 0:
		v = math.Ldexp(fraction, -24)
	case 31:
		v = math.Inf(1)
		if fraction != 0 {
			v = math.NaN()
		}
	default:
		v = math.Ldexp(1024+fraction, exponent-25)
	}
	if raw&0x8000 != 0 {
		return -v
	}
	return v
}
