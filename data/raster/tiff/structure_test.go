package tiff

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"maps"
	"math"
	"strings"
	"testing"
)

var byteOrders = []binary.ByteOrder{binary.LittleEndian, binary.BigEndian}

func TestTypes(t *testing.T) {
	for _, order := range byteOrders {
		for _, big := range []bool{false, true} {
			for _, s := range []SampleType{{Uint, 8}, {Int, 8}, {Float, 32}, {Float, 64}, {Uint, 64}, {Int, 64}} {
				t.Run(fmt.Sprintf("%v %v %v", order, big, s), func(t *testing.T) {
					values, raw := countingValues(order, s, 12)
					w := newFileWriter(order, big)
					w.directory(grayFields(4, 3, uint16(s.Bits), uint16(s.Format), w.data(raw), uint32(len(raw)))...)
					im := open(t, w.buf).Images()[0]
					if im.Type() != s {
						t.Errorf("type %v, want %v", im.Type(), s)
					}
					wantValues(t, im, 0, values)
				})
			}
		}
	}
}

func TestFloats24(t *testing.T) {
	for i, order := range byteOrders {
		w := newFileWriter(order, false)
		raw := [][]byte{{0, 0x80, 0xbf, 0, 0, 0x3f}, {0xbf, 0x80, 0, 0x3f, 0, 0}}[i]
		w.directory(grayFields(2, 1, 24, 3, w.data(raw), 6)...)
		wantValues(t, open(t, w.buf).Images()[0], 0, []float64{-1.5, 1})
		// Predictor 3 has the bytes in planes, the highest first, whatever the order of the file.
		w = newFileWriter(order, false)
		planes := encodeZlib(t, []byte{0xbf, 0x80, 0x41, 0x80, 0, 0}, 6) // differences of bf 3f 80 00 00 00
		w.directory(with(grayFields(2, 1, 24, 3, w.data(planes), uint32(len(planes))), field{tagCompression, []uint16{uint16(compressionDeflate)}},
			field{tagPredictor, []uint16{3}})...)
		wantValues(t, open(t, w.buf).Images()[0], 0, []float64{-1.5, 1})
	}
}

// TestLenient reads files that break the standard in ways that many writers do, and libtiff reads too.
func TestLenient(t *testing.T) {
	values, raw := countingValues(binary.LittleEndian, SampleType{Uint, 8}, 12)
	for _, test := range []struct {
		name    string
		changes []field
		want    []float64
	}{
		{"no byte counts", []field{{tagStripByteCounts, nil}}, values},
		{"byte count 0 of one uncompressed strip", []field{{tagStripByteCounts, []uint32{0}}}, values},
		{"no rows per strip", []field{{tagRowsPerStrip, nil}}, values},
		{"rows per strip 2^32-1", []field{{tagRowsPerStrip, []uint32{math.MaxUint32}}}, values},
		{"byte count too large", []field{{tagStripByteCounts, []uint32{1 << 30}}}, values},
		{"more byte counts than strips", []field{{tagStripByteCounts, []uint32{12, 99, 99}}}, values},
		{"short values", []field{{tagWidth, []uint16{4}}, {tagHeight, []uint16{3}}, {tagStripOffsets, []uint16{8}}}, values},
		{"64-bit values", []field{{tagWidth, []uint64{4}}, {tagStripOffsets, []uint64{8}}}, values},
		{"unknown tags", []field{{0, []uint16{1}}, {65535, []float64{1, 2}}, {33432, []byte("(c)\x00")}}, values},
		{"predictor without compression", []field{{tagPredictor, []uint16{2}}}, values},
		{"undefined sample format", []field{{tagSampleFormat, []uint16{4}}}, values},
		{"sparse", []field{{tagStripOffsets, []uint32{0}}, {tagStripByteCounts, []uint32{0}}, {tagGDALNoData, []byte("7\x00")}},
			[]float64{7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}},
		{"strips of one row", []field{{tagRowsPerStrip, []uint32{1}}, {tagStripOffsets, []uint32{16, 12, 8}}, {tagStripByteCounts, []uint16{4, 4, 4}}},
			append(append(append([]float64{}, values[8:]...), values[4:8]...), values[:4]...)},
		{"overlapping strips", []field{{tagRowsPerStrip, []uint32{1}}, {tagStripOffsets, []uint32{8, 8, 9}}, {tagStripByteCounts, []uint16{4, 4, 4}}},
			append(append(append([]float64{}, values[:4]...), values[:4]...), values[1:5]...)},
		{"tiles in the tags of strips", []field{{tagRowsPerStrip, nil}, {tagTileWidth, []uint16{4}}, {tagTileHeight, []uint16{3}}}, values},
		{"offsets beyond the image's tiles", []field{{tagStripOffsets, []uint32{8, 1 << 31}}}, values},
		{"whole strip height in the last strip", []field{{tagHeight, []uint16{2}}, {tagRowsPerStrip, []uint16{100}}}, values[:8]},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newFileWriter(binary.LittleEndian, false)
			at := w.data(raw)
			w.directory(with(grayFields(4, 3, 8, 1, at, 12), test.changes...)...)
			wantValues(t, open(t, w.buf).Images()[0], 0, test.want)
		})
	}
}

func TestFillOrder(t *testing.T) {
	w := newFileWriter(binary.LittleEndian, false)
	at := w.data([]byte{0b101, 0b1000_0010, 0b1, 0})
	w.directory(with(grayFields(10, 2, 1, 1, at, 4), field{tagFillOrder, []uint16{2}})...)
	wantValues(t, open(t, w.buf).Images()[0], 0, []float64{1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0})
}

// TestFillOrderStream: the reversed bits of a strip that is too large to be held.
func TestFillOrderStream(t *testing.T) {
	file := newTestImage(2100, 1100, 0, 1100, 1, false, encoding{"deflate", compressionDeflate, func(d []byte) []byte { return reverseBits(encodeZlib(t, d, 1)) }},
		field{tagFillOrder, []uint16{2}})
	im := open(t, file.raw).Images()[0]
	if !im.streams() {
		t.Fatal("the strip is not read as a stream")
	}
	checkGather(t, im, 0, []image.Rectangle{image.Rect(100, 40, 120, 60), image.Rect(2000, 1050, 2100, 1100)})
}

func TestAlphaBand(t *testing.T) {
	for _, test := range []struct {
		extra []uint16
		want  int
	}{{[]uint16{2}, 1}, {[]uint16{1}, 1}, {[]uint16{0}, -1}, {[]uint16{2, 0}, 0}} {
		w := newFileWriter(binary.LittleEndian, false)
		fields := with(grayFields(2, 2, 8, 1, w.data(make([]byte, 8)), 8), field{tagSamplesPerPixel, []uint16{2}}, field{tagExtraSamples, test.extra})
		w.directory(fields...)
		if got := open(t, w.buf).Images()[0].AlphaBand(); got != test.want {
			t.Errorf("the alpha band with the extra samples %v is %d, want %d", test.extra, got, test.want)
		}
	}
}

func TestMetadata(t *testing.T) {
	const text = `<GDALMetadata><Item name="level">L3 &amp;lt;</Item><Item name="band" sample="0">B04</Item><Item name="x" domain="rpc">1</Item></GDALMetadata>`
	w := newFileWriter(binary.LittleEndian, false)
	w.directory(with(grayFields(2, 2, 8, 1, w.data(make([]byte, 4)), 4), field{tagGDALMetadata, []byte(text + "\x00")})...)
	im := open(t, w.buf).Images()[0]
	if got, want := im.Metadata(), map[string]string{"level": "L3 <"}; !maps.Equal(got, want) {
		t.Errorf("metadata of the image %v, want %v", got, want)
	}
}

// TestRefused opens or reads files that must be refused, by name.
func TestRefused(t *testing.T) {
	for _, test := range []struct {
		name    string
		changes []field
		is      error
		want    string // in the message
	}{
		{"no width", []field{{tagWidth, nil}}, ErrFormat, "0 x 3 pixels"},
		{"huge", []field{{tagWidth, []uint64{1 << 40}}}, ErrFormat, "pixels"},
		{"no offsets", []field{{tagStripOffsets, nil}}, ErrFormat, "StripOffsets (273) is missing"},
		{"too few offsets", []field{{tagRowsPerStrip, []uint16{1}}}, ErrFormat, "1 values for 3 strips"},
		{"too few byte counts", []field{{tagRowsPerStrip, []uint16{1}}, {tagStripOffsets, []uint32{8, 8, 8}}}, ErrFormat, "StripByteCounts"},
		{"offset beyond the file", []field{{tagStripOffsets, []uint32{1 << 20}}}, ErrFormat, "offset 1048576"},
		{"data in the header", []field{{tagStripOffsets, []uint32{4}}}, ErrFormat, "offset 4"},
		{"short data", []field{{tagStripByteCounts, []uint32{11}}}, ErrFormat, "11 bytes of uncompressed data at offset 8, want 12"},
		{"0 rows per strip", []field{{tagRowsPerStrip, []uint16{0}}}, ErrFormat, "strips of 0 rows"},
		{"tiles of width 0", []field{{tagTileWidth, []uint16{0}}, {tagTileHeight, []uint16{16}}}, ErrFormat, "tiles of 0 x 16"},
		{"no tile height", []field{{tagTileWidth, []uint16{16}}}, ErrFormat, "tiles of 16 x 0"},
		{"no bands", []field{{tagSamplesPerPixel, []uint16{0}}}, ErrFormat, "0 bands"},
		{"0 bits", []field{{tagBitsPerSample, []uint16{0}}}, ErrFormat, "0 bits"},
		{"bits as floats", []field{{tagBitsPerSample, []float64{8}}}, ErrFormat, "BitsPerSample (258)"},
		{"damaged XML", []field{{tagGDALMetadata, []byte("<GDALMetadata><Item name='x'>\x00")}}, ErrFormat, "GDAL_METADATA"},
		{"nested XML", []field{{tagGDALMetadata, []byte(strings.Repeat("<a>", 1000))}}, ErrFormat, "levels"},
		{"scale without a number", []field{{tagGDALMetadata, []byte("<GDALMetadata><Item name='SCALE' sample='0' role='scale'>x</Item></GDALMetadata>")}}, ErrFormat, `scale "x" of band 1`},
		{"GeoKeys too short", []field{{tagGeoKeys, []uint16{1, 1, 0, 2, 1024, 0, 1, 1}}}, ErrFormat, "too few for its keys"},
		{"GeoKey beyond the doubles", []field{{tagGeoKeys, []uint16{1, 1, 0, 1, 2059, 34736, 1, 1}}, {tagGeoDoubles, []float64{1}}}, ErrFormat, "GeoKey 2059"},
		{"complex", []field{{tagSampleFormat, []uint16{6}}, {tagBitsPerSample, []uint16{64}}}, ErrUnsupported, "complex numbers of 64 bits"},
		{"24-bit integers", []field{{tagBitsPerSample, []uint16{24}}}, ErrUnsupported, "uint24"},
		{"3-bit signed integers", []field{{tagSampleFormat, []uint16{2}}, {tagBitsPerSample, []uint16{3}}}, ErrUnsupported, "int3"},
		{"sample format 9", []field{{tagSampleFormat, []uint16{9}}}, ErrUnsupported, "sample format 9"},
		{"bands of different types", []field{{tagSamplesPerPixel, []uint16{3}}, {tagBitsPerSample, []uint16{5, 6, 5}}}, ErrUnsupported, "the values 5 and 6"},
		{"JPEG", []field{{tagCompression, []uint16{7}}}, ErrUnsupported, "compression JPEG (7); convert the file with: gdal_translate -co COMPRESS=DEFLATE"},
		{"LERC", []field{{tagCompression, []uint16{34887}}}, ErrUnsupported, "LERC"},
		{"unknown compression", []field{{tagCompression, []uint16{12345}}}, ErrUnsupported, "12345 (unknown)"},
		{"predictor 4", []field{{tagCompression, []uint16{8}}, {tagPredictor, []uint16{4}}}, ErrUnsupported, "predictor 4"},
		{"predictor 3 of integers", []field{{tagCompression, []uint16{8}}, {tagPredictor, []uint16{3}}}, ErrUnsupported, "predictor 3 of values of type uint8"},
		{"YCbCr", []field{{tagPhotometric, []uint16{6}}}, ErrUnsupported, "YCbCr"},
		{"nodata text", []field{{tagGDALNoData, []byte("none\x00")}}, ErrUnsupported, `nodata value "none"`},
		{"rows of 32 MiB", []field{{tagWidth, []uint32{32 << 20}}}, ErrUnsupported, "rows of 33554432 bytes"},
		{"old LZW", []field{{tagCompression, []uint16{5}}, {tagStripOffsets, []uint32{12}}}, ErrUnsupported, "bit order of TIFF 5"},
		{"no deflate", []field{{tagCompression, []uint16{8}}}, ErrFormat, "want a header of zlib"},
		{"no Zstandard", []field{{tagCompression, []uint16{50000}}}, ErrFormat, "Zstandard data"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newFileWriter(binary.LittleEndian, false)
			at := w.data([]byte{1, 38, 75, 112, 0, 1, 2, 3, 4, 5, 6, 7})
			w.directory(with(grayFields(4, 3, 8, 1, at, 12), test.changes...)...)
			f, err := Open(bytes.NewReader(w.buf), int64(len(w.buf)), nil)
			if err == nil {
				_, err = readWhole(f.Images()[0], 0)
			}
			if !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want a %v with %q", err, test.is, test.want)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	for _, test := range []struct{ name, file, want string }{
		{"empty", "", "0 bytes"},
		{"PNG", "\x89PNG\r\n\x1a\n", "89 50 4e 47"},
		{"NetCDF", "CDF\x01\x00\x00\x00\x00", "want II or MM"},
		{"version", "II\x2c\x00\x08\x00\x00\x00", "version 44"},
		{"offsets of BigTIFF", "MM\x00\x2b\x00\x04\x00\x00", "offsets of 4 bytes"},
		{"short BigTIFF", "MM\x00\x2b\x00\x08\x00\x00", "beyond the end"},
		{"no directory", "II\x2a\x00\x00\x00\x00\x00", "no image directory"},
		{"directory beyond the end", "II\x2a\x00\xff\x00\x00\x00", "beyond the end"},
		{"directory at the end", "II\x2a\x00\x08\x00\x00\x00\x01\x00", "1 entries"},
		{"many entries", "MM\x00\x2b\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x10\xff\xff\xff\xff\xff\xff\xff\xff", "entries"},
	} {
		_, err := Open(strings.NewReader(test.file), int64(len(test.file)), nil)
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.name, err, test.want)
		}
	}
}

func TestCyclicDirectories(t *testing.T) {
	for _, big := range []bool{false, true} {
		w := newFileWriter(binary.BigEndian, big)
		fields := grayFields(2, 2, 8, 1, w.data([]byte("abcd")), 4)
		first := w.directory(fields...)
		w.directory(fields...)
		if n := len(open(t, w.buf).Images()); n != 2 {
			t.Errorf("%d images, want 2", n)
		}
		w.setLink(first)
		if _, err := Open(bytes.NewReader(w.buf), int64(len(w.buf)), nil); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "returns to offset") {
			t.Errorf("error %v, want that the chain returns", err)
		}
	}
}

// TestOverlappingDirectories: a chain of directories that overlap ends, because together they have at most the bytes of the file.
func TestOverlappingDirectories(t *testing.T) {
	w := newFileWriter(binary.LittleEndian, false)
	const directories, entries = 300, 100
	w.buf = append(w.buf, make([]byte, 4*directories+12*entries+8)...)
	for i := range directories {
		at := 8 + 4*i
		w.setLink(at)
		w.order.PutUint16(w.buf[at:], entries)
		w.link = at + 2 + 12*entries
	}
	if _, err := Open(bytes.NewReader(w.buf), int64(len(w.buf)), nil); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "100 entries, which is more than the file can have") {
		t.Errorf("error %v, want that the directories have too many entries", err)
	}
}

// TestEmptyDirectories: a directory after many empty ones, which lie within the first one, is refused too.
func TestEmptyDirectories(t *testing.T) {
	w := newFileWriter(binary.LittleEndian, false)
	const entries, empty = 20, 10
	first := len(w.buf)
	w.buf = append(w.buf, make([]byte, 2+12*entries+4)...)
	w.setLink(first)
	w.order.PutUint16(w.buf[first:], entries)
	w.link = first + 2 + 12*entries
	at := first + 2
	for range empty {
		w.setLink(at)
		w.link = at + 2
		at += 6
	}
	w.setLink(at)
	w.order.PutUint16(w.buf[at:], 1)
	if _, err := Open(bytes.NewReader(w.buf), int64(len(w.buf)), nil); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "has 1 entries, which is more") {
		t.Errorf("error %v, want that the last directory has too many entries", err)
	}
}

// TestOverviewsAndMasks finds full-resolution images and masks among directories.
func TestOverviewsAndMasks(t *testing.T) {
	w := newFileWriter(binary.LittleEndian, false)
	at := w.data([]byte{0x80, 0x40, 3, 4})
	image := func(width, height int, bits uint16, changes ...field) {
		w.directory(with(grayFields(width, height, bits, 1, at, 4), changes...)...)
	}
	image(2, 2, 8)
	image(1, 1, 8, field{tagNewSubfileType, []uint32{1}})
	image(1, 1, 8, field{tagSubfileType, []uint16{2}})
	image(1, 1, 1, field{tagNewSubfileType, []uint32{5}})
	image(2, 2, 1, field{tagNewSubfileType, []uint32{4}})
	image(4, 1, 8, field{tagNewSubfileType, []uint32{2}})
	image(2, 1, 8)
	image(1, 1, 1, field{tagNewSubfileType, []uint32{4}})
	images := open(t, w.buf).Images()
	if len(images) != 3 {
		t.Fatalf("%d images, want 3", len(images))
	}
	wantValues(t, images[0].Mask(), 0, []float64{1, 0, 0, 1})
	if images[1].Mask() != nil || images[1].Err() != nil {
		t.Errorf("image 2 has a mask, or the error %v", images[1].Err())
	}
	if err := images[2].Err(); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "a mask of 1 x 1 pixels for an image of 2 x 1") {
		t.Errorf("image 3 has the error %v", err)
	}
}

func TestTransformErrors(t *testing.T) {
	for _, test := range []struct {
		name    string
		changes []field
		is      error
		want    string
	}{
		{"none", nil, ErrUnsupported, "no ModelPixelScale"},
		{"control points", []field{{tagModelTiepoint, make([]float64, 24)}}, ErrUnsupported, "4 ground control points"},
		{"no area", []field{{tagModelTransform, make([]float64, 16)}}, ErrFormat, "no area"},
		{"infinite", []field{{tagModelTiepoint, make([]float64, 6)}, {tagModelPixelScale, []float64{math.Inf(1), 1, 0}}}, ErrFormat, "not finite"},
	} {
		w := newFileWriter(binary.LittleEndian, false)
		w.directory(with(grayFields(2, 2, 8, 1, w.data([]byte("abcd")), 4), test.changes...)...)
		im := open(t, w.buf).Images()[0]
		if _, ok := im.Transform(); ok || !errors.Is(im.TransformErr(), test.is) || !strings.Contains(im.TransformErr().Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.name, im.TransformErr(), test.want)
		}
	}
}

func TestNoData(t *testing.T) {
	for _, test := range []struct {
		text string
		bits uint16
		want float64
		ok   bool
	}{
		{"-3.4028235e+38", 32, -math.MaxFloat32, true},
		{"-3.4028234663852886e+38 ", 32, -math.MaxFloat32, true},
		{"0.1", 32, float64(float32(0.1)), true},
		{"0.1", 64, 0.1, true},
		{"-1.797e308", 32, -math.MaxFloat32, true},
		{"nan", 32, math.NaN(), true},
		{"-1.#QNAN", 32, math.NaN(), true},
		{"-1.#INF", 32, math.Inf(-1), true},
		{"-inf", 32, math.Inf(-1), true},
		{"-9999,5", 64, -9999.5, true},
		{" ", 64, 0, false},
	} {
		w := newFileWriter(binary.LittleEndian, false)
		w.directory(with(grayFields(1, 1, test.bits, 3, w.data(make([]byte, 8)), 8), field{tagGDALNoData, []byte(test.text + "\x00")})...)
		if got, ok := open(t, w.buf).Images()[0].NoData(); ok != test.ok || !same(got, test.want) {
			t.Errorf("nodata %q is %v, %v, want %v, %v", test.text, got, ok, test.want, test.ok)
		}
	}
}

// A text with few digits stands for the largest number, and a number that no pixel can have for nothing.
func TestIsNoData(t *testing.T) {
	for _, test := range []struct {
		text         string
		format, bits uint16
		raw          float64
		want         bool
	}{
		{"-1.79769313486232e+308", 3, 64, -math.MaxFloat64, true}, {"-1.797693134862316e+308", 3, 64, -math.MaxFloat64, true},
		{"-1.79769313486232e+308", 3, 64, math.MaxFloat64, false}, {"-1.79769313486232e+308", 3, 64, -1.7e308, false},
		{"-1.79769313486232e+308", 3, 32, -math.MaxFloat32, true}, {"-3.40282e+38", 3, 32, -math.MaxFloat32, true},
		{"-3.40282000000000014e+38", 3, 32, -math.MaxFloat32, true}, {"-3.4e+38", 3, 32, -math.MaxFloat32, true}, {"-3.4e+38", 3, 64, -3.4028234663852886e+38, true},
		{"-3.40282e+38", 3, 64, -3.3e38, false}, {"9.96921e+36", 3, 32, float64(float32(9.969209968386869e36)), true}, {"-9999", 3, 32, -9999.1, false},
		{"nan", 3, 32, math.NaN(), true}, {"-9999", 1, 8, 0, false}, {"256", 1, 8, 255, false}, {"255", 1, 8, 255, true}, {"0.5", 1, 8, 0, false},
		{"-32768", 2, 16, -32768, true}, {"65535", 2, 16, -1, false}, {"nan", 1, 16, 0, false},
	} {
		w := newFileWriter(binary.LittleEndian, false)
		w.directory(with(grayFields(1, 1, test.bits, test.format, w.data(make([]byte, 8)), 8), field{tagGDALNoData, []byte(test.text + "\x00")})...)
		if got := open(t, w.buf).Images()[0].IsNoData(test.raw); got != test.want {
			t.Errorf("with nodata %q, %g of %d bits is no data: %v, want %v", test.text, test.raw, test.bits, got, test.want)
		}
	}
}

// The header of SNAP has the mask of values, their unit, their number for no data and the times of the scene.
func TestSNAPHeader(t *testing.T) {
	const header = `<?xml version="1.0" encoding="ISO-8859-1"?>
<Dimap_Document name="chl.dim"><Production><PRODUCT_SCENE_RASTER_START_TIME>01-JUL-2025 09:30:00.000000</PRODUCT_SCENE_RASTER_START_TIME>
<PRODUCT_SCENE_RASTER_STOP_TIME>01-JUL-2025 09:33:00.000000</PRODUCT_SCENE_RASTER_STOP_TIME></Production>
<Image_Interpretation><Spectral_Band_Info><BAND_INDEX>0</BAND_INDEX><BAND_NAME>conc_chl</BAND_NAME><PHYSICAL_UNIT>\xb5g/l</PHYSICAL_UNIT><SCALING_FACTOR>2.0</SCALING_FACTOR>
<SCALING_OFFSET>1.0</SCALING_OFFSET><LOG10_SCALED>true</LOG10_SCALED><NO_DATA_VALUE_USED>true</NO_DATA_VALUE_USED><NO_DATA_VALUE>-1.0</NO_DATA_VALUE>
<VALID_MASK_TERM>c2rcc_flags.Valid_PE &amp;&amp; conc_chl &gt; 0</VALID_MASK_TERM></Spectral_Band_Info></Image_Interpretation></Dimap_Document>`
	read := func(text string) *Image {
		w := newFileWriter(binary.LittleEndian, false)
		w.directory(with(grayFields(1, 1, 32, 3, w.data(make([]byte, 4)), 4), field{tagSNAP, []byte(text)})...)
		return open(t, w.buf).Images()[0]
	}
	im := read(strings.ReplaceAll(header, `\xb5`, "\xb5") + "\x00")
	got, ok := im.SNAP(0)
	_, ok1 := im.SNAP(1)
	start, stop := im.SNAPTimes()
	want := SNAPBand{Name: "conc_chl", Unit: "µg/l", Valid: "c2rcc_flags.Valid_PE && conc_chl > 0", Log10: true, Scale: 2, Offset: 1, HasNo: true, NoData: "-1.0"}
	if v, _ := im.NoData(); !ok || ok1 || got != want || start != "01-JUL-2025 09:30:00.000000" || stop != "01-JUL-2025 09:33:00.000000" || v != -1 {
		t.Errorf("SNAP(0) = %+v, %v, want %+v; SNAP(1) is ok: %v; the times are %q and %q, no data is %v", got, ok, want, ok1, start, stop, v)
	}
	for text, want := range map[string]string{"<Dimap_Document><a": "header of SNAP", "<Dimap_Document>" + strings.Repeat("<a>", 1<<19): "too many elements", "another program": "",
		strings.Replace(header, ">2.0<", ">two<", 1): "two"} {
		if err := read(text).Err(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

// The metadata that GDAL writes beside a file complete those in it.
func TestAux(t *testing.T) {
	const aux = `<PAMDataset><Metadata><MDI key="a">b</MDI></Metadata><PAMRasterBand band="1"><Description>chl</Description><NoDataValue>2.55000000000000000E+02</NoDataValue>` +
		`<UnitType>mg m-3</UnitType><Offset>1</Offset><Scale>0.5</Scale></PAMRasterBand><PAMRasterBand band="7"><Scale>9</Scale></PAMRasterBand></PAMDataset>`
	read := func(aux string, change ...field) *Image {
		w := newFileWriter(binary.LittleEndian, false)
		w.directory(with(grayFields(1, 1, 8, 1, w.data([]byte{1}), 1), change...)...)
		f, err := Open(bytes.NewReader(w.buf), int64(len(w.buf)), &Options{Aux: []byte(aux)})
		must(t, err)
		return f.Images()[0]
	}
	im := read(aux)
	scale, offset := im.Scale(0)
	if v, ok := im.NoData(); !ok || v != 255 || scale != 0.5 || offset != 1 || im.Unit(0) != "mg m-3" || im.Description(0) != "chl" || im.Err() != nil {
		t.Errorf("no data %v, %v, scale %v, offset %v, unit %q, description %q, %v", v, ok, scale, offset, im.Unit(0), im.Description(0), im.Err())
	}
	if v, _ := read(aux, field{tagGDALNoData, []byte("7\x00")}).NoData(); v != 7 {
		t.Errorf("no data of a file that says it: %v, want 7", v)
	}
	for aux, want := range map[string]string{"<PAMDataset>": ".aux.xml", strings.Repeat(" ", MaxAux+1): "at most",
		`<PAMDataset><PAMRasterBand band="1"><Scale>x</Scale></PAMRasterBand></PAMDataset>`:             `"x"`,
		`<PAMDataset><PAMRasterBand band="1"><Scale></Scale></PAMRasterBand></PAMDataset>`:              "scale 0",
		`<PAMDataset><PAMRasterBand band="1"><Offset>NaN</Offset></PAMRasterBand></PAMDataset>`:         "offset NaN",
		`<PAMDataset><PAMRasterBand band="1"><NoDataValue>x</NoDataValue></PAMRasterBand></PAMDataset>`: `nodata value "x"`} {
		if err := read(aux).Err(); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want an error with %q", aux, err, want)
		}
	}
}
