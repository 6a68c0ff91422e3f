package satellite

import "math"

// A pixelState says what a pixel is.
type pixelState uint8

const (
	hasValue   pixelState = iota
	belowLimit            // a clean pixel: the value is below the limit of detection
	noData                // cloud, or not observed
	landPixel
	outOfRange // outside of the range that the file declares valid
)

// usable reports whether a pixel of that state counts for its lake.
func (s pixelState) usable() bool { return s <= belowLimit }

// A decoder returns the chlorophyll of a raw pixel in µg/l. For a pixel below the limit of detection the value is 0.
type decoder func(raw float64) (chl float64, state pixelState)

// cyanDecoder decodes digital numbers of CyAN from version 5 on.
//
// 0 is below the limit of detection, 1 to 253 are CI = 10^(DN · 0.011714 − 4.1870866), 254 is land, 255 has no data
// (https://oceancolor.gsfc.nasa.gov/about/projects/cyan/).
func cyanDecoder(dn float64) (float64, pixelState) {
	return decodeDN(dn, 253, 0.011714, -4.1870866)
}

// indexDecoder decodes digital numbers of CyAN version 1 and of NOAA's index: CI = 10^(DN · 3/250 − 4.2), and 250 to 255 are land, cloud
// and other pixels without a value.
func indexDecoder(dn float64) (float64, pixelState) {
	return decodeDN(dn, 249, 3.0/250, -4.2)
}

// indexDecoderOf returns the decoder of a product of digital numbers.
func indexDecoderOf(id ProductID) decoder {
	if id == CyAN {
		return cyanDecoder
	}
	return indexDecoder
}

const (
	landDN   = 254
	noDataDN = 255
)

func decodeDN(dn, last, slope, offset float64) (float64, pixelState) {
	switch {
	case math.IsNaN(dn): // hidden by a mask
		return 0, noData
	case dn == 0:
		return 0, belowLimit
	case dn >= 1 && dn <= last && dn == math.Trunc(dn):
		return chlorophyllOfCI(math.Pow(10, dn*slope+offset))
	case dn == landDN:
		return 0, landPixel
	case dn > last && dn <= noDataDN:
		return 0, noData
	}
	return 0, outOfRange
}

// Chlorophyll from the cyanobacteria index: chl = 6620 · CI − 3.07 (Seegers and others: Remote Sensing of Environment 266, 2021,
// 112685).
const (
	chlPerCI     = 6620
	chlIntercept = 3.07
)

// maxPlausible is a chlorophyll in µg/l that no water has, not even scum: such a number is a value for no data that the file does not declare.
const maxPlausible = 100_000

// ownDecoder decodes chlorophyll of any program in µg/l. zeroIsNoData is true if the file declares no value for no data: then programs pad with 0, and
// hardly a pixel of water has exactly that.
func ownDecoder(chl float64, zeroIsNoData bool) (float64, pixelState) {
	switch {
	case math.IsNaN(chl), zeroIsNoData && chl == 0:
		return 0, noData
	case !(chl >= 0 && chl <= maxPlausible):
		return 0, outOfRange
	}
	return chl, hasValue
}

// indexLimit is the limit of detection of chlorophyll from an index, in µg/l: the intercept of the formula, below which its result is
// negative for an index that was detected. It cannot tell such a value from none, and a value of 0.02 would be a false precision.
const indexLimit = chlIntercept

func chlorophyllOfCI(ci float64) (float64, pixelState) {
	chl := chlPerCI*ci - chlIntercept
	if chl < indexLimit {
		return 0, belowLimit
	}
	return chl, hasValue
}

// Carlson's trophic state index of chlorophyll: TSI = 9.81 · ln(chl) + 30.6 (Limnology and Oceanography 22, 1977, page 363).
const (
	tsiSlope  = 9.81
	tsiOffset = 30.6
)

// chlorophyllOfTSI returns the chlorophyll in µg/l of a trophic state index.
func chlorophyllOfTSI(tsi float64) float64 { return math.Exp((tsi - tsiOffset) / tsiSlope) }

// tsiDecoder decodes the trophic state index of LWQ version 1, a class from 0 to 100.
func tsiDecoder(tsi float64) (float64, pixelState) {
	if !(tsi >= 0 && tsi <= 100) {
		return 0, outOfRange
	}
	return chlorophyllOfTSI(tsi), hasValue
}
