package tiff

import (
	"encoding/xml"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxSNAPBytes bounds the header of SNAP, which has the whole history of a product.
const maxSNAPBytes = 4 << 20

// A SNAPBand is what the header of SNAP says about a band, whose values in the file are raw.
type SNAPBand struct {
	Name, Unit    string
	Valid         string // the expression for valid pixels, "" for all
	Log10         bool   // raw numbers are decimal logarithms
	Scale, Offset float64
	NoData        string // "" for none
}

// snapHeader is what is read of the header that SNAP writes as tag 65000, in the form of BEAM-DIMAP.
type snapHeader struct {
	Production struct {
		Start string `xml:"PRODUCT_SCENE_RASTER_START_TIME"`
		Stop  string `xml:"PRODUCT_SCENE_RASTER_STOP_TIME"`
	} `xml:"Production"`
	Bands []struct {
		Index  string `xml:"BAND_INDEX"`
		Name   string `xml:"BAND_NAME"`
		Unit   string `xml:"PHYSICAL_UNIT"`
		Scale  string `xml:"SCALING_FACTOR"`
		Offset string `xml:"SCALING_OFFSET"`
		Log10  string `xml:"LOG10_SCALED"`
		HasNo  string `xml:"NO_DATA_VALUE_USED"`
		NoData string `xml:"NO_DATA_VALUE"`
		Valid  string `xml:"VALID_MASK_TERM"`
	} `xml:"Image_Interpretation>Spectral_Band_Info"`
}

// SNAP returns what the header of SNAP says about a band. It is not ok if the file has no such header, or not that band.
func (im *Image) SNAP(band int) (b SNAPBand, ok bool) {
	b, ok = im.snap.bands[band]
	return b, ok
}

// SNAPTimes returns the begin and the end of the scene as the header of SNAP has them, such as 01-JUL-2025 09:30:00.000000; "" without one.
func (im *Image) SNAPTimes() (start, stop string) { return im.snap.start, im.snap.stop }

// snapInfo is what a header of SNAP says.
type snapInfo struct {
	bands       map[int]SNAPBand
	start, stop string
}

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
	if !utf8.ValidString(text) { // it is in ISO 8859-1
		runes := make([]rune, len(text))
		for i := range len(text) {
			runes[i] = rune(text[i])
		}
		text = string(runes)
	}
	if strings.Count(text, "<") > maxSNAPBytes/16 {
		im.refuse(unsupported("tag %v: a header of SNAP with too many elements", tagSNAP))
		return nil
	}
	decoder := xml.NewDecoder(strings.NewReader(text))
	decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil }
	var h snapHeader
	if err := decoder.Decode(&h); err != nil {
		im.refuse(unsupported("tag %v, the header of SNAP: %v", tagSNAP, err))
		return nil
	}
	im.snap = snapInfo{bands: make(map[int]SNAPBand), start: strings.TrimSpace(h.Production.Start), stop: strings.TrimSpace(h.Production.Stop)}
	for _, b := range h.Bands {
		index, err := strconv.Atoi(strings.TrimSpace(b.Index))
		if err != nil {
			continue
		}
		of := SNAPBand{Name: strings.TrimSpace(b.Name), Unit: strings.TrimSpace(b.Unit), Valid: strings.TrimSpace(b.Valid), Log10: isTrue(b.Log10), Scale: 1}
		if v, err := strconv.ParseFloat(strings.TrimSpace(b.Scale), 64); err == nil {
			of.Scale = v
		}
		if v, err := strconv.ParseFloat(strings.TrimSpace(b.Offset), 64); err == nil {
			of.Offset = v
		}
		if isTrue(b.HasNo) {
			of.NoData = strings.TrimSpace(b.NoData)
		}
		im.snap.bands[index] = of
	}
	return nil
}

func isTrue(s string) bool { return strings.EqualFold(strings.TrimSpace(s), "true") }
