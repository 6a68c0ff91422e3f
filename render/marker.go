package render

import (
	"image"
	"math"
	"slices"

	"github.com/fogleman/gg"

	"limnomap/render/symbol"
)

const (
	// markerUnits is the grid in units to which the centre of a marker is rounded down: a quarter of a pixel at scale 1.
	markerUnits = subUnits / 4
	// outlinePx is the width of an outline and of a casing, and half the width of a ring.
	outlinePx = symbol.OutlinePx
	// markerMargin is the largest distance in units from the edge of a marker to the centre of a pixel that it changes: half
	// a pixel, and the rounding of the marker's centre.
	markerMargin = subUnits/2 + markerUnits
)

// markerRadii are the radii in pixels of the coloured discs, by zoom.
var markerRadii = [...]float64{1.5, 1.5, 1.5, 2, 2, 2.5, 2.5, 3, 3.5, 4, 5, 6}

// markers are the markers of one zoom, drawn in advance for each position of the centre within a pixel.
type markers struct {
	reach   int64       // in units
	sprites [2][]sprite // by scale, then by row and column of the grid within a pixel
}

// A sprite is a marker or a sign to be stamped: a square of codes for each shape.
type sprite struct {
	half int // the centre's column and row

	// The codes of a marker (see ink.put).
	disc  []uint8 // a colour with a line around it
	large []uint8 // for lakes of the highest class: larger by the width of the line
	ring  []uint8

	// The codes of a sign (see stampSign).
	worse     []uint8 // for a colour with an outline
	worseDark []uint8 // for a colour with a casing
	closed    []uint8
}

func (s *sprite) side() int { return 2*s.half + 1 }

// newMarkers returns the markers whose discs have these radii in pixels.
func newMarkers(radii []float64) []markers {
	// The reach of the large disc for all, so that it does not depend on the classification.
	return drawMarkers(radii, 2*outlinePx, newSprite)
}

// drawMarkers returns markers of these radii in pixels that reach further by rim.
func drawMarkers(radii []float64, rim float64, draw spriteDrawer) []markers {
	ms := make([]markers, len(radii))
	for i, r := range radii {
		ms[i].reach = int64(math.Ceil((r+rim)*subUnits)) + markerMargin
		for scale := 1; scale <= 2; scale++ {
			ms[i].sprites[scale-1] = newSprites(r, scale, draw)
		}
	}
	return ms
}

// A spriteDrawer draws a sprite whose centre is dx and dy pixels from the upper left corner of a pixel.
type spriteDrawer func(radius float64, scale int, dx, dy float64) sprite

// phases returns the number of grid positions along the side of a pixel.
func phases(scale int) int { return subUnits / scale / markerUnits }

func newSprites(radius float64, scale int, draw spriteDrawer) []sprite {
	n := phases(scale)
	sprites := make([]sprite, 0, n*n)
	for row := range n {
		for column := range n {
			sprites = append(sprites, draw(radius, scale, float64(column)/float64(n), float64(row)/float64(n)))
		}
	}
	return sprites
}

// newSprite draws a marker.
func newSprite(radius float64, scale int, dx, dy float64) sprite {
	pixels := func(px float64) float64 { return px * float64(scale) }
	s := sprite{half: int(math.Ceil(pixels(radius+2*outlinePx))) + 1}
	side, x, y := s.side(), float64(s.half)+dx, float64(s.half)+dy
	circle := func(radius float64) []uint8 {
		return covered(side, func(c *gg.Context) { c.DrawCircle(x, y, pixels(radius)); c.Fill() })
	}
	outlined := circle(radius + outlinePx)
	s.disc = lined(circle(radius), outlined)
	s.large = lined(outlined, circle(radius+2*outlinePx))
	s.ring = covered(side, func(c *gg.Context) {
		c.SetLineWidth(pixels(2 * outlinePx))
		c.DrawCircle(x, y, pixels(radius))
		c.Stroke()
	})
	return s
}

// lined returns the codes of a shape that has colour where fill covers it, and a line where only whole does.
func lined(fill, whole []uint8) []uint8 {
	codes := slices.Clone(whole)
	for i, q := range fill {
		if q > 0 {
			codes[i] = quarters + q
		}
	}
	return codes
}

// covered returns how many quarters of each pixel of a square are painted by draw.
func covered(side int, draw func(*gg.Context)) []uint8 {
	c := gg.NewContext(side, side)
	c.SetRGBA(0, 0, 0, 1)
	draw(c)
	img := c.Image().(*image.RGBA)
	q := make([]uint8, side*side)
	for i := range q {
		q[i] = uint8((int(img.Pix[4*i+3])*quarters + 127) / 255)
	}
	return q
}

// locate returns the sprite of a marker at x, y in units from the corner of w, and the column and row of its upper left
// corner.
func (m *markers) locate(x, y int64, w window) (s *sprite, left, top int) {
	step := w.step()
	column, row := floorDiv(x, step), floorDiv(y, step)
	n := int64(phases(w.scale))
	s = &m.sprites[w.scale-1][(y-row*step)/markerUnits*n+(x-column*step)/markerUnits]
	return s, int(column) - s.half, int(row) - s.half
}
