package mosaic

import (
	"fmt"
	"math"

	"github.com/paulmach/orb"

	"limnomap/data/raster/crs"
)

// earthRadius is that of the sphere of web Mercator in metres (EPSG:3857).
const earthRadius = 6378137

// places tells where the centres of the pixels of a picture are on the map.
type places struct {
	*Picture
	columns []float64   // the places of the columns where they do not depend on the row; nil otherwise
	nodes   []orb.Point // the places of a grid, every step pixels, otherwise
	across  int         // nodes in a row
}

// step is the distance of the nodes of the grid in pixels. Between them places are interpolated: over 16 pixels a projection is straight but for some
// hundredths of a pixel, and to project each pixel would take longer than all the rest.
const step = 16

func newPlaces(p *Picture) (*places, error) {
	all := &places{Picture: p}
	if p.System == nil || p.System.Code() == mercator {
		all.columns = make([]float64, p.Width)
		for x := range all.columns {
			all.columns[x] = all.worldX(all.x(float64(x) + .5))
		}
		return all, nil
	}
	inverse, err := crs.NewInverse(p.System)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBounds, err)
	}
	all.across = p.Width/step + 2
	for y := 0; y <= p.Height+step; y += step {
		for x := range all.across {
			lon, lat := inverse.At(all.x(float64(x*step)+.5), all.y(float64(y)+.5))
			all.nodes = append(all.nodes, orb.Point{lon/360 + .5, mercatorY(lat)})
		}
	}
	return all, nil
}

// mercator is the code of web Mercator.
const mercator = 3857

// x and y return the coordinates of a place in the picture, in pixels from its upper left corner.
func (p *Picture) x(pixels float64) float64 {
	return p.Min[0] + (p.Max[0]-p.Min[0])*pixels/float64(p.Width)
}

func (p *Picture) y(pixels float64) float64 {
	return p.Max[1] - (p.Max[1]-p.Min[1])*pixels/float64(p.Height)
}

// worldX and worldY return where a coordinate is, in parts of the world's width from its north-west corner.
func (all *places) worldX(x float64) float64 {
	if all.System == nil {
		return x/360 + .5
	}
	return x/(2*math.Pi*earthRadius) + .5
}

func (all *places) worldY(y float64) float64 {
	if all.System == nil {
		return mercatorY(y)
	}
	return .5 - y/(2*math.Pi*earthRadius)
}

// mercatorY returns where a latitude is on the map, NaN for one beyond the poles.
func mercatorY(lat float64) float64 {
	if math.Abs(lat) >= 90 {
		return math.NaN()
	}
	return .5 - math.Asinh(math.Tan(lat*math.Pi/180))/(2*math.Pi)
}

// line sets the places of the pixels of a row.
func (all *places) line(y int, line []orb.Point) {
	if all.columns != nil {
		row := all.worldY(all.y(float64(y) + .5))
		for x := range line {
			line[x] = orb.Point{all.columns[x], row}
		}
		return
	}
	upper := all.nodes[y/step*all.across:]
	lower := upper[all.across:]
	down := float64(y%step) / step
	for first := 0; first < len(line); first += step {
		i := first / step
		between := func(a, b orb.Point) orb.Point { // on the left or the right side of the cell, in the same turn around the Earth
			x0, x1 := upper[i][0]+math.Remainder(a[0]-upper[i][0], 1), upper[i][0]+math.Remainder(b[0]-upper[i][0], 1)
			return orb.Point{x0 + (x1-x0)*down, a[1] + (b[1]-a[1])*down}
		}
		left, right := between(upper[i], lower[i]), between(upper[i+1], lower[i+1])
		for x := first; x < min(first+step, len(line)); x++ {
			part := float64(x-first) / step
			line[x] = orb.Point{left[0] + (right[0]-left[0])*part, left[1] + (right[1]-left[1])*part}
		}
	}
}

// unwrapped returns a longitude within half a turn of another one.
func unwrapped(lon, beside float64) float64 { return lon - 360*math.Round((lon-beside)/360) }

// scale returns the part of the world's width in a pixel in the middle of the picture, as the geometric mean of both directions.
func (all *places) scale() float64 {
	line, below := make([]orb.Point, all.Width), make([]orb.Point, all.Width)
	y := all.Height / 2
	all.line(y, line)
	dx, dy := 0., 0.
	x := all.Width / 2
	if x > 0 {
		dx = math.Hypot(line[x][0]-line[x-1][0], line[x][1]-line[x-1][1])
	}
	if y > 0 {
		all.line(y-1, below)
		dy = math.Hypot(line[x][0]-below[x][0], line[x][1]-below[x][1])
	}
	part := math.Sqrt(dx * dy)
	if part == 0 {
		part = max(dx, dy)
	}
	if !(part > 0) { // one pixel, or a middle that is not on the map
		part = (all.Max[0] - all.Min[0]) / float64(all.Width)
		if all.System == nil {
			return part / 360
		}
		return part / (2 * math.Pi * earthRadius)
	}
	return part
}

// Place returns the longitude and latitude of the centre of a pixel, which may be outside of the picture. It reports false where there is no map.
func (p *Picture) Place(x, y int) (orb.Point, bool) {
	var at orb.Point
	switch east, north := p.x(float64(x)+.5), p.y(float64(y)+.5); {
	case p.System == nil:
		at = orb.Point{east, north}
	case p.System.Code() == mercator:
		at = orb.Point{east / earthRadius * 180 / math.Pi, math.Atan(math.Sinh(north/earthRadius)) * 180 / math.Pi}
	default:
		inverse, err := crs.NewInverse(p.System)
		if err != nil {
			return at, false
		}
		at[0], at[1] = inverse.At(east, north)
	}
	at[0] = unwrapped(at[0], 0)
	return at, math.Abs(at[1]) <= 90
}
