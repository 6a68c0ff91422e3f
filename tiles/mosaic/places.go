package mosaic

import (
	"fmt"
	"image"
	"iter"
	"math"

	"github.com/paulmach/orb"

	"limnomap/data/raster/crs"
)

// earthRadius is that of the sphere of web Mercator in metres (EPSG:3857).
const earthRadius = 6378137

// places tells where the centres of the pixels of a picture are on the map, in parts of the world's width from its north-west corner.
type places struct {
	*Picture
	columns []float64   // of the columns where they do not depend on the row; nil otherwise
	step    int         // the distance of the nodes of a grid in pixels, otherwise
	nodes   []orb.Point // their places
	across  int         // nodes in a row
}

// Between nodes places are interpolated: to project each pixel would take longer than all the rest. The distance of the nodes is the largest between these at
// which some middles between them are less than deviation, in pixels, from where interpolation puts them.
const (
	coarsest  = 64
	finest    = 8
	deviation = 1. / 16
)

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
	exact := func(x, y int) orb.Point {
		lon, lat := inverse.At(all.x(float64(x)+.5), all.y(float64(y)+.5))
		return orb.Point{lon/360 + .5, mercatorY(lat)}
	}
	for all.step = coarsest; ; all.step /= 2 {
		all.across, all.nodes = p.Width/all.step+2, all.nodes[:0]
		for y := 0; y <= p.Height+all.step; y += all.step {
			for x := range all.across {
				all.nodes = append(all.nodes, exact(x*all.step, y))
			}
		}
		if all.step == finest || all.straight(exact) {
			return all, nil
		}
	}
}

// straight reports whether the middles of some cells between nodes are where interpolation puts them.
func (all *places) straight(exact func(x, y int) orb.Point) bool {
	const samples = 4
	down := len(all.nodes)/all.across - 2
	for i := range samples + 1 {
		for j := range samples + 1 {
			left, top, half := i*(all.across-2)/samples*all.step, j*down/samples*all.step, all.step/2
			for _, at := range []image.Point{{left + half, top}, {left, top + half}, {left + half, top + half}} { // deviations of both directions may cancel out
				got, beside, want := all.place(at.X, at.Y), all.place(at.X+1, at.Y), exact(at.X, at.Y)
				off, pixel := math.Hypot(math.Remainder(want[0]-got[0], 1), want[1]-got[1]), math.Hypot(beside[0]-got[0], beside[1]-got[1])
				if off > deviation*pixel {
					return false
				}
			}
		}
	}
	return true
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

// mercatorY returns where a latitude is on the map; infinite from the poles on.
func mercatorY(lat float64) float64 {
	if math.Abs(lat) >= 90 {
		return -math.Copysign(math.Inf(1), lat)
	}
	return .5 - math.Asinh(math.Tan(lat*math.Pi/180))/(2*math.Pi)
}

// cell returns the places in a row of the first pixel of the i-th cell and of the next cell, in the same turn around the Earth.
func (all *places) cell(y, i int) (left, right orb.Point) {
	upper := all.nodes[y/all.step*all.across+i:]
	lower := upper[all.across:]
	down := float64(y%all.step) / float64(all.step)
	between := func(a, b orb.Point) orb.Point {
		x0, x1 := upper[0][0]+math.Remainder(a[0]-upper[0][0], 1), upper[0][0]+math.Remainder(b[0]-upper[0][0], 1)
		return orb.Point{x0 + (x1-x0)*down, a[1] + (b[1]-a[1])*down}
	}
	return between(upper[0], lower[0]), between(upper[1], lower[1])
}

// place returns the place of a pixel. Beyond the poles y is infinite, and where a system is not defined it is NaN.
func (all *places) place(x, y int) orb.Point {
	if all.columns != nil {
		return orb.Point{all.columns[x], all.worldY(all.y(float64(y) + .5))}
	}
	left, right := all.cell(y, x/all.step)
	part := float64(x%all.step) / float64(all.step)
	return orb.Point{left[0] + (right[0]-left[0])*part, left[1] + (right[1]-left[1])*part}
}

// ends returns the first and the last of the pixels from first up to end in each cell, in a row or a column.
func (all *places) ends(first, end int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for first < end {
			next := min((first/all.step+1)*all.step, end)
			if !yield(first) || !yield(next-1) {
				return
			}
			first = next
		}
	}
}

// unwrapped returns a longitude within half a turn of another one.
func unwrapped(lon, beside float64) float64 { return lon - 360*math.Round((lon-beside)/360) }

// scale returns the part of the world's width in a pixel in the middle of the picture, as the geometric mean of both directions.
func (all *places) scale() float64 {
	x, y := all.Width/2, all.Height/2
	at := all.place(x, y)
	dx, dy := 0., 0.
	if x > 0 {
		beside := all.place(x-1, y)
		dx = math.Hypot(at[0]-beside[0], at[1]-beside[1])
	}
	if y > 0 {
		above := all.place(x, y-1)
		dy = math.Hypot(at[0]-above[0], at[1]-above[1])
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
