package pixels

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/klauspost/compress/zlib"

	"bytes"
)

// ErrNoFile is in the error for a map that cannot be a GeoTIFF.
var ErrNoFile = errors.New("these pixels cannot be written as a GeoTIFF")

// maxFileCells bounds the rectangle around a lake, of which a GeoTIFF has each cell.
const maxFileCells = 2 * MaxPixels

// The tags of TIFF 6.0 (Adobe, 1992), of GeoTIFF (OGC 19-008r4) and of GDAL's two that a GeoTIFF of one band of float32 has.
const (
	tagWidth, tagHeight, tagBits, tagCompression, tagPhotometric, tagOffsets = 256, 257, 258, 259, 262, 273
	tagSamples, tagRowsPerStrip, tagByteCounts, tagSampleFormat              = 277, 278, 279, 339
	tagTransformation, tagGeoKeys, tagMetadata, tagNoData                    = 34264, 34735, 42112, 42113
)

// GeoTIFF returns the rectangle around the lake as a GeoTIFF of one band: chlorophyll in µg/l, 0 for what is below the limit of detection, and NaN, which
// the file declares as no data, elsewhere. The coordinate system needs a code of the EPSG dataset. description is that of the band.
func (m *Map) GeoTIFF(description string) ([]byte, error) {
	code, bounds := m.Grid.System().Code(), m.Mask.Bounds()
	switch {
	case code == 0:
		return nil, fmt.Errorf("%w: their coordinate system has no EPSG code", ErrNoFile)
	case bounds.Dx()*bounds.Dy() > maxFileCells:
		return nil, fmt.Errorf("%w: the rectangle around the lake has %d cells, want at most %d", ErrNoFile, bounds.Dx()*bounds.Dy(), maxFileCells)
	}
	order := binary.LittleEndian
	cells := bytes.Repeat(order.AppendUint32(nil, math.Float32bits(float32(math.NaN()))), bounds.Dx()*bounds.Dy())
	m.Each(func(x, y int, c Code) {
		if chl, ok := c.Value(); ok {
			order.PutUint32(cells[4*((y-bounds.Min.Y)*bounds.Dx()+x-bounds.Min.X):], math.Float32bits(float32(chl)))
		}
	})
	var strip bytes.Buffer
	z := zlib.NewWriter(&strip)
	_, err := z.Write(cells)
	if err = errors.Join(err, z.Close()); err != nil {
		return nil, err
	}

	type field struct {
		tag, kind uint16
		count     int
		data      []byte
	}
	short := func(tag uint16, values ...uint16) field {
		var b []byte
		for _, v := range values {
			b = order.AppendUint16(b, v)
		}
		return field{tag, 3, len(values), b}
	}
	long := func(tag uint16, v int) field { return field{tag, 4, 1, order.AppendUint32(nil, uint32(v))} }
	text := func(tag uint16, s string) field { return field{tag, 2, len(s) + 1, append([]byte(s), 0)} }
	t := m.Grid.Transform()
	x0, y0 := t[0]+float64(bounds.Min.X)*t[1]+float64(bounds.Min.Y)*t[2], t[3]+float64(bounds.Min.X)*t[4]+float64(bounds.Min.Y)*t[5]
	var transformation []byte
	for _, v := range [16]float64{t[1], t[2], 0, x0, t[4], t[5], 0, y0, 0, 0, 0, 0, 0, 0, 0, 1} {
		transformation = order.AppendUint64(transformation, math.Float64bits(v))
	}
	model, codeKey := uint16(1), uint16(3072) // projected; its code
	if m.Grid.System().Geographic() {
		model, codeKey = 2, 2048
	}
	const header = 8
	fields := []field{
		long(tagWidth, bounds.Dx()), long(tagHeight, bounds.Dy()), short(tagBits, 32), short(tagCompression, 8), short(tagPhotometric, 1), long(tagOffsets, header),
		short(tagSamples, 1), long(tagRowsPerStrip, bounds.Dy()), long(tagByteCounts, strip.Len()), short(tagSampleFormat, 3),
		{tagTransformation, 12, 16, transformation},
		// Key 1024 is the model, 1025 says that the transformation is from the corners of pixels.
		short(tagGeoKeys, 1, 1, 0, 3, 1024, 0, 1, model, 1025, 0, 1, 1, codeKey, 0, 1, uint16(code)),
		text(tagMetadata, fmt.Sprintf(`<GDALMetadata><Item name="DESCRIPTION" sample="0" role="description">%s</Item><Item name="UNITTYPE" sample="0" role="unittype">ug l-1</Item></GDALMetadata>`,
			description)),
		text(tagNoData, "nan"),
	}
	out := append([]byte("II*\x00"), order.AppendUint32(nil, uint32(header+strip.Len()+strip.Len()%2))...)
	out = append(out, strip.Bytes()...)
	out = append(out, make([]byte, strip.Len()%2)...)
	const entry = 12
	at := len(out) + 2 + entry*len(fields) + 4 // of what has no room in its entry
	directory, rest := order.AppendUint16(nil, uint16(len(fields))), []byte(nil)
	for _, f := range fields {
		directory = order.AppendUint32(order.AppendUint16(order.AppendUint16(directory, f.tag), f.kind), uint32(f.count))
		if len(f.data) <= 4 {
			directory = append(directory, append(f.data, 0, 0, 0, 0)[:4]...)
			continue
		}
		directory = order.AppendUint32(directory, uint32(at+len(rest)))
		rest = append(rest, f.data...)
		rest = append(rest, make([]byte, len(rest)%2)...)
	}
	return slices.Concat(out, directory, make([]byte, 4), rest), nil
}
