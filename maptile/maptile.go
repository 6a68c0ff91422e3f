// Package maptile has the addresses of web map tiles: zoom, column and row in the XYZ scheme, in Web Mercator (EPSG:3857).
// Columns grow east and rows grow south. Its names and results are those of github.com/paulmach/orb/maptile, which links a
// MongoDB driver into every binary.
package maptile

import (
	"math"

	"github.com/paulmach/orb"
)

// maxLatitude is the latitude in degrees of the northern and southern edges of the map, rounded down.
const maxLatitude = 85.0511

// A Tile is the address of a tile.
type Tile struct {
	X, Y uint32
	Z    Zoom
}

// A Zoom is the zoom of a tile: the world is 2^Zoom tiles wide.
type Zoom uint32

// New returns the tile with that column, row and zoom.
func New(x, y uint32, z Zoom) Tile { return Tile{x, y, z} }

// At returns the tile of zoom z that contains a point. Points north and south of the map are in the first and the last row. At
// longitude 180 the column is 2^z, which is not valid.
func At(p orb.Point, z Zoom) Tile {
	f := Fraction(p, z)
	return Tile{X: uint32(f[0]), Y: uint32(f[1]), Z: z}
}

// Fraction returns the position of a point in tiles of zoom z.
func Fraction(p orb.Point, z Zoom) orb.Point {
	tiles := float64(uint32(1 << z))
	f := orb.Point{(p[0]/360.0 + 0.5) * tiles}
	switch {
	case p[1] < -maxLatitude:
		f[1] = tiles - 1
	case p[1] > maxLatitude:
		f[1] = 0
	default:
		sin := math.Sin(p[1] * math.Pi / 180.0)
		south := 0.5 + 0.5*math.Log((1.0+sin)/(1.0-sin))/(-2*math.Pi)
		f[1] = south * tiles
	}
	return f
}

// Valid reports whether column and row are less than 2^Z.
func (t Tile) Valid() bool {
	tiles := uint32(1) << uint32(t.Z)
	return t.X < tiles && t.Y < tiles
}

// Bound returns the area of t.
func (t Tile) Bound() orb.Bound {
	west, north := geo(float64(t.X), float64(t.Y), t.Z)
	east, south := geo(float64(t.X)+1, min(float64(t.Y)+1, float64(uint32(1<<t.Z))), t.Z)
	return orb.Bound{Min: orb.Point{west, south}, Max: orb.Point{east, north}}
}

// geo returns the longitude and latitude of a position in tiles.
func geo(x, y float64, z Zoom) (lon, lat float64) {
	tiles := float64(uint64(1 << z))
	// Adding 0 prevents arm64 from fusing the product and the difference, which would give other bits.
	return 360.0 * (x/tiles - 0.5), 2.0*math.Atan(math.Exp(math.Pi-(2*math.Pi)*(y/tiles)))*(180.0/math.Pi) + 0.0 - 90.0
}

// Center returns the centre of t in degrees.
func (t Tile) Center() orb.Point { return t.Bound().Center() }

// Contains reports whether u is t or within t.
func (t Tile) Contains(u Tile) bool {
	return u.Z >= t.Z && t == Tile{u.X >> (u.Z - t.Z), u.Y >> (u.Z - t.Z), t.Z}
}

// Parent returns the tile of the next smaller zoom that contains t; that of zoom 0 is its own parent.
func (t Tile) Parent() Tile {
	if t.Z == 0 {
		return t
	}
	return Tile{t.X >> 1, t.Y >> 1, t.Z - 1}
}

// Children returns the four tiles of the next zoom within t, clockwise from the north-west.
func (t Tile) Children() []Tile {
	x, y, z := t.X<<1, t.Y<<1, t.Z+1
	return []Tile{{x, y, z}, {x + 1, y, z}, {x + 1, y + 1, z}, {x, y + 1, z}}
}
