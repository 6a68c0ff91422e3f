// Package mosaic makes pictures of any part of the map, in any size and several systems of coordinates, from the pixels of tiles.
//
// A pixel of a picture is the pixel of the map at its place, never a mixture of several and never a stretched one: tiles are taken at the zoom
// whose look fits the scale best, with at least as many pixels as the picture has. Where the picture has the scale and the grid of a zoom, its
// pixels are those of the tiles.
package mosaic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strconv"
	"strings"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/data/raster/crs"
	"limnomap/render/palettepng"
)

// MaxSide bounds the width and the height of a picture in pixels.
const MaxSide = 2048

// maxTiles bounds the tiles of a picture. One in web Mercator has at most 13 by 13.
const maxTiles = 400

// tileSide is the side of a tile at scale 1, in pixels.
const tileSide = 256

// maxScale is the largest scale of tiles.
const maxScale = 2

var (
	// ErrBounds is in the error for bounds of which no picture can be made.
	ErrBounds = errors.New("no picture of these bounds")
	// ErrTooLarge is in the error for a picture of too many tiles.
	ErrTooLarge = errors.New("the picture needs too many tiles")
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

// Memory returns about how many bytes it takes to draw the picture: its pixels, its file, and the tiles, which have up to twice as many pixels in
// each direction.
func (p *Picture) Memory() int64 {
	side := func(n int) int64 { return 2*int64(n) + 2*maxScale*tileSide }
	return int64(p.Width*p.Height)*3 + side(p.Width)*side(p.Height)
}

// A Fetch returns a tile as a PNG with a palette; nil for one where nothing is.
type Fetch func(ctx context.Context, t maptile.Tile, scale int) ([]byte, error)

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
	d := drawing{fetch: fetch, tiles: make(map[maptile.Tile]*image.Paletted)}
	d.zoom, d.scale = zoomFor(places.scale(), p.MaxZoom)
	d.colors = append(d.colors, color.NRGBA{}) // of what no tile shows
	d.known = map[color.NRGBA]uint8{{}: 0}
	pixels := make([]uint8, p.Width*p.Height)
	line := make([]orb.Point, p.Width)
	for y := range p.Height {
		places.line(y, line)
		if err := d.line(ctx, line, pixels[y*p.Width:]); err != nil {
			return nil, err
		}
	}
	var palette palettepng.Palette
	for i, c := range d.colors {
		palette[i] = over(c, p.Background)
	}
	return palettepng.NewEncoder().Encode(pixels, p.Width, &palette, palettepng.None), nil
}

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

// A drawing takes the pixels of a picture from tiles.
type drawing struct {
	fetch  Fetch
	zoom   maptile.Zoom
	scale  int
	tiles  map[maptile.Tile]*image.Paletted // nil for a tile where nothing is
	colors []color.NRGBA
	known  map[color.NRGBA]uint8 // the indices of colors
}

// line sets the pixels at places, which are parts of the world's width from its north-west corner; NaN where there is no map.
func (d *drawing) line(ctx context.Context, places []orb.Point, pixels []uint8) error {
	side := tileSide * d.scale
	world := float64(side) * float64(int(1)<<d.zoom)
	var tile *image.Paletted
	at := maptile.Tile{Z: d.zoom + 1} // of tile; at first none
	for i, place := range places {
		if !(place[1] >= 0 && place[1] < 1) || math.IsNaN(place[0]) {
			continue
		}
		x, y := int((place[0]-math.Floor(place[0]))*world), int(place[1]*world)
		if next := maptile.New(uint32(x/side), uint32(y/side), d.zoom); next != at {
			var err error
			if tile, err = d.tile(ctx, next); err != nil {
				return err
			}
			at = next
		}
		if tile != nil {
			pixels[i] = tile.Pix[y%side*tile.Stride+x%side]
		}
	}
	return nil
}

// tile returns a tile whose pixels are indices into colors.
func (d *drawing) tile(ctx context.Context, t maptile.Tile) (*image.Paletted, error) {
	if found, ok := d.tiles[t]; ok {
		return found, nil
	}
	if len(d.tiles) >= maxTiles {
		return nil, ErrTooLarge
	}
	content, err := d.fetch(ctx, t, d.scale)
	if err != nil {
		return nil, err
	}
	var found *image.Paletted
	if content != nil {
		picture, err := png.Decode(bytes.NewReader(content))
		if err != nil {
			return nil, fmt.Errorf("tile %v: %w", t, err)
		}
		var ok bool
		if found, ok = picture.(*image.Paletted); !ok || found.Rect.Dx() != tileSide*d.scale || found.Rect.Dy() != tileSide*d.scale {
			return nil, fmt.Errorf("tile %v is no picture of %d pixels with a palette", t, tileSide*d.scale)
		}
		d.renumber(found)
	}
	d.tiles[t] = found
	return found, nil
}

// renumber sets the pixels of a tile to indices into colors. All tiles of a style have the same colours, so that 256 are enough.
func (d *drawing) renumber(tile *image.Paletted) {
	var index [256]uint8
	for i, c := range tile.Palette {
		n := color.NRGBAModel.Convert(c).(color.NRGBA)
		at, ok := d.known[n]
		if !ok {
			if len(d.colors) < len(palettepng.Palette{}) {
				at = uint8(len(d.colors))
				d.colors = append(d.colors, n)
			} else {
				at = d.nearest(n)
			}
			d.known[n] = at
		}
		index[i] = at
	}
	for i, p := range tile.Pix {
		tile.Pix[i] = index[p]
	}
}

// nearest returns the index of the colour that is most like c.
func (d *drawing) nearest(c color.NRGBA) (at uint8) {
	least := math.MaxInt
	for i, other := range d.colors {
		square := func(a, b uint8) int { return (int(a) - int(b)) * (int(a) - int(b)) }
		if n := square(c.R, other.R) + square(c.G, other.G) + square(c.B, other.B) + square(c.A, other.A); n < least {
			at, least = uint8(i), n
		}
	}
	return at
}

// over returns a colour on an opaque background, or the colour itself on none.
func over(c, background color.NRGBA) color.NRGBA {
	if background.A == 0 {
		return c
	}
	mix := func(a, b uint8) uint8 { return uint8((int(a)*int(c.A) + int(b)*(255-int(c.A)) + 127) / 255) }
	return color.NRGBA{mix(c.R, background.R), mix(c.G, background.G), mix(c.B, background.B), 255}
}
