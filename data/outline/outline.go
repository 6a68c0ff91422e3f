// Package outline has the shores of lakes: polygons in a few bytes, simplified for each zoom of a map.
//
// [New] checks and encodes polygons, [Outline.Rings] yields the rings to draw at a zoom without reading the others, and
// [Outline.Check] checks bytes from elsewhere. Outlines are immutable and safe for concurrent use.
package outline

import (
	"errors"
	"fmt"
	"iter"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
)

const (
	// FirstZoom is the zoom of the coarsest section, which all smaller zooms use: a pixel is about 200 m wide there in Germany, and the
	// lakes that people bathe in are a few pixels wide.
	FirstZoom maptile.Zoom = 9
	// finestZoom is the last zoom with its own section: a quarter of its pixel is 0.4 m in Germany, finer than
	// shores are surveyed.
	finestZoom maptile.Zoom = 16
	// sectionCount counts one section for each of these zooms.
	sectionCount = int(finestZoom-FirstZoom) + 1

	// MaxPoints bounds a lake's outline: a point every 35 m around the largest lake, the Caspian Sea, whose shore
	// is 7,000 km long.
	MaxPoints = 200_000
	// MaxBytes bounds an outline's bytes. The finest section has at most 10 bytes for a point and 3 for the number of a
	// ring's points, and each coarser one at most three quarters of the next finer one.
	MaxBytes = 9 << 20
	// MaxRings bounds the rings of a new outline, islands and parts together, because each of them is compared with
	// the others in some places. Outlines that were stored before there was this bound are still valid.
	MaxRings = 2_000
	// formatByte is the first byte of an outline.
	formatByte = 1
	// unitsPerDegree is the resolution of stored coordinates: 1.1 cm at the equator.
	unitsPerDegree = 1e7

	// In these units:
	quarterTurn = 90 * unitsPerDegree
	halfTurn    = 2 * quarterTurn
	fullTurn    = 4 * quarterTurn
)

// An Outline is a lake's shore: polygons with holes, simplified for each zoom from [FirstZoom] to 16 to a quarter of
// that zoom's pixel. It is immutable and comparable; the empty string means that the shore is unknown. [New]
// makes one; bytes from anywhere else must pass [Outline.Check]. A zoom whose section would be nearly the same as the
// next finer one's shares it.
//
// Longitudes continue beyond 180 where the lake crosses the antimeridian, so that its parts are adjacent.
//
// The bytes are: the format, 1; the bound, as west, south, width and height; for each zoom, coarsest first, the length
// of its section in bytes, 0 if it shares the next finer zoom's; and the sections in that order. A section is the number
// of its rings and, for each ring, the number of its points and the points. A point is the difference to the point
// before; a ring's first point is the difference to the first point of the ring before, or for the first ring to the
// bound's south-west corner. The closing point of a ring is left out. Coordinates are degrees times 10,000,000. Numbers
// are varints as in encoding/binary, with zigzag encoding where they may be negative: in points and in the corner.
type Outline string

// Bound returns the bound of the rings of all zooms. Its west is at least -180, and its east may exceed 180. It takes
// the same time for any outline.
func (o Outline) Bound() orb.Bound {
	c := cursor{s: string(o)}
	if c.format(); c.bad {
		return orb.Bound{}
	}
	b := c.bound()
	return orb.Bound{Min: b.min.degrees(), Max: b.max.degrees()}
}

// Rings yields the rings to draw at zoom z, outer rings and holes alike: fill them by the even-odd rule. A ring is
// closed (its last point equals its first) and consists of longitudes and latitudes. Zooms outside the range of the
// sections get the nearest section.
//
// Each ring is stored in *buffer, which grows to the longest ring: a ring is valid until the next one.
func (o Outline) Rings(z maptile.Zoom, buffer *[]orb.Point) iter.Seq[[]orb.Point] {
	return func(yield func([]orb.Point) bool) { o.rings(z, buffer, yield) }
}

func (o Outline) rings(z maptile.Zoom, buffer *[]orb.Point, yield func([]orb.Point) bool) {
	c, at := o.section(z)
	for range c.count() {
		ring := (*buffer)[:0]
		first := at
		for i := range c.count() {
			at = c.point(at)
			if i == 0 {
				first = at
			}
			ring = append(ring, at.degrees())
		}
		*buffer = ring
		if c.bad || len(ring) == 0 {
			return // not an outline that passes Check
		}
		ring = append(ring, ring[0])
		*buffer = ring
		if !yield(ring) {
			return
		}
		at = first
	}
}

// section returns a cursor over the section for zoom z, and the point that its first point is relative to.
func (o Outline) section(z maptile.Zoom) (cursor, point) {
	c := cursor{s: string(o)}
	c.format()
	bound := c.bound()
	sizes := c.sizes()
	i := int(min(max(z, FirstZoom), finestZoom) - FirstZoom)
	for _, size := range sizes[:i] {
		c.take(size)
	}
	for i < sectionCount-1 && sizes[i] == 0 {
		i++
	}
	section := c.take(sizes[i])
	return cursor{s: section, bad: c.bad}, bound.min
}

// Check returns an error if o is neither empty nor of the form that [New] makes. It reads o once.
func (o Outline) Check() error {
	if o == "" {
		return nil
	}
	if len(o) > MaxBytes {
		return fmt.Errorf("outline of %d bytes: want at most %d", len(o), MaxBytes)
	}
	c := cursor{s: string(o)}
	if c.format(); c.bad {
		return fmt.Errorf("outline of format %d: want %d", o[0], formatByte)
	}
	bound := c.bound()
	if c.bad || bound.min.x < -halfTurn || bound.min.x >= halfTurn || bound.max.x-bound.min.x > halfTurn ||
		bound.min.y < -quarterTurn || bound.max.y > quarterTurn {
		return errors.New("invalid bound of the outline: want a west from -180 to 180, at most 180 degrees to the east, and latitudes from -90 to 90")
	}
	sizes := c.sizes()
	if sizes[sectionCount-1] == 0 {
		return fmt.Errorf("outline has no section for zoom %d: want one", finestZoom)
	}
	for i, size := range sizes {
		section := cursor{s: c.take(size)}
		if c.bad {
			return fmt.Errorf("outline of %d bytes is cut short", len(o))
		}
		if size == 0 {
			continue
		}
		if err := section.check(bound); err != nil {
			return fmt.Errorf("outline for zoom %d: %w", FirstZoom+maptile.Zoom(i), err)
		}
	}
	if c.s != "" {
		return fmt.Errorf("outline of %d bytes ends with %d extra bytes", len(o), len(c.s))
	}
	return nil
}

// check checks a whole section.
func (c *cursor) check(bound corners) error {
	at, total := bound.min, uint64(0)
	rings := c.count()
	if rings == 0 {
		return errors.New("no ring: want 1 or more")
	}
	for ring := range rings {
		points := c.count()
		if total += points; points < 3 || total > MaxPoints {
			return fmt.Errorf("ring %d has %d points: want 3 or more, and at most %d in all rings", ring+1, points, MaxPoints)
		}
		var first point
		for i := range points {
			at = c.point(at)
			if c.bad {
				return fmt.Errorf("ring %d is cut short", ring+1)
			}
			if !bound.contains(at) {
				return fmt.Errorf("ring %d, point %d is outside the bound", ring+1, i+1)
			}
			if i == 0 {
				first = at
			}
		}
		at = first
	}
	if c.s != "" {
		return fmt.Errorf("%d bytes follow the last ring", len(c.s))
	}
	return nil
}

// An point is a longitude and a latitude in units of 1/unitsPerDegree.
type point struct{ x, y int64 }

func (p point) degrees() orb.Point {
	return orb.Point{float64(p.x) / unitsPerDegree, float64(p.y) / unitsPerDegree}
}

// An corners is a box given by two corners.
type corners struct{ min, max point }

func (b corners) contains(p point) bool {
	return b.min.x <= p.x && p.x <= b.max.x && b.min.y <= p.y && p.y <= b.max.y
}

func (b corners) extend(p point) corners {
	return corners{
		min: point{min(b.min.x, p.x), min(b.min.y, p.y)},
		max: point{max(b.max.x, p.x), max(b.max.y, p.y)},
	}
}
