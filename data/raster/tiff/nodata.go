package tiff

import (
	"cmp"
	"errors"
	"math"
	"strconv"
	"strings"
)

// NoData returns the raw value that stands for no data, in the type of the pixels: -3.4028235e+38 in the file of a float32 image is
// returned as the float32 nearest to it. It may be NaN. A value that no pixel can have, such as -9999 in an image of uint8, declares nothing:
// it is not ok.
func (im *Image) NoData() (value float64, ok bool) {
	if im.noData == nil || !im.sample.holds(*im.noData) {
		return 0, false
	}
	return *im.noData, true
}

// largeNoData is a number beyond which no value of a raster is. Programs write such numbers with few digits, such as -1.79769313486232e+308, so that others
// which differ by less than noDataTolerance, a share, are the same.
const (
	largeNoData     = 1e30
	noDataTolerance = 0.01
)

// IsNoData reports whether a raw value is the one of NoData.
func (im *Image) IsNoData(raw float64) bool {
	v, ok := im.NoData()
	return ok && (raw == v || math.IsNaN(v) && math.IsNaN(raw) || math.Abs(v) > largeNoData && math.Abs(raw/v-1) < noDataTolerance)
}

// holds reports whether a pixel can have a value.
func (t SampleType) holds(v float64) bool {
	low, high := t.limits()
	return t.Format == Float || v >= low && v < high && v == math.Trunc(v)
}

// limits returns the least integer of the type, and the first above the largest.
func (t SampleType) limits() (low, high float64) {
	high = math.Exp2(float64(t.Bits))
	if t.Format == Int {
		return -high / 2, high / 2
	}
	return 0, high
}

// readNoData reads the tag GDAL_NODATA, a text, or what the header of SNAP says about the first band.
func (im *Image) readNoData(t *tagReader, d *directory) error {
	text, err := d.text(t, tagGDALNoData, 1024)
	if err != nil {
		return err
	}
	first, _ := im.SNAP(0)
	if text = cmp.Or(strings.TrimSpace(text), first.NoData); text != "" {
		im.setNoData(text)
	}
	return nil
}

// setNoData sets the number for no data that a text says.
func (im *Image) setNoData(text string) {
	v, ok := parseNoData(text)
	if !ok {
		im.refuse(unsupported("nodata value %q, want a number", text))
		return
	}
	if im.sample.Format == Float && im.sample.Bits <= 32 && !math.IsInf(v, 0) {
		// The number of a float64 file stays when its pixels are converted: they become the largest of float32.
		v = float64(float32(max(min(v, math.MaxFloat32), -math.MaxFloat32)))
	}
	im.noData = &v
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
	if errors.Is(err, strconv.ErrRange) { // 1.797693134862316e+308 is the largest number, rounded up
		return math.Copysign(math.MaxFloat64, v), true
	}
	return v, err == nil
}

// fill returns the value of tiles that are not in the file, as GDAL reads them: the nodata value converted to the type of
// the pixels, 0 if there is none.
func (im *Image) fill() float64 {
	if im.noData == nil {
		return 0
	}
	v := *im.noData
	low, high := im.sample.limits()
	switch {
	case im.sample.Format == Float:
		return v
	case math.IsNaN(v):
		return 0
	case v <= low:
		return low
	case v >= high-1:
		return high - 1
	}
	return math.Floor(v + 0.5)
}
