package pixels

import "math"

// A Code is the value of a pixel, or why it has none.
type Code uint16

const (
	NoData     Code = iota // cloud, or not observed
	BelowLimit             // below the limit of detection: clean water
	Ice
	OutOfRange // a number that the file, or the product, does not allow
	firstValue
)

const (
	// ratio is that of one value to the next lower one. A value differs from its code's by at most half a step, 1 %.
	ratio = 1.02
	// least is the lowest value in µg/l, the least that an observation stores. What is lower has its code.
	least = 0.01
	// most is the highest value in µg/l, that of an observation ([limnomap/data.MaxChlorophyll]). What is higher has its code.
	most = 1500
)

// Codes is the number of codes: each is less.
const Codes = int(firstValue) + valueCount

// valueCount is the number of values from least up to most.
const valueCount = 603

var (
	step = math.Log(ratio)
	// values are those of the codes from firstValue on.
	values = func() []float64 {
		v := make([]float64, valueCount)
		for i := range v {
			v[i] = min(least*math.Exp(float64(i)*step), most)
		}
		return v
	}()
)

// CodeOf returns the code of chlorophyll in µg/l. That of 0 is BelowLimit, and that of no number OutOfRange: it must not look like clean water.
func CodeOf(chl float64) Code {
	if math.IsNaN(chl) {
		return OutOfRange
	}
	if chl <= 0 {
		return BelowLimit
	}
	n := math.Round(math.Log(chl/least) / step)
	return firstValue + Code(max(0, min(n, float64(len(values)-1))))
}

// Value returns the chlorophyll of a code in µg/l, which is not ok without one. That of BelowLimit is 0.
func (c Code) Value() (chl float64, ok bool) {
	switch {
	case c >= firstValue && int(c-firstValue) < len(values):
		return values[c-firstValue], true
	case c == BelowLimit:
		return 0, true
	}
	return 0, false
}

// valid reports whether there is such a code.
func (c Code) valid() bool { return int(c) < int(firstValue)+len(values) }
