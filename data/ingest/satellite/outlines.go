package satellite

import (
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/data/outline"
	"limnomap/data/raster/georef"
	"limnomap/data/raster/zonal"
)

// finest is the zoom of the finest form of an outline: it is simplified by at most a quarter of a pixel, 0.6 m at the equator.
const finest maptile.Zoom = 16

// An outliner makes masks of lakes. It is for one goroutine.
type outliner struct {
	grid   *georef.Grid
	rule   zonal.Rule
	buffer []orb.Point
	points []zonal.Point
	starts []int
}

// mask returns the pixels inside of a lake's outline. It is nil for a lake that is outside of the raster, or that has not all its points in the
// raster's system.
func (o *outliner) mask(shore outline.Outline) (*zonal.Mask, error) {
	bound := shore.Bound()
	turn := o.grid.TurnOf(bound.Center()[0])
	o.points, o.starts = o.points[:0], o.starts[:0]
	for ring := range shore.Rings(finest, &o.buffer) {
		o.starts = append(o.starts, len(o.points))
		for _, p := range ring {
			pixel, ok := o.grid.PixelOf(p, turn)
			if !ok {
				return nil, nil
			}
			o.points = append(o.points, pixel)
		}
	}
	if !o.grid.Touches(corners(o.points)) {
		return nil, nil // however many pixels it would have
	}
	rings := make(zonal.Polygon, len(o.starts))
	for i, start := range o.starts {
		end := len(o.points)
		if i+1 < len(o.starts) {
			end = o.starts[i+1]
		}
		rings[i] = o.points[start:end]
	}
	return zonal.NewMask([]zonal.Polygon{rings}, o.rule)
}

// corners returns the least and the largest column and row of points.
func corners(points []zonal.Point) (least, largest zonal.Point) {
	for k := range least {
		least[k], largest[k] = math.Inf(1), math.Inf(-1)
		for _, p := range points {
			least[k], largest[k] = min(least[k], p[k]), max(largest[k], p[k])
		}
	}
	return least, largest
}
