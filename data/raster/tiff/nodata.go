package tiff

import (
	"math"
	"strconv"
	"strings"
)

// NoData returns the raw value that stands for no data, in the type of the pixels: -3.4028235e+38 in the file of a float32 image is
// returned as the float32 nearest to it, so that it can be compared with the values that Gather returns. It may be NaN. A value that
// no pixel can have, such as -9999 in an image of uint8, is returned as it is.
func (im *Image) NoData() (value float64, ok bool) {
	if im.noData == nil {
		return 0, false
	}
	return *im.noData, true
}

// readNoData reads the tag GDAL_NODATA, a text.
func (im *Image) readNoData(t *tagReader, d *directory) error {
	text, err := d.text(t, tagGDALNoData, 1024)
	if err != nil {
		return err
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	v, ok := parseNoData(text)
	if !ok {
		im.refuse(unsupported("nodata value %q, want a number", text))
		return nil
	}
	if im.sample.Format == Float && im.sample.Bits <= 32 {
		if single := float64(float32(v)); !math.IsInf(single, 0) {
			v = single
		}
	}
	im.noData = &v
	return nil
}

// parseNoData parses what C libraries print for a number, which includes -nan and 1.#QNAN.
func parseNoData(text string) (float64, bool) {
	lower := strings.TrimLeft(strings.ToLower(text), "+-")
	if strings.HasPrefix(lower, "nan") || strings.HasPrefix(lower, "1.#qnan") || strings.HasPrefix(lower, "1.#ind") || strings.HasPrefix(lower, "1.#snan") {
		return math.NaN(), true
	}
	if strings.HasPrefix(lower, "1.#inf") {
		if text[0] == '-' {
			return math.Inf(-1), true
		}
		return math.Inf(1), true
	}
	// Some locales of old writers have a decimal comma.
	v, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
	return v, err == nil
}

// fill returns the value of tiles that are not in the file, as GDAL reads them: the nodata value converted to the type of
// the pixels, 0 if there is none.
func (im *Image) fill() float64 {
	if im.noData == nil {
		return 0
	}
	v := *im.noData
	low, high := 0.0, math.Exp2(float64(im.sample.Bits))
	switch im.sample.Format {
	case Float:
		return v
	case Int:
		low, high = -high/2, high/2
	}
	switch {
	case math.IsNaN(v):
		return 0
	case v <= low:
		return low
	case v >= high-1:
		return high - 1
	}
	return math.Floor(v + 0.5)
}
