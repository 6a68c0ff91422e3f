// Package symbol describes the symbols of single lakes: the colours of their lines, and the signs of lakes that are closed or worse than
// their colour. Tiles and legends draw signs from the same shapes, so that a legend shows what is on the map. It holds no state.
package symbol

import (
	"fmt"
	"image/color"

	"github.com/fogleman/gg"

	"limnomap/colormap"
)

// A SignID names a sign.
type SignID string

const (
	Closed SignID = "closed"
	Worse  SignID = "worse"
)

// A Sign is drawn on the symbol of a lake, whatever its colour. It marshals to JSON (in legend.json).
type Sign struct {
	ID    SignID `json:"id"`
	Label string `json:"label"`
	Look  string `json:"-"` // the sign in words, for readers who do not see it
}

// Signs returns all signs, the gravest first.
func Signs() []Sign {
	return []Sign{
		{Closed, "Closed by an official statement", "a dark disc with a white bar"},
		{Worse, "Level worse than the colour: cell count or report", "two rings around a marker"},
	}
}

// OutlinePx is the width of an outline and of a casing in pixels.
const OutlinePx = 0.9

// The radii of a sign, in pixels beyond that of the coloured disc of a marker.
const (
	gapPx    = 1.7 // the inner dark ring
	ringPx   = 3.3 // the white ring
	closedPx = 3.4 // the dark disc of a closed lake
	RimPx    = 4.4 // the whole sign
)

// The bar of the sign of a closed lake, as parts of the radius of the dark disc.
const (
	barLength = 0.64
	barWidth  = 0.22
)

// A Paint is what a shape is filled with. All signs have dark and white parts, so that they are visible on any map.
type Paint uint8

const (
	Value Paint = iota // the colour of the lake's value
	Dark
	White
)

// Color returns the colour of p for a value of that colour.
func (p Paint) Color(value color.NRGBA) color.NRGBA {
	switch p {
	case Dark:
		return DarkColor()
	case White:
		return WhiteColor()
	}
	return value
}

// DarkColor is that of an outline. It separates light symbols from a white map: in some colour maps the light end means a bloom.
func DarkColor() color.NRGBA { return color.NRGBA{0x26, 0x32, 0x38, 0xff} }

// WhiteColor is that of a casing. It separates dark symbols from a dark map.
func WhiteColor() color.NRGBA { return color.NRGBA{0xff, 0xff, 0xff, 0xff} }

// darkest is the relative luminance below which a colour has a casing: there its contrast with a dark grey page
// (#2b2b2b) is less than 2.5 to 1. In the default map only the red of the highest class is darker.
const darkest = 0.135

// HasCasing reports whether a symbol of colour c has a casing and not an outline.
func HasCasing(c color.NRGBA) bool { return colormap.Luminance(c) < darkest }

// A Shape is a part of a sign: a disc, or else a horizontal bar. Both have their middle in that of the sign. Lengths are in pixels at
// scale 1.
type Shape struct {
	Paint         Paint
	Radius        float64 // of a disc; 0 for a bar
	Length, Width float64 // of a bar, each half of it
}

// Shapes returns the shapes of a sign on a marker with that radius. Each covers those before it. If the colour of the value
// has a casing, the white ring is next to it, and else a dark one.
//
// The sign Worse is a disc in the colour of the value, within a dark, a white and another dark ring. Closed is a dark disc with a white
// bar, like the traffic sign for "no entry", within a white ring; it is the same for all values and without one.
func (id SignID) Shapes(radius float64, casing bool) []Shape {
	disc := func(paint Paint, beyond float64) Shape { return Shape{Paint: paint, Radius: radius + beyond} }
	switch {
	case id == Closed:
		dark := disc(Dark, closedPx)
		return []Shape{disc(White, RimPx), dark, {Paint: White, Length: dark.Radius * barLength, Width: dark.Radius * barWidth}}
	case id == Worse && casing:
		return []Shape{disc(Dark, RimPx), disc(White, ringPx), disc(Value, OutlinePx)}
	case id == Worse:
		return []Shape{disc(Dark, RimPx), disc(White, ringPx), disc(Dark, gapPx), disc(Value, 0)}
	}
	panic(fmt.Sprintf("symbol: no sign %q", id))
}

// AddTo adds s to the path of c, with the middle of the sign at x, y and scale pixels per pixel.
func (s Shape) AddTo(c *gg.Context, x, y, scale float64) {
	if s.Radius > 0 {
		c.DrawCircle(x, y, s.Radius*scale)
		return
	}
	length, width := s.Length*scale, s.Width*scale
	c.DrawRectangle(x-length, y-width, 2*length, 2*width)
}
