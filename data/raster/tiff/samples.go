package tiff

import (
	"encoding/binary"
	"math"
)

// A converter writes samples of a row of a segment into dst: the sample with index first, and then every stride-th one.
type converter func(dst []float64, row []byte, first, stride int)

// converter returns the converter for a type, nil if it is not supported.
func (t SampleType) converter(order binary.ByteOrder) converter {
	big := order == binary.ByteOrder(binary.BigEndian)
	switch t {
	case SampleType{Uint, 8}:
		return convertUint8
	case SampleType{Int, 8}:
		return convertInt8
	case SampleType{Uint, 16}:
		return convert16(big, func(v uint16) float64 { return float64(v) })
	case SampleType{Int, 16}:
		return convert16(big, func(v uint16) float64 { return float64(int16(v)) })
	case SampleType{Float, 16}:
		return convert16(big, float16)
	case SampleType{Uint, 32}:
		return convert32(big, func(v uint32) float64 { return float64(v) })
	case SampleType{Int, 32}:
		return convert32(big, func(v uint32) float64 { return float64(int32(v)) })
	case SampleType{Float, 32}:
		if !big {
			return convertFloat32
		}
		return convert32(big, func(v uint32) float64 { return float64(math.Float32frombits(v)) })
	case SampleType{Uint, 64}:
		return convert64(big, func(v uint64) float64 { return float64(v) })
	case SampleType{Int, 64}:
		return convert64(big, func(v uint64) float64 { return float64(int64(v)) })
	case SampleType{Float, 64}:
		return convert64(big, math.Float64frombits)
	case SampleType{Float, 24}:
		return convertFloat24(big)
	}
	if t.Format == Uint && t.Bits < 16 {
		return convertBits(t.Bits)
	}
	return nil
}

func convertUint8(dst []float64, row []byte, first, stride int) {
	if stride == 1 {
		for i, v := range row[first:][:len(dst)] {
			dst[i] = float64(v)
		}
		return
	}
	for i := range dst {
		dst[i] = float64(row[first+i*stride])
	}
}

func convertInt8(dst []float64, row []byte, first, stride int) {
	for i := range dst {
		dst[i] = float64(int8(row[first+i*stride]))
	}
}

// convertFloat32 is the most frequent case, little-endian float32, without a call for each value.
func convertFloat32(dst []float64, row []byte, first, stride int) {
	at := 4 * first
	for i := range dst {
		dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(row[at:])))
		at += 4 * stride
	}
}

func convert16(big bool, value func(uint16) float64) converter {
	if big {
		return func(dst []float64, row []byte, first, stride int) {
			for i := range dst {
				dst[i] = value(binary.BigEndian.Uint16(row[2*(first+i*stride):]))
			}
		}
	}
	return func(dst []float64, row []byte, first, stride int) {
		for i := range dst {
			dst[i] = value(binary.LittleEndian.Uint16(row[2*(first+i*stride):]))
		}
	}
}

func convert32(big bool, value func(uint32) float64) converter {
	if big {
		return func(dst []float64, row []byte, first, stride int) {
			for i := range dst {
				dst[i] = value(binary.BigEndian.Uint32(row[4*(first+i*stride):]))
			}
		}
	}
	return func(dst []float64, row []byte, first, stride int) {
		for i := range dst {
			dst[i] = value(binary.LittleEndian.Uint32(row[4*(first+i*stride):]))
		}
	}
}

func convert64(big bool, value func(uint64) float64) converter {
	if big {
		return func(dst []float64, row []byte, first, stride int) {
			for i := range dst {
				dst[i] = value(binary.BigEndian.Uint64(row[8*(first+i*stride):]))
			}
		}
	}
	return func(dst []float64, row []byte, first, stride int) {
		for i := range dst {
			dst[i] = value(binary.LittleEndian.Uint64(row[8*(first+i*stride):]))
		}
	}
}

func convertFloat24(big bool) converter {
	low, high := 0, 2
	if big {
		low, high = 2, 0
	}
	return func(dst []float64, row []byte, first, stride int) {
		for i := range dst {
			b := row[3*(first+i*stride):][:3]
			dst[i] = float24(uint32(b[low]) | uint32(b[1])<<8 | uint32(b[high])<<16)
		}
	}
}

// convertBits reads unsigned integers of 1 to 15 bits, which are packed from the highest bit of each byte downwards in both byte
// orders (TIFF 6.0, FillOrder).
func convertBits(bits int) converter {
	return func(dst []float64, row []byte, first, stride int) {
		for i := range dst {
			bit := (first + i*stride) * bits
			var v uint32 // up to 15 bits from a first bit within a byte lie in 3 bytes
			for j := range 3 {
				v <<= 8
				if k := bit/8 + j; k < len(row) {
					v |= uint32(row[k])
				}
			}
			dst[i] = float64(v << (8 + bit%8) >> (32 - bits))
		}
	}
}

// float16 converts a number of IEEE 754's binary16.
func float16(v uint16) float64 {
	return smallFloat(uint64(v), 5, 10)
}

// float24 converts a number of 1 sign, 7 exponent and 16 fraction bits (Adobe's technical note 3 on TIFF).
func float24(v uint32) float64 {
	return smallFloat(uint64(v), 7, 16)
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

// planeConverter returns the converter for rows that predictor 3 left as planes of bytes, the highest byte of all samples first.
// Each plane has n bytes.
func (t SampleType) planeConverter(n int) converter {
	switch t.Bits {
	case 16:
		return func(dst []float64, row []byte, first, stride int) {
			high, low := row[first:n], row[n+first:]
			for i := range dst {
				dst[i] = float16(uint16(high[i*stride])<<8 | uint16(low[i*stride]))
			}
		}
	case 24:
		return func(dst []float64, row []byte, first, stride int) {
			b2, b1, b0 := row[first:n], row[n+first:], row[2*n+first:]
			for i := range dst {
				k := i * stride
				dst[i] = float24(uint32(b2[k])<<16 | uint32(b1[k])<<8 | uint32(b0[k]))
			}
		}
	case 32:
		return func(dst []float64, row []byte, first, stride int) { convertPlanes32(dst, row, n, first, stride) }
	default:
		return func(dst []float64, row []byte, first, stride int) {
			for i := range dst {
				var v uint64
				for plane := range 8 {
					v = v<<8 | uint64(row[plane*n+first+i*stride])
				}
				dst[i] = math.Float64frombits(v)
			}
		}
	}
}

func convertPlanes32(dst []float64, row []byte, n, first, stride int) {
	if stride == 1 {
		b3, b2 := row[first:][:len(dst)], row[n+first:][:len(dst)]
		b1, b0 := row[2*n+first:][:len(dst)], row[3*n+first:][:len(dst)]
		for i := range dst {
			v := uint32(b3[i])<<24 | uint32(b2[i])<<16 | uint32(b1[i])<<8 | uint32(b0[i])
			dst[i] = float64(math.Float32frombits(v))
		}
		return
	}
	for i := range dst {
		k := first + i*stride
		v := uint32(row[k])<<24 | uint32(row[n+k])<<16 | uint32(row[2*n+k])<<8 | uint32(row[3*n+k])
		dst[i] = float64(math.Float32frombits(v))
	}
}
