package render

import (
	"image"
	"math"
	"slices"

	"github.com/fogleman/gg"
)

const (
	// markerUnits is the grid, in units, that a marker's centre is rounded down to: a quarter of a pixel at scale 1.
	markerUnits = subUnits / 4
	// outlinePx is the width of a marker's outline and of a casing, and half that of a ring's line.
	outlinePx = 0.9
	// markerMargin is how far beyond a marker's edge, in units, a pixel's centre may lie that it touches: half a pixel,
	// the rounding of its centre, and one unit for that of the rasteriser.
	markerMargin = subUnits/2 + markerUnits
)

// markerRadii are the radii in pixels of a marker's coloured disc, by zoom.
var markerRadii = [...]float64{1.5, 1.5, 1.5, 2, 2, 2.5, 2.5, 3, 3.5, 4, 5, 6}

// markers are the markers of one zoom: drawn once, for each place in a pixel that a centre can have.
type markers struct {
	reach   int64       // in units
	sprites [2][]sprite // by scale, then by row and column of the grid within a pixel
}

// A sprite is a marker as it is stamped, a square of codes (see ink.put) for each shape.
type sprite struct {
	half  int     // the centre's column and row
	disc  []uint8 // a colour with a line around it
	large []uint8 // the same for a lake of the highest class, larger by the width of the line
	ring  []uint8
}

func (s *sprite) side() int { return 2*s.half + 1 }

// newMarkers returns the markers whose discs have these radii in pixels.
func newMarkers(radii []float64) []markers {
	ms := make([]markers, len(radii))
	for i, r := range radii {
		// As far as the largest: what is in reach does not depend on the classification.
		ms[i].reach = int64(math.Ceil((r+2*outlinePx)*subUnits)) + markerMargin
		for scale := 1; scale <= 2; scale++ {
			ms[i].sprites[scale-1] = newSprites(r, scale)
		}
	}
	return ms
}

// phases returns how many places of the marker's grid a pixel has from side to side.
func phases(scale int) int { return subUnits / scale / markerUnits }

func newSprites(radius float64, scale int) []sprite {
	n := phases(scale)
	sprites := make([]sprite, 0, n*n)
	for row := range n {
		for column := range n {
			sprites = append(sprites, newSprite(radius, scale, float64(column)/float64(n), float64(row)/float64(n)))
		}
	}
	return sprites
}

// newSprite draws a marker whose centre lies dx and dy pixels right of and below the left upper corner of a pixel.
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

// lined returns the codes of a shape filled with colour as far as fill covers it, and with a line as far as whole does.
func lined(fill, whole []uint8) []uint8 {
	codes := slices.Clone(whole)
	for i, q := range fill {
		if q > 0 {
			codes[i] = quarters + q
		}
	}
	return codes
}

// covered returns how many quarters of each pixel of a square draw paints.
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
