package render

import (
	"image"
	"math"

	"github.com/fogleman/gg"

	"limnomap/render/symbol"
)

const (
	// markerUnits is the grid in units to which the centre of a marker is rounded down: a quarter of a pixel at scale 1.
	markerUnits = subUnits / 4
	// markerMargin is the largest distance in units from the edge of a marker to the centre of a pixel that it changes: half
	// a pixel, and the rounding of the marker's centre.
	markerMargin = subUnits/2 + markerUnits
)

// markerRadii are the radii in pixels of markers, by zoom.
var markerRadii = [...]float64{1.5, 1.5, 1.5, 2, 2, 2.5, 2.5, 3, 3.5, 4, 5, 6}

// markers are the markers or signs of one zoom, drawn in advance for each position of the centre within a pixel.
type markers struct {
	reach   int64       // in units
	sprites [2][]sprite // by scale, then by row and column of the grid within a pixel
}

// A sprite is a marker or a sign to be stamped: a square of codes (see ink.put) for each shape.
type sprite struct {
	half    int // the centre's column and row
	byClass [symbol.High + 1][]uint8
	closed  []uint8
}

func (s *sprite) side() int { return 2*s.half + 1 }

// newMarkers returns the markers of these radii in pixels. Their reach is that of all classes, so that it does not depend on the
// classification.
func newMarkers(radii []float64) []markers { return drawMarkers(radii, symbol.Reach, newMarker) }

// drawMarkers returns markers or signs of these radii in pixels.
func drawMarkers(radii []float64, reach func(radius float64) float64, draw spriteDrawer) []markers {
	ms := make([]markers, len(radii))
	for i, r := range radii {
		ms[i].reach = int64(math.Ceil(reach(r)*subUnits)) + markerMargin
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

// newMarker draws the markers of a zoom.
func newMarker(radius float64, scale int, dx, dy float64) sprite {
	s := sprite{half: int(math.Ceil(symbol.Reach(radius)*float64(scale))) + 1}
	for _, c := range symbol.Classes() {
		s.byClass[c] = s.codesOf(c.Shapes(radius), scale, dx, dy)
	}
	return s
}

// codesOf returns the codes of these shapes, the first of which is the outermost line, dx and dy pixels from the corner of the middle pixel.
func (s *sprite) codesOf(shapes []symbol.Shape, scale int, dx, dy float64) []uint8 {
	x, y := float64(s.half)+dx, float64(s.half)+dy
	return shapeCodes(shapes, func(shape symbol.Shape) []uint8 {
		return covered(s.side(), func(c *gg.Context) { shape.AddTo(c, x, y, float64(scale)); c.Fill() })
	})
}

// shapeCodes returns the codes of a symbol of these shapes, each of which covers that many quarters of the pixels. The first shape is
// the outermost line.
func shapeCodes(shapes []symbol.Shape, quartersOf func(symbol.Shape) []uint8) []uint8 {
	codes := quartersOf(shapes[0])
	var below uint8 // quarters of white in the outermost line
	if shapes[0].Paint == symbol.White {
		below = quarters
	}
	for _, shape := range shapes[1:] {
		for i, q := range quartersOf(shape) {
			if q == 0 {
				continue
			}
			white := below
			if codes[i] >= lineCode {
				white = codes[i] - lineCode
			}
			switch shape.Paint {
			case symbol.Value:
				codes[i] = quarters + q
			case symbol.White:
				codes[i] = lineCode + max(white, q)
			default:
				codes[i] = lineCode + min(white, quarters-q)
			}
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

// stamp puts a square of codes on dst. The outermost line has the entries from outer on.
func stamp(dst []uint8, w window, left, top, side int, codes []uint8, k *ink, outer uint8) {
	from, to := max(left, 0), min(left+side, w.width)
	if from >= to {
		return
	}
	for r := max(top, 0); r < min(top+side, w.height); r++ {
		row := dst[r*w.width+from : r*w.width+to]
		for i, code := range codes[(r-top)*side+from-left:][:len(row)] {
			if code != 0 {
				k.put(&row[i], code, outer)
			}
		}
	}
}
