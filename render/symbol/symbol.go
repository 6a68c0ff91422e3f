// Package symbol describes the symbols of single lakes: their shapes by class, their lines, and the signs of lakes that are closed or
// worse than their colour. Tiles and legends draw the same shapes, so that a legend shows what is on the map. It holds no state.
package symbol

import (
	"fmt"
	"image/color"
	"math"

	"github.com/fogleman/gg"

	"limnomap/colormap"
)

// A Class gives the symbol of a lake its shape, so that the classes differ without colours too. The page draws the same shapes.
type Class uint8

const (
	None   Class = iota // a ring: no current value
	Low                 // a disc
	Medium              // a triangle
	High                // a diamond
)

// Classes returns all classes.
func Classes() []Class { return []Class{None, Low, Medium, High} }

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
		{Worse, "Level worse than the colour: cells or report", "two rings around a marker"},
	}
}

// Lengths in pixels. Every symbol has a white rim, which separates it from a dark map, and within it a thin line, which separates
// light colours from the rim and from a white map: in some colour maps the light end means a bloom.
const (
	linePx = 0.5
	rimPx  = 0.9
	ringPx = 0.75 // half the width of the ring of None

	lineless    = 2.5 // the radius below which a disc in a crowd has no line: it would make most pixels darker
	crowdedLine = 0.1 // of a very small disc, the part of its radius that is the line: more would make it dark
)

// RimPx is how far a sign reaches beyond the radius of the markers of its zoom.
const RimPx = 4.7

// The radii of the parts of a sign, in pixels beyond that of the markers.
const (
	whitePx  = 3.4 // the white ring of Worse
	closedPx = 3.6 // the dark disc of Closed
)

// The bar of the sign of a closed lake, as parts of the radius of the dark disc: half of its length and of its width.
const (
	barLength = 0.64
	barWidth  = 0.22
)

// The shapes of markers, as parts of their radius: as the symbols of the page, which have discs, triangles and diamonds of about the same
// area. A triangle is equilateral, with its middle below the lake, so that its area is around the lake.
const (
	triangleCorner = 1.44 // from the middle of a triangle to its corners
	triangleLow    = 0.19 // from the lake to the middle
	diamondCorner  = 1.326
)

// largerPx is by how much the radius of a class is larger than that of the markers of its zoom, in pixels: at the zooms of a
// country a mark is 3 pixels wide, and the worst lakes must not be overlooked.
var largerPx = [...]float64{None: 0, Low: 0, Medium: 0.2, High: 0.4}

// A Paint is what a shape is filled with. All symbols have dark and white parts, or grey ones, so that they are visible on any map.
type Paint uint8

const (
	Value Paint = iota // the colour of the lake's value
	Dark
	White
	Grey
	Pale // the colour of an old value on white paper
)

// Color returns the colour of p for a value of that colour.
func (p Paint) Color(value color.NRGBA) color.NRGBA {
	switch p {
	case Dark:
		return DarkColor()
	case White:
		return WhiteColor()
	case Grey:
		return colormap.NoData()
	case Pale:
		return OnWhite(value, OldAlpha)
	}
	return value
}

// OnWhite returns how c with that opacity looks on white paper.
func OnWhite(c color.NRGBA, alpha uint8) color.NRGBA {
	over := func(v uint8) uint8 { return uint8(0xff - ((0xff-int(v))*int(alpha)+0x7f)/0xff) }
	return color.NRGBA{over(c.R), over(c.G), over(c.B), 0xff}
}

// DarkColor is that of the line around a colour.
func DarkColor() color.NRGBA { return color.NRGBA{0x26, 0x32, 0x38, 0xff} }

// WhiteColor is that of a rim.
func WhiteColor() color.NRGBA { return color.NRGBA{0xff, 0xff, 0xff, 0xff} }

// OldAlpha is the opacity of the colour of an old value. The lines around it, and its edge, are opaque.
const OldAlpha = 0x73

// A Shape is a part of a symbol: a disc or a ring around the lake, or a polygon. Lengths are in pixels at scale 1.
type Shape struct {
	Paint         Paint
	Radius, Inner float64      // of a disc; Inner is that of the hole of a ring
	Corners       [][2]float64 // of a polygon, x and y from the lake
}

// Shapes returns the shapes of the marker of a class at a zoom whose markers have that radius. Each covers those before it.
func (c Class) Shapes(radius float64) []Shape {
	if c == None {
		return []Shape{
			{Paint: White, Radius: radius + ringPx + rimPx, Inner: max(radius-ringPx-linePx, 0)},
			{Paint: Grey, Radius: radius + ringPx, Inner: max(radius-ringPx, 0)},
		}
	}
	radius += largerPx[c]
	return []Shape{c.shape(White, radius, linePx+rimPx), c.shape(Dark, radius, linePx), c.shape(Value, radius, 0)}
}

// CrowdedRadius returns the radius of a disc whose line ends at a distance from its lake, see [Class.CrowdedShapes].
func CrowdedRadius(end float64) float64 { return end - min(crowdedLine*end, linePx) }

// CrowdedShapes returns the shapes of the disc of a water of that radius where there is no room for a rim, and on a very small disc none for a line. The
// worst is larger and has both, so that it is seen among others and on a dark map.
func (c Class) CrowdedShapes(radius float64) []Shape {
	line := min(radius*crowdedLine/(1-crowdedLine), linePx)
	disc := func(paint Paint, wider float64) Shape { return Shape{Paint: paint, Radius: radius + wider} }
	switch c {
	case High:
		larger := largerPx[High]
		return []Shape{disc(White, larger+line+rimPx), disc(Dark, larger+line), disc(Value, larger)}
	case None:
		return []Shape{disc(White, line+linePx), disc(Grey, line), disc(Value, 0)}
	}
	if radius+line < lineless {
		return []Shape{disc(Value, line)}
	}
	return []Shape{disc(Dark, line), disc(Value, 0)}
}

// OldShapes returns the shapes of the marker of an old value for a legend.
func (c Class) OldShapes(radius float64) []Shape {
	shapes := c.Shapes(radius)
	shapes[len(shapes)-1].Paint = Pale
	return shapes
}

// shape returns the shape of c that is wider than that of the radius by some pixels on all sides.
func (c Class) shape(p Paint, radius, wider float64) Shape {
	switch c {
	case Medium:
		// Each side moves out by wider.
		middle, corner := triangleLow*radius, triangleCorner*radius+2*wider
		x, y := corner*math.Sqrt(3)/2, middle+corner/2
		return Shape{Paint: p, Corners: [][2]float64{{0, middle - corner}, {x, y}, {-x, y}}}
	case High:
		corner := diamondCorner*radius + math.Sqrt2*wider
		return Shape{Paint: p, Corners: [][2]float64{{0, -corner}, {corner, 0}, {0, corner}, {-corner, 0}}}
	}
	return Shape{Paint: p, Radius: radius + wider}
}

// Shapes returns the shapes of a sign at a zoom whose markers have that radius. Each covers those before it.
//
// The sign Worse is the marker of class c, which is that of the lake, within a white and a dark ring. Closed is a dark disc with a white
// bar, like the traffic sign for "no entry", within a white ring; it is the same for all classes.
func (id SignID) Shapes(c Class, radius float64) []Shape {
	disc := func(paint Paint, beyond float64) Shape { return Shape{Paint: paint, Radius: radius + beyond} }
	switch id {
	case Closed:
		dark := disc(Dark, closedPx)
		x, y := dark.Radius*barLength, dark.Radius*barWidth
		return []Shape{disc(White, RimPx), dark, {Paint: White, Corners: [][2]float64{{-x, -y}, {x, -y}, {x, y}, {-x, y}}}}
	case Worse:
		white := disc(White, whitePx)
		// The marker is smaller where its corners would not fit into the white ring.
		within := radius + largerPx[c]
		if reach := c.shape(Dark, within, linePx).reach(); reach > white.Radius {
			lines := c.shape(Dark, 0, linePx).reach()
			within *= (white.Radius - lines) / (reach - lines)
		}
		return []Shape{disc(Dark, RimPx), white, c.shape(Dark, within, linePx), c.shape(Value, within, 0)}
	}
	panic(fmt.Sprintf("symbol: no sign %q", id))
}

// reach returns the largest distance of a point of s from the lake.
func (s Shape) reach() float64 {
	reach := s.Radius
	for _, p := range s.Corners {
		reach = max(reach, math.Hypot(p[0], p[1]))
	}
	return reach
}

// Reach returns how far the markers of all classes reach from the lake, horizontally and vertically, at a zoom whose markers
// have that radius.
func Reach(radius float64) (reach float64) {
	for _, c := range Classes() {
		reach = max(reach, c.Shapes(radius)[0].Extent())
	}
	return reach
}

// Extent returns how far s reaches from the lake, horizontally and vertically.
func (s Shape) Extent() float64 {
	extent := s.Radius
	for _, p := range s.Corners {
		extent = max(extent, math.Abs(p[0]), math.Abs(p[1]))
	}
	return extent
}

// AddTo adds s to the path of c, with the lake at x, y and scale pixels per pixel. It must be filled by the even-odd rule.
func (s Shape) AddTo(c *gg.Context, x, y, scale float64) {
	c.SetFillRuleEvenOdd()
	if s.Corners == nil {
		c.DrawCircle(x, y, s.Radius*scale)
		if s.Inner > 0 {
			c.DrawCircle(x, y, s.Inner*scale)
		}
		return
	}
	for _, p := range s.Corners {
		c.LineTo(x+p[0]*scale, y+p[1]*scale)
	}
	c.ClosePath()
}

// A Kind is how a style draws lakes.
type Kind uint8

const (
	Field   Kind = iota // not one by one
	Markers             // as markers, whose shape is that of the class
	Waters              // as the area of their water
)

// A Look is what a legend explains of the symbols of a style.
type Look struct {
	Kind  Kind
	Signs []Sign // signs of marked lakes, the gravest first; nil for none
}

// ClusterLabel explains the symbol of many lakes.
const ClusterLabel = "Ring with a number: so many lakes, with the shares of their classes"

// ClusterShapes returns the shapes of the symbol of many lakes in a legend, which has no number: its rim, its line, its ring, and the white disc in it.
func ClusterShapes(radius float64) []Shape {
	disc := func(paint Paint, radius float64) Shape { return Shape{Paint: paint, Radius: radius} }
	return []Shape{disc(White, radius), disc(Dark, radius-rimPx), disc(Value, radius-rimPx-linePx), disc(White, radius/2)}
}

// OldLabel explains pale symbols.
const OldLabel = "Pale: older than two weeks"

// Hatching is the distance in pixels, along a row, between the lines of the hatching of a water without a value. It is a power of two,
// like the width of the world.
const Hatching = 8

// HollowAlpha is the opacity of a water without a value between the lines of its hatching.
const HollowAlpha = 0x59

// The hatching of forecasts: the distance between its lines along a row and their width in pixels, the number of rows after which a line is a pixel
// further, and the opacity of the colour of a water within them. The distance is a power of two, as Hatching; across the lines it is 14 pixels.
const (
	ForecastHatching = 16
	ForecastLine     = 2
	ForecastRun      = 2
	ForecastAlpha    = 0x60
)
