package colormap

import (
	"image/color"
	"math"
)

// An oklab is a colour in the OKLab space, in which the middle between two colours looks like the middle and is not grey. Ottosson 2020, https://bottosson.github.io/posts/oklab/, matrices of 2021-01-25.
type oklab struct{ l, a, b float64 }

// toOKLab converts an opaque sRGB colour.
func toOKLab(c color.NRGBA) oklab {
	r, g, b := linear(c.R), linear(c.G), linear(c.B)
	l := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	m := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	return oklab{
		0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*s,
	}
}

// nrgba converts to an opaque sRGB colour; colours outside of its gamut are clipped by channel.
func (o oklab) nrgba() color.NRGBA {
	cube := func(v float64) float64 { return v * v * v }
	l := cube(o.l + 0.3963377774*o.a + 0.2158037573*o.b)
	m := cube(o.l - 0.1055613458*o.a - 0.0638541728*o.b)
	s := cube(o.l - 0.0894841775*o.a - 1.2914855480*o.b)
	return color.NRGBA{
		companded(4.0767416621*l - 3.3077115913*m + 0.2309699292*s),
		companded(-1.2684380046*l + 2.6097574011*m - 0.3413193965*s),
		companded(-0.0041960863*l - 0.7034186147*m + 1.7076147010*s),
		0xff,
	}
}

// mix returns the colour at t, from 0 at o to 1 at p.
func (o oklab) mix(p oklab, t float64) oklab {
	return oklab{o.l + t*(p.l-o.l), o.a + t*(p.a-o.a), o.b + t*(p.b-o.b)}
}

// linear undoes the sRGB transfer function (IEC 61966-2-1).
func linear(v uint8) float64 {
	x := float64(v) / 0xff
	if x <= 0.04045 {
		return x / 12.92
	}
	return math.Pow((x+0.055)/1.055, 2.4)
}

// Luminance returns the relative luminance of c after WCAG 2.2, from 0 for black to 1 for white.
func Luminance(c color.NRGBA) float64 {
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

// companded applies the sRGB transfer function (IEC 61966-2-1).
func companded(x float64) uint8 {
	if x <= 0.0031308 {
		x *= 12.92
	} else {
		x = 1.055*math.Pow(x, 1/2.4) - 0.055
	}
	return uint8(math.Round(0xff * min(max(x, 0), 1)))
}
