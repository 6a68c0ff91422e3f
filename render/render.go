package render

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"maps"
	"slices"
	"sync"
	"weak"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/render/palettepng"
	"limnomap/render/symbol"
)

// Version identifies the output of the renderer. It changes whenever the same lakes would give other pixels or bytes, and is
// part of the key of each cached tile. A test compares hashes of tiles that are filed under it.
const Version = "7"

// TileSize is the width and height of a tile in pixels at scale 1.
const TileSize = 1 << tileBits

var (
	// ErrUnknownStyle is returned for a style that does not exist.
	ErrUnknownStyle = errors.New("unknown style")
	// ErrNoFilter is returned for a filter with a style that shows all lakes.
	ErrNoFilter = errors.New("no filter by class")
	// ErrOutOfRange is returned for an address outside of the tile pyramid, and for a scale other than 1 and 2.
	ErrOutOfRange = errors.New("out of range")
)

// A StyleID names a way to draw the lakes.
type StyleID string

const (
	Heat StyleID = "heat" // the value field
	Dots StyleID = "dots" // a marker for each lake, a grey ring for one without a value
	// Lakes is each lake's water, from its outline or as a disc; hollow and grey for one without a value.
	Lakes StyleID = "lakes"
	// Pixels is the same as Lakes, and from pixelZoom on has the pixels of lakes.
	Pixels StyleID = "pixels"
)

// A Style is the description of a style for users.
type Style struct {
	ID          StyleID `json:"id"`
	Title       string  `json:"title"`
	Description string  `json:"description"`

	symbol.Look `json:"-"`
}

// Filtered reports whether a tile of the style can be filtered.
func (s Style) Filtered() bool { return s.Kind != symbol.Field }

// A Sign explains a sign on the symbol of a lake, a Look all that a legend says of the symbols of a style.
type (
	Sign = symbol.Sign
	Look = symbol.Look
)

// Styles returns the styles, the default first.
func Styles() []Style {
	markers, waters := symbol.Look{Kind: symbol.Markers, Signs: symbol.Signs()}, symbol.Look{Kind: symbol.Waters, Signs: symbol.Signs()}
	return []Style{
		{Heat, "Heat map", "Chlorophyll-a as soft discs, smaller where lakes are dense: the colour is the value, the opacity tells how near a lake is. Lakes with a known " +
			"outline are drawn by it. From zoom 10 on the discs fade, and the waters of the lakes take over. " + oldText +
			"Lakes without a current value are faintly grey.", symbol.Look{}},
		{Dots, "Markers", "A marker in the colour of its value and the shape of its class for each lake: low a disc, medium a triangle, high a diamond, " +
			"and a grey ring for one without a current value. Up to zoom 6 crowds are rings with the number of lakes and the shares of the classes, the worst at the top. " +
			oldText + signsText, markers},
		{Lakes, "Waters", "Each lake's water in the colour of its value: its outline where that is known and at least 6 pixels wide or high, else a " +
			"disc of its area; grey and hatched without a current value. " + oldText + signsText, waters},
		{Pixels, "Inside the lakes", "As the waters, and from zoom 9 on what the satellite saw inside of a lake, where its pixels are kept: each is a square in the colour of its value, " +
			"grey and hatched under clouds, on ice and near the shore, where there is none. " + oldText + signsText, waters},
	}
}

// oldText describes old values in the styles Dots and Lakes.
const oldText = symbol.OldLabel + ". "

// signsText describes the signs of the styles Dots and Lakes.
const signsText = "Two rings around a marker: the lake is worse than this colour. A dark disc with a white bar: closed for bathing."

// A Spec is what a tile shows of a layer.
type Spec struct {
	Tile     maptile.Tile
	Scale    int // 1, or 2 for the same map at 512 pixels
	Style    StyleID
	Colormap colormap.ID
	Filter   Filter // only for styles whose Style.Filtered reports true
}

// A Part is a part of the map in pixels of a zoom and scale from the north-west corner of the world, which repeats to the east. Its sides are even numbers. The
// zero value is the tile of a Spec.
type Part = image.Rectangle

// window returns what s shows: its tile, or a part at its zoom and scale.
func (s Spec) window(part Part) window {
	w := windowOf(s.Tile, s.Scale)
	if part != (Part{}) {
		w.left, w.top = int64(part.Min.X)*w.step(), int64(part.Min.Y)*w.step()
		w.width, w.height = part.Dx(), part.Dy()
	}
	return w
}

// A Painting is a picture that is not encoded.
type Painting = palettepng.Image

// A style has the painter of one style, and how its marks are found and coloured. It is immutable.
type style struct {
	painter
	cored    bool                                      // whether lakes of the highest class have cores in crowds
	above    *style                                    // the waters above the field from fadeZoom on; nil if the style has none
	byExtent bool                                      // whether sites are searched in groups by the extent of their waters
	sites    func(l *Layer, z maptile.Zoom) *selection // those that are drawn at a zoom
	palette  func(m *colormap.Map) *palettepng.Palette // the entries that paint uses
	filter   palettepng.Filter                         // Sub if neighbouring entries are similar
	signs    signs                                     // of marked lakes; nil if the style has none

	pixels    *style       // draws layers that have pixels of lakes; nil if the style shows none
	pixelZoom maptile.Zoom // from which on it does
}

// groups returns the groups of s that are searched, one after the other.
func (st *style) groups(s *selection) []group {
	if st.byExtent {
		return s.byExtent
	}
	return s.all
}

// A painter draws one style.
type painter interface {
	// reach returns how many units the mark of a site reaches from it: a pixel whose centre is that far away, horizontally
	// or vertically, does not depend on it. It is 0 if the mark is outside of w.
	reach(s *site, w window) int64
	// reachBelow returns the reach in units of zoom z of the marks at z and all larger zooms.
	reachBelow(s *site, z maptile.Zoom) int64
	// widest returns how far a mark of g can reach beyond the extent of its group.
	widest(g *geometry, z maptile.Zoom) int64
	// appendMarks appends the marks of hits of l, which are all that the picture depends on.
	appendMarks(marks []mark, l *Layer, hits []hit, w window) []mark
	// paint draws a scene into the pixels of w. It may reorder the marks.
	paint(pixels []uint8, s *scene, w window, sc *scale, m *memory)
}

// memory is what drawing a tile needs, reused for one tile after another.
type memory struct {
	hits     []hit
	unsorted []mark  // with those that are hidden
	sites    []int32 // of unsorted, for a plan
	stack    stack
	scene    scene
	found    sceneKey
	hashed   []byte // of the marks, for the fingerprint
	field    field
	mask     mask
	squares  squares
	ring     []orb.Point
	pixels   []uint8
	encoder  *palettepng.Encoder
}

// A sceneKey is what a scene depends on.
type sceneKey struct {
	layer  weak.Pointer[Layer] // a layer that was replaced must not stay in memory
	window window
	style  *style
	filter Filter
}

// colors is one colour map, fitted to the styles.
type colors struct {
	scale    *scale
	palettes map[StyleID]*palettepng.Palette
	faded    []*palettepng.Palette // of the style Heat by zoom from fadeZoom on, up to waterZoom
}

// paletteOf returns the palette of a style at a zoom.
func (c *colors) paletteOf(id StyleID, z maptile.Zoom) *palettepng.Palette {
	if id == Heat && z >= waterZoom {
		return c.palettes[Lakes]
	}
	if id == Heat && z >= fadeZoom {
		return c.faded[z-fadeZoom]
	}
	return c.palettes[id]
}

// A Renderer draws tiles. It is safe for concurrent use.
type Renderer struct {
	drawing            // of values
	chances  drawing   // of probabilities
	memories sync.Pool // of *memory
}

// A drawing has what the layers of one quantity are drawn with.
type drawing struct {
	styles map[StyleID]*style
	logs   *logTable // of all colour maps
	colors map[colormap.ID]colors
}

// drawing returns what l is drawn with.
func (r *Renderer) drawingOf(l *Layer) *drawing {
	if l.chances {
		return &r.chances
	}
	return &r.drawing
}

// New returns a Renderer whose colour maps are fitted to limits, which colormap.New must accept.
func New(limits colormap.Limits) *Renderer {
	m, err := colormap.New(colormap.Default, limits)
	if err != nil {
		panic(err) // the limits are those of a profile
	}
	signs, logs := newSigns(), newLogTable(m)
	field := newHeat(logs)
	r := &Renderer{
		drawing: drawing{
			styles: map[StyleID]*style{
				Heat:   heatStyle(field),
				Dots:   {painter: newDots(), sites: (*Layer).forDots, palette: markPalette, signs: signs},
				Lakes:  {painter: field.waters, byExtent: true, sites: (*Layer).forWaters, palette: markPalette, signs: signs},
				Pixels: {painter: field.waters, byExtent: true, sites: (*Layer).forWaters, palette: markPalette, signs: signs, pixelZoom: pixelZoom},
			},
			logs:   logs,
			colors: make(map[colormap.ID]colors),
		},
		chances:  newChances(field, limits),
		memories: sync.Pool{New: func() any { return &memory{encoder: palettepng.NewEncoder()} }},
	}
	shown := *r.styles[Pixels]
	shown.painter = field.waters.withPixels()
	r.styles[Pixels].pixels = &shown
	fading := *r.styles[Heat]
	above := *fading.above
	above.painter = field.waters.aboveField().withPixels()
	fading.above = &above
	r.styles[Heat].pixels, r.styles[Heat].pixelZoom = &fading, heatPixelZoom
	for _, id := range colormap.IDs() {
		m, err := colormap.New(id, limits)
		if err != nil {
			panic(err) // the names are colormap's own
		}
		r.colors[id] = r.newColors(m, newScale(m, r.logs))
	}
	return r
}

// heatStyle returns the style Heat of a field.
func heatStyle(field *heat) *style {
	return &style{
		painter: field, above: &style{painter: field.waters.aboveField(), byExtent: true}, cored: true, byExtent: true,
		sites: (*Layer).forField, palette: heatPalette, filter: palettepng.Sub,
	}
}

// newColors returns the colours of m in the styles of d.
func (d *drawing) newColors(m *colormap.Map, s *scale) colors {
	c := colors{scale: s, palettes: make(map[StyleID]*palettepng.Palette)}
	for z := maptile.Zoom(fadeZoom); z < waterZoom; z++ {
		c.faded = append(c.faded, fadedPalette(m, z))
	}
	for id, st := range d.styles {
		c.palettes[id] = st.palette(m)
	}
	return c
}

// Known returns the result of Fingerprint if l remembers it, and whether it does. It never looks at the lakes.
func (r *Renderer) Known(l *Layer, s Spec) (f Fingerprint, notBlank, ok bool) {
	e, ok := l.fingerprints.Get(fingerprintKey{s.Tile, s.Scale, s.Style, s.Filter})
	return e.fingerprint, e.notBlank, ok
}

// Fingerprint returns the fingerprint of what s shows of l. It reports whether anything of l is in reach: if not, the tile is
// the blank one. The fingerprint is the same for all colour maps. A spec that Render rejects has none.
func (r *Renderer) Fingerprint(l *Layer, s Spec) (f Fingerprint, notBlank bool) {
	st, err := r.drawingOf(l).style(s)
	if err != nil {
		return Fingerprint{}, false
	}
	if f, notBlank, ok := r.Known(l, s); ok {
		return f, notBlank
	}
	m := r.memories.Get().(*memory)
	defer r.release(m)
	m.find(l, windowOf(s.Tile, s.Scale), st.withPixels(l, s.Tile.Z), s.Filter)
	var e remembered
	if !m.scene.blank() {
		m.hashed = m.scene.appendTo(m.hashed[:0])
		e = remembered{FingerprintOf(m.hashed), true}
	}
	l.fingerprints.Add(fingerprintKey{s.Tile, s.Scale, s.Style, s.Filter}, e)
	return e.fingerprint, e.notBlank
}

// Render draws s as a paletted PNG. A layer of probabilities has only the colour map [colormap.Forecast] and the styles of
// [ForecastStyles], and any other layer does not have that map. The error is [ErrUnknownStyle], [ErrNoFilter], [colormap.ErrUnknown] or [ErrOutOfRange].
func (r *Renderer) Render(l *Layer, s Spec) ([]byte, error) {
	m := r.memories.Get().(*memory)
	defer r.release(m)
	p, err := r.paint(m, l, s, windowOf(s.Tile, s.Scale))
	if err != nil {
		return nil, err
	}
	if p.Pixels == nil {
		return Blank(s.Scale), nil
	}
	return m.encoder.Encode(p.Pixels, p.Width, p.Palette, p.Filter), nil
}

// Paint is Render without the encoding. The pixels are nil if nothing is there. The pixels of a part are those of the tiles.
func (r *Renderer) Paint(l *Layer, s Spec, part Part) (Painting, error) {
	m := r.memories.Get().(*memory)
	defer r.release(m)
	p, err := r.paint(m, l, s, s.window(part))
	p.Pixels = bytes.Clone(p.Pixels)
	return p, err
}

// paint draws what s shows of l in w into m.pixels.
func (r *Renderer) paint(m *memory, l *Layer, s Spec, w window) (Painting, error) {
	d := r.drawingOf(l)
	st, err := d.style(s)
	if err != nil {
		return Painting{}, err
	}
	c, ok := d.colors[s.Colormap]
	if !ok {
		return Painting{}, fmt.Errorf("%w %q: one of %q", colormap.ErrUnknown, s.Colormap, slices.Sorted(maps.Keys(d.colors)))
	}
	st = st.withPixels(l, w.zoom)
	m.find(l, w, st, s.Filter)
	if m.scene.blank() {
		return Painting{}, nil
	}
	m.draw(st, c.scale, w)
	return Painting{Pixels: m.pixels, Width: w.width, Palette: c.paletteOf(s.Style, w.zoom), Filter: st.filter}, nil
}

// maxKept bounds the hits whose memory is reused, some 200 bytes each with their marks and splats: those of a dense tile of a
// million lakes.
const maxKept = 1 << 16

// release returns m to the pool.
func (r *Renderer) release(m *memory) {
	if cap(m.hits) > maxKept || cap(m.scene.signs) > maxKept || cap(m.scene.cores) > maxKept {
		m.hits, m.scene, m.found = nil, scene{patch: m.scene.patch}, sceneKey{}
		m.unsorted, m.stack = nil, stack{}
	}
	if cap(m.stack.touches) > 8*maxKept { // two for each pixel of a tile of scale 2
		m.stack.touches, m.found = nil, sceneKey{}
	}
	if cap(m.field.splats) > maxKept {
		m.field.splats = nil
	}
	if cap(m.field.glows.weights) > 16*maxKept {
		m.field.glows = glows{}
	}
	if cap(m.hashed) > 16*maxKept {
		m.hashed = nil
	}
	r.memories.Put(m)
}

// draw paints m.scene into m.pixels.
func (m *memory) draw(p painter, s *scale, w window) {
	n := w.width * w.height
	if cap(m.pixels) < n {
		m.pixels = make([]uint8, n)
	}
	m.pixels = m.pixels[:n]
	m.found = sceneKey{} // painting may reorder the marks
	p.paint(m.pixels, &m.scene, w, s, m)
}

// style returns the style of s, or an error if s is invalid.
func (d *drawing) style(s Spec) (*style, error) {
	st, ok := d.styles[s.Style]
	if !ok {
		return nil, fmt.Errorf("%w %q: one of %q", ErrUnknownStyle, s.Style, slices.Sorted(maps.Keys(d.styles)))
	}
	if s.Filter != 0 && st.signs == nil {
		return nil, fmt.Errorf("style %s: %w", s.Style, ErrNoFilter)
	}
	if s.Scale != 1 && s.Scale != 2 {
		return nil, fmt.Errorf("scale %d %w: 1 or 2", s.Scale, ErrOutOfRange)
	}
	if s.Tile.Z > MaxZoom || !s.Tile.Valid() {
		return nil, fmt.Errorf("tile %d/%d/%d %w: zoom 0 to %d, column and row less than 2^zoom",
			s.Tile.Z, s.Tile.X, s.Tile.Y, ErrOutOfRange, MaxZoom)
	}
	return st, nil
}
