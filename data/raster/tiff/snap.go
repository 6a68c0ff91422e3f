package tiff

import (
	"cmp"
	"encoding/xml"
	"io"
	"strings"
	"unicode/utf8"
)

// maxSNAPBytes bounds the header of SNAP, which has the whole history of a product.
const maxSNAPBytes = 4 << 20

// A SNAPBand is what the header of SNAP says about a band, whose values in the file are raw.
type SNAPBand struct {
	Index  int     `xml:"BAND_INDEX"`
	Name   string  `xml:"BAND_NAME"`
	Unit   string  `xml:"PHYSICAL_UNIT"`
	Valid  string  `xml:"VALID_MASK_TERM"` // the expression for valid pixels, "" for all
	Log10  bool    `xml:"LOG10_SCALED"`    // raw numbers are decimal logarithms
	Scale  float64 `xml:"SCALING_FACTOR"`
	Offset float64 `xml:"SCALING_OFFSET"`
	HasNo  bool    `xml:"NO_DATA_VALUE_USED"`
	NoData string  `xml:"NO_DATA_VALUE"` // "" for none
}

// snapHeader is what is read of the header that SNAP writes as tag 65000, in the form of BEAM-DIMAP.
type snapHeader struct {
	Start string     `xml:"Production>PRODUCT_SCENE_RASTER_START_TIME"`
	Stop  string     `xml:"Production>PRODUCT_SCENE_RASTER_STOP_TIME"`
	Bands []SNAPBand `xml:"Image_Interpretation>Spectral_Band_Info"`

	byIndex map[int]SNAPBand
}

// SNAP returns what the header of SNAP says about a band. It is not ok if the file has no such header, or not that band.
func (im *Image) SNAP(band int) (b SNAPBand, ok bool) {
	b, ok = im.snap.byIndex[band]
	return b, ok
}

// SNAPTimes returns the begin and the end of the scene as the header of SNAP has them, such as 01-JUL-2025 09:30:00.000000; "" without one.
func (im *Image) SNAPTimes() (start, stop string) { return im.snap.Start, im.snap.Stop }

// readSNAP reads the header of SNAP. The tag is a private one: another content is no header. A header that cannot be read refuses the image, since
// the mask of its values may be in it.
func (im *Image) readSNAP(t *tagReader, d *directory) error {
	if d.entries[tagSNAP].kind != typeASCII {
		return nil
	}
	text, err := d.text(t, tagSNAP, maxSNAPBytes)
	if err != nil || !strings.Contains(text, "<Dimap_Document") {
		return err
	}
	if strings.Count(text, "<") > maxSNAPBytes/16 {
		im.refuse(unsupported("tag %v: a header of SNAP with too many elements", tagSNAP))
		return nil
	}
	if !utf8.ValidString(text) { // it is in ISO 8859-1
		runes := make([]rune, len(text))
		for i := range len(text) {
			runes[i] = rune(text[i])
		}
		text = string(runes)
	}
	decoder := xml.NewDecoder(strings.NewReader(text))
	decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil }
	if err := decoder.Decode(&im.snap); err != nil {
		im.refuse(unsupported("tag %v, the header of SNAP: %v", tagSNAP, err))
	}
	im.snap.byIndex = make(map[int]SNAPBand)
	for _, b := range im.snap.Bands {
		b.Name, b.Unit, b.Valid, b.NoData = strings.TrimSpace(b.Name), strings.TrimSpace(b.Unit), strings.TrimSpace(b.Valid), strings.TrimSpace(b.NoData)
		if b.Scale = cmp.Or(b.Scale, 1); !b.HasNo {
			b.NoData = ""
		}
		im.snap.byIndex[b.Index] = b
	}
	return nil
}
