package tiff

import (
	"fmt"
	"math"
)

// Bounds of decoding.
const (
	// maxRowBytes bounds a row of a strip or tile: 2 million float64 pixels. The widest real grids, 10 m around the Earth, have
	// 4 million bytes. A row must be held whole, because predictors work on rows, and a row of a damaged file may claim anything.
	maxRowBytes = 16 << 20
	// maxWholeBytes bounds what is decoded at once: a tile of 1,024 x 1,024 float32. What is larger is decoded as a stream.
	maxWholeBytes = 4 << 20
	// bandBytes is the size of the pieces in which streams are decoded and uncompressed strips are read, if a row has not more.
	bandBytes = 256 << 10
)

// A layout says how the values of an image are arranged in segments, which are its strips or tiles.
type layout struct {
	tiled         bool
	width, height int // of a segment in pixels; those of the last column and row may reach beyond the image
	across, down  int // segments of a band, or of all bands if these are interleaved by pixel
	planes        bool
	samples       int // values for each pixel in a segment: the bands, or 1 with planes
	rowBytes      int // of a segment
	compression   compression
	predictor     int
	reversed      bool // FillOrder 2: the first bit is the lowest of each byte
	bandHeight    int  // rows that are read independently: of a segment, or less where its rows can be found without decoding
}

// streams reports whether segments are too large to be decoded at once.
func (im *Image) streams() bool {
	l := &im.layout
	return l.compression != compressionNone && int64(l.height)*int64(l.rowBytes) > maxWholeBytes
}

// readLayout reads how values are arranged and compressed.
func (im *Image) readLayout(t *tagReader, d *directory) error {
	l := &im.layout
	for _, read := range []struct {
		id        tag
		byDefault uint64
		into      func(uint64)
	}{
		{tagCompression, uint64(compressionNone), func(v uint64) { l.compression = compression(v) }},
		{tagPlanarConfig, 1, func(v uint64) { l.planes = v == 2 && im.bands > 1 }},
		{tagPredictor, 1, func(v uint64) { l.predictor = int(min(v, math.MaxInt32)) }},
		{tagFillOrder, 1, func(v uint64) { l.reversed = v == 2 }},
	} {
		v, err := d.integer(t, read.id, read.byDefault)
		if err != nil {
			return err
		}
		read.into(v)
	}
	if err := im.readSegmentSize(t, d); err != nil {
		return err
	}
	l.samples = im.bands
	if l.planes {
		l.samples = 1
	}
	// The width is at most 2^31, there are at most 2^16 samples of at most 2^7 bits.
	rowBytes := (uint64(l.width)*uint64(l.samples)*uint64(im.sample.Bits) + 7) / 8
	if rowBytes > maxRowBytes {
		im.refuse(unsupported("rows of %d bytes in a strip or tile, want at most %d; convert the file with: gdal_translate -co TILED=YES", rowBytes, maxRowBytes))
	}
	l.rowBytes = int(min(rowBytes, maxRowBytes))
	l.across = (im.width-1)/l.width + 1
	l.down = (im.height-1)/l.height + 1
	im.checkCoding()
	l.bandHeight = l.height
	if l.compression == compressionNone {
		l.bandHeight = min(l.height, max(1, bandBytes/l.rowBytes))
		for l.height < im.height && l.height%l.bandHeight > 0 {
			l.bandHeight-- // so that all bands of all segments have the same height
		}
	}
	return nil
}

// readSegmentSize reads the size of tiles, or of strips if there are none.
func (im *Image) readSegmentSize(t *tagReader, d *directory) error {
	_, tiled := d.entries[tagTileWidth]
	im.layout.tiled = tiled
	if !tiled {
		// Without the tag, or with its default 2^32-1, the image is one strip.
		rows, err := d.integer(t, tagRowsPerStrip, math.MaxUint32)
		if err != nil {
			return err
		}
		if rows == 0 {
			return damaged("strips of 0 rows")
		}
		im.layout.width = im.width
		im.layout.height = int(min(rows, uint64(im.height)))
		return nil
	}
	width, err := d.integer(t, tagTileWidth, 0)
	if err != nil {
		return err
	}
	height, err := d.integer(t, tagTileHeight, 0)
	if err != nil {
		return err
	}
	if width == 0 || height == 0 || width > math.MaxInt32 || height > math.MaxInt32 {
		return damaged("tiles of %d x %d pixels, want 1 to %d in each direction", width, height, math.MaxInt32)
	}
	im.layout.width, im.layout.height = int(width), int(height)
	return nil
}

// checkCoding refuses what the decoders do not know.
func (im *Image) checkCoding() {
	l := &im.layout
	if !l.compression.supported() {
		im.refuse(unsupported("compression %v; convert the file with: gdal_translate -co COMPRESS=DEFLATE", l.compression))
	}
	if !l.compression.predicts() {
		l.predictor = 1 // the tag has no meaning then (TIFF 6.0, section 14), and writers leave it behind
	}
	bits := im.sample.Bits
	switch {
	case l.predictor == 0 || l.predictor == 1:
		l.predictor = 1
	case l.predictor == 2 && (bits == 8 || bits == 16 || bits == 32 || bits == 64):
	case l.predictor == 3 && im.sample.Format == Float:
	case l.predictor == 2 || l.predictor == 3:
		im.refuse(unsupported("predictor %d of values of type %v", l.predictor, im.sample))
	default:
		im.refuse(unsupported("predictor %d, want 1 to 3", l.predictor))
	}
}

// A compression is a value of the tag Compression.
type compression uint64

const (
	compressionNone       compression = 1
	compressionLZW        compression = 5
	compressionDeflate    compression = 8
	compressionOldDeflate compression = 32946
	compressionPackBits   compression = 32773
	compressionZstd       compression = 50000
)

var compressionNames = map[compression]string{
	compressionNone: "uncompressed", compressionLZW: "LZW", compressionDeflate: "deflate", compressionOldDeflate: "deflate",
	compressionPackBits: "PackBits", compressionZstd: "Zstandard",
	// What is refused, by name.
	2: "CCITT RLE", 3: "CCITT fax group 3", 4: "CCITT fax group 4", 6: "old-style JPEG", 7: "JPEG", 9: "JBIG", 10: "JBIG",
	32766: "NeXT", 32771: "CCITT RLE/W", 32809: "ThunderScan", 32908: "PixarFilm", 32909: "PixarLog", 33003: "JPEG 2000",
	33004: "JPEG 2000", 33005: "JPEG 2000", 34661: "JBIG", 34676: "SGI LogLuv", 34677: "SGI LogLuv 24", 34712: "JPEG 2000",
	34887: "LERC", 34892: "lossy JPEG", 34925: "LZMA", 50001: "WebP", 50002: "JPEG XL", 52546: "JPEG XL",
}

// String returns the name of a compression, with its number if it is not supported.
func (c compression) String() string {
	switch name := compressionNames[c]; {
	case name == "":
		return fmt.Sprintf("%d (unknown)", uint64(c))
	case c.supported():
		return name
	default:
		return fmt.Sprintf("%s (%d)", name, uint64(c))
	}
}

func (c compression) supported() bool {
	return c == compressionNone || c == compressionPackBits || c.predicts()
}

// predicts reports whether data may have gone through a predictor before this compression.
func (c compression) predicts() bool {
	switch c {
	case compressionLZW, compressionDeflate, compressionOldDeflate, compressionZstd:
		return true
	}
	return false
}
