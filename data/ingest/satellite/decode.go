package satellite

import "math"

// A pixelState says what a pixel is.
type pixelState uint8

const (
	hasValue   pixelState = iota
	belowLimit            // a clean pixel: the value is below the limit of detection
	floored               // a clean pixel: the number is negative
	noData                // cloud, or not observed
	landPixel
	outOfRange // outside of the range that the file declares valid
)

// usable reports whether a pixel of that state counts for its lake.
func (s pixelState) usable() bool { return s <= floored }

// A decoder returns the chlorophyll of a raw pixel in µg/l, or its cyanobacteria index. For a pixel below the limit of detection the value is 0. For one
// out of range it is the value that it would have, NaN if no water has it.
type decoder func(raw float64) (chl float64, state pixelState)

// maxPlausible is a chlorophyll in µg/l that no water has, not even scum: such a number is a value for no data that the file does not declare.
const maxPlausible = 100_000

// senseless is a chlorophyll in µg/l up to which a number is no value of clean water that an algorithm has made negative, but one for no data that
// the file does not declare, such as -99 and -999.
const senseless = -99

// floor is the value of a floored pixel: the zero below 0, so that such pixels can be counted.
var floor = math.Copysign(0, -1)

// An ownDecoder decodes chlorophyll of any program.
type ownDecoder struct {
	unit
	// noPadding is true if the file declares a number for no data. Otherwise programs pad with 0 or -1, and hardly a pixel of water has exactly that.
	noPadding bool
}

// decode returns the chlorophyll of a number with the unit of the file. A negative one is of clean water: it is below what the algorithm can detect.
func (d ownDecoder) decode(number float64) (chl float64, state pixelState) {
	chl = d.value(number)
	switch {
	case math.IsNaN(chl), !d.noPadding && (number == 0 || number < 0 && d.base == 0 && number == math.Trunc(number)):
		return 0, noData
	case !(chl > senseless && chl <= maxPlausible):
		return math.NaN(), outOfRange
	case chl < 0:
		return floor, floored
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
		return math.NaN(), outOfRange
	}
	return chlorophyllOfTSI(tsi), hasValue
}
