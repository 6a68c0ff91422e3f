package colormap

import (
	"image/color"
	"math"
)

// A lab is a colour in CIELAB, D65 white.
type lab struct{ l, a, b float64 }

// labOf converts linear sRGB. Matrix and white point: IEC 61966-2-1; formula: CIE 15:2004.
func labOf(rgb [3]float64) lab {
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124564*rgb[0] + 0.3575761*rgb[1] + 0.1804375*rgb[2]) / 0.95047)
	y := f(0.2126729*rgb[0] + 0.7151522*rgb[1] + 0.0721750*rgb[2])
	z := f((0.0193339*rgb[0] + 0.1191920*rgb[1] + 0.9503041*rgb[2]) / 1.08883)
	return lab{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func (p lab) chroma() float64 { return math.Hypot(p.a, p.b) }

// cie76 is the colour difference of CIE 1976: the distance in CIELAB. About 2.3 is just noticeable side by side.
func cie76(p, q lab) float64 {
	return math.Sqrt((p.l-q.l)*(p.l-q.l) + (p.a-q.a)*(p.a-q.a) + (p.b-q.b)*(p.b-q.b))
}

// A vision is a kind of colour vision: a matrix on linear sRGB.
type vision struct {
	name   string
	matrix [3][3]float64
}

// visions returns normal vision and the three dichromacies: Machado, Oliveira and Fernandes 2009, IEEE TVCG 15(6),
// severity 1.0.
func visions() []vision {
	return []vision{
		{"normal", [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
		{"protanopia", [3][3]float64{
			{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
		{"deuteranopia", [3][3]float64{
			{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
		{"tritanopia", [3][3]float64{
			{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}},
	}
}

// see returns c as it looks with v.
func (v vision) see(c color.NRGBA) lab {
	rgb := [3]float64{linear(c.R), linear(c.G), linear(c.B)}
	var seen [3]float64
	for i, row := range v.matrix {
		seen[i] = min(max(row[0]*rgb[0]+row[1]*rgb[1]+row[2]*rgb[2], 0), 1)
	}
	return labOf(seen)
}
