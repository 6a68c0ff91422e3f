package tiles

import (
	"iter"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
)

// A Pyramid names the tiles of several zooms that hold a part of the globe, drawn in one way.
type Pyramid struct {
	MinZoom, MaxZoom maptile.Zoom
	// Bound is the part of the globe, edges included. If its west is east of its east, it crosses the antimeridian.
	Bound    orb.Bound
	Scale    int // 1 or 2
	Style    StyleID
	Colormap colormap.ID
}

// Size returns how many tiles p has, blank ones included. It looks at none of them.
func (p Pyramid) Size() int64 {
	var n int64
	for z := p.MinZoom; z <= p.MaxZoom; z++ {
		a := areaOf(p.Bound, z)
		n += int64(a.columns) * int64(a.rows)
	}
	return n
}

// request returns the request for one of p's tiles.
func (p Pyramid) request(t maptile.Tile) Request {
	return Request{Tile: t, Scale: p.Scale, Style: p.Style, Colormap: p.Colormap}
}

// tiles returns the tiles of p that show something: zoom by zoom and, within one, along the Hilbert curve.
func (p Pyramid) tiles(d descent) iter.Seq[maptile.Tile] {
	return func(yield func(maptile.Tile) bool) {
		d.yield = yield
		for z := maptile.Zoom(0); z <= p.MaxZoom; z++ {
			d.areas = append(d.areas, areaOf(p.Bound, z))
		}
		for d.zoom = p.MinZoom; d.zoom <= p.MaxZoom; d.zoom++ {
			if !d.down(maptile.Tile{}, curve{}) {
				return
			}
		}
	}
}

// A descent goes down the quadtree to the tiles of one zoom, and passes by what shows nothing without looking into it.
type descent struct {
	shows   func(maptile.Tile) bool // reports whether a tile is other than blank
	beneath func(maptile.Tile) bool // reports false only if no tile beneath this one shows anything
	yield   func(maptile.Tile) bool // takes a tile and reports whether more are wanted

	areas []area // of the pyramid, by zoom
	zoom  maptile.Zoom
}

// down yields the tiles of the zoom that are t or lie beneath it, and reports whether more are wanted.
func (d *descent) down(t maptile.Tile, c curve) bool {
	if !d.areas[t.Z].holds(t) {
		return true
	}
	if t.Z == d.zoom {
		return !d.shows(t) || d.yield(t)
	}
	if !d.beneath(t) {
		return true
	}
	for i := range uint32(4) {
		x, y, inner := c.quadrant(i)
		if !d.down(maptile.Tile{X: 2*t.X + x, Y: 2*t.Y + y, Z: t.Z + 1}, inner) {
			return false
		}
	}
	return true
}

// An area is a rectangle of one zoom's tiles. Columns are periodic: it may go on in the west after the last one.
type area struct {
	west, north, columns, rows uint32
	world                      uint32 // columns in all
}

// areaOf returns the tiles of zoom z that hold a point of b.
func areaOf(b orb.Bound, z maptile.Zoom) area {
	world := uint32(1) << z
	west, north := address(b.LeftTop(), z)
	east, south := address(orb.Point{b.Max.Lon(), b.Min.Lat()}, z)
	a := area{west: west, north: north, columns: east - west + 1, rows: south - north + 1, world: world}
	if b.Min.Lon() > b.Max.Lon() {
		// East of the antimeridian it goes on; at a small zoom it ends in the column where it began.
		a.columns = min(world-west+east+1, world)
	}
	return a
}

// address returns the column and row of the tile that holds a place. maptile.At takes neither longitude 180, which it has
// one column too far east, nor a latitude beyond the map's edge.
func address(place orb.Point, z maptile.Zoom) (x, y uint32) {
	const edge = 85.0511 // degrees, where Web Mercator's square ends
	last := uint32(1)<<z - 1
	t := maptile.At(orb.Point{place.Lon(), min(max(place.Lat(), -edge), edge)}, z)
	return min(t.X, last), min(t.Y, last)
}

// holds reports whether t is one of a's tiles. It must be of a's zoom.
func (a area) holds(t maptile.Tile) bool {
	return t.Y-a.north < a.rows && (t.X-a.west)&(a.world-1) < a.columns // below zero is above all
}
