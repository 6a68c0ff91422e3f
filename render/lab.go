package render

import (
	"image/color"
	"math"
)

// A lab is a colour in CIELAB under daylight D65, where distances are about as large as an eye finds them.
type lab struct{ l, a, b float64 }

// labOf converts an opaque sRGB colour. Transfer function, matrix and white: IEC 61966-2-1; formula: CIE 15:2004.
func labOf(c color.NRGBA) lab {
	return labOfLinear(linear(float64(c.R)), linear(float64(c.G)), linear(float64(c.B)))
}

// labOfLinear converts linear sRGB, from 0 to 1.
func labOfLinear(r, g, b float64) lab {
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124564*r + 0.3575761*g + 0.1804375*b) / 0.95047)
	y := f(0.2126729*r + 0.7151522*g + 0.0721750*b)
	z := f((0.0193339*r + 0.1191920*g + 0.9503041*b) / 1.08883)
	return lab{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// linear undoes the transfer function of sRGB for a channel from 0 to 255.
func linear(v float64) float64 {
	x := v / 0xff
	if x <= 0.04045 {
		return x / 12.92
	}
	return math.Pow((x+0.055)/1.055, 2.4)
}

// cie76 is the colour difference of CIE 1976, the distance in CIELAB. About 2.3 is just noticeable side by side.
func cie76(p, q lab) float64 {
	return math.Sqrt((p.l-q.l)*(p.l-q.l) + (p.a-q.a)*(p.a-q.a) + (p.b-q.b)*(p.b-q.b))
}
