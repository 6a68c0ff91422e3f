package render

import "image/color"

// mixed returns an opaque colour: part/whole of a and the rest of b.
func mixed(a, b color.NRGBA, part, whole int) color.NRGBA {
	mix := func(a, b uint8) uint8 { return uint8((int(a)*part + int(b)*(whole-part) + whole/2) / whole) }
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff}
}

// mean returns the opaque mean of at least one colour.
func mean(colors []color.NRGBA) color.NRGBA {
	var r, g, b int
	for _, c := range colors {
		r, g, b = r+int(c.R), g+int(c.G), b+int(c.B)
	}
	n := len(colors)
	return color.NRGBA{uint8((r + n/2) / n), uint8((g + n/2) / n), uint8((b + n/2) / n), 0xff}
}
