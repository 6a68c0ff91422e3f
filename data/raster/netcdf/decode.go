package netcdf

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A State says what a raw value is.
type State uint8

const (
	Valid      State = iota
	Fill             // no value
	OutOfRange       // outside the valid range that the variable states, or infinite
)

func (s State) String() string {
	switch s {
	case Valid:
		return "valid"
	case Fill:
		return "fill"
	default:
		return "out of range"
	}
}

// largeFill is the default fill value of floating-point types. Some programs write it with few digits.
const largeFill = 9.969209968386869e36

// fillTolerance is relative, for fill values beyond 1e30.
const fillTolerance = 1e-5

// defaultFills are the fill values of integers without _FillValue. One byte has none: all its values may be data.
var defaultFills = map[string]float64{
	"int16": -32767, "uint16": 65535, "int32": -2147483647, "uint32": 4294967295,
	"int64": -9223372036854775806, "uint64": 18446744073709551614,
}

// A Decoder turns the raw values of a variable into values with a unit, as its attributes say.
type Decoder struct {
	unit     string
	fills    []float64
	declared bool // the variable itself states a fill value that its type can hold
	float    bool // the type is a floating-point type
	size     int  // bytes of an integer

	// Raw integers from signedFrom on are taken for negative, or negative ones for unsigned: modulus is added or subtracted.
	unsigned, signed bool
	modulus          float64

	low, high     float64
	unpackedRange bool // the range is of values, not of raw values
	scale, offset float64
}

// Decoder returns the decoder of a numeric variable.
//
// Missing values are those of _FillValue and missing_value, the default fill value of the type if there is no _FillValue, NaN, and for
// floating-point types 9.96921e36. The valid range is that of valid_range, or of valid_min and valid_max. As in the NetCDF users'
// guide it is of raw values, unless the variable has packed integers and the range is given in floating-point numbers. The attribute
// _Unsigned changes the sign of integers, also that of fill values and of the range; there is no default fill value then.
func (v *Variable) Decoder() (*Decoder, error) {
	size, integer := integerSize(v.typ)
	d := &Decoder{size: size, unit: v.Text("units"), float: strings.HasPrefix(v.typ, "float"), low: math.Inf(-1), high: math.Inf(1), scale: 1}
	if !integer && !d.float {
		return nil, fmt.Errorf("variable %s: %w", v.name, unsupported("numbers of type %s", v.typ))
	}
	if integer {
		text := strings.ToLower(v.Text("_Unsigned"))
		d.unsigned = text == "true" && v.typ[0] == 'i'
		d.signed = text == "false" && v.typ[0] == 'u'
		d.modulus = math.Ldexp(1, 8*size)
	}
	var packed bool
	if scale, ok := v.Number("scale_factor"); ok {
		if scale == 0 || math.IsNaN(scale) || math.IsInf(scale, 0) {
			return nil, fmt.Errorf("variable %s: %w", v.name, damaged("scale_factor is %g", scale))
		}
		d.scale, packed = scale, true
	}
	if offset, ok := v.Number("add_offset"); ok {
		if math.IsNaN(offset) || math.IsInf(offset, 0) {
			return nil, fmt.Errorf("variable %s: %w", v.name, damaged("add_offset is %g", offset))
		}
		d.offset, packed = offset, true
	}
	d.setFills(v)
	d.setRange(v, packed)
	return d, nil
}

// integerSize returns the bytes of an integer type.
func integerSize(typ string) (size int, ok bool) {
	switch strings.TrimPrefix(typ, "u") {
	case "int8":
		return 1, true
	case "int16":
		return 2, true
	case "int32":
		return 4, true
	case "int64":
		return 8, true
	}
	return 0, false
}

func (d *Decoder) setFills(v *Variable) {
	fill, ok := v.Number("_FillValue")
	d.declared = ok && d.holds(v.typ, fill)
	if !ok && !d.unsigned && !d.signed {
		fill, ok = defaultFills[v.typ]
	}
	if ok {
		d.fills = append(d.fills, fill)
	}
	missing := v.Numbers("missing_value")
	if number, ok := v.Number("missing_value"); ok && len(missing) == 0 {
		missing = []float64{number} // a text
	}
	missing = missing[:min(len(missing), 16)]
	d.declared = d.declared || slices.ContainsFunc(missing, func(m float64) bool { return d.holds(v.typ, m) })
	d.fills = append(d.fills, missing...)
	if d.float {
		d.fills = append(d.fills, largeFill)
	}
	for i, fill := range d.fills {
		if v.typ == "float32" && !math.IsInf(fill, 0) {
			// A float64 attribute is rounded as the values were, and beyond the range of float32 they became its largest number.
			d.fills[i] = float64(float32(max(min(fill, math.MaxFloat32), -math.MaxFloat32)))
		}
		d.fills[i] = d.resign(d.fills[i])
	}
	slices.Sort(d.fills)
	d.fills = slices.Compact(d.fills)
}

// holds reports whether a type can hold a number. -9999 in bytes is no fill value: no pixel can have it.
func (d *Decoder) holds(typ string, number float64) bool {
	if d.float {
		return true
	}
	low, high := 0.0, d.modulus
	if typ[0] == 'i' || d.signed {
		low, high = -d.modulus/2, d.modulus/2
	}
	if d.unsigned { // the attribute may have either sign
		high = d.modulus
	}
	return number >= low && number < high && number == math.Trunc(number)
}

// HasFill reports whether the variable itself states a fill value or missing value that its type can hold.
func (d *Decoder) HasFill() bool { return d.declared }

// Bits returns the bits of an integer type, 0 of others.
func (d *Decoder) Bits() int { return 8 * d.size }

// Raw returns a raw value with the sign that the attribute _Unsigned says.
func (d *Decoder) Raw(raw float64) float64 {
	if d.unsigned || d.signed {
		raw = d.resign(raw)
	}
	return raw
}

// IsFill reports whether a raw value is one that the variable states as missing. The default fill value of a type does not count.
func (d *Decoder) IsFill(raw float64) bool { return d.declared && d.isFill(d.Raw(raw)) }

func (d *Decoder) setRange(v *Variable, packed bool) {
	name := "valid_min"
	if limits := v.Numbers("valid_range"); len(limits) == 2 {
		d.low, d.high, name = limits[0], limits[1], "valid_range"
	} else {
		if low, ok := v.Number("valid_min"); ok {
			d.low = low
		}
		if high, ok := v.Number("valid_max"); ok {
			d.high = high
			if _, ok := v.find("valid_min"); !ok {
				name = "valid_max"
			}
		}
	}
	if math.IsNaN(d.low) {
		d.low = math.Inf(-1)
	}
	if math.IsNaN(d.high) {
		d.high = math.Inf(1)
	}
	switch {
	case packed && !d.float && v.Integers(name) == nil:
		d.unpackedRange = true
	case v.typ == "float32":
		d.low, d.high = float64(float32(d.low)), float64(float32(d.high))
	default:
		d.low, d.high = d.resign(d.low), d.resign(d.high)
	}
}

// resign applies the attribute _Unsigned.
func (d *Decoder) resign(raw float64) float64 {
	switch {
	case d.unsigned && raw < 0 && raw >= -d.modulus/2:
		return raw + d.modulus
	case d.signed && raw >= d.modulus/2 && raw < d.modulus:
		return raw - d.modulus
	}
	return raw
}

// Decode returns the value of a raw value. It is NaN for a missing one.
func (d *Decoder) Decode(raw float64) (value float64, state State) {
	raw = d.Raw(raw)
	if d.isFill(raw) {
		return math.NaN(), Fill
	}
	value = raw*d.scale + d.offset
	limited := raw
	if d.unpackedRange {
		limited = value
	}
	if limited < d.low || limited > d.high || math.IsInf(value, 0) {
		return value, OutOfRange
	}
	return value, Valid
}

func (d *Decoder) isFill(raw float64) bool {
	for _, fill := range d.fills {
		if raw == fill || d.float && (raw > 1e30 || raw < -1e30) && math.Abs(raw/fill-1) < fillTolerance {
			return true
		}
	}
	return raw != raw
}

// Unit returns the unit of values, "" if the variable states none.
func (d *Decoder) Unit() string { return d.unit }
