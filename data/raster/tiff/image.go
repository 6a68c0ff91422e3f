package tiff

import (
	"fmt"
	"image"
	"math"
)

// An Image is one full-resolution image of a file, or the mask of one.
type Image struct {
	file          *File
	width, height int
	bands         int
	sample        SampleType
	alpha         int // band, -1 if none
	layout        layout
	offsets       *lazyIntegers
	counts        *lazyIntegers // nil if the file has none
	mask          *Image
	err           error // why values cannot be read

	noData   *float64
	metadata metadata
	snap     snapHeader
	geo      georeference
}

// A SampleType is the type of an image's values.
type SampleType struct {
	Format SampleFormat
	Bits   int
}

// String returns the name that numpy uses: uint8, float32.
func (t SampleType) String() string { return fmt.Sprintf("%v%d", t.Format, t.Bits) }

// A SampleFormat says how the bits of a value are read. The values are those of the tag SampleFormat.
type SampleFormat int

const (
	Uint  SampleFormat = 1
	Int   SampleFormat = 2
	Float SampleFormat = 3
)

// String returns uint, int or float.
func (f SampleFormat) String() string {
	switch f {
	case Uint:
		return "uint"
	case Int:
		return "int"
	case Float:
		return "float"
	default:
		return fmt.Sprintf("sample format %d of ", int(f))
	}
}

// Width returns the number of columns.
func (im *Image) Width() int { return im.width }

// Height returns the number of rows.
func (im *Image) Height() int { return im.height }

// Bands returns the number of bands, alpha included.
func (im *Image) Bands() int { return im.bands }

// AlphaBand returns the band that says where the others have no data (0 there), -1 if there is none.
func (im *Image) AlphaBand() int { return im.alpha }

// Type returns the type of the values, which all bands have.
func (im *Image) Type() SampleType { return im.sample }

// BlockSize returns the size of the tiles or strips in which the values are stored; those at the edges may be smaller.
func (im *Image) BlockSize() image.Point { return image.Pt(im.layout.width, im.layout.height) }

// Mask returns the internal mask, an image of one band with 0 where this image has no data. It is nil if there is none.
func (im *Image) Mask() *Image { return im.mask }

// Err returns the error, an [ErrUnsupported], that Gather would return because of the image's structure, nil if it can be read.
func (im *Image) Err() error { return im.err }

// refuse keeps the first reason why values cannot be read.
func (im *Image) refuse(err error) {
	if im.err == nil {
		im.err = err
	}
}

// newImage reads the structure and the metadata of an image.
func newImage(f *File, t *tagReader, d *directory) (*Image, error) {
	im := &Image{file: f, alpha: -1}
	for _, read := range []func(*tagReader, *directory) error{im.readSize, im.readSamples, im.readLayout, im.readSegments} {
		if err := read(t, d); err != nil {
			return nil, err
		}
	}
	var err error
	if im.metadata, err = readMetadata(t, d); err != nil {
		return nil, err
	}
	if im.geo, err = readGeoreference(t, d); err != nil {
		return nil, err
	}
	if err := im.readSNAP(t, d); err != nil {
		return nil, err
	}
	return im, im.readNoData(t, d)
}

func (im *Image) readSize(t *tagReader, d *directory) error {
	width, err := d.integer(t, tagWidth, 0)
	if err != nil {
		return err
	}
	height, err := d.integer(t, tagHeight, 0)
	if err != nil {
		return err
	}
	if width == 0 || height == 0 || width > math.MaxInt32 || height > math.MaxInt32 {
		return damaged("the image has %d x %d pixels, want 1 to %d in each direction", width, height, math.MaxInt32)
	}
	im.width, im.height = int(width), int(height)
	return nil
}

// readSamples reads the bands and their type.
func (im *Image) readSamples(t *tagReader, d *directory) error {
	bands, err := d.integer(t, tagSamplesPerPixel, 1)
	if err != nil {
		return err
	}
	if bands == 0 || bands > math.MaxUint16 {
		return damaged("the image has %d bands, want 1 to %d", bands, math.MaxUint16)
	}
	im.bands = int(bands)
	bits, err := im.sameForAllBands(t, d, tagBitsPerSample, 1)
	if err != nil {
		return err
	}
	format, err := im.sameForAllBands(t, d, tagSampleFormat, uint64(Uint))
	if err != nil {
		return err
	}
	if bits == 0 || bits > 128 {
		return damaged("the image has values of %d bits, want 1 to 64", bits)
	}
	if format == 4 {
		format = uint64(Uint) // undefined: as libtiff and GDAL read it
	}
	im.sample = SampleType{SampleFormat(format), int(bits)}
	photometric, err := d.integer(t, tagPhotometric, 1)
	if err != nil {
		return err
	}
	if photometric == 6 {
		im.refuse(unsupported("YCbCr colours; convert the file with: gdal_translate -co COMPRESS=DEFLATE"))
	}
	if im.sample.converter(t.order) == nil {
		im.refuse(unsupportedSample(im.sample))
	}
	extra, err := d.integers(t, tagExtraSamples, math.MaxUint16)
	if err != nil {
		return err
	}
	for i, kind := range extra {
		// 1 is associated, 2 unassociated alpha. Extra samples are the last ones.
		if band := im.bands - len(extra) + i; (kind == 1 || kind == 2) && band >= 0 {
			im.alpha = band
		}
	}
	return nil
}

func unsupportedSample(s SampleType) error {
	const advice = "; convert the file with: gdal_translate -ot Float32"
	switch s.Format {
	case 5, 6:
		return unsupported("complex numbers of %d bits%s", s.Bits, advice)
	case Uint, Int, Float:
		return unsupported("values of type %v%s", s, advice)
	default:
		return unsupported("sample format %d%s", int(s.Format), advice)
	}
}

// sameForAllBands returns the value of a tag that has one for each band. Images whose bands differ are refused.
func (im *Image) sameForAllBands(t *tagReader, d *directory, id tag, byDefault uint64) (uint64, error) {
	values, err := d.integers(t, id, math.MaxUint16)
	if err != nil || values == nil {
		return byDefault, err
	}
	for _, v := range values[:min(len(values), im.bands)] {
		if v != values[0] {
			im.refuse(unsupported("bands of different types: tag %v has the values %d and %d", id, values[0], v))
		}
	}
	return values[0], nil
}
