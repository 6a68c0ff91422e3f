package render

import (
	"image"
	"math"
	"strconv"

	"github.com/fogleman/gg"
	"golang.org/x/image/font"

	"limnomap/colormap"
	"limnomap/render/picture"
	"limnomap/render/symbol"
)

// A clusterSize is the radii in pixels of the symbol of a cluster: outer is that of the white rim, and inner that of the white disc with the number.
type clusterSize struct{ outer, inner float64 }

// clusterSizes are the sizes by the number of digits of the number of lakes, the last for all larger ones.
var clusterSizes = [...]clusterSize{{12, 6}, {15, 7}, {17.5, 9.5}, {19.5, 12}}

const (
	clusterText = 10.0 // the size of the text
	// leastWorst is the least part of the ring in the colour of the worst class, of 256: two pixels wide, so that one bloom among a thousand lakes is seen.
	leastWorst = 7
)

// clusterStep returns the index of the size of the symbol of n lakes.
func clusterStep(n uint32) (step int) {
	for n >= 10 && step < len(clusterSizes)-1 {
		n, step = n/10, step+1
	}
	return step
}

// half returns half the width of the symbol, in whole pixels of scale 1.
func (s clusterSize) half() int { return int(math.Ceil(s.outer)) }

// appendLabel appends a number of lakes, from a thousand on in whole thousands or millions.
func appendLabel(b []byte, n uint32) []byte {
	switch {
	case n >= 1_000_000:
		return append(strconv.AppendUint(b, uint64(n/1_000_000), 10), 'M')
	case n >= 1000:
		return append(strconv.AppendUint(b, uint64(n/1000), 10), 'k')
	}
	return strconv.AppendUint(b, uint64(n), 10)
}

// A clusterStamp is the symbol of clusters of one size and scale.
type clusterStamp struct {
	half  int     // of the width, in pixels of the scale
	codes []uint8 // as those of a stamp whose filling has the colour of a share
	paper []bool  // whether the pixel is in the white disc
	turns []uint8 // the direction of the pixel from the middle, clockwise from the north in 256 parts of a turn
}

// A clusterPainter draws the symbols of clusters.
type clusterPainter struct {
	stamps [2][len(clusterSizes)]clusterStamp // by scale and size
	glyphs [2][128]glyph                      // by scale and character
}

// A glyph is a character: its rows have the quarters of each pixel that it covers.
type glyph struct {
	width, height int
	left, top     int // of the first pixel from the origin
	advance       int
	quarters      []uint8
}

func newClusterPainter() *clusterPainter {
	p := &clusterPainter{}
	fonts, err := picture.NewFonts()
	if err != nil {
		panic(err) // the fonts are part of the program
	}
	c := make(canvases)
	for k := range p.stamps {
		for i, size := range clusterSizes {
			p.stamps[k][i] = newClusterStamp(c, size, k+1)
		}
		face := fonts.Face(clusterText*float64(k+1), true)
		for _, r := range "0123456789kM" {
			p.glyphs[k][r] = newGlyph(face, r)
		}
	}
	return p
}

func newClusterStamp(c canvases, size clusterSize, scale int) clusterStamp {
	s := clusterStamp{half: size.half() * scale}
	side := 2 * s.half
	shapes := symbol.ClusterShapes(size.outer)[:3] // without the white disc, which is paper
	s.codes = shapeCodes(shapes, func(shape symbol.Shape) []uint8 {
		square := c.of(side)
		shape.AddTo(square, float64(s.half), float64(s.half), float64(scale))
		return covered(square)
	})
	s.paper, s.turns = make([]bool, side*side), make([]uint8, side*side)
	for i := range s.paper {
		x, y := float64(i%side-s.half)+0.5, float64(i/side-s.half)+0.5
		s.paper[i] = math.Hypot(x, y) < size.inner*float64(scale)
		turn := math.Atan2(x, -y) / (2 * math.Pi)
		s.turns[i] = uint8(math.Floor(256*(turn+1))) & 0xff
	}
	return s
}

// newGlyph draws a character.
func newGlyph(face font.Face, r rune) glyph {
	bounds, advance, _ := face.GlyphBounds(r)
	g := glyph{left: bounds.Min.X.Floor(), top: bounds.Min.Y.Floor(), advance: advance.Round()}
	g.width, g.height = bounds.Max.X.Ceil()-g.left, bounds.Max.Y.Ceil()-g.top
	c := gg.NewContext(g.width, g.height)
	c.SetFontFace(face)
	c.SetRGBA(0, 0, 0, 1)
	c.DrawString(string(r), float64(-g.left), float64(-g.top))
	img := c.Image().(*image.RGBA)
	for i := 3; i < len(img.Pix); i += 4 {
		g.quarters = append(g.quarters, uint8((int(img.Pix[i])*quarters+127)/255))
	}
	return g
}

// paint draws the symbols of clusters.
func (p *clusterPainter) paint(dst []uint8, clusters []cluster, w window, sc *scale) {
	var inks [len(sc.shares)]ink
	for share, entry := range sc.shares {
		inks[share] = shareInk(entry, share)
	}
	for i := range clusters {
		c := &clusters[i]
		n := c.lakes()
		s := &p.stamps[w.scale-1][clusterStep(n)]
		column, row := int(int64(c.x)>>w.stepBits()), int(int64(c.y)>>w.stepBits())
		s.put(dst, w, column, row, &inks, c)
		var label [8]byte
		p.write(dst, w, column, row, appendLabel(label[:0], n))
	}
}

// shareEntries returns the palette entries of the shares of a cluster, which are those of the colours that stand for their classes.
func shareEntries(m *colormap.Map) (entries [upperClasses + 2]uint8) {
	first := 0
	for class, colors := range m.Bands()[:upperClasses+1] {
		entries[upperClasses-class] = fillEntry + uint8(first+len(colors)/2)*quarters + quarters - 1
		first += len(colors)
	}
	entries[noValueShare] = greyEntry
	return entries
}

// shareInk returns the ink of a share with that entry.
func shareInk(entry uint8, share int) ink {
	k := newInk(entry-quarters+1, entry, darkLine)
	if share == noValueShare {
		k = newInk(greyEntry, greyEntry, greyLine)
		for q := range quarters {
			k.entries[fillCode+q] = greyEntry
		}
	}
	return k
}

// put draws the symbol of c with its middle at the north-west corner of a pixel.
func (s *clusterStamp) put(dst []uint8, w window, column, row int, inks *[upperClasses + 2]ink, c *cluster) {
	var ring [256]int // the shares by turn
	n, sum, from, worst := c.lakes(), uint32(0), 0, -1
	for share, lakes := range c.shares {
		if lakes > 0 && worst < 0 {
			worst = share
		}
		sum += lakes
		for to := int((uint64(sum)*256 + uint64(n)/2) / uint64(n)); from < to; from++ {
			ring[from] = share
		}
	}
	for i, part := 0, int((uint64(c.shares[worst])*256+uint64(n)/2)/uint64(n)); i < leastWorst; i++ { // around the middle of the share of the worst class
		ring[(256+(part-leastWorst)/2+i)%256] = worst
	}
	left, top, side := column-s.half, row-s.half, 2*s.half
	for r := max(top, 0); r < min(top+side, w.height); r++ {
		for x := max(left, 0); x < min(left+side, w.width); x++ {
			i, e := (r-top)*side+x-left, &dst[r*w.width+x]
			if s.paper[i] {
				*e = rimEntry + quarters - 1
			} else {
				inks[ring[s.turns[i]]].put(e, s.codes[i], rimEntry)
			}
		}
	}
}

// write draws a text in dark on white around a point.
func (p *clusterPainter) write(dst []uint8, w window, column, row int, text []byte) {
	glyphs := &p.glyphs[w.scale-1]
	x := 0
	for _, r := range text {
		x += glyphs[r].advance
	}
	capital := glyphs['0']
	x, y := column-(x+1)/2, row-capital.top-(capital.height+1)/2
	for _, r := range text {
		g := &glyphs[r]
		for i, q := range g.quarters {
			c, l := x+g.left+i%g.width, y+g.top+i/g.width
			if q == 0 || c < 0 || c >= w.width || l < 0 || l >= w.height {
				continue
			}
			dst[l*w.width+c] = darkLine[quarters-q]
		}
		x += g.advance
	}
}
