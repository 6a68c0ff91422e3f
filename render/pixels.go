package render

import (
	"fmt"
	"math"
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/pixels"
)

// The smallest zooms at which the pixels of lakes are drawn: with pixels of 300 m a lake of 500 ha has some twenty in a tile of pixelZoom.
const (
	pixelZoom     = 9
	heatPixelZoom = waterZoom - 1
)

// pixelReach is how far the pixels of a lake without an outline may be from the disc of its area, in world units: 13 km at 50 degrees north. Those in tiles
// further away are not drawn.
const pixelReach = 1 << 21

// LakePixels are the pixels of a lake of the pass of a satellite that its value is of. They are immutable.
type LakePixels struct {
	pixels *pixels.Map
	digest Fingerprint // of all that is drawn
	middle float64     // an x in degrees near the pixels in a geographic grid, as the transform of the grid has it
	bound  shore       // of all pixels, around the site of the lake
}

// NewLakePixels reads the stored pixels of a lake at that point.
func NewLakePixels(stored pixels.Packed, lake orb.Point) (*LakePixels, error) {
	m, err := stored.Unpack()
	if err != nil {
		return nil, err
	}
	x, y, ok := project(lake)
	if !ok || m.Mask.Count() == 0 {
		return nil, fmt.Errorf("no pixels, or a lake beyond the map at %v", lake)
	}
	r, t := m.Mask.Bounds(), m.Grid.Transform()
	column, row := float64(r.Min.X+r.Max.X)/2, float64(r.Min.Y+r.Max.Y)/2
	p := &LakePixels{
		pixels: m, digest: FingerprintOf(slices.Concat([]byte(stored.Grid), []byte{0}, stored.Mask, stored.Codes)), middle: t[0] + column*t[1] + row*t[2],
		bound: shore{x: x, y: y, west: maxExtent, east: -maxExtent, north: maxExtent, south: -maxExtent},
	}
	// The sides of the bound may be curves on the map: one more pixel is beyond them.
	for _, at := range [8][2]float64{{0, 0}, {0.5, 0}, {1, 0}, {0, 0.5}, {1, 0.5}, {0, 1}, {0.5, 1}, {1, 1}} {
		corner, ok := m.Grid.LonLat(float64(r.Min.X)-1+at[0]*float64(r.Dx()+2), float64(r.Min.Y)-1+at[1]*float64(r.Dy()+2), lake)
		if !ok {
			return nil, fmt.Errorf("pixels of a lake at %v are outside of their coordinate system", lake)
		}
		east, south := eastOf(x, corner.Lon()), southOf(y, corner.Lat())
		p.bound.west, p.bound.east = min(p.bound.west, east), max(p.bound.east, east)
		p.bound.north, p.bound.south = min(p.bound.north, south), max(p.bound.south, south)
	}
	return p, nil
}

// Bytes returns about how much memory p takes.
func (p *LakePixels) Bytes() int64 {
	const run, others = 16, 1 << 10
	runs := 0
	p.pixels.Mask.Each(func(int, int, int) { runs++ })
	return int64(2*len(p.pixels.Codes) + run*runs + others)
}

// withPixels returns the style with the pixels of lakes, if it shows them at a zoom of a layer that has some; otherwise st.
func (st *style) withPixels(l *Layer, z maptile.Zoom) *style {
	if l.pixels == nil || st.pixels == nil || z < st.pixelZoom {
		return st
	}
	return st.pixels
}

// ShowsPixels reports whether tiles of a style show the pixels of lakes at a zoom.
func ShowsPixels(style StyleID, z maptile.Zoom) bool {
	return style == Pixels && z >= pixelZoom || style == Heat && z >= heatPixelZoom
}

// PixelLakes returns the indexes of the lakes whose pixels a part shows if there are any: those with a current value that are large enough. Others have none
// that could be seen.
func (r *Renderer) PixelLakes(l *Layer, s Spec, part Part) (lakes []int) {
	st, err := r.drawingOf(l).style(s)
	if err != nil || l.chances || st.pixels == nil || s.Tile.Z < st.pixelZoom {
		return nil
	}
	if st = st.pixels; st.above != nil {
		st = st.above
	}
	m := r.memories.Get().(*memory)
	defer r.release(m)
	m.found = sceneKey{} // the hits are no longer those of a scene
	w := s.window(part)
	q := newQuery(l, w, st)
	m.hits = m.search(&q, st, &l.whole)
	for i := range m.hits {
		h := &m.hits[i]
		site := &l.sites[h.site]
		if h.Valid() && (site.glows(w.zoom) || site.shore == nil && site.disc(w.zoom) > smallestRadius(w.zoom)) {
			lakes = append(lakes, int(l.lakes[h.site]))
		}
	}
	slices.Sort(lakes)
	return slices.Compact(lakes)
}

// WithPixels returns l with the pixels of lakes, by their indexes, for the tiles of which [Renderer.PixelLakes] returned these. It knows the fingerprints of l,
// and l those of it: pixels must not change as long as l is used, and the fingerprints of such tiles be taken of layers with pixels only.
func (r *Renderer) WithPixels(l *Layer, of map[int]*LakePixels) *Layer {
	return l.withPixels(of)
}

// pixelEntry is a square of a lake on the screen: none, one of a pixel without a value, or the colour of the value.
type pixelEntry = uint8

const (
	noPixel     pixelEntry = iota
	withoutOne             // cloud, ice, or not observed
	firstColour            // that of the first colour
)

// newPixelEntries returns the entries by code in the colours of m.
func newPixelEntries(m *colormap.Map) (entries [pixels.Codes]pixelEntry) {
	for i := range entries {
		entries[i] = withoutOne
		if chl, ok := pixels.Code(i).Value(); ok {
			if c, err := data.ChlorophyllOf(chl); err == nil {
				entries[i] = firstColour + pixelEntry(m.Index(c.Float()))
			}
		}
	}
	return entries
}

// inkOfPixel returns the ink of an entry.
func (s *scale) inkOfPixel(e pixelEntry, old bool) *ink {
	if e < firstColour {
		return &s.inks.hollow
	}
	k := &s.inks.values[e-firstColour]
	if old {
		return &k[1]
	}
	return &k[0]
}

// controlStep is the distance in pixels between the points that are projected. Between them places in the grid are interpolated: at pixelZoom that is wrong by
// less than a metre, and at larger zooms by less.
const controlStep = 16

// squares are the pixels of a lake by the pixels of a part of a window, each that of the grid which contains its centre.
type squares struct {
	left, top, width, height int // of the part
	entries                  []pixelEntry
	above, below             []control
}

// A control is where in a grid a point of a window is.
type control struct {
	column, row float64
	ok          bool
}

// reset makes q the part of a window that m covers.
func (q *squares) reset(m *mask) {
	q.left, q.top, q.width, q.height = m.left, m.top, m.words*wordPixels, m.height
	q.entries = slices.Grow(q.entries[:0], q.width*q.height)[:q.width*q.height]
	clear(q.entries)
}

// fill sets the entries to those of p. They depend only on where a pixel of w is on the world, so that tiles join.
func (q *squares) fill(p *LakePixels, w window, sc *scale) {
	firstX, firstY := floorDiv(w.left, w.step())+int64(q.left), floorDiv(w.top, w.step())+int64(q.top)
	x0, y0 := floorDiv(firstX, controlStep)*controlStep, floorDiv(firstY, controlStep)*controlStep
	blocks := int(firstX+int64(q.width)-x0+controlStep-1) / controlStep
	q.below = p.controls(q.below, x0, y0, blocks, w)
	for y := y0; y < firstY+int64(q.height); y += controlStep {
		q.above, q.below = q.below, q.above
		q.below = p.controls(q.below, x0, y+controlStep, blocks, w)
		from, to := max(y, firstY), min(y+controlStep, firstY+int64(q.height))
		for b := range blocks {
			x := x0 + int64(b)*controlStep
			q.fillBlock(p, sc, [4]control{q.above[b], q.above[b+1], q.below[b], q.below[b+1]},
				int(max(x, firstX)-firstX), int(min(x+controlStep, firstX+int64(q.width))-firstX), int(firstX-x), int(from-firstY), int(to-firstY), int(firstY-y))
		}
	}
}

// controls returns where in the grid of p the pixels at the ends of that many blocks are, of a row of the world.
func (p *LakePixels) controls(to []control, x, y int64, blocks int, w window) []control {
	grid := &p.pixels.Grid
	world := float64(int64(TileSize*w.scale) << w.zoom)
	lat := latitude((float64(y) + 0.5) / world)
	to = to[:0]
	for b := range blocks + 1 {
		lon := float64((float64(x+int64(b)*controlStep)+0.5)/world*360) - 180
		if grid.System().Geographic() {
			lon += 360 * math.Round((p.middle-lon)/360)
		} else {
			lon = math.Remainder(lon, 360)
		}
		at, ok := grid.PixelOf(orb.Point{lon, lat}, 0)
		to = append(to, control{at[0], at[1], ok})
	}
	return to
}

// fillBlock sets the entries of columns fromX to toX-1 of rows fromY to toY-1, which are dx and dy more from the north-west one of four controls.
func (q *squares) fillBlock(p *LakePixels, sc *scale, at [4]control, fromX, toX, dx, fromY, toY, dy int) {
	if !at[0].ok || !at[1].ok || !at[2].ok || !at[3].ok {
		return
	}
	// A conversion keeps processors from fusing a product and a sum, which would round in another way.
	between := func(a, b float64, steps int) float64 { return a + float64((b-a)*(float64(steps)/controlStep)) }
	lastColumn, lastRow, last := math.MinInt, math.MinInt, noPixel
	for y := fromY; y < toY; y++ {
		west := control{column: between(at[0].column, at[2].column, y+dy), row: between(at[0].row, at[2].row, y+dy)}
		east := control{column: between(at[1].column, at[3].column, y+dy), row: between(at[1].row, at[3].row, y+dy)}
		entries := q.entries[y*q.width:][:q.width]
		for x := fromX; x < toX; x++ {
			column, row := int(math.Floor(between(west.column, east.column, x+dx))), int(math.Floor(between(west.row, east.row, x+dx)))
			if column != lastColumn || row != lastRow {
				lastColumn, lastRow, last = column, row, noPixel
				if i, ok := p.pixels.Mask.Index(column, row); ok {
					last = sc.pixels[p.pixels.Codes[i]]
				}
			}
			entries[x] = last
		}
	}
}

// touches reports whether a lake without an outline is seen in w: its pixels, or its disc if it has none.
func (t *waters) touches(m *mark, s *site, w window) bool {
	if m.pixels == nil {
		r := t.reachOfDisc(s, w)
		first, right, bottom := w.firstCentre(), w.lastCentre(w.width), w.lastCentre(w.height)
		x, y := int64(m.x), int64(m.y)
		return x > first-r && x < right+r && y > first-r && y < bottom+r
	}
	r, line := m.pixels.bound.rectangle(m, w), int64(w.scale)
	return r.left-line < int64(w.width) && r.right+line > 0 && r.top-line < int64(w.height) && r.bottom+line > 0
}

// paintPixels draws the pixels of a lake, clipped by its outline. Without an outline they are its water themselves.
func (t *waters) paintPixels(dst []uint8, m *mark, w window, sc *scale, mem *memory) {
	water, q := &mem.mask, &mem.squares
	if m.shore != nil && !water.draw(m, w, &mem.ring) || m.shore == nil && !water.reset(w, m.pixels.bound.rectangle(m, w)) {
		return
	}
	q.reset(water)
	q.fill(m.pixels, w, sc)
	if m.shore == nil {
		water.squares(q)
	}
	water.paintPixels(dst, w, q, sc, m.old)
}

// squares makes the pixels that have an entry water.
func (m *mask) squares(q *squares) {
	for row := range q.height {
		before := noPixel
		for x, e := range q.entries[row*q.width:][:q.width] {
			if (e == noPixel) != (before == noPixel) {
				for i := range int64(samples) {
					m.toggle(int64(row)*samples+i, int64(x)*samples)
				}
			}
			before = e
		}
	}
}

// paintPixels draws the water in the colours of q, and the line around it.
func (m *mask) paintPixels(dst []uint8, w window, q *squares, sc *scale, old bool) {
	m.count()
	stride := m.words + 2
	var inks [firstColour + colormap.Steps]*ink
	for e := range inks {
		inks[e] = sc.inkOfPixel(pixelEntry(e), old)
	}
	hatched := sc.inks.hollow.hatched
	for row := max(-m.top, 0); row < min(m.height, w.height-m.top); row++ {
		line := dst[(m.top+row)*w.width:][:w.width]
		lines := hatched.linesOf(w, m.top+row)
		entries := q.entries[row*q.width:][:q.width]
		for word := range m.words {
			at := (row+m.edge)*stride + word + 1
			kind := m.around(at)
			if kind == blockDry {
				continue
			}
			first := m.left + word*wordPixels
			for x := max(first, 0); x < min(first+wordPixels, w.width); x++ {
				code := uint8(wholeCode)
				if kind != blockWater {
					code = m.code(at*wordPixels+x-first, stride*wordPixels)
				}
				k := inks[entries[x-m.left]]
				if code == wholeCode && k.hatched != nil && lines.has(x) {
					line[x] = k.stripe
					continue
				}
				k.put(&line[x], code, rimEntry)
			}
		}
	}
}
