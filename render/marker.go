package render

import (
	"image"
	"math"

	"github.com/fogleman/gg"

	"limnomap/render/symbol"
)

const (
	// markerUnits is the grid in units to which the centre of a marker is rounded down: a quarter of a pixel at scale 1.
	markerUnits = 1 << markerBits
	markerBits  = subBits - 2
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

// A sprite is the markers or signs of a zoom at one position within a pixel.
type sprite struct {
	byClass [symbol.High + 1]stamp
	closed  stamp
}

// A stamp is a symbol to be put on a picture: a square of codes (see ink.put).
type stamp struct {
	half  int // the column and the row of the pixel with the lake
	codes []uint8
	outer uint8 // the first entry of the outermost line
	// By row, a bit for each pixel that the stamp changes, and for each that it replaces whatever was there; see stack.
	touched, replaced []uint64
}

func (s *stamp) side() int { return 2*s.half + 1 }

// newMarkers returns the markers of these radii in pixels. Their reach is that of all classes, so that it does not depend on the
// classification.
func newMarkers(radii []float64) []markers { return drawMarkers(radii, symbol.Reach, newMarker) }

// drawMarkers returns markers or signs of these radii in pixels.
func drawMarkers(radii []float64, reach func(radius float64) float64, draw spriteDrawer) []markers {
	c := make(canvases)
	ms := make([]markers, len(radii))
	for i, r := range radii {
		ms[i].reach = int64(math.Ceil(reach(r)*subUnits)) + markerMargin
		for scale := 1; scale <= 2; scale++ {
			ms[i].sprites[scale-1] = newSprites(c, r, scale, draw)
		}
	}
	return ms
}

// canvases are squares to draw shapes on, by their side in pixels, on which the precision of a shape's edge depends. One for each shape
// would take more time than the drawing.
type canvases map[int]*gg.Context

func (c canvases) of(side int) *gg.Context {
	if c[side] == nil {
		c[side] = gg.NewContext(side, side)
	}
	return c[side]
}

// A spriteDrawer draws a sprite whose centre is dx and dy pixels from the upper left corner of a pixel.
type spriteDrawer func(c canvases, radius float64, scale int, dx, dy float64) sprite

// phases returns the number of grid positions along the side of a pixel.
func phases(scale int) int { return subUnits / scale / markerUnits }

func newSprites(c canvases, radius float64, scale int, draw spriteDrawer) []sprite {
	n := phases(scale)
	sprites := make([]sprite, 0, n*n)
	for row := range n {
		for column := range n {
			sprites = append(sprites, draw(c, radius, scale, float64(column)/float64(n), float64(row)/float64(n)))
		}
	}
	return sprites
}

// newMarker draws the markers of a zoom.
func newMarker(c canvases, radius float64, scale int, dx, dy float64) (s sprite) {
	for _, class := range symbol.Classes() {
		s.byClass[class] = newStamp(c, class.Shapes(radius), scale, dx, dy)
	}
	return s
}

// newStamp draws a symbol of these shapes, the first of which is the outermost line, whose lake is dx and dy pixels from the corner of its
// pixel.
func newStamp(c canvases, shapes []symbol.Shape, scale int, dx, dy float64) stamp {
	s := stamp{half: int(math.Ceil(shapes[0].Extent() * float64(scale))), outer: outlineEntry}
	if shapes[0].Paint == symbol.White {
		s.outer = rimEntry
	}
	x, y := float64(s.half)+dx, float64(s.half)+dy
	s.codes = shapeCodes(shapes, func(shape symbol.Shape) []uint8 {
		square := c.of(s.side())
		shape.AddTo(square, x, y, float64(scale))
		return covered(square)
	})
	if shapes[0].Paint == symbol.Value {
		fillWhole(s.codes)
	}
	s.setMasks()
	return s
}

// fillWhole makes the pixels of which at least half is covered whole ones of a filling without a line, for whose edge there are no colours.
func fillWhole(codes []uint8) {
	for i, q := range codes {
		if codes[i] = 0; q >= quarters/2 {
			codes[i] = wholeCode
		}
	}
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

// covered fills the path of c and returns how many quarters of each pixel it covers. It leaves c empty.
func covered(c *gg.Context) []uint8 {
	c.SetRGBA(0, 0, 0, 1)
	c.Fill()
	img := c.Image().(*image.RGBA)
	q := make([]uint8, len(img.Pix)/4)
	for i := range q {
		q[i] = uint8((int(img.Pix[4*i+3])*quarters + 127) / 255)
	}
	clear(img.Pix)
	return q
}

// locate returns the sprite of a marker at x, y in units from the corner of w, and the pixel that contains it.
func (m *markers) locate(x, y int64, w window) (s *sprite, column, row int) {
	bits := w.stepBits()
	within := int64(1)<<bits - 1
	phase := (y&within)>>markerBits<<(bits-markerBits) + (x&within)>>markerBits
	return &m.sprites[w.scale-1][phase], int(x >> bits), int(y >> bits)
}

// put puts s with its lake in a pixel of dst.
func (s *stamp) put(dst []uint8, w window, column, row int, k *ink) {
	left, top, side := column-s.half, row-s.half, s.side()
	from, to := max(left, 0), min(left+side, w.width)
	if from >= to {
		return
	}
	for r := max(top, 0); r < min(top+side, w.height); r++ {
		pixels := dst[r*w.width+from : r*w.width+to]
		for i, code := range s.codes[(r-top)*side+from-left:][:len(pixels)] {
			if code >= fillCode && !k.soft { // most pixels
				pixels[i] = k.entries[code]
			} else {
				k.put(&pixels[i], code, s.outer)
			}
		}
	}
}
