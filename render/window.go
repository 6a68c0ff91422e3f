package render

import "github.com/paulmach/orb/maptile"

// A window is a rectangle of the global pixel grid of one zoom and scale: a tile, or a larger picture.
type window struct {
	zoom          maptile.Zoom
	scale         int
	left, top     int64 // of the north-west corner in units; left may lie outside of the world, which is periodic
	width, height int   // in pixels
}

// windowOf returns the window of a tile.
func windowOf(t maptile.Tile, scale int) window {
	return window{
		zoom: t.Z, scale: scale,
		left: int64(t.X) << (tileBits + subBits), top: int64(t.Y) << (tileBits + subBits),
		width: TileSize * scale, height: TileSize * scale,
	}
}

// widened returns w with a margin, in pixels of scale 1.
func (w window) widened(margin int) window {
	w.left, w.top = w.left-int64(margin)<<subBits, w.top-int64(margin)<<subBits
	w.width, w.height = w.width+2*margin*w.scale, w.height+2*margin*w.scale
	return w
}

// mortonOf returns the Morton code of a mark of w on the world of its zoom.
func (w window) mortonOf(m *mark) uint64 { return w.mortonAt(m.x, m.y) }

// mortonAt returns the Morton code of a point, in units from the corner of w, on the world of its zoom.
func (w window) mortonAt(x, y int32) uint64 {
	world := int64(1)<<(tileBits+subBits+w.zoom) - 1
	return morton(uint32((w.left+int64(x))&world), uint32(w.top+int64(y)))
}

// stepBits returns log2 of how many units a pixel is wide.
func (w window) stepBits() int { return subBits + 1 - w.scale }

// step returns how many units a pixel is wide.
func (w window) step() int64 { return 1 << w.stepBits() }

// firstCentre returns the distance in units from an edge to the first pixel's centre.
func (w window) firstCentre() int64 { return w.step() / 2 }

// lastCentre returns the distance in units to the centre of the last of n pixels.
func (w window) lastCentre(n int) int64 { return w.firstCentre() + int64(n-1)*w.step() }
