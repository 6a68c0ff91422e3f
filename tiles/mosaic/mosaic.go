// Package mosaic makes pictures of any part of the map, in any size and several systems of coordinates.
//
// A pixel of a picture is the pixel of the map at its place, never a mixture of several and never a stretched one: the map is drawn at the zoom
// whose look fits the scale best, with at least as many pixels as the picture has. Where the picture has the scale and the grid of a zoom, its
// pixels are those of the tiles. The map is drawn in parts and encoded once, as the picture: tiles would be encoded and decoded.
package mosaic

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/data/raster/crs"
	"limnomap/render/palettepng"
)

// MaxSide bounds the width and the height of a picture in pixels.
const MaxSide = 2048

const (
	// block is the side of the squares in which a picture is drawn, in pixels.
	block = 512
	// maxPart bounds the pixels of a part of the map: those of a block have up to twice as many in each direction, and lie askew in some systems.
	maxPart = 2 << 20
	// maxParts and maxPixels bound the parts of a picture, and their pixels together.
	maxParts  = 1000
	maxPixels = 64 << 20
)

// tileSide is the side of a tile at scale 1, in pixels.
const tileSide = 256

// maxScale is the largest scale of tiles.
const maxScale = 2

var (
	// ErrBounds is in the error for bounds of which no picture can be made.
	ErrBounds = errors.New("no picture of these bounds")
	// ErrTooLarge is in the error for a picture of too many pixels of the map.
	ErrTooLarge = errors.New("the picture needs too large a part of the map")
)

// A Picture is what a picture shows. Its bounds are the outer edges of its outer pixels.
type Picture struct {
	Width, Height int
	System        *crs.System // of the bounds; nil: longitude and latitude
	Min, Max      orb.Point   // x is the easting and y the northing
	// Background is what the map lies on; its alpha is 0 for none.
	Background color.NRGBA
	MaxZoom    int
}

// White is the usual background of a picture that is not transparent.
var White = color.NRGBA{255, 255, 255, 255}

// ParseColor reads an opaque colour as 0xRRGGBB or #RRGGBB.
func ParseColor(s string) (color.NRGBA, error) {
	digits, ok := strings.CutPrefix(strings.ToLower(s), "0x")
	if !ok {
		digits = strings.TrimPrefix(s, "#")
	}
	n, err := strconv.ParseUint(digits, 16, 24)
	if err != nil || len(digits) != 6 {
		return color.NRGBA{}, fmt.Errorf("%.20q is not a colour", s)
	}
	return color.NRGBA{uint8(n >> 16), uint8(n >> 8), uint8(n), 255}, nil
}

// Memory returns about how many bytes it takes to draw the picture: its pixels, what the encoder remembers of each, its file, and a part of the map.
func (p *Picture) Memory() int64 { return int64(p.Width*p.Height)*8 + maxPart }

// A Fetch returns a part of the map at a zoom and scale, in pixels from the north-west corner of the world, which repeats to the east; without pixels if nothing
// is there. The sides of a part are even numbers. All parts of a zoom have one palette, whose entry 0 is transparent.
type Fetch func(ctx context.Context, zoom maptile.Zoom, scale int, part image.Rectangle) (palettepng.Image, error)

// Draw returns a picture as a PNG. The error is ErrBounds, ErrTooLarge or that of fetch.
func Draw(ctx context.Context, p Picture, fetch Fetch) ([]byte, error) {
	if p.Width < 1 || p.Height < 1 || p.Width > MaxSide || p.Height > MaxSide {
		return nil, fmt.Errorf("%w: %d x %d pixels, want 1 to %d", ErrBounds, p.Width, p.Height, MaxSide)
	}
	if !(p.Min[0] < p.Max[0] && p.Min[1] < p.Max[1]) || math.IsInf(p.Max[0]-p.Min[0]+p.Max[1]-p.Min[1], 0) {
		return nil, fmt.Errorf("%w: the greater ones must be greater than the smaller ones", ErrBounds)
	}
	places, err := newPlaces(&p)
	if err != nil {
		return nil, err
	}
	d := drawing{places: places, fetch: fetch, pixels: make([]uint8, p.Width*p.Height)}
	d.zoom, d.scale = zoomFor(places.scale(), p.MaxZoom)
	d.world = tileSide * d.scale << d.zoom
	for y := 0; y < p.Height; y += block {
		for x := 0; x < p.Width; x += block {
			if err := d.draw(ctx, image.Rect(x, y, min(x+block, p.Width), min(y+block, p.Height))); err != nil {
				return nil, err
			}
		}
	}
	var palette palettepng.Palette
	if d.palette != nil {
		palette = *d.palette
	}
	for i, c := range palette {
		palette[i] = over(c, p.Background)
	}
	if len(d.pixels) > maxReused {
		return palettepng.NewEncoder().Encode(d.pixels, p.Width, &palette, d.filter), nil
	}
	e := encoders.Get().(*palettepng.Encoder)
	defer encoders.Put(e)
	return e.Encode(d.pixels, p.Width, &palette, d.filter), nil
}

// encoders are reused for pictures of up to maxReused pixels: their memory is some bytes for each pixel.
var encoders = sync.Pool{New: func() any { return palettepng.NewEncoder() }}

const maxReused = 1 << 20

// zoomFor returns the zoom whose look fits a scale best, as a part of the world's width in a pixel, and the scale of its tiles at which they have at
// least as many pixels.
func zoomFor(part float64, highest int) (zoom maptile.Zoom, scale int) {
	exact := -math.Log2(part * tileSide)
	z := min(max(math.Round(exact), 0), float64(highest))
	if exact > z+1e-6 {
		return maptile.Zoom(z), maxScale
	}
	return maptile.Zoom(z), 1
}

// A drawing takes the pixels of a picture from parts of the map.
type drawing struct {
	*places
	fetch   Fetch
	zoom    maptile.Zoom
	scale   int
	world   int // its width in pixels of the zoom and scale
	pixels  []uint8
	palette *palettepng.Palette // of the parts; nil if nothing is there
	filter  palettepng.Filter

	parts, fetched int // parts so far, and their pixels
}

// A part is the part of the map that a rectangle of the picture shows.
type part struct {
	image.Rectangle
	near  float64 // its x are within half a turn around the Earth of this one, and x of a pixel is counted from turn
	turn  float64
	round bool // it is all around the Earth
}

// draw draws a rectangle of the picture: from one part of the map, or in quarters if that would be too large.
func (d *drawing) draw(ctx context.Context, r image.Rectangle) error {
	p := d.partOf(r)
	switch size := p.Dx() * p.Dy(); {
	case p.Empty():
		return nil
	case size > maxPart && r.Dx()*r.Dy() > 1:
		middle := r.Min.Add(r.Max).Div(2)
		for _, q := range []image.Rectangle{
			{r.Min, middle}, {image.Pt(middle.X, r.Min.Y), image.Pt(r.Max.X, middle.Y)}, {image.Pt(r.Min.X, middle.Y), image.Pt(middle.X, r.Max.Y)}, {middle, r.Max},
		} {
			if q.Empty() {
				continue
			}
			if err := d.draw(ctx, q); err != nil {
				return err
			}
		}
		return nil
	default:
		d.parts++
		if d.fetched += size; d.parts > maxParts || d.fetched > maxPixels {
			return ErrTooLarge
		}
	}
	found, err := d.fetch(ctx, d.zoom, d.scale, p.Rectangle)
	if err != nil || found.Pixels == nil {
		return err
	}
	d.palette, d.filter = found.Palette, found.Filter
	if d.columns != nil {
		d.copyStraight(r, &p, found.Pixels)
	} else {
		d.copyProjected(r, &p, found.Pixels)
	}
	return nil
}

// partOf returns the part of the map that a rectangle of the picture shows.
func (d *drawing) partOf(r image.Rectangle) (p part) {
	least, greatest := orb.Point{math.Inf(1), math.Inf(1)}, orb.Point{math.Inf(-1), math.Inf(-1)}
	add := func(at orb.Point) {
		for i, n := range at {
			least[i], greatest[i] = min(least[i], n), max(greatest[i], n)
		}
	}
	widest := 1.
	if d.columns != nil {
		add(d.place(r.Min.X, r.Min.Y))
		add(d.place(r.Max.X-1, r.Max.Y-1))
		p.turn = math.Floor(least[0])
	} else {
		p.near = math.NaN()
		for y := range d.ends(r.Min.Y, r.Max.Y) {
			for x := range d.ends(r.Min.X, r.Max.X) {
				at := d.place(x, y)
				if math.IsNaN(at[0] + at[1]) {
					continue
				}
				if math.IsNaN(p.near) {
					p.near = at[0]
				}
				at[0] = p.near + math.Remainder(at[0]-p.near, 1)
				add(at)
			}
		}
		p.turn = math.Floor(p.near)
		widest = 0.4 // a place further away may be nearer the other way around
	}
	if !(greatest[1] >= 0 && least[1] < 1) {
		return part{}
	}
	pixel := func(n float64) int { return int(math.Floor(n * float64(d.world))) }
	p.Min.Y, p.Max.Y = pixel(max(least[1], 0)), min(pixel(min(greatest[1], 1))+1, d.world)
	if p.round = !(greatest[0]-least[0] < widest); p.round {
		p.Max.X = d.world
	} else {
		p.Min.X, p.Max.X = pixel(least[0]-p.turn), pixel(greatest[0]-p.turn)+1
	}
	if d.columns == nil { // copyProjected rounds
		p.Min.X, p.Max.X = p.Min.X-1, p.Max.X+1
		p.Min.Y, p.Max.Y = max(p.Min.Y-1, 0), min(p.Max.Y+1, d.world)
	}
	p.Min.X, p.Min.Y, p.Max.X, p.Max.Y = p.Min.X&^1, p.Min.Y&^1, (p.Max.X+1)&^1, (p.Max.Y+1)&^1
	return p
}

// copyStraight copies the pixels of a rectangle of a picture whose columns are meridians.
func (d *drawing) copyStraight(r image.Rectangle, p *part, from []uint8) {
	columns, width := make([]int, r.Dx()), p.Dx()
	for i := range columns {
		columns[i] = int(math.Floor((d.columns[r.Min.X+i]-p.turn)*float64(d.world))) - p.Min.X
		if p.round {
			columns[i] = (columns[i]%d.world + d.world) % d.world
		}
	}
	last := len(columns) - 1
	dense := columns[last]-columns[0] == last
	for y := r.Min.Y; y < r.Max.Y; y++ {
		at := d.place(r.Min.X, y)[1]
		if !(at >= 0 && at < 1) {
			continue
		}
		row := from[(int(at*float64(d.world))-p.Min.Y)*width:][:width]
		to := d.pixels[y*d.Width+r.Min.X:][:len(columns)]
		if dense {
			copy(to, row[columns[0]:])
			continue
		}
		for i, x := range columns {
			to[i] = row[x]
		}
	}
}

// fractionBits are those of the parts of a pixel of the map in which places between nodes are counted.
const fractionBits = 16

// copyProjected copies the pixels of a rectangle of any picture.
func (d *drawing) copyProjected(r image.Rectangle, p *part, from []uint8) {
	width, height := p.Dx(), p.Dy()
	unit := float64(d.world) * (1 << fractionBits)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for first := r.Min.X; first < r.Max.X; {
			cell := first / d.step
			end := min((cell+1)*d.step, r.Max.X)
			to := d.pixels[y*d.Width+first : y*d.Width+end]
			left, right := d.cell(y, cell)
			dx, dy := (right[0]-left[0])/float64(d.step), (right[1]-left[1])/float64(d.step)
			past := float64(first - cell*d.step)
			first = end
			if math.IsNaN(dx + dy) {
				continue
			}
			west := p.near + math.Remainder(left[0]-p.near, 1)
			x, y := int((west+dx*past-p.turn)*unit)-p.Min.X<<fractionBits, int((left[1]+dy*past)*unit)-p.Min.Y<<fractionBits
			eastward, southward := int(dx*unit), int(dy*unit)
			for i := range to {
				column, row := x>>fractionBits, y>>fractionBits
				if p.round {
					column = ((column+p.Min.X)%d.world+d.world)%d.world - p.Min.X
				}
				if uint(column) < uint(width) && uint(row) < uint(height) {
					to[i] = from[row*width+column]
				}
				x += eastward
				y += southward
			}
		}
	}
}

// over returns a colour on an opaque background, or the colour itself on none.
func over(c, background color.NRGBA) color.NRGBA {
	if background.A == 0 {
		return c
	}
	mix := func(a, b uint8) uint8 { return uint8((int(a)*int(c.A) + int(b)*(255-int(c.A)) + 127) / 255) }
	return color.NRGBA{mix(c.R, background.R), mix(c.G, background.G), mix(c.B, background.B), 255}
}
