package netcdf

import (
	"math"
	"strings"
)

// A Flag is one meaning of a variable of flags: raw values with the bits Value under Mask have it.
type Flag struct {
	Meaning     string
	Mask, Value uint64
}

// Is reports whether a raw value has the flag.
func (f Flag) Is(raw float64) bool {
	if raw != math.Trunc(raw) || math.Abs(raw) > 1<<63 {
		return false
	}
	bits := uint64(raw)
	if raw < 0 {
		bits = uint64(int64(raw))
	}
	return bits&f.Mask == f.Value
}

// maxFlags bounds the flags of a variable.
const maxFlags = 256

// Flags returns the flags that flag_meanings names, with the bits of flag_masks, of flag_values, or of both. It is empty for a
// variable that has none.
func (v *Variable) Flags() []Flag {
	size, ok := integerSize(v.typ)
	if !ok {
		return nil
	}
	all := ^uint64(0) >> (64 - 8*size)
	meanings := strings.Fields(v.Text("flag_meanings"))
	masks, values := v.flagBits("flag_masks"), v.flagBits("flag_values")
	var flags []Flag
	for i, meaning := range meanings[:min(len(meanings), maxFlags)] {
		f := Flag{Meaning: meaning, Mask: all}
		switch {
		case i < len(masks) && i < len(values):
			f.Mask, f.Value = masks[i], values[i]
		case i < len(masks) && len(values) == 0:
			f.Mask, f.Value = masks[i], masks[i]
		case i < len(values) && len(masks) == 0:
			f.Value = values[i]
		default:
			return flags // fewer numbers than meanings
		}
		f.Mask &= all
		f.Value &= f.Mask
		flags = append(flags, f)
	}
	return flags
}

// flagBits returns the integers of an attribute, also if they are stored as floating-point numbers.
func (v *Variable) flagBits(name string) []uint64 {
	if bits := v.bits(name); bits != nil {
		return bits
	}
	var bits []uint64
	for _, number := range v.Numbers(name) {
		if number != math.Trunc(number) || math.Abs(number) > 1<<53 {
			return nil
		}
		bits = append(bits, uint64(int64(number)))
	}
	return bits
}
