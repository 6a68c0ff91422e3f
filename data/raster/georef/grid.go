// Package georef knows where the pixels of a raster are on the Earth.
package georef

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/paulmach/orb"

	"limnomap/data/raster/crs"
	"limnomap/data/raster/zonal"
)

// A Grid is where the pixels of a raster are on the Earth.
type Grid struct {
	zonal.Grid
	system *crs.System
	// toMap is the transform from columns and rows to the coordinates of the system, in GDAL's order; toPixel is its inverse.
	toMap, toPixel [6]float64
	middle         float64 // longitude of the middle of a geographic grid
}

// New returns the grid of a raster of that size. The transform is in GDAL's order, from the corner of a pixel.
func New(width, height int, transform [6]float64, system *crs.System) (Grid, error) {
	g := Grid{Grid: zonal.Grid{Width: width, Height: height}, system: system, toMap: transform}
	inverse, err := invert(transform)
	if err != nil {
		return g, err
	}
	g.toPixel = inverse
	if !system.Geographic() {
		return g, nil
	}
	g.middle, _ = apply(transform, float64(width)/2, float64(height)/2)
	if transform[2] == 0 && transform[4] == 0 {
		g.Period = periodOf(width, transform[1])
	}
	return g, nil
}

// periodOf returns how many columns are once around the Earth, 0 if the grid is narrower or that is no whole number of columns.
func periodOf(width int, step float64) int {
	// A raster that goes around has at most a column more, and steps that are rounded to float32 add up to a small part of a column.
	const tolerance = 0.05
	turn := 360 / math.Abs(step)
	if whole := math.Round(turn); whole <= float64(width) && math.Abs(whole-turn) < tolerance {
		return int(whole)
	}
	return 0
}

var errTransform = errors.New("the transform from pixels to coordinates has no inverse")

func invert(t [6]float64) (inverse [6]float64, err error) {
	det := t[1]*t[5] - t[2]*t[4]
	if det == 0 || math.IsNaN(det) || math.IsInf(det, 0) {
		return inverse, fmt.Errorf("%w: %v", errTransform, t)
	}
	a, b, c, d := t[5]/det, -t[2]/det, -t[4]/det, t[1]/det
	return [6]float64{-(a*t[0] + b*t[3]), a, b, -(c*t[0] + d*t[3]), c, d}, nil
}

func apply(t [6]float64, x, y float64) (float64, float64) {
	return t[0] + t[1]*x + t[2]*y, t[3] + t[4]*x + t[5]*y
}

// TurnOf returns the degrees to add to longitudes near lon so that they are near the raster.
func (g *Grid) TurnOf(lon float64) float64 {
	if !g.system.Geographic() {
		return 0
	}
	return 360 * math.Round((g.middle-lon)/360)
}

// PixelOf returns where a point is in columns and rows, which may be outside of the raster. It is not ok where the system is not defined.
func (g *Grid) PixelOf(p orb.Point, turn float64) (pixel zonal.Point, ok bool) {
	x, y := p[0], p[1]
	if g.system.Geographic() {
		x += turn
	} else if x, y, ok = g.system.Project(x, y); !ok {
		return pixel, false
	}
	// Relative to the corner, since the products of large coordinates and the inverse would lose digits.
	x, y = x-g.toMap[0], y-g.toMap[3]
	return zonal.Point{g.toPixel[1]*x + g.toPixel[2]*y, g.toPixel[4]*x + g.toPixel[5]*y}, true
}

// Inside reports whether a pixel is in the raster, or in one of its turns around the Earth.
func (g *Grid) Inside(p zonal.Point) bool {
	return p[1] >= 0 && p[1] < float64(g.Height) && (g.Period > 0 || p[0] >= 0 && p[0] < float64(g.Width))
}

// Touches reports whether a rectangle of columns and rows has a part in the raster, or in one of its turns around the Earth.
func (g *Grid) Touches(least, largest zonal.Point) bool {
	return largest[1] >= 0 && least[1] <= float64(g.Height) && (g.Period > 0 || largest[0] >= 0 && least[0] <= float64(g.Width))
}

// metresPerDegree is the length of a degree of a meridian on the sphere with the mean radius of the Earth, 6,371,008.8 m (Moritz: Geodetic
// Reference System 1980). On the ellipsoid it differs by at most 0.6 %.
const metresPerDegree = 6_371_008.8 * math.Pi / 180

// Radii returns how many columns and rows there are in that many metres around a point. It measures a small step to the north and to the east.
func (g *Grid) Radii(p orb.Point, metres float64) (rx, ry float64, ok bool) {
	const step = 1e-3 // degrees, about 100 m
	turn := g.TurnOf(p[0])
	lat := max(min(p[1], 89.9), -89.9)
	at, ok1 := g.PixelOf(orb.Point{p[0], lat}, turn)
	north, ok2 := g.PixelOf(orb.Point{p[0], lat + step}, turn)
	east, ok3 := g.PixelOf(orb.Point{p[0] + step, lat}, turn)
	if !ok1 || !ok2 || !ok3 {
		return 0, 0, false
	}
	perNorth := metres / (step * metresPerDegree)
	perEast := perNorth / math.Cos(lat*math.Pi/180)
	rx = math.Hypot((north[0]-at[0])*perNorth, (east[0]-at[0])*perEast)
	ry = math.Hypot((north[1]-at[1])*perNorth, (east[1]-at[1])*perEast)
	return rx, ry, rx > 0 && ry > 0
}

// Cell returns the column and the row of the pixel that contains a point, which may be outside of the raster.
func (g *Grid) Cell(p orb.Point, turn float64) (column, row int, ok bool) {
	pixel, ok := g.PixelOf(p, turn)
	if !ok || !(math.Abs(pixel[0]) < math.MaxInt32 && math.Abs(pixel[1]) < math.MaxInt32) {
		return 0, 0, false
	}
	return int(math.Floor(pixel[0])), int(math.Floor(pixel[1])), true
}

// LonLat returns the point at a column and a row, which may be fractions: the corner of pixel 0, 0 is at 0, 0. near is a point of the raster near it.
func (g *Grid) LonLat(column, row float64, near orb.Point) (p orb.Point, ok bool) {
	x, y := apply(g.toMap, column, row)
	if g.system.Geographic() {
		return orb.Point{math.Remainder(x, 360), y}, true
	}
	// Newton's method: the projections have no inverse here. From a lake to its pixels it takes three or four steps.
	const (
		steps     = 20
		small     = 1e-5 // degrees, some metres, for the derivatives
		tolerance = 1e-4 // metres
	)
	p = near
	for range steps {
		px, py, ok := g.system.Project(p[0], p[1])
		ex, ey, ok2 := g.system.Project(p[0]+small, p[1])
		nx, ny, ok3 := g.system.Project(p[0], p[1]+small)
		if !ok || !ok2 || !ok3 {
			return p, false
		}
		dx, dy := x-px, y-py
		if math.Hypot(dx, dy) < tolerance {
			return orb.Point{math.Remainder(p[0], 360), p[1]}, true
		}
		ax, ay, bx, by := (ex-px)/small, (ey-py)/small, (nx-px)/small, (ny-py)/small
		det := ax*by - ay*bx
		p = orb.Point{p[0] + (dx*by-dy*bx)/det, max(-90, min(p[1]+(ax*dy-ay*dx)/det, 90))}
	}
	return p, false
}

// System returns the coordinate system of the raster.
func (g *Grid) System() *crs.System { return g.system }

// Transform returns the transform from columns and rows to the coordinates of the system, in GDAL's order.
func (g *Grid) Transform() [6]float64 { return g.toMap }

// String returns the grid as text, which [Parse] reads: "400 300 6 0.5 0 47 0 -0.5 EPSG:4326".
func (g *Grid) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %d", g.Width, g.Height)
	for _, v := range g.toMap {
		b.WriteString(" " + strconv.FormatFloat(v, 'g', -1, 64))
	}
	return b.String() + " " + g.system.Text()
}

// MaxTextBytes bounds the text of a grid. The longest that String returns has some 350 bytes.
const MaxTextBytes = 1000

// Parse reads what [Grid.String] returns.
func Parse(text string) (Grid, error) {
	if len(text) > MaxTextBytes {
		return Grid{}, fmt.Errorf("grid of %d bytes, want at most %d", len(text), MaxTextBytes)
	}
	const numbers = 8
	fields := strings.SplitN(text, " ", numbers+1)
	if len(fields) <= numbers {
		return Grid{}, fmt.Errorf("grid %.200q: want a width, a height, six numbers of a transform and a coordinate system", text)
	}
	var n [numbers]float64
	for i := range n {
		var err error
		if n[i], err = strconv.ParseFloat(fields[i], 64); err != nil || math.IsNaN(n[i]) || math.IsInf(n[i], 0) {
			return Grid{}, fmt.Errorf("grid %.200q: %.40q is no number", text, fields[i])
		}
	}
	system, err := crs.Parse(fields[numbers])
	if err != nil {
		return Grid{}, fmt.Errorf("grid %.200q: %w", text, err)
	}
	for _, side := range n[:2] {
		if side != math.Trunc(side) || side < 1 || side > math.MaxInt32 {
			return Grid{}, fmt.Errorf("grid %.200q: want a width and a height of 1 to %d", text, math.MaxInt32)
		}
	}
	return New(int(n[0]), int(n[1]), [6]float64(n[2:]), system)
}
