package render

import (
	"errors"
	"fmt"
	"sync"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/render/palettepng"
)

// Version names the renderer's output. It changes whenever the same lakes would give other pixels or bytes, and is
// part of each cached tile's key.
const Version = "3"

// TileSize is the width and height of a tile in pixels at scale 1.
const TileSize = 1 << tileBits

var (
	// ErrUnknownStyle is returned for a name that no style bears.
	ErrUnknownStyle = errors.New("unknown style")
	// ErrOutOfRange is returned for a tile address that is no tile, and for a scale other than 1 and 2.
	ErrOutOfRange = errors.New("out of range")
)

// A StyleID names a way to draw the lakes.
type StyleID string

const (
	Heat StyleID = "heat" // the value field
	Dots StyleID = "dots" // a marker for each lake, a grey ring for one without a value
	// Lakes is each lake's water, from its outline or as a disc; hollow and grey for one without a value.
	Lakes StyleID = "lakes"
)

// A Style describes itself to those who choose one.
type Style struct {
	ID          StyleID `json:"id"`
	Title       string  `json:"title"`
	Description string  `json:"description"`
}

// Styles returns the styles, the default first.
func Styles() []Style {
	return []Style{
		{Heat, "Heat map", "Chlorophyll-a as a surface: the colour is the value, the opacity tells how near a lake is. " +
			"Lakes without a current value leave no trace."},
		{Dots, "Markers", "A marker in the colour of its value for each lake, a grey ring for one without a current value."},
		{Lakes, "Waters", "Each lake's water in the colour of its value: its outline from zoom 9 on where that is known, else a " +
			"disc of its area; grey and hollow without a current value."},
	}
}

// A Spec is what a tile shows of a layer.
type Spec struct {
	Tile     maptile.Tile
	Scale    int // 1, or 2 for the same map at 512 pixels
	Style    StyleID
	Colormap colormap.ID
}

// A painter draws one style. It is immutable.
type painter interface {
	// index returns the places of l that are drawn in w.
	index(l *Layer, w window) *index
	// tiers returns the lists that x is searched in, one after the other; each place is in one of them.
	tiers(x *index) []tier
	// reach returns how many units the mark of a place of x reaches from it, 0 if it leaves no trace. A pixel whose
	// centre is that far away, to the side or up and down, does not know of it.
	reach(p *place, w window) int64
	// beneath returns how many units of zoom z any pixel of z or of a larger zoom may lie from p, to the side or up and
	// down, and know of it.
	beneath(p *place, z maptile.Zoom) int64
	// widest returns how far at most a place of x reaches beyond the extent of its tier.
	widest(x *index, w window) int64
	// trace returns all that the mark of h depends on.
	trace(h hit, w window) trace
	// palette returns the entries that paint uses.
	palette(m *colormap.Map) *palettepng.Palette
	// paint draws a scene, whose hits it may put in another order, into the pixels of w.
	paint(pixels []uint8, s *scene, w window, sc *scale, b *brush)
}

// A brush is the memory that drawing a tile takes, for use by one tile after another.
type brush struct {
	scene   scene
	traces  []byte
	field   field
	mask    mask
	ring    []orb.Point
	pixels  []uint8
	encoder *palettepng.Encoder
}

// colors is one colour map, fitted to the styles.
type colors struct {
	scale    *scale
	palettes map[StyleID]*palettepng.Palette
}

// A Renderer draws tiles. It is safe for concurrent use.
type Renderer struct {
	painters map[StyleID]painter
	values   *values // of all colour maps
	colors   map[colormap.ID]colors
	brushes  sync.Pool // of *brush
}

// New returns a Renderer whose colour maps are fitted to limits, which must be ones that colormap.New takes.
func New(limits colormap.Limits) *Renderer {
	r := &Renderer{
		painters: map[StyleID]painter{Heat: newHeat(), Dots: newDots(), Lakes: newWaters()},
		colors:   make(map[colormap.ID]colors),
		brushes:  sync.Pool{New: func() any { return &brush{encoder: palettepng.NewEncoder()} }},
	}
	for _, id := range colormap.IDs() {
		m, err := colormap.New(id, limits)
		if err != nil {
			panic(err) // the limits are a constant of some profile, and the names are colormap's own
		}
		if r.values == nil {
			r.values = newValues(m)
		}
		c := colors{scale: newScale(m, r.values), palettes: make(map[StyleID]*palettepng.Palette)}
		for style, p := range r.painters {
			c.palettes[style] = p.palette(m)
		}
		r.colors[id] = c
	}
	return r
}

// Layer makes the lakes of v ready to draw.
func (r *Renderer) Layer(v *data.View) *Layer { return newLayer(v, r.values) }

// Fingerprint returns the fingerprint of what s shows of l, and whether anything of l is in reach of it at all:
// if not, the tile is the blank one. The colour map makes no difference to it, and a spec that Render refuses has none.
func (r *Renderer) Fingerprint(l *Layer, s Spec) (fp Fingerprint, any bool) {
	p, err := r.painter(s)
	if err != nil {
		return Fingerprint{}, false
	}
	key := memoKey{s.Tile, s.Scale, s.Style, l.number}
	if e, ok := l.memo.Get(key); ok {
		return e.fingerprint, e.any
	}
	b := r.brushes.Get().(*brush)
	defer r.keep(b)
	w := windowOf(s.Tile, s.Scale)
	b.scene.find(l, w, p)
	var e memoEntry
	if !b.scene.empty() {
		b.traces = appendTraces(b.traces[:0], &b.scene, w, p)
		e = memoEntry{fingerprint(b.traces), true}
	}
	l.memo.Add(key, e)
	return e.fingerprint, e.any
}

// Render draws s as a paletted PNG. The error is [ErrUnknownStyle], [colormap.ErrUnknown] or [ErrOutOfRange].
func (r *Renderer) Render(l *Layer, s Spec) ([]byte, error) {
	p, err := r.painter(s)
	if err != nil {
		return nil, err
	}
	c, ok := r.colors[s.Colormap]
	if !ok {
		return nil, fmt.Errorf("%w %q: one of %q", colormap.ErrUnknown, s.Colormap, colormap.IDs())
	}
	b := r.brushes.Get().(*brush)
	defer r.keep(b)
	w := windowOf(s.Tile, s.Scale)
	b.scene.find(l, w, p)
	if b.scene.empty() {
		return Blank(s.Scale), nil
	}
	b.draw(p, c.scale, w)
	return b.encoder.Encode(b.pixels, w.width, c.palettes[s.Style]), nil
}

// maxKept bounds the hits that a brush keeps the memory of, some 200 bytes each with their splats: what a dense tile of a
// million lakes has. A scene that had more is drawn from new memory the next time.
const maxKept = 1 << 16

// keep puts b back without what would hold on to the layer that it drew: a layer that was replaced must not stay in memory
// until as many lakes are drawn again.
func (r *Renderer) keep(b *brush) {
	clear(b.scene.hits)
	clear(b.scene.places)
	b.scene.sight, b.scene.plan = nil, nil
	if cap(b.scene.hits) > maxKept {
		b.scene.hits = nil
	}
	if cap(b.field.splats) > 2*maxKept {
		b.field.splats = nil
	}
	if cap(b.traces) > 16*maxKept {
		b.traces = nil
	}
	r.brushes.Put(b)
}

// draw paints b.scene into b.pixels.
func (b *brush) draw(p painter, s *scale, w window) {
	n := w.width * w.height
	if cap(b.pixels) < n {
		b.pixels = make([]uint8, n)
	}
	b.pixels = b.pixels[:n]
	p.paint(b.pixels, &b.scene, w, s, b)
}

// painter returns what draws s, or what is wrong with it.
func (r *Renderer) painter(s Spec) (painter, error) {
	p, ok := r.painters[s.Style]
	if !ok {
		return nil, fmt.Errorf("%w %q: %s, %s or %s", ErrUnknownStyle, s.Style, Heat, Dots, Lakes)
	}
	if s.Scale != 1 && s.Scale != 2 {
		return nil, fmt.Errorf("scale %d %w: 1 or 2", s.Scale, ErrOutOfRange)
	}
	if s.Tile.Z > MaxZoom || !s.Tile.Valid() {
		return nil, fmt.Errorf("tile %d/%d/%d %w: zoom 0 to %d, column and row less than 2^zoom",
			s.Tile.Z, s.Tile.X, s.Tile.Y, ErrOutOfRange, MaxZoom)
	}
	return p, nil
}
