package tiff

import (
	"encoding/binary"
	"fmt"
)

// A tag is the number of a field of an image directory (TIFF 6.0, appendix A; GeoTIFF 1.1; GDAL's private tags).
type tag uint16

const (
	tagNewSubfileType  tag = 254
	tagSubfileType     tag = 255
	tagWidth           tag = 256
	tagHeight          tag = 257
	tagBitsPerSample   tag = 258
	tagCompression     tag = 259
	tagPhotometric     tag = 262
	tagFillOrder       tag = 266
	tagStripOffsets    tag = 273
	tagSamplesPerPixel tag = 277
	tagRowsPerStrip    tag = 278
	tagStripByteCounts tag = 279
	tagPlanarConfig    tag = 284
	tagPredictor       tag = 317
	tagTileWidth       tag = 322
	tagTileHeight      tag = 323
	tagTileOffsets     tag = 324
	tagTileByteCounts  tag = 325
	tagExtraSamples    tag = 338
	tagSampleFormat    tag = 339
	tagModelPixelScale tag = 33550
	tagModelTiepoint   tag = 33922
	tagModelTransform  tag = 34264
	tagGeoKeys         tag = 34735
	tagGeoDoubles      tag = 34736
	tagGeoTexts        tag = 34737
	tagGDALMetadata    tag = 42112
	tagGDALNoData      tag = 42113
	tagSNAP            tag = 65000
)

var tagNames = map[tag]string{
	tagNewSubfileType: "NewSubfileType", tagSubfileType: "SubfileType", tagWidth: "ImageWidth", tagHeight: "ImageLength",
	tagBitsPerSample: "BitsPerSample", tagCompression: "Compression", tagPhotometric: "PhotometricInterpretation",
	tagFillOrder: "FillOrder", tagStripOffsets: "StripOffsets",
	tagSamplesPerPixel: "SamplesPerPixel", tagRowsPerStrip: "RowsPerStrip", tagStripByteCounts: "StripByteCounts",
	tagPlanarConfig: "PlanarConfiguration", tagPredictor: "Predictor",
	tagTileWidth: "TileWidth", tagTileHeight: "TileLength", tagTileOffsets: "TileOffsets", tagTileByteCounts: "TileByteCounts",
	tagExtraSamples: "ExtraSamples", tagSampleFormat: "SampleFormat", tagModelPixelScale: "ModelPixelScale",
	tagModelTiepoint: "ModelTiepoint", tagModelTransform: "ModelTransformation", tagGeoKeys: "GeoKeyDirectory",
	tagGeoDoubles: "GeoDoubleParams", tagGeoTexts: "GeoAsciiParams", tagGDALMetadata: "GDAL_METADATA", tagGDALNoData: "GDAL_NODATA", tagSNAP: "65000",
}

func (t tag) known() bool { return tagNames[t] != "" }

func (t tag) String() string { return fmt.Sprintf("%s (%d)", tagNames[t], uint16(t)) }

// A fieldType is the type of a tag's values (TIFF 6.0, section 2; BigTIFF).
type fieldType uint16

const (
	typeByte   fieldType = 1
	typeASCII  fieldType = 2
	typeShort  fieldType = 3
	typeLong   fieldType = 4
	typeFloat  fieldType = 11
	typeDouble fieldType = 12
	typeIFD    fieldType = 13
	typeLong8  fieldType = 16
	typeIFD8   fieldType = 18
)

// size returns the bytes of one value, 0 for unknown types.
func (k fieldType) size() uint64 {
	switch k {
	case typeByte, typeASCII, 6, 7: // and SBYTE, UNDEFINED
		return 1
	case typeShort, 8: // and SSHORT
		return 2
	case typeLong, typeFloat, typeIFD, 9: // and SLONG
		return 4
	case typeDouble, typeLong8, typeIFD8, 5, 10, 17: // and RATIONAL, SRATIONAL, SLONG8
		return 8
	default:
		return 0
	}
}

// integer reports whether the values are unsigned integers.
func (k fieldType) integer() bool {
	switch k {
	case typeByte, typeShort, typeLong, typeLong8, typeIFD, typeIFD8:
		return true
	}
	return false
}

// integerAt returns the i-th of the unsigned integers in raw.
func (k fieldType) integerAt(order binary.ByteOrder, raw []byte, i int) uint64 {
	switch k.size() {
	case 1:
		return uint64(raw[i])
	case 2:
		return uint64(order.Uint16(raw[2*i:]))
	case 4:
		return uint64(order.Uint32(raw[4*i:]))
	default:
		return order.Uint64(raw[8*i:])
	}
}
