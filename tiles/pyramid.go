package tiles

import (
	"iter"
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/tiles/hilbert"
)

// maxLatitude is where the square of Web Mercator ends, in degrees.
const maxLatitude = 85.0511

// World returns the bound of the whole map.
func World() orb.Bound {
	return orb.Bound{Min: orb.Point{-180, -maxLatitude}, Max: orb.Point{180, maxLatitude}}
}

// ZoomFor returns the zoom at which a bound is about three tiles wide, as a screen is. A bound without a width has a zoom
// beyond those of all maps.
func ZoomFor(b orb.Bound) int {
	const across, narrowest = 3, 1e-9 // tiles, degrees
	return int(math.Log2(across * 360 / max(b.Max.Lon()-b.Min.Lon(), narrowest)))
}

// A Pyramid names the tiles of several zooms that cover a part of the globe, drawn in one way.
type Pyramid struct {
	MinZoom, MaxZoom maptile.Zoom
	// Bound is the part of the globe, including its edges. It crosses the antimeridian if its west is greater than its east.
	Bound    orb.Bound
	Scale    int // 1 or 2
	Style    StyleID
	Colormap colormap.ID
}

// Size returns how many tiles p has, including blank ones.
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

// tiles returns the tiles of p that are not blank: zoom by zoom and, within one, in the order of [hilbert.ID].
func (p Pyramid) tiles(w quadtreeWalk) iter.Seq[maptile.Tile] {
	return func(yield func(maptile.Tile) bool) {
		w.yield = yield
		for z := maptile.Zoom(0); z <= p.MaxZoom; z++ {
			w.areas = append(w.areas, areaOf(p.Bound, z))
		}
		for w.zoom = p.MinZoom; w.zoom <= p.MaxZoom; w.zoom++ {
			if !w.visit(0) {
				return
			}
		}
	}
}

// A quadtreeWalk visits the tiles of one zoom that are not blank, and skips a whole subtree if nothing in it is.
type quadtreeWalk struct {
	notBlank func(maptile.Tile) bool // reports whether a tile is not blank
	mayShow  func(maptile.Tile) bool // reports false only if a tile and all tiles within it are blank
	yield    func(maptile.Tile) bool // takes a tile and reports whether more are wanted

	areas []area // of the pyramid, by zoom
	zoom  maptile.Zoom
}

// visit yields the tiles of the zoom that are the tile of that [hilbert.ID] or within it, and reports whether more are wanted.
func (w *quadtreeWalk) visit(id uint64) bool {
	t := hilbert.Tile(id)
	if !w.areas[t.Z].holds(t) {
		return true
	}
	if t.Z == w.zoom {
		return !w.notBlank(t) || w.yield(t)
	}
	if !w.mayShow(t) {
		return true
	}
	for i := range uint64(4) {
		if !w.visit(4*id + 1 + i) { // the tiles within t that are one zoom larger
			return false
		}
	}
	return true
}

// An area is a rectangle of the tiles of one zoom. Columns are periodic: the area may continue in the west after the last one.
type area struct {
	west, north, columns, rows uint32
	world                      uint32 // columns in all
}

// areaOf returns the tiles of zoom z that contain a point of b.
func areaOf(b orb.Bound, z maptile.Zoom) area {
	world := uint32(1) << z
	west, north := address(b.LeftTop(), z)
	east, south := address(orb.Point{b.Max.Lon(), b.Min.Lat()}, z)
	a := area{west: west, north: north, columns: east - west + 1, rows: south - north + 1, world: world}
	if b.Min.Lon() > b.Max.Lon() {
		// It continues east of the antimeridian; at a small zoom it ends in the column where it began.
		a.columns = min(world-west+east+1, world)
	}
	return a
}

// address returns the column and row of the tile that contains a point. maptile.At is wrong for longitude 180, where its
// column is one too far east, and for latitudes beyond the edge of the map.
func address(p orb.Point, z maptile.Zoom) (x, y uint32) {
	last := uint32(1)<<z - 1
	t := maptile.At(orb.Point{p.Lon(), min(max(p.Lat(), -maxLatitude), maxLatitude)}, z)
	return min(t.X, last), min(t.Y, last)
}

// holds reports whether t, a tile of a's zoom, is one of a's tiles.
func (a area) holds(t maptile.Tile) bool {
	return t.Y-a.north < a.rows && (t.X-a.west)&(a.world-1) < a.columns // unsigned: a negative difference is larger than any size
}
