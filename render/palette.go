package render

import "image/color"

// A palette is the colours of one style and colour map. The first one is transparent.
type palette [256]color.NRGBA

// mixed returns the opaque colour that is part/whole a and the rest b.
func mixed(a, b color.NRGBA, part, whole int) color.NRGBA {
	mix := func(a, b uint8) uint8 { return uint8((int(a)*part + int(b)*(whole-part) + whole/2) / whole) }
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff}
}
