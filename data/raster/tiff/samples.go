package tiff

import (
	"encoding/binary"

	"limnomap/data/raster/number"
)

// A converter writes samples of a row of a segment into dst: the sample with index first, and then every stride-th one.
type converter func(dst []float64, row []byte, first, stride int)

// converter returns the converter for a type, nil if it is not supported.
func (t SampleType) converter(order binary.ByteOrder) converter {
	big := order == binary.ByteOrder(binary.BigEndian)
	if c, ok := number.New(number.Format{Kind: number.Kind(t.Format), Bits: t.Bits, BigEndian: big}); ok {
		return func(dst []float64, row []byte, first, stride int) { c.Row(dst, row[first*t.Bits/8:], stride) }
	}
	if t.Format == Uint && t.Bits < 16 {
		return convertBits(t.Bits)
	}
	return nil
}

// planeConverter returns the converter for rows that predictor 3 left as planes of n bytes, the highest bytes of all samples first
// whatever the byte order of the file.
func (t SampleType) planeConverter(n int) converter {
	c, _ := number.New(number.Format{Kind: number.Float, Bits: t.Bits, BigEndian: true})
	return func(dst []float64, row []byte, first, stride int) { c.Planes(dst, row[first:], n, stride) }
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
